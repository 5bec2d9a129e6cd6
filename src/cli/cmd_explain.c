/* cmd_explain.c - pollux explain: why a job has the devices and sizes it has, and what others would
 * bring. */
#include "commands.h"
#include "pollux/view.h"

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
};

static int main_explain(int argc, char **argv, struct err *err)
{
	struct explain_options o = { .color = "auto", .which = SELECTION_INIT };
	struct selecting what = { .command = &cmd_explain, .options = &o.which };
	struct output out;
	struct explanation e;
	struct session s;
	int64_t id;
	int rc;

	if (selecting_parse(&what, argc, argv, &o, err))
		return -1;
	if (what.n_operands > 1)
		return usage_error(&cmd_explain, err, "explain takes one job, not %d",
				   what.n_operands);
	if (!selection_is_given(&what))
		return usage_error(&cmd_explain, err, "which job? give its number");
	if (selection_check(&what, err) || session_open(&s, STORE_READ, err))
		return -1;
	out = output_stdout(o.color);
	rc = selection_read_one(&what, &s.store, JOB_NEWEST, &id, err) ||
	     explanation_read(&s, id, &e, err) ? -1 : 0;
	session_close(&s);
	if (rc)
		return -1;
	if (o.json)
		explanation_print_json(&e, stdout);
	else
		explanation_print(&e, &out);
	if (o.plot)
		rc = explanation_draw(&e, o.plot, err);
	explanation_release(&e);
	return rc;
}

const struct command cmd_explain = {
	.name = "explain", .synopsis = "[SELECTION] [JOB] [--json] [--plot FILE] [--color WHEN]",
	.summary = "why a job has what it has: goodput by devices and batch size",
	.example = "pollux explain 17\n"
		   "pollux explain 17 --plot goodput.svg",
	.options = options, .takes_jobs = true, .run = main_explain,
};
