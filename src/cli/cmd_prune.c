/* cmd_prune.c - pollux prune: remove what ended jobs left. */
#include <string.h>

#include "commands.h"
#include "pollux/clock.h"
#include "pollux/view.h"

struct prune_options {
	struct prune_order order;
	char *states;
};

static const struct option_spec options[] = {
#define O(member) .offset = offsetof(struct prune_options, member)
	{ "older-than", 0, OPTION_DURATION, "TIME", O(order.older_than_s), 0, 1e10,
	  "only jobs that ended so long ago, such as 30d" },
	{ "state", 0, OPTION_TEXT, "STATE,...", O(states), 0, 0,
	  "only jobs that ended so: done, failed, cancelled, timeout", .target = FIELD_TEXT },
	{ "keep-last", 0, OPTION_INT, "N", O(order.keep_last), 0, 1e9,
	  "leave the N that ended last alone" },
	{ "logs", 0, OPTION_FLAG, NULL, O(order.logs), 0, 0, "remove what they printed" },
	{ "checkpoints", 0, OPTION_FLAG, NULL, O(order.checkpoints), 0, 0,
	  "remove the directories that pollux made for their checkpoints" },
	{ "all", 0, OPTION_FLAG, NULL, O(order.records), 0, 0,
	  "remove both, and the jobs from the store, but for those on which models rest" },
	{ "dry-run", 0, OPTION_FLAG, NULL, O(order.dry_run), 0, 0,
	  "show what would be removed, and remove nothing" },
	{ .name = NULL },
};

/* Completes the order by what --all and --state say. */
static int make_order(struct prune_order *order, char *states, struct err *err)
{
	char *word;

	order->logs |= order->records;
	order->checkpoints |= order->records;
	if (!order->logs && !order->checkpoints)
		return usage_error(&cmd_prune, err,
				   "say what to remove: --logs, --checkpoints or --all");
	for (int i = 0; i < N_JOB_STATES; i++)
		order->states[i] = !states && job_has_ended((enum job_state)i);
	while ((word = strsep(&states, ","))) {
		int state = job_state_parse(word);

		if (state < 0 || !job_has_ended((enum job_state)state))
			return usage_error(&cmd_prune, err,
					   "bad --state '%s': states of ended jobs are done, "
					   "failed, cancelled and timeout", word);
		order->states[state] = true;
	}
	return 0;
}

static int main_prune(int argc, char **argv, struct err *err)
{
	struct prune_options o = { .states = NULL };
	struct prune_result result;
	double now_s = clock_wall_s();
	struct output out;
	struct session s;
	int first, rc = options_parse(&cmd_prune, argc, argv, &o, &first, err);

	if (rc == 0 && first < argc)
		rc = usage_error(&cmd_prune, err, "unexpected operand '%s'", argv[first]);
	if (rc == 0)
		rc = make_order(&o.order, o.states, err);
	options_release(&cmd_prune, &o);
	if (rc || session_open(&s, o.order.dry_run ? STORE_READ : STORE_WRITE, err))
		return -1;
	out = output_stdout("auto");
	rc = prune(&s.store, &s.paths, &o.order, now_s, &result, err);
	if (rc == 0) {
		prune_print_jobs(&result, now_s, &out);
		prune_print_total(&result, o.order.dry_run, out.file);
	}
	prune_result_release(&result);
	session_close(&s);
	return rc ? rc : output_flush(err);
}

const struct command cmd_prune = {
	.name = "prune", .synopsis = "[OPTION...]",
	.summary = "remove logs, checkpoints and records of ended jobs",
	.example = "pollux prune --older-than 30d --all --dry-run\n"
		   "pollux prune --state failed,cancelled --logs --checkpoints\n"
		   "pollux prune --keep-last 100 --logs",
	.options = options, .run = main_prune,
};
