/* submission.c - makes a job of the options of 'pollux submit'. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/clock.h"
#include "pollux/command.h"
#include "pollux/config.h"
#include "pollux/execution_plan.h"
#include "pollux/mem.h"
#include "pollux/paths.h"
#include "pollux/submission.h"
#include "pollux/template.h"
#include "request.h"

/* --- guarantees --- */

/* --guarantee beside the plans, once these are set, and the settings. A guarantee that can never be
 * kept is refused; one for which others leave no room waits. */
static int check_promise(const struct declaration *d, const struct execution_plans *plans,
			 struct err *err)
{
	const struct execution_plan *plan = NULL;
	struct config config;
	struct guarantee g;

	if (!d->guarantee || guarantee_parse(d->guarantee, &g, err))
		return 0;
	if (g.plan[0])
		plan = execution_plans_find(plans, g.plan);
	else if (plans->count)
		plan = &plans->items[0];
	if (g.plan[0] && !plan)
		return err_set(err, EX_USAGE, "option '--guarantee': no --plan has the name '%s'",
			       g.plan);
	if (plan && g.replicas % plan->width != 0)
		return err_set(err, EX_USAGE, "option '--guarantee': %d devices are no multiple of "
			       "%d, the devices of a replica of plan '%s'", g.replicas,
			       plan->width, plan->name);
	if (!config_load_own(&config))
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

/* --- jobs --- */

/* People call "python -u train.py" by the name "train.py". */
static const char *submission_default_name(const struct job_command *c)
{
	const char *script = script_of_runner(c->argv.items);
	const char *path = script ? script : c->argv.items[0];

	return *path_name(path) ? path_name(path) : path;
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

/* --- keys --- */

char *submission_once_key(const char *directory, char *const *argv, const struct text_list *env,
			  const struct strings *parameters)
{
	struct text t = TEXT_INIT;
	char *key;

	text_add_shell_quoted(&t, directory);
	for (; *argv; argv++) {
		text_add(&t, " ");
		text_add_shell_quoted(&t, *argv);
	}
	for (size_t i = 0; i < env->count; i++) {
		text_add(&t, "\nenv ");
		text_add_shell_quoted(&t, env->items[i]);
	}
	for (size_t i = 0; parameters && i < parameters->count; i++) {
		text_add(&t, "\nparam ");
		text_add_shell_quoted(&t, parameters->items[i]);
	}
	key = xasprintf("once:%016llx", (unsigned long long)text_number(t.data));
	text_release(&t);
	return key;
}

int submission_check_key(const struct command *by, const char *key, struct err *err)
{
	size_t n = strlen(key);

	if (n < 1 || n > KEY_MAX_BYTES)
		return usage_error(by, err, "option '--key' wants from 1 to %d bytes, not %zu",
				   KEY_MAX_BYTES, n);
	return 0;
}

/* --- names --- */

#define NAME_MAX_BYTES 255

int submission_check_name(const struct command *by, const struct asked *o, struct err *err)
{
	size_t n = o->declared.name ? strlen(o->declared.name) : 0;

	if (n > NAME_MAX_BYTES)
		return usage_error(by, err, "option '--name' has %zu bytes, more than %d", n,
				   NAME_MAX_BYTES);
	return 0;
}

int submission_check_declared(const struct command *by, const struct asked *o,
			      const struct declaration *d, struct err *err)
{
	const char *args = o->declared.slurm_args, *own = slurm_args_own(args ? args : "");
	struct guarantee g;

	if (submission_check_name(by, o, err) || submission_check_cpu(d, err))
		return -1;
	if (d->batch.max && (d->batch.size < d->batch.min || d->batch.size > d->batch.max))
		return usage_error(by, err,
				   "option '--batch' %lld is outside --batch-range %lld:%lld",
				   (long long)d->batch.size, (long long)d->batch.min,
				   (long long)d->batch.max);
	if (own)
		return usage_error(by, err, "option '--slurm-args' has --%s, which pollux itself"
				   " gives sbatch", own);
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
static int check_plans(const struct declaration *d, struct err *err)
{
	struct execution_plans plans;
	int rc = 0;

	if (submission_check_cpu(d, err) || execution_plans_parse(d->plans, &plans, err))
		return -1;
	for (int i = 0; rc == 0 && d->max_replicas && i < plans.count; i++) {
		int width = plans.items[i].width;

		if ((d->min_replicas + width - 1) / width * width > d->max_replicas)
			rc = err_set(err, EX_USAGE, "option '--plan': a replica of plan '%s' has "
				     "%d devices, and --replicas %d:%d allows no multiple of %d",
				     plans.items[i].name, width, d->min_replicas, d->max_replicas,
				     width);
	}
	rc = rc ? rc : check_promise(d, &plans, err);
	execution_plans_release(&plans);
	return rc;
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

int name_given(const struct field_names *names, const char *name, int otherwise)
{
	for (int i = 0; name && i < names->n; i++)
		if (!strcmp(name, names->names[i]))
			return i;
	return otherwise;
}

/* A job that keeps its devices to its end is suspended only if that was asked for, too. */
enum suspend_rule submission_suspend_rule(const struct asked *o)
{
	return (enum suspend_rule)name_given(&suspend_names, o->suspend,
					     o->no_preempt ? SUSPEND_NEVER : SUSPEND_AUTO);
}

/* A job has the helper for PyTorch if that was asked for, or by default unless a setting says
 * no. */
static int set_torch(const struct command *by, const struct asked *o, const struct job_command *c,
		     struct declaration *d, struct err *err)
{
	char *parts = d->torch;
	const char *by_default = NULL;
	struct config config;

	if (o->no_torch && o->declared.torch)
		return usage_error(by, err, "give one of --torch and --no-torch");
	d->torch = NULL;
	if (o->no_torch)
		d->torch = xstrdup("off");
	else if (parts)
		d->torch = xasprintf("on%s%s", *parts ? "," : "", parts);
	else if (!config_load_own(&config) || config.torch)
		by_default = python_helper_by_default(c);
	d->torch = by_default ? xstrdup(by_default) : d->torch;
	free(parts);
	return 0;
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

	if (o->declared.share && o->no_share)
		return usage_error(by, err, "give one of --share and --no-share");
	if (o->declared.share && !can)
		return usage_error(by, err, "--share is for jobs of one device: leave %s out",
				   d->max_replicas == 0 ? "--cpu, or -r 0,"
							: "--replicas and {gpus}");
	if (check_share(by, d, err))
		return -1;
	if (!d->share && !d->plans && !d->guarantee && !o->no_share && can)
		d->share = config_load_own(&config) && config.share;
	return 0;
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

int submission_job(const struct command *by, const struct asked *o, const struct job_command *c,
		   struct job *job, struct err *err)
{
	struct declaration *d = &job->declared;

	job->state = o->hold ? JOB_HELD : JOB_QUEUED;
	job->reason = xstrdup(o->hold ? "held at submission" : "");
	declaration_copy(d, &o->declared);
	if (submission_take_cpu(by, o, d, err))
		return -1;
	set_defaults(o, c, d);
	if (o->preempt && o->no_preempt)
		return usage_error(by, err, "give one of --preempt and --no-preempt");
	if (set_torch(by, o, c, d, err))
		return -1;
	if (d->kind && d->not_kind && !strcmp(d->kind, d->not_kind))
		return usage_error(by, err, "--kind and --not-kind both say '%s': no device is "
				   "left", d->kind);
	d->preemption = o->no_preempt ? PREEMPT_NEVER
		: o->preempt || can_resume(c) ? PREEMPT_ALWAYS : PREEMPT_SAVED;
	d->suspend = submission_suspend_rule(o);
	d->worst_tier = (enum configuration_tier)
		name_given(&worst_tier_names, o->worst_tier, TIER_UNKNOWN);
	d->launch = o->launch ? (enum launch_rule)name_given(&launch_names, o->launch, LAUNCH_EACH)
			      : launch_by_command(c);
	if (set_plans(by, o, d, err) || set_share(by, o, d, err) ||
	    submission_check_declared(by, o, d, err) || submission_take_length(by, o, d, err))
		return -1;
	return check_plans(d, err);
}

/* Derives from the new command what no option set and the old command had determined. */
static int set_defaults_again(const struct command *by, const struct asked *o,
			      const struct job_command *was, const struct job_command *c,
			      struct declaration *d, struct err *err)
{
	char *workload = submission_default_workload(was);
	bool other_program = strcmp(was->program, c->program) != 0 &&
			     !(d->torch && (text_starts_with(d->torch, "on") ||
					    !strcmp(d->torch, "off")));

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
	d->first_rank = 0;
	if (!(d->begin_s > clock_wall_s()))
		d->begin_s = (double)NAN;
	if (other_program && !o->declared.torch) {
		free(d->torch);
		d->torch = NULL;
	}
	return o->no_torch || o->declared.torch || other_program ? set_torch(by, o, c, d, err) : 0;
}

int submission_job_again(const struct command *by, const struct asked *o,
			 const struct other_job *was, const struct job_command *c, struct job *job,
			 struct err *err)
{
	job->state = o->hold ? JOB_HELD : JOB_QUEUED;
	job->reason = xstrdup(o->hold ? "held at submission" : "");
	declaration_copy(&job->declared, &was->job->declared);
	if (amend(by, o, &job->declared, err) || set_plans(by, o, &job->declared, err))
		return -1;
	if (o->declared.share || o->no_share) {
		job->declared.share = o->declared.share;
		if (set_share(by, o, &job->declared, err))
			return -1;
	}
	if (check_share(by, &job->declared, err))
		return -1;
	if (set_defaults_again(by, o, was->command, c, &job->declared, err))
		return -1;
	return check_plans(&job->declared, err);
}
