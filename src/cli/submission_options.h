/* submission_options.h - the options that say what a command can do, the same wherever one is given: rows of
 * an option table. S(field) is to place a field of struct submission. */
#ifndef POLLUX_CLI_SUBMISSION_OPTIONS_H
#define POLLUX_CLI_SUBMISSION_OPTIONS_H

#define SUBMISSION_NAMES(S) \
	{ "name", 'n', OPTION_TEXT, "NAME", S(name), 0, 0, \
	  "what tables call it; default the program's or the script's name" }, \
	{ "workload", 0, OPTION_TEXT, "NAME", S(workload), 0, 0, \
	  "jobs with the same workload share what is learnt; default the command" }

#define SUBMISSION_SIZES(S) \
	{ "batch", 'b', OPTION_INT, "SAMPLES", S(batch), 1, 1e9, \
	  "samples per optimizer update that the job was tuned for" }, \
	{ "batch-range", 0, OPTION_RANGE, "MIN:MAX", S(batch_range), 1, 1e9, \
	  "batches it may run with: of them those from --batch to MAX; default just --batch" }, \
	{ "max-local-batch", 0, OPTION_INT, "SAMPLES", S(max_local_batch), 1, 1e9, \
	  "samples that fit on one device in a pass; more take several, see --accumulate" }, \
	{ "accumulate", 0, OPTION_FLAG, NULL, S(accumulate), 0, 0, \
	  "it does as many passes for an update as POLLUX_ACCUM says; default where the command has " \
	  "{accum}" }, \
	{ "lr", 0, OPTION_NUMBER, "RATE", S(learning_rate), 1e-12, 1e12, \
	  "learning rate at --batch, for {lr}" }, \
	{ "lr-rule", 0, OPTION_TEXT, "RULE", S(lr_rule), 0, 0, \
	  "how the rate follows the batch: adascale (default), sqrt, linear or none" }, \
	{ "noise-scale", 0, OPTION_NUMBER, "SAMPLES", S(noise_scale), 1e-6, 1e12, \
	  "gradient noise scale, until enough gradients were measured" }, \
	{ "parameters", 0, OPTION_TEXT, "N[K|M|G]", S(parameters), 0, 0, \
	  "of its model: with 'pollux profile --devices', what to expect before it was measured" }, \
	{ "replicas", 'r', OPTION_RANGE, "N[:MAX]", S(replicas), 1, 1024, \
	  "devices it can use; default 1, or 1 to all where the command has {gpus}" }

#define SUBMISSION_WORK_STEPS(S) \
	{ "steps", 0, OPTION_NUMBER, "N", S(total_steps), 1, 1e18, "optimizer updates to its end" }

#define SUBMISSION_STEPS(S) \
	{ "step-regex", 0, OPTION_TEXT, "ERE", S(step_regex), 0, 0, \
	  "how its log tells a step, where pollux does not see it by itself: 'pollux steps' tries it" }

#define SUBMISSION_STOP(S) \
	{ "stop-signal", 0, OPTION_TEXT, "SIGNAL", S(stop_signal), 0, 0, \
	  "asks the program to save and leave; default TERM" }, \
	{ "grace", 0, OPTION_DURATION, "TIME", S(grace_s), 0, 86400, \
	  "time for that before it is killed; default 60s" }

#define SUBMISSION_PLACE(S) \
	{ "env", 'e', OPTION_LIST, "NAME=VALUE", S(env), 0, 0, \
	  "set a variable on top of the present environment" }, \
	{ "chdir", 0, OPTION_TEXT, "DIR", S(directory), 0, 0, \
	  "run in this directory; default the present one" }

#endif
