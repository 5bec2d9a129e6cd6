/* The policy by goodput: its exact maximum against all allocations of small problems, with the
 * formulas and the claims stated here once more; then cases by hand. Long runs:
 * test_policy_goodput_run.c. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "pollux/policy.h"
#include "sched_cases.h"
#include "tap.h"
#include "words.h"

#define CASES 10000
#define SLICE_S 600.0
#define NOW_S 1e5

/* --- the maximum --- */

struct reference {
	const struct sched_case *c;
	int least[CASE_JOBS];
	bool overdue[CASE_JOBS], forced[CASE_JOBS], spared[CASE_JOBS];
	bool gathering;
	int stuck;			/* -1: none */
	double stuck_start_s;		/* expected */
	int spare;
	bool brief[CASE_JOBS], suspended[CASE_JOBS];
	bool before[CASE_JOBS], beside[CASE_JOBS];	/* may start behind the stuck one */
};

static bool runs(const struct sched_job *job)
{
	return job->replicas > 0;
}

static bool in_slice(const struct sched_case *c, const struct sched_job *job)
{
	return runs(job) && c->in.now_s - job->launched_s < case_run_slice_s(&c->in, job);
}

static bool has_settled(const struct sched_case *c, const struct sched_job *job)
{
	return !in_slice(c, job) ||
	       c->in.now_s - job->launched_s >=
		       fmax(2 * fmax(job->relaunch_s, job->restart_s), c->in.slice_s / 10);
}

static bool was_overdue(const struct sched_case *c, const struct sched_job *job)
{
	return job->launched_s - job->waiting_since_s >= case_limit_s(&c->in, job);
}

/* It keeps devices because it was launched not long ago. What remains of it is known, or its slice
 * protects it. */
static bool is_kept(const struct sched_case *c, const struct sched_job *job)
{
	bool known = job->offers[0].goodput[0] && !isnan(job->remaining_samples) &&
		     job->remaining_spread <= 0.5;
	bool worked = c->in.now_s - job->launched_s >= 3 * job->restart_s;

	return in_slice(c, job) &&
	       (!known || was_overdue(c, job) || !has_settled(c, job) || !worked);
}

/* What a restart loses: a run that gives way and comes back, and one that is relaunched. */
enum { TURNS, RELAUNCHES };

static double restart(const struct sched_job *job, int how)
{
	return how == RELAUNCHES ? fmax(job->relaunch_s, job->restart_s) : job->restart_s;
}

static double cost(const struct sched_job *job, int how)
{
	bool loses = how == RELAUNCHES || (how == TURNS && !(job->relaunch_s > 0));

	return restart(job, how) + (loses && runs(job) ? job->unsaved_s : 0);
}

/* Goodput, or samples, in units of the goodput of a device at the least number. */
static double in_units(const struct reference *ref, int i, double goodput)
{
	int least = ref->least[i];

	return goodput / ref->c->jobs[i].offers[0].goodput[0][least] * least;
}

static double speedup(const struct reference *ref, int i, int r)
{
	const struct sched_job *job = &ref->c->jobs[i];

	return job->offers[0].goodput[0] ? in_units(ref, i, job->offers[0].goodput[0][r]) : r;
}

static double horizon(const struct reference *ref, int i, double slices, int how)
{
	const struct sched_job *job = &ref->c->jobs[i];
	double most = 10 * restart(job, how), kept = ref->c->in.now_s - job->launched_s;

	/* A relaunch on the devices that it holds takes none from others. */
	return fmax(slices * ref->c->in.slice_s, slices < 1 && runs(job) ? fmin(kept, most) : most);
}

static bool length_is_known(const struct reference *ref, int i)
{
	return ref->c->jobs[i].offers[0].goodput[0] && !isnan(ref->c->jobs[i].remaining_samples);
}

static double length(const struct reference *ref, int i)
{
	const struct sched_job *job = &ref->c->jobs[i];
	double most = job->time_left_s > 0 ? job->time_left_s *
						     (runs(job) ? job->replicas : ref->least[i])
					   : HUGE_VAL;

	if (length_is_known(ref, i))
		return fmin(in_units(ref, i, job->remaining_samples), most);
	return fmin(job->attained_service_device_s +
			    (job->offers[0].goodput[0] ? 12 : 1) * ref->c->in.slice_s, most);
}

static double rate_over(const struct reference *ref, int i, int r, double slices, int how)
{
	const struct sched_job *job = &ref->c->jobs[i];
	double s = speedup(ref, i, r), h = horizon(ref, i, slices, how), lost = cost(job, how);

	if (length_is_known(ref, i)) {
		double work = length(ref, i);

		if (work / s + lost <= h)
			return work / (work / s + lost);
	}
	return lost < h ? s * (h - lost) / h : 0;
}

static double rate_launched(const struct reference *ref, int i, int r, int how)
{
	return rate_over(ref, i, r, 0.5, how);
}

static bool pays_to_relaunch(const struct reference *ref, int i)
{
	const struct sched_job *job = &ref->c->jobs[i];
	double h = horizon(ref, i, 1, RELAUNCHES);

	return runs(job) && job->preemptible && has_settled(ref->c, job) &&
	       offers_at(job, 0, 0, job->replicas).goodput * (h - cost(job, RELAUNCHES)) >
		       job->goodput_now * h * 1.05 &&
	       rate_over(ref, i, job->replicas, 1, RELAUNCHES) >
		       in_units(ref, i, job->goodput_now);
}

static double rate_kept(const struct reference *ref, int i)
{
	const struct sched_job *job = &ref->c->jobs[i];

	if (pays_to_relaunch(ref, i))
		return rate_over(ref, i, job->replicas, 1, RELAUNCHES);
	if (job->offers[0].goodput[0] && !isnan(job->goodput_now))
		return in_units(ref, i, job->goodput_now);
	return speedup(ref, i, job->replicas);
}

/* The chance that a job whose service passes from a to b device-seconds, in one bin, ends there: by
 * jobs that ended, and by jobs that are here and have had more; two of four ends are assumed. */
static double ends_between(const struct reference *ref, double a, double b)
{
	const struct sched_input *in = &ref->c->in;
	double ended = 2, seen = 4;

	for (int i = 0; i < in->n_jobs; i++)
		seen += in->jobs[i].attained_service_device_s >= b;
	for (int i = 0; i < in->n_ended; i++) {
		seen += in->ended_device_s[i] >= a;
		ended += in->ended_device_s[i] >= a && in->ended_device_s[i] < b;
	}
	return ended / seen;
}

/* The fewest seconds for each end, over all amounts of work to the end of a bin. */
static double per_end(const struct reference *ref, double service)
{
	double b = 0, best = HUGE_VAL, left = 1, time = 0;

	for (int k = 0; k < 40; k++) {
		double a = b, ends, from, stays;

		b = ref->c->in.slice_s / 4 * exp2(k);
		ends = ends_between(ref, a, b);
		from = fmax(service, a);

		if (b <= service)
			continue;
		stays = pow(1 - ends, (b - from) / (b - a));
		time += left * (1 - stays) * (b - a) / -log(1 - ends);
		left *= stays;
		best = fmin(best, service >= a ? (b - a) / -log(1 - ends) : time / (1 - left));
	}
	return best;
}

/* The sibling of unknown length with most service, maybe the job itself; -1: it has none. */
static int pilot_of(const struct reference *ref, int i)
{
	const struct sched_job *jobs = ref->c->jobs;
	int best = -1;

	for (int k = 0; k < ref->c->in.n_jobs && jobs[i].workload; k++)
		if (jobs[k].workload == jobs[i].workload && ref->least[k] &&
		    !length_is_known(ref, k) &&
		    (best < 0 || jobs[k].attained_service_device_s >
					 jobs[best].attained_service_device_s))
			best = k;
	return best;
}

/* The service by which the job has its place: a slice more than the pilot that comes first. */
static double counted_service(const struct reference *ref, int i)
{
	const struct sched_job *jobs = ref->c->jobs;
	int pilot = pilot_of(ref, i);

	if (pilot < 0 || pilot == i)
		return jobs[i].attained_service_device_s;
	return fmax(jobs[i].attained_service_device_s,
		    jobs[pilot].attained_service_device_s +
			    ref->least[pilot] * case_slice_s(&ref->c->in, &jobs[pilot]));
}

static bool is_learnt(const struct reference *ref, int i)
{
	return ref->least[i] && length_is_known(ref, i) && ref->c->jobs[i].remaining_spread > 0 &&
	       ref->c->jobs[i].workload;
}

/* The sibling of learnt length that comes just before it, as it has more service; -1: none. */
static int sibling_before(const struct reference *ref, int i)
{
	const struct sched_job *jobs = ref->c->jobs;
	int best = -1;

	for (int k = 0; k < ref->c->in.n_jobs; k++) {
		double more = jobs[k].attained_service_device_s - jobs[i].attained_service_device_s;

		if (is_learnt(ref, k) && jobs[k].workload == jobs[i].workload &&
		    (more > 0 || (!(more < 0) && k < i)) &&
		    (best < 0 || jobs[k].attained_service_device_s <=
					 jobs[best].attained_service_device_s))
			best = k;
	}
	return best;
}

/* What the job is taken for beside others. */
static double effective(const struct reference *ref, int i)
{
	int before = is_learnt(ref, i) ? sibling_before(ref, i) : -1;

	if (before >= 0)
		return fmax(length(ref, i), effective(ref, before) * (1 + 1e-9));
	if (length_is_known(ref, i))
		return length(ref, i);
	return per_end(ref, counted_service(ref, i));
}

/* What another must be shorter than to take its devices. */
static double effective_to_keep(const struct reference *ref, int i)
{
	double length = effective(ref, i);

	return fmin(0.9 * length, length - ref->least[i] * cost(&ref->c->jobs[i], TURNS));
}

/* A square root, to 1 %. */
static double root(double x)
{
	return exp(round(log(x) / 2 / 0.01) * 0.01);
}

/* log(rate) / log(devices) at a fair share of the machine. */
static double power_of_share(const struct reference *ref, int i)
{
	int n_devices = sched_devices(&ref->c->in);
	int n = 0, least = ref->least[i], most = least;

	for (int k = 0; k < ref->c->in.n_jobs; k++)
		n += ref->least[k] > 0;
	for (int r = least; r <= n_devices && (r - 1) * n < n_devices; r++)
		if (case_startable(&ref->c->in, &ref->c->jobs[i], r) ||
		    r == ref->c->jobs[i].replicas)
			most = r;
	if (most == least)
		return 1;
	return fmin(fmax(log(speedup(ref, i, most) / least) / log((double)most / least), 0), 1);
}

/* The number of jobs that are longer, itself too, and half of those that are equal. For devices
 * beyond the least, by chance where a length is unknown, and as far as the job speeds up worse than
 * its devices grow. */
static double rank(const struct reference *ref, int i, bool first, bool keeps)
{
	double mine = effective(ref, i), sum = 1;
	double to_beat = keeps && length_is_known(ref, i) ? effective_to_keep(ref, i) : mine;

	for (int k = 0; k < ref->c->in.n_jobs; k++) {
		double theirs, exact, chance, power = 0;

		if (!ref->least[k] || k == i)
			continue;
		theirs = effective(ref, k);
		exact = theirs > mine ? 1 : theirs < mine ? 0 : 0.5;
		chance = 1 / (1 + root(mine) / root(theirs));
		if (length_is_known(ref, i) && length_is_known(ref, k))
			power = power_of_share(ref, i);
		sum += first ? theirs > to_beat ? 1 : theirs < to_beat ? 0 : 0.5
			     : power * exact + (1 - power) * chance;
	}
	return sum;
}

static double worth(const struct reference *ref, int i, double rate)
{
	bool keeps = runs(&ref->c->jobs[i]);
	double power = length_is_known(ref, i) ? 1 - 0.3 * power_of_share(ref, i) : 0.5;
	double least = ref->least[i],
	       value = rank(ref, i, true, keeps) * sqrt(rate < least ? rate : least);

	if (rate > least)
		value += rank(ref, i, false, false) * (pow(rate, power) - pow(least, power));
	return ref->c->jobs[i].weight * value;
}

static double value(const struct reference *ref, int i, int r)
{
	const struct sched_job *job = &ref->c->jobs[i];
	double kept, inertia;

	if (!r && !runs(job))
		return 0;
	if (!runs(job))
		return worth(ref, i, speedup(ref, i, r));
	kept = worth(ref, i, rate_kept(ref, i));
	inertia = kept - worth(ref, i, rate_kept(ref, i) / 1.1);
	if (r == job->replicas)
		return kept;
	if (!r)
		return fmin(0,
			    worth(ref, i, rate_launched(ref, i, job->replicas, TURNS)) - kept) -
		       inertia;
	return worth(ref, i, rate_launched(ref, i, r, RELAUNCHES)) - inertia;
}

/* The job that has waited longest among those overdue and not looked at yet; -1: none. */
static int next_overdue(const struct reference *ref, const bool *seen)
{
	int best = -1;

	for (int i = 0; i < ref->c->in.n_jobs; i++)
		if (ref->overdue[i] && !seen[i] &&
		    (best < 0 ||
		     ref->c->jobs[i].waiting_since_s < ref->c->jobs[best].waiting_since_s))
			best = i;
	return best;
}

static bool is_ending(const struct reference *ref, int i)
{
	const struct sched_job *job = &ref->c->jobs[i];

	return runs(job) && job->preemptible && length_is_known(ref, i) &&
	       length(ref, i) <
		       job->restart_s * (isnan(job->goodput_now)
						 ? speedup(ref, i, job->replicas)
						 : in_units(ref, i, job->goodput_now));
}

/* When the slices of all that run, or are forced, are over. */
static double slices_end_s(const struct reference *ref)
{
	double end_s = -HUGE_VAL;

	for (int i = 0; i < ref->c->in.n_jobs; i++) {
		const struct sched_job *job = &ref->c->jobs[i];

		if (job->preemptible && (runs(job) || ref->forced[i]))
			end_s = fmax(end_s,
				     case_run_slice_s(&ref->c->in, job) +
					     (runs(job) ? job->launched_s : ref->c->in.now_s));
	}
	return end_s;
}

/* Those about to end that one overdue since then waits for. */
static int spare(struct reference *ref, double overdue_s, int left)
{
	const struct sched_case *c = ref->c;
	int held = 0;

	for (int i = 0; i < c->in.n_jobs; i++) {
		const struct sched_job *job = &c->jobs[i];

		if (!is_ending(ref, i) || is_kept(c, job) || ref->spared[i] ||
		    job->replicas > left - held ||
		    c->in.now_s >= fmax(overdue_s, slices_end_s(ref)) + 2 * job->restart_s)
			continue;
		ref->spared[i] = true;
		held += job->replicas;
	}
	return held;
}

/* --- behind a stuck job --- */

static double end_s(const struct reference *ref, int i)
{
	const struct sched_job *job = &ref->c->jobs[i];
	double now_s = ref->c->in.now_s, start_s = runs(job) ? job->launched_s : now_s,
	       rate = ref->least[i];

	if (!length_is_known(ref, i))
		return now_s + length(ref, i) / (runs(job) ? job->replicas : rate);
	if (runs(job))
		rate = isnan(job->goodput_now)
			       ? speedup(ref, i, job->replicas)
			       : in_units(ref, i, job->goodput_now);
	return fmax(now_s, start_s + job->restart_s) + length(ref, i) / rate;
}

static bool started_behind(const struct reference *ref, const struct sched_job *job)
{
	const struct sched_job *stuck = &ref->c->jobs[ref->stuck];

	return runs(job) &&
	       job->launched_s >= stuck->waiting_since_s + case_limit_s(&ref->c->in, stuck) &&
	       job->submitted_s > stuck->waiting_since_s;
}

/* What jobs that stay have left then. */
static int left_at(const struct reference *ref, double at_s)
{
	int left = ref->c->in.kinds[0].n_devices;

	for (int i = 0; i < ref->c->in.n_jobs; i++) {
		const struct sched_job *job = &ref->c->jobs[i];

		if (job->preemptible || (!runs(job) && !ref->forced[i]) || end_s(ref, i) <= at_s ||
		    (started_behind(ref, job) && !length_is_known(ref, i)))
			continue;
		left -= runs(job) ? job->replicas : ref->least[i];
	}
	return left;
}

static void reserve(struct reference *ref, int stuck)
{
	ref->stuck = stuck;
	ref->stuck_start_s = HUGE_VAL;
	if (left_at(ref, ref->c->in.now_s) >= ref->least[stuck])
		ref->stuck_start_s = ref->c->in.now_s;
	for (int i = 0; i < ref->c->in.n_jobs; i++)
		if (!ref->c->jobs[i].preemptible && (runs(&ref->c->jobs[i]) || ref->forced[i]) &&
		    left_at(ref, end_s(ref, i)) >= ref->least[stuck])
			ref->stuck_start_s = fmin(ref->stuck_start_s, end_s(ref, i));
	ref->spare = left_at(ref, ref->stuck_start_s) - ref->least[stuck];
}

static bool may_start_behind(struct reference *ref, int i)
{
	ref->before[i] = end_s(ref, i) <= ref->stuck_start_s;
	ref->beside[i] = !ref->before[i] && length_is_known(ref, i) && ref->least[i] <= ref->spare;
	ref->spare -= ref->beside[i] ? ref->least[i] : 0;
	return ref->before[i] || ref->beside[i];
}

/* --- brief jobs --- */

/* Device-seconds on its least devices from its start to its end, at most; INFINITY: not known. */
static double most_device_s(const struct reference *ref, int i)
{
	const struct sched_job *job = &ref->c->jobs[i];
	double left = HUGE_VAL;

	if (job->time_left_s > 0)
		left = ref->least[i] * job->time_left_s;
	if (length_is_known(ref, i) && job->remaining_spread <= 0.5)
		left = fmin(left, length(ref, i));
	return job->attained_service_device_s + left;
}

static bool is_brief(const struct reference *ref, int i)
{
	return ref->least[i] &&
	       most_device_s(ref, i) <= ref->least[i] * ref->c->in.slice_s * (1 + 1e-9);
}

/* So long after the slice of a running job was over, while the brief one waited. */
static double over_since_s(const struct reference *ref, int i, int brief)
{
	const struct sched_job *job = &ref->c->jobs[i];

	return ref->c->in.now_s - fmax(job->launched_s + case_run_slice_s(&ref->c->in, job),
				       ref->c->jobs[brief].waiting_since_s);
}

/* True if a running job is known to end before the brief one would. */
static bool ends_sooner(const struct reference *ref, int i, int brief)
{
	return runs(&ref->c->jobs[i]) && length_is_known(ref, i) &&
	       over_since_s(ref, i, brief) < ref->c->in.slice_s &&
	       ref->c->jobs[i].remaining_spread <= 0.5 &&
	       effective_to_keep(ref, i) <= most_device_s(ref, brief);
}

/* True if the job in its slice is to make room for a brief one. */
static bool can_be_suspended(const struct reference *ref, int i, int brief)
{
	const struct sched_case *c = ref->c;
	const struct sched_job *job = &c->jobs[i];

	return is_kept(c, job) && has_settled(c, job) && job->preemptible &&
	       cost(job, TURNS) < 0.02 * c->in.slice_s && !was_overdue(c, job) &&
	       !is_brief(ref, i) && !ends_sooner(ref, i, brief);
}

/* The job that is to make room for a brief one; -1: none. */
static int to_suspend(const struct reference *ref, int brief, int left)
{
	const struct sched_case *c = ref->c;
	double end_s = HUGE_VAL;
	int best = -1;

	for (int i = 0; i < c->in.n_jobs; i++) {
		const struct sched_job *job = &c->jobs[i];
		bool outstays = ref->spared[i] &&
				over_since_s(ref, i, brief) >= 2 * job->restart_s;

		if (ref->suspended[i] || job->replicas + left < ref->least[brief] ||
		    (!can_be_suspended(ref, i, brief) && !outstays) ||
		    job->launched_s + case_run_slice_s(&c->in, job) >= end_s)
			continue;
		end_s = job->launched_s + case_run_slice_s(&c->in, job);
		best = i;
	}
	return best;
}

/* True if it runs, and keeps its devices by its worth alone. */
static bool is_free(const struct reference *ref, int i)
{
	const struct sched_job *job = &ref->c->jobs[i];

	return runs(job) && job->preemptible && !is_kept(ref->c, job) && !ref->spared[i];
}

/* Brief jobs that never ran, the shortest first, get what protected jobs leave, while a tenth of 60
 * slices suffices. */
static void start_brief(struct reference *ref, int left)
{
	const struct sched_case *c = ref->c;
	double budget = 6 * c->in.slice_s * c->in.kinds[0].n_devices - c->in.brief_device_s;
	bool seen[CASE_JOBS] = { false };

	for (int i = 0; i < c->in.n_jobs; i++)
		if (runs(&c->jobs[i]) && is_brief(ref, i))
			budget -= most_device_s(ref, i);
	for (;;) {
		int next = -1, victim = -1, sooner = 0;

		for (int i = 0; i < c->in.n_jobs; i++)
			if (!seen[i] && !runs(&c->jobs[i]) && is_brief(ref, i) && !ref->forced[i] &&
			    !(c->jobs[i].attained_service_device_s > 0) &&
			    (c->jobs[i].preemptible || ref->stuck < 0) &&
			    (next < 0 || most_device_s(ref, i) < most_device_s(ref, next)))
				next = i;
		if (next < 0 || (budget -= most_device_s(ref, next)) < 0)
			return;
		seen[next] = true;
		for (int i = 0; i < c->in.n_jobs; i++)
			if (is_free(ref, i) && ends_sooner(ref, i, next))
				sooner += c->jobs[i].replicas;
		if (ref->least[next] > left - sooner)
			victim = to_suspend(ref, next, left - sooner);
		if (victim >= 0) {
			ref->suspended[victim] = true;
			left += c->jobs[victim].replicas;
		}
		ref->brief[next] = ref->least[next] <= left - sooner;
		left -= ref->brief[next] ? ref->least[next] : 0;
	}
}

static void settle(struct reference *ref)
{
	const struct sched_case *c = ref->c;
	int kept = 0, fixed = 0, i;
	bool seen[CASE_JOBS] = { false };

	for (i = 0; i < c->in.n_jobs; i++) {
		ref->least[i] = case_least(&c->in, &c->jobs[i]);
		fixed += c->jobs[i].preemptible ? 0 : c->jobs[i].replicas;
		kept += !c->jobs[i].preemptible || is_kept(c, &c->jobs[i]) ? c->jobs[i].replicas
									   : 0;
	}
	for (i = 0; i < c->in.n_jobs; i++)
		ref->overdue[i] = !runs(&c->jobs[i]) && ref->least[i] &&
				  c->in.now_s - c->jobs[i].waiting_since_s >=
					  case_limit_s(&c->in, &c->jobs[i]);
	while ((i = next_overdue(ref, seen)) >= 0) {
		seen[i] = true;
		if (fixed + ref->least[i] > c->in.kinds[0].n_devices) {
			if (ref->stuck < 0)
				reserve(ref, i);
			continue;
		}
		if (ref->stuck >= 0 && !c->jobs[i].preemptible && !may_start_behind(ref, i))
			continue;
		kept += spare(ref, c->jobs[i].waiting_since_s + case_limit_s(&c->in, &c->jobs[i]),
			      c->in.kinds[0].n_devices - kept);
		ref->gathering = kept + ref->least[i] > c->in.kinds[0].n_devices;
		if (ref->gathering)
			return;
		ref->forced[i] = true;
		kept += ref->least[i];
		fixed += c->jobs[i].preemptible ? 0 : ref->least[i];
	}
	kept += spare(ref, HUGE_VAL, c->in.kinds[0].n_devices - kept);
	start_brief(ref, c->in.kinds[0].n_devices - kept);
	for (i = 0; i < c->in.n_jobs && ref->stuck >= 0; i++)
		if (!runs(&c->jobs[i]) && !c->jobs[i].preemptible && ref->least[i] &&
		    !ref->forced[i] && !ref->before[i] &&
		    fixed + ref->least[i] <= c->in.kinds[0].n_devices)
			may_start_behind(ref, i);
}

static bool may_have(const struct reference *ref, int i, int r)
{
	const struct sched_job *job = &ref->c->jobs[i];

	if (r && r != job->replicas && !case_startable(&ref->c->in, job, r))
		return false;
	if (runs(job) && !job->preemptible)
		return r == job->replicas;
	if (ref->suspended[i])
		return !r;
	if (ref->brief[i])
		return r > 0;
	if (is_kept(ref->c, job))
		return ref->gathering || !has_settled(ref->c, job) ? r == job->replicas : r > 0;
	if (ref->spared[i])
		return r == job->replicas;
	if (ref->forced[i])
		return ref->gathering || ref->beside[i] ? r == ref->least[i] : r > 0;
	if (ref->gathering)
		return !r || r == job->replicas;
	if (!r || runs(job) || job->preemptible || ref->stuck < 0)
		return true;
	return ref->before[i] || (ref->beside[i] && r == ref->least[i]);
}

/* Commands that nobody may stop, and that wait for long. */
static void make_plain(struct sched_case *c)
{
	for (int i = 0; i < c->in.n_jobs; i++) {
		struct sched_job *job = &c->jobs[i];
		double s = 40000 * case_uniform(&c->random);

		job->preemptible = job->preemptible && case_below(&c->random, 2);
		job->submitted_s -= s;
		job->waiting_since_s -= s;
		if (case_below(&c->random, 2))
			job->launched_s -= s;
	}
}

/* Some are only suspended by a turn, and some have work that a relaunch would lose. */
static void make_costly(struct sched_case *c)
{
	for (int i = 0; i < c->in.n_jobs; i++) {
		struct sched_job *job = &c->jobs[i];

		if (case_below(&c->random, 2))
			job->unsaved_s = 2 * c->in.slice_s * case_uniform(&c->random);
		if (!case_below(&c->random, 2))
			continue;
		job->relaunch_s = job->restart_s;
		job->restart_s /= 100;
	}
}

static void test_exact(void)
{
	struct sched_case c = { .random = 11 };
	int wrong = 0, changed = 0, forced = 0, gathering = 0, stuck = 0, spared = 0,
	    relaunched = 0;
	int behind = 0, beside = 0, brief = 0, suspended = 0;

	for (int n = 0; n < 2 * CASES; n++) {
		struct reference ref = { .c = &c, .stuck = -1 };
		struct case_values v = { { { 0 } } };

		case_draw(&c);
		if (n % 3)
			make_plain(&c);
		if (n % 2)
			make_costly(&c);
		policy_goodput.decide(&c.in, c.choices);
		settle(&ref);
		gathering += ref.gathering;
		stuck += ref.stuck >= 0;
		for (int i = 0; i < c.in.n_jobs; i++) {
			for (int r = 0; r <= c.in.kinds[0].n_devices; r++)
				v.of[i][r] = may_have(&ref, i, r) ? value(&ref, i, r) : (double)NAN;
			forced += ref.forced[i];
			spared += ref.spared[i];
			brief += ref.brief[i];
			suspended += ref.suspended[i];
			behind += (ref.before[i] || ref.beside[i]) && c.choices[i].replicas;
			beside += ref.beside[i] && c.choices[i].replicas;
			changed += c.choices[i].replicas != c.jobs[i].replicas;
			relaunched += c.choices[i].reconfigure;
			wrong += c.choices[i].reconfigure !=
				 (c.choices[i].replicas == c.jobs[i].replicas && !ref.gathering &&
				  pays_to_relaunch(&ref, i));
		}
		wrong += !case_is_best(&c, &v);
	}
	is_int(wrong, 0, "20,000 problems get the maximum of worth under the claims");
	printf("# %d changed, %d forced, %d gathering, %d stuck, %d spared, %d relaunched, %d "
	       "behind the "
	       "stuck, %d beside, %d brief, %d suspended\n",
	       changed, forced, gathering, stuck, spared, relaunched, behind, beside, brief,
	       suspended);
	ok(changed > 5000 && forced > 500 && gathering > 100 && stuck > 100 && spared > 100 &&
		   relaunched > 100 && behind > 50 && beside > 10 && brief > 500 && suspended > 4,
	   "every rule had its cases among the problems");
}

/* --- by hand --- */

static const double linear[] = { 0, 10, 20, 30, 40 }, concave[] = { 0, 10, 17, 20, 21 };
static const double from_2[] = { 0, (double)NAN, 20, (double)NAN, 30 };
static const double none[] = { 0, (double)NAN, (double)NAN, (double)NAN, (double)NAN };

static struct sched_job job(int64_t id, const double *goodput, int min, int max)
{
	return (struct sched_job){
		.id = id,
		.min_replicas = min,
		.max_replicas = max,
		.weight = 1,
		.preemptible = true,
		.offers = { offers_of(max, goodput) },
		.goodput_now = (double)NAN,
		.remaining_samples = (double)NAN,
		.restart_s = 30,
		.submitted_s = NOW_S,
		.waiting_since_s = NOW_S,
	};
}

static struct sched_job holds(struct sched_job job, int replicas, double age_s)
{
	job.replicas = replicas;
	job.launched_s = NOW_S - age_s;
	job.restarts = 1;
	return job;
}

static struct sched_job fixed(struct sched_job job)
{
	job.preemptible = false;
	return job;
}

static struct sched_job waited(struct sched_job job, double s)
{
	job.waiting_since_s = NOW_S - s;
	return job;
}

static struct sched_job had(struct sched_job job, double service)
{
	job.attained_service_device_s = service;
	return job;
}

/* By siblings whose lengths differ too much for it to give way within its slice. */
static struct sched_job lacks(struct sched_job job, double samples)
{
	job.remaining_samples = samples;
	job.remaining_spread = 1;
	return job;
}

static struct sched_job heavier(struct sched_job job, double weight)
{
	job.weight = weight;
	return job;
}

struct wanted {
	int replicas;
	double next_start_s;	/* from NOW_S; -1: NaN, -2: any */
	const char *reason;	/* NULL: any */
};

static void check(const char *name, int n_devices, const struct sched_job *jobs, int n_jobs,
		  const struct wanted *wanted, double brief_device_s)
{
	struct sched_choice choices[16];
	struct sched_input in = { jobs, n_jobs, NOW_S, SLICE_S, SCHED_ONE_KIND(n_devices, 0) };
	char what[256];

	in.brief_device_s = brief_device_s;
	policy_goodput.decide(&in, choices);
	for (int i = 0; i < n_jobs; i++) {
		double want_s = wanted[i].next_start_s;

		snprintf(what, sizeof(what), "%s: job %d has its devices", name, (int)jobs[i].id);
		is_int(choices[i].replicas, wanted[i].replicas, what);
		snprintf(what, sizeof(what), "%s: job %d has its next start",
			 name, (int)jobs[i].id);
		if (want_s >= 0)
			near(choices[i].next_start_s, NOW_S + want_s, 1e-12, what);
		else if (want_s > -2)
			ok(isnan(choices[i].next_start_s), what);
		snprintf(what, sizeof(what), "%s: job %d has its reason", name, (int)jobs[i].id);
		if (wanted[i].reason)
			is_str(said(&choices[i]), wanted[i].reason, what);
	}
}

#define CHECK(name, n_devices, jobs, wanted) \
	check(name, n_devices, jobs, sizeof(jobs) / sizeof((jobs)[0]), wanted, 0)
/* On one device; so many device-seconds went to brief jobs of late. */
#define CHECK_BRIEF(name, gone_device_s, jobs, wanted) \
	check(name, 1, jobs, sizeof(jobs) / sizeof((jobs)[0]), wanted, gone_device_s)

/* Of two jobs on one device. */
static const struct wanted first_has[] = { { 1, -1, NULL }, { 0, -2, NULL } };
static const struct wanted second_has[] = { { 0, -2, NULL }, { 1, -1, NULL } };

static void test_shares(void)
{
	const struct sched_job jobs[] = { job(1, concave, 1, 4), job(2, linear, 1, 4),
					  job(3, NULL, 1, 4) };
	const struct wanted wanted[] = {
		{ 1, -1, "1 device; one more would add 70 %" },
		{ 2, -1, "2 devices: 2.0x of one; one more would add 50 %" },
		{ 1, -1, "1 device; goodput not known yet" },
	};
	const struct sched_job steps[] = { job(1, from_2, 1, 4) };
	const struct wanted both[] = { { 4, -1, "4 devices: 1.5x of 2" } };
	const struct wanted two[] = { { 2, -1, "2 devices" } };
	const struct wanted none_here[] = {
		{ 0, -1, "asks for 1 to 4 devices; it is known to work on none of these" }
	};

	CHECK("devices go where they add most", 4, jobs, wanted);
	CHECK("a job that works on 2 or 4 devices gets its number", 4, steps, both);
	CHECK("a job that works on 2 or 4 devices gets its number", 3, steps, two);
	CHECK("a job that works on 2 or 4 devices gets its number", 1, steps, none_here);
}

static void test_order(void)
{
	const struct sched_job known[] = {
		lacks(job(1, linear, 1, 1), 1e6),
		lacks(job(2, linear, 1, 1), 1e4),
		job(3, linear, 1, 1),
		job(4, NULL, 5, 5),
		had(job(5, linear, 1, 1), 3600),
	};
	const struct wanted shortest[] = {
		{ 0, 59670, "3rd in line; needs 1 device; others come first" },
		{ 0, 58980, "1st in line; needs 1 device; job 3 has its slice" },
		{ 1, -1, "1 device" },
		{ 0, -1, "needs 5 devices; 1 can be used here" },
		{ 0, 59670, "2nd in line; needs 1 device; unknown length; others come first" },
	};
	struct sched_job heavy[] = { job(1, linear, 1, 1), job(2, linear, 1, 1) };
	const struct wanted second[] = { { 0, 29430, NULL }, { 1, -1, NULL } };
	/* The rank of the first is 2, that of the second 1. */
	const struct sched_job ranks[] = {
		lacks(job(1, linear, 1, 1), 2950), heavier(lacks(job(2, linear, 1, 1), 1e5), 2.004),
	};
	const struct wanted heavier_first[] = { { 0, 10040, NULL }, { 1, -1, NULL } };
	const struct sched_job widths[] = {
		lacks(holds(job(1, linear, 2, 2), 2, 100), 1000),
		lacks(job(2, linear, 2, 2), 36000),
		lacks(job(3, linear, 1, 1), 36000),
	};
	const struct wanted narrow_first[] = {
		{ 2, -1, NULL },
		{ 0, -2, "2nd in line; needs 2 devices; others come first" },
		{ 0, 50,
		  "1st in line; needs 1 device; starts when job 1 ends, or sooner" },
	};
	const struct sched_job weights[] = {
		heavier(lacks(holds(job(1, linear, 1, 1), 1, 700), 1e6), 5),
		lacks(job(2, linear, 1, 1), 36000),
		lacks(job(3, linear, 1, 1), 72000),
	};
	const struct wanted weight_first[] = {
		{ 1, -1, "1 device" },
		{ 0, 43890, "1st in line; needs 1 device; jobs of more weight first" },
		{ 0, 44580, "2nd in line; needs 1 device; shorter jobs first" },
	};
	/* A job without any service ends within 150 s with the chance 1/2: 150 / ln 2 = 216.4 s for
	 * each end. */
	struct sched_job either[] = { job(1, linear, 1, 1), lacks(job(2, linear, 1, 1), 10 * 217) };
	const struct wanted unknown[] = { { 1, -1, NULL }, { 0, 29490, NULL } };
	const struct wanted shorter[] = { { 0, 250, NULL }, { 1, -1, NULL } };

	CHECK("short jobs come first, of known length or by age", 1, known, shortest);
	heavy[1].weight = 1.5;
	CHECK("a job of more weight comes first", 1, heavy, second);
	CHECK("a weight can outdo the rank", 1, ranks, heavier_first);
	CHECK("jobs stand in line by their worth for each device", 2, widths, narrow_first);
	CHECK("a job of more weight runs on beside jobs that wait", 1, weights, weight_first);
	CHECK("a job longer than another is taken for waits", 1, either, unknown);
	either[1].remaining_samples = 10 * 216;
	CHECK("a job shorter than another is taken for runs", 1, either, shorter);
}

/* A newcomer takes the device of a longer job, but not within its slice; where nobody knows which
 * is longer, until it has had a slice itself. */
static void test_slices(void)
{
	struct sched_job jobs[] = { lacks(holds(job(1, linear, 1, 1), 1, 599), 1e6),
				    lacks(job(2, linear, 1, 1), 1e4) };
	const struct wanted kept[] = {
		{ 1, -1, "1 device" },
		{ 0, 1,
		  "1st in line; needs 1 device; waits for job 1 to end its slice" },
	};
	const struct wanted swapped[] = {
		{ 0, 1040,
		  "1st in line; needs 1 device; starts when job 2 ends, or sooner" },
		{ 1, -1, NULL },
	};
	const struct sched_job fixed_job[] = { fixed(jobs[0]), jobs[1] };
	const struct wanted to_end[] = {
		{ 1, -1, "1 device to its end: not preemptible" },
		{ 0, -1, "needs 1 device of 1; job 1, not preemptible, keeps 1" },
	};
	struct sched_job unsaved[] = { fixed(holds(job(1, linear, 1, 1), 1, 10)) };
	const struct wanted why[] = { { 1, -1, "keeps 1 device: it has saved nothing" } };
	struct sched_job unknown[] = { had(holds(job(1, linear, 2, 2), 2, 600), 1200),
				       had(job(2, linear, 2, 2), 1199) };
	const struct wanted newer[] = {
		{ 0, 29430,
		  "1st in line; needs 2 devices; unknown length; job 2 has its slice" },
		{ 2, -1, "2 devices" },
	};
	const struct wanted others[] = {
		{ 2, -1, "2 devices" },
		{ 0, 29430,
			"1st in line; needs 2 devices; unknown length; others come first" },
	};

	const struct wanted never[] = { { 0, 29430, NULL }, { 2, -1, NULL } };
	const struct wanted elsewhere[] = { { 2, -1, NULL }, { 0, 29430, NULL } };

	CHECK("a job keeps its device within its slice", 1, jobs, kept);
	jobs[0].launched_s = NOW_S - 600;
	CHECK("a longer job gives way after its slice", 1, jobs, swapped);
	CHECK("a job that is not preemptible runs to its end", 1, fixed_job, to_end);
	unsaved[0].why_kept = KEPT_UNSAVED;
	CHECK("the reason tells what keeps a job on its devices", 1, unsaved, why);
	CHECK("a job of unknown length that had no slice comes first", 2, unknown, newer);
	unknown[1].attained_service_device_s = 1200;
	CHECK("a job of unknown length that had a slice waits", 2, unknown, others);
	unknown[0].attained_service_device_s = 1199;
	CHECK("a running job that had no slice goes on", 2, unknown, others);
	unknown[0].attained_service_device_s = 1200;
	unknown[1].attained_service_device_s = 0;
	unknown[0].offers[0] = unknown[1].offers[0] = (struct sched_offers){ 0 };
	CHECK("a job that was never measured comes first", 2, unknown, never);
	unknown[1].measured_elsewhere = true;
	CHECK("a job that is measured in another one waits", 2, unknown, elsewhere);
}

/* In its first run a job keeps its device for a slice and a restart, or for three restarts. */
static void test_first_slice(void)
{
	struct sched_job jobs[] = { lacks(holds(job(1, linear, 1, 1), 1, 629), 1e6),
				    lacks(job(2, linear, 1, 1), 1e4) };
	const struct wanted kept[] = { { 1, -1, NULL }, { 0, 1, NULL } };
	const struct wanted swapped[] = { { 0, 1040, NULL }, { 1, -1, NULL } };

	jobs[0].restarts = 0;
	CHECK("a job keeps its device within its first slice", 1, jobs, kept);
	jobs[0].launched_s = NOW_S - 630;
	CHECK("a longer job gives way after its first slice", 1, jobs, swapped);
	jobs[0].restart_s = 400;
	jobs[0].launched_s = NOW_S - 1199;
	CHECK("a job that is slow to start has a longer first slice", 1, jobs, kept);
	jobs[0].launched_s = NOW_S - 1200;
	CHECK("a job that is slow to start gives way after its first slice", 1, jobs, swapped);
}

/* A job of which it is known how much remains gives way to a shorter one as soon as it has settled
 * and worked for two restarts, not to one as long; after a long wait it has its whole slice. */
static void test_known_lengths(void)
{
	struct sched_job jobs[] = { lacks(holds(job(1, linear, 1, 1), 1, 89), 1e6),
				    lacks(job(2, linear, 1, 1), 1e4) };
	struct sched_job alike[16];
	const struct wanted settles[] = {
		{ 1, -1, "1 device" },
		{ 0, 1,
		  "1st in line; needs 1 device; waits for job 1, just started, to give way" },
	};
	const struct wanted kept[] = { { 1, -1, NULL }, { 0, -2, NULL } };
	const struct wanted swapped[] = { { 0, 1040, NULL }, { 1, -1, NULL } };
	const struct wanted to_end[] = {
		{ 1, -1, "1 device" },
		{ 0, 3620,
		  "1st in line; needs 1 device; starts when job 1 ends, or sooner" },
	};
	struct sched_job close[2];
	struct wanted first[16] = { { 1, -1, NULL } };

	jobs[0].remaining_spread = jobs[1].remaining_spread = 0;
	CHECK("a job that was just launched is left to settle", 1, jobs, settles);
	close[0] = lacks(jobs[0], 36000);
	close[1] = lacks(jobs[1], 33000);
	close[0].remaining_spread = close[1].remaining_spread = 0;
	CHECK("a job that ends hardly sooner waits for the end", 1, close, to_end);
	jobs[0].launched_s = NOW_S - 90;
	CHECK("a longer job gives way before its slice is over", 1, jobs, swapped);
	jobs[0].remaining_spread = 0.5;
	CHECK("a job with siblings much alike gives way", 1, jobs, swapped);
	jobs[0].remaining_spread = 0.51;
	CHECK("a job whose siblings differ keeps its slice", 1, jobs, kept);
	jobs[0].remaining_spread = 0;
	jobs[0].waiting_since_s = jobs[0].launched_s - 24 * SLICE_S;
	CHECK("a job that had waited too long has its slice", 1, jobs, kept);
	for (int i = 0; i < 16; i++) {
		alike[i] = lacks(job(i + 1, linear, 1, 1), 1e4);
		alike[i].remaining_spread = 0;
		first[i].next_start_s = i ? -2 : -1;
	}
	alike[0] = holds(alike[0], 1, 1e4);
	CHECK("jobs of equal length do not take a device from each other", 1, alike, first);
}

/* Job 1 holds the only device, for a slice of 600 s. Job 2 ranks behind it by its weight, and takes
 * at most a slice in all: it starts when that slice is over. A tenth of 60 slices of one device are
 * 3600 s: with 3000 s gone a job of 600 s may still start so, with 3001 s not. */
static void test_brief(void)
{
	struct sched_job jobs[] = { lacks(holds(heavier(job(1, linear, 1, 1), 50), 1, 599), 1e6),
				    job(2, none, 1, 1), job(3, none, 1, 1) };
	const struct wanted kept[] = {
		{ 1, -1, NULL },
		{ 0, 61,
		  "1st in line; needs 1 device; short: among the next to start" },
		{ 0, -2, NULL },
	};
	const struct wanted starts[] = { { 0, -2, NULL }, { 1, -1, "1 device" }, { 0, -2, NULL } };
	const struct wanted waits[] = { { 1, -1, NULL }, { 0, -2, NULL }, { 0, -2, NULL } };
	const struct wanted shorter[] = {
		{ 0, -2, NULL }, { 0, -2, NULL }, { 1, -1, NULL },
	};

	jobs[1] = lacks(job(2, linear, 1, 1), (double)NAN);
	jobs[2] = lacks(job(3, linear, 1, 1), (double)NAN);
	jobs[1].time_left_s = 600;
	jobs[2].weight = 5;
	CHECK("a brief job waits for a slice, before a job that is worth more", 1, jobs, kept);
	jobs[2].weight = 1;
	jobs[0].launched_s = NOW_S - 600;
	CHECK("then it starts, whatever the others are worth", 1, jobs, starts);
	jobs[1].time_left_s = 601;
	CHECK("a time limit of more than a slice is no reason", 1, jobs, waits);
	jobs[1].time_left_s = 600;
	jobs[1].attained_service_device_s = 1;
	CHECK("what has run already is no newcomer", 1, jobs, waits);
	jobs[1].attained_service_device_s = 0;
	jobs[2].time_left_s = 599;
	CHECK("of two brief jobs the shorter one starts", 1, jobs, shorter);
	jobs[1] = lacks(job(2, linear, 1, 1), 6000);
	jobs[2].time_left_s = 0;
	CHECK("siblings whose lengths differ do not make a job brief", 1, jobs, waits);
	jobs[1].remaining_spread = 0.5;
	CHECK("siblings much alike do", 1, jobs, starts);

	jobs[1] = lacks(job(2, linear, 1, 1), (double)NAN);
	jobs[1].time_left_s = 600;
	jobs[0].launched_s = NOW_S - 60;
	CHECK("within the slice of a job that cannot be suspended it waits", 1, jobs, waits);
	jobs[0].relaunch_s = jobs[0].restart_s;
	jobs[0].restart_s = 0.1;
	CHECK("a job that can be suspended makes room at once", 1, jobs, starts);
	jobs[0].launched_s = NOW_S - 59;
	CHECK("but not before it has settled", 1, jobs, waits);
	jobs[0].launched_s = NOW_S - 600;
	CHECK_BRIEF("a tenth of the device time is for brief jobs", 3000, jobs, starts);
	CHECK_BRIEF("and no more", 3001, jobs, waits);
	jobs[0] = holds(lacks(heavier(job(1, linear, 1, 1), 50), (double)NAN), 1, 600);
	jobs[0].time_left_s = jobs[0].attained_service_device_s = 300;
	CHECK_BRIEF("what a brief job that runs may still have counts, too", 2401, jobs, waits);
	CHECK_BRIEF("a tenth is for it and the one that starts", 2400, jobs, starts);
	jobs[0].launched_s = NOW_S - 300;
	jobs[0].relaunch_s = jobs[0].restart_s;
	jobs[0].restart_s = 0.1;
	CHECK("a brief job is not suspended for another", 1, jobs, waits);
	jobs[0].time_left_s = 301;
	CHECK("one of more than a slice in all is", 1, jobs, starts);
}

/* A job whose slice is over keeps its device from one that ends hardly sooner. */
static void test_least_gain(void)
{
	struct sched_job jobs[] = { lacks(holds(job(1, linear, 1, 1), 1, 700), 36000),
				    lacks(job(2, linear, 1, 1), 32401) };

	jobs[0].remaining_spread = jobs[1].remaining_spread = 0;
	CHECK("a job that is a tenth shorter, less a sample, takes no device", 1, jobs, first_has);
	jobs[1].remaining_samples = 32399;
	CHECK("one that is a tenth shorter does", 1, jobs, second_has);
	jobs[0].remaining_samples = 1000;
	jobs[1].remaining_samples = 701;
	CHECK("a brief job takes none from what ends sooner, turn included", 1, jobs, first_has);
	jobs[1].remaining_samples = 699;
	CHECK("a brief job takes that of one that ends later", 1, jobs, second_has);
}

/* A relaunch on twice the devices that takes 260 s pays over the time that the job has kept those
 * it has: over 600 s, but not over 560 s. That time is ten relaunches at most: with 2600 s, it pays
 * if 910 s of work are lost with it, but not with 920 s. */
static void test_horizon(void)
{
	struct sched_job jobs[] = { holds(job(1, linear, 1, 2), 1, 560) };
	const struct wanted stays[] = { { 1, -1, NULL } }, grows[] = { { 2, -1, NULL } };

	jobs[0].restart_s = 260;
	CHECK("a job that has its device for a short time stays on it", 2, jobs, stays);
	jobs[0].launched_s = NOW_S - 600;
	CHECK("a job that has its device for longer grows", 2, jobs, grows);
	jobs[0].unsaved_s = 920;
	jobs[0].launched_s = NOW_S - 36000;
	CHECK("a relaunch pays over ten restarts at most, before lost work", 2, jobs, stays);
	jobs[0].unsaved_s = 910;
	CHECK("one that loses less work pays", 2, jobs, grows);
}

/* Job 1 told a length that is nearly over, and goes on: restarts of 30 s, slices of 600 s. */
static void test_brief_behind_wrong_length(void)
{
	struct sched_job jobs[] = { lacks(holds(job(1, linear, 1, 1), 1, 659), 1),
				    lacks(job(2, linear, 1, 1), 3000) };

	jobs[0].restart_s = 30;
	jobs[0].restarts = 1;
	jobs[0].remaining_spread = jobs[1].remaining_spread = 0;
	jobs[1].submitted_s = jobs[1].waiting_since_s = NOW_S - 1000;
	CHECK("a brief job lets one end that is about to", 1, jobs, first_has);
	jobs[0].launched_s = NOW_S - 660;
	CHECK("for two restarts after its slice, since it may not end", 1, jobs, second_has);
	jobs[1].waiting_since_s = NOW_S - 59;
	CHECK("and two restarts from its own submission", 1, jobs, first_has);
	jobs[0].remaining_samples = 1000;
	jobs[0].launched_s = NOW_S - 1199;
	jobs[1].waiting_since_s = NOW_S - 1500;
	CHECK("it lets one end that is to end sooner than itself", 1, jobs, first_has);
	jobs[0].launched_s = NOW_S - 1200;
	CHECK("for a slice after its slice", 1, jobs, second_has);
}

static void test_learnt(void)
{
	struct sched_job jobs[] = { lacks(holds(job(1, linear, 1, 1), 1, 700), 36000),
				    lacks(job(2, linear, 1, 1), 20000) };

	for (int i = 0; i < 2; i++) {
		jobs[i].workload = 7;
		jobs[i].remaining_spread = 0.3;
	}
	jobs[0].attained_service_device_s = 9000;
	CHECK("of siblings that of most service goes on", 1, jobs, first_has);
	jobs[1].workload = 8;
	CHECK("a job of another workload takes its device", 1, jobs, second_has);
	jobs[1].remaining_samples = 1e6;
	CHECK("a longer one does not", 1, jobs, first_has);
	jobs[1].time_left_s = 1200;
	CHECK("no job is longer than its time limit", 1, jobs, second_has);
}

/* Two jobs of a workload that was never seen to end: the one of more service goes first, and
 * the other counts as if it had had a slice more. */
static void test_pilots(void)
{
	struct sched_job jobs[] = { had(holds(job(1, linear, 1, 1), 1, 1e4), 1e4),
				    job(2, linear, 1, 1), had(job(3, linear, 1, 1), 9e3) };
	const struct wanted newer[] = { { 0, -2, NULL }, { 1, -1, NULL }, { 0, -2, NULL } };
	const struct wanted pilot[] = { { 1, -1, NULL }, { 0, -2, NULL }, { 0, -2, NULL } };
	const struct wanted other[] = { { 0, -2, NULL }, { 0, -2, NULL }, { 1, -1, NULL } };

	CHECK("among jobs of different workloads a newcomer comes first", 1, jobs, newer);
	jobs[0].workload = jobs[1].workload = 7;
	jobs[2].workload = 8;
	CHECK("its sibling waits behind the pilot, not a job of another workload", 1, jobs, other);
	jobs[2].workload = 7;
	CHECK("the pilot of a workload is run on", 1, jobs, pilot);
	jobs[2] = lacks(jobs[2], 1000);
	jobs[2].workload = 8;
	CHECK("a pilot does not hold up a job that is known to be shorter", 1, jobs, other);
}

/* Job 1 has had 2000 s, job 2 nothing. Where nothing is known of lengths, a job ends with the
 * chance 1/2 in each bin: job 1 in 1200 to 2400 s, 1200 / ln 2 = 1731 s for each end, job 2 in 0 to
 * 150 s, 216 s. Where 40 jobs ended after 2000 to 2300 s, job 1 is near its end and job 2 is
 * not. */
static void test_ended(void)
{
	const struct sched_job jobs[] = { had(holds(job(1, linear, 1, 1), 1, 700), 2000),
					  job(2, linear, 1, 1) };
	double ended_device_s[40];
	struct sched_input in = { .jobs = jobs, .n_jobs = 2, SCHED_ONE_KIND(1, 0), .now_s = NOW_S,
				  .slice_s = SLICE_S };
	struct sched_choice choices[2];

	for (int i = 0; i < 40; i++)
		ended_device_s[i] = 2000 + i * 7.5;
	policy_goodput.decide(&in, choices);
	ok(!choices[0].replicas && choices[1].replicas,
	   "a job of little service comes first where nothing is known");
	in.ended_device_s = ended_device_s;
	in.n_ended = 40;
	policy_goodput.decide(&in, choices);
	ok(choices[0].replicas && !choices[1].replicas,
	   "a job nearer to its end goes on where jobs are alike");
}

static struct sched_job submitted(struct sched_job job, double age_s)
{
	job.submitted_s = NOW_S - age_s;
	return job;
}

/* All were there before any of them began to wait. */
static void set_submitted(struct sched_job *jobs, int n)
{
	for (int i = 0; i < n; i++)
		jobs[i] = submitted(jobs[i], 1e6);
}

/* Who is first in line starts as slices end, unless that is not for it: another is overdue by then,
 * or those in their slice are shorter at the end of it. */
static void test_slice_ends(void)
{
	struct sched_job jobs[] = {
		lacks(holds(job(1, linear, 1, 1), 1, 100), 1e6),
		lacks(holds(job(2, linear, 2, 2), 2, 300), 2e6),
		lacks(holds(job(3, linear, 1, 1), 1, 200), 1e6),
		lacks(job(4, linear, 2, 2), 1e4),
		lacks(job(5, linear, 1, 1), 1e7),
	};
	const struct wanted one[] = {
		{ 1, -1, NULL },
		{ 2, -1, NULL },
		{ 1, -1, NULL },
		{ 0, 300,
		  "1st in line; needs 2 devices; waits for job 2 to end its slice" },
		{ 0, -2, NULL },
	};
	const struct wanted two[] = {
		{ 1, -1, NULL },
		{ 2, -1, NULL },
		{ 1, -1, NULL },
		{ 0, 500,
		  "1st in line; needs 2 devices; waits for jobs 1 and 3 to end their "
		  "slices" },
		{ 0, -2, NULL },
	};
	const struct wanted overdue[] = {
		{ 1, -1, NULL },
		{ 2, -1, NULL },
		{ 1, -1, NULL },
		{ 0, 800,
		  "1st in line; needs 2 devices; starts when job 2 ends, or sooner" },
		{ 0, 1190, NULL },
	};

	set_submitted(jobs, 5);
	CHECK("a job starts when the slice of one job ends", 4, jobs, one);
	jobs[1].remaining_samples = 15000;
	CHECK("a job starts when the slices of two jobs end", 4, jobs, two);
	jobs[4] = waited(jobs[4], 24699);
	CHECK("another job that is overdue after that changes nothing", 4, jobs, two);
	jobs[4] = waited(jobs[4], 24700);
	CHECK("another job that is overdue before that comes first", 4, jobs, overdue);
}

/* Of two devices more, the newer of two jobs of unknown length gets one first. */
static void test_age(void)
{
	const struct sched_job jobs[] = { had(job(1, linear, 1, 4), 9000), job(2, linear, 1, 4) };
	const struct wanted both[] = { { 1, -1, NULL }, { 1, -1, NULL } };
	const struct wanted newer[] = { { 1, -1, NULL }, { 2, -1, NULL } };

	const struct sched_job older[] = { job(1, linear, 1, 4),
					   had(job(2, linear, 1, 4), HUGE_VAL) };
	const struct wanted first[] = { { 2, -1, NULL }, { 1, -1, NULL } };

	CHECK("two jobs get a device each", 2, jobs, both);
	CHECK("the newer job gets one more device", 3, jobs, newer);
	CHECK("the newer job gets one more device, whatever the other's age", 3, older, first);
}

static void test_overdue(void)
{
	/* D = 5 slices of 2 devices: the limit is 36000 s. */
	struct sched_job gathers[] = {
		waited(had(job(1, NULL, 2, 2), 1e9), 36000),
		had(holds(job(2, linear, 1, 1), 1, 100), 100),
		job(3, linear, 1, 1),
		holds(job(4, linear, 1, 2), 1, 800),
	};
	const struct wanted gathering[] = {
		{ 0, 500,
		  "1st in line; needs 2 devices; waited over 10h00m: gathers devices as slices "
		  "end" },
		{ 1, -1, NULL },
		{ 0, 37260, NULL },
		{ 1, -1, NULL },
	};
	struct sched_job starts[4];
	const struct wanted started[] = {
		{ 2, -1, "2 devices; goodput not known yet" }, { 0, 36630, NULL },
		{ 0, 37260, NULL }, { 0, 37890, NULL },
	};
	struct sched_job early[4];
	const struct wanted not_yet[] = {
		{ 0, 37260, NULL }, { 1, -1, NULL }, { 0, 37260, NULL }, { 1, -1, NULL }
	};
	const struct sched_job stuck[] = {
		fixed(holds(job(1, linear, 1, 1), 1, 9000)), waited(job(2, linear, 2, 2), 90000),
		fixed(job(3, linear, 1, 1)), job(4, linear, 1, 1),
	};
	const struct wanted passed[] = {
		{ 1, -1, NULL }, { 0, -1, "needs 2 devices of 2; job 1, not preemptible, keeps 1" },
		{ 0, -1, "not preemptible, so not before job 2" }, { 1, -1, NULL },
	};

	set_submitted(gathers, 4);
	CHECK("an overdue job gathers devices", 2, gathers, gathering);
	for (int i = 0; i < 4; i++)
		early[i] = starts[i] = gathers[i];
	early[0] = waited(gathers[0], 35999);
	starts[1].launched_s = NOW_S - 600;
	CHECK("an overdue job starts when the last slice is over", 2, starts, started);
	CHECK("a job does not gather devices before it is overdue", 2, early, not_yet);
	CHECK("a stuck job is passed over", 2, stuck, passed);
}

/* What comes later does not lengthen the wait that was told. */
static void test_limit_is_constant(void)
{
	struct sched_job jobs[12] = { holds(job(1, linear, 1, 1), 1, 100),
				      waited(submitted(job(2, linear, 1, 1), 50), 50) };
	const struct wanted when[12] = { { 1, -1, NULL }, { 0, 29380, NULL } };
	struct wanted behind[12];

	jobs[0] = submitted(jobs[0], 100);
	CHECK("a waiting job is told its latest start",
	      1, ((struct sched_job[]){ jobs[0], jobs[1] }), when);
	for (int i = 0; i < 12; i++)
		behind[i] = i < 2 ? when[i] : (struct wanted){ 0, -2, NULL };
	for (int i = 2; i < 12; i++)
		jobs[i] = submitted(job(i + 1, linear, 1, 1), 10);
	CHECK("ten newcomers do not change the latest start", 1, jobs, behind);
}

/* A time limit tells how long a job is at most. */
static void test_time_left(void)
{
	struct sched_job jobs[] = { holds(job(1, NULL, 1, 1), 1, 100), job(2, linear, 2, 2) };
	const struct wanted bounded[] = {
		{ 1, -2, NULL },
		{ 0, -2, "1st in line; needs 2 devices; job 1 has its slice" },
	};
	const struct wanted unknown[] = {
		{ 1, -2, NULL },
		{ 0, -2, "1st in line; needs 2 devices; unknown length; job 1 has its slice" },
	};

	jobs[1].time_left_s = 3000;
	CHECK("the length of a job with a time limit is known", 2, jobs, bounded);
	jobs[1].time_left_s = (double)NAN;
	CHECK("the length of a job without a time limit is not known", 2, jobs, unknown);
}

/* It has 6000 samples to go at 10 a second, on the one device; the limit is 43200 s, and a slice
 * for each that has waited as long. */
static void test_end(void)
{
	struct sched_job jobs[] = { lacks(holds(job(1, linear, 1, 1), 1, 100), 6000),
				    job(2, linear, 1, 1), had(job(3, linear, 1, 1), 1) };
	const struct wanted when[] = {
		{ 1, -1, "1 device" },
		{ 0, 600,
		  "1st in line; needs 1 device; unknown length; starts when job 1 ends, or "
		  "sooner" },
		{ 0, 44580, "2nd in line; needs 1 device; unknown length; others come first" },
	};
	const struct wanted limit[] = {
		{ 1, -1, NULL },
		{ 0, 500,
		  "1st in line; needs 1 device; unknown length; waits for job 1 to end its "
		  "slice" },
		{ 0, 44580, NULL },
	};
	const struct sched_job starting[] = { lacks(holds(job(1, linear, 1, 1), 1, 10), 6000),
					      job(2, linear, 1, 1) };
	const struct wanted restarted[] = { { 1, -1, NULL }, { 0, 620, NULL } };
	const struct sched_job wide[] = { lacks(holds(job(1, linear, 1, 1), 1, 100), 6000),
					  job(2, linear, 2, 2) };
	const struct wanted beside[] = {
		{ 1, -1, NULL },
		{ 0, 600,
		  "1st in line; needs 2 devices; unknown length; starts when job 1 ends, or "
		  "sooner" },
	};
	const struct wanted soon[] = { { 1, -1, NULL }, { 0, 3, NULL }, { 0, 44580, NULL } };

	CHECK("a known end is told to ten seconds", 1, jobs, when);
	jobs[0].remaining_samples = 25;
	CHECK("an end that is near is told to the second", 1, jobs, soon);
	jobs[0].remaining_samples = 300000;
	CHECK("an end after the limit does not count", 1, jobs, limit);
	CHECK("the end of a job that is still starting counts its restart", 1, starting, restarted);
	CHECK("an end that leaves enough with what is free counts", 2, wide, beside);
}

/* The limit is 28800 s; a restart of 120 s. What lacks less is waited for, but not for ever. */
static void test_about_to_end(void)
{
	struct sched_job jobs[] = { lacks(holds(job(1, linear, 1, 1), 1, 9000), 1190),
				    job(2, linear, 1, 1) };
	const struct wanted lets[] = {
		{ 1, -1, "1 device" },
		{ 0, 240, "1st in line; needs 1 device; waited over 8h03m: lets job 1 end first" },
	};
	/* after the slice, which is over in 200 s */
	const struct wanted within[] = {
		{ 1, -1, NULL },
		{ 0, 440, "1st in line; needs 1 device; waited over 8h03m: lets job 1 end first" },
	};
	const struct wanted still[] = { { 1, -1, NULL }, { 0, 1, NULL } };
	const struct wanted stopped[] = { { 0, 29760, NULL }, { 1, -1, "1 device" } };
	const struct wanted unknown[] = {
		{ 0, 29520,
		  "1st in line; needs 1 device; unknown length; job 2 has its slice" },
		{ 1, -1, NULL },
	};
	struct sched_job wide[] = {
		jobs[0], holds(job(2, linear, 1, 1), 1, 500), waited(job(3, NULL, 2, 2), 1e6),
	};
	const struct wanted last[] = {
		{ 1, -1, NULL },
		{ 1, -1, NULL },
		{ 0, 340,
		  "1st in line; needs 2 devices; waited over 8h03m: gathers devices as slices "
		  "end" },
	};

	jobs[0].restart_s = wide[0].restart_s = 120;
	set_submitted(jobs, 2);
	set_submitted(wide, 3);
	jobs[1] = waited(jobs[1], 28800);
	CHECK("an overdue job lets a job about to end end first", 1, jobs, lets);
	jobs[1] = waited(jobs[1], 29039);
	CHECK("an overdue job lets a late job end for a while", 1, jobs, still);
	jobs[1] = waited(jobs[1], 29040);
	CHECK("an overdue job stops a job that ends too late", 1, jobs, stopped);
	jobs[1] = waited(jobs[1], 28800);
	jobs[0].remaining_samples = 1200;
	CHECK("an overdue job stops a job not so near its end", 1, jobs, stopped);
	jobs[0].remaining_samples = 1190;
	jobs[0].remaining_spread = 0;
	jobs[0].launched_s = NOW_S - 400;
	CHECK("within its slice, too, a job about to end ends first", 1, jobs, within);
	jobs[0].launched_s = NOW_S - 9000;
	jobs[0].remaining_samples = (double)NAN;
	CHECK("an overdue job stops a job of unknown end", 1, jobs, unknown);
	CHECK("an overdue wide job waits for the last slice", 2, wide, last);
}

/* Job 1 ran when job 2 became overdue: behind that the others may start as long as they are
 * expected to end before job 1 does, or where job 2 leaves devices. */
static void test_behind_stuck(void)
{
	struct sched_job jobs[] = {
		submitted(fixed(holds(job(1, linear, 1, 1), 1, 95000)), 95000),
		waited(submitted(job(2, linear, 2, 2), 90000), 90000), fixed(job(3, linear, 1, 1)),
	};
	const struct wanted meanwhile[] = {
		{ 1, -1, "1 device to its end: not preemptible" },
		{ 0, -1,
		  "needs 2 devices of 2; job 1, not preemptible, keeps 1; job 3 runs meanwhile" },
		{ 1, -1, "1 device to its end: not preemptible" },
	};
	const struct wanted not_before[] = {
		{ 1, -1, NULL }, { 0, -1, "needs 2 devices of 2; job 1, not preemptible, keeps 1" },
		{ 0, -1, "not preemptible, so not before job 2" },
	};
	const struct wanted spare[] = {
		{ 1, -1, NULL },
		{ 0, -1,
		  "needs 3 devices of 5; jobs 1 and 4, not preemptible, keep 3; job 3 runs "
		  "meanwhile" },
		{ 1, -1, NULL },
		{ 2, -1, NULL },
		{ 0, -1, "not preemptible, so not before job 2" },
	};
	const struct wanted as_well[] = {
		{ 1, -1, NULL }, { 0, -1, NULL }, { 1, -1, NULL },
		{ 0, -1, "needs 1 device of 2; jobs 1 and 3, not preemptible, keep 2" },
	};
	struct sched_job more[5], both[4] = { [3] = fixed(job(4, linear, 1, 1)) };

	CHECK("a job of unknown length starts behind a stuck one", 2, jobs, meanwhile);
	both[0] = jobs[0];
	both[1] = jobs[1];
	both[2] = jobs[2];
	CHECK("one job more does not start behind a stuck one", 2, both, as_well);
	jobs[0] = lacks(jobs[0], 10 * 7200);
	CHECK("a job starts behind a stuck one if it is assumed to end before", 2, jobs, meanwhile);
	jobs[0] = lacks(jobs[0], 10 * 7199);
	CHECK("a job does not start behind a stuck one if it ends after", 2, jobs, not_before);
	jobs[2] = lacks(jobs[2], 10 * 7169);
	CHECK("a job of known length starts behind a stuck one if it fits", 2, jobs, meanwhile);
	jobs[2] = lacks(jobs[2], 10 * 7169 + 1);
	CHECK("a job of known length does not start if it is just too long", 2, jobs, not_before);
	/* Job 4, launched behind job 2 and of unknown length, gives nobody else time. */
	jobs[2] = fixed(job(3, linear, 1, 1));
	jobs[0] = submitted(fixed(holds(job(1, linear, 1, 1), 1, 100)), 100);
	CHECK("a job started behind a stuck one gives others no time", 2, jobs, not_before);
	jobs[0].submitted_s = NOW_S - 90001;
	CHECK("a job submitted before the stuck one gives others time", 2, jobs, meanwhile);
	for (int i = 0; i < 3; i++)
		more[i] = jobs[i];
	more[0] = lacks(more[0], 10 * 1e4);
	more[2] = lacks(more[2], 10 * 1e6);
	more[3] = submitted(fixed(holds(job(4, linear, 2, 2), 2, 95000)), 95000);
	more[1] = waited(submitted(job(2, linear, 3, 3), 90000), 90000);
	more[3] = lacks(more[3], 10 * 100);
	more[4] = lacks(fixed(job(5, linear, 1, 1)), 10 * 1e6);
	CHECK("one job starts on devices that a stuck one leaves", 5, more, spare);
}

static void test_reconfigure(void)
{
	struct sched_job jobs[] = { holds(job(1, linear, 2, 2), 2, 700) };
	struct sched_input in = { jobs, 1, NOW_S, SLICE_S, SCHED_ONE_KIND(2, 0) };
	struct sched_choice choice;

	/* 20 * (600 - 30) / 600 = 19; 19 / 1.05 = 18.095 */
	jobs[0].goodput_now = 18.09;
	policy_goodput.decide(&in, &choice);
	ok(choice.replicas == 2 && choice.reconfigure, "a run is relaunched where that pays");
	is_str(said(&choice), "2 devices; relaunched, as its best configuration adds 11 %",
	       "the reason tells what a relaunch adds");
	jobs[0].goodput_now = 18.10;
	policy_goodput.decide(&in, &choice);
	ok(choice.replicas == 2 && !choice.reconfigure,
	   "a run is not relaunched where that does not pay");
	jobs[0].goodput_now = 2;
	jobs[0].launched_s = NOW_S - 59; /* a tenth of a slice, as two restarts, is 60 */
	policy_goodput.decide(&in, &choice);
	ok(!choice.reconfigure, "a run is not relaunched before it has settled");
	jobs[0].launched_s = NOW_S - 60;
	policy_goodput.decide(&in, &choice);
	ok(choice.reconfigure, "a run is relaunched after it has settled");
	jobs[0] = fixed(holds(jobs[0], 2, 700));
	policy_goodput.decide(&in, &choice);
	ok(!choice.reconfigure, "a run that is not preemptible is not relaunched");
}

static void test_odd(void)
{
	struct sched_job odd[] = { job(1, none, 1, 4), job(2, linear, 1, 4),
				   job(3, concave, 0, -1) };
	const struct wanted wanted[] = {
		{ 0, -1, "asks for 1 to 4 devices; it is known to work on none of these" },
		{ 4, -1, NULL }, { 0, -1, NULL },
	};
	const struct wanted nothing[] = { { 0, -1, "needs 1 device; none can be used here" },
					  { 0, -1, NULL },
					  { 0, -1, NULL } };
	const struct sched_job lost[] = { fixed(holds(job(1, linear, 2, 4), 4, 9000)),
					  holds(job(2, linear, 1, 4), 2, 100),
					  job(3, linear, 1, 1) };
	const struct wanted of_5[] = { { 4, -1, NULL }, { 1, -1, NULL }, { 0, -1, NULL } };
	const struct wanted of_3[] = { { 3, -1, NULL }, { 0, -1, NULL }, { 0, -1, NULL } };
	const struct wanted of_1[] = { { 0, -1, "needs 2 devices; 1 can be used here" },
				       { 1, -1, NULL },
				       { 0, 29430, NULL } };
	struct sched_input in = { lost, 3, NOW_S, SLICE_S, SCHED_ONE_KIND(8, 4) };
	struct sched_job nodes[] = { job(1, NULL, 3, 3), job(2, linear, 1, 3) };
	struct sched_choice choices[3];

	odd[1].weight = -1;
	odd[1].restart_s = odd[1].attained_service_device_s = (double)NAN;
	odd[1].waiting_since_s = odd[1].submitted_s = (double)NAN;
	odd[2].max_replicas = 0;
	CHECK("a job of which no number is known to work gets none", 4, odd, wanted);
	CHECK("jobs get nothing without devices", 0, odd, nothing);
	CHECK("five of six devices are left", 5, lost, of_5);
	CHECK("three of six devices are left", 3, lost, of_3);
	CHECK("one of six devices is left", 1, lost, of_1);
	check("no jobs are accepted", 4, NULL, 0, NULL, 0);
	in.slice_s = (double)NAN;
	policy_goodput.decide(&in, choices);
	ok(choices[0].replicas == 4, "a slice that is NaN stops no job that keeps its devices");
	in = (struct sched_input){ nodes, 2, NOW_S, SLICE_S, SCHED_ONE_KIND(8, 4) };
	policy_goodput.decide(&in, choices);
	is_str(said(&choices[0]),
	       "asks for 3 devices; on nodes of 4: powers of two that divide it, or whole "
	       "nodes", "a job of 3 devices on nodes of 4 is told what it may have");
	is_str(said(&choices[1]), "2 devices: 2.0x of one",
	       "a job of at most 3 devices on nodes of 4 gets 2");
	/* A restart that takes longer than a slice still lets idle devices be used. */
	in = (struct sched_input){ nodes, 2, NOW_S, 10, SCHED_ONE_KIND(3, 0) };
	policy_goodput.decide(&in, choices);
	is_int(choices[0].replicas + choices[1].replicas, 3,
	       "idle devices are used with a slice shorter than a restart");
}

int main(void)
{
	test_exact();
	test_shares();
	test_order();
	test_slices();
	test_first_slice();
	test_known_lengths();
	test_brief();
	test_pilots();
	test_least_gain();
	test_horizon();
	test_brief_behind_wrong_length();
	test_learnt();
	test_ended();
	test_slice_ends();
	test_age();
	test_overdue();
	test_limit_is_constant();
	test_end();
	test_time_left();
	test_about_to_end();
	test_behind_stuck();
	test_reconfigure();
	test_odd();
	return done();
}
