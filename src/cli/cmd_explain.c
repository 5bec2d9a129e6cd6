/* cmd_explain.c - pollux explain: why a job has the devices and sizes it has, and what others would bring. */
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "pollux/explain.h"
#include "pollux/picture.h"

struct explain_options {
	bool json;
	const char *plot, *color;
};

static const struct option_spec options[] = {
#define O(field) .offset = offsetof(struct explain_options, field)
	{ "json", 'j', OPTION_FLAG, NULL, O(json), 0, 0, "print JSON" },
	{ "plot", 'p', OPTION_TEXT, "FILE", O(plot), 0, 0,
	  "also draw goodput against devices and batch size, by gnuplot: FILE.svg or FILE.png" },
	{ "color", 0, OPTION_TEXT, "WHEN", O(color), 0, 0,
	  "auto (default: on a terminal, unless NO_COLOR is set), always or never" },
	{ .name = NULL },
#undef O
};

static void print(const struct explanation *e, const struct explain_options *o)
{
	struct output out = output_stdout(o->color);

	if (o->json)
		explanation_print_json(e, stdout);
	else
		explanation_print(e, &out);
}

static int draw(const struct explanation *e, const char *path, struct err *err)
{
	struct text text = TEXT_INIT;
	int rc;

	if (explanation_missing(e, &text))
		rc = err_set(err, EX_FAILED, "nothing to draw of job %lld: %s", (long long)e->job->id,
			     text.data);
	else if (e->least == 0)
		rc = err_set(err, EX_FAILED, "nothing to draw of job %lld: there is no number of devices "
			     "for it here", (long long)e->job->id);
	else {
		explanation_plot_script(e, picture_format(path), &text);
		rc = picture_draw(text.data, path, err);
	}
	text_release(&text);
	return rc;
}

static int explain(int64_t job_id, const struct explain_options *o, struct err *err)
{
	struct explanation e;
	struct session s;
	int rc;

	if (session_open(&s, STORE_READ, err))
		return -1;
	rc = explanation_read(&s, job_id, &e, err);
	session_close(&s);
	if (rc)
		return -1;
	print(&e, o);
	if (o->plot)
		rc = draw(&e, o->plot, err);
	explanation_release(&e);
	return rc;
}

static int check(const struct explain_options *o, struct err *err)
{
	const char *color = o->color;

	if (strcmp(color, "auto") != 0 && strcmp(color, "always") != 0 && strcmp(color, "never") != 0)
		return usage_error(&cmd_explain, err, "option '--color' wants auto, always or never, "
				   "not '%.60s'", color);
	if (o->plot && !picture_format(o->plot))
		return usage_error(&cmd_explain, err, "option '--plot' wants a file that ends in .svg or "
				   ".png, not '%.200s'", o->plot);
	return 0;
}

static int run(int argc, char **argv, struct err *err)
{
	struct explain_options o = { .color = "auto" };
	long long id;
	int first;

	if (options_parse(&cmd_explain, argc, argv, &o, &first, err))
		return -1;
	if (argc - first != 1)
		return usage_error(&cmd_explain, err, first < argc ? "explain takes one job, not %d"
				   : "which job? give its number", argc - first);
	if (parse_job_id(&cmd_explain, argv[first], &id, err) || check(&o, err))
		return -1;
	return explain(id, &o, err);
}

const struct command cmd_explain = {
	.name = "explain",
	.synopsis = "ID [--json] [--plot FILE] [--color WHEN]",
	.summary = "why a job has what it has: goodput by devices and batch size",
	.example = "pollux explain 17\n"
		   "pollux explain 17 --plot goodput.svg",
	.options = options,
	.run = run,
};
