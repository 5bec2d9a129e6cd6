/* job.c - names of states and outcomes, and what follows from them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/clock.h"
#include "pollux/execution_plan.h"
#include "pollux/job.h"
#include "pollux/mem.h"
#include "pollux/store_runs.h"
#include "pollux/text.h"

static const char *const job_states[N_JOB_STATES] = {
	[JOB_QUEUED] = "queued", [JOB_HELD] = "held", [JOB_RUNNING] = "running",
	[JOB_DONE] = "done", [JOB_FAILED] = "failed", [JOB_CANCELLED] = "cancelled",
	[JOB_TIMEOUT] = "timeout",
};

static const char *const run_states[N_RUN_STATES] = {
	[RUN_ASSIGNED] = "assigned", [RUN_RUNNING] = "running", [RUN_STOPPING] = "stopping",
	[RUN_ENDED] = "ended",
};

static const char *const stop_reasons[N_STOP_REASONS] = {
	[STOP_NONE] = "none", [STOP_PREEMPT] = "preempt", [STOP_REQUEUE] = "requeue",
	[STOP_HOLD] = "hold", [STOP_CANCEL] = "cancel", [STOP_TIME_LIMIT] = "time-limit",
	[STOP_ORPHAN] = "orphan", [STOP_SHUTDOWN] = "shutdown",
	[STOP_MEASURED] = "measured", [STOP_RUNG] = "rung",
	[STOP_DIVERGED] = "diverged", [STOP_SUSPENSION] = "suspension",
};

static const char *const outcomes[N_RUN_OUTCOMES] = {
	[OUTCOME_NONE] = "none", [OUTCOME_COMPLETED] = "completed", [OUTCOME_FAILED] = "failed",
	[OUTCOME_STOPPED] = "stopped", [OUTCOME_LOST] = "lost",
	[OUTCOME_NOT_STARTED] = "not-started",
};

static const char *const suspensions[N_SUSPENSIONS] = {
	[SUSPENSION_CANNOT] = "cannot", [SUSPENSION_NONE] = "none", [SUSPENSION_ASKED] = "asked",
	[SUSPENSION_DONE] = "suspended", [SUSPENSION_RESUMING] = "resuming",
};

const struct field_names job_state_names = { job_states, N_JOB_STATES, JOB_FAILED };
const struct field_names run_state_names = { run_states, N_RUN_STATES, 0 };
const struct field_names stop_names = { stop_reasons, N_STOP_REASONS, STOP_NONE };
const struct field_names run_outcome_names = { outcomes, N_RUN_OUTCOMES, OUTCOME_NONE };
const struct field_names suspension_names = { suspensions, N_SUSPENSIONS, SUSPENSION_CANNOT };

const char *job_state_name(enum job_state state)
{
	return job_states[state];
}

enum job_state job_state_told(const struct job *job)
{
	return job->held ? JOB_HELD : job->state;
}

const char *job_state_clause(enum job_state state, bool set_aside)
{
	static const char *const clauses[N_JOB_STATES] = {
		[JOB_QUEUED] = "is queued", [JOB_HELD] = "is held", [JOB_RUNNING] = "is running",
		[JOB_DONE] = "is done", [JOB_FAILED] = "has failed",
		[JOB_CANCELLED] = "was cancelled", [JOB_TIMEOUT] = "has run out of time",
	};

	if (set_aside && state == JOB_RUNNING)
		return "is suspended";
	return set_aside && state == JOB_QUEUED ? "is paused at a rung" : clauses[state];
}

const char *run_state_name(enum run_state state)
{
	return run_states[state];
}

const char *stop_reason_name(enum stop_reason reason)
{
	return stop_reasons[reason];
}

const char *stop_reason_words(enum stop_reason reason)
{
	static const char *const words[N_STOP_REASONS] = {
		[STOP_NONE] = "stopped", [STOP_PREEMPT] = "preempted", [STOP_REQUEUE] = "requeued",
		[STOP_HOLD] = "held", [STOP_CANCEL] = "cancelled", [STOP_TIME_LIMIT] = "time limit",
		[STOP_ORPHAN] = "lost its supervisor", [STOP_SHUTDOWN] = "shut down",
		[STOP_MEASURED] = "measured", [STOP_RUNG] = "paused at a rung",
		[STOP_DIVERGED] = "diverged",
		[STOP_SUSPENSION] = "ended after a suspension",
	};

	return words[reason];
}

const char *run_outcome_name(enum run_outcome outcome)
{
	return outcomes[outcome];
}

static int value_of(const struct field_names *list, const char *name)
{
	for (int i = 0; name && i < list->n; i++)
		if (!strcmp(list->names[i], name))
			return i;
	return -1;
}

int job_state_parse(const char *name)
{
	return value_of(&job_state_names, name);
}

int stop_reason_parse(const char *name)
{
	return value_of(&stop_names, name);
}

int run_outcome_parse(const char *name)
{
	return value_of(&run_outcome_names, name);
}

bool job_has_ended(enum job_state state)
{
	return state >= JOB_DONE;
}

bool job_is_paused(const struct job *job)
{
	return job->state == JOB_QUEUED && job->rung > job->passed_rungs;
}

bool progress_loss(const struct progress *p, double *loss)
{
	*loss = p->loss;
	return p->loss_is_nan || !isnan(p->loss);
}

/* Exit status 0 after our own stop does not make a job done (some programs save and leave with 0):
 * such a run is OUTCOME_STOPPED. Where the program told that its work was done, the run is
 * OUTCOME_COMPLETED, and its job is done, whatever the stop was for. */
enum job_state job_state_after(enum run_outcome outcome, enum stop_reason reason, bool retries_left)
{
	static const enum job_state after_stop[N_STOP_REASONS] = {
		[STOP_NONE] = JOB_QUEUED, [STOP_PREEMPT] = JOB_QUEUED, [STOP_REQUEUE] = JOB_QUEUED,
		[STOP_HOLD] = JOB_HELD, [STOP_CANCEL] = JOB_CANCELLED,
		[STOP_TIME_LIMIT] = JOB_TIMEOUT, [STOP_ORPHAN] = JOB_QUEUED,
		[STOP_SHUTDOWN] = JOB_QUEUED, [STOP_MEASURED] = JOB_QUEUED,
		[STOP_RUNG] = JOB_QUEUED, [STOP_DIVERGED] = JOB_FAILED,
		[STOP_SUSPENSION] = JOB_QUEUED,
	};

	if (outcome == OUTCOME_COMPLETED)
		return JOB_DONE;
	if (outcome == OUTCOME_FAILED && reason == STOP_NONE)
		return retries_left ? JOB_QUEUED : JOB_FAILED;
	return after_stop[reason];
}

/* path: of n bytes. */
static bool is_installed(const char *path, size_t n, const char *name)
{
	static const char *const directories[] = { "bin/", "shims/" };
	size_t n_name = strlen(name);

	if (n <= n_name || memcmp(path + n - n_name, name, n_name) != 0)
		return false;
	n -= n_name;
	for (size_t i = 0; i < sizeof(directories) / sizeof(*directories); i++) {
		size_t end = strlen(directories[i]);

		if (n > end && memcmp(path + n - end, directories[i], end) == 0)
			return true;
	}
	return false;
}

int64_t job_family(const char *workload, const char *name, const char *directory)
{
	bool quoted = *workload == '\'';
	const char *path = workload + quoted;
	size_t n = strcspn(path, quoted ? "'" : " ");
	char *place;
	int64_t family;

	if (*path != '/' || is_installed(path, n, name))
		return 0;
	place = xasprintf("%s/%s", directory, name);
	family = text_number(place);
	free(place);
	return family;
}

static struct total_facts total_facts_of(const struct job *job)
{
	const struct progress *p = &job->progress;
	const struct batch_range *batch = &job->declared.batch;

	return (struct total_facts){
		.reported = {
			p->reported_total_samples, p->reported_total_steps, p->total_epochs,
		},
		.printed_steps = p->printed_total_steps,
		.position = { p->samples, p->steps, p->epoch },
		.batch_size = (double)(batch->max > batch->size ? batch->max : batch->size),
	};
}

struct training_total job_total(const struct job *job)
{
	const struct declaration *d = &job->declared;
	struct total_facts facts = total_facts_of(job);

	if (job->profile) {	/* a profile ends with its budget, not with its work */
		facts = (struct total_facts){ .printed_steps = (double)NAN };
	} else {
		facts.declared.samples = d->passes_steps
			? d->total_steps * (double)d->batch.size : d->total_samples;
		facts.declared.steps = d->total_steps;
	}
	return training_total_of(&facts);
}

double job_total_samples(const struct job *job)
{
	return job_total(job).amount.samples;
}

double job_total_steps(const struct job *job)
{
	return job_total(job).amount.steps;
}

static enum lr_rule declared_rule(const struct job *job)
{
	const char *word = job->declared.learning_rate_rule;
	enum lr_rule rule;

	return word && lr_rule_parse(&rule, word) ? rule : LR_AUTO;
}

enum lr_rule job_lr_rule(const struct job *job)
{
	return lr_rule_for(declared_rule(job), optimizer_family_of(job->progress.optimizer));
}

double job_lr_gain(const struct job *job, double scale)
{
	if (declared_rule(job) != LR_AUTO)
		return NAN;
	return job_lr_rule(job) == LR_SQRT_GAIN ? scale * scale : scale;
}

/* What growth.h asks of a job. */
static struct growth_facts growth_facts_of(const struct job *job)
{
	const struct declaration *d = &job->declared;
	const struct progress *p = &job->progress;
	struct total_facts facts = total_facts_of(job);
	struct training_amount total = training_total_of(&facts).amount;

	return (struct growth_facts){
		/* a profile ends with its budget */
		.reported = job->profile ? END_TIME : p->end, .passes_steps = d->passes_steps,
		.declared_samples = d->total_samples, .declared_steps = d->total_steps,
		.total_samples = total.samples, .total_epochs = total.epochs,
		.total_steps = total.steps,
		.epoch = p->epoch, .optimizer = optimizer_family_of(p->optimizer),
		.rule_is_given = declared_rule(job) != LR_AUTO,
		.has_batch = d->batch.size > 0,
	};
}

bool job_keeps_replicas(const struct job *job)
{
	struct growth_facts facts = growth_facts_of(job);

	return growth_keeps_replicas(&facts);
}

enum growth_veto job_growth_veto(const struct job *job)
{
	struct growth_facts facts = growth_facts_of(job);

	return growth_veto(&facts);
}

bool job_has_saved(const struct job *job, const struct run *run)
{
	return isfinite(job->progress.checkpoint_samples) ||
	       (run && isfinite(run->checkpoint_boot_s));
}

bool job_may_be_preempted(const struct job *job, const struct run *run)
{
	bool saved = job_has_saved(job, run);
	bool resumes = job->progress.resumes;

	if (job->progress.saved_nothing)
		return false;
	if (job->declared.preemption == PREEMPT_SAVED && resumes)
		return saved || job->progress.saves_when_asked == 1;
	if (job->declared.preemption == PREEMPT_SAVED)
		return saved && !declaration_has_torch_helper(&job->declared);
	return job->declared.preemption == PREEMPT_ALWAYS;
}

/* Copies a job that is made only once, because lists have thousands of jobs. */
void job_init(struct job *job)
{
	static struct job unknown;

	if (!unknown.declared.min_replicas) {
		declaration_init(&unknown.declared);
		row_init(&jobs_table, &unknown);
	}
	*job = unknown;
}

void job_release(struct job *job)
{
	free(job->reason);
	free(job->key);
	strings_release(&job->parameters);
	declaration_release(&job->declared);
	free(job->progress.status_text);
	job_init(job);
}

void job_command_release(struct job_command *c)
{
	row_release(&commands_table, c);
	strings_release(&c->env);
	*c = (struct job_command){ 0 };
}

void run_init(struct run *run)
{
	*run = (struct run){
		.configuration.nodes = 1, .wanted.nodes = 1, .wanted.accumulation_steps = 1,
		.learning_rate_scale = 1, .stands_at_samples = NAN,
	};
	row_init(&runs_table, run);
}

char *job_knowledge_name(const struct job *job, const struct run *run)
{
	return execution_plan_workload_of(job->declared.workload, job->declared.plans,
					  run ? run->configuration.plan : job->progress.plan);
}

void run_make_devices(struct run *run)
{
	int n = run->configuration.replicas;

	free(run->devices);
	run->devices = xcalloc(n > 0 ? (size_t)n : 1, sizeof(*run->devices));
	if (n == 0)
		snprintf(run->devices[0].id, sizeof(run->devices[0].id), "%s:",
			 device_cpu.name);
}

double run_mean_power_w(const struct run *run)
{
	return run->duration_s > 0 ? run->energy_j / run->duration_s : (double)NAN;
}

int run_held(const struct run *run)
{
	bool suspended = run->state != RUN_ENDED && run->suspension == SUSPENSION_DONE;

	return suspended ? 0 : run->configuration.replicas;
}

double run_clock_s(const struct run *run, double boot_s)
{
	/* The comparison is false for NaN. */
	double at_s = boot_s > run->suspended_boot_s ? run->suspended_boot_s : boot_s;

	return at_s - run->suspended_s;
}

bool run_is_of_this_boot(const struct run *run)
{
	return run->boot_id && !strcmp(run->boot_id, clock_boot_id());
}

void run_take_boot(struct run *run, double now_time_s, double now_boot_s)
{
	/* from the clock of the other boot to that of this one */
	double shift_s = run->assigned_time_s - run->assigned_boot_s - (now_time_s - now_boot_s);

	if (run_is_of_this_boot(run) || !isfinite(shift_s))
		return;
	run->assigned_boot_s += shift_s;
	run->launch_boot_s += shift_s;
	run->checkpoint_boot_s += shift_s;
	run->wanted_boot_s += shift_s;
	run->stop_boot_s += shift_s;
}

void run_release(struct run *run)
{
	row_release(&runs_table, run);
	free(run->devices);
	run_init(run);
}

const char *job_parameter(const struct job *job, const char *name)
{
	return strings_variable(&job->parameters, name);
}

const char *job_typed_learning_rate(const struct job *job)
{
	const char *typed = job_parameter(job, "lr");
	double rate, now = job->declared.learning_rate;

	if (!typed || number_parse(typed, &rate))
		return NULL;
	return fabs(rate - now) <= 1e-12 * now ? typed : NULL;
}

/* --- the nodes of a run --- */

#define NAMED 3

/* True if an earlier device of the run is on the same node. Devices of a node mostly stand
 * together. */
static bool is_on_earlier_node(const struct run *run, int device)
{
	for (int i = device - 1; i >= 0; i--)
		if (!strcmp(run->devices[i].node, run->devices[device].node))
			return true;
	return false;
}

bool run_is_elsewhere(const struct run *run)
{
	return run->devices && run->configuration.replicas > 0 && run->devices[0].node[0];
}

int run_n_nodes(const struct run *run)
{
	int n = 0;

	for (int i = 0; run->devices && i < run->configuration.replicas; i++)
		n += !is_on_earlier_node(run, i);
	return n > 0 ? n : 1;
}

void run_node_names(const struct run *run, struct strings *names)
{
	for (int i = 0; run->devices && i < run->configuration.replicas; i++)
		if (!is_on_earlier_node(run, i))
			strings_add(names, run->devices[i].node);
}

void run_add_nodes(const struct run *run, struct text *out)
{
	struct strings names = { 0 };
	size_t n;

	if (!run_is_elsewhere(run))
		return;
	run_node_names(run, &names);
	n = names.count > NAMED ? NAMED - 1 : names.count;
	for (size_t i = 0; i < n; i++)
		text_addf(out, "%s%s", !i ? "" : i + 1 == names.count ? " and " : ", ",
			  names.items[i]);
	if (n < names.count)
		text_addf(out, " and %zu more", names.count - n);
	strings_release(&names);
}
