/* store_columns.c - the columns of a configuration, and of the tables jobs, commands and runs. */
#include <math.h>
#include <stdlib.h>

#include "columns.h"
#include "pollux/declaration.h"
#include "pollux/job.h"

/* The batch size comes last: it is computed from the other columns, or read after them. */
#define ROW struct configuration
static const struct store_column of_configuration[] = {
	CHARS("device_kind", kind, OBSERVED),
	C("nodes", INT, nodes, KNOWN, OBSERVED),
	C("replicas", INT, replicas, KNOWN, OF_RUN | OBSERVED | TRIED | INHERITED),
	C("local_batch_size", INT64, local_batch_size, ZERO,
	  OF_RUN | RUN_WANTED | OBSERVED | TRIED),
	C("accumulation_steps", INT, accumulation_steps, KNOWN,
	  OF_RUN | RUN_WANTED | OBSERVED | GRADIENT | INHERITED),
	C("share", INT, share, KNOWN, OF_RUN | INHERITED),
	CHARS("plan", plan, OF_RUN | INHERITED),
	C("width", INT, width, ZERO, OF_RUN | INHERITED),
	NAMES("tier", tier, ZERO, configuration_tier_names,
	  OF_RUN | INHERITED | OF_TIER | SUSPENSION),
	{ { "batch_size", FIELD_BATCH_SIZE, 0, ZERO, NULL, 0 }, OF_RUN | RUN_WANTED | GRADIENT },
};
#undef ROW

#define ROW struct job
static const struct store_column of_job[] = {
	C("id", INT64, id, KNOWN, GIVEN | SHOWN),
	C("profile", BOOL, profile, KNOWN, SHOWN),
	C("interactive", BOOL, interactive, KNOWN, SHOWN),
	C("held", BOOL, held, KNOWN, 0),
	NAMES("state", state, KNOWN, job_state_names, 0),
	C("reason", TEXT, reason, KNOWN, SHOWN),
	C("next_start_time_s", DOUBLE, next_start_s, UNKNOWN, 0),
	C("submit_time_s", DOUBLE, submit_time_s, UNKNOWN, SHOWN),
	C("start_time_s", DOUBLE, start_time_s, UNKNOWN, SHOWN | ASIDE),
	C("end_time_s", DOUBLE, end_time_s, UNKNOWN, SHOWN | ASIDE),
	C("tier_wait_since_s", DOUBLE, tier_wait_since_s, UNKNOWN, 0),
	C("waiting_for_tier_until", DOUBLE, tier_wait_until_s, UNKNOWN, SHOWN),
	C("forgiven_runs", INT, forgiven_runs, KNOWN, ASIDE),
	C("cancelled_for", INT64, cancelled_for, ZERO, SHOWN | ASIDE),
	C("group_id", INT64, group_id, ZERO, SHOWN),
	C("group_index", INT, group_index, NEGATIVE, SHOWN | ASIDE),
	C("parameters", STRINGS, parameters, ZERO, ASIDE),
	C("key", TEXT, key, ZERO, SHOWN | ASIDE),
	C("rung", INT, rung, KNOWN, SHOWN),
	C("passed_rungs", INT, passed_rungs, KNOWN, 0),
};
#undef ROW

#define ROW struct progress
static const struct store_column of_progress[] = {
	C("samples", DOUBLE, samples, UNKNOWN, SHOWN),
	C("steps", DOUBLE, steps, UNKNOWN, SHOWN),
	C("position_is_least", BOOL, position_is_least, KNOWN, SHOWN | ASIDE),
	C("printed_total_steps", DOUBLE, printed_total_steps, UNKNOWN, SHOWN),
	C("reported_total_samples", DOUBLE, reported_total_samples, UNKNOWN, SHOWN),
	C("reported_total_steps", DOUBLE, reported_total_steps, UNKNOWN, SHOWN),
	C("total_epochs", DOUBLE, total_epochs, UNKNOWN, SHOWN),
	NAMES("ends_by", end, ZERO, training_end_names, SHOWN),
	CHARS("optimizer", optimizer, SHOWN),
	C("resumes", BOOL, resumes, KNOWN, SHOWN),
	C("saves_when_asked", INT, saves_when_asked, NEGATIVE, SHOWN),
	C("saved_nothing", BOOL, saved_nothing, KNOWN, SHOWN),
	C("epoch", DOUBLE, epoch, UNKNOWN, SHOWN),
	C("loss", DOUBLE, loss, UNKNOWN, ASIDE),
	C("loss_is_nan", BOOL, loss_is_nan, KNOWN, ASIDE),
	C("status_text", TEXT, status_text, KNOWN, SHOWN | ASIDE),
	C("checkpoint_samples", DOUBLE, checkpoint_samples, UNKNOWN, SHOWN),
	C("lost_samples", DOUBLE, lost_samples, KNOWN, SHOWN | ASIDE),
	C("lost_s", DOUBLE, lost_s, KNOWN, SHOWN | ASIDE),
	C("run_time_s", DOUBLE, run_time_s, KNOWN, 0),
	C("attained_service_device_s", DOUBLE, attained_service_device_s, KNOWN, 0),
	C("runs", INT, runs, KNOWN, SHOWN),
	C("launches", INT, launches, KNOWN, 0),
	C("preemptions", INT, preemptions, KNOWN, SHOWN | ASIDE),
	C("failures", INT, failures, KNOWN, SHOWN),
	C("exit_code", INT, exit_code, NEGATIVE, SHOWN | ASIDE),
	C("term_signal", INT, term_signal, NEGATIVE, SHOWN | ASIDE),
	C("last_end_time_s", DOUBLE, last_end_time_s, UNKNOWN, 0),
	CHARS("plan", plan, SHOWN),
	C("position_doubt", INT, position_doubt, KNOWN, 0),
};
#undef ROW

#define ROW struct job_command
static const struct store_column of_command[] = {
	C("job_id", INT64, job_id, KNOWN, 0),
	C("program", TEXT, program, KNOWN, BLOB | SHOWN),
	C("argv", STRINGS, argv, KNOWN, 0),
	C("directory", TEXT, directory, KNOWN, BLOB | SHOWN),
	C("checkpoint_dir", TEXT, checkpoint_dir, ZERO, BLOB),
	C("checkpoint_glob", TEXT, checkpoint_glob, ZERO, BLOB | SHOWN),
	C("resume_args", TEXT, resume_args, ZERO, BLOB | SHOWN),
	C("step_regex", TEXT, step_regex, ZERO, BLOB | SHOWN),
	C("metric_regexes", STRINGS, metric_regexes, KNOWN, 0),
	C("git_commit", TEXT, git_commit, ZERO, SHOWN),
	C("git_dirty", BOOL, git_dirty, KNOWN, 0),
	C("git_tree", TEXT, git_tree, ZERO, SHOWN),
	C("repository", TEXT, repository, ZERO, BLOB | SHOWN),
	CHARS("first_commit", first_code.commit, SHOWN),
	CHARS("first_tree", first_code.tree, SHOWN),
	C("snapshot_dir", TEXT, snapshot_dir, ZERO, BLOB | SHOWN),
	C("limits", TEXT, limits, ZERO, 0),
	C("environment_id", INT64, environment_id, ZERO, 0),
	C("env_templates", STRINGS, env_templates, ZERO, 0),
	C("name_template", TEXT, name_template, ZERO, 0),
	C("checkpoint_template", TEXT, checkpoint_template, ZERO, BLOB),
};
#undef ROW

#define ROW struct run
static const struct store_column of_run[] = {
	C("id", INT64, id, KNOWN, GIVEN | SHOWN),
	C("job_id", INT64, job_id, KNOWN, 0),
	C("number", INT, number, KNOWN, SHOWN),
	NAMES("state", state, KNOWN, run_state_names, SHOWN | END | STOP),
	C("learning_rate_scale", DOUBLE, learning_rate_scale, KNOWN, SHOWN | REPORT),
	C("takes_configs", BOOL, takes_configs, KNOWN, SHOWN | REPORT),
	C("config_version", INT, config_version, KNOWN, SHOWN | REPORT),
	C("wanted_version", INT, wanted_version, KNOWN, WANTED),
	C("wanted_learning_rate_scale", DOUBLE, wanted_learning_rate_scale, UNKNOWN,
	  WANTED | CHANGE),
	C("wanted_boot_s", DOUBLE, wanted_boot_s, UNKNOWN, WANTED | CHANGE),
	C("assigned_time_s", DOUBLE, assigned_time_s, UNKNOWN, SHOWN),
	C("launch_time_s", DOUBLE, launch_time_s, UNKNOWN, SHOWN),
	C("end_time_s", DOUBLE, end_time_s, UNKNOWN, SHOWN | END),
	C("assigned_boot_s", DOUBLE, assigned_boot_s, UNKNOWN, 0),
	C("launch_boot_s", DOUBLE, launch_boot_s, UNKNOWN, 0),
	C("end_boot_s", DOUBLE, end_boot_s, UNKNOWN, END),
	C("boot_id", TEXT, boot_id, KNOWN, 0),
	C("duration_s", DOUBLE, duration_s, KNOWN, REPORT | END),
	C("handle", TEXT, handle, KNOWN, BLOB),
	NAMES("stop_reason", stop_reason, ZERO, stop_names, SHOWN | END | STOP | NOT_NULL),
	C("stop_boot_s", DOUBLE, stop_boot_s, UNKNOWN, 0),
	NAMES("outcome", outcome, ZERO, run_outcome_names, SHOWN | END),
	C("exit_code", INT, exit_code, NEGATIVE, SHOWN | END),
	C("term_signal", INT, term_signal, NEGATIVE, SHOWN | END),
	C("diagnosis", TEXT, diagnosis, KNOWN, SHOWN | END),
	C("first_samples", DOUBLE, first_samples, UNKNOWN, SHOWN | REPORT),
	C("last_samples", DOUBLE, last_samples, UNKNOWN, SHOWN | REPORT | END),
	C("checkpoint_samples", DOUBLE, checkpoint_samples, UNKNOWN, SHOWN | REPORT | END),
	C("checkpoint_boot_s", DOUBLE, checkpoint_boot_s, UNKNOWN, REPORT),
	C("checkpoint_path", TEXT, checkpoint_path, ZERO, BLOB | SHOWN | REPORT | END),
	C("step_time_s", DOUBLE, step_time_s, UNKNOWN, SHOWN | REPORT),
	C("first_step_s", DOUBLE, first_step_s, UNKNOWN, SHOWN | REPORT),
	CHARS("step_source", step_source, REPORT),
	C("stage", INT64, stage, ZERO, SHOWN | REPORT),
	C("stage_first_steps", DOUBLE, stage_first_steps, UNKNOWN, SHOWN | REPORT),
	CHARS("framework", framework, REPORT | SHOWN),
	CHARS("helper", helper, REPORT | SHOWN),
	CHARS("wandb_url", wandb_url, REPORT | SHOWN),
	CHARS("tensorboard_url", tensorboard_url, REPORT | SHOWN),
	C("stop_duration_s", DOUBLE, stop_duration_s, UNKNOWN, SHOWN | END),
	C("resumed_from", TEXT, resumed_from, ZERO, BLOB | SHOWN | REPORT | END),
	C("saves_when_asked", INT, saves_when_asked, NEGATIVE, SHOWN | END),
	C("saved_nothing", BOOL, saved_nothing, KNOWN, SHOWN | END),
	C("lost_samples", DOUBLE, lost_samples, KNOWN, SHOWN | REPORT | END),
	C("lost_s", DOUBLE, lost_s, KNOWN, SHOWN | REPORT | END),
	C("reports", INT64, reports, KNOWN, REPORT),
	C("malformed_reports", INT64, malformed_reports, KNOWN, REPORT),
	C("refused_reports", INT64, refused_reports, KNOWN, SHOWN | REPORT),
	CHARS("refusal", refusal, SHOWN | REPORT),
	C("peak_memory_bytes", INT64, peak_memory_bytes, ZERO, SHOWN | REPORT | END),
	C("peak_device_memory_bytes", INT64, peak_device_memory_bytes, ZERO, SHOWN | END),
	C("peak_allocated_bytes", INT64, peak_allocated_bytes, ZERO, SHOWN | REPORT),
	C("cpu_time_s", DOUBLE, cpu_time_s, UNKNOWN, SHOWN | END),
	C("energy_j", DOUBLE, energy_j, UNKNOWN, SHOWN | REPORT | END),
	C("watched_s", DOUBLE, use.watched_s, KNOWN, SHOWN | REPORT | END),
	C("used_device_memory_bytes", INT64, use.memory_bytes, ZERO, SHOWN | REPORT | END),
	C("mean_device_memory_bytes", DOUBLE, use.mean_memory_bytes, UNKNOWN, SHOWN |
	  REPORT | END),
	C("mean_utilization", DOUBLE, use.utilization, UNKNOWN, SHOWN | REPORT | END),
	C("max_temperature_c", DOUBLE, use.temperature_c, UNKNOWN, SHOWN | REPORT | END),
	C("out_of_memory", BOOL, out_of_memory, KNOWN, END),
	C("larger_kind", BOOL, larger_kind, KNOWN, 0),
	C("other_plan", BOOL, other_plan, KNOWN, 0),
	C("former_checkpoint", BOOL, former_checkpoint, KNOWN, END),
	CHARS("plan_hash", plan_hash, 0),
	CHARS("cores", cores, SHOWN | WANTED),
	C("measured_cores", INT, measured_cores, ZERO, REPORT),
	CHARS("code_commit", code.commit, SHOWN),
	CHARS("code_tree", code.tree, SHOWN),
	C("forgotten", INT, forgotten, KNOWN, 0),
	NAMES("suspension", suspension, ZERO, suspension_names, SHOWN | SUSPENSION),
	C("suspended_boot_s", DOUBLE, suspended_boot_s, UNKNOWN, SUSPENSION),
	C("suspended_s", DOUBLE, suspended_s, KNOWN, SHOWN | SUSPENSION),
	C("resumed_boot_s", DOUBLE, resumed_boot_s, UNKNOWN, SUSPENSION),
	C("kept_memory_bytes", INT64, kept_memory_bytes, ZERO, SHOWN | SUSPENSION),
	C("freezes", BOOL, freezes, KNOWN, SUSPENSION),
	NAMES("freeze_state", freeze_state, ZERO, freeze_state_names, FREEZE),
	C("frozen_bytes", INT64, frozen_bytes, ZERO, SHOWN | FREEZE),
	CHARS("frozen_pids", frozen_pids, FREEZE),
	C("device_memory_bytes", INT64, device_memory_bytes, ZERO, SHOWN),
};
#undef ROW

static const struct store_columns job_columns = COLUMNS(of_job),
	progress_columns = COLUMNS(of_progress), run_columns = COLUMNS(of_run);
const struct store_columns configuration_columns = COLUMNS(of_configuration);

#define ROW struct job
const struct store_table jobs_table = {
	"jobs", sizeof(ROW), {
		{ .columns = &job_columns },
		{ PART(declared_columns, declared), .flags = COLUMN_DECLARED },
		{ PART(progress_columns, progress) },
	},
};
#undef ROW
#define ROW struct job_command
const struct store_table commands_table = TABLE_OF("commands", of_command);
#undef ROW
#define ROW struct run
const struct store_table runs_table = {
	"runs", sizeof(ROW), {
		{ .columns = &run_columns },
		{ PART(configuration_columns, configuration), .only = OF_RUN, .flags = REPORT },
		{ PART(configuration_columns, wanted), .only = INHERITED, .flags = WANTED | GIVEN },
		{ PART(configuration_columns, wanted), .only = RUN_WANTED,
		  .flags = WANTED | CHANGE, .prefix = "wanted_" },
	},
};
#undef ROW

bool column_next(struct column_walk *w)
{
	for (; w->part < TABLE_PARTS; w->part++, w->i = 0) {
		const struct table_part *part = &w->table->parts[w->part];

		while (part->columns && w->i < part->columns->n) {
			w->column = (const struct store_column *)(const void *)
				((const char *)part->columns->first +
				 (size_t)w->i++ * part->columns->stride);
			w->column_flags = w->column->flags | part->flags;
			w->offset = part->offset + w->column->field.offset;
			if (w->column->field.name &&
			    (!part->only || (w->column->flags & part->only)) &&
			    !(w->column_flags & w->without) &&
			    (!w->flags || (w->column_flags & w->flags)))
				return true;
		}
	}
	return false;
}

void row_init(const struct store_table *table, void *row)
{
	struct column_walk w = { .table = table };

	while (column_next(&w)) {
		void *member = (char *)row + w.offset;

		if (w.column->field.unknown == FIELD_UNKNOWN_NAN)
			*(double *)member = (double)NAN;
		else if (w.column->field.unknown == FIELD_UNKNOWN_NEGATIVE)
			*(int *)member = -1;
	}
}

void row_release(const struct store_table *table, void *row)
{
	struct column_walk w = { .table = table };

	while (column_next(&w)) {
		void *member = (char *)row + w.offset;

		if (w.column->field.type == FIELD_STRINGS)
			strings_release(member);
		if (w.column->field.type != FIELD_TEXT)
			continue;
		free(*(char **)member);
		*(char **)member = NULL;
	}
}
