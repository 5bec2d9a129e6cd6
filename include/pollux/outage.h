/* outage.h - the manager of a cluster does not answer: said once for each outage, not by each pass.
 *
 * The file 'outage' exists from the first pass that found no answer to the first that found one. */
#ifndef POLLUX_OUTAGE_H
#define POLLUX_OUTAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "pollux/err.h"
#include "pollux/paths.h"

/* Who reads what a pass prints: nobody where the pass runs in the background, a mailbox where cron
 * started the pass, else a person. */
enum outage_reader { OUTAGE_NOBODY, OUTAGE_MAILBOX, OUTAGE_PERSON };

/* To be called when a pass has failed. Empties the message if the message tells of an outage and
 * the mailbox has it already. The exit status stays. */
void outage_begins(const struct paths *paths, const char *engine_says, enum outage_reader reader,
		   struct err *err);
/* To be called when a pass has succeeded. True if an outage is over; *lasted_s is how long the
 * outage lasted, by the wall clock. */
bool outage_ends(const struct paths *paths, double now_wall_s, double *lasted_s);
/* True while there is an outage: what was said, and since when. */
bool outage_read(const struct paths *paths, char *why, size_t size, double *since_s);

#endif
