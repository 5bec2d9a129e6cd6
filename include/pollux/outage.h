/* outage.h - the manager of a cluster does not answer: said once for each outage, not by each pass.
 *
 * The file 'outage' exists from the first pass that found no answer to the first that found one. */
#ifndef POLLUX_OUTAGE_H
#define POLLUX_OUTAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "pollux/err.h"
#include "pollux/paths.h"

/* Who gets what a pass prints: nobody that of a pass in the background, a mailbox that of cron. */
enum outage_reader { OUTAGE_NOBODY, OUTAGE_MAILBOX, OUTAGE_PERSON };

/* Of a pass that failed: empties the message if it tells of an outage, and a mailbox has it
 * already. The exit status stays. */
void outage_begins(const struct paths *paths, const char *engine_says, enum outage_reader reader,
		   struct err *err);
/* Of a pass that succeeded. True if an outage is over: how long it lasted, by the wall clock. */
bool outage_ends(const struct paths *paths, double now_wall_s, double *lasted_s);
/* True while there is an outage: what was said, and since when. */
bool outage_read(const struct paths *paths, char *why, size_t size, double *since_s);

#endif
