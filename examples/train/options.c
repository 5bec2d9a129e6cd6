/* options.c - the option table, and how batch, replicas and passes fit together. */
#include "options.h"

#include "die.h"

#include <getopt.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

enum type { INTEGER, NUMBER, TEXT, FLAG, HIDDEN, RULE, DEVICE };

struct row {
	const char *name;
	enum type type;
	size_t offset;                   /* in struct options */
	double min, max;                 /* of INTEGER and NUMBER */
	const char *argument, *help;
};

#define AT(field) offsetof(struct options, field)

enum { MAX_REPLICAS = 256, MAX_WIDTH = 1 << 16 };
static const double max_batch = 1 << 24;

static const struct row rows[] = {
	{ "data", TEXT, AT(data), 0, 0, "DIR",
	  "IDX files, plain or .gz (/usr/share/datasets/fashion-mnist)" },
	{ "subset", INTEGER, AT(subset), 1, 1e9, "N", "train on the first N samples only" },
	{ "hidden", HIDDEN, AT(hidden), 0, 0, "N,N...", "hidden layers (256,128)" },
	{ "seed", INTEGER, AT(seed), 0, 1e15, "N", "of weights and data order (1)" },
	{ "replicas", INTEGER, AT(replicas), 1, MAX_REPLICAS, "N",
	  "data-parallel threads, or GPUs (POLLUX_REPLICAS, else 1)" },
	{ "local-batch", INTEGER, AT(local_batch), 1, 1 << 20, "N",
	  "samples per replica and pass (POLLUX_LOCAL_BATCH)" },
	{ "accum", INTEGER, AT(accum), 1, 1 << 16, "N",
	  "passes per update, all of them (POLLUX_ACCUM, else 1)" },
	{ "batch", INTEGER, AT(batch), 1, 1 << 24, "N",
	  "samples per update = replicas x local-batch x accum\n"
	  "(POLLUX_BATCH, else --initial-batch)" },
	{ "initial-batch", INTEGER, AT(initial_batch), 1, 1 << 24, "N",
	  "the batch that --lr is tuned for (128)" },
	{ "lr", NUMBER, AT(lr), 1e-9, 1e3, "X", "learning rate at --initial-batch (0.05)" },
	{ "lr-rule", RULE, AT(lr_rule), 0, 0, "RULE",
	  "at other batches: adascale, sqrt, linear, none (adascale)" },
	{ "lr-scale", NUMBER, AT(lr_scale), 1e-9, 1e9, "X",
	  "factor on --lr instead of a rule (POLLUX_LR_SCALE\n"
	  "unless --lr-rule is given)" },
	{ "lr-decay-samples", INTEGER, AT(lr_decay_samples), 0, 1e15, "N",
	  "lower the rate to a hundredth over N samples, 0: not\n"
	  "(--samples)" },
	{ "momentum", NUMBER, AT(momentum), 0, 0.9999, "X", "of SGD (0.9)" },
	{ "device", DEVICE, AT(device), 0, 0, "DEVICE",
	  "cpu, cuda, or auto: cuda where CUDA_VISIBLE_DEVICES is\n"
	  "set and not empty, and CUDA opens (auto)" },
	{ "tf32", FLAG, AT(tf32), 0, 0, NULL,
	  "let a GPU round products to TF32: faster, less exact" },
	{ "recompute", FLAG, AT(recompute), 0, 0, NULL,
	  "keep few activations and compute the others again: less\n"
	  "memory, more time, the same result (on the CPU)" },
	{ "replicate-optimizer", FLAG, AT(replicate_optimizer), 0, 0, NULL,
	  "each replica keeps all parameters and all of the\n"
	  "optimizer's state, not its slice (on the CPU)" },
	{ "samples", INTEGER, AT(samples), 1, 1e15, "N",
	  "stop at exactly N samples since the first launch (600000)" },
	{ "target-accuracy", NUMBER, AT(target_accuracy), 0, 1, "X",
	  "stop when an evaluation reaches X, as 0.88" },
	{ "eval-every", INTEGER, AT(eval_every), 1, 1e15, "N",
	  "samples between evaluations (an epoch)" },
	{ "checkpoint", TEXT, AT(checkpoint), 0, 0, "DIR",
	  "save there and resume from there (POLLUX_CHECKPOINT_DIR)" },
	{ "checkpoint-every", NUMBER, AT(checkpoint_every_s), 0, 1e9, "S",
	  "seconds between checkpoints (30)" },
	{ "fresh", FLAG, AT(fresh), 0, 0, NULL, "do not resume: start over" },
	{ "log-every", NUMBER, AT(log_every_s), 0, 1e9, "S",
	  "seconds between step lines; 0: every step (0.5)" },
	{ "noise-horizon", NUMBER, AT(noise_horizon), 1, 1e15, "N",
	  "samples over which noise estimates are averaged (60000)" },
	{ "update-delay", NUMBER, AT(update_delay_ms), 0, 1e6, "MS",
	  "add so many milliseconds to each update, as a slow\n"
	  "network would (0)" },
	{ "freeze", FLAG, AT(freeze), 0, 0, NULL,
	  "learning rate 0, no checkpoints: average the noise\n"
	  "estimates at the weights as they are" },
	{ "measure-noise", INTEGER, AT(measure_noise), 2, 1e9, "N",
	  "measure the noise directly, from the gradients of N\n"
	  "single samples, on the CPU, and exit" },
	{ "help", FLAG, 0, 0, 0, NULL, "print this and exit" },
};
enum { N_ROWS = sizeof(rows) / sizeof(*rows) };

static const struct { const char *name; enum lr_rule rule; } rules[] = {
	{ "adascale", LR_ADASCALE }, { "sqrt", LR_SQRT }, { "linear", LR_LINEAR },
	{ "none", LR_NONE },
};

static const struct { const char *name; enum device device; } devices[] = {
	{ "auto", DEVICE_AUTO }, { "cpu", DEVICE_CPU }, { "cuda", DEVICE_CUDA },
};

static void print_help_line(const struct row *row)
{
	char left[40];

	snprintf(left, sizeof(left), "--%s%s%s", row->name, row->argument ? " " : "",
		 row->argument ? row->argument : "");
	printf("  %-22s", left);
	for (const char *p = row->help; *p; p++) {
		putchar(*p);
		if (*p == '\n')
			printf("%24s", "");
	}
	putchar('\n');
}

_Noreturn static void print_help(void)
{
	puts("usage: train [options]\n"
	     "Train a classifier on Fashion-MNIST, alone or under pollux.\n");
	for (int i = 0; i < N_ROWS; i++)
		print_help_line(&rows[i]);
	puts("\nOptions win over the environment, which counts under pollux only.\n"
	     "SIGTERM and SIGINT: finish the update, save, exit 75.\n"
	     "Exit status: 0 training complete, 64 usage, 65 bad data or checkpoint,\n"
	     "66 no data, 69 no CUDA or not enough of it (GPUs, memory), 70 training\n"
	     "diverged, 71 system, 73 cannot create, 74 cannot write, 75 stopped early.\n"
	     "\n"
	     "On CUDA each replica is a GPU, the first of those that CUDA shows. It needs\n"
	     "the driver, cuBLAS and NVRTC, of the version that train was built with. A\n"
	     "checkpoint of one device goes on on the other. CUDA HAS NEVER BEEN RUN ON A\n"
	     "GPU: its kernels are compiled, and run on the CPU, by the tests.");
	exit(0);
}

static void parse_hidden(struct options *o, const char *text)
{
	const char *p = text;

	o->n_hidden = 0;
	for (;;) {
		char *end;
		long width = strtol(p, &end, 10);

		if (*p < '0' || *p > '9' || width < 1 || width > MAX_WIDTH ||
		    (*end && *end != ',') || o->n_hidden == MAX_LAYERS - 1)
			die(EX_USAGE, "option --hidden: '%s' is not 1 to %d sizes from 1 to %d, "
			    "as 256,128", text, MAX_LAYERS - 1, MAX_WIDTH);
		o->hidden[o->n_hidden++] = (int)width;
		if (!*end)
			return;
		p = end + 1;
	}
}

static enum lr_rule parse_rule(const char *text)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++)
		if (strcmp(text, rules[i].name) == 0)
			return rules[i].rule;
	die(EX_USAGE, "option --lr-rule: '%s' is not adascale, sqrt, linear or none", text);
}

static enum device parse_device(const char *text)
{
	for (size_t i = 0; i < sizeof(devices) / sizeof(*devices); i++)
		if (strcmp(text, devices[i].name) == 0)
			return devices[i].device;
	die(EX_USAGE, "option --device: '%s' is not auto, cpu or cuda", text);
}

/* A decimal number without spaces before or anything after it, within the row's
 * bounds. */
static double parse_number(const struct row *row, const char *text)
{
	char *end;
	double value = strtod(text, &end);
	bool integer = row->type == INTEGER;

	if (strspn(text, integer ? "0123456789" : "0123456789.eE+-") != strlen(text) ||
	    end == text || *end || !(value >= row->min && value <= row->max))
		die(EX_USAGE, "option --%s: '%s' is not %s from %.15g to %.15g", row->name, text,
		    integer ? "an integer" : "a number", row->min, row->max);
	return value;
}

static void set_option(struct options *o, const struct row *row, const char *text)
{
	char *field = (char *)o + row->offset;

	switch (row->type) {
	case INTEGER:
		*(int64_t *)(void *)field = (int64_t)parse_number(row, text);
		break;
	case NUMBER:
		*(double *)(void *)field = parse_number(row, text);
		break;
	case TEXT:
		if (!*text)
			die(EX_USAGE, "option --%s: the name is empty", row->name);
		*(const char **)(void *)field = text;
		break;
	case FLAG:
		*(bool *)field = true;
		break;
	case HIDDEN:
		parse_hidden(o, text);
		break;
	case RULE:
		o->lr_rule = parse_rule(text);
		break;
	case DEVICE:
		o->device = parse_device(text);
		break;
	}
}

static void parse_command_line(struct options *o, int argc, char **argv, bool *rule_given)
{
	struct option list[N_ROWS + 1] = { { 0 } };
	int index;

	for (int i = 0; i < N_ROWS; i++)
		list[i] = (struct option){ rows[i].name,
			rows[i].type == FLAG ? no_argument : required_argument, NULL, 1 };
	opterr = 0;
	for (int c; (c = getopt_long(argc, argv, ":", list, &index)) != -1;) {
		if (c == ':')
			die(EX_USAGE, "option %s: a value is missing", argv[optind - 1]);
		if (c != 1)
			die(EX_USAGE, "option %s is unknown, ambiguous or takes no value (try "
			    "--help)", argv[optind - 1]);
		if (index == N_ROWS - 1)
			print_help();
		*rule_given |= rows[index].type == RULE;
		set_option(o, &rows[index], optarg);
	}
	if (optind < argc)
		die(EX_USAGE, "argument '%s' is not an option (try --help)", argv[optind]);
}

static int64_t first_set(int64_t a, int64_t b, int64_t c)
{
	if (a)
		return a;
	return b ? b : c;
}

/* Fill in what is not given of batch = replicas x local batch x accum. What the
 * command line says of either batch replaces both of pollux's. */
static void resolve_batch(struct options *o, const struct pollux_config *config)
{
	o->replicas = first_set(o->replicas, config->replicas, 1);
	o->accum = first_set(o->accum, config->accumulation_steps, 1);
	if (!o->batch && !o->local_batch) {
		o->batch = config->batch_size;
		if (!o->batch)
			o->local_batch = config->local_batch_size;
		if (!o->batch && !o->local_batch)
			o->batch = o->initial_batch;
	}
	int64_t passes = o->replicas * o->accum;
	if (o->replicas > MAX_REPLICAS || (double)passes > max_batch)
		die(EX_USAGE, "%lld replicas x %lld passes are too many (at most %d replicas)",
		    (long long)o->replicas, (long long)o->accum, MAX_REPLICAS);
	if (o->batch && o->batch % passes)
		die(EX_USAGE, "batch %lld cannot be divided among %lld replicas x %lld passes",
		    (long long)o->batch, (long long)o->replicas, (long long)o->accum);
	if (o->batch && o->local_batch && o->batch != passes * o->local_batch)
		die(EX_USAGE, "batch %lld is not %lld replicas x local batch %lld x %lld passes",
		    (long long)o->batch, (long long)o->replicas, (long long)o->local_batch,
		    (long long)o->accum);
	if (!o->local_batch)
		o->local_batch = o->batch / passes;
	o->batch = passes * o->local_batch;
	if ((double)o->batch > max_batch)
		die(EX_USAGE, "batch %lld is too large", (long long)o->batch);
}

void options_reconfigure(struct options *o, const struct pollux_config *config)
{
	if ((double)config->batch_size > max_batch)
		die(EX_USAGE, "batch %lld is too large", (long long)config->batch_size);
	o->batch = config->batch_size;
	o->local_batch = config->local_batch_size;
	o->accum = config->accumulation_steps;
	o->lr_scale = config->lr_scale;
}

void options_parse(struct options *o, int argc, char **argv,
		   const struct pollux_config *config)
{
	bool rule_given = false;

	*o = (struct options){
		.data = "/usr/share/datasets/fashion-mnist",
		.n_hidden = 2, .hidden = { 256, 128 },
		.seed = -1, .lr_decay_samples = -1, .initial_batch = 128,
		.lr = 0.05, .lr_scale = (double)NAN, .lr_rule = LR_ADASCALE,
		.momentum = 0.9, .samples = 600000, .target_accuracy = (double)NAN,
		.checkpoint_every_s = 30, .log_every_s = 0.5, .noise_horizon = 60000,
	};
	parse_command_line(o, argc, argv, &rule_given);
	if (o->lr_decay_samples < 0)
		o->lr_decay_samples = o->samples;
	resolve_batch(o, config);
	if (isnan(o->lr_scale) && !rule_given)
		o->lr_scale = config->lr_scale;
	if (!o->checkpoint)
		o->checkpoint = config->checkpoint_dir;
}
