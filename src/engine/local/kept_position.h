/* kept_position.h - where a run stands, kept for whoever concludes it after its supervisor was
 * killed; private to src/engine/local.
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
#ifndef POLLUX_RUN_KEPT_POSITION_H
#define POLLUX_RUN_KEPT_POSITION_H

#include "pollux/job.h"
#include "pollux/paths.h"
#include "recorder.h"

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
