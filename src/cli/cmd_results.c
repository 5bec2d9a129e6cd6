/* cmd_results.c - pollux results: the metrics of jobs, side by side. */
#include <stdlib.h>

#include "command.h"
#include "pollux/mem.h"
#include "pollux/results.h"
#include "pollux/session.h"

struct results_options {
	const char *metric;
	char *color;
	bool csv, json;
};

static const struct option_spec options[] = {
#define O(member) .offset = offsetof(struct results_options, member)
	{ "metric", 'm', OPTION_TEXT, "NAME[:min|:max]", O(metric), 0, 0,
	  "only this metric, and the best job first" },
	{ "csv", 0, OPTION_FLAG, NULL, O(csv), 0, 0, "print comma-separated values" },
	{ "json", 'j', OPTION_FLAG, NULL, O(json), 0, 0, "print JSON" },
	OPTION_COLOR(O(color)),
	{ .name = NULL },
#undef O
};

static void print(const struct results_options *o, const struct results *r,
		  const struct output *out)
{
	if (o->json)
		results_print_json(r, out->file);
	else if (o->csv)
		results_print_csv(r, out->file);
	else
		results_print_table(r, out);
}

static int show(const struct results_options *o, const int64_t *ids, int n, struct err *err)
{
	struct output out = output_stdout(o->color ? o->color : "auto");
	struct results r;
	struct session s;
	int rc;

	if (session_open(&s, STORE_READ, err))
		return -1;
	rc = results_read(&s.store, ids, n, &r, err);
	session_close(&s);
	if (rc)
		return rc;
	if (o->metric)
		rc = results_choose(&r, o->metric, err);
	if (rc == 0)
		print(o, &r, &out);
	results_release(&r);
	return rc ? rc : output_flush(err);
}

static int main_results(int argc, char **argv, struct err *err)
{
	struct results_options o = { .metric = NULL };
	int64_t *ids = xcalloc((size_t)argc + 1, sizeof(*ids));
	int first, n = 0, rc = options_parse(&cmd_results, argc, argv, &o, &first, err);
	long long id;

	if (rc == 0 && o.csv && o.json)
		rc = usage_error(&cmd_results, err, "--csv or --json, not both");
	for (int i = first; rc == 0 && i < argc; i++) {
		rc = parse_job_id(&cmd_results, argv[i], &id, err);
		ids[n++] = id;
	}
	if (rc == 0)
		rc = show(&o, ids, n, err);
	free(ids);
	options_release(&cmd_results, &o);
	return rc;
}

const struct command cmd_results = {
	.name = "results", .synopsis = "[OPTION...] [ID...]",
	.summary = "show the metrics of jobs side by side",
	.example = "pollux results --metric val_loss\n"
		   "pollux results 12 13 14 --csv",
	.options = options, .run = main_results,
};
