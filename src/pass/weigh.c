/* weigh.c - what each job makes of each number of devices. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pass_state.h"
#include "pollux/mem.h"

/* Where no relaunch was ever timed: this part of a slice, 30 s of ten minutes as the paper has it. */
#define RESTART_SLICES 0.05

void worth_release(struct worth *w)
{
	if (!w)
		return;
	free(w->goodput);
	free(w->best);
	free(w);
}

static struct worth *worth_new(int n_devices)
{
	struct worth *w = xcalloc(1, sizeof(*w));

	w->goodput = xcalloc((size_t)n_devices + 1, sizeof(*w->goodput));
	w->best = xcalloc((size_t)n_devices + 1, sizeof(*w->best));
	return w;
}

static struct worth *worth_of_model(const struct job_model *m, int n_devices)
{
	struct worth *w = worth_new(n_devices);

	for (int r = 1; r <= n_devices; r++) {
		bool can = job_model_best(m, r, &w->best[r]);

		w->goodput[r] = can ? w->best[r].goodput : (double)NAN;
	}
	return w;
}

/* Nobody can tell what it makes of more devices. It is offered what others leave: the square root of
 * their number is less than any job is worth that was seen to gain from them. */
static double assumed_goodput(int replicas)
{
	return sqrt(replicas);
}

static struct worth *worth_assumed(int n_devices)
{
	struct worth *w = worth_new(n_devices);

	w->assumed = true;
	for (int r = 1; r <= n_devices; r++)
		w->goodput[r] = assumed_goodput(r);
	return w;
}

static double run_time_s(const struct pass_state *p, const struct candidate *c)
{
	double now = c->run && isfinite(c->run->launch_boot_s) ? p->now_boot_s - c->run->launch_boot_s : 0;

	return c->job->progress.run_time_s + now;
}

/* NaN, which is unknown, is the same as NaN. */
static bool same_number(double a, double b)
{
	return isnan(a) ? isnan(b) : a <= b && a >= b;
}

static bool same_params(const struct throughput_params *a, const struct throughput_params *b)
{
	double x[N_THROUGHPUT_PARAMS], y[N_THROUGHPUT_PARAMS];

	memcpy(x, a, sizeof(x));
	memcpy(y, b, sizeof(y));
	for (int i = 0; i < N_THROUGHPUT_PARAMS; i++)
		if (!same_number(x[i], y[i]))
			return false;
	return true;
}

static bool same_model(const struct job_model *a, const struct job_model *b)
{
	const struct goodput_model *x = &a->goodput, *y = &b->goodput;

	return a->known == b->known && a->max_replicas == b->max_replicas &&
	       a->min_replicas == b->min_replicas && a->min_batch_size == b->min_batch_size &&
	       a->own_max_local_batch_size == b->own_max_local_batch_size &&
	       a->memory.ran_out == b->memory.ran_out && a->failed.failed == b->failed.failed &&
	       x->residuals == y->residuals && same_params(&x->params, &y->params) &&
	       same_number(x->noise_scale, y->noise_scale) &&
	       x->initial_batch_size == y->initial_batch_size &&
	       x->max_batch_size == y->max_batch_size &&
	       x->max_local_batch_size == y->max_local_batch_size &&
	       x->accumulates == y->accumulates && x->noise_is_measured == y->noise_is_measured;
}

/* Of a hundred jobs of one workload most have the same model: one search is enough for them. */
static struct worth *find_worth(const struct pass_state *p, const struct candidate *c)
{
	for (const struct candidate *other = p->candidates; other < c; other++)
		if (other->owns_worth && !other->worth->assumed && same_model(&other->model, &c->model))
			return other->worth;
	return NULL;
}

/* A job that has run for a slice without a word of its progress will not tell. */
static bool is_silent(const struct pass_state *p, const struct candidate *c)
{
	bool spoke = isfinite(c->job->progress.steps) || isfinite(c->job->progress.samples) ||
		     (c->run && isfinite(c->run->first_step_s));

	return !spoke && run_time_s(p, c) >= p->config->slice_s;
}

/* To be measured on few devices before it is given more: not one that has to stay where it starts. */
static bool may_be_measured(const struct pass_state *p, const struct candidate *c)
{
	return c->job->declared.batch_size > 0 && p->sched_jobs[c - p->candidates].preemptible && !is_silent(p, c);
}

static void weigh(struct pass_state *p, struct candidate *c)
{
	if (!c->model.known) {
		if (may_be_measured(p, c))
			return;
		c->worth = worth_assumed(p->n_usable);
		c->owns_worth = true;
		return;
	}
	c->worth = find_worth(p, c);
	if (c->worth)
		return;
	c->worth = worth_of_model(&c->model, p->n_usable);
	c->owns_worth = true;
}

/* Samples still to come, at what they are worth at the sizes for the fewest devices. Where goodput is assumed it is
 * of nothing that can be counted: as much of it as the time left is worth on the devices that this is known of. */
static double remaining_samples(const struct pass_state *p, const struct candidate *c)
{
	double samples = c->model.remaining_samples;

	if (c->worth->assumed)
		return c->model.remaining_s * assumed_goodput(c->model.timed_replicas);
	if (!(samples >= 0) || !c->model.known)
		return (double)NAN;
	for (int r = c->job->declared.min_replicas; r <= c->model.max_replicas && r <= p->n_usable; r++)
		if (c->worth->best[r].goodput > 0)
			return samples * c->worth->best[r].efficiency;
	return (double)NAN;
}

double pass_goodput_now(const struct candidate *c)
{
	const struct run *run = c->run;

	if (!run || !c->model.known || run->configuration.local_batch_size <= 0)
		return (double)NAN;
	return goodput_of(&c->model.goodput, configuration_place(&run->configuration),
			  (double)run->configuration.local_batch_size, run->configuration.accumulation_steps);
}

/* It said that it takes configurations, and did not take the last one all this while, a few steps at
 * least: only a relaunch will bring it another. */
#define CONFIG_PATIENCE_S 60.0
#define CONFIG_PATIENCE_STEPS 5

bool pass_takes_configs(const struct pass_state *p, const struct run *run)
{
	double patience_s = fmax(CONFIG_PATIENCE_S, CONFIG_PATIENCE_STEPS * run->step_time_s);

	return run->takes_configs && (run->wanted_version == run->config_version ||
				      !(p->now_boot_s - run->wanted_boot_s > patience_s));
}

static bool has_active_run(const struct pass_state *p, int64_t job_id)
{
	for (int i = 0; i < p->runs.count; i++)
		if (p->runs.items[i].job_id == job_id)
			return true;
	return false;
}

/* When it could have had devices and had none: wall clock to boot clock, at most now. */
static double waiting_since(const struct pass_state *p, const struct job *job)
{
	double since = fmax(job->submit_time_s, job->progress.last_end_time_s);

	if (has_active_run(p, job->id))
		return p->now_boot_s;
	since = fmax(since, pass_dependencies_end(p, job->id));

	return p->now_boot_s - fmax(p->now_wall_s - since, 0);
}

static void describe_worth(const struct pass_state *p, const struct candidate *c, struct sched_job *s)
{
	const struct job *job = c->job;

	s->submitted_s = p->now_boot_s - fmax(p->now_wall_s - job->submit_time_s, 0);
	s->waiting_since_s = waiting_since(p, job);
	s->restarts = job->progress.runs > 1 ? job->progress.runs - 1 : 0;
	s->restart_s = isfinite(c->model.restart_s) ? c->model.restart_s
						    : RESTART_SLICES * p->config->slice_s;
	/* One that changes while it runs will be at its best: no matter for the policy. */
	s->goodput_now = c->run && pass_takes_configs(p, c->run) ? (double)NAN : pass_goodput_now(c);
	s->remaining_samples = (double)NAN;
	if (!c->worth)
		return;
	s->goodput = c->worth->goodput;
	if (s->max_replicas > p->n_usable)
		s->max_replicas = p->n_usable > s->min_replicas ? p->n_usable : s->min_replicas;
	s->remaining_samples = remaining_samples(p, c);
}

void pass_weigh(struct pass_state *p)
{
	struct knowledge nothing = {
		.restart_s = (double)NAN, .typical_samples = (double)NAN,
	};

	if (!p->policy->models_goodput)
		return;
	for (int j = 0; j < p->n_candidates; j++) {
		struct candidate *c = &p->candidates[j];
		struct knowledge *k = pass_knowledge_of(p, c);

		knowledge_of_job(k ? k : &nothing, c->job, &c->model);
		weigh(p, c);
		describe_worth(p, c, &p->sched_jobs[j]);
	}
}

static enum lr_rule rule_of(const struct job *job)
{
	enum lr_rule rule;

	return job->declared.learning_rate_rule && lr_rule_parse(&rule, job->declared.learning_rate_rule) ? rule
											: LR_ADASCALE;
}

double pass_learning_rate_scale(const struct pass_state *p, int j, int64_t batch_size)
{
	const struct job *job = p->candidates[j].job;
	double declared = job->declared.noise_scale > 0 ? job->declared.noise_scale : (double)NAN;
	double noise = p->policy->models_goodput ? p->candidates[j].model.goodput.noise_scale : declared;

	return batch_size == job->declared.batch_size ? 1
		: goodput_lr_factor(rule_of(job), noise, (double)job->declared.batch_size, (double)batch_size);
}

struct configuration pass_configuration(const struct pass_state *p, int j, int replicas, double *lr_scale)
{
	const struct candidate *c = &p->candidates[j];
	const struct job *job = c->job;
	const struct goodput_choice *best = c->worth && c->model.known && replicas <= p->n_usable
		? &c->worth->best[replicas] : NULL;
	struct configuration chosen = configuration_make(replicas, 0, 1);

	*lr_scale = 1;
	if (job->declared.batch_size == 0)
		return chosen;
	if (best && best->goodput > 0)
		chosen = best->configuration;
	else
		chosen = configuration_spread(job->declared.batch_size, replicas, job->declared.max_local_batch_size,
					      job->declared.min_batch_size, job->declared.max_batch_size);
	if (p->policy->models_goodput)
		*lr_scale = pass_learning_rate_scale(p, j, configuration_batch_size(&chosen));
	return chosen;
}
