/* pass_files.h - what passes leave in files for other processes and for people: why the last one
 * failed, that a cluster's manager does not answer, the machine on which they run. */
#ifndef POLLUX_PASS_FILES_H
#define POLLUX_PASS_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "pollux/err.h"
#include "pollux/paths.h"
#include "pollux/text.h"

/* Why the last pass failed that nobody watched: the pass after a submission or
 * after the end of a run. Any later pass that succeeds makes this forgotten. */

/* Notes why a pass failed. Does nothing if pollux has no directory. */
void failed_pass_note(const struct paths *paths, const char *why);
void failed_pass_forget(const struct paths *paths);
/* Returns true if the last such pass failed. *why is cut to size; *time_s is by the wall clock. */
bool failed_pass_read(const struct paths *paths, char *why, size_t size, double *time_s);

/* The manager of a cluster does not answer: said once for each outage, not by each pass.
 *
 * The file 'outage' exists from the first pass that found no answer to the first that found one. */

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

/* The one machine on which passes of a store run, where its runs are on a cluster.
 *
 * A store in a home directory is seen by several machines, but its locks and its database are good
 * for the processes of one. The file 'pass.host' names that machine. A pass on another one is
 * refused while the former machine may be at work; later the other one takes its place. */

/* A pass takes no more than 10 minutes. After this time the former machine is at work no more. */
#define PASS_HOST_QUIET_S 660.0

/* A pass that has the lock makes this machine the one of the passes, and sets the time of the
 * lock's file, which is that of the last pass. EX_TEMPFAIL: passes run on another machine. *moved
 * tells of a machine whose place was taken. */
int pass_host_take(const struct paths *paths, int lock, struct text *moved, struct err *err);
/* Adds the other machine on which passes run, and when the last one was. False: there is none. */
bool pass_host_other(const struct paths *paths, struct text *out);

#endif
