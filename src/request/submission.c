/* submission.c - makes a job of the options of 'pollux submit'. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/clock.h"
#include "pollux/config.h"
#include "pollux/execution_plan.h"
#include "pollux/mem.h"
#include "pollux/paths.h"
#include "pollux/selection.h"
#include "pollux/submission.h"
#include "pollux/template.h"
#include "request.h"

/* --- guarantees --- */

/* --guarantee beside --replicas. */
static int submission_check_guarantee(const struct command *by, const struct declaration *d,
				      struct err *err)
{
	struct guarantee g;

	if (!d->guarantee)
		return 0;
	if (guarantee_parse(d->guarantee, &g, err))
		return -1;
	if (g.replicas < d->min_replicas)
		return usage_error(by, err, "option '--guarantee': %d device%s less than the job "
				   "needs: --replicas says %d at least", g.replicas,
				   g.replicas == 1 ? " is" : "s are", d->min_replicas);
	if (d->max_replicas && g.replicas > d->max_replicas)
		return usage_error(by, err, "option '--guarantee': %d devices are more than the "
				   "job may have, %d; '--replicas %d:%d' allows them",
				   g.replicas, d->max_replicas, d->min_replicas, g.replicas);
	return 0;
}

static int check_guaranteed_plan(const struct declaration *d, struct err *err)
{
	struct execution_plans plans;
	const struct execution_plan *plan;
	struct guarantee g;
	int rc = 0;

	if (!d->guarantee || guarantee_parse(d->guarantee, &g, err) || (!g.plan[0] && !d->plans))
		return 0;
	if (execution_plans_parse(d->plans, &plans, err))
		return -1;
	plan = g.plan[0] ? execution_plans_find(&plans, g.plan) : &plans.items[0];
	if (!plan)
		rc = err_set(err, EX_USAGE, "option '--guarantee': no --plan has the name '%s'",
			     g.plan);
	else if (g.replicas % plan->width != 0)
		rc = err_set(err, EX_USAGE, "option '--guarantee': %d devices are no multiple of "
			     "%d, the devices of a replica of plan '%s'", g.replicas, plan->width,
			     plan->name);
	execution_plans_release(&plans);
	return rc;
}

/* A guarantee that can never be kept is refused; one for which others leave no room waits. A bad
 * configuration file is for a pass to tell. */
static int check_settings(const struct declaration *d, struct err *err)
{
	struct config config;
	struct guarantee g;
	struct paths paths;
	struct err ignored;
	int rc;

	if (!d->guarantee || guarantee_parse(d->guarantee, &g, err) || paths_init(&paths, &ignored))
		return 0;
	rc = config_load(&config, paths.config, &ignored);
	paths_release(&paths);
	if (rc)
		return 0;
	if (strcmp(config.policy, "goodput") != 0)
		return err_set(err, EX_CONFIG, "option '--guarantee': the policy is '%s'; only "
			       "'goodput' keeps guarantees", config.policy);
	if (config.guaranteed_devices >= 0 && g.replicas > config.guaranteed_devices)
		return err_set(err, EX_CONFIG, "option '--guarantee': %d devices are more than "
			       "guaranteed_devices = %d allows", g.replicas,
			       config.guaranteed_devices);
	return 0;
}

/* --guarantee beside the plans, once these are set, and the settings. */
static int submission_check_promise(const struct declaration *d, struct err *err)
{
	return check_guaranteed_plan(d, err) || check_settings(d, err) ? -1 : 0;
}

/* --- jobs --- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* People call "python -u train.py" by the name "train.py". */
static const char *submission_default_name(const struct job_command *c)
{
	const char *script = script_of_runner(c->argv.items);

	return base_name(script ? script : c->argv.items[0]);
}

/* The program with its argument template, which distinguishes one training script from another. */
static char *submission_default_workload(const struct job_command *c)
{
	struct text t = TEXT_INIT;

	text_add_shell_quoted(&t, c->program);
	for (size_t i = 1; i < c->argv.count; i++) {
		text_add(&t, " ");
		text_add_shell_quoted(&t, c->argv.items[i]);
	}
	return text_detach(&t);
}

void submission_name_template(const char *program, char **argv, struct declaration *d)
{
	struct job_command c = { .program = xstrdup(program) };

	for (; *argv; argv++)
		strings_add(&c.argv, *argv);
	if (!d->name)
		d->name = xstrdup(submission_default_name(&c));
	if (!d->workload)
		d->workload = submission_default_workload(&c);
	job_command_release(&c);
}

#define NAME_MAX_BYTES 255

int submission_check_name(const struct command *by, const struct asked *o, struct err *err)
{
	size_t n = o->declared.name ? strlen(o->declared.name) : 0;

	if (n > NAME_MAX_BYTES)
		return usage_error(by, err, "option '--name' has %zu bytes, more than %d", n,
				   NAME_MAX_BYTES);
	return 0;
}

static int check_batch(const struct command *by, const struct declaration *d, struct err *err)
{
	if (d->batch.max &&
	    (d->batch.size < d->batch.min || d->batch.size > d->batch.max))
		return usage_error(by, err,
				   "option '--batch' %lld is outside --batch-range %lld:%lld",
				   (long long)d->batch.size, (long long)d->batch.min,
				   (long long)d->batch.max);
	return 0;
}

static int check_slurm_args(const struct command *by, const struct asked *o, struct err *err)
{
	const char *given = o->declared.slurm_args, *own = slurm_args_own(given ? given : "");

	if (own)
		return usage_error(by, err, "option '--slurm-args' has --%s, which pollux itself"
				   " gives sbatch", own);
	return 0;
}

int submission_check_declared(const struct command *by, const struct asked *o,
			      const struct declaration *d, struct err *err)
{
	return submission_check_name(by, o, err) || check_batch(by, d, err) ||
	       check_slurm_args(by, o, err) || submission_check_guarantee(by, d, err) ? -1 : 0;
}

static int set_total_work(const struct command *by, const struct asked *o,
			  struct declaration *d, struct err *err)
{
	int given = !isnan(d->total_samples) + !isnan(d->total_steps) + !isnan(o->epochs);

	if (given > 1)
		return usage_error(by, err, "give one of --samples, --steps and --epochs, not %d",
				   given);
	if (!isnan(o->epochs))
		d->total_samples = o->epochs * (double)o->dataset_size;
	return 0;
}

static bool mentions(const struct job_command *c, const char *name)
{
	struct strings resume = { 0 };
	bool found = template_mentions(&c->argv, name);

	if (c->resume_args)
		strings_add(&resume, c->resume_args);
	found = found || template_mentions(&resume, name);
	strings_release(&resume);
	return found;
}

/* A sign that a relaunch goes on where the last run was stopped. */
static bool can_resume(const struct job_command *c)
{
	return c->checkpoint_dir || c->resume_args || template_mentions(&c->argv, "checkpoint");
}

/* A plan whose replicas have several devices needs a multiple of them within --replicas. */
static int check_width(const struct declaration *d, const struct execution_plan *plan,
		       struct err *err)
{
	int least = (d->min_replicas + plan->width - 1) / plan->width * plan->width;

	if (d->max_replicas == 0 || least <= d->max_replicas)
		return 0;
	return err_set(err, EX_USAGE, "option '--plan': a replica of plan '%s' has %d devices, and "
		       "--replicas %d:%d allows no multiple of %d", plan->name, plan->width,
		       d->min_replicas, d->max_replicas, plan->width);
}

static int check_plans(const struct declaration *d, struct err *err)
{
	struct execution_plans plans;
	int rc = 0;

	if (execution_plans_parse(d->plans, &plans, err))
		return -1;
	for (int i = 0; rc == 0 && i < plans.count; i++)
		rc = check_width(d, &plans.items[i], err);
	execution_plans_release(&plans);
	return rc || submission_check_promise(d, err) ? -1 : 0;
}

/* Keeps what --plan declares, in the form of execution_plans_parse. */
static int set_plans(const struct command *by, const struct asked *o, struct declaration *d,
		     struct err *err)
{
	struct text all = TEXT_INIT;

	for (size_t i = 0; i < o->plans.count; i++) {
		if (strchr(o->plans.items[i], '\n')) {
			text_release(&all);
			return usage_error(by, err, "option '--plan' has a line feed");
		}
		text_addf(&all, "%s%s", i ? "\n" : "", o->plans.items[i]);
	}
	if (o->plans.count)
		xreplace(&d->plans, all.data);
	text_release(&all);
	return 0;
}

/* A job that keeps its devices to its end is suspended only if that was asked for, too. */
enum suspend_rule submission_suspend_rule(const struct asked *o)
{
	for (int i = 0; o->suspend && i < suspend_names.n; i++)
		if (!strcmp(o->suspend, suspend_names.names[i]))
			return (enum suspend_rule)i;
	return o->no_preempt ? SUSPEND_NEVER : SUSPEND_AUTO;
}

enum configuration_tier submission_worst_tier(const struct asked *o)
{
	for (int t = 0; o->worst_tier && t < worst_tier_names.n; t++)
		if (!strcmp(o->worst_tier, worst_tier_names.names[t]))
			return (enum configuration_tier)t;
	return TIER_UNKNOWN;
}

/* Fills in what no option said, from the command. */
static void set_defaults(const struct asked *o, const struct job_command *c, struct declaration *d)
{
	if (!d->name)
		d->name = xstrdup(submission_default_name(c));
	if (!d->workload)
		d->workload = submission_default_workload(c);
	if (!d->learning_rate_rule)
		d->learning_rate_rule = xstrdup("auto");
	if (!asked_gives(o, "replicas") && (template_mentions(&c->argv, "gpus") ||
					    template_mentions(&c->argv, "replicas")))
		d->max_replicas = 0;
	d->batch.accumulates = d->batch.accumulates || mentions(c, "accum");
	d->passes_steps = d->total_steps > 0 && mentions(c, "steps");
}

/* A job has the helper for PyTorch if that was asked for, or if its program is a Python with torch
 * unless a setting says no. A bad configuration file is for a pass to tell. */
static void set_torch(const struct asked *o, const struct job_command *c, struct declaration *d)
{
	char *parts = d->torch;
	struct config config;
	struct paths paths;
	struct err ignored;

	d->torch = NULL;
	if (o->no_torch)
		d->torch = xstrdup("off");
	else if (parts)
		d->torch = xasprintf("on%s%s", *parts ? "," : "", parts);
	else if (paths_init(&paths, &ignored) == 0) {
		if ((config_load(&config, paths.config, &ignored) || config.torch) &&
		    python_wants_torch_helper(c))
			d->torch = xstrdup("auto");
		paths_release(&paths);
	}
	free(parts);
}

static int check_share(const struct command *by, const struct declaration *d, struct err *err)
{
	if (d->share && d->guarantee)
		return usage_error(by, err, "give one of --guarantee and --share");
	if (d->share && d->plans)
		return usage_error(by, err, "give one of --plan and --share");
	return 0;
}

/* A job shares its device if that was asked for, or if it can and a setting says so. */
static int set_share(const struct command *by, const struct asked *o, struct declaration *d,
		     struct err *err)
{
	bool can = d->min_replicas == 1 && d->max_replicas == 1;
	struct config config;
	struct paths paths;
	struct err ignored;

	if (o->declared.share && o->no_share)
		return usage_error(by, err, "give one of --share and --no-share");
	if (o->declared.share && !can)
		return usage_error(by, err, "--share is for jobs of one device: leave --replicas "
				   "and {gpus} out");
	if (check_share(by, d, err))
		return -1;
	if (d->share || d->plans || d->guarantee || o->no_share || !can ||
	    paths_init(&paths, &ignored))
		return 0;
	d->share = config_load(&config, paths.config, &ignored) == 0 && config.share;
	paths_release(&paths);
	return 0;
}

int submission_job(const struct command *by, const struct asked *o, const struct job_command *c,
		   struct job *job, struct err *err)
{
	struct declaration *d = &job->declared;

	job->state = o->hold ? JOB_HELD : JOB_QUEUED;
	job->reason = xstrdup(o->hold ? "held at submission" : "");
	declaration_copy(d, &o->declared);
	set_defaults(o, c, d);
	if (o->preempt && o->no_preempt)
		return usage_error(by, err, "give one of --preempt and --no-preempt");
	if (o->no_torch && o->declared.torch)
		return usage_error(by, err, "give one of --torch and --no-torch");
	if (d->kind && d->not_kind && !strcmp(d->kind, d->not_kind))
		return usage_error(by, err, "--kind and --not-kind both say '%s': no device is "
				   "left", d->kind);
	set_torch(o, c, d);
	d->preemption = o->no_preempt ? PREEMPT_NEVER
		: o->preempt || can_resume(c) ? PREEMPT_ALWAYS : PREEMPT_SAVED;
	d->suspend = submission_suspend_rule(o);
	d->worst_tier = submission_worst_tier(o);
	d->launch = o->launch ? launch_asked(o) : launch_by_command(c);
	if (set_plans(by, o, d, err) || set_share(by, o, d, err) ||
	    submission_check_declared(by, o, d, err) ||
	    set_total_work(by, o, d, err))
		return -1;
	return check_plans(d, err);
}

/* Derives from the new command what no option set and the old command had determined. */
static void set_defaults_again(const struct asked *o, const struct job_command *was,
			       const struct job_command *c, struct declaration *d)
{
	char *workload = submission_default_workload(was);
	bool other_program = strcmp(was->program, c->program) != 0 &&
			     (!d->torch || !strcmp(d->torch, "auto"));

	if (!o->declared.name && !strcmp(d->name, submission_default_name(was)))
		xreplace(&d->name, submission_default_name(c));
	if (!o->declared.workload && !strcmp(d->workload, workload)) {
		free(d->workload);
		d->workload = submission_default_workload(c);
	}
	free(workload);
	d->batch.accumulates = d->batch.accumulates || mentions(c, "accum");
	if (!o->launch && d->launch == launch_by_command(was))
		d->launch = launch_by_command(c);
	d->passes_steps = d->total_steps > 0 && mentions(c, "steps");
	if (d->preemption == PREEMPT_SAVED && can_resume(c))
		d->preemption = PREEMPT_ALWAYS;
	if (other_program && !o->declared.torch) {
		free(d->torch);
		d->torch = NULL;
	}
	if (o->no_torch || o->declared.torch || other_program)
		set_torch(o, c, d);
	d->first_rank = 0;
	if (!(d->begin_s > clock_wall_s()))
		d->begin_s = (double)NAN;
}

int submission_job_again(const struct command *by, const struct asked *o,
			 const struct other_job *was, const struct job_command *c, struct job *job,
			 struct err *err)
{
	job->state = o->hold ? JOB_HELD : JOB_QUEUED;
	job->reason = xstrdup(o->hold ? "held at submission" : "");
	declaration_copy(&job->declared, &was->job->declared);
	if (o->no_torch && o->declared.torch)
		return usage_error(by, err, "give one of --torch and --no-torch");
	if (amend(by, o, &job->declared, err) || set_plans(by, o, &job->declared, err))
		return -1;
	if (o->declared.share || o->no_share) {
		job->declared.share = o->declared.share;
		if (set_share(by, o, &job->declared, err))
			return -1;
	}
	if (check_share(by, &job->declared, err))
		return -1;
	set_defaults_again(o, was->command, c, &job->declared);
	return check_plans(&job->declared, err);
}
