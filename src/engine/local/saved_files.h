/* saved_files.h - what a job has saved in its directory of checkpoints; private to
 * src/engine/local. */
#ifndef POLLUX_RUN_SAVED_FILES_H
#define POLLUX_RUN_SAVED_FILES_H

/* Files, at any depth to SAVED_DEPTH, other than hidden and temporary ones and those of loggers:
 * "events.out.tfevents*", "*.log". In a directory of a logger ("runs", "wandb", "lightning_logs"
 * and the like) a file counts only if its name, or that of a directory on its way, is one of a
 * checkpoint (checkpoint_names.h). */
struct saved_files {
	int count;
	double newest_time_s;		/* wall clock: when one was last written; NaN: none */
};

/* A time by the wall clock. */
struct time_span {
	double from_s, to_s;
};

struct saved_query {
	/* Files and directories that match count, whatever their names, and no others; NULL: no
	 * pattern. It matches the path below the directory, or a name. */
	const char *glob;
	/* A file that was last written in one of these, when a run of the job started, does not
	 * count, unless it has the name of a checkpoint. */
	const struct time_span *starts;
	int n_starts;
};

struct saved_files saved_files_in(const char *directory, const struct saved_query *query);

#define SAVED_DEPTH 8

#endif
