/* explain_end.c - when a job ends, and what it still has to do, in words. */
#include <math.h>

#include "pollux/explain.h"
#include "pollux/report.h"

static struct formatted time_of(const struct explanation *e, double wall_s)
{
	return format_time(wall_s, e->status.now_wall_s);
}

/* The running time of a waiting job to its end, once it runs; NaN: it runs, or unknown. */
static double run_time_left(const struct explanation *e)
{
	const struct goodput_choice *c = e->least ? &e->best[e->least] : NULL;
	double done = e->job->progress.samples;
	double left = job_total_samples(e->job) - (done > 0 ? done : 0);

	return c && c->goodput > 0 && !e->item->run && left > 0 ? left / c->throughput
								 : (double)NAN;
}

static void add_end_of_waiting(const struct explanation *e, struct text *t)
{
	double left_s = run_time_left(e), start_s = e->job->next_start_s;

	if (isfinite(left_s))
		text_addf(t, "by %s, or sooner: ", time_of(e, start_s + left_s).s);
	text_addf(t, "to start by %s", time_of(e, start_s).s);
	if (isfinite(left_s))
		text_addf(t, ", then %s on %d device%s if it keeps them", format_duration(left_s).s,
			  e->least, plural(e->least));
}

static void add_end(const struct explanation *e, struct text *t)
{
	const struct job *job = e->job;
	double eta_s = e->item->eta_s;

	if (job_has_ended(job->state))
		text_addf(t, "%s at %s", job_state_name(job->state), time_of(e, job->end_time_s).s);
	else if (e->item->done_ratio > 1)
		text_add(t, "not known: it is over its declared end");
	else if (isfinite(eta_s))
		text_addf(t, "about %s, in %s, if it keeps its devices",
			  time_of(e, e->status.now_wall_s + eta_s).s, format_duration(eta_s).s);
	else if (isfinite(e->item->expected_s))
		text_addf(t, "about %s, in %s, if it keeps its devices and is as long as the %d "
			  "job%s of its workload that %s done",
			  time_of(e, e->status.now_wall_s + e->item->expected_s).s,
			  format_duration(e->item->expected_s).s, e->item->expected_jobs,
			  plural(e->item->expected_jobs),
			  e->item->expected_jobs > 1 ? "are" : "is");
	else if (job->profile)	/* a profile's next_start_s is not its own start */
		text_add(t, "with its budget, at the latest");
	else if (!(job_total_samples(job) > 0 || job_total_steps(job) > 0))
		text_add(t, "not known: submitted without --samples, --steps or --epochs");
	else if (job->next_start_s > e->status.now_wall_s)
		add_end_of_waiting(e, t);
	else
		text_add(t, !e->item->run ? "not known: it waits"
			    : job->progress.samples > 0 || job->progress.steps > 0
			    ? "not known until its step time is measured"
			    : "not known until its program has reported samples or steps");
}

static void print_remaining(const struct explanation *e, const struct output *out)
{
	const struct job *job = e->job;
	bool samples = job_total_samples(job) > 0;
	double total = samples ? job_total_samples(job) : job_total_steps(job);
	double done = samples ? job->progress.samples : job->progress.steps;
	double left_s = run_time_left(e);
	struct text t = TEXT_INIT;

	if (total > 0 && !(e->item->done_ratio > 1)) {
		text_addf(&t, "%s of %s %s", format_count(fmax(total - (done > 0 ? done : 0), 0)).s,
			  format_count(total).s, samples ? "samples" : "steps");
		if (isfinite(e->item->throughput_eps))
			text_addf(&t, ", at %s samples/s", format_count(e->item->throughput_eps).s);
		output_textline(out, "remaining", &t);
	}
	if (isfinite(left_s)) {
		text_addf(&t, "%s of running on %d device%s", format_duration(left_s).s, e->least,
			  plural(e->least));
		output_textline(out, "takes", &t);
	}
	text_release(&t);
}

void explanation_print_end(const struct explanation *e, const struct output *out)
{
	struct text t = TEXT_INIT;

	fputs("\nend\n", out->file);
	add_end(e, &t);
	output_textline(out, "end", &t);
	text_release(&t);
	if (!job_has_ended(e->job->state))
		print_remaining(e, out);
}
