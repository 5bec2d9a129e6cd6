/* local_handle.h - the contents of a local run's handle; private to src/engine/local.
 *
 * The text is "local supervisor=12 leader=34 start=5678 guardian=11 keeper=13 group=/path
 * socket=/path", in one line.
 * Values that are not known are left out. The socket's path comes last and ends with the text. */
#ifndef POLLUX_LOCAL_HANDLE_H
#define POLLUX_LOCAL_HANDLE_H

#include <stdint.h>

struct local_handle {
	int64_t supervisor_pid;		/* 0: none yet */
	int64_t leader_pid;		/* the command's first process; 0: none yet */
	int64_t leader_start_ticks;	/* with the pid, names one process; 0: unknown */
	int64_t guardian_pid;		/* above the supervisor that started the run; 0: none */
	int64_t keeper_pid;		/* log_keeper.h; 0: none, or unknown */
	char *group;			/* owned; directory of its control group; "": none */
	char *socket_path;		/* owned; where the run's reports go; "": none yet */
};

/* text NULL: the run was not started yet. */
void local_handle_parse(const char *text, struct local_handle *h);
char *local_handle_text(const struct local_handle *h);		/* the caller frees */
void local_handle_release(struct local_handle *h);

#endif
