/* cmd_steps.c - pollux steps: which training steps would be recognised in what a program prints. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/step_stats.h"
#include "pollux/steps.h"

#define BLOCK 65536
#define BAR_LIFE_S 1.0		/* short, since programs may be tried for a moment only */
#define WINDOW_STEPS 5		/* the number of lines whose times make a window of step_stats.h */

struct steps_options {
	const char *step_regex;
	bool json, list;
};

static const struct option_spec options[] = {
#define O(field) .offset = offsetof(struct steps_options, field)
	{ "list", 0, OPTION_FLAG, NULL, O(list), 0, 0, "print the built-in patterns instead" },
	{ "step-regex", 0, OPTION_TEXT, "ERE", O(step_regex), 0, 0,
	  "this regular expression instead: group 1 the step, group 2 its milliseconds, if any" },
	{ "json", 'j', OPTION_FLAG, NULL, O(json), 0, 0, "print a JSON document, for programs" },
	{ .name = NULL },
};

/* The steps that were found in a log. */
struct findings {
	struct steps_summary summary;
	struct step_event last;		/* of the pattern that is locked */
	struct step_stats stats;
	double last_unit_s;		/* the last time; NaN: none */
	enum step_basis basis;		/* of the times */
	int n_open;			/* times in the open window */
};

static void forget(struct findings *f)
{
	f->last = (struct step_event){ .position = (double)NAN, .total = (double)NAN };
	f->last_unit_s = (double)NAN;
	f->basis = STEP_UNTIMED;
	f->n_open = 0;
	step_stats_init(&f->stats);
}

static void take_step_event(const struct step_event *e, void *arg)
{
	struct findings *f = arg;

	if (e->begins)
		forget(f);
	f->last = *e;
	if (e->basis == STEP_UNTIMED)
		return;
	f->basis = e->basis;
	f->last_unit_s = e->unit_s;
	step_stats_add(&f->stats, e->unit_s, (double)NAN);
	if (++f->n_open < WINDOW_STEPS)
		return;
	step_stats_close_window(&f->stats);
	f->n_open = 0;
}

/* path "-": standard input. */
static int find_steps(const struct steps_options *o, const char *path, struct findings *f,
		      struct err *err)
{
	bool is_standard = strcmp(path, "-") == 0;
	struct steps *steps = steps_new(o->step_regex, err);
	char *block;
	ssize_t n;
	int fd;

	if (!steps)
		return err_prefix(err, "option '--step-regex'");
	fd = is_standard ? STDIN_FILENO : file_open_input(path);
	if (fd < 0) {
		err_set(err, EX_NOINPUT, "cannot open '%s': %s", path, strerror(errno));
		steps_free(steps);
		return -1;
	}
	steps_set_bar_life(steps, BAR_LIFE_S);
	forget(f);
	block = xmalloc(BLOCK);
	while ((n = read(fd, block, BLOCK)) > 0 || (n < 0 && errno == EINTR))
		if (n > 0)
			steps_feed(steps, block, (size_t)n, (double)NAN, take_step_event, f);
	if (n < 0)
		err_set(err, EX_IOERR, "cannot read '%s': %s",
			is_standard ? "standard input" : path, strerror(errno));
	else
		steps_end(steps, take_step_event, f);
	free(block);
	if (!is_standard)
		close(fd);
	step_stats_close_window(&f->stats);
	steps_summary(steps, &f->summary);
	steps_free(steps);
	return n < 0 ? -1 : 0;
}

static const char *unit_name(enum step_unit unit)
{
	static const char *const names[] = {
		[STEP_UPDATES] = "steps", [STEP_BATCHES] = "batches", [STEP_SAMPLES] = "samples",
		[STEP_EPOCHS] = "epochs", [STEP_TIMESTEPS] = "timesteps",
		[STEP_ITERATIONS] = "iterations", [STEP_PERCENT] = "percent",
	};

	return names[unit];
}

/* The time of a unit as a supervisor would measure it: the mean of the windows' medians without the
 * warm-up. With too few windows for that it is the time of the last unit. */
static double typical_unit_s(const struct findings *f, struct observation *o)
{
	return step_stats_result(&f->stats, o) ? o->step_time_s : f->last_unit_s;
}

static void print_count(const char *name, const char *word, double n, const char *unit)
{
	if (isfinite(n))
		printf("  %-12s%s%.15g %s\n", name, word, n, unit);
	else
		printf("  %-12s-\n", name);
}

static void print_total(const struct step_event *e)
{
	if (isfinite(e->total) && e->total_may_be_of_epoch)
		printf("  %-12s%.15g %s, perhaps not of the whole training\n", "total", e->total,
		       unit_name(e->unit));
	else
		print_count("total", "", e->total, unit_name(e->unit));
}

static void print_text(const struct findings *f)
{
	const struct steps_summary *s = &f->summary;
	struct observation o;
	double unit_s = typical_unit_s(f, &o);

	printf("%s: %s\n", s->pattern, s->form);
	print_count("position", f->last.unseen > 0 ? "at least " : "", step_event_done(&f->last),
		    unit_name(f->last.unit));
	print_total(&f->last);
	printf("  %-12s", "time of one");
	if (isnan(unit_s)) {
		puts("not in the lines: measured by their times of arrival, as it runs");
	} else {
		printf("%s, ", format_span(unit_s).s);
		if (o.n_windows > 0)
			printf("median of %lld lines, %lld of warm-up left out",
			       (long long)o.n_steps, (long long)o.n_dropped);
		else
			fputs("of the last line", stdout);
		puts(f->basis == STEP_PRINTED ? "" : "\n              "
		     "(an average of the program's; measured by arrival, as it runs)");
	}
	printf("  %-12s%lld of %lld are steps", "lines", (long long)s->n_matched,
	       (long long)s->n_lines);
	if (s->n_clipped)
		printf(", %lld longer than %d bytes", (long long)s->n_clipped, STEPS_LINE_MAX);
	putchar('\n');
	if (isfinite(s->final_unit_s))
		printf("  %-12s%s each, all in all, as it said at its end\n", "final",
		       format_span(s->final_unit_s).s);
}

/* Keys are documented in pollux-steps(1). */
static void print_json(const struct findings *f)
{
	static const char *const basis_names[] = {
		[STEP_UNTIMED] = NULL, [STEP_PRINTED] = "printed", [STEP_BY_ARRIVAL] = "arrival",
		[STEP_PRINTED_MEAN] = "printed-mean",
	};
	const struct steps_summary *s = &f->summary;
	struct observation o;
	struct json j;

	json_init(&j, stdout);
	json_object(&j, NULL);
	json_integer(&j, "schema_version", 1);
	json_string(&j, "pattern", s->pattern);
	json_string(&j, "form", s->form);
	json_string(&j, "unit", s->pattern ? unit_name(f->last.unit) : NULL);
	json_number(&j, "position", step_event_done(&f->last));
	json_bool(&j, "position_is_least", f->last.unseen > 0);
	json_number(&j, "total", f->last.total);
	json_bool(&j, "total_may_be_of_epoch",
		  isfinite(f->last.total) && f->last.total_may_be_of_epoch);
	json_number(&j, "unit_time_s", typical_unit_s(f, &o));
	json_string(&j, "basis", basis_names[f->basis]);
	json_number(&j, "final_unit_time_s", s->final_unit_s);
	json_integer(&j, "lines", s->n_lines);
	json_integer(&j, "matched_lines", s->n_matched);
	json_integer(&j, "clipped_lines", s->n_clipped);
	json_string(&j, "almost", s->almost);
	json_end(&j);
}

static int refuse_no_steps(const struct steps_options *o, const struct findings *f, struct err *err)
{
	long long n = f->summary.n_lines;
	const char *almost = f->summary.almost;

	if (!o->step_regex && f->summary.is_lightning)
		return err_set(err, EX_FAILED,
			       "no steps recognised in %lld lines: Lightning's Rich bar is for "
			       "terminals: use TQDMProgressBar, or submit with --torch", n);
	if (o->step_regex && almost)
		return err_set(err, EX_FAILED,
			       "no steps recognised: --step-regex matches, but its first group is "
			       "no number");
	if (o->step_regex)
		return err_set(err, EX_FAILED, "no steps recognised: none of %lld lines matches",
			       n);
	if (almost)
		return err_set(err, EX_FAILED,
			       "no steps recognised in %lld lines, too few like '%s' (three that "
			       "count, or a bar that lives %g s): try --step-regex, or 'pollux "
			       "report' in the program", n, almost, BAR_LIFE_S);
	return err_set(err, EX_FAILED,
		       "no steps recognised in %lld lines: give --step-regex, or use 'pollux "
		       "report' in the program", n);
}

static int main_steps(int argc, char **argv, struct err *err)
{
	struct steps_options o = { .step_regex = NULL };
	const char *name, *form;
	struct findings *f;
	int first, rc;

	if (options_parse(&cmd_steps, argc, argv, &o, &first, err))
		return -1;
	if (argc - first > (o.list ? 0 : 1))
		return usage_error(&cmd_steps, err,
				   o.list ? "--list takes no file" : "steps takes one file");
	for (int i = 0; o.list && (name = steps_pattern_name(i, &form)); i++)
		printf("%-16s%s\n", name, form);
	if (o.list)
		return 0;
	f = xcalloc(1, sizeof(*f));
	rc = find_steps(&o, first < argc ? argv[first] : "-", f, err);
	if (rc == 0 && o.json)
		print_json(f);
	else if (rc == 0 && f->summary.pattern)
		print_text(f);
	if (rc == 0 && !f->summary.pattern)
		rc = refuse_no_steps(&o, f, err);
	free(f);
	return rc;
}

const struct command cmd_steps = {
	.name = "steps", .synopsis = "[--list] [--step-regex ERE] [--json] [FILE]",
	.summary = "show which training steps are recognised in a program's output",
	.example = "pollux log 17 | pollux steps\n"
		   "pollux steps train.log\n"
		   "pollux steps --step-regex 'update #([0-9]+) in ([0-9.]+) ms' train.log",
	.options = options, .run = main_steps,
};
