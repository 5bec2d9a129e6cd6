/* patterns.c - matches a line and reads its numbers. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "patterns.h"

#define COUNT_MAX 1e15		/* far below 2^53, above which counting by one is lost */
#define COARSE_UNITS 10

/* --- numbers --- */

/* Returns the value of digits with at most one point; NaN for other text. *units: the number
 * without the point. */
static double decimal(struct span s, double *units)
{
	double value = 0, scale = 1;
	bool digits = false, point = false;

	for (size_t i = 0; i < s.n; i++) {
		if (s.text[i] == '.' && !point) {
			point = true;
		} else if (isdigit((unsigned char)s.text[i])) {
			digits = true;
			value = value * 10 + (s.text[i] - '0');
			scale *= point ? 10 : 1;
		} else {
			return (double)NAN;
		}
	}
	*units = value;
	return digits && value <= COUNT_MAX ? value / scale : (double)NAN;
}

/* Returns a count, which tqdm may have written with a suffix. */
static double count_of(struct span s)
{
	static const char suffixes[] = { 'k', 'M', 'G', 'T' };
	const char *suffix = s.n ? memchr(suffixes, s.text[s.n - 1], sizeof(suffixes)) : NULL;
	double units, factor = suffix ? pow(1e3, (double)(suffix - suffixes) + 1) : 1;

	s.n -= suffix != NULL;
	return factor * decimal(s, &units);
}

/* Seconds of "M:SS" or "H:MM:SS". */
static double elapsed_of(struct span s)
{
	double total = 0, part = 0;

	for (size_t i = 0; i < s.n && total < COUNT_MAX; i++) {
		if (s.text[i] == ':') {
			total = 60 * (total + part);
			part = 0;
		} else {
			part = 10 * part + (s.text[i] - '0');
		}
	}
	return total + part;
}

static bool begins(struct span s, const char *with)
{
	return s.n >= strlen(with) && !memcmp(s.text, with, strlen(with));
}

static bool ends(struct span s, const char *with)
{
	return s.n >= strlen(with) && !memcmp(s.text + s.n - strlen(with), with, strlen(with));
}

/* Seconds of one step, from a value in "ms", "s/it" or "it/s". NaN for a rate of bytes. */
static double seconds_for_each(double value, struct span unit)
{
	if (ends(unit, "B/s"))
		return (double)NAN;
	if (ends(unit, "/s"))
		return value > 0 ? 1 / value : (double)NAN;
	if (begins(unit, "us"))
		return value * 1e-6;
	return begins(unit, "ms") ? value * 1e-3 : value;
}

/* --- a line --- */

/* Group 0, the whole line, stands for "no such group" in the table. */
static struct span group(const struct span *groups, int i)
{
	return i > 0 && groups[i].text ? groups[i] : (struct span){ "", 0 };
}

static void read_epoch(const struct counters *c, struct sighting *out)
{
	out->epoch = c->epoch.n;
	out->epochs = c->epoch.total;
	out->first_epoch = out->epoch > 0 ? ONE_OR_ZERO : 0;
	out->epochs_are_bare = !c->epoch_in_brackets;
	out->epoch_is_behind = c->step_is_first;
}

static void read_line(const struct pattern *p, const struct span *groups, struct sighting *out)
{
	struct span description = group(groups, p->description), unit = group(groups, p->unit);
	double units = 0, value;
	enum pattern_kind kind = p->kind;

	/* lines that have an epoch only in some forms count updates in the other forms */
	if (kind == KIND_BATCHES && p->epoch && !groups[p->epoch].text)
		kind = KIND_UPDATES;
	*out = (struct sighting){
		.pattern = p, .kind = kind,
		.step = count_of(group(groups, p->step)) + p->counts_from_0,
		.total = count_of(group(groups, p->total)),
		.epoch = count_of(group(groups, p->epoch)),
		.epochs = count_of(group(groups, p->epochs)) + p->last_epoch,
		.first_epoch = p->first_epoch, .time_s = (double)NAN, .whole = (double)NAN,
		.leap = (double)NAN,
		.elapsed_s = elapsed_of(group(groups, p->elapsed)), .description = description.text,
		.description_length = description.n, .arrival_s = (double)NAN,
		.epoch_is_over = p->kind == KIND_EPOCHS,
	};
	if (kind == KIND_PERCENT && isnan(out->total))
		out->total = 100;
	else if (kind == KIND_PERCENT)
		out->kind = KIND_ITERATIONS;
	if (out->first_epoch == ONE_OR_ZERO && out->epoch <= 0)
		out->first_epoch = 0;
	out->epochs_are_bare = p->bare_epochs;
	if (p->description) {
		struct counters c;

		/* The epoch may stand in the description of a progress bar. */
		if (isnan(out->epoch) && description.n > 0 &&
		    counters_find(description.text, description.n, &c) && !c.is_other)
			read_epoch(&c, out);
		if (out->kind == KIND_ITERATIONS && !isnan(out->epoch))
			out->kind = KIND_BATCHES;
	}
	if (!p->time)
		return;
	value = decimal(group(groups, p->time), &units);
	if (p->time_unit)
		unit = (struct span){ p->time_unit, strlen(p->time_unit) };
	else if (p->time_kind == TIME_RATE_MEAN)
		unit = (struct span){ "/s", 2 };
	else if (ends(unit, "B/s"))
		out->step = (double)NAN;	/* a rate of bytes: a download */
	out->time_s = seconds_for_each(value, unit);
	out->time_is_coarse = units < COARSE_UNITS;
}

/* A line of a table's numbers: the epoch's results if it has no step. */
static bool scan_numbers(const struct patterns *p, const char *line, size_t n,
			 struct sighting *out)
{
	double epoch, step;

	if (!table_read_numbers(&p->table, line, n, &epoch, &step))
		return false;
	out->kind = isnan(step) ? KIND_EPOCHS : p->table.is_iteration ? KIND_ITERATIONS
								      : KIND_UNKNOWN;
	out->is_global = p->table.is_global;
	out->epoch = epoch;
	out->step = isnan(step) ? epoch : step;
	out->epoch_is_over = isnan(step);
	out->first_epoch = epoch > 0 ? ONE_OR_ZERO : 0;
	return true;
}

/* Lines of a table, and of a part, which are no counters. */
static bool scan_other(struct patterns *p, const struct pattern *item, const char *line, size_t n,
		       struct sighting *out)
{
	const double none = (double)NAN;

	*out = (struct sighting){
		.pattern = item, .kind = item->kind, .step = none, .total = none, .epoch = none,
		.epochs = none, .elapsed_s = none, .whole = none, .leap = none, .time_s = none,
		.arrival_s = none,
	};
	if (item->scan == SCAN_NAMES)
		return table_read_names(&p->table, line, n);
	if (item->scan == SCAN_PART)
		return steps_part(line, n, &out->step, &out->parts_are_left);
	return scan_numbers(p, line, n, out);
}

static bool scan_line(struct patterns *p, int i, const char *line, size_t n, struct sighting *out)
{
	const struct pattern *item = p->items[i];
	const struct counters *c = &p->counters;
	enum pattern_scan scan;

	if (item->scan >= SCAN_NAMES)
		return scan_other(p, item, line, n, out);
	if (p->counters_are == UNREAD)
		p->counters_are = counters_find(line, n, &p->counters) ? HAS_COUNTERS : READ;
	scan = c->is_other ? SCAN_TOTAL : isnan(c->step.n) ? SCAN_EPOCH :
	       isnan(c->step.total) ? SCAN_STEP : SCAN_TOTAL;
	if (p->counters_are != HAS_COUNTERS || item->scan != scan)
		return false;
	*out = (struct sighting){
		.pattern = item, .kind = c->is_other ? KIND_IGNORE : item->kind,
		.step = c->step.n, .total = c->step.total, .time_s = (double)NAN,
		.arrival_s = (double)NAN, .is_global = c->is_global,
		.is_of_epoch = c->is_of_epoch, .epoch_is_over = c->epoch_is_over,
		.label = c->label, .whole = c->whole, .whole_is_sure = c->whole_is_sure,
		.leap = (double)NAN,
	};
	read_epoch(c, out);
	if (item->scan == SCAN_EPOCH && !c->is_other)
		out->step = out->epoch;
	return true;
}

bool patterns_match(struct patterns *p, int i, const char *line, size_t n, struct sighting *out)
{
	const struct pattern *item = p->items[i];
	struct span groups[LINE_REGEX_GROUPS];
	struct counters c;
	size_t before;

	if (item->scan)
		return scan_line(p, i, line, n, out);
	if (!line_regex_match(p->regex[i], p->matcher, line, n, groups))
		return false;
	read_line(item, groups, out);
	/* Words before the step may tell of other work: "Test: [ 10/100] eta: ...". */
	before = item->step && groups[item->step].text ? (size_t)(groups[item->step].text - line)
						       : 0;
	if (before == 0 || item->description || item == &p->own)
		return true;
	if (counters_has_other_work(line, before))
		out->kind = KIND_IGNORE;
	else if (item->epoch_in_line && counters_find(line, before, &c))
		read_epoch(&c, out);
	return true;
}

uint64_t patterns_candidates(struct patterns *p, const char *line, size_t n)
{
	p->counters_are = UNREAD;
	return (p->always | needles_find(&p->needles, line, n)) &
	       ~(p->table.is_open ? 0 : p->of_table);
}

void patterns_begin_run(struct patterns *p)
{
	p->table = (struct table){ .is_open = false };
}

/* --- all of them --- */

static int add_pattern(struct patterns *p, const struct pattern *item, struct err *err)
{
	uint64_t bit = (uint64_t)1 << p->n;

	p->regex[p->n] = NULL;
	if (item->regex)
		p->regex[p->n] = line_regex_new(item->regex, item->any_case, err);
	if (item->regex && !p->regex[p->n])
		return -1;
	for (int i = 0; i < PATTERN_NEEDLES && item->needles[i] && *item->needles[i]; i++)
		needles_add(&p->needles, item->needles[i], bit);
	if (!item->needles[0] || !*item->needles[0])
		p->always |= bit;
	if (item->scan == SCAN_NUMBERS)
		p->of_table = bit;
	p->items[p->n++] = item;
	return 0;
}

/* Adds the user's pattern, to be tried after the built-in ones that announce a pause. */
static int add_own(struct patterns *p, const char *step_regex, struct err *err)
{
	int n_groups;

	p->own = (struct pattern){
		.name = "step-regex", .form = "as given by --step-regex", .regex = step_regex,
		.kind = KIND_UNKNOWN, .step = 1,
	};
	own_needle(step_regex, p->own_needle, sizeof(p->own_needle));
	p->own.needles[0] = p->own_needle;
	if (add_pattern(p, &p->own, err))
		return -1;
	n_groups = line_regex_groups(p->regex[p->n - 1]);
	if (n_groups < 1)
		return err_set(err, EX_USAGE, "'%.200s' has no group for the step: ( and ) around "
			       "its digits", step_regex);
	if (n_groups >= 2) {
		p->own.time_kind = TIME_STEP;
		p->own.time = 2;
		p->own.time_unit = "ms";
	}
	return 0;
}

int patterns_init(struct patterns *p, const char *step_regex, struct err *err)
{
	memset(p, 0, sizeof(*p));
	p->matcher = line_matcher_new();
	needles_init(&p->needles);
	for (int i = 0; i < n_pattern_table; i++)
		if ((!step_regex || pattern_table[i].kind == KIND_IGNORE) &&
		    add_pattern(p, &pattern_table[i], err))
			goto fail;
	if (step_regex && add_own(p, step_regex, err))
		goto fail;
	needles_link(&p->needles);
	return 0;
fail:
	patterns_release(p);
	return -1;
}

void patterns_release(struct patterns *p)
{
	for (int i = 0; i < p->n; i++)
		line_regex_free(p->regex[i]);
	line_matcher_free(p->matcher);
	p->matcher = NULL;
	p->n = 0;
}
