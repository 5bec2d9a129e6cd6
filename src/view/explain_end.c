/* explain_end.c - explain: how long the job still takes, and what it does beside others on one
 * device. */
#include <math.h>

#include "parts.h"

/* --- when a job ends, and what it still has to do, in words --- */

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

/* False: nothing is known. */
static bool add_end_of_waiting(const struct explanation *e, struct text *t)
{
	double left_s = run_time_left(e);
	struct text start = TEXT_INIT;
	bool known;

	status_add_ends(t, &e->status, e->item);
	if (status_add_start(&start, &e->status, e->item))
		text_addf(t, "%sto start %s", t->length ? "; " : "", start.data);
	known = t->length > 0;
	if (known && isfinite(left_s))
		text_addf(t, ", then %s on %d device%s if it keeps them", format_duration(left_s).s,
			  e->least, plural(e->least));
	text_release(&start);
	return known;
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
	else if (!e->item->run && add_end_of_waiting(e, t))
		;
	else if (!(job_total_samples(job) > 0 || job_total_steps(job) > 0))
		text_add(t, "not known: submitted without --samples, --steps or --epochs");
	else
		text_add(t, !e->item->run ? "not known: it waits"
			    : job->progress.samples > 0 || job->progress.steps > 0
			    ? "not known until its step time is measured"
			    : "not known until its program has reported samples or steps");
}

void explanation_print_end(const struct explanation *e, const struct output *out)
{
	const struct job *job = e->job;
	bool samples = job_total_samples(job) > 0;
	double total = samples ? job_total_samples(job) : job_total_steps(job);
	double done = samples ? job->progress.samples : job->progress.steps;
	double left_s = run_time_left(e);
	struct text t = TEXT_INIT;

	fputs("\nend\n", out->file);
	add_end(e, &t);
	output_textline(out, "end", &t);
	if (!job_has_ended(job->state) && total > 0 && !(e->item->done_ratio > 1)) {
		text_addf(&t, "%s of %s %s", format_count(fmax(total - (done > 0 ? done : 0), 0)).s,
			  format_count(total).s, samples ? "samples" : "steps");
		if (isfinite(e->item->throughput_eps))
			text_addf(&t, ", at %s samples/s", format_count(e->item->throughput_eps).s);
		output_textline(out, "remaining", &t);
	}
	if (!job_has_ended(job->state) && isfinite(left_s)) {
		text_addf(&t, "%s of running on %d device%s", format_duration(left_s).s, e->least,
			  plural(e->least));
		output_textline(out, "takes", &t);
	}
	text_release(&t);
}

/* --- what the job and others do to each other on one device --- */

static bool has_any(const struct explanation *e)
{
	return e->job->declared.share || e->pairs.count > 0;
}

/* Memory is left out: what it allows depends on the jobs. */
static struct share_answer judge_pair(const struct share_pair *p)
{
	struct share_group g = { .n = 2 };

	g.factors[0][1] = p->own;
	g.factors[1][0] = p->other;
	return share_judge(&g);
}

static void add_factor(struct text *t, const char *whose, const struct share_factor *f)
{
	if (f->n_windows > 0 && isfinite(f->relative))
		text_addf(t, "%s steps take %s instead of %s (%.2f of the rate, %lld window%s)",
			  whose, format_span(f->beside_s).s, format_span(f->alone_s).s, f->relative,
			  (long long)f->n_windows, plural(f->n_windows));
	else
		text_addf(t, "%s steps were not measured both alone and there", whose);
}

void explanation_print_share(const struct explanation *e, const struct output *out)
{
	struct text t = TEXT_INIT;

	if (!has_any(e))
		return;
	fputs("\nbeside others on one device\n", out->file);
	output_line(out, "allowed", e->job->declared.share ? "yes, where memory allows it and it "
		    "pays" : "no: it was submitted without --share");
	for (int i = 0; i < e->pairs.count; i++) {
		const struct share_pair *p = &e->pairs.items[i];

		text_addf(&t, "beside '%s': ", p->beside);
		add_factor(&t, "its", &p->own);
		text_add(&t, "; ");
		add_factor(&t, "the other's", &p->other);
		switch (judge_pair(p).verdict) {
		case SHARE_TOGETHER:
			text_addf(&t,
				  "; together %.2f times what they do by turns: they stay together",
				  judge_pair(p).sum);
			break;
		case SHARE_APART:
			text_addf(&t,
				  "; together %.2f times what they do by turns, %.2f is needed: "
				  "they take turns",
				  judge_pair(p).sum, SHARE_GAIN);
			break;
		case SHARE_TRY:
			text_addf(&t, "; %d windows decide", SHARE_WINDOWS);
			break;
		case SHARE_NO_ROOM:
			break;
		case SHARE_NOT_AGAIN:
			text_add(&t, "; one of them ran out of memory there: they take turns");
			break;
		}
		output_textline(out, "pair", &t);
	}
	text_release(&t);
}

static void print_json_factor(struct json *j, const char *name, const struct share_factor *f)
{
	json_object(j, name);
	json_number(j, "relative_rate", f->relative);
	json_number(j, "alone_s", f->alone_s);
	json_number(j, "beside_s", f->beside_s);
	json_integer(j, "n_windows", f->n_windows);
	json_bool(j, "out_of_memory", f->out_of_memory);
	json_end(j);
}

void explanation_print_json_share(struct json *j, const struct explanation *e)
{
	static const char *const verdicts[] = {
		[SHARE_TOGETHER] = "together", [SHARE_TRY] = "not measured",
		[SHARE_APART] = "by turns", [SHARE_NO_ROOM] = "no room",
		[SHARE_NOT_AGAIN] = "out of memory",
	};

	if (!has_any(e))
		return;
	json_array(j, "beside_others");
	for (int i = 0; i < e->pairs.count; i++) {
		const struct share_pair *p = &e->pairs.items[i];
		struct share_answer answer = judge_pair(p);

		json_object(j, NULL);
		json_string(j, "beside", p->beside);
		print_json_factor(j, "own", &p->own);
		print_json_factor(j, "other", &p->other);
		json_number(j, "sum", answer.sum);
		json_string(j, "verdict", verdicts[answer.verdict]);
		json_end(j);
	}
	json_end(j);
}
