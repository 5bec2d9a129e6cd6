/* growth.c - decides by what ends a training whether its batch may grow. */
#include "pollux/growth.h"

#include <math.h>
#include <string.h>

#include "pollux/configuration.h"

static const char *const ends[N_TRAINING_ENDS] = {
	[END_UNKNOWN] = "", [END_STEPS] = "steps", [END_SAMPLES] = "samples",
	[END_EPOCHS] = "epochs", [END_METRIC] = "metric", [END_TIME] = "time",
};

const struct field_names training_end_names = { ends, N_TRAINING_ENDS, END_UNKNOWN };

enum training_end training_end_parse(const char *word)
{
	for (int i = 1; i < N_TRAINING_ENDS; i++)
		if (!strcmp(word, ends[i]))
			return (enum training_end)i;
	return END_UNKNOWN;
}

static const char *const families[] = {
	[OPTIMIZER_SGD] = "sgd", [OPTIMIZER_ADAM] = "adam", [OPTIMIZER_OTHER] = "other",
	[OPTIMIZER_SEARCH] = "search",
};

enum optimizer_family optimizer_family_of(const char *report)
{
	size_t length = strcspn(report, " ");

	for (int i = OPTIMIZER_SGD; i <= OPTIMIZER_SEARCH; i++)
		if (strlen(families[i]) == length && !memcmp(families[i], report, length))
			return (enum optimizer_family)i;
	return OPTIMIZER_UNKNOWN;
}

const char *optimizer_names_of(const char *report)
{
	const char *names = report + strcspn(report, " ");

	return names + strspn(names, " ");
}

/* A program that saw its own loop knows best; then counts what its user said of this job, then what
 * it printed. An epoch beyond the second begins where another ended: two passes over the data. */
enum training_end growth_end(const struct growth_facts *f)
{
	if (f->reported != END_UNKNOWN)
		return f->reported;
	if (f->declared_samples > 0)
		return END_SAMPLES;
	if (f->declared_steps > 0)
		return END_STEPS;
	if (f->total_samples > 0)
		return END_SAMPLES;
	if (f->total_epochs > 0)
		return END_EPOCHS;
	if (f->total_steps > 0)
		return END_STEPS;
	return f->epoch >= 2 ? END_EPOCHS : END_UNKNOWN;
}

enum growth_veto growth_veto(const struct growth_facts *f)
{
	if (f->optimizer == OPTIMIZER_SEARCH ||
	    (f->optimizer == OPTIMIZER_OTHER && !f->rule_is_given))
		return GROWTH_OPTIMIZER;
	if (f->passes_steps)
		return GROWTH_ALLOWED;
	if (growth_end(f) == END_UNKNOWN)
		return GROWTH_END_UNKNOWN;
	return growth_end(f) == END_STEPS ? GROWTH_COUNTS_STEPS : GROWTH_ALLOWED;
}

bool growth_keeps_replicas(const struct growth_facts *f)
{
	return !f->has_batch && !f->passes_steps && f->reported == END_STEPS;
}

double growth_steps(double total_steps, double own_batch_size, double batch_size,
		    double steps_done, double samples_done)
{
	double steps = steps_done > 0 ? steps_done : 0;
	double samples = samples_done > 0 ? samples_done : steps * own_batch_size;
	double left = total_steps * own_batch_size - samples;

	return left > 0 ? steps + ceil(left / batch_size) : steps;
}

/* ---- how far and how fast ---- */

#define PROMISE_SPAN 8.0	/* older losses, by the position, promise nothing */

/* --- the promise --- */

/* The line y = mean + slope (x - mean_x), and the mean square of the losses around it. */
struct line {
	double mean_x, mean, slope, square, n, m2_x;
};

/* --- the judgement --- */

/* A stretch of the training in one batch size that was not judged before. */
struct stretch {
	double begin, end;		/* position, samples */
	struct loss_sums losses;
	double sum_x;			/* of the promised places on the curve, by losses */
	int64_t entries;		/* of gradients */
};

struct judge {
	const struct noise_window *windows;
	int64_t job_id;
	double min_efficiency;
	struct growth g;
	struct stretch now;
};

/* Joins the losses in batches that were judged before, shortly before a position. A window that
 * began with the training is left out: its first losses fall along another curve. */
static bool promise(const struct judge *j, int n, double before, struct line *line)
{
	struct loss_sums s = { 0 };

	for (int i = 0; i < n; i++) {
		const struct noise_window *w = &j->windows[i];

		if (w->job_id == j->job_id && w->batch_size <= j->g.judged &&
		    w->first_samples * PROMISE_SPAN >= before && w->last_samples <= before)
			loss_sums_merge(&s, &w->losses);
	}
	if (s.n < GROWTH_LOSSES || !(s.m2_x > 0))
		return false;
	*line = (struct line){
		.mean_x = s.mean_x, .mean = s.mean, .n = (double)s.n, .m2_x = s.m2_x,
		.slope = fmax(s.cross / s.m2_x, 0),	/* a loss that rises promises to stay */
	};
	line->square = fmax(s.m2 - line->slope * s.cross, 0) / (line->n - 2);
	return true;
}

static void add_window(struct judge *j, const struct noise_window *w)
{
	double middle = (w->first_samples + w->last_samples) / 2, worth = j->min_efficiency;

	if (!(worth > 0))
		worth = 1;
	loss_sums_merge(&j->now.losses, &w->losses);
	j->now.end = w->last_samples;
	j->now.sum_x += (double)w->losses.n *
			loss_curve_x(j->now.begin + worth * (middle - j->now.begin));
	j->now.entries += w->entries > 0 ? w->entries : w->n;
}

/* Judges the stretch by the windows before it, of which there are n. */
static enum growth_verdict verdict_of(struct judge *j, int n)
{
	const struct loss_sums *losses = &j->now.losses;
	struct growth *g = &j->g;
	struct line line;
	double count = (double)losses->n, dx, error, difference;

	/* Without losses a batch is known once its gradients are. */
	if (!g->has_loss)
		return (double)j->now.entries >= NOISE_ENTRIES_LEAST ? GROWTH_AS_PROMISED
								      : GROWTH_OPEN;
	if (losses->n < GROWTH_LOSSES / 4 || !promise(j, n, j->now.begin, &line))
		return GROWTH_OPEN;
	dx = j->now.sum_x / count - line.mean_x;
	/* the square of the standard error of the line there */
	error = line.square * (1 / line.n + dx * dx / line.m2_x);
	g->loss = losses->mean;
	g->promised = line.mean + line.slope * dx;
	g->error = sqrt(error + losses->m2 / (count - 1) / count);
	difference = g->loss - g->promised;
	if (difference > GROWTH_BEHIND * g->error)
		return GROWTH_FELL_BEHIND;
	return losses->n >= GROWTH_LOSSES && difference <= GROWTH_TOLERANCE * g->error &&
	       j->now.end - j->now.begin >= GROWTH_STRETCH * j->now.begin
		? GROWTH_AS_PROMISED : GROWTH_OPEN;
}

static bool is_of(const struct judge *j, const struct noise_window *w)
{
	return w->job_id == j->job_id && w->batch_size > 0 && w->last_samples >= w->first_samples;
}

struct growth growth_judge(const struct noise_window *windows, int n, int64_t job_id,
			   int64_t initial_batch_size, double min_efficiency)
{
	struct judge j = {
		.windows = windows, .job_id = job_id, .min_efficiency = min_efficiency,
		.g = { .verdict = GROWTH_UNSEEN, .judged = initial_batch_size,
		       .loss = (double)NAN, .promised = (double)NAN, .error = (double)NAN },
	};
	struct growth *g = &j.g;
	struct line line;
	double last = 0;	/* position */
	int first = 0;		/* window of the stretch */

	for (int i = 0; i < n; i++)
		g->has_loss |= is_of(&j, &windows[i]) && windows[i].losses.n > 0;
	for (int i = 0; i < n; i++) {
		const struct noise_window *w = &windows[i];

		if (!is_of(&j, w))
			continue;
		if (w->batch_size != g->batch_size) {
			g->batch_size = w->batch_size;
			g->verdict = w->batch_size <= g->judged ? GROWTH_AS_PROMISED : GROWTH_OPEN;
			j.now = (struct stretch){ .begin = w->first_samples };
			first = i;
		}
		last = w->last_samples;
		if (g->verdict != GROWTH_OPEN)
			continue;
		add_window(&j, w);
		g->verdict = verdict_of(&j, first);
		if (g->verdict == GROWTH_AS_PROMISED)
			g->judged = most_of(g->judged, g->batch_size);
		if (g->verdict == GROWTH_FELL_BEHIND)
			g->again_samples = GROWTH_AGAIN * j.now.end;
	}
	/* A larger batch could not be compared with what has promised nothing yet. */
	if (g->verdict == GROWTH_AS_PROMISED && g->has_loss && !promise(&j, n, last, &line))
		g->verdict = GROWTH_OPEN;
	return *g;
}

/* --- the bound --- */

int64_t growth_efficient(double noise_scale, int64_t initial_batch_size, double min_efficiency)
{
	double most;

	if (isnan(noise_scale))
		return initial_batch_size;
	if (!(min_efficiency > 0) || isinf(noise_scale))
		return INT64_MAX;
	most = (noise_scale + (double)initial_batch_size) / min_efficiency - noise_scale;
	if (!(most < 1e15))
		return INT64_MAX;
	return most > (double)initial_batch_size ? (int64_t)most : initial_batch_size;
}

int64_t growth_most(const struct growth *g, const struct growth_bound *b)
{
	int64_t grown = g->judged > INT64_MAX / GROWTH_STEP ? INT64_MAX : GROWTH_STEP * g->judged;
	int64_t present = most_of(b->batch_size, g->judged), most = g->judged;

	switch (g->verdict) {
	case GROWTH_FELL_BEHIND:
		break;
	case GROWTH_OPEN:
		most = most_of(g->batch_size, g->judged);
		break;
	case GROWTH_AS_PROMISED:
		most = b->samples < g->again_samples ? present : grown;
		break;
	case GROWTH_UNSEEN:
		if (b->batch_size > 0)
			most = present * GROWTH_STEP;
		else if (b->samples > 0)
			most = INT64_MAX;
		break;
	}
	if (b->samples >= GROWTH_LAST * b->total_samples && g->verdict != GROWTH_FELL_BEHIND)
		most = present;
	most = least_of(most, growth_efficient(b->noise_low, b->initial_batch_size,
					       b->min_efficiency));
	return most_of(most, b->initial_batch_size);
}

/* --- in words --- */

void growth_print(const struct growth *g, int64_t initial_batch_size, int64_t most,
		  struct text *out)
{
	static const char *const verdicts[] = {
		[GROWTH_UNSEEN] = "", [GROWTH_OPEN] = ", not judged yet",
		[GROWTH_AS_PROMISED] = ", as promised", [GROWTH_FELL_BEHIND] = ", fell behind",
	};

	if (most == INT64_MAX)
		text_add(out, "no bound now");
	else
		text_addf(out, "at most %lld now", (long long)most);
	if (g->batch_size > initial_batch_size || g->verdict == GROWTH_OPEN)
		text_addf(out, "; batch %lld%s", (long long)g->batch_size, verdicts[g->verdict]);
	if (g->batch_size > initial_batch_size && !isnan(g->error))
		text_addf(out, ": loss %.4g, %.4g +- %.2g promised", g->loss, g->promised,
			  g->error);
	if (g->again_samples > 0)
		text_addf(out, "; larger ones again from %.0f samples on", g->again_samples);
}
