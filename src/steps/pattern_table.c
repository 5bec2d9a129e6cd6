/* pattern_table.c - the built-in patterns, in the order in which they are tried. */
#include "pattern_table.h"

/* Special characters stand in brackets, since C would want each backslash doubled. */
#define INT "([0-9]+)"
#define NUM "([0-9.]+)"
#define BAR_COUNT "([0-9.]+[kMGT]?)"
#define BAR_RATE "([0-9.]+|[?])"

const struct pattern pattern_table[] = {
	{ .name = "ignore_eval", .form = "step N: train loss X, val loss X",
	  .regex = "^step [0-9]+: train loss [^ ]+, val loss", .needles = { ", val loss" },
	  .kind = KIND_IGNORE },
	{ .name = "ignore_save", .form = "saving checkpoint",
	  .regex = "(^|[^a-z])sav(ing|ed) .*checkpoint", .any_case = true,
	  .needles = { "saving ", "saved " }, .kind = KIND_IGNORE, .may_be_step = true },
	{ .name = "megatron", .form = "iteration N/TOTAL | ... elapsed time per iteration (ms): T",
	  .regex = "iteration +" INT "/ *" INT " [|].*elapsed time per iteration [(]ms[)]: " NUM,
	  .needles = { "per iteration (ms)" }, .kind = KIND_UPDATES, .step = 1, .total = 2,
	  .time_kind = TIME_STEP, .time = 3, .time_unit = "ms" },
	{ .name = "llmc_cu", .form = "step N/TOTAL | loss X | ... | T ms | ... tok/s",
	  .regex = "^step +" INT "/" INT " [|] loss .*[|] " NUM " ms [|].*[|] [0-9]+ tok/s",
	  .needles = { " tok/s" }, .kind = KIND_UPDATES, .step = 1, .total = 2,
	  .time_kind = TIME_STEP, .time = 3, .time_unit = "ms" },
	{ .name = "llmc_fp32", .form = "step N/TOTAL: train loss X (T ms, N tok/s)",
	  .regex = "^step +" INT "/" INT ": train loss [^ ]+ [(]" NUM " ms, [0-9]+ tok/s[)]",
	  .needles = { " tok/s" }, .kind = KIND_UPDATES, .step = 1, .total = 2,
	  .time_kind = TIME_STEP, .time = 3, .time_unit = "ms" },
	{ .name = "llmc_cpu", .form = "step N: train loss X (took T ms)",
	  .regex = "^step " INT ": train loss [^ ]+ [(]took " NUM " ms[)]",
	  .needles = { "(took " }, .kind = KIND_UPDATES, .step = 1,
	  .time_kind = TIME_STEP, .time = 2, .time_unit = "ms" },
	{ .name = "nanogpt", .form = "iter N: loss X, time Tms",
	  .regex = "^iter " INT ": loss [^ ,]+, time " NUM "ms",
	  .needles = { ": loss " }, .kind = KIND_UPDATES, .step = 1,
	  .time_kind = TIME_STEP, .time = 2, .time_unit = "ms" },
	{ .name = "nanochat", .form = "step N/TOTAL (P%) | ... dt: Tms",
	  .regex = "^step " INT "/" INT " [(][0-9.]+%[)] [|].* dt: " NUM "ms",
	  .needles = { " dt: " }, .kind = KIND_UPDATES, .step = 1, .total = 2,
	  .time_kind = TIME_STEP, .time = 3, .time_unit = "ms" },
	{ .name = "modded_nanogpt", .form = "step:N/TOTAL ... train_time:Tms step_avg:Tms",
	  .regex = "^step:" INT "/" INT " .*train_time:" NUM "ms step_avg:[0-9.]+ms",
	  .needles = { "train_time:" }, .kind = KIND_UPDATES, .step = 1, .total = 2,
	  .time_kind = TIME_SUM, .time = 3, .time_unit = "ms" },
	{ .name = "torchtitan", .form = "step: N  loss: X ... tps: N",
	  .regex = "step: +" INT " +loss: +[^ ]+ .*tps: [0-9,]+",
	  .needles = { "tps: " }, .kind = KIND_UPDATES, .step = 1 },
	{ .name = "timm", .form = "Train: EPOCH [N/TOTAL ...] ... Time: Ts",
	  .regex = "^Train: " INT " [[] *" INT "/" INT " .*Time: " NUM "s",
	  .needles = { "train: " }, .kind = KIND_BATCHES, .step = 2, .total = 3, .epoch = 1,
	  .time_kind = TIME_STEP, .time = 4, .time_unit = "s" },
	{ .name = "tv_metriclogger", .form = "[N/TOTAL]  eta: H:MM:SS ... time: T",
	  .regex = "[[] *" INT "/" INT "[]] +eta: [0-9].* time: " NUM,
	  .needles = { "eta: " }, .kind = KIND_BATCHES, .step = 1, .total = 2,
	  .time_kind = TIME_MEAN, .time = 3, .time_unit = "s" },
	{ .name = "pt_imagenet", .form = "Epoch: [EPOCH][N/TOTAL]  Time T (T)",
	  .regex = "^Epoch: [[]" INT "[]][[] *" INT "/" INT "[]][[:space:]]+Time +" NUM
		 " [(] *[0-9.]+[)]",
	  .needles = { "epoch: [" }, .kind = KIND_BATCHES, .step = 2, .total = 3, .epoch = 1,
	  .time_kind = TIME_STEP, .time = 4, .time_unit = "s" },
	{ .name = "mmengine", .form = "Epoch(train) [EPOCH][N/TOTAL] ... time: T",
	  .regex = "(Epoch[(]train[)] +[[]" INT "[]]|Iter[(]train[)] +)[[] *" INT "/ *" INT
		 "[]].* time: " NUM,
	  .needles = { "(train)" }, .kind = KIND_BATCHES, .step = 3, .total = 4, .epoch = 2,
	  .first_epoch = 1, .time_kind = TIME_MEAN, .time = 5, .time_unit = "s" },
	{ .name = "detectron2", .form = "iter: N  total_loss: X ... time: T",
	  .regex = "iter: " INT " .* time: " NUM,
	  .needles = { "iter: " }, .kind = KIND_UPDATES, .step = 1,
	  .time_kind = TIME_MEAN, .time = 2, .time_unit = "s" },
	{ .name = "deepspeed", .form = "micro_step=N/global_step=N, RunningAvgSamplesPerSec=X, ...",
	  .regex = "micro_step=[0-9]+/global_step=" INT
		 ", RunningAvgSamplesPerSec=[0-9.]+, CurrSamplesPerSec=[0-9.]+",
	  .needles = { "global_step=" }, .kind = KIND_UPDATES, .step = 1 },
	{ .name = "composer", .form = "[epoch=EPOCH][batch=N/TOTAL]:",
	  .regex = "[[](epoch=[0-9]+[]][[])?batch=" INT "(/" INT ")?[]]:",
	  .needles = { "batch=" }, .kind = KIND_UPDATES, .step = 2, .total = 4 },
	{ .name = "keras_v2", .form = "TOTAL/TOTAL - Ts - Tms/step - ...",
	  .regex = "^" INT "/" INT " - " INT "s - [0-9]+(us|ms|s)/step",
	  .needles = { "s/step" }, .kind = KIND_EPOCH, .step = 1, .total = 2,
	  .time_kind = TIME_SUM, .time = 3, .time_unit = "s" },
	{ .name = "keras_bar", .form = "N/TOTAL BAR Ts Tms/step - ...",
	  .regex = "^ *" INT "/([0-9]+|Unknown) .* " INT "(us|ms|s)/step",
	  .needles = { "s/step" }, .kind = KIND_BATCHES, .step = 1, .total = 2,
	  .time_kind = TIME_MEAN, .time = 3, .unit = 4 },
	{ .name = "tqdm_total", .form = "P%|BAR| N/TOTAL [ELAPSED<LEFT, RATEit/s]",
	  .regex = "^([^%|]*: *)? *[0-9]+%[|][^|]*[|] " BAR_COUNT "/" BAR_COUNT " [[]([0-9:]+)<[0-9:?]+, +"
		 BAR_RATE "([A-Za-z]+/[A-Za-z]+)",
	  .needles = { "%|" }, .kind = KIND_BAR, .description = 1, .step = 2, .total = 3,
	  .elapsed = 4, .time_kind = TIME_MEAN, .time = 5, .unit = 6 },
	{ .name = "tqdm_nototal", .form = "Nit [ELAPSED, RATEit/s]",
	  .regex = "^([^%|]*: )?" BAR_COUNT "it [[]([0-9:]+), +" BAR_RATE "(it/s|s/it)",
	  .needles = { "it [" }, .kind = KIND_BAR, .description = 1, .step = 2, .elapsed = 3,
	  .time_kind = TIME_MEAN, .time = 4, .unit = 5 },
	{ .name = "hf_final", .form = "{'train_runtime': X, ... 'train_steps_per_second': X",
	  .regex = "^[{]'train_runtime': .*'train_steps_per_second': '?" NUM,
	  .needles = { "'train_runtime'" }, .kind = KIND_FINAL,
	  .time_kind = TIME_RATE_MEAN, .time = 1 },
	{ .name = "hf_dict", .form = "{'loss': X, ... 'epoch': X}",
	  .regex = "^[{]'loss': '?[^',]+'?,.*'epoch': '?[0-9.]+",
	  .needles = { "{'loss'" }, .kind = KIND_LOSSES },
	{ .name = "mnist_example", .form = "Train Epoch: EPOCH [SAMPLES/TOTAL (P%)]",
	  .regex = "^Train Epoch: " INT " [[]" INT "/" INT " [(]",
	  .needles = { "train epoch: " }, .kind = KIND_SAMPLES, .step = 2, .total = 3, .epoch = 1,
	  .first_epoch = 1 },
	{ .name = "generic_slash", .form = "step N/TOTAL",
	  .regex = "(^|[^a-z])(steps?|iter|iteration|batch)[ :=#]*[[]? *" INT " */ *" INT,
	  .any_case = true, .needles = { "step", "iter", "batch" }, .kind = KIND_UNKNOWN,
	  .step = 3, .total = 4 },
	{ .name = "generic_num", .form = "step N",
	  .regex = "(^|[^a-z_])(global_step|step|iter|iteration)[ :=#]+" INT,
	  .any_case = true, .needles = { "step", "iter" }, .kind = KIND_UNKNOWN, .step = 3 },
};

#define N_PATTERNS (sizeof(pattern_table) / sizeof(pattern_table[0]))
_Static_assert(N_PATTERNS < PATTERNS_MAX, "each pattern has a bit of a mask, and --step-regex has one");

const int n_pattern_table = N_PATTERNS;

const char *steps_pattern_name(int i, const char **form)
{
	if (i < 0 || i >= n_pattern_table)
		return NULL;
	if (form)
		*form = pattern_table[i].form;
	return pattern_table[i].name;
}
