/* tables.c - columns of numbers below a line of names: see patterns.h. */
#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "patterns.h"

#define BETWEEN " \t|,"
#define DIGITS_MAX 15
#define COLUMN_MAX 3	/* the counters stand in the first columns */

static const struct {
	const char *text;
	bool of_epoch, is_global, is_iteration, is_short;
} names[] = {
	{ .text = "epoch", .of_epoch = true },
	{ .text = "epochs", .of_epoch = true },
	{ .text = "ep", .of_epoch = true },
	{ .text = "step" },
	{ .text = "steps" },
	{ .text = "batch" },
	{ .text = "global_step", .is_global = true },
	/* spaCy's, which count only beside each other */
	{ .text = "e", .of_epoch = true, .is_short = true },
	{ .text = "#", .is_global = true, .is_short = true },
	{ .text = "iter", .is_iteration = true },
	{ .text = "iters", .is_iteration = true },
	{ .text = "iteration", .is_iteration = true },
};

/* Finds the next word at or behind the place. Returns its length; 0: there is none. */
static size_t next_word(const char *line, size_t n, size_t *at)
{
	size_t end;

	while (*at < n && strchr(BETWEEN, line[*at]))
		++*at;
	for (end = *at; end < n && !strchr(BETWEEN, line[end]);)
		end++;
	return end - *at;
}

static bool is_name(const char *word, size_t n)
{
	static const char other[] = "_-./%()#@<>";

	if (n == 1 && (*word == '#' || *word == '%'))
		return true;
	if (!isalpha((unsigned char)*word))
		return false;
	for (size_t i = 1; i < n; i++)
		if (!isalnum((unsigned char)word[i]) && !strchr(other, word[i]))
			return false;
	return true;
}

/* *n_short: how many short names were taken. */
static void see_name(struct table *t, const char *word, size_t n, int *n_short)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strlen(names[i].text) != n || strncasecmp(names[i].text, word, n) != 0)
			continue;
		if (names[i].of_epoch && t->epoch < 0) {
			t->epoch = t->n_columns;
		} else if (!names[i].of_epoch && t->step < 0) {
			t->step = t->n_columns;
			t->is_global = names[i].is_global;
			t->is_iteration = names[i].is_iteration;
		} else {
			continue;
		}
		*n_short += names[i].is_short;
	}
}

bool table_read_names(struct table *t, const char *line, size_t n)
{
	struct table found = { .is_open = true, .epoch = -1, .step = -1 };
	size_t length;
	int n_short = 0;

	for (size_t at = 0; (length = next_word(line, n, &at)); at += length) {
		if (!is_name(line + at, length))
			return false;
		if (found.n_columns < COLUMN_MAX)
			see_name(&found, line + at, length, &n_short);
		found.n_columns++;
	}
	if (found.n_columns < 2 || (found.epoch < 0 && found.step < 0) || n_short == 1)
		return false;
	*t = found;
	return true;
}

/* True for "1", "0.5", "-1e-3", "nan", "12s", "+". */
static bool is_number(const char *word, size_t n)
{
	size_t i = 0, digits = 0;

	if ((n == 3 && !strncasecmp(word, "nan", 3)) || (n == 1 && strchr("+-", *word)))
		return true;
	while (i < n && strchr("+-0123456789.:eE", word[i]))
		digits += isdigit((unsigned char)word[i++]) != 0;
	return digits > 0 && (i == n || (i + 1 == n && strchr("smh%", word[i])));
}

/* Reads a whole number; NaN for other text. */
static double count_of(const char *word, size_t n)
{
	double value = 0;

	for (size_t i = 0; i < n; i++) {
		if (!isdigit((unsigned char)word[i]) || n > DIGITS_MAX)
			return (double)NAN;
		value = 10 * value + (word[i] - '0');
	}
	return value;
}

bool table_read_numbers(const struct table *t, const char *line, size_t n, double *epoch,
			double *step)
{
	int column = 0;
	size_t length;

	*epoch = *step = (double)NAN;
	for (size_t at = 0; (length = next_word(line, n, &at)); at += length, column++) {
		if (!is_number(line + at, length) || column >= t->n_columns)
			return false;
		if (column == t->epoch)
			*epoch = count_of(line + at, length);
		if (column == t->step)
			*step = count_of(line + at, length);
	}
	return t->is_open && column >= 2 && (t->epoch < 0 || !isnan(*epoch)) &&
	       (t->step < 0 || !isnan(*step));
}
