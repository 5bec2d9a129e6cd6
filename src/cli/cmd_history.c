/* cmd_history.c - pollux history: what jobs took and reached, by day, name, workload, group or
 * user. */
#include <string.h>

#include "commands.h"
#include "pollux/clock.h"
#include "pollux/view.h"

struct history_options {
	double since_s;
	char *by, *color;
	const char *plot;
	bool csv, json;
};

static const struct option_spec options[] = {
#define O(member) .offset = offsetof(struct history_options, member)
	{ "since", 's', OPTION_DURATION, "TIME", O(since_s), 1, 1e10,
	  "the last TIME, such as 12h or 30d; default 7d" },
	{ "by", 'b', OPTION_CHOICE, "WHAT", O(by), 0, 0,
	  "a row for each day (default), name, workload, group or"
	  " user", .choices = past_key_names },
	{ "csv", 0, OPTION_FLAG, NULL, O(csv), 0, 0, "print comma-separated values" },
	{ "json", 'j', OPTION_FLAG, NULL, O(json), 0, 0, "print JSON" },
	{ "plot", 'p', OPTION_PICTURE, "FILE", O(plot), 0, 0,
	  "also draw device time and waiting by row, by gnuplot: FILE.svg or FILE.png" },
	OPTION_COLOR(O(color)),
	{ .name = NULL },
};

static int main_history(int argc, char **argv, struct err *err)
{
	struct history_options o = { .since_s = 7 * 86400.0 };
	struct past_period period = { .now_s = clock_wall_s() };
	struct output out;
	struct paged paged;
	struct session s;
	struct past p;
	int key = 0, first, rc = options_parse(&cmd_history, argc, argv, &o, &first, err);

	if (rc == 0 && first < argc)
		rc = usage_error(&cmd_history, err, "unexpected operand '%s'", argv[first]);
	if (rc == 0 && o.csv && o.json)
		rc = usage_error(&cmd_history, err, "--csv or --json, not both");
	out = output_stdout(o.color ? o.color : "auto");
	period.since_s = period.now_s - o.since_s;
	while (o.by && past_key_names[key] && strcmp(past_key_names[key], o.by) != 0)
		key++;
	period.by = (enum past_key)key;
	rc = rc || (o.plot && picture_check(o.plot, err)) || session_open(&s, STORE_READ, err)
		? -1 : 0;
	if (rc == 0) {
		rc = past_read(&s, &period, &p, err);
		session_close(&s);
	}
	if (rc == 0) {
		paged_begin(&paged, &out);
		if (o.json)
			past_print_json(&p, out.file);
		else if (o.csv)
			past_print_csv(&p, out.file);
		else
			past_print_table(&p, &out);
		paged_end(&paged);
		rc = o.plot ? past_draw(&p, o.plot, err) : 0;
		past_release(&p);
		rc = rc ? rc : output_flush(err);
	}
	options_release(&cmd_history, &o);
	return rc;
}

const struct command cmd_history = {
	.name = "history", .synopsis = "[OPTION...]",
	.summary = "what jobs took and reached, by day, name, workload, group or user",
	.example = "pollux history --since 30d\n"
		   "pollux history --by workload",
	.options = options, .run = main_history,
};
