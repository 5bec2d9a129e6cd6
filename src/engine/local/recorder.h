/* recorder.h - what a supervisor learns from reports, kept until the next write; private to
 * src/engine/local.
 *
 * Steps are aggregated by configuration, gradient statistics are summed over windows, and
 * everything else keeps its last value. A job that reports a thousand steps a second writes a few
 * rows every two seconds, and adds two rows a minute.
 *
 * A window of gradients is closed after 30 s. A write closes it earlier if it covers a tenth of the
 * position and 50 updates, because the gradient changes fast early in a training, or has 30 losses
 * and the position doubled. A change of configuration closes it, too. Reports that were made at
 * another configuration than the recorded one count as progress but measure nothing. */
#ifndef POLLUX_RUN_RECORDER_H
#define POLLUX_RUN_RECORDER_H

#include <stdbool.h>
#include <stddef.h>

#include "pollux/job.h"
#include "pollux/paths.h"
#include "pollux/plausible.h"
#include "pollux/report_message.h"
#include "pollux/step_stats.h"
#include "pollux/steps.h"
#include "pollux/store_groups.h"
#include "pollux/store_measurements.h"
#include "pollux/text.h"

#define RECORDER_BESIDE_SIZE 256

/* Whose report it is: supervisor_reports.c tells. */
enum report_sender {
	SENDER_OURS,
	/* The sender had ended, and had been reaped, before it could be identified. */
	SENDER_GONE,
	/* Nobody took the report when it was sent: it was read in a file (kept_reports_read()). */
	SENDER_KEPT,
	SENDER_FOREIGN,
};

struct recorder {
	enum report_sender sender;	/* of the next message; the caller sets it */
	double kept_s;			/* when the next message was kept: the same; NaN: unknown */
	double heard_s;			/* when a message came by the socket; NaN: none has */
	struct position_watch positions;
	struct report_message message;	/* the last one; a member because of its size */
	bool changed;			/* since the last write */
	double written_boot_s;		/* boot clock of the last write */
	bool positions_only;		/* an adopted run: its earlier aggregate is in the store */
	struct step_stats stats;
	/* at the same configuration, before the run had another one */
	struct observation earlier;
	struct report_value loss;	/* the last one */
	double steps, epoch;		/* NaN: not reported */
	/* NaN: not reported; 0: what was reported is over */
	double total_samples, total_steps, total_epochs;
	/* the samples of the job where the run's last training began; NaN: not known */
	double stage_first_samples;
	enum training_end end;		/* as reported */
	char optimizer[96];		/* as reported; "": not */
	bool total_samples_are_reported;	/* false: computed from epochs */
	/* where the job stood when this run was launched, and what it had lost; NaN: unknown */
	struct recorder_start {
		double samples, lost_samples, lost_s, run_time_s;
		/* The job reported its checkpoints: this run begins at the last one, not later. */
		bool has_reported;
	} start;
	/* the program told a checkpoint; the loss of the run is computed */
	bool resumed, position_is_known;
	int64_t resumes;		/* as the program says, see report_message.h; -1: unsaid */
	struct recorder_metric {
		struct job_metric values;	/* lowest and highest: since the last write */
		bool changed;			/* since then */
		bool is_reported;		/* by the program, in this run */
		int not_finite;			/* values in a row, up to the last one */
	} metrics[REPORT_METRICS_MAX];
	int n_metrics;
	struct recorder_rungs {
		struct job_rungs known;	/* rung: the last one that is written */
		double samples[HALVING_RUNGS_MAX], values[HALVING_RUNGS_MAX];
		int n_new;		/* reached since the last write */
	} rungs;
	struct recorder_diverged {
		int limit;		/* of --stop-nan; 0: none */
		const struct strings *expressions;	/* of --metric; borrowed */
		char name[64];		/* of the metric that reached the limit; "": none has */
		int count;
		double steps, samples;	/* there; NaN: not known */
	} diverged;
	double first_position;		/* in samples; NaN: none yet */
	double began;			/* where the program began, by its positions; NaN */
	double position_s;		/* when the last position was reported or printed; NaN */
	struct recorder_oom {
		int64_t bytes, peak_bytes, limit_bytes;	/* -1: unknown; bytes -1: none */
	} oom;				/* an allocation failed, and no step followed */
	char status[REPORT_STATUS_SIZE];
	int64_t parameters;		/* of the model; 0: not reported */
	bool steps_are_reported, samples_are_reported;	/* the log is not used then */
	double printed_total_steps;	/* in the log; 0: none; NaN: not known */
	/* The log of a program that reports steps, but no total. */
	struct recorder_log_total {
		/* at the first line of the pattern: its position, and the steps reported; NaN */
		double first_position, first_steps;
		int n_without;		/* lines in a row without a total */
	} log_total;
	enum step_unit logged_unit;	/* the unit that the log counts */
	double first_logged_position;	/* in that unit, when the pattern was first seen; NaN */
	double base_samples;		/* samples at that position; NaN */
	int64_t last_step;		/* -1: none yet */
	double last_step_boot_s;
	/* The workload of the one other run on the device; "": the run is alone there; "*": there
	 * are several others. */
	char beside[RECORDER_BESIDE_SIZE];
	enum configuration_tier tier;	/* of the devices that the step times are of */
	bool tier_is_known, tiers_differ;
	int cores;			/* for each device, likewise; 0: not known */
	bool cores_are_known;
	bool spans_pause;		/* the next step began before the run was suspended */
	bool told_to_stop;		/* the program; the caller sets it */
	bool has_ended;			/* the program says that its work is done */
	bool came_to_its_end;		/* it says that it made its last update */
	/* of the log: step_event has both; counts_from_0: one more step is done than that */
	bool total_may_be_of_epoch, counts_from_0;
	double unseen_steps;	/* likewise: may be done beyond steps; NaN: nothing told yet */
	double logged_part;	/* likewise: of the last counter with a total; NaN */
	struct gradient_window gradient;
	double gradient_start_boot_s;	/* NaN: no window open */
};

void recorder_init(struct recorder *r);
/* Keeps the position of the job at the launch of the run, from which the loss of a program that
 * resumes elsewhere is computed. */
void recorder_begin(struct recorder *r, const struct job *job);
/* For a run that another supervisor began: reads from the store what that supervisor measured. */
int recorder_go_on(struct recorder *r, struct store *store, const struct run *run,
		   struct err *err);

/* Takes in one datagram of n bytes. n above the buffer means that the datagram was cut off: it is
 * malformed. A report of a foreign process, and a position that cannot be true (plausible.h), are
 * refused and counted; a sender that is gone tells positions and texts, but measures nothing. A
 * kept report does neither if the run is known to have come as far, or, for a report without a
 * position, if something was heard since.
 * Updates the run's positions and checkpoint. If the program has changed to the wanted
 * configuration, writes what was learned at the last one to the store and updates the run's.
 * Returns true if the message asks to look into the store. now_boot_s, and every time in here, is
 * by run_clock_s(): it stands still while the run is suspended. */
bool recorder_add(struct recorder *r, struct store *store, struct run *run, const char *bytes,
		  size_t n, double now_boot_s);

/* To be called when the run goes on after a suspension: the program's time of its next step
 * includes the pause, and is left out. */
void recorder_skip_pause(struct recorder *r);

/* recorder_position.c: the run stands at so many samples, or says where it begins. What the job has
 * lost follows from where the run begins. */
void recorder_see_position(struct recorder *r, struct run *run, double samples);
void recorder_add_start(struct recorder *r, struct run *run, const struct report_message *m);

/* True if the message of the recorder is believed; what is not believed of it is
 * taken out. False: the report is refused, or was kept and is no news. */
bool recorder_believes(struct recorder *r, struct run *run, double now_boot_s);
/* True if the program reports a checkpoint after it went on: the position is then that of the
 * checkpoint, not of the program. */
bool recorder_is_of_the_past(const struct recorder *r, const struct run *run,
			     const struct report_message *m);

/* recorder_metrics.c: adds the gradient statistics of a report at the present configuration to the
 * open window; opens the next window; opens it if the open one holds enough. */
void recorder_add_gradient(struct recorder *r, const struct run *run,
			   const struct report_message *m, double now_boot_s);
/* Adds the loss of the report to the window. */
void recorder_add_loss(struct recorder *r, const struct run *run, const struct report_message *m,
		       double now_boot_s);
void recorder_open_gradient_window(struct recorder *r);
void recorder_turn_gradient_window(struct recorder *r, double now_boot_s);

/* True if something is in the open window. */
bool recorder_has_window(const struct recorder *r);

/* recorder_metrics.c: the last, lowest and highest value of each metric, and where the run
 * stood. A write adds points to curves, too (store_measurements.h). */
void recorder_add_metric(struct recorder *r, const struct run *run, const char *name, double value);
void recorder_add_metrics(struct recorder *r, const struct run *run,
			  const struct report_message *m);
/* A value that was found in the log; one of a name that the program reports counts no more. */
void recorder_add_found(struct recorder *r, const struct run *run, const char *name, double value);
/* The last address of each service. */
void recorder_add_address(struct recorder *r, struct run *run, enum web_service service,
			  const char *address);
int recorder_write_metrics(struct recorder *r, struct store *store, const struct run *run,
			   struct err *err);

/* Counts values that are not finite. The limit may change while the run goes
 * on; *expressions has to live as long as the recorder. */
extern const char recorder_losses_in_log[];	/* NAME=REGEX, as of --metric */
void recorder_watch_values(struct recorder *r, int limit, const struct strings *expressions);
bool recorder_has_diverged(const struct recorder *r);
/* "loss was not finite in 3 reports in a row, the last at step 1200" */
void recorder_describe_diverged(const struct recorder *r, struct text *t);

/* Reads the rungs of the job's sweep, if it is in one. The metric of the sweep is then kept where
 * the run reaches a rung, and written with the other metrics. */
int recorder_read_rungs(struct recorder *r, struct store *store, int64_t job_id, struct err *err);

/* recorder_position.c: steps recognised in the log, of a program that reports none. After the first
 * reported step these functions take only the log's total. recorder_begin_log: steps now come from
 * this pattern, first seen at first_boot_s; earlier measurements are dropped. */
void recorder_begin_log(struct recorder *r, struct run *run, const char *pattern,
			double first_boot_s);
void recorder_add_logged(struct recorder *r, struct run *run, const struct job *job,
			 const struct step_event *e);
/* True if the log tells something that reports do not: steps, or their total. */
bool recorder_wants_log(const struct recorder *r, const struct run *run, const struct job *job);

/* Takes in what a report says of the end of the training. */
void recorder_add_ended(struct recorder *r, const struct report_message *m);
/* True if the program says that its work is done, or if the run stands at the total that was
 * declared, else reported, else printed. Less than one step may be left. */
bool recorder_is_at_its_end(const struct recorder *r, const struct run *run,
			    const struct job *job);

/* Returns the part of that total that is done, NaN where one of the two is not known; *most: with
 * what may be done since the last line of the log. */
double recorder_done_ratio(const struct recorder *r, const struct run *run, const struct job *job,
			   double *most);

/* Writes what changed since the last write; the running time alone only every 30 s. After a failure
 * everything is kept for the next write. */
int recorder_write(struct recorder *r, struct store *store, struct run *run, struct err *err);

/* --- kept_position.c: where a run stands, kept for whoever concludes it after its supervisor was
 * killed ---
 *
 * The store is written every two seconds. In between a supervisor writes what reports and the log
 * tell of the run's position to run/RUN.position, one record that is overwritten in place. The
 * kernel keeps what was written when the supervisor is killed; nothing is synced to the disk.
 *
 *	fd = kept_position_create(paths, run);			// at the launch
 *	kept_position_fill(&k, &recorder, run); k.log_read = ...
 *	kept_position_write(fd, &k, run);			// after some reports or lines
 *	if (kept_position_read(paths, run, &k, &fd)) ...	// another process, later
 *
 * Any process of the job can write the file: a record is passed over if it is not whole, is another
 * run's, or says more than the run can have done. */

/* Times are by run_clock_s(). NaN: unknown. */
struct kept_position {
	double time_s;			/* of the last sign of life */
	double first_samples, last_samples, steps, first_step_s;
	double checkpoint_samples, checkpoint_boot_s, lost_samples, lost_s;
	double first_position, began, position_s;
	double first_logged_position, base_samples;
	struct position_watch positions;
	double start_samples, start_lost_samples, start_lost_s, start_run_time_s;
	/* offsets in the log: where the run begins, up to which line its steps were read */
	int64_t log_begin, log_read;
	int64_t logged_unit;
	int64_t flags;
	char step_source[sizeof(((struct run *)0)->step_source)];
};

/* A record that is written in place of what the file has; -1: the file cannot be made. The caller
 * closes it. */
int kept_position_create(const struct paths *paths, const struct run *run);
void kept_position_fill(struct kept_position *k, const struct recorder *r, const struct run *run,
			double now_s);
/* False: the disk is full, and the file may be older than the store. */
bool kept_position_write(int fd, const struct kept_position *k, const struct run *run);
/* run: as in the store. True: *k is the position that the run's last supervisor wrote. *fd (NULL:
 * not wanted): the open file, for further writes; -1: this run has no file. */
bool kept_position_read(const struct paths *paths, const struct run *run, struct kept_position *k,
			int *fd);
void kept_position_remove(const struct paths *paths, int64_t run_id);

/* Puts what is known by k into the run. */
void kept_position_apply(const struct kept_position *k, struct run *run);
/* Puts the other members of k into the recorder, as the supervisor that wrote k had them. */
void kept_position_restore(const struct kept_position *k, struct recorder *r);

#endif
