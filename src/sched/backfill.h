/* backfill.h - who may start behind a job that is stuck, and would not give its devices back.
 *
 * A job is stuck where jobs that are not preemptible leave it too few devices. If nothing else that is not
 * preemptible were started, devices would idle for as long as the longest of these runs; if anything were, it might
 * never start. So, as in EASY (D. A. Lifka, "The ANL/IBM SP scheduling system", 1995), one may start behind it
 *
 * - that is expected to end before the stuck job can start;
 * - or whose end is known, on devices that will be spare beside the stuck job then.
 *
 * Expected is what remains of a job, or the length that is taken for it (worth.h): most commands that are not
 * preemptible tell nothing. Such an end may be wrong, and those started by it are in the way themselves when it
 * is. Therefore one that was started behind the stuck job, and whose end nobody knows, counts as ended: it gives
 * nobody else time to run. So the stuck job starts at the latest when all these have ended:
 *
 * - those that ran when it became overdue, and those submitted before it began to wait;
 * - those started behind it until the former had left enough, of which the ones of known length do not delay it, if
 *   they end when they say. */
#ifndef SCHED_BACKFILL_H
#define SCHED_BACKFILL_H

#include <stdbool.h>

#include "claims.h"

/* items: as claimed so far. */
struct stuck_job backfill_stuck_job(const struct curves *curves, const struct claim *items, int stuck,
					double overdue_s);
/* It was started behind the stuck job, or would be now. */
bool backfill_is_behind(const struct curves *curves, const struct stuck_job *r, const struct curve *c);
/* Whether it may start; what is spare is taken, and claimed. */
bool backfill_allows(const struct curves *curves, struct stuck_job *r, const struct curve *c, struct claim *claim);

#endif
