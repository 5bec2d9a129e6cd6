/* slurm.h - what the parts of the engine for Slurm share; private to src/engine/slurm.
 *
 * A run is a job of Slurm. Its supervisor runs in that job, on the first of its nodes. Passes and
 * supervisors meet in one directory for each run, which all machines see:
 *
 *	launch	what the supervisor must know; the pass writes the file before it asks Slurm. nodes=
 *		counts those on which the program is started: with --launch first that is one
 *	rows	a store with the rows that the supervisor needs (store_journal.h)
 *	claim	made once (O_EXCL): by the job of Slurm that carries the run out, or by a pass that
 *		keeps every job from that
 *	lease	touched by the supervisor; where it is not, each node ends its program
 *	stop	why the run is to stop; by the pass, or a command
 *	order	the last signal that the supervisor has for the programs: "NUMBER SIGNAL leader|all"
 *	node.K	made when node K begins: the process of its wrapper, which touches the file as long
 *		as the node lives and sees the directory
 *	end.K	the exit status of the program of node K, when no process of it is left
 *	over	made when the run ends: no wrapper begins a program after that
 *	journal	what the supervisor wrote into its own store, as records
 *	output	what Slurm and the supervisor say
 *
 * Times of these files are compared with each other alone, never with a clock. */
#ifndef POLLUX_SLURM_H
#define POLLUX_SLURM_H

#include "pollux/engine.h"
#include "slurm_parse.h"

/* --- slurm_files.c --- */
/* The directory that the nodes see, with run/ logs/ checkpoints/ in it, for this store. */
char *slurm_base(const struct paths *paths, const char *slurm_dir, const char *store_id);
/* Reads a whole file of at most 64 MB from a place on. False: it cannot be read. */
bool slurm_read(const char *dir, const char *name, int64_t from, struct text *t);
bool slurm_has(const char *dir, const char *name);
/* Makes the file; -1 with *err and errno if it cannot be made, EEXIST if it is there. */
int slurm_make(const char *dir, const char *name, const char *content, struct err *err);
/* Replaces the file as a whole. */
int slurm_write(const char *dir, const char *name, const char *bytes, size_t n, struct err *err);
/* The time of the file; NaN: there is none. Read from its server, not from a cache. */
double slurm_file_time_s(const char *dir, const char *name);
/* Touches the file, which is made if need be, and returns its time; NaN: that failed. */
double slurm_touch(const char *dir, const char *name);
/* The value after "KEY=" at the start of a line, for the caller to free; NULL: there is none. */
char *slurm_value(const char *text, const char *key);
double slurm_number(const char *text, const char *key, double otherwise);

/* --- slurm_handle.c: the handle "slurm job=12 dir=/DIR" --- */
struct slurm_handle {
	int64_t job;			/* Slurm's number; 0: not known */
	char *dir;			/* owned; "": none */
};
void slurm_handle_parse(const char *text, struct slurm_handle *h);
char *slurm_handle_text(const struct slurm_handle *h);
void slurm_handle_release(struct slurm_handle *h);

/* --- slurm_queue.c: what Slurm says, kept for a moment --- */
struct slurm_queue {
	bool known;
	struct err err;			/* why nothing is known */
	struct slurm_job *jobs;
	int n;
};
struct slurm_nodes {
	bool known;
	struct err err;
	struct slurm_node *items;
	int n;
};
/* Asks a question, words with blanks between, of a controller that was not silent just now. */
int slurm_ask(const char *words, struct text *answer, struct err *err);
const struct slurm_queue *slurm_queue(void);
const struct slurm_nodes *slurm_nodes(void);
/* Drops what was kept: the next call asks Slurm again. */
void slurm_forget(void);
/* Drops the queue if it was asked for before the nodes were. */
void slurm_renew_queue(void);
/* The name that Slurm knows the runs of a job by. */
#define SLURM_NAME_SIZE 80
void slurm_job_name(const char *store_id, int64_t job_id, char *name, size_t size);
/* The job of a run by its name and its comment; NULL: there is none. */
const struct slurm_job *slurm_job_of(const struct slurm_queue *q, const char *store_id,
				     const struct run *run);
/* The same for a run of this store; NULL also if the queue is not known. */
const struct slurm_job *slurm_queued_job(const struct engine_context *at, const struct run *run);
/* GPUs of the node that jobs of the store have; store_id NULL: of any of this user's stores. */
int slurm_own_gpus(const struct slurm_queue *q, const char *store_id, const char *node);

/* --- slurm_place.c: where the options for sbatch in the configuration let jobs run --- */
/* Reads the options, and asks Slurm what they mean; kept for a while. */
int slurm_place_read(struct err *err);
/* True if the node is of the partition, and of the reservation if there is one. */
bool slurm_place_has(const struct slurm_node *node);
/* Why no job can start on any node; NULL: that is not so. A constant. */
const char *slurm_place_reason(void);
/* True if jobs can start on the node now. */
bool slurm_place_takes(const struct slurm_node *node);

/* --- slurm_list.c --- */
int slurm_list(const struct device_settings *settings, struct device_list *list, struct err *err);
/* The active runs, kept for a moment: a cluster has thousands of devices to be asked for. */
const struct run_list *slurm_active_runs(struct store *store);
const char *slurm_other_user(const struct engine_context *at, const struct device *device);
bool slurm_crowded_out(const struct engine_context *at, const struct run *run, const char *node);

/* --- slurm_launch.c --- */
int slurm_start(const struct engine_context *at, const struct run *run, struct err *err);
/* A pass begins: it may take its time for launches again. */
void slurm_begin_launches(void);

/* --- slurm_poll.c --- */
/* What is known of a run, for the decision. */
struct slurm_facts {
	bool launched;			/* its directory is there */
	bool claimed, by_pass;		/* a job, or a pass, has the claim */
	int nodes, ends;		/* nodes of the run, and files end.K */
	double lease_age_s, lease_s;	/* NaN: there is no lease */
	enum slurm_knows { SLURM_UNKNOWN, SLURM_KNOWN, SLURM_GONE } slurm;
};
/* True if no program of the run in the directory can live, or begin: by its files alone. A run that
 * no job has begun is kept from it. */
bool slurm_programs_gone(const char *dir);
enum engine_answer slurm_judge(const struct slurm_facts *f);
int slurm_poll(const struct engine_context *at, const struct run *const *runs, int n,
	       enum engine_answer *answers, struct err *err);
int slurm_end(const struct engine_context *at, struct run *run, struct err *err);
void slurm_clean(const struct engine_context *at, const struct run_list *active);

/* --- slurm_describe.c, slurm_examine.c --- */
void slurm_describe(const struct engine_context *at, const struct run *run, struct text *out);
const char *slurm_stuck(const struct engine_context *at, const struct run *run);
void slurm_examine(const struct engine_context *at, struct strings *troubles, struct text *well);

/* --- slurm_collect.c --- */
int slurm_collect(const struct engine_context *at, struct strings *lines, struct err *err);
/* Takes what the run wrote last. True: the run has ended in the store. */
bool slurm_has_ended(const struct engine_context *at, const struct run *run);
void slurm_wake(const struct engine_context *at, const struct run *run);
int slurm_stop_unrecorded(const struct engine_context *at, const struct run *run,
			  enum stop_reason reason, struct err *err);
/* Asks Slurm to signal the run's job, or to end it (signal NULL), if Slurm has the job. Returns
 * soon. */
void slurm_cancel(const struct engine_context *at, const struct run *run, const char *signal);

/* Beyond the lease, after which no program of a run can live: a node may be slow to see that. */
double slurm_margin_s(double lease_s);

#endif
