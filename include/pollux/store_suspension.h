/* store_suspension.h - runs that leave their devices and come back, see enum suspension. */
#ifndef POLLUX_STORE_SUSPENSION_H
#define POLLUX_STORE_SUSPENSION_H

#include "pollux/job.h"
#include "pollux/store.h"

/* For a pass, inside its transaction: asks for the suspension of a run (freezes: the run's GPU
 * memory leaves the GPU, too), and gives a suspended run the devices (run->devices) to come back
 * to. */
int store_run_ask_suspension(struct store *s, int64_t id, bool freezes, struct err *err);
int store_run_give_devices(struct store *s, const struct run *run, struct err *err);
/* Bring the run's suspension and its times up to date, and where it is to come back its devices. */
int store_run_read_suspension(struct store *s, struct run *run, struct err *err);
/* asked -> suspended: writes the run's columns of suspension and frees its devices. *done is false
 * if the suspension is no longer asked for. text: of the event. */
int store_run_set_suspended(struct store *s, const struct run *run, const char *text, bool *done,
			    struct err *err);
/* resuming -> none, and its devices are in use: *resumed is false where one of them still is in use
 * by another run, or the pass decided otherwise. */
int store_run_resume(struct store *s, const struct run *run, bool *resumed, struct err *err);
/* True if store_run_resume would succeed now. */
int store_run_may_resume(struct store *s, const struct run *run, bool *may, struct err *err);
/* suspended -> resuming by the run itself, to the devices that it had: it has to be stopped. */
int store_run_take_back_devices(struct store *s, int64_t id, struct err *err);
/* resuming -> suspended by the run itself: it cannot have the devices that it was given. */
int store_run_decline_devices(struct store *s, int64_t id, struct err *err);
/* Ends the suspension of a run that is to be stopped or whose processes have ended; the run has no
 * devices then. */
int store_run_leave_suspension(struct store *s, const struct run *run, struct err *err);
/* Writes how far the run's GPU memory is on its way to the host's and back. */
int store_run_set_freeze(struct store *s, const struct run *run, struct err *err);

#endif
