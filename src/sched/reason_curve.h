/* reason_curve.h - sentences about a job and numbers of devices, from its curve. Each function
 * appends to a text of SCHED_REASON_SIZE. Figures have whole numbers and tenths only, so that a
 * model that moves a little leaves a reason as it is. */
#ifndef SCHED_REASON_CURVE_H
#define SCHED_REASON_CURVE_H

#include "curve.h"
#include "reason.h"

/* For a job that can never start (least is 0): "needs 4 devices; 2 can be used here", or another
 * obstacle. */
void reason_add_unfit(const struct curves *curves, const struct curve *c, char *reason);
/* "needs 2 devices for 4m20s"; "needs 2 devices for an assumed 2h00m" where what remains of the job
 * is not known. length_device_s: on the least number of devices, as the policy takes it. */
void reason_add_need(const struct curve *c, double length_device_s, char *reason);
/* "2 devices"; where there are several kinds: "2 devices of NVIDIA RTX A6000, 48 GiB". at: an index
 * of curve.h, here and below. */
void reason_add_devices_at(const struct curves *curves, int at, char *reason);
/* ": 1.7x of one device; one more would add 9 %", after "2 devices"; as far as it is known. */
void reason_add_gain(const struct curves *curves, const struct curve *c, int at, char *reason);
/* The whole reason, for policies that have no more to tell. waits: why the job waits although it
 * could be given devices, such as "; others come first". */
void reason_add_choice(const struct curves *curves, const struct curve *c, int at,
		       const char *waits, char *reason);

#endif
