/* cmd_edit.c - pollux edit: changes what was asked of jobs, all of them or none. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "pollux/engine.h"
#include "pollux/store_groups.h"

struct asked_edit {
	struct asked asked;
	struct selection_options which;
	const char *unset;
	int64_t max_running;		/* of groups; 0: not given */
	bool dry_run, yes;
};

static const char *const unsettable[] = {
	"samples", "steps", "gpu-memory", "memory", "after", "begin", "time-limit", "log-limit",
	"stop-nan", "max-running", NULL,
};

#define AT(member) .offset = offsetof(struct asked_edit, member)
static const struct option_spec options[] = {
	{ .name = "declared", .type = OPTION_DECLARED, AT(asked), .uses = FOR_EDIT },
	{ "max-running", 0, OPTION_INT, "N", AT(max_running), 1, SWEEP_RUNS_MAX, .help =
	  "at most so many runs of each group:N at a time" },
	{ "unset", 0, OPTION_CHOICES, "OPTION,...", AT(unset), 0, 0,
	  "take back what was asked by these options", .choices = unsettable },
	SELECT_STATE(offsetof(struct asked_edit, which)),
	{ "dry-run", 0, OPTION_FLAG, NULL, AT(dry_run), 0, 0,
	  "print what would be changed, do nothing" },
	{ "yes", 'y', OPTION_FLAG, NULL, AT(yes), 0, 0,
	  "do not ask where several jobs are meant that were not given by number" },
	{ .name = NULL },
};

/* One edit of all jobs that are meant. */
struct edit {
	const struct asked_edit *o;
	struct dependency_list after;
	bool sets_after;
	struct id_list groups;		/* whose limit changes */
	bool edits_jobs;		/* not only groups */
	struct session s;
	struct strings said;		/* a line for each group and each job */
};

static const char launched_with[] = "its run was launched with another: hold it first";
static const char runs_already[] = "it runs already";

static const struct running_rule {
	const char *option;
	const char *refused;		/* why the job cannot be changed; NULL: it can */
	bool next_pass;			/* a change takes effect at the next pass; else at once */
} running_rules[] = {
	{ "begin", runs_already, false },
	{ "stop-signal", launched_with, false },
	{ "launch", launched_with, false }, { "cpu", launched_with, false },
	{ "batch-range", NULL, true }, { "replicas", NULL, true },
	{ "weight", NULL, true }, { "preempt", NULL, true },
	{ "suspend", NULL, true }, { "gpu-memory", NULL, true }, { "tier", NULL, true },
	{ NULL, NULL, false },
};

static int refuse_change(const struct job *job, const char *what, const char *why, struct err *err)
{
	return err_set(err, EX_FAILED, "job %lld: --%s cannot be changed: %s", (long long)job->id,
		       what, why);
}

static bool unsets(const struct asked_edit *o, const char *option)
{
	const char *p = o->unset;
	size_t n = strlen(option);

	while (p && (strncmp(p, option, n) != 0 || (p[n] && p[n] != ',')))
		p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL;
	return p;
}

/* Adds what changes, and when, if the job runs. */
static int add_changes(const struct job *job, const struct declaration *is, struct text *t,
		       struct err *err)
{
	bool running = job->state == JOB_RUNNING;

	for (int row = -1; amend_next(&job->declared, is, &row);) {
		const struct running_rule *rule = running_rules;

		while (rule->option && strcmp(rule->option, declared_fields[row].option.name) != 0)
			rule++;
		if (running && rule->refused)
			return refuse_change(job, rule->option, rule->refused, err);
		text_add(t, t->length ? "; " : "");
		amend_add_change(t, row, &job->declared, is);
		if (running)
			text_add(t, rule->next_pass ? ", at the next pass" : ", at once");
	}
	return 0;
}

static int change_dependencies(struct edit *e, const struct job *job, struct text *t,
			       struct err *err)
{
	if (!e->sets_after)
		return 0;
	if (job->state == JOB_RUNNING)
		return refuse_change(job, "after", runs_already, err);
	text_addf(t, "%safter ", t->length ? "; " : "");
	for (int i = 0; i < e->after.count; i++) {
		const struct dependency *d = &e->after.items[i];
		bool group = d->after_group_id, is_ok = d->rule == AFTER_OK;

		text_addf(t, "%s%s%s%s%lld", i ? "," : "", is_ok ? "" : after_rule_names[d->rule],
			  is_ok ? "" : ":", group ? "group:" : "",
			  (long long)(group ? d->after_group_id : d->after_id));
	}
	if (e->after.count == 0)
		text_add(t, "none");
	return store_job_set_dependencies(&e->s.store, job->id, &e->after, err);
}

/* Writes the changes. The reason that the last pass gave may name the old time of --begin, and is
 * taken back; but that of a job which waits for other jobs stays. */
static int record(struct edit *e, const struct job *job, double was_begin_s,
		  const struct text *changes, struct err *err)
{
	double begin_s = job->declared.begin_s;
	bool begin_changes = isnan(was_begin_s) != isnan(begin_s) ||
			     fabs(was_begin_s - begin_s) > 0;
	bool waits_for_other_jobs = *job->reason && isnan(job->next_start_s);

	strings_addf(&e->said, "job %lld: %s", (long long)job->id,
		     changes->length ? changes->data : "nothing changes");
	if (!changes->length)
		return 0;
	if (store_job_set_declared(&e->s.store, job, err))
		return -1;
	if (begin_changes && job->state == JOB_QUEUED && !waits_for_other_jobs &&
	    store_job_set_reason(&e->s.store, job->id, isnan(begin_s)
				 ? "may begin: waits for the next pass" : "", (double)NAN, err))
		return -1;
	return store_event_add(&e->s.store, job->id, 0, "edit", changes->data, err);
}

static int amend_job(struct edit *e, struct job *job, struct err *err)
{
	const struct asked_edit *o = e->o;
	struct declaration unknown, is, was = job->declared;
	struct text changes = TEXT_INIT;
	int rc;

	if (asked_gives(&o->asked, "batch-range") && !was.batch.size)
		return refuse_change(job, "batch-range", "it was submitted without --batch", err);
	declaration_copy(&is, &was);
	declaration_init(&unknown);
	if (unsets(o, "samples"))
		is.total_samples = unknown.total_samples;
	if (unsets(o, "steps"))
		is.total_steps = unknown.total_steps;
	if (unsets(o, "gpu-memory"))
		is.gpu_memory_bytes = unknown.gpu_memory_bytes;
	if (unsets(o, "memory"))
		is.memory_limit_bytes = unknown.memory_limit_bytes;
	if (unsets(o, "begin"))
		is.begin_s = unknown.begin_s;
	if (unsets(o, "time-limit"))
		is.time_limit_s = unknown.time_limit_s;
	if (unsets(o, "stop-nan"))
		is.stop_nan = unknown.stop_nan;
	if (unsets(o, "log-limit"))
		is.log_limit_bytes = unknown.log_limit_bytes;
	rc = amend(&cmd_edit, &o->asked, &is, err);
	if (rc == 0 && o->asked.declared.name) {
		free(is.name);
		is.name = braces_put_job(o->asked.declared.name, job->id);
	}
	rc = rc || add_changes(job, &is, &changes, err) ||
	     change_dependencies(e, job, &changes, err) ? -1 : 0;
	job->declared = is;
	if (rc == 0)
		rc = record(e, job, was.begin_s, &changes, err);
	declaration_release(&was);
	text_release(&changes);
	return rc;
}

static int check_and_amend(struct edit *e, struct job *job, struct err *err)
{
	uint64_t given = e->o->asked.given;	/* a bit for each option */
	bool grace_alone = asked_gives(&e->o->asked, "grace") && !(given & (given - 1));
	enum stop_reason pending;

	if (refuse_odd(job, ", which cannot be edited", "cannot be edited", err))
		return -1;
	if (job_has_ended(job->state))
		return err_set(err, EX_FAILED, "job %lld has ended already: %s; 'pollux again "
			       "%lld' submits another like it", (long long)job->id,
			       job_state_name(job->state), (long long)job->id);
	if (pending_stop(&e->s, job->id, &pending, err))
		return -1;
	if (stop_is_for_good(pending) && !grace_alone)
		return err_set(err, EX_FAILED, "job %lld is being stopped for good: %s; only its "
			       "--grace can be changed", (long long)job->id,
			       stop_reason_words(pending));
	return amend_job(e, job, err);
}

static int edit_group(struct edit *e, int64_t id, struct err *err)
{
	int is = (int)e->o->max_running;
	char limits[2][24] = { "none", "none" };
	struct job_group group;
	int rc = store_group_get(&e->s.store, id, &group, err) ||
		 store_group_set_max_running(&e->s.store, id, is, err) ? -1 : 0;

	if (group.max_running > 0)
		snprintf(limits[0], sizeof(limits[0]), "%d", group.max_running);
	if (is > 0)
		snprintf(limits[1], sizeof(limits[1]), "%d", is);
	if (rc == 0 && group.max_running == is)
		strings_addf(&e->said, "group %lld: nothing changes", (long long)id);
	else if (rc == 0)
		strings_addf(&e->said, "group %lld: max running %s -> %s, at the next pass",
			     (long long)id, limits[0], limits[1]);
	job_group_release(&group);
	return rc;
}

static int edit_all(struct edit *e, const struct id_list *ids, struct err *err)
{
	struct engine_context at = { .paths = &e->s.paths, .store = &e->s.store };
	struct run_list runs;
	struct err ignored;
	int rc = store_begin(&e->s.store, err);

	if (rc)
		return rc;
	for (int i = 0; rc == 0 && i < e->groups.count; i++)
		rc = edit_group(e, e->groups.items[i], err);
	for (int i = 0; rc == 0 && e->edits_jobs && i < ids->count; i++) {
		struct job job;

		rc = store_job_get(&e->s.store, ids->items[i], &job, err);
		if (rc)
			break;
		rc = check_and_amend(e, &job, err);
		job_release(&job);
	}
	if (rc == 0 && !e->o->dry_run)
		rc = store_commit(&e->s.store, err);
	else
		store_rollback(&e->s.store);
	if (rc && ids->count > 1)
		err_prefix(err, "no job was changed");
	if (rc || e->o->dry_run || store_runs_active(&e->s.store, &runs, &ignored))
		return rc;
	/* Supervisors read what is declared of their jobs when they are woken. */
	for (int i = 0; i < runs.count; i++)
		for (int k = 0; k < ids->count; k++)
			if (runs.items[i].job_id == ids->items[k])
				engine_wake(&at, &runs.items[i]);
	run_list_release(&runs);
	return 0;
}

static int check_options(struct edit *e, const struct selecting *what, struct err *err)
{
	const struct asked_edit *o = e->o;
	bool unsets_limit = unsets(o, "max-running");

	if (!o->asked.given && !o->unset && !o->max_running)
		return usage_error(&cmd_edit, err, "what is to be changed? give an option");
	if (!selection_is_given(what))
		return usage_error(&cmd_edit, err, "which job? give its number");
	for (int i = 0; unsettable[i]; i++)
		if (unsets(o, unsettable[i]) && asked_gives(&o->asked, unsettable[i]))
			return usage_error(&cmd_edit, err, "give one of --%s and --unset %s",
					   unsettable[i], unsettable[i]);
	if (o->max_running && unsets_limit)
		return usage_error(&cmd_edit, err,
				   "give one of --max-running and --unset max-running");
	if (selection_check(what, err))
		return -1;
	e->sets_after = o->asked.after.count > 0 || unsets(o, "after");
	e->edits_jobs = o->asked.given || (o->unset && strcmp(o->unset, "max-running") != 0);
	/* A limit belongs to a group as a whole, not to some of its jobs. */
	if ((o->max_running > 0 || unsets_limit) && !selection_is_of_groups(what, &e->groups))
		return usage_error(&cmd_edit, err, "--max-running is of a group: give group:N");
	return 0;
}

static int main_edit(int argc, char **argv, struct err *err)
{
	struct asked_edit o = { .which = SELECTION_INIT };
	struct selecting what = { .command = &cmd_edit, .options = &o.which };
	struct edit e = { .o = &o };
	struct id_list ids;
	int rc;

	asked_init(&o.asked);
	rc = selecting_parse(&what, argc, argv, &o, err) || check_options(&e, &what, err) ||
	     submit_after(&cmd_edit, &o.asked, &e.after, err) ||
	     session_open(&e.s, STORE_WRITE, err) ? -1 : 0;
	if (rc == 0) {
		rc = selection_read(&what, &e.s.store, &ids, err);
		if (rc == 0 && e.edits_jobs && !o.yes && !o.dry_run)
			rc = selection_agree(&what, &e.s.store, &ids, err);
		rc = rc ? rc : edit_all(&e, &ids, err);
		for (size_t i = 0; rc == 0 && i < e.said.count; i++)
			output_sayf(stdout, "%s", e.said.items[i]);
		id_list_release(&ids);
		session_close(&e.s);
		if (rc == 0 && !o.dry_run)
			submit_pass_run(true);
	}
	dependency_list_release(&e.after);
	id_list_release(&e.groups);
	strings_release(&e.said);
	options_release(&cmd_edit, &o);
	return rc;
}

static const char *const headings[] = {
	"name", "what it is",
	"replicas", "devices",
	"samples", "how long it is, and who goes first",
	"time-limit", "limits and failures",
	"preempt", "turns with other jobs",
	"log-limit", "its log",
	"max-running", "sweeps",
	"unset", "which jobs, and how",
	NULL,
};

const struct command cmd_edit = {
	.name = "edit", .synopsis = "[OPTION]... [--dry-run] [--yes] [--state STATE,...] [JOB...]",
	.summary = "change what was asked of jobs that have not ended",
	.example = "pollux edit 7 --weight 4 --time-limit 12h\n"
		   "pollux edit 15-20 --begin 22:00 --dry-run",
	.common = "name replicas weight after begin time-limit retries max-running unset state "
		  "dry-run yes",
	.headings = headings,
	.options = options, .takes_jobs = true, .job_use = USE_EDIT, .run = main_edit,
};
