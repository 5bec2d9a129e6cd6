/* cmd_explain.c - pollux explain: why a job has the devices and sizes it has, and what others would
 * bring. */
#include <stdlib.h>

#include "commands.h"
#include "pollux/explain.h"

struct explain_options {
	bool json;
	const char *plot, *color;
	struct selection_options which;
};

static const struct option_spec options[] = {
#define O(field) .offset = offsetof(struct explain_options, field)
	{ "json", 'j', OPTION_FLAG, NULL, O(json), 0, 0, "print JSON" },
	{ "plot", 'p', OPTION_PICTURE, "FILE", O(plot), 0, 0,
	  "also draw goodput against devices and batch size, by gnuplot: FILE.svg or FILE.png" },
	OPTION_COLOR(O(color)),
	SELECTION_OPTIONS(offsetof(struct explain_options, which)),
	{ .name = NULL },
#undef O
};

static int explain_job(const struct selecting *what, const struct explain_options *o,
		       struct err *err)
{
	struct output out = output_stdout(o->color);
	struct explanation e;
	struct session s;
	int64_t id;
	int rc;

	if (session_open(&s, STORE_READ, err))
		return -1;
	rc = selection_read_one(what, &s.store, JOB_NEWEST, &id, err);
	if (rc == 0)
		rc = explanation_read(&s, id, &e, err);
	session_close(&s);
	if (rc)
		return -1;
	if (o->json)
		explanation_print_json(&e, stdout);
	else
		explanation_print(&e, &out);
	if (o->plot)
		rc = explanation_draw(&e, o->plot, err);
	explanation_release(&e);
	return rc;
}

static int main_explain(int argc, char **argv, struct err *err)
{
	struct explain_options o = { .color = "auto", .which = SELECTION_INIT };
	struct selecting what = { .command = &cmd_explain, .options = &o.which };
	int first;

	if (options_parse(&cmd_explain, argc, argv, &o, &first, err))
		return -1;
	what.operands = argv + first;
	what.n_operands = argc - first;
	if (what.n_operands > 1)
		return usage_error(&cmd_explain, err, "explain takes one job, not %d",
				   what.n_operands);
	if (!selection_is_given(&what))
		return usage_error(&cmd_explain, err, "which job? give its number");
	return selection_check(&what, err) ? -1 : explain_job(&what, &o, err);
}

const struct command cmd_explain = {
	.name = "explain", .synopsis = "[SELECTION] [JOB] [--json] [--plot FILE] [--color WHEN]",
	.summary = "why a job has what it has: goodput by devices and batch size",
	.example = "pollux explain 17\n"
		   "pollux explain 17 --plot goodput.svg",
	.options = options, .takes_jobs = true, .run = main_explain,
};
