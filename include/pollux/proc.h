/* proc.h - what /proc says of processes. */
#ifndef POLLUX_PROC_H
#define POLLUX_PROC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Clock ticks since boot at which the process started; 0 where there is none. With the pid it names
 * one process for ever. A zombie counts as a process. */
int64_t proc_start_ticks(pid_t pid);

struct pid_list {
	pid_t *items;	/* owned */
	int count;
};

/* What marks the processes of a run: descent from its supervisor (a subreaper, so also after their
 * parents died), the session the supervisor made, or the run's report socket in their environment
 * (also after they left the session and the supervisor died). */
struct proc_marks {
	pid_t ancestor;		/* 0: not used */
	pid_t session;		/* 0: not used */
	const char *variable;	/* "POLLUX_REPORT_SOCKET=/..."; NULL: not used */
};

/* Living processes (no zombies) that bear one of the marks, the caller itself excepted. -1: /proc cannot be
 * read, the list is empty and says nothing. */
int proc_find(const struct proc_marks *marks, struct pid_list *list);
void pid_list_release(struct pid_list *list);
bool proc_lives(pid_t pid);	/* and is no zombie */
/* Whether this one process lives and bears one of the marks. */
bool proc_bears(pid_t pid, const struct proc_marks *marks);

struct proc_info {
	bool lives;		/* no zombie; the rest is known only of one that does */
	int64_t start_ticks;
	double age_s;
	char owner[33];		/* its user's name, else number */
	char command[17];	/* the kernel's short form of it */
};

void proc_look(pid_t pid, struct proc_info *info);
/* Whether pids that the kernel tells a driver are pids here: not so in a container with its own. */
bool proc_sees_all(void);

/* What the living processes of a session have in memory, the caller excepted: the sum of their resident
 * sets. Pages that they share count for each. */
int64_t proc_resident_bytes(pid_t session);

#endif
