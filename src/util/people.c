/* people.c - see people.h. */
#include "pollux/people.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/number.h"
#include "pollux/shared_dir.h"

#define PREFIX "user-"
#define LINE_SIZE 400
#define MOST 256		/* the most stores of other people that are read */
#define MOST_OF_ONE 8		/* the most of them that one user has */
#define MOST_NAMES 8192		/* the most names in the directory that are looked at */
#define MOST_S 1e9		/* the largest reading of a boot clock */
#define DESCRIBED 3		/* people that a description names */

/* Writes the name of this store's file. The place of the store's directory on the disk
 * distinguishes the stores of one account. */
static int own_name(const struct paths *paths, char *name, size_t size)
{
	struct stat st;

	if (stat(paths->dir, &st))
		return -1;
	snprintf(name, size, PREFIX "%u-%llx-%llx", (unsigned)geteuid(),
		 (unsigned long long)st.st_dev, (unsigned long long)st.st_ino);
	return 0;
}

/* --- reading --- */

/* Takes the next word "KEY=NUMBER" of a line, the number within bounds. */
static bool take_number(char **rest, const char *key, double least, double most, double *value)
{
	const char *word = strtok_r(NULL, " \n", rest);
	size_t n = strlen(key);

	return word && !strncmp(word, key, n) && word[n] == '=' &&
	       number_parse(word + n + 1, value) == 0 && *value >= least && *value <= most;
}

static bool take_count(char **rest, const char *key, int *value)
{
	double n;

	if (!take_number(rest, key, 0, PERSON_MAX_DEVICES, &n))
		return false;
	*value = (int)n;
	return true;
}

/* True if the line was written in this boot, and not long ago. */
static bool parse_person(char *line, struct person *p)
{
	const char *boot = clock_boot_id(), *word;
	double now = clock_boot_s();
	char *rest;

	word = strtok_r(line, " \n", &rest);
	if (!word || strcmp(word, "pollux-1") != 0 || !take_count(&rest, "held", &p->held) ||
	    !take_count(&rest, "wanted", &p->wanted) ||
	    !take_count(&rest, "devices", &p->devices) || p->devices == 0 ||
	    !take_number(&rest, "weight", PERSON_MIN_WEIGHT, PERSON_MAX_WEIGHT, &p->weight) ||
	    !take_number(&rest, "since", -MOST_S, MOST_S, &p->without_since_boot_s) ||
	    !take_number(&rest, "gained", 0, now, &p->gained_boot_s) ||
	    !take_number(&rest, "at", now - PEOPLE_STALE_S, now, &p->at_boot_s))
		return false;
	word = strtok_r(NULL, " \n", &rest);
	return word && !strcmp(word, boot);
}

static void name_user(uid_t uid, struct person *p)
{
	const struct passwd *user = getpwuid(uid);

	if (uid == geteuid())
		snprintf(p->user, sizeof(p->user), "another store of yours");
	else if (user)
		snprintf(p->user, sizeof(p->user), "%.32s", user->pw_name);
	else
		snprintf(p->user, sizeof(p->user), "user %u", (unsigned)uid);
}

/* Returns the uid in the name of a file; -1: the file is no person's. */
static int64_t uid_of(const char *name)
{
	char digits[12] = "";
	const char *from = name + strlen(PREFIX);
	size_t n;
	int64_t uid;

	if (!text_starts_with(name, PREFIX) || strlen(name) >= sizeof(((struct person *)0)->name))
		return -1;
	n = strspn(from, "0123456789");
	if (n == 0 || n >= sizeof(digits) || from[n] != '-' ||
	    from[n + 1 + strspn(from + n + 1, "0123456789abcdef-")])
		return -1;
	memcpy(digits, from, n);
	return number_parse_int(digits, &uid) == 0 ? uid : -1;
}

/* True if the file belongs to the user whom its name says. Another user may use any name, so the
 * owner is asked before a file counts as one of that user's. */
static bool is_of_its_user(int dir, const char *name, struct stat *st)
{
	return fstatat(dir, name, st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st->st_mode) &&
	       uid_of(name) == (int64_t)st->st_uid;
}

static bool read_person(int dir, const char *name, struct person *p)
{
	char line[LINE_SIZE + 1];
	const char *why;
	struct stat st;
	ssize_t n = -1;
	int fd = shared_dir_open_file(dir, name, false, &why);

	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && uid_of(name) == (int64_t)st.st_uid)
		n = read(fd, line, LINE_SIZE);
	close(fd);
	line[n > 0 ? n : 0] = '\0';
	*p = (struct person){ 0 };
	if (!parse_person(line, p))
		return false;
	snprintf(p->name, sizeof(p->name), "%.63s", name);
	name_user(st.st_uid, p);
	return true;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct person *)a)->name, ((const struct person *)b)->name);
}

/* Returns the number of stores of the user among those that were read. */
static int stores_of(const struct people *people, uid_t uid)
{
	int n = 0;

	for (int i = 0; i < people->count; i++)
		n += uid_of(people->items[i].name) == (int64_t)uid;
	return n;
}

/* Counts a file that does not belong there. If one user owns more than half of these files,
 * stray_uid is that user in the end: a file of another user takes one vote away. */
static void count_stray(struct people *people, uid_t uid, int *votes)
{
	if (*votes == 0)
		people->stray_uid = uid;
	*votes += people->stray_uid == uid ? 1 : -1;
	people->n_stray++;
}

static void read_file(int dir, const char *name, struct people *people, int *votes)
{
	bool is_own = !strcmp(name, people->own);
	struct stat st = { .st_uid = 0 };
	struct person p;

	if (!strcmp(name, ".") || !strcmp(name, "..") || text_starts_with(name, "device-"))
		return;
	if (!is_of_its_user(dir, name, &st) ||
	    (!is_own && stores_of(people, st.st_uid) >= MOST_OF_ONE)) {
		count_stray(people, st.st_uid, votes);
		return;
	}
	if ((!is_own && people->count >= MOST) || !read_person(dir, name, &p))
		return;
	if (is_own)
		people->me = p;
	else
		people->items[people->count++] = p;
}

static void read_all(int fd, struct people *people)
{
	DIR *dir = fdopendir(fd);
	const struct dirent *entry;
	int votes = 0;

	people->items = xcalloc(MOST, sizeof(*people->items));
	for (int i = 0; dir && (entry = readdir(dir)); i++) {
		people->too_many = i >= MOST_NAMES;
		if (people->too_many)
			break;
		read_file(dirfd(dir), entry->d_name, people, &votes);
	}
	if (dir)
		closedir(dir);
	else
		close(fd);
	qsort(people->items, (size_t)people->count, sizeof(*people->items), by_name);
}

int people_read(const struct paths *paths, struct people *people, struct err *err)
{
	int fd = shared_dir_open(paths, NULL, err);

	*people = (struct people){ .is_shared = fd >= 0 };
	if (fd < 0)
		return fd == SHARED_DIR_NONE ? 0 : -1;
	own_name(paths, people->own, sizeof(people->own));
	read_all(fd, people);
	return 0;
}

void people_release(struct people *people)
{
	free(people->items);
	*people = (struct people){ 0 };
}

/* --- telling --- */

static int write_line(int dir, const char *name, const char *line)
{
	int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, fd, rc;

	unlinkat(dir, name, 0);		/* the file of a pass that was killed */
	fd = openat(dir, name, flags, 0600);
	if (fd < 0)
		return -1;
	rc = file_write_all(fd, line, strlen(line)) || fchmod(fd, 0644) ? -1 : 0;
	close(fd);
	return rc;
}

static int replace_line(int dir, const char *name, const char *line)
{
	char fresh[72];

	snprintf(fresh, sizeof(fresh), ".%s", name);
	return write_line(dir, fresh, line) || renameat(dir, fresh, dir, name) ? -1 : 0;
}

int people_tell(const struct paths *paths, const struct person *me, struct err *err)
{
	char line[8 * LINE_SIZE], name[64], *path;	/* doubles may be long */
	int dir = shared_dir_open(paths, &path, err), rc = dir == -1 ? -1 : 0;

	snprintf(line, sizeof(line),
		 "pollux-1 held=%d wanted=%d devices=%d weight=%.6g since=%.3f gained=%.3f "
		 "at=%.3f %s\n", me->held, me->wanted, me->devices, me->weight,
		 me->without_since_boot_s, me->gained_boot_s, me->at_boot_s, clock_boot_id());
	if (dir >= 0 && (own_name(paths, name, sizeof(name)) || replace_line(dir, name, line)))
		rc = err_set(err, EX_CANTCREAT, "cannot write '%s/%s': %s", path, name,
			     strerror(errno));
	if (dir >= 0)
		close(dir);
	free(path);
	return rc;
}

void people_leave(const struct paths *paths)
{
	struct err ignored;
	char name[64];
	int dir = shared_dir_open(paths, NULL, &ignored);

	if (dir >= 0 && own_name(paths, name, sizeof(name)) == 0)
		unlinkat(dir, name, 0);
	if (dir >= 0)
		close(dir);
}

/* --- in words --- */

static void describe_one(const struct person *p, struct text *t)
{
	int more = p->wanted - p->held;

	text_addf(t, "%s has %d", p->user, p->held);
	if (more > 0)
		text_addf(t, " and wants %d%s", more, p->held > 0 ? " more" : "");
}

void people_describe(const struct people *people, int held, int devices, struct text *t)
{
	const char *separator = "; ";

	text_addf(t, "%d of %d device%s", held, devices, plural(devices));
	for (int i = 0; i < people->count && i < DESCRIBED; i++) {
		text_add(t, separator);
		describe_one(&people->items[i], t);
		separator = ", ";
	}
	if (people->count > DESCRIBED)
		text_addf(t, ", and %d more", people->count - DESCRIBED);
}
