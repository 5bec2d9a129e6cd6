/* store_session.c - which store this is, who keeps it, and how a process waits for it. */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "database.h"
#include "pollux/advice.h"
#include "pollux/clock.h"
#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/proc.h"
#include "pollux/store.h"
#include "pollux/text.h"
#include "sql.h"

/* --- identity --- */

int store_identity(struct store *s, char **id, struct err *err)
{
	if (store_setting_get(s, "store_id", id, err))
		return -1;
	if (*id)
		return 0;
	if (sql_run(s, NULL, err, "INSERT OR IGNORE INTO settings (name, value)"
		    " VALUES ('store_id', lower(hex(randomblob(16))))", ""))
		return -1;
	return store_setting_get(s, "store_id", id, err);
}

/* Names begin with a number: "12", "12.log" or "12.log.of-1a2b3c4d". */
static int64_t greatest_job_in(const struct paths *paths, const char *part)
{
	char *path = xasprintf("%s/%s", paths->dir, part);
	DIR *dir = opendir(path);
	const struct dirent *entry;
	int64_t greatest = 0;

	while (dir && (entry = readdir(dir))) {
		size_t n = strspn(entry->d_name, "0123456789");
		char digits[20] = "";
		int64_t id = 0;

		if (n == 0 || n >= sizeof(digits) || (entry->d_name[n] && entry->d_name[n] != '.'))
			continue;
		memcpy(digits, entry->d_name, n);
		if (number_parse_int(digits, &id) == 0 && id > greatest)
			greatest = id;
	}
	if (dir)
		closedir(dir);
	free(path);
	return greatest;
}

int store_raise_number(struct store *s, const char *table, int64_t number, struct err *err)
{
	int n = 0;

	if (sql_run(s, &n, err, "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", "it",
		    number, table))
		return -1;
	return n ? 0 : sql_run(s, NULL, err, "INSERT INTO sqlite_sequence (name, seq)"
			       " VALUES (?, ?)", "ti", table, number);
}

int store_number_past_leftovers(struct store *s, const struct paths *paths, struct err *err)
{
	int64_t logs = greatest_job_in(paths, "logs");
	int64_t checkpoints = greatest_job_in(paths, "checkpoints");

	s->left_by_another = logs > checkpoints ? logs : checkpoints;
	return s->left_by_another ? store_raise_number(s, "jobs", s->left_by_another, err) : 0;
}

/* --- who keeps the store --- */

/* By SQLite's file format, locks on the -shm file are on its bytes from 120 to 128. The process
 * that opens the store first, or writes, has a write lock on one of these bytes or on the
 * database. */
#define SHM_FIRST 120
#define SHM_LAST 128

struct lock_line {
	int pid;
	dev_t disk;
	unsigned long long inode;
	long long begin;
};

enum { NUMBER, CLASS, ADVISORY, ACCESS, PID, INODE, BEGIN, N_WORDS };

/* Parses "5: POSIX ADVISORY WRITE 2796 fe:00:1179 128 128"; the lines of waiting processes have
 * "->". */
static bool parse_lock_line(char *line, struct lock_line *l)
{
	char *word[N_WORDS], *rest = line, *colon, *minor;
	unsigned major;

	for (int i = 0; i < N_WORDS; i++) {
		word[i] = strtok_r(i ? NULL : line, " ", &rest);
		if (!word[i])
			return false;
	}
	colon = strrchr(word[INODE], ':');
	if (strcmp(word[CLASS], "POSIX") != 0 || strcmp(word[ACCESS], "WRITE") != 0 || !colon)
		return false;
	l->pid = (int)strtol(word[PID], NULL, 10);
	major = (unsigned)strtoul(word[INODE], &minor, 16);
	l->disk = makedev(major, (unsigned)strtoul(minor + (*minor == ':'), NULL, 16));
	l->inode = strtoull(colon + 1, NULL, 10);
	l->begin = strtoll(word[BEGIN], NULL, 10);
	return l->pid > 0;
}

/* A file whose locks keep others from the store, and the processes that have it open: a file on
 * another disk may have the same inode number, and some file systems give locks another disk than
 * files. The files that processes of other users have open cannot be seen. */
struct locked_file {
	unsigned long long inode;	/* 0: there is no such file */
	dev_t disk;
	struct pid_list users;
};

static struct locked_file locked_file(const char *path, const char *suffix)
{
	struct locked_file f = { .inode = 0 };
	char name[4200];
	struct stat st;

	if (snprintf(name, sizeof(name), "%s%s", path, suffix) >= (int)sizeof(name) ||
	    stat(name, &st))
		return f;
	f.inode = st.st_ino;
	f.disk = st.st_dev;
	proc_users_of_file(name, NULL, &f.users);
	return f;
}

static bool is_of(const struct lock_line *l, const struct locked_file *f)
{
	if (f->inode == 0 || l->inode != f->inode)
		return false;
	for (int i = 0; i < f->users.count; i++)
		if (l->pid == (int)f->users.items[i])
			return true;
	return l->disk == f->disk;
}

static int find_holder(const char *path)
{
	struct locked_file database = locked_file(path, ""), shm = locked_file(path, "-shm");
	FILE *locks = database.inode ? file_open_stream("/proc/locks") : NULL;
	struct lock_line l;
	char line[256];
	int found = 0;

	while (locks && fgets(line, sizeof(line), locks))
		if (parse_lock_line(line, &l) &&
		    (is_of(&l, &database) ||
		     (is_of(&l, &shm) && l.begin >= SHM_FIRST && l.begin <= SHM_LAST)) &&
		    (found == 0 || proc_is_stopped(l.pid)))
			found = l.pid;
	if (locks)
		fclose(locks);
	pid_list_release(&database.users);
	pid_list_release(&shm.users);
	return found;
}

#define LOOKS 3

void store_holder_add(const char *path, struct text *t)
{
	int pid = find_holder(path), looks = 0;
	struct proc_info info;

	/* The kernel writes /proc/locks in parts: a look may miss a lock while others come and
	 * go. */
	while (!pid && ++looks < LOOKS)
		pid = find_holder(path);
	if (!pid)
		return;
	proc_look(pid, &info);
	text_addf(t, ", by process %d", pid);
	if (*info.command)
		text_addf(t, " (%s)", info.command);
	if (info.hidden)
		text_add(t, " of another user, which is not visible here");
	else if (kill(pid, 0) && errno == EPERM && *info.owner)
		text_addf(t, " of %s", info.owner);
	if (!advice_stays_stopped(pid))
		return;
	/* A signal is named only where the same process has the lock at a second look. */
	for (looks = 0; find_holder(path) != pid;)
		if (++looks == LOOKS)
			return;
	text_add(t, ", which is stopped: ");
	advice_add_continue(t, pid);
	text_add(t, " lets it go on, '");
	advice_add_kill(t, "9", pid);
	text_add(t, "' ends it");
}

/* --- waiting for the store --- */

/* How long the first in the queue waits for the one process that writes: longer than any pass
 * takes. */
#define FIRST_S 10.0
/* How long others in the queue wait: enough for fifty writers that each need a second for the
 * disk. */
#define QUEUE_S 60.0
/* How long a supervisor waits, which has other work to do: it keeps what it could not write, and
 * tries again. A program waits only a second for its last report to be taken. */
#define OBSERVE_S 0.5
/* A process earlier in the queue may be stopped (SIGSTOP), so each process also tries out of turn
 * so often. */
#define TRY_S 0.2
#define QUEUE_PAUSE_NS 5000000
#define FIRST_PAUSE_NS 2000000

/* SQLite calls this when the store is locked. n: the number of earlier calls for this lock. */
static int wait_for_turn(void *store, int n)
{
	static const struct timespec queue_pause = { .tv_nsec = QUEUE_PAUSE_NS },
		first_pause = { .tv_nsec = FIRST_PAUSE_NS };
	struct store *s = store;

	if (n == 0) {
		const char *file = sqlite3_db_filename(s->db, "main");
		char path[4200];

		turn_leave(&s->turn);
		s->queue_until_s = clock_boot_s() + (s->is_observer ? OBSERVE_S : QUEUE_S);
		s->first_until_s = NAN;
		/* Without a queue, on a disk that cannot be written, all processes try. root, who
		 * looks at another user's store, makes no file there. */
		if (file && !s->is_anothers &&
		    snprintf(path, sizeof(path), "%s-queue", file) < (int)sizeof(path))
			turn_join(&s->turn, path);
	}
	s->try_s = clock_boot_s() + TRY_S;
	while (!turn_is_next(&s->turn)) {
		double now_s = clock_boot_s();

		if (now_s >= s->queue_until_s)
			return 0;
		if (now_s >= s->try_s)
			return 1;
		nanosleep(&queue_pause, NULL);
	}
	if (isnan(s->first_until_s))
		s->first_until_s = s->is_observer ? s->queue_until_s : clock_boot_s() + FIRST_S;
	if (clock_boot_s() >= s->first_until_s)
		return 0;
	nanosleep(&first_pause, NULL);
	return 1;
}

void store_wait_set(struct store *s, enum store_mode mode)
{
	s->is_observer = mode == STORE_OBSERVE;
	sqlite3_busy_handler(s->db, wait_for_turn, s);
}

void store_wait_patiently(struct store *s, bool patiently)
{
	s->is_observer = !patiently;
}

/* --- what nearly every command begins with --- */

int session_open(struct session *s, enum store_mode mode, struct err *err)
{
	if (paths_init(&s->paths, err))
		return -1;
	if (store_open(&s->store, &s->paths, mode, err)) {
		paths_release(&s->paths);
		return -1;
	}
	if (mode == STORE_WRITE) {
		struct config config;

		config_load_leniently(&config, s->paths.config);
		s->store.no_secrets = config.keep_environment == KEEP_NO_SECRETS;
	}
	return 0;
}

void session_close(struct session *s)
{
	store_close(&s->store);
	paths_release(&s->paths);
}

int session_settings(struct session *s, struct config *config, struct err *err)
{
	static const char *const names[] = { "POLLUX_SLOTS", "POLLUX_SLICE", "POLLUX_POLICY" };
	double slice_s;

	if (config_load(config, s->paths.config, err))
		return -1;
	for (int i = 0; i < 3; i++) {
		char *value;

		if (store_setting_get(&s->store, names[i], &value, err))
			return -1;
		if (value && i == 2)
			snprintf(config->policy, sizeof(config->policy), "%s", value);
		else if (value && i == 1 && number_parse_duration(value, &slice_s) == 0 &&
			 slice_s > 0)
			config->slice_s = slice_s;
		else if (value && i == 0 && !*value)
			config->slots = CONFIG_SLOTS_AUTO;
		else if (value && i == 0)
			config_set_slots(config, value);	/* else they stay as they are */
		free(value);
	}
	return 0;
}
