/* cmd_results.c - pollux results: the metrics of jobs, side by side. */
#include <string.h>

#include "commands.h"
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
};

/* A sweep whose runs do not report the metric of --halving runs to the end, and looks like any
 * other sweep. */
static int note_silent_halving(struct store *s, const struct results *r, struct err *err)
{
	int64_t group_id = 0;
	struct halving_sweep sweep;

	for (int i = 0; i < r->jobs.count; i++) {
		bool is_silent = true;

		if (r->jobs.items[i].group_id == group_id)
			continue;
		group_id = r->jobs.items[i].group_id;
		if (store_halving_read(s, group_id, &sweep, err))
			return -1;
		for (int c = 0; c < r->n_columns; c++)
			is_silent &= strcmp(r->columns[c].name, sweep.halving.metric) != 0;
		if (sweep.halving.n_rungs > 0 && is_silent)
			output_sayf(stderr, "pollux: note: no run of group %lld has reported '%s', "
				    "by which --halving compares them: none of them pauses",
				    (long long)group_id, sweep.halving.metric);
		halving_sweep_release(&sweep);
	}
	return 0;
}

static int show(const struct results_options *o, struct results *r, struct err *err)
{
	struct output out = output_stdout(o->color ? o->color : "auto");
	struct paged paged;

	if (o->metric && results_choose(r, o->metric, err))
		return -1;
	paged_begin(&paged, &out);
	/* Where nothing can be drawn, the error says why: a table would say the same. */
	if (o->json)
		results_print_json(r, out.file);
	else if (o->csv)
		results_print_csv(r, out.file);
	else if (r->n_columns > 0 || !o->plot)
		results_print_table(r, &out);
	paged_end(&paged);
	if (o->plot && results_draw(r, o->plot, err))
		return -1;
	return output_flush(err);
}

static int main_results(int argc, char **argv, struct err *err)
{
	struct results_options o = { .which = SELECTION_INIT };
	struct selecting what = { .command = &cmd_results, .options = &o.which };
	struct id_list ids = { .count = 0 };
	struct results r;
	struct session s;
	int rc = selecting_parse(&what, argc, argv, &o, err);

	if (rc == 0 && o.csv && o.json)
		rc = usage_error(&cmd_results, err, "--csv or --json, not both");
	if (rc || selection_check(&what, err) || session_open(&s, STORE_READ, err)) {
		options_release(&cmd_results, &o);
		return -1;
	}
	if (selection_is_given(&what))
		rc = selection_read(&what, &s.store, &ids, err);
	rc = rc ? rc : results_read(&s.store, ids.items, ids.count, &r, err);
	if (rc == 0) {
		rc = note_silent_halving(&s.store, &r, err) || show(&o, &r, err) ? -1 : 0;
		results_release(&r);
	}
	id_list_release(&ids);
	session_close(&s);
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
