/* cmd_results.c - pollux results: the metrics of jobs, side by side. */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "pollux/report.h"
#include "pollux/selection.h"
#include "pollux/store_groups.h"
#include "pollux/view.h"

struct results_options {
	const char *metric, *plot;
	char *color;
	bool csv, json;
	struct selection_options which;
};

static const struct option_spec options[] = {
#define O(member) .offset = offsetof(struct results_options, member)
	{ "metric", 'm', OPTION_TEXT, "NAME[:min|:max]", O(metric), 0, 0,
	  "only this metric, and the best job first" },
	{ "csv", 0, OPTION_FLAG, NULL, O(csv), 0, 0, "print comma-separated values" },
	{ "plot", 'p', OPTION_PICTURE, "FILE", O(plot), 0, 0,
	  "also draw the metric against each parameter that differs, by gnuplot: FILE.svg or"
	  " FILE.png" },
	{ "json", 'j', OPTION_FLAG, NULL, O(json), 0, 0, "print JSON" },
	OPTION_COLOR(O(color)),
	SELECTION_OPTIONS(offsetof(struct results_options, which)),
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

static bool has_column(const struct results *r, const char *name)
{
	for (int c = 0; c < r->n_columns; c++)
		if (!strcmp(r->columns[c].name, name))
			return true;
	return false;
}

/* A sweep whose runs do not report the metric of --halving runs to the end, and looks like any
 * other sweep. */
static int note_silent_halving(struct store *s, const struct results *r, struct err *err)
{
	int64_t group_id = 0;
	struct halving_sweep sweep;

	for (int i = 0; i < r->jobs.count; i++) {
		if (r->jobs.items[i].group_id == group_id)
			continue;
		group_id = r->jobs.items[i].group_id;
		if (store_halving_read(s, group_id, &sweep, err))
			return -1;
		if (sweep.halving.n_rungs > 0 && !has_column(r, sweep.halving.metric))
			output_sayf(stderr, "pollux: note: no run of group %lld has reported '%s', "
				    "by which --halving compares them: none of them pauses",
				    (long long)group_id, sweep.halving.metric);
		halving_sweep_release(&sweep);
	}
	return 0;
}

static int read(const struct selecting *what, struct results *r, struct err *err)
{
	struct id_list ids = { .count = 0 };
	struct session s;
	int rc = 0;

	if (session_open(&s, STORE_READ, err))
		return -1;
	if (selection_is_given(what))
		rc = selection_read(what, &s.store, &ids, err);
	if (rc == 0)
		rc = results_read(&s.store, ids.items, ids.count, r, err);
	if (rc == 0 && note_silent_halving(&s.store, r, err)) {
		results_release(r);
		rc = -1;
	}
	id_list_release(&ids);
	session_close(&s);
	return rc;
}

static int show_results(const struct results_options *o, const struct selecting *what,
			struct err *err)
{
	struct output out = output_stdout(o->color ? o->color : "auto");
	struct results r;
	int rc = read(what, &r, err);

	if (rc)
		return rc;
	if (o->metric)
		rc = results_choose(&r, o->metric, err);
	/* Where nothing can be drawn, the error says why: a table would say the same. */
	if (rc == 0 && (r.n_columns > 0 || !o->plot || o->csv || o->json))
		print(o, &r, &out);
	if (rc == 0 && o->plot)
		rc = results_draw(&r, o->plot, err);
	results_release(&r);
	return rc ? rc : output_flush(err);
}

static int main_results(int argc, char **argv, struct err *err)
{
	struct results_options o = { .which = SELECTION_INIT };
	struct selecting what = { .command = &cmd_results, .options = &o.which };
	int first, rc = options_parse(&cmd_results, argc, argv, &o, &first, err);

	what.operands = argv + first;
	what.n_operands = argc - first;
	if (rc == 0 && o.csv && o.json)
		rc = usage_error(&cmd_results, err, "--csv or --json, not both");
	if (rc == 0)
		rc = selection_check(&what, err);
	if (rc == 0)
		rc = show_results(&o, &what, err);
	options_release(&cmd_results, &o);
	return rc;
}

const struct command cmd_results = {
	.name = "results", .synopsis = "[SELECTION] [JOB...] [OPTION...]",
	.summary = "show the metrics of jobs side by side",
	.example = "pollux results --metric val_loss\n"
		   "pollux results 12-20 --csv\n"
		   "pollux results group:3 --metric val_loss --plot lr.svg",
	.options = options, .takes_jobs = true, .run = main_results,
};
