/* pause.h - whether runs can be suspended because a person holds their jobs.
 *
 *	struct pause_look *look;
 *	if (pause_look_new(&session, &look, err)) ...
 *	if (pause_ask(look, job_id, &freezes, &bytes) == SUSPEND_MAY) ...
 *	pause_look_free(look);
 *
 * The rules are those of a pass (src/pass/suspension.c). A supervisor may still find that a run
 * cannot be suspended, as its processes do not stop. */
#ifndef POLLUX_PAUSE_H
#define POLLUX_PAUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "pollux/err.h"
#include "pollux/store.h"

enum suspend_bar {
	SUSPEND_MAY,
	SUSPEND_BAR_NEVER,	/* its job is not to be suspended */
	SUSPEND_BAR_ENGINE,	/* its engine or its device cannot */
	SUSPEND_BAR_SHARES,	/* it shares its GPU */
	SUSPEND_BAR_TRIED,	/* its supervisor has tried; or is of an older pollux */
	SUSPEND_BAR_SEVERAL,	/* its memory would stay on several GPUs */
	SUSPEND_BAR_EXCLUSIVE,	/* ... on one that takes one process, or that is gone */
	SUSPEND_BAR_UNKNOWN,	/* ... of an amount that is not known */
	SUSPEND_BAR_CONTAINER,	/* a container of it would go on */
	SUSPEND_BAR_MEMORY,	/* suspended runs would keep more than suspend_memory */
	SUSPEND_BAR_ROOM,	/* no other job would find memory beside it */
};
#define N_SUSPEND_BARS (SUSPEND_BAR_ROOM + 1)

struct pause_look;

int pause_look_new(struct session *s, struct pause_look **look, struct err *err);
void pause_look_free(struct pause_look *look);	/* NULL is allowed */
/* Asks for a job that is running. What it would keep counts for those asked later. *freezes: its
 * GPU memory goes to the host's; *bytes: of the host's, that it keeps. */
enum suspend_bar pause_ask(struct pause_look *look, int64_t job_id, bool *freezes, int64_t *bytes);

#endif
