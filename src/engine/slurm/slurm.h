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

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/config.h"
#include "pollux/device.h"
#include "pollux/engine.h"
#include "pollux/err.h"
#include "pollux/file.h"
#include "pollux/job.h"
#include "pollux/mem.h"
#include "pollux/paths.h"
#include "pollux/proc.h"
#include "pollux/store_jobs.h"
#include "pollux/text.h"

/* --- slurm_parse.c: what Slurm's commands print, as structs ---
 *
 * The text comes from other people's jobs, too: whatever stands there, nothing outside the text is
 * read, and a line that is not understood is left out. */

/* A node with GPUs. */
struct slurm_node {
	char name[DEVICE_NODE_SIZE];
	char address[DEVICE_NODE_SIZE];
	char type[64];			/* of its GPUs; "": none is given */
	int gpus, used;			/* used by anybody's jobs; -1: not told */
	int cores;
	bool up;			/* jobs can start there */
	bool silent;			/* it is in use, but Slurm has not heard of it lately */
	bool reserved;			/* in a reservation, whose jobs alone can start there */
	char partitions[1024];		/* "main,gpu" */
	char state[96];			/* Slurm's word for it: "IDLE+DRAIN" */
};

/* Reads a line of 'scontrol -d -o show nodes'. False: no node, or none with GPUs. */
bool slurm_parse_node(const char *line, struct slurm_node *node);

/* A job of this user in 'squeue -o SLURM_QUEUE_FORMAT'. */
#define SLURM_QUEUE_FORMAT "%i|%T|%N|%b|%S|%r|%j|%k"
struct slurm_job {
	int64_t id;
	char state[32];			/* "PENDING", "RUNNING", "COMPLETING" ... */
	char nodes[4096];		/* "n[1-2]"; "": none yet, or more than fit */
	char start[32];			/* when Slurm expects to start it; "": not known */
	char reason[80];		/* why it waits, or "None" */
	int gpus;			/* on each node */
	char name[80];
	/* the comment "STORE:JOB:RUN"; store "": the comment is another one */
	char store[40];
	int64_t job_id, run_id;
};

bool slurm_parse_job(const char *line, struct slurm_job *job);

/* The number of GPUs in a list of generic resources, and their type, the first if there are
 * several: "gpu:a100:4(S:0-1),shard:8". type may be NULL. */
int slurm_parse_gpus(const char *gres, size_t n, char *type, size_t size);

/* A list of nodes: "n[1-3,7],login". */
struct slurm_names {
	const char *rest;	/* what is left; at the beginning the list, and all else 0 */
	const char *prefix;		/* in brackets: of the names; NULL: not there */
	size_t prefix_length;
	unsigned width;			/* of the numbers, at most 15 */
	int64_t next, last;		/* of a range; none is left: next is more */
};
/* Takes the next name. Entries that are malformed are passed over: they hide no others. False: the
 * list has ended. */
bool slurm_next_node(struct slurm_names *list, char *name, size_t size);
bool slurm_list_has(const char *list, const char *node);

/* The nodes in a line of 'scontrol -o show reservation', "n[1-2]", for the caller to free; "":
 * there are none. name: of the reservation; "": the line is none. */
char *slurm_parse_reserved(const char *line, char *name, size_t size);

/* True if two lists, with commas between, have a name in common. */
bool slurm_lists_meet(const char *a, const char *b);

/* The number in what 'sbatch --parsable' prints: "123" or "123;cluster"; 0: there is none. */
int64_t slurm_parse_submitted(const char *text);

/* --- slurm_ask.c: commands of Slurm, and what they say, kept for a moment --- */

#define SLURM_SILENT "Slurm's controller does not answer"
#define SLURM_LIMIT_S 5.0		/* for a question; without a controller squeue takes 9 s */
#define SLURM_SUBMIT_LIMIT_S 15.0

/* Runs the command, whose words are released, and takes its standard output, at most 64 MB; out
 * NULL: drops it. -1 with *err: EX_TEMPFAIL if it
 * had no end in time or said that the controller cannot be reached, EX_UNAVAILABLE if there is no
 * such program, or if it failed; the last line of its standard error is quoted. */
int slurm_command(struct strings *argv, double limit_s, struct text *out, struct err *err);

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
/* Adds the words of a text, with blanks between. */
void slurm_add_words(const char *words, struct strings *argv);
/* Asks a question, in words, of a controller that was not silent just now. */
int slurm_ask(const char *words, struct text *answer, struct err *err);
const struct slurm_queue *slurm_queue(void);
const struct slurm_nodes *slurm_nodes(void);
/* Drops what was kept: the next call asks Slurm again. */
void slurm_forget(void);
/* Drops the queue if it was asked for before the nodes were. */
void slurm_renew_queue(void);
/* The name of the pass's store, kept; NULL with *err: it cannot be read. */
const char *slurm_store_id(const struct engine_context *at, struct err *err);
/* The name that Slurm knows the runs of a job by. */
#define SLURM_NAME_SIZE 80
void slurm_job_name(const char *store_id, int64_t job_id, char name[SLURM_NAME_SIZE]);
/* The job of a run of this store by its name and its comment; NULL: there is none, or the queue is
 * not known. */
const struct slurm_job *slurm_queued_job(const struct engine_context *at, const struct run *run);
/* GPUs of the node that jobs of the store have; store_id NULL: of any of this user's stores. 0 also
 * if the queue is not known. */
int slurm_own_gpus(const char *store_id, const char *node);

/* --- slurm_devices.c: where the options for sbatch let jobs run, and the GPUs there --- */

/* Reads the options, and asks Slurm what they mean; kept for a while. */
int slurm_place_read(struct err *err);
/* True if jobs can start on the node now. */
bool slurm_place_takes(const struct slurm_node *node);

int slurm_list(const struct device_settings *settings, struct device_list *list, struct err *err);
/* The active runs, kept for a moment: a cluster has thousands of devices to be asked for. */
const struct run_list *slurm_active_runs(struct store *store);
const char *slurm_other_user(const struct engine_context *at, const struct device *device);
bool slurm_crowded_out(const struct engine_context *at, const struct run *run, const char *node);

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
/* The same for a text, unless the file has it already. */
int slurm_tell(const char *dir, const char *name, const char *text, struct err *err);
/* The time of the file; NaN: there is none. Read from its server, not from a cache. */
double slurm_file_time_s(const char *dir, const char *name);
/* Touches the file, which is made if need be, and returns its time; NaN: that failed. */
double slurm_touch(const char *dir, const char *name);
/* The value after "KEY=" at the start of a line, for the caller to free; NULL: there is none. */
char *slurm_value(const char *text, const char *key);
double slurm_number(const char *text, const char *key, double otherwise);

/* From the best to the worst. FENCED: the node was cut off, and ended its program itself. */
enum slurm_ended { SLURM_NOT_ENDED, SLURM_ENDED_WELL, SLURM_ENDED_BADLY, SLURM_ENDED_FENCED };

/* Of the nodes that have told how their program ended. */
struct slurm_ends {
	int n;
	enum slurm_ended worst;
	double last_s;			/* by the file system's clock; NaN: some have not told */
};
struct slurm_ends slurm_ends(const char *dir, int nodes);
/* The run ended at this time of the directory's clock, if that is before now: who learns of it late
 * may find that Slurm has given the devices to the next run since. NaN: nothing changes. */
void slurm_end_at(const char *dir, double ended_s, struct run *run);
/* Returns a node that has not told its end, and, at lease_time_s, the time of the lease, has not
 * touched its file for lease_s and a margin, or never since the programs were started at
 * begun_time_s; -1: there is none. Such a node is cut off from the directory, or stands still. The
 * margin is the time between two touches: after this process and all nodes stood still for less
 * than the lease, the nodes are yet to touch their files. */
int slurm_silent_node(const char *dir, int nodes, double lease_s, double lease_time_s,
		      double begun_time_s);

/* --- slurm_launch.c: hands a run to Slurm; the handle "slurm job=12 dir=/DIR" --- */

struct slurm_handle {
	int64_t job;			/* Slurm's number; 0: not known */
	const char *dir;		/* in the run's handle; "": none */
};
struct slurm_handle slurm_handle_of(const struct run *run);

int slurm_start(const struct engine_context *at, const struct run *run, struct err *err);
/* A pass begins: it may take its time for launches again. */
void slurm_begin_launches(void);

/* --- slurm_runs.c: whether a run lives, what it tells, and is told --- */

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

int slurm_collect(const struct engine_context *at, struct strings *lines, struct err *err);
void slurm_wake(const struct engine_context *at, const struct run *run);
int slurm_stop_unrecorded(const struct engine_context *at, const struct run *run,
			  enum stop_reason reason, struct err *err);
/* Beyond the lease, after which no program of a run can live: a node may be slow to see that. */
double slurm_margin_s(double lease_s);

/* --- slurm_processes.c: the command, and what a wrapper knows of other processes --- */

/* Adds what Slurm told this job. nodes: on which the program is started. */
void slurm_add_environment(int nodes, struct strings *env);
/* The command that runs the program under a wrapper on each node: srun, or on one node the wrapper
 * itself. */
void slurm_add_wrapper(const char *dir, int nodes, const char *program, const struct strings *argv,
		       struct strings *wrapped);

/* Has Slurm signal the programs of all steps of this job, but for the step that this process is in.
 * Returns at once; a child, which the caller reaps, asks Slurm. */
void slurm_signal_steps(int signal_number);

/* Returns a process on this node, of this user, from an earlier run that had one of this job's
 * GPUs; 0: there is none. Only processes that began before this one, the wrapper, are looked at:
 * two runs do not wait for each other. The GPUs are those that the environments name, by Slurm's
 * numbers. */
pid_t slurm_earlier_on_gpus(pid_t wrapper);

#endif
