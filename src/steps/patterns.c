/* patterns.c - from a line to what it says. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ere.h"
#include "pattern_table.h"

#define GROUPS 10
#define COUNT_MAX 1e15		/* beyond, counting by one would not count */
#define COARSE_UNITS 10

struct span {
	const char *text;
	size_t n;
};

/* --- numbers --- */

/* Digits with at most one point; units is the number without it. NaN for anything else. */
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

/* With the suffix that tqdm puts to large ones. */
static double count_of(struct span s)
{
	static const char suffixes[] = { 'k', 'M', 'G', 'T' };
	const char *suffix = s.n ? memchr(suffixes, s.text[s.n - 1], sizeof(suffixes)) : NULL;
	double units, factor = suffix ? pow(1e3, (double)(suffix - suffixes) + 1) : 1;

	s.n -= suffix != NULL;
	return factor * decimal(s, &units);
}

/* "M:SS", "H:MM:SS". */
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

/* Seconds for each, where value is in such a unit: "ms", "s/it", "it/s". NaN where it is of bytes. */
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

static struct span group(const char *line, const regmatch_t *m, int i)
{
	struct span s = { line, 0 };

	if (i > 0 && i < GROUPS && m[i].rm_so >= 0)
		s = (struct span){ line + m[i].rm_so, (size_t)(m[i].rm_eo - m[i].rm_so) };
	return s;
}

static void read_time(const struct pattern *p, const char *line, const regmatch_t *m,
		      struct sighting *out)
{
	struct span unit = group(line, m, p->unit);
	double units = 0, value = decimal(group(line, m, p->time), &units);

	if (p->time_unit)
		unit = (struct span){ p->time_unit, strlen(p->time_unit) };
	else if (p->time_kind == TIME_RATE_MEAN)
		unit = (struct span){ "/s", 2 };
	else if (ends(unit, "B/s"))
		out->step = (double)NAN;	/* a download */
	out->time_s = seconds_for_each(value, unit);
	out->time_is_coarse = units < COARSE_UNITS;
}

/* Where there is an epoch for some forms of the line only, the counter of the others goes through. */
static enum pattern_kind kind_of(const struct pattern *p, const regmatch_t *m)
{
	return p->kind == KIND_BATCHES && p->epoch && m[p->epoch].rm_so < 0 ? KIND_UPDATES : p->kind;
}

static void read_line(const struct pattern *p, const char *line, const regmatch_t *m,
		      struct sighting *out)
{
	struct span description = group(line, m, p->description);

	*out = (struct sighting){
		.pattern = p, .kind = kind_of(p, m),
		.step = count_of(group(line, m, p->step)), .total = count_of(group(line, m, p->total)),
		.epoch = count_of(group(line, m, p->epoch)), .time_s = (double)NAN,
		.elapsed_s = elapsed_of(group(line, m, p->elapsed)),
		.description = description.text, .description_length = description.n,
		.arrival_s = (double)NAN,
	};
	if (p->time)
		read_time(p, line, m, out);
}

bool patterns_match(const struct patterns *p, int i, const char *line, struct sighting *out)
{
	regmatch_t m[GROUPS];

	if (regexec(&p->regex[i], line, GROUPS, m, 0))
		return false;
	read_line(p->items[i], line, m, out);
	return true;
}

uint32_t patterns_candidates(const struct patterns *p, const char *line, size_t n)
{
	return p->always | needles_find(&p->needles, line, n);
}

/* --- all of them --- */

static void add(struct patterns *p, const struct pattern *item)
{
	uint32_t bit = (uint32_t)1 << p->n;
	bool any = false;

	for (int i = 0; i < PATTERN_NEEDLES && item->needles[i] && *item->needles[i]; i++) {
		needles_add(&p->needles, item->needles[i], bit);
		any = true;
	}
	if (!any)
		p->always |= bit;
	p->items[p->n] = item;
}

static int compile(struct patterns *p, const struct pattern *item, struct err *err)
{
	int flags = REG_EXTENDED | (item->any_case ? REG_ICASE : 0);
	int rc = regcomp(&p->regex[p->n], item->ere, flags);

	if (rc) {
		char why[128];

		regerror(rc, &p->regex[p->n], why, sizeof(why));
		return err_set(err, EX_USAGE, "'%.200s' is no extended regular expression: %s", item->ere,
			       why);
	}
	add(p, item);
	p->n++;
	return 0;
}

/* After the lines that announce a pause, which count whatever the pattern of the steps. */
static int compile_own(struct patterns *p, const char *step_regex, struct err *err)
{
	p->own = (struct pattern){
		.name = "step-regex", .form = "as given by --step-regex", .ere = step_regex,
		.kind = KIND_UNKNOWN, .step = 1,
	};
	if (ere_check(step_regex, err))
		return -1;
	ere_needle(step_regex, p->own_needle, sizeof(p->own_needle));
	p->own.needles[0] = p->own_needle;
	if (compile(p, &p->own, err))
		return -1;
	if (p->regex[p->n - 1].re_nsub < 1)
		return err_set(err, EX_USAGE, "'%.200s' has no group for the step: ( and ) around its "
			       "digits", step_regex);
	if (p->regex[p->n - 1].re_nsub >= 2) {
		p->own.time_kind = TIME_STEP;
		p->own.time = 2;
		p->own.time_unit = "ms";
	}
	return 0;
}

int patterns_init(struct patterns *p, const char *step_regex, struct err *err)
{
	memset(p, 0, sizeof(*p));
	needles_init(&p->needles);
	for (int i = 0; i < n_pattern_table; i++)
		if ((!step_regex || pattern_table[i].kind == KIND_IGNORE) &&
		    compile(p, &pattern_table[i], err)) {
			patterns_release(p);
			return -1;
		}
	if (step_regex && compile_own(p, step_regex, err)) {
		patterns_release(p);
		return -1;
	}
	needles_link(&p->needles);
	return 0;
}

void patterns_release(struct patterns *p)
{
	for (int i = 0; i < p->n; i++)
		regfree(&p->regex[i]);
	p->n = 0;
}
