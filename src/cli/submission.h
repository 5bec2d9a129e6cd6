/* submission.h - from the options of 'pollux submit', or 'pollux profile', to a job. */
#ifndef POLLUX_CLI_SUBMISSION_H
#define POLLUX_CLI_SUBMISSION_H

#include <math.h>
#include <stdint.h>

#include "command.h"
#include "pollux/store.h"

struct submission {
	const struct command *by;	/* named in errors */
	const char *name, *workload, *lr_rule, *stop_signal, *checkpoint_dir, *resume_args, *directory, *parameters,
		   *step_regex;
	int64_t batch, max_local_batch, dataset_size, retries;
	struct int_range batch_range, replicas;
	double learning_rate, noise_scale, total_samples, total_steps, epochs, weight, time_limit_s, grace_s;
	struct text_list after, env;
	bool accumulate, hold, preempt, no_preempt, quiet;
};

#define SUBMISSION_DEFAULTS(command) { \
	.by = (command), .learning_rate = (double)NAN, .noise_scale = (double)NAN, \
	.total_samples = (double)NAN, .total_steps = (double)NAN, .epochs = (double)NAN, \
	.weight = 1, .time_limit_s = (double)NAN, .grace_s = 60, \
}

/* Each returns 0, or -1 with one line (EX_USAGE; EX_NOINPUT for a program or directory that is not
 * there). What is filled in is the caller's to release, also after an error. */
int submission_command(const struct submission *o, char **argv, struct job_command *c,
		       struct err *err);
int submission_job(const struct submission *o, const struct job_command *c, struct job *job,
		   struct err *err);
/* NaN where they were not given. */
int submission_parameters(const struct submission *o, double *parameters, struct err *err);
int submission_after(const struct submission *o, struct dependency_list *list, struct err *err);

#endif
