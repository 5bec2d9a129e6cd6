/* backfill.h - jobs that are not preemptible, and may start although a stuck job waits.
 *
 * A job is stuck if jobs that are not preemptible leave it too few devices. If no other such job
 * were started meanwhile, devices would idle for as long as the longest of them runs. If all were,
 * the stuck job might never start. So, as in EASY (D. A. Lifka, "The ANL/IBM SP scheduling system",
 * 1995), a job may start behind the stuck job if
 *
 * - it is expected to end before the stuck job can start;
 * - or its end is known, and the devices it needs will be spare when the stuck job has started.
 *
 * The expected end follows from the remaining work, or from the length assumed for the job
 * (worth.h), since most commands that are not preemptible tell nothing. Such an end may be wrong,
 * and jobs that were started because of it are then in the way. Therefore a job that was started
 * behind the stuck job, and whose end is unknown, counts as ended: no other job may start because
 * of its expected end. So the stuck job starts at the latest when all of these have ended:
 *
 * - jobs that ran when it became overdue, and jobs submitted before it began to wait;
 * - jobs started behind it before the former had left enough devices. Those of known length do not
 *   delay it, if they end when they should. */
#ifndef SCHED_BACKFILL_H
#define SCHED_BACKFILL_H

#include <stdbool.h>

#include "claims.h"

/* items: the claims made so far. stuck: index of the stuck job. overdue_s: since when the job is
 * overdue. */
struct stuck_job backfill_stuck_job(const struct curves *curves, const struct claims *claims,
				    int stuck, double overdue_s);
/* True if the job was started behind the stuck job, or would be if it started now. */
bool backfill_is_behind(const struct curves *curves, const struct stuck_job *r,
			const struct curve *c);
/* True if the job may start. It then claims the spare devices that it needs. */
bool backfill_allows(const struct curves *curves, struct stuck_job *r, const struct curve *c,
		     struct claim *claim);

#endif
