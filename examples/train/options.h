/* options.h - what the command line and pollux ask for. */
#ifndef TRAIN_OPTIONS_H
#define TRAIN_OPTIONS_H

#include "net.h"
#include "noise.h"

#include "pollux/client.h"

#include <stdbool.h>
#include <stdint.h>

enum device { DEVICE_AUTO, DEVICE_CPU, DEVICE_CUDA };

struct options {
	const char *data;                /* directory */
	const char *checkpoint;          /* directory; NULL = no checkpoints */
	int n_hidden;
	int hidden[MAX_LAYERS - 1];
	int64_t subset;                  /* training samples; 0 = all */
	int64_t seed;                    /* -1 = the checkpoint's, else 1 */
	/* batch = replicas * local_batch * accum */
	int64_t replicas, local_batch, accum, batch, initial_batch;
	double lr, lr_scale;             /* lr_scale NAN = by the rule */
	enum lr_rule lr_rule;
	int64_t lr_decay_samples;        /* 0 = constant */
	double momentum;
	int64_t samples;                 /* to train on in all */
	double target_accuracy;          /* NAN = none */
	int64_t eval_every;              /* samples; 0 = every epoch */
	double checkpoint_every_s, log_every_s;
	double noise_horizon;            /* samples */
	double update_delay_ms;
	int64_t measure_noise;           /* samples; 0 = train */
	enum device device;
	bool tf32;                       /* on a GPU */
	bool recompute, replicate_optimizer;	/* on the CPU */
	bool fresh, freeze;
};

/* From the command line (borrowed), then pollux, then defaults. Prints the help
 * and exits 0 on --help; dies with EX_USAGE on what cannot be. */
void options_parse(struct options *options, int argc, char **argv,
		   const struct pollux_config *config);

/* Take over what pollux wants while the program runs: batch, local_batch, accum
 * and lr_scale, whatever the command line said of them. */
void options_reconfigure(struct options *options, const struct pollux_config *config);

#endif
