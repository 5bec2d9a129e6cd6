/* schedule_others.h - what passes of other processes do while 'pollux schedule --watch -v' looks
 * on: those of supervisors, mostly; private to src/cli. */
#ifndef POLLUX_CLI_SCHEDULE_OTHERS_H
#define POLLUX_CLI_SCHEDULE_OTHERS_H

#include "pollux/store.h"
#include "pollux/text.h"

struct others {
	bool began;
	int64_t told;		/* the last event that was looked at */
	struct strings own;	/* what the watcher's own last pass printed */
};

/* Prints what passes did from the last call up to event `seen`, but for what the watcher's own pass
 * did. The first call prints nothing. */
void others_print(struct others *o, struct store *store, int64_t seen);
/* The watcher's own pass did these. */
void others_note_own(struct others *o, const struct strings *actions);
void others_release(struct others *o);

#endif
