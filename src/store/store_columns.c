/* store_columns.c - the columns of the tables jobs, commands and runs. */
#include <math.h>

#include "pollux/store_columns.h"
#include "pollux/declaration.h"
#include "pollux/job.h"

/* A row: column, type, member of ROW, which value is unknown, schema version, flags. Short names
 * for what pollux/field.h and pollux/store_columns.h explain. */
#define C(column, type, member, unknown, since, flags) \
	{ { column, FIELD_##type, offsetof(ROW, member), unknown, NULL, 0 }, since, flags }
#define NAMES(column, member, unknown, names, since, flags) \
	{ { column, FIELD_NAME, offsetof(ROW, member), unknown, &(names), 0 }, since, flags }
#define CHARS(column, member, since, flags) \
	{ { column, FIELD_CHARS, offsetof(ROW, member), FIELD_UNKNOWN_ZERO, NULL, \
	    sizeof(((ROW *)0)->member) }, since, flags }

#define KNOWN FIELD_KNOWN
#define ZERO FIELD_UNKNOWN_ZERO
#define UNKNOWN FIELD_UNKNOWN_NAN
#define NEGATIVE FIELD_UNKNOWN_NEGATIVE
#define SHOWN COLUMN_SHOWN
#define BLOB COLUMN_BLOB
#define REPORT COLUMN_REPORT
#define END COLUMN_END
#define WANTED COLUMN_WANTED
#define STOP COLUMN_STOP
#define GIVEN COLUMN_GIVEN
#define NOT_NULL COLUMN_NOT_NULL

#define ROW struct job
static const struct store_column of_job[] = {
	C("id", INT64, id, KNOWN, 1, GIVEN | SHOWN),
	C("profile", BOOL, profile, KNOWN, 3, SHOWN),
	NAMES("state", state, KNOWN, job_state_names, 1, 0),
	C("reason", TEXT, reason, KNOWN, 1, SHOWN),
	C("next_start_time_s", DOUBLE, next_start_s, UNKNOWN, 1, 0),
	C("submit_time_s", DOUBLE, submit_time_s, UNKNOWN, 1, SHOWN),
	C("start_time_s", DOUBLE, start_time_s, UNKNOWN, 1, SHOWN),
	C("end_time_s", DOUBLE, end_time_s, UNKNOWN, 1, SHOWN),
	C("forgiven_runs", INT, forgiven_runs, KNOWN, 11, 0),
};
#undef ROW

#define ROW struct progress
static const struct store_column of_progress[] = {
	C("samples", DOUBLE, samples, UNKNOWN, 1, SHOWN),
	C("steps", DOUBLE, steps, UNKNOWN, 1, SHOWN),
	C("printed_total_steps", DOUBLE, printed_total_steps, UNKNOWN, 7, SHOWN),
	C("reported_total_samples", DOUBLE, reported_total_samples, UNKNOWN, 13, SHOWN),
	C("reported_total_steps", DOUBLE, reported_total_steps, UNKNOWN, 13, SHOWN),
	C("total_epochs", DOUBLE, total_epochs, UNKNOWN, 13, SHOWN),
	C("resumes", BOOL, resumes, KNOWN, 13, SHOWN),
	C("epoch", DOUBLE, epoch, UNKNOWN, 1, SHOWN),
	C("loss", DOUBLE, loss, UNKNOWN, 1, SHOWN),
	C("status_text", TEXT, status_text, KNOWN, 1, SHOWN),
	C("checkpoint_samples", DOUBLE, checkpoint_samples, UNKNOWN, 1, SHOWN),
	C("lost_samples", DOUBLE, lost_samples, KNOWN, 1, SHOWN),
	C("lost_s", DOUBLE, lost_s, KNOWN, 1, SHOWN),
	C("run_time_s", DOUBLE, run_time_s, KNOWN, 1, 0),
	C("attained_service_device_s", DOUBLE, attained_service_device_s, KNOWN, 1, 0),
	C("runs", INT, runs, KNOWN, 1, SHOWN),
	C("launches", INT, launches, KNOWN, 9, 0),
	C("preemptions", INT, preemptions, KNOWN, 1, SHOWN),
	C("failures", INT, failures, KNOWN, 1, SHOWN),
	C("exit_code", INT, exit_code, NEGATIVE, 1, SHOWN),
	C("term_signal", INT, term_signal, NEGATIVE, 1, SHOWN),
	C("last_end_time_s", DOUBLE, last_end_time_s, UNKNOWN, 2, 0),
};
#undef ROW

#define ROW struct job_command
static const struct store_column of_command[] = {
	C("job_id", INT64, job_id, KNOWN, 1, 0),
	C("program", TEXT, program, KNOWN, 1, BLOB | SHOWN),
	C("argv", STRINGS, argv, KNOWN, 1, 0),
	C("env", STRINGS, env, KNOWN, 1, 0),
	C("directory", TEXT, directory, KNOWN, 1, BLOB | SHOWN),
	C("checkpoint_dir", TEXT, checkpoint_dir, ZERO, 1, BLOB),
	C("resume_args", TEXT, resume_args, ZERO, 1, BLOB | SHOWN),
	C("step_regex", TEXT, step_regex, ZERO, 7, BLOB | SHOWN),
	C("git_commit", TEXT, git_commit, ZERO, 1, SHOWN),
	C("git_dirty", BOOL, git_dirty, KNOWN, 1, 0),
};
#undef ROW

#define ROW struct run
static const struct store_column of_run[] = {
	C("id", INT64, id, KNOWN, 1, GIVEN | SHOWN),
	C("job_id", INT64, job_id, KNOWN, 1, 0),
	C("number", INT, number, KNOWN, 1, SHOWN),
	NAMES("state", state, KNOWN, run_state_names, 1, SHOWN | END | STOP),
	C("replicas", INT, configuration.replicas, KNOWN, 1, 0),
	C("accumulation_steps", INT, configuration.accumulation_steps, KNOWN, 1, REPORT),
	C("local_batch_size", INT64, configuration.local_batch_size, ZERO, 1, REPORT),
	C("batch_size", BATCH_SIZE, configuration, ZERO, 1, REPORT),
	C("learning_rate_scale", DOUBLE, learning_rate_scale, KNOWN, 1, SHOWN | REPORT),
	C("takes_configs", BOOL, takes_configs, KNOWN, 2, SHOWN | REPORT),
	C("config_version", INT, config_version, KNOWN, 2, SHOWN | REPORT),
	C("wanted_version", INT, wanted_version, KNOWN, 2, WANTED),
	C("replicas", INT, wanted.replicas, KNOWN, 1, WANTED | GIVEN),
	C("wanted_local_batch_size", INT64, wanted.local_batch_size, ZERO, 2, WANTED),
	C("wanted_accumulation_steps", INT, wanted.accumulation_steps, ZERO, 2, WANTED),
	C("wanted_batch_size", BATCH_SIZE, wanted, ZERO, 2, WANTED),
	C("wanted_learning_rate_scale", DOUBLE, wanted_learning_rate_scale, UNKNOWN, 2, WANTED),
	C("wanted_boot_s", DOUBLE, wanted_boot_s, UNKNOWN, 6, WANTED),
	C("assigned_time_s", DOUBLE, assigned_time_s, UNKNOWN, 1, SHOWN),
	C("launch_time_s", DOUBLE, launch_time_s, UNKNOWN, 1, SHOWN),
	C("end_time_s", DOUBLE, end_time_s, UNKNOWN, 1, SHOWN | END),
	C("assigned_boot_s", DOUBLE, assigned_boot_s, UNKNOWN, 1, 0),
	C("launch_boot_s", DOUBLE, launch_boot_s, UNKNOWN, 1, 0),
	C("end_boot_s", DOUBLE, end_boot_s, UNKNOWN, 1, END),
	C("boot_id", TEXT, boot_id, KNOWN, 1, 0),
	C("duration_s", DOUBLE, duration_s, KNOWN, 1, REPORT | END),
	C("handle", TEXT, handle, KNOWN, 10, BLOB),
	NAMES("stop_reason", stop_reason, ZERO, stop_names, 1, SHOWN | END | STOP | NOT_NULL),
	C("stop_boot_s", DOUBLE, stop_boot_s, UNKNOWN, 1, 0),
	NAMES("outcome", outcome, ZERO, run_outcome_names, 1, SHOWN | END),
	C("exit_code", INT, exit_code, NEGATIVE, 1, SHOWN | END),
	C("term_signal", INT, term_signal, NEGATIVE, 1, SHOWN | END),
	C("diagnosis", TEXT, diagnosis, KNOWN, 1, SHOWN | END),
	C("first_samples", DOUBLE, first_samples, UNKNOWN, 1, SHOWN | REPORT),
	C("last_samples", DOUBLE, last_samples, UNKNOWN, 1, SHOWN | REPORT | END),
	C("checkpoint_samples", DOUBLE, checkpoint_samples, UNKNOWN, 1, SHOWN | REPORT | END),
	C("checkpoint_boot_s", DOUBLE, checkpoint_boot_s, UNKNOWN, 1, REPORT),
	C("step_time_s", DOUBLE, step_time_s, UNKNOWN, 1, SHOWN | REPORT),
	C("first_step_s", DOUBLE, first_step_s, UNKNOWN, 1, SHOWN | REPORT),
	CHARS("step_source", step_source, 7, REPORT),
	CHARS("framework", framework, 13, REPORT | SHOWN),
	CHARS("helper", helper, 13, REPORT | SHOWN),
	C("stop_duration_s", DOUBLE, stop_duration_s, UNKNOWN, 1, SHOWN | END),
	C("lost_samples", DOUBLE, lost_samples, KNOWN, 1, SHOWN | END),
	C("lost_s", DOUBLE, lost_s, KNOWN, 1, SHOWN | END),
	C("reports", INT64, reports, KNOWN, 1, REPORT),
	C("malformed_reports", INT64, malformed_reports, KNOWN, 1, REPORT),
	C("peak_memory_bytes", INT64, peak_memory_bytes, ZERO, 3, SHOWN | REPORT | END),
	C("peak_device_memory_bytes", INT64, peak_device_memory_bytes, ZERO, 3, SHOWN | END),
	C("peak_allocated_bytes", INT64, peak_allocated_bytes, ZERO, 13, SHOWN | REPORT),
	C("cpu_time_s", DOUBLE, cpu_time_s, UNKNOWN, 3, SHOWN | END),
	C("out_of_memory", BOOL, out_of_memory, KNOWN, 3, END),
};
#undef ROW

#define COLUMNS(array) { (array), sizeof(array) / sizeof((array)[0]), sizeof((array)[0]) }
static const struct store_columns job_columns = COLUMNS(of_job),
	progress_columns = COLUMNS(of_progress),
	command_columns = COLUMNS(of_command), run_columns = COLUMNS(of_run);

const struct store_table jobs_table = {
	"jobs", {
		{ &job_columns, 0 },
		{ &declared_columns, offsetof(struct job, declared) },
		{ &progress_columns, offsetof(struct job, progress) },
	},
};
const struct store_table commands_table = { "commands", { { &command_columns, 0 } } };
const struct store_table runs_table = { "runs", { { &run_columns, 0 } } };

const struct store_table *const store_tables[] = { &jobs_table, &commands_table, &runs_table,
						  NULL };

/* The next row of a part, with or without a column; false at its end. */
static bool next_row(struct column_walk *w)
{
	const struct store_columns *part = w->table->parts[w->part].columns;

	if (!part || w->i >= part->n)
		return false;
	w->column = (const struct store_column *)(const void *)
		((const char *)part->first + (size_t)w->i++ * part->stride);
	w->offset = w->table->parts[w->part].offset + w->column->field.offset;
	return true;
}

bool column_next(struct column_walk *w)
{
	for (; w->part < TABLE_PARTS; w->part++, w->i = 0)
		while (next_row(w))
			if (w->column->field.name && !(w->column->flags & w->without) &&
			    (!w->flags || (w->column->flags & w->flags)))
				return true;
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
