/* people.c - see people.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pollux/advice.h"
#include "pollux/clock.h"
#include "pollux/config.h"
#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/people.h"
#include "pollux/text.h"

#define PREFIX "user-"
#define LINE_START "pollux-1"
#define LINE_SIZE 400
#define MOST 256		/* the most stores of other people that are read */
#define MOST_OF_ONE 8		/* the most of them that one user has */
#define MOST_NAMES 8192		/* the most names in the directory that are looked at */
#define MOST_S 1e9		/* the largest reading of a boot clock */
#define DESCRIBED 3		/* people that a description names */

/* Writes the name that the file of this store has, unless somebody else has taken that name: then
 * more letters follow it. The place of the store's directory on the disk distinguishes the stores
 * of one account. */
static int own_name(const struct paths *paths, char name[PERSON_NAME_SIZE])
{
	struct stat st;

	if (stat(paths->dir, &st))
		return -1;
	snprintf(name, PERSON_NAME_SIZE, PREFIX "%u-%llx-%llx", (unsigned)geteuid(),
		 (unsigned long long)st.st_dev, (unsigned long long)st.st_ino);
	return 0;
}

/* True if this is the name of a file of the store that own_name() named. */
static bool is_own_name(const char *name, const char *own)
{
	size_t n = strlen(own);

	return n > 0 && text_starts_with(name, own) && (name[n] == '\0' || name[n] == '-');
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

/* Takes the words of a line. False unless it was written in this boot, and not long ago. */
static bool parse_person(char *line, struct person *p)
{
	const char *word;
	double now = clock_boot_s(), held, wanted, devices;
	char *rest;

	word = strtok_r(line, " \n", &rest);
	if (!word || strcmp(word, LINE_START) != 0 ||
	    !take_number(&rest, "held", 0, PERSON_MAX_DEVICES, &held) ||
	    !take_number(&rest, "wanted", 0, PERSON_MAX_DEVICES, &wanted) ||
	    !take_number(&rest, "devices", 1, PERSON_MAX_DEVICES, &devices) ||
	    !take_number(&rest, "weight", PERSON_MIN_WEIGHT, PERSON_MAX_WEIGHT, &p->weight) ||
	    !take_number(&rest, "since", -MOST_S, MOST_S, &p->without_since_boot_s) ||
	    !take_number(&rest, "gained", 0, now, &p->gained_boot_s) ||
	    !take_number(&rest, "at", now - PEOPLE_STALE_S, now, &p->at_boot_s))
		return false;
	p->held = (int)held;
	p->wanted = (int)wanted;
	p->devices = (int)devices;
	word = strtok_r(NULL, " \n", &rest);
	return word && !strcmp(word, clock_boot_id());
}

/* Reads a file, of which nothing but its owner and its line counts: anybody may use any name.
 * False: it is no file of a person. p->devices is 0 if the line is not believed, or old. */
static bool read_person(int dir, const char *name, struct person *p)
{
	int fd = file_open_at(dir, name, O_RDONLY | O_NOFOLLOW, 0);
	char line[LINE_SIZE + 1];
	const struct passwd *user;
	struct stat st = { .st_uid = 0 };
	ssize_t n;
	bool is;

	*p = (struct person){ 0 };
	if (fd < 0)
		return false;
	n = fstat(fd, &st) ? -1 : read(fd, line, LINE_SIZE);
	close(fd);
	line[n > 0 ? n : 0] = '\0';
	is = text_starts_with(line, LINE_START);
	if (!parse_person(line, p))
		*p = (struct person){ 0 };
	p->uid = st.st_uid;
	snprintf(p->name, sizeof(p->name), "%.*s", PERSON_NAME_SIZE - 1, name);
	user = getpwuid(st.st_uid);
	if (st.st_uid == geteuid())
		snprintf(p->user, sizeof(p->user), "another store of yours");
	else if (user)
		snprintf(p->user, sizeof(p->user), "%.32s", user->pw_name);
	else
		snprintf(p->user, sizeof(p->user), "user %u", (unsigned)st.st_uid);
	return is;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct person *)a)->name, ((const struct person *)b)->name);
}

/* Of files that do not belong there, stray_uid is in the end the user who owns more than half of
 * them, if one does: a file of another user takes one vote away. */
static void read_file(int dir, const char *name, struct people *people, int *votes)
{
	struct stat st = { .st_uid = 0 };
	struct person p;
	int n_stores = 0;
	bool is_own;

	if (!strcmp(name, ".") || !strcmp(name, "..") || text_starts_with(name, "device-") ||
	    fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return;
	is_own = st.st_uid == geteuid() && is_own_name(name, people->own);
	if (text_starts_with(name, "." PREFIX) && S_ISREG(st.st_mode))
		return;		/* of a pass that is telling, or was killed */
	for (int i = 0; i < people->count; i++)
		n_stores += people->items[i].uid == st.st_uid;
	if (!text_starts_with(name, PREFIX) || strlen(name) >= PERSON_NAME_SIZE ||
	    (!is_own && n_stores >= MOST_OF_ONE) || !read_person(dir, name, &p)) {
		if (*votes == 0)
			people->stray_uid = st.st_uid;
		*votes += people->stray_uid == st.st_uid ? 1 : -1;
		people->n_stray++;
	} else if (p.devices > 0 && is_own) {
		people->me = p;
	} else if (p.devices > 0 && people->count < MOST) {
		people->items[people->count++] = p;
	}
}

int people_read(const struct paths *paths, struct people *people, struct err *err)
{
	int fd = shared_dir_open(paths, NULL, err), votes = 0;
	const struct dirent *entry;
	DIR *dir;

	*people = (struct people){ .is_shared = fd >= 0 };
	if (fd < 0)
		return fd == SHARED_DIR_NONE ? 0 : -1;
	own_name(paths, people->own);
	people->items = xcalloc(MOST, sizeof(*people->items));
	dir = fdopendir(fd);
	for (int i = 0; dir && !people->too_many && (entry = readdir(dir)); i++) {
		people->too_many = i >= MOST_NAMES;
		if (!people->too_many)
			read_file(fd, entry->d_name, people, &votes);
	}
	if (dir)
		closedir(dir);
	else
		close(fd);
	qsort(people->items, (size_t)people->count, sizeof(*people->items), by_name);
	return 0;
}

void people_release(struct people *people)
{
	free(people->items);
	*people = (struct people){ 0 };
}

/* --- telling --- */

/* Finds the file that this user has for the store. *name is "" if there is none. Removes the files
 * that a pass left which was killed: their names begin with a dot. */
static void find_own(int dir, const char *own, char name[PERSON_NAME_SIZE])
{
	int again = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = again < 0 ? NULL : fdopendir(again);
	const struct dirent *entry;
	struct stat st;

	*name = '\0';
	while (list && (entry = readdir(list))) {
		const char *found = entry->d_name;
		bool is_fresh = *found == '.';

		if (!is_own_name(found + is_fresh, own) || strlen(found) >= PERSON_NAME_SIZE ||
		    fstatat(dir, found, &st, AT_SYMLINK_NOFOLLOW) || st.st_uid != geteuid())
			continue;
		if (is_fresh || *name)
			unlinkat(dir, found, 0);
		else
			snprintf(name, PERSON_NAME_SIZE, "%.*s", PERSON_NAME_SIZE - 1, found);
	}
	if (list)
		closedir(list);
	else if (again >= 0)
		close(again);
}

/* Adds letters that nobody can know before. */
static void draw_name(char name[PERSON_NAME_SIZE], const char *own)
{
	uint64_t random;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
		random = (uint64_t)clock_boot_ns();
	snprintf(name, PERSON_NAME_SIZE, "%.50s-%08x", own, (unsigned)random);
}

/* Writes the line to a new file, whose name begins with a dot, and renames it. Others may have made
 * a file or a directory with the name of the store's file: then the file gets a name that is
 * drawn. */
static int replace_line(int dir, const char *own, const char *line)
{
	char fresh[PERSON_NAME_SIZE + 1], name[PERSON_NAME_SIZE], drawn[PERSON_NAME_SIZE];
	int fd, rc;

	find_own(dir, own, name);
	draw_name(drawn, own);
	snprintf(fresh, sizeof(fresh), ".%s", drawn);
	fd = file_open_at(dir, fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -1;
	rc = file_write_all(fd, line, strlen(line)) || fchmod(fd, 0644) ? -1 : 0;
	close(fd);
	if (rc)
		return -1;
	draw_name(drawn, own);
	if (renameat(dir, fresh, dir, *name ? name : own) == 0 ||
	    renameat(dir, fresh, dir, drawn) == 0)
		return 0;
	unlinkat(dir, fresh, 0);
	return -1;
}

int people_tell(const struct paths *paths, const struct person *me, struct err *err)
{
	char line[8 * LINE_SIZE], own[PERSON_NAME_SIZE];	/* doubles may be long */
	autofree char *path = NULL;
	scoped(close_fd) int dir = shared_dir_open(paths, &path, err);

	snprintf(line, sizeof(line),
		 LINE_START " held=%d wanted=%d devices=%d weight=%.6g since=%.3f gained=%.3f "
		 "at=%.3f %s\n", me->held, me->wanted, me->devices, me->weight,
		 me->without_since_boot_s, me->gained_boot_s, me->at_boot_s, clock_boot_id());
	if (dir >= 0 && (own_name(paths, own) || replace_line(dir, own, line)))
		return err_set(err, EX_CANTCREAT, "cannot write a file in '%s': %s", path,
			       strerror(errno));
	return dir == -1 ? -1 : 0;
}

void people_leave(const struct paths *paths)
{
	struct err ignored;
	char own[PERSON_NAME_SIZE], name[PERSON_NAME_SIZE];
	scoped(close_fd) int dir = shared_dir_open(paths, NULL, &ignored);

	if (dir < 0 || own_name(paths, own))
		return;
	find_own(dir, own, name);
	unlinkat(dir, name, 0);
}

/* --- in words --- */

void people_describe(const struct people *people, int held, int devices, struct text *t)
{
	text_addf(t, "%d of %d device%s", held, devices, plural(devices));
	for (int i = 0; i < people->count && i < DESCRIBED; i++) {
		const struct person *p = &people->items[i];
		int more = p->wanted - p->held;

		text_addf(t, "%s%s has %d", i ? ", " : "; ", p->user, p->held);
		if (more > 0)
			text_addf(t, " and wants %d%s", more, p->held > 0 ? " more" : "");
	}
	if (people->count > DESCRIBED)
		text_addf(t, ", and %d more", people->count - DESCRIBED);
}

/* --- the shared directory --- */

#define PUBLIC (S_ISVTX | S_IRWXU | S_IRWXG | S_IRWXO)

void shared_dir_add_sticky(struct text *mend, const char *path, const struct stat *st)
{
	text_addf(mend, "%schmod +t ", st->st_uid == geteuid() ? "" : advice_sudo());
	text_add_shell_quoted(mend, path);
}

/* The default directory may be a link or a directory that anybody made, since everybody may write
 * to /run/lock: it is used only if it is root's or the user's own, and public. A named one without
 * the sticky bit is refused: everybody could remove the locks of others there. */
int shared_dir_open(const struct paths *paths, char **path, struct err *err)
{
	scoped(text_release) struct text mend = TEXT_INIT;
	struct config config;
	const char *named = config.shared_dir, *place;
	struct stat st;
	int fd;

	if (path)
		*path = NULL;
	config_load_leniently(&config, paths->config);
	if (!strcmp(named, "no"))
		return SHARED_DIR_NONE;
	place = *named ? named : SHARED_DIR_DEFAULT;
	if (path)
		*path = xstrdup(place);
	fd = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (*named ? 0 : O_NOFOLLOW));
	if (fd >= 0 && fstat(fd, &st)) {
		close(fd);
		fd = -1;
	}
	if (fd < 0 && *named)
		return err_set(err, EX_CONFIG, "cannot use the shared directory '%s': %s", named,
			       strerror(errno));
	if (fd < 0)
		return SHARED_DIR_NONE;
	if (*named ? !(st.st_mode & (S_IWGRP | S_IWOTH)) || (st.st_mode & S_ISVTX)
		   : (st.st_uid == 0 || st.st_uid == geteuid()) && (st.st_mode & PUBLIC) == PUBLIC)
		return fd;
	close(fd);
	if (!*named)
		return SHARED_DIR_NONE;
	shared_dir_add_sticky(&mend, named, &st);
	err_set(err, EX_CONFIG, "cannot use the shared directory '%s': others may remove "
		"files there; type: %s", named, mend.data);
	return -1;
}

/* Opens an existing file without O_CREAT: with fs.protected_regular the kernel refuses O_CREAT for
 * the files of others in a directory with the sticky bit. */
int shared_dir_open_file(int dir, const char *name, bool create, const char **why)
{
	int flags = (create ? O_RDWR : O_RDONLY) | O_NOFOLLOW;
	int fd = file_open_at(dir, name, flags, 0);
	struct stat st;

	if (fd < 0 && create && errno == ENOENT) {
		mode_t old = umask(0);

		fd = file_open_at(dir, name, flags | O_CREAT | O_EXCL, 0666);
		umask(old);
		if (fd < 0 && errno == EEXIST)
			fd = file_open_at(dir, name, flags, 0);
	}
	*why = file_open_why(errno);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && st.st_nlink <= 1)
		return fd;
	*why = "it has another name, too";
	close(fd);
	return errno_set(EINVAL);
}
