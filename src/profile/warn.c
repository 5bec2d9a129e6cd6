/* warn.c - warns about the figures of a profile, by events of its job. */
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pollux/mem.h"
#include "pollux/step_stats.h"
#include "pollux/store_runs.h"
#include "pollux/text.h"
#include "profile_state.h"

#define OTHERS_SHARE 0.10	/* share of the processors that other programs use */
#define STOLEN_SHARE 0.05	/* share of the time that the hypervisor or a quota takes */
#define MODEL_ERROR 0.10	/* relative error of step times, root mean square */
#define FLAT 1.02		/* ratio of step times that count as the same */
#define MEMORY_SHARE 0.90	/* of the machine's memory */

__attribute__((format(printf, 3, 4)))
static int warn(struct profile *p, struct err *err, const char *format, ...)
{
	scoped(text_release) struct text t = TEXT_INIT;
	va_list ap;

	va_start(ap, format);
	text_vaddf(&t, format, ap);
	va_end(ap);
	return store_event_add(p->store, p->job->id, 0, "warning", t.data, err);
}

/* Warns of the machine: other programs, a hypervisor or a quota, slowed devices, heat. */
static int warn_of_machine(struct profile *p, struct err *err)
{
	int n = (int)fmax((double)sysconf(_SC_NPROCESSORS_ONLN), 1);

	if (p->watched_s > 0 && p->others_s / p->watched_s > OTHERS_SHARE * n &&
	    warn(p, err, "the machine was busy: other programs used %.2g of its %d processors",
		 p->others_s / p->watched_s, n))
		return -1;
	if (p->watched_s > 0 && p->stolen_s > STOLEN_SHARE * p->watched_s &&
	    warn(p, err, "the processors were throttled: a hypervisor or a quota held back %.2g "
		 "of them", p->stolen_s / p->watched_s))
		return -1;
	if (p->n_slowed > 0 && warn(p, err, "devices were slowed at %d of %d points: %s",
				    p->n_slowed, p->n_points, p->slowed_by))
		return -1;
	return p->n_hot == 0 ? 0 : warn(p, err, "processor cores were slowed by heat %lld times",
					(long long)p->n_hot);
}

void profile_describe_end(const struct run *run, struct text *text)
{
	const char *why = run->diagnosis ? run->diagnosis : "";
	char name[SIGNAL_NAME_SIZE];

	if (run->out_of_memory)
		text_add(text, "it is out of memory");
	else if (run->outcome == OUTCOME_COMPLETED)
		text_add(text, "ended by itself, with exit status 0, before it could be timed");
	else if (run->term_signal > 0)
		text_addf(text, "was killed by %s", signal_name(name, run->term_signal));
	else
		text_addf(text, "failed with exit status %d", run->exit_code);
	if (*why && !(run->out_of_memory && (!strcmp(why, "out of memory") ||
					     !strcmp(why, "GPU out of memory"))))
		text_addf(text, ": %s", why);
}

static int warn_of_failure(struct profile *p, const struct run *run, struct err *err)
{
	const struct configuration *c = &run->configuration;
	scoped(text_release) struct text end = TEXT_INIT;
	struct observation o;

	if (run->out_of_memory ||
	    (run->outcome != OUTCOME_FAILED && run->outcome != OUTCOME_COMPLETED))
		return 0;
	if (store_observation_get(p->store, run, &o, err))
		return -1;
	if (o.n_windows > 0)
		return 0;
	profile_describe_end(run, &end);
	return warn(p, err, "at batch %lld on %d device%s the command %s%s",
		    (long long)configuration_batch_size(c), c->replicas, plural(c->replicas),
		    end.data, p->n_measured == 0 ? "" : "; neither this size nor larger ones are "
		    "recommended, or given to jobs of the workload, until they were measured");
}

/* Warns if a run was stopped after its measurement, was still there after the grace, and was
 * killed. A longer end without a kill may come from processes that the command left behind, or from
 * a driver. */
static int warn_of_grace(struct profile *p, const struct run_list *runs, struct err *err)
{
	const struct declaration *d = &p->job->declared;
	char name[SIGNAL_NAME_SIZE];
	double longest_s = 0;

	for (int i = 0; i < runs->count; i++) {
		const struct run *run = &runs->items[i];

		if (run->outcome == OUTCOME_STOPPED && run->stop_duration_s >= d->grace_s &&
		    (run->term_signal == SIGTERM || run->term_signal == SIGKILL) &&
		    run->term_signal != d->stop_signal)
			longest_s = fmax(longest_s, run->stop_duration_s);
	}
	if (!(longest_s > 0))
		return 0;
	return warn(p, err, "it was still there %g s (--grace) after %s, and was killed; it was "
		    "gone after %.3g s: a stop takes this long, and a job would lose what it has "
		    "not saved", d->grace_s, signal_name(name, d->stop_signal), longest_s);
}

/* Warns if a larger batch takes the same time in one pass on the fewest devices. This is possible
 * on a GPU that small batches leave idle, but usually the command ignores its batch size. */
static int warn_of_flatness(struct profile *p, const struct run_list *runs, struct err *err)
{
	int64_t least = 0, most = 0;		/* 0: none was measured */
	double least_s = 0, most_s = 0;
	struct observation o;

	for (int i = 0; i < runs->count; i++) {
		const struct configuration *c = &runs->items[i].configuration;
		int64_t batch_size = configuration_batch_size(c);

		if (c->replicas != p->job->declared.min_replicas || c->accumulation_steps != 1)
			continue;
		if (store_observation_get(p->store, &runs->items[i], &o, err))
			return -1;
		if (o.n_windows > 0 && (least == 0 || batch_size < least)) {
			least = batch_size;
			least_s = o.step_time_s;
		}
		if (o.n_windows > 0 && batch_size > most) {
			most = batch_size;
			most_s = o.step_time_s;
		}
	}
	if (least == 0 || most < 2 * least || most_s > FLAT * least_s)
		return 0;
	return warn(p, err,
		    "a step takes the same at batch %lld as at %lld, %.3g and %.3g ms: does "
		    "the command take its batch from {batch} or {local_batch}, or from its "
		    "environment? If not, all that is reported about sizes is wrong",
		    (long long)most, (long long)least, 1e3 * most_s, 1e3 * least_s);
}

/* Warns of what was not measured: devices that others hold, and points that lost their
 * supervisor; and of runs that did not do as they should. */
static int warn_of_runs(struct profile *p, const struct run_list *runs, struct err *err)
{
	if (p->missing && warn(p, err, "more than %d device%s: not measured (%s)", p->n_devices,
			       plural(p->n_devices), p->missing))
		return -1;
	if (p->n_lost > 0 &&
	    warn(p, err, "%d point%s lost the supervisor, which was killed: such points were "
		 "tried again while time was left, except a size that lost it %d times",
		 p->n_lost, plural(p->n_lost), PROFILE_MOST_LOST))
		return -1;
	for (int i = 0; i < runs->count; i++)
		if (warn_of_failure(p, &runs->items[i], err))
			return -1;
	return warn_of_grace(p, runs, err) || warn_of_flatness(p, runs, err) ? -1 : 0;
}

/* Warns of figures that are uncertain, and of a machine whose memory is nearly full. */
static int warn_of_figures(struct profile *p, const struct run_list *runs, struct err *err)
{
	double most = 0, all = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
	int n_probes = p->n_measured - p->n_lasting;
	char probes[64] = "";

	if (n_probes > 0)
		snprintf(probes, sizeof(probes),
			 "; the other %d had only to show that they fit", n_probes);
	if (p->n_unsteady > 0 &&
	    warn(p, err, "%d point%s not steady (half-width of the confidence interval under "
		 "%g %%) within the share of the budget, of %d that should be: a larger "
		 "--budget or a quieter machine would make them steady%s", p->n_unsteady,
		 p->n_unsteady == 1 ? " was" : "s were", 100 * STEADY_HALF_WIDTH, p->n_lasting,
		 probes))
		return -1;
	if (p->model_error > MODEL_ERROR &&
	    warn(p, err, "the model is off by %.0f %% (root mean square) from the measured step "
		 "times: its predictions are uncertain; if the machine was busy, profile again "
		 "when it is quiet", 100 * p->model_error))
		return -1;
	for (int i = 0; i < runs->count; i++)
		most = fmax(most, (double)runs->items[i].peak_memory_bytes);
	return most <= MEMORY_SHARE * all ? 0
		: warn(p, err, "its processes took up to %.0f %% of the machine's memory",
		       100 * most / all);
}

int profile_warn(struct profile *p, struct err *err)
{
	scoped(run_list_release) struct run_list runs = { 0 };

	if (store_runs_of_job(p->store, p->job->id, &runs, err))
		return -1;
	return warn_of_runs(p, &runs, err) || warn_of_machine(p, err) ||
	       warn_of_figures(p, &runs, err) ? -1 : 0;
}
