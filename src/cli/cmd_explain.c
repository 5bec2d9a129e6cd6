/* cmd_explain.c - pollux explain: why a job has the devices and sizes it has, and what others would
 * bring. */
#include <stdlib.h>

#include "command.h"
#include "pollux/explain.h"

struct explain_options {
	bool json;
	const char *plot, *color;
};

static const struct option_spec options[] = {
#define O(field) .offset = offsetof(struct explain_options, field)
	{ "json", 'j', OPTION_FLAG, NULL, O(json), 0, 0, "print JSON" },
	{ "plot", 'p', OPTION_PICTURE, "FILE", O(plot), 0, 0,
	  "also draw goodput against devices and batch size, by gnuplot: FILE.svg or FILE.png" },
	OPTION_COLOR(O(color)),
	{ .name = NULL },
#undef O
};

static int explain(int64_t job_id, const struct explain_options *o, struct err *err)
{
	struct output out = output_stdout(o->color);
	struct explanation e;
	struct session s;
	int rc;

	if (session_open(&s, STORE_READ, err))
		return -1;
	rc = explanation_read(&s, job_id, &e, err);
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
	struct explain_options o = { .color = "auto" };
	long long id;
	int first;

	if (options_parse(&cmd_explain, argc, argv, &o, &first, err))
		return -1;
	if (argc - first != 1)
		return usage_error(&cmd_explain, err, first < argc ? "explain takes one job, not %d"
				   : "which job? give its number", argc - first);
	if (parse_job_id(&cmd_explain, argv[first], &id, err))
		return -1;
	return explain(id, &o, err);
}

const struct command cmd_explain = {
	.name = "explain", .synopsis = "ID [--json] [--plot FILE] [--color WHEN]",
	.summary = "why a job has what it has: goodput by devices and batch size",
	.example = "pollux explain 17\n"
		   "pollux explain 17 --plot goodput.svg",
	.options = options, .run = main_explain,
};
