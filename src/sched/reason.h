/* reason.h - the pieces that reasons are made of. Each appends to a text of SCHED_REASON_SIZE,
 * clipped at its end. */
#ifndef SCHED_REASON_H
#define SCHED_REASON_H

#include <stdint.h>

#include "curve.h"
#include "pollux/policy.h"

/* Some jobs as a sentence names them: "jobs 3, 5 and 2 more". */
struct job_names {
	int n;
	int64_t first[2];	/* the smallest ids, as far as n goes */
};

/* Sorts ids; an id that occurs several times is one job. */
struct job_names job_names_of(int64_t *ids, int n);
/* Joins two lists of jobs that have no job in common. */
struct job_names job_names_join(struct job_names a, struct job_names b);

void reason_add(char *reason, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A text and a number as they are. A pass words thousands of reasons: these two take a tenth of
 * what printf takes. */
void reason_add_text(char *reason, const char *text);
void reason_add_number(char *reason, int64_t n);
void reason_add_devices(char *reason, int n);			/* "1 device" */
/* "2 devices (1 to 4 asked)"; without the brackets where the job has its maximum. */
void reason_add_share(char *reason, const struct sched_job *job, int replicas);
/* Words before and after the devices of a job that is not preemptible: "keeps " 2 devices ": it has
 * saved nothing", or 2 devices " to its end: not preemptible". Nothing for any other job. */
void reason_begin_kept(char *reason, const struct sched_job *job);
void reason_end_kept(char *reason, const struct sched_job *job);
/* "26s", "4m20s", "2h05m": two digits, so that a model that moves a little leaves a reason as it
 * is. */
void reason_add_duration(char *reason, double seconds);
void reason_add_ordinal(char *reason, int n);			/* "22nd" */
/* "job 3", "jobs 3 and 5", "jobs 3, 5 and 2 more" */
void reason_add_jobs(char *reason, const struct job_names *jobs);
/* "needs 4 devices; 2 can be used here" */
void reason_add_impossible(char *reason, int min_replicas, int n_devices);

/* --- about a job and numbers of devices, from its curve --- */

/* Figures have whole numbers and tenths only, so that a model that moves a little leaves a reason
 * as it is. */

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
/* The choices of a policy that has no more to tell of them. at: the devices of each job, in the
 * order of the curves. waits: why a job waits although it could be given devices, such as
 * "; others come first". */
void reason_choices(const struct curves *curves, const int *at, const char *waits,
		    struct sched_choice *choices);

#endif
