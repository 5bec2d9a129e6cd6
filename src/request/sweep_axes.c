/* sweep_axes.c - lists, ranges and grids of parameters. */
#include "pollux/submission.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "pollux/template.h"
#include "pollux/text.h"
#include "request.h"

#define NAME_MAX_BYTES 63
#define INDEX "index"

bool sweep_is_asked(const struct sweep_asked *o)
{
	return o->params.count > 0 || o->params_file || o->array;
}

bool axis_name_is_valid(const char *name)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
	size_t length = strlen(name);

	return length > 0 && !isdigit((unsigned char)*name) && length <= NAME_MAX_BYTES &&
	       strspn(name, letters) == length;
}

static struct axis *add_axis(struct axes *axes, const char *how)
{
	axes->items = xgrow(axes->items, axes->count, sizeof(*axes->items));
	axes->items[axes->count] = (struct axis){ .how = how };
	return &axes->items[axes->count++];
}

static void add_value(struct axis *axis, const char *value)
{
	strings_add(&axis->values, value);
	axis->n++;
}

/* --- A:B[:STEP] and log:A:B:N --- */

enum { NO_RANGE = 1 };		/* the text is a list; -1 is an error */

#define DECIMALS_MAX 17		/* a double has no more */

/* Returns the number of digits after the point in the text; -1: the number has an exponent. */
static int decimals_of(const char *text)
{
	const char *point = strchr(text, '.');
	size_t n = point ? strlen(point + 1) : 0;

	return strpbrk(text, "eE") ? -1 : n < DECIMALS_MAX ? (int)n : DECIMALS_MAX;
}

/* digits: behind the point; -1: as many as needed */
static void add_number(struct axis *axis, double x, int digits)
{
	struct text value = TEXT_INIT;

	if (digits < 0)
		text_addf(&value, "%.12g", x);
	else
		text_addf(&value, "%.*f", digits, x);
	add_value(axis, value.data);
	text_release(&value);
}

static int add_range(const struct command *by, struct axis *axis, char *const *parts, int n,
		     struct err *err)
{
	double from = 0, to = 0, step = 1, count;
	int digits = decimals_of(parts[0]), more = n == 3 ? decimals_of(parts[2]) : 0;

	if (number_parse(parts[0], &from) || number_parse(parts[1], &to) ||
	    (n == 3 && number_parse(parts[2], &step)))
		return NO_RANGE;
	count = fabs(step) > 0 ? floor((to - from) / step + 1e-9) + 1 : 0;
	if (!(count >= 1) || !isfinite(count))
		return usage_error(by, err, "option '--param': no values from %s to %s by steps of "
				   "%s", parts[0], parts[1], n == 3 ? parts[2] : "1");
	if (n == 2 && count < 2 && to > from)
		return usage_error(by, err, "option '--param': %s:%s counts by 1, so it has one "
				   "value; A:B:STEP and log:A:B:N have more", parts[0], parts[1]);
	if (count > SWEEP_RUNS_MAX)
		return usage_error(by, err, "option '--param': more than 100,000 values from %s to "
				   "%s", parts[0], parts[1]);
	digits = digits < 0 || more < 0 ? -1 : digits > more ? digits : more;
	for (int i = 0; i < (int)count; i++)
		add_number(axis, fabs(from + i * step) < fabs(step) * 1e-9 ? 0 : from + i * step,
			   digits);	/* 0, not "-0.0" */
	return 0;
}

static int add_logarithmic(const struct command *by, struct axis *axis, char *const *parts,
			   struct err *err)
{
	double from, to;
	int64_t n;

	if (number_parse(parts[1], &from) || number_parse(parts[2], &to) ||
	    number_parse_int(parts[3], &n) || from <= 0 || to <= 0 || n < 2)
		return usage_error(by, err, "option '--param': log:A:B:N wants A and B above 0 and "
				   "N of 2 or more, not 'log:%.40s:%.40s:%.40s'", parts[1],
				   parts[2], parts[3]);
	if (n > SWEEP_RUNS_MAX)
		return usage_error(by, err, "option '--param': more than 100,000 values");
	for (int64_t i = 0; i < n; i++) {
		char value[40];

		snprintf(value, sizeof(value), "%.6g",
			 i == n - 1 ? to : from * pow(to / from, (double)i / (double)(n - 1)));
		add_value(axis, value);
	}
	return 0;
}

/* --- lists --- */

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Refuses a value that comes twice, which would do the same work twice. */
static int check_values(const struct command *by, const struct axis *axis, const char *option,
			struct err *err)
{
	size_t n = axis->values.count;
	char **sorted = xreallocarray(NULL, n + 1, sizeof(*sorted));
	int rc = 0;

	memcpy(sorted, axis->values.items, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), compare_texts);
	for (size_t i = 1; i < n && rc == 0; i++)
		if (!strcmp(sorted[i - 1], sorted[i]))
			rc = usage_error(by, err, "option '%s': '%.60s' comes twice in '%.60s'",
					 option, sorted[i], axis->names.items[0]);
	free(sorted);
	return rc;
}

/* Adds the values of a range, or those of a list with commas. */
static int add_values(const struct command *by, struct axis *axis, struct err *err)
{
	char *copy = xstrdup(axis->how), *rest = copy, *parts[5], *part;
	int n = 0, rc = NO_RANGE;

	while (n < 5 && (part = strsep(&rest, ":")))
		parts[n++] = part;
	if (n == 4 && !strcmp(parts[0], "log"))
		rc = add_logarithmic(by, axis, parts, err);
	else if (n == 2 || n == 3)
		rc = add_range(by, axis, parts, n, err);
	free(copy);
	if (rc != NO_RANGE)
		return rc;
	rest = copy = xstrdup(axis->how);
	for (rc = 0; rc == 0 && (part = strsep(&rest, ","));) {
		if (*part)
			add_value(axis, part);
		else
			rc = usage_error(by, err, "option '--param': '%.60s' has an empty value "
					 "in its list (--params takes those)",
					 axis->names.items[0]);
	}
	free(copy);
	return rc;
}

static int parse_param(const struct command *by, struct axes *axes, const char *text,
		       struct err *err)
{
	size_t length = strcspn(text, "=");
	char *name = xasprintf("%.*s", (int)length, text);
	bool valid = text[length] && axis_name_is_valid(name);
	struct axis *axis = valid ? add_axis(axes, text + length + 1) : NULL;

	if (axis)
		strings_add(&axis->names, name);
	free(name);
	if (!axis)
		return usage_error(by, err, "option '--param' wants NAME=VALUES (a name has "
				   "letters, digits and '_'), not '%.60s'", text);
	return add_values(by, axis, err) || check_values(by, axis, "--param", err) ? -1 : 0;
}

/* --- --array --- */

/* "3", "0-19" or "0-19:2" */
static int add_indexes(const struct command *by, struct axis *axis, char *word, struct err *err)
{
	char *colon = strchr(word, ':'), *dash = strchr(word, '-');
	int64_t from, to = -1, step = 1;
	int rc;

	if (colon)
		*colon++ = '\0';
	if (dash)
		*dash++ = '\0';
	rc = number_parse_int(word, &from) || from < 0 || from > 1000000000 || (colon && !dash) ||
	     (dash && number_parse_int(dash, &to)) || (colon && number_parse_int(colon, &step));
	to = dash || rc ? to : from;
	if (rc || to < from || to > 1000000000 || step < 1)
		return usage_error(by, err, "option '--array' wants numbers such as 0-19, 0-19:2 "
				   "or 1,3,7, not '%.60s'%s", axis->how, strchr(axis->how, '%')
				   ? " (--max-running limits how many run)" : "");
	if ((to - from) / step >= SWEEP_RUNS_MAX)
		return usage_error(by, err, "option '--array': more than 100,000 numbers");
	if (step > to - from)
		step = to - from + 1;	/* the first number alone; the sum must not overflow */
	for (; from <= to; from += step) {
		char value[24];

		snprintf(value, sizeof(value), "%lld", (long long)from);
		add_value(axis, value);
	}
	return 0;
}

static int parse_array(const struct command *by, struct axes *axes, const char *text,
		       struct err *err)
{
	struct axis *axis = add_axis(axes, text);
	char *copy = xstrdup(text), *rest = copy, *word;
	int rc = 0;

	strings_add(&axis->names, INDEX);
	while (rc == 0 && (word = strsep(&rest, ",")))
		rc = add_indexes(by, axis, word, err);
	free(copy);
	return rc ? -1 : check_values(by, axis, "--array", err);
}

/* --- all of them --- */

/* Checks the names, and counts the runs. "lr" is the only word of pollux that may be a parameter:
 * it sets --lr of the run. */
static int check_axes(const struct command *by, struct axes *axes, bool has_array, struct err *err)
{
	struct strings all = { 0 };
	int64_t runs = 1;
	int rc = 0;

	for (int a = 0; a < axes->count; a++)
		for (size_t i = 0; i < axes->items[a].names.count; i++)
			strings_add(&all, axes->items[a].names.items[i]);
	for (size_t i = 0; i < all.count && rc == 0; i++) {
		const char *name = all.items[i];

		if (template_knows(name, strlen(name)) && strcmp(name, "lr") != 0)
			rc = usage_error(by, err, "'%s' cannot be a parameter: pollux itself puts "
					 "{%s} in", name, name);
		else if (!strcmp(name, INDEX) && !(has_array && i == all.count - 1))
			rc = usage_error(by, err, "'index' cannot be a parameter: --array gives "
					 "its values");
		for (size_t k = 0; k < i && rc == 0; k++)
			if (!strcmp(all.items[k], name))
				rc = usage_error(by, err, "parameter '%s' is given twice", name);
	}
	strings_release(&all);
	for (int i = 0; i < axes->count && rc == 0; i++) {
		runs *= axes->items[i].n;
		if (runs > SWEEP_RUNS_MAX)
			rc = usage_error(by, err, "the parameters make more than 100,000 runs");
	}
	axes->runs = (int)runs;
	return rc;
}

int axes_parse(const struct command *by, const struct sweep_asked *o, struct axes *axes,
	       struct err *err)
{
	*axes = (struct axes){ 0 };
	if (o->params_file && axis_from_file(add_axis(axes, o->params_file), o->params_file, err))
		return -1;
	for (size_t i = 0; i < o->params.count; i++)
		if (parse_param(by, axes, o->params.items[i], err))
			return -1;
	if (o->array && parse_array(by, axes, o->array, err))
		return -1;
	return check_axes(by, axes, o->array != NULL, err);
}

void axes_release(struct axes *axes)
{
	for (int i = 0; i < axes->count; i++) {
		strings_release(&axes->items[i].names);
		strings_release(&axes->items[i].values);
	}
	free(axes->items);
	*axes = (struct axes){ 0 };
}

void axes_values(const struct axes *axes, int run, struct strings *out)
{
	int below = axes->runs;

	for (int a = 0; a < axes->count; a++) {
		const struct axis *axis = &axes->items[a];
		size_t names = axis->names.count;
		int point;

		below /= axis->n;
		point = run / below % axis->n;
		for (size_t i = 0; i < names; i++)
			strings_addf(out, "%s=%s", axis->names.items[i],
				     axis->values.items[(size_t)point * names + i]);
	}
}
