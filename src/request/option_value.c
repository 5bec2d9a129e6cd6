/* option_value.c - the value of an option: parsed by its type into the command's struct. */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/clock.h"
#include "pollux/mem.h"
#include "pollux/report.h"
#include "pollux/text.h"
#include "request.h"

const char *const color_choices[] = { "auto", "always", "never", NULL };

bool is_bounded(const struct option_spec *spec)
{
	return spec->min < 0 || spec->min > 0 || spec->max < 0 || spec->max > 0;
}

static bool in_range(const struct option_spec *spec, double x)
{
	return !is_bounded(spec) || (x >= spec->min && x <= spec->max);
}

void text_list_add(struct text_list *list, const char *text)
{
	list->items = xreallocarray(list->items, list->count + 1, sizeof(*list->items));
	list->items[list->count++] = text;
}

bool is_among(const char *name, const char *const *names)
{
	while (*names && strcmp(name, *names) != 0)
		names++;
	return *names;
}

/* Reads a number, or two as "MIN:MAX", into members of the type that the option has. */
static int set_numbers(const struct option_spec *spec, const char *value, void *field)
{
	const char *colon = spec->type == OPTION_RANGE ? strchr(value, ':') : NULL;
	char *first = xasprintf("%.*s", colon ? (int)(colon - value) : (int)strlen(value), value);
	int64_t min = 0, max = 0;
	int rc = number_parse_int(first, &min);

	free(first);
	max = min;
	if (rc || (colon && number_parse_int(colon + 1, &max)) || min > max ||
	    !in_range(spec, (double)min) || !in_range(spec, (double)max))
		return -1;
	if (spec->target == FIELD_INT)
		*(int *)field = (int)min;
	else
		*(int64_t *)field = min;
	if (spec->type == OPTION_RANGE && spec->target == FIELD_INT)
		((int *)field)[1] = (int)max;
	else if (spec->type == OPTION_RANGE)
		((int64_t *)field)[1] = max;
	return 0;
}

/* "124M" is 124 million. */
static int parse_amount(const char *value, double *x)
{
	static const char suffixes[] = "KMG";
	char *digits = xstrdup(value);
	size_t n = strlen(digits);
	const char *suffix = n > 0 ? strchr(suffixes, digits[n - 1]) : NULL;
	int rc;

	if (suffix)
		digits[n - 1] = '\0';
	rc = number_parse(digits, x);
	free(digits);
	for (const char *s = suffixes; rc == 0 && suffix && s <= suffix; s++)
		*x *= 1e3;
	return rc;
}

static int set_double(const struct option_spec *spec, const char *value, void *field)
{
	double x = 0;
	int rc = spec->type == OPTION_DURATION ? number_parse_duration(value, &x)
		: spec->type == OPTION_SIZE ? number_parse_size(value, &x)
		: spec->type == OPTION_AMOUNT ? parse_amount(value, &x) : number_parse(value, &x);

	if (rc || !in_range(spec, x))
		return -1;
	*(double *)field = x;
	return 0;
}

static int set_text(const struct option_spec *spec, const char *value, void *field)
{
	if (!*value)
		return -1;
	if (spec->target == FIELD_TEXT) {
		free(*(char **)field);
		*(char **)field = xstrdup(value);
	} else {
		*(const char **)field = value;
	}
	return 0;
}

/* "batch,resume" */
static bool are_choices(const struct option_spec *spec, const char *value)
{
	char *words = xstrdup(value), *rest = words, *word;
	bool known = true;

	while (known && (word = strsep(&rest, ",")))
		known = is_among(word, spec->choices);
	free(words);
	return known;
}

/* Parse the name or number of a signal that a program can catch. */
static int set_signal(const char *value, void *field)
{
	const char *name = text_starts_with(value, "SIG") ? value + 3 : value;
	int64_t number;

	if (number_parse_int(value, &number))
		number = 0;
	for (int i = 1; i < NSIG; i++) {
		const char *known = sigabbrev_np(i);

		if (i != SIGKILL && i != SIGSTOP &&
		    (i == number || (known && !strcmp(known, name)))) {
			*(int *)field = i;
			return 0;
		}
	}
	return -1;
}

int set_value(const struct option_spec *spec, const char *value, void *field)
{
	switch (spec->type) {
	case OPTION_FLAG:
		*(bool *)field = true;
		return 0;
	case OPTION_INT: case OPTION_RANGE: return set_numbers(spec, value, field);
	case OPTION_NUMBER: case OPTION_DURATION: case OPTION_AMOUNT: case OPTION_SIZE:
		return set_double(spec, value, field);
	case OPTION_WHEN: return when_parse(value, clock_wall_s(), field);
	case OPTION_TEXT: return set_text(spec, value, field);
	case OPTION_LIST:
		if (!*value)
			return -1;
		text_list_add(field, value);
		return 0;
	case OPTION_CHOICE:
		return is_among(value, spec->choices) ? set_text(spec, value, field) : -1;
	case OPTION_WORDS:	/* no value is the empty text */
		if (value && !are_choices(spec, value))
			return -1;
		xreplace(field, value ? value : "");
		return 0;
	case OPTION_CHOICES: return are_choices(spec, value) ? set_text(spec, value, field) : -1;
	case OPTION_PICTURE: return picture_format(value) ? set_text(spec, value, field) : -1;
	case OPTION_SIGNAL: return set_signal(value, field);
	case OPTION_DECLARED: break;
	}
	return -1;
}
