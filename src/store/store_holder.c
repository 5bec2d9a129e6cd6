/* store_holder.c - finds the holder of SQLite's locks in /proc/locks. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "pollux/advice.h"
#include "pollux/open_file.h"
#include "pollux/proc_files.h"
#include "store_holder.h"

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
	proc_users_of_file(name, &f.users);
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

static void add_name(int pid, struct text *t)
{
	struct proc_info info;

	proc_look(pid, &info);
	if (*info.command)
		text_addf(t, " (%s)", info.command);
	if (info.hidden)
		text_add(t, " of another user, which is not visible here");
	else if (kill(pid, 0) && errno == EPERM && *info.owner)
		text_addf(t, " of %s", info.owner);
}

/* The kernel writes /proc/locks in parts: a look may miss a lock while others come and go. */
static bool still_holds(const char *path, int pid)
{
	int looks = 0;

	while (find_holder(path) != pid)
		if (++looks == 3)
			return false;
	return true;
}

/* A signal is named only where the same process, still stopped, has the lock at a second look. */
static void add_stopped(const char *path, int pid, struct text *t)
{
	if (!advice_stays_stopped(pid) || !still_holds(path, pid))
		return;
	text_add(t, ", which is stopped: ");
	advice_add_continue(t, pid);
	text_add(t, " lets it go on, '");
	advice_add_kill(t, "9", pid);
	text_add(t, "' ends it");
}

void store_holder_add(const char *path, struct text *t)
{
	int pid = find_holder(path);

	if (!pid)
		return;
	text_addf(t, ", by process %d", pid);
	add_name(pid, t);
	add_stopped(path, pid, t);
}
