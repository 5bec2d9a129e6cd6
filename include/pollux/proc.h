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

/* What the living processes of a session have in memory, the caller excepted: the sum of their resident
 * sets. Pages that they share count for each. */
int64_t proc_resident_bytes(pid_t session);

/* Kills by the kernel's out-of-memory killer since boot; -1 unknown. */
int64_t proc_oom_kills(void);

#endif
