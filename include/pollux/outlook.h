/* outlook.h - what the decision makes of jobs, for those who only look: nothing is decided or
 * written. One job, as it is now:
 *
 *	struct outlook o;
 *	if (outlook_read(&session, &config, &query, &o, err)) ...
 *	o.kinds[o.shown].offered[2] ...
 *	outlook_release(&o);
 *
 * The job is weighed by the stages of a pass (src/pass/decide.c), on all devices that can be used,
 * whatever its state, and as if it were alone. Where the policy looks at no goodput, it is weighed
 * as under policy goodput. */
#ifndef POLLUX_OUTLOOK_H
#define POLLUX_OUTLOOK_H

#include <math.h>

#include "pollux/config.h"
#include "pollux/execution_plan.h"
#include "pollux/knowledge.h"
#include "pollux/policy.h"
#include "pollux/store.h"
#include "pollux/store_jobs.h"
#include "pollux/store_runs.h"

struct outlook_query {
	int64_t job_id;
	/* of devices on which the job ran, which may be gone; NULL: it never ran */
	const char *kind;
	int least_devices;		/* for which it is weighed, even if there are fewer */
};

/* Why a job must not have a kind of device. */
enum outlook_bar { BAR_NONE, BAR_NOT_ASKED_FOR, BAR_TOO_SMALL, BAR_RUN_STAYS };

/* Pointers are valid until outlook_release(). */
struct outlook {
	int rows;			/* devices that can be used, or least_devices if more */
	char device_kind[sizeof(((struct device *)0)->kind)];	/* of the first of them; "": none */
	int n_kinds;			/* at least 1 */
	struct outlook_kind {
		const char *name;	/* NULL: kinds are not told apart */
		int n_devices;
		enum outlook_bar barred;
		/* The best sizes on r devices, r = 0..rows; NULL: nothing is known, or the job must
		 * not have the kind. */
		const struct goodput_table *table;
		const struct sched_offers *offers;	/* outlook_offer() */
		const enum configuration_tier *best_tier;	/* [0..rows] */
		struct node_sizes nodes;	/* n < 2: the devices are on one */
		/* The workload was not measured on the kind: what is known of it on kind `from`
		 * was moved there, by the ratio of step times. from NULL: it was not moved, or by
		 * no measurement. */
		bool expected;
		const char *from;
		struct fit_expectation ratio;
	} kinds[SCHED_KINDS];
	int shown;			/* the kind of the query, or else that of the decision */
	int min_replicas, max_replicas;	/* that the decision may give */
	int guaranteed;			/* devices that its guarantee needs; 0: it has none */
	const struct workload *workload;	/* by which it is judged; NULL: never measured */
	struct job_model model;		/* on the shown kind */
	struct outlook_plan {
		const char *name;	/* plan, and its devices for a replica */
		int width;
		const char *workload;	/* the name under which knowledge is kept */
		const struct knowledge *known;	/* NULL: never measured */
		const struct knowledge *tried;	/* sizes that do not work; NULL: none known */
		bool allowed;		/* it can read the job's checkpoints */
		const struct job_model *model;	/* on the shown kind, like the next */
		const struct goodput_table *table;	/* NULL: see above */
	} *plans;			/* owned; by plan of its command */
	int n_plans;
	struct outlook_owned *owned;
};

/* The goodput of r devices after all stages; NaN: the job must not have them, or nothing is
 * known. */
static inline double outlook_offer(const struct outlook_kind *kind, int r)
{
	return kind->table && r <= kind->offers->n ? kind->offers->goodput[0][r] : (double)NAN;
}

/* config must outlive *o. EX_NOINPUT: there is no such job. */
int outlook_read(struct session *s, const struct config *config, const struct outlook_query *query,
		 struct outlook *o, struct err *err);
void outlook_release(struct outlook *o);

/* --- all jobs, as a policy is told of them --- */

/* Jobs that were read already, and the runs that have not ended; the caller's. */
struct outlook_jobs {
	struct job_list jobs;
	const struct run_list *runs;
	double now_boot_s, now_wall_s;
};

struct outlook_input {
	struct sched_input input;	/* n_jobs 0: no pass has seen devices yet */
	struct outlook_owned *owned;
};

/* Weighs the jobs on the devices that the last pass could give out, by models as they are stored:
 * the machine is not looked at, and nothing is fitted. *jobs and config must outlive *in. */
int outlook_read_all(struct session *s, const struct config *config,
		     const struct outlook_jobs *jobs, struct outlook_input *in, struct err *err);
void outlook_input_release(struct outlook_input *in);

#endif
