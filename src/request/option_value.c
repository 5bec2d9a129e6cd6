/* option_value.c - the value of an option: parsed by its type into the command's struct, or what
 * it should have been. */
#include <ctype.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "pollux/clock.h"
#include "pollux/command.h"
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
		known = text_is_among(word, spec->choices);
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
	case OPTION_COUNT:
		if (!value) {
			*(int *)field = (int)spec->min;
			return 0;
		}
		return set_numbers(spec, value, field);
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
		return text_is_among(value, spec->choices) ? set_text(spec, value, field) : -1;
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

/* --- errors of usage --- */

/* Values may be megabytes long; a message shows the first 60 characters. */
void add_clipped(struct text *t, const char *value)
{
	size_t n = strnlen(value, 61);

	text_add_bytes(t, value, n > 60 ? 58 : n);
	text_add(t, n > 60 ? ".." : "");
}

/* "adascale, sqrt, linear or none" */
static void add_choices(struct text *t, const char *const *choices, const char *last)
{
	for (; *choices; choices++)
		text_addf(t, "%s%s", *choices, !choices[1] ? "" : choices[2] ? ", " : last);
}

/* Adds what a value of this option has to be: "a whole number from 1 to 64". Bounds are written
 * with at most 15 digits, since 17 would show 0.1 as 0.10000000000000001. */
static void describe_value(struct text *t, const struct option_spec *spec)
{
	const char *unit = spec->type == OPTION_DURATION ? " seconds" : "";
	bool low = spec->min > -HUGE_VAL, high = spec->max < HUGE_VAL;

	switch (spec->type) {
	case OPTION_INT: case OPTION_COUNT: text_add(t, "a whole number"); break;
	case OPTION_NUMBER: text_add(t, "a number"); break;
	case OPTION_DURATION: text_add(t, "a time (such as 90s, 1.5m, 2h or 1d)"); break;
	case OPTION_RANGE: text_add(t, "a whole number, or two as smaller:larger,"); break;
	case OPTION_FLAG: case OPTION_AMOUNT: case OPTION_SIZE: case OPTION_CHOICE:
	case OPTION_WORDS: case OPTION_CHOICES: case OPTION_PICTURE: case OPTION_SIGNAL:
	case OPTION_WHEN: case OPTION_DECLARED: case OPTION_TEXT: case OPTION_LIST:
		text_add(t, "a value that is not empty");
		return;
	}
	if (!is_bounded(spec))
		return;
	if (low && high)
		text_addf(t, " from %.15g to %.15g%s", spec->min, spec->max, unit);
	else if (low)
		text_addf(t, " of at least %.15g%s", spec->min, unit);
	else if (high)
		text_addf(t, " of at most %.15g%s", spec->max, unit);
}

/* Adds what a value of this option has to be. Returns false for types that describe_value knows. */
static bool describe_word(struct text *t, const struct option_spec *spec)
{
	if (spec->type == OPTION_CHOICE) {
		add_choices(t, spec->choices, " or ");
	} else if (spec->type == OPTION_WORDS) {
		text_add(t, "any of ");
		add_choices(t, spec->choices, " and ");
		text_add(t, ", with commas between");
	} else if (spec->type == OPTION_PICTURE) {
		text_add(t, "a file that ends in .svg or .png");
	} else if (spec->type == OPTION_WHEN) {
		text_add(t, "a time to come, such as 22:00, 8pm, +2h, tomorrow or "
			    "'2026-12-01 22:00'");
	} else if (spec->type == OPTION_SIGNAL) {
		text_add(t, "a signal that a program can catch, such as TERM, INT or USR1");
	} else if (spec->type == OPTION_AMOUNT) {
		text_addf(t, "a number from %.0f to %.0fG, such as 124M", spec->min,
			  spec->max / 1e9);
	} else if (spec->type == OPTION_SIZE) {
		text_addf(t, "an amount from %.0fM to %.0fT, such as 512M", spec->min / 0x1p20,
			  spec->max / 0x1p40);
	} else {
		return false;
	}
	return true;
}

/* True for "25:00", "13pm" and "13:00pm". */
static bool looks_like_time(const char *value)
{
	size_t n = strlen(value);
	const char *end = n > 2 ? value + n - 2 : "";

	return isdigit((unsigned char)*value) && n <= strlen("22:00:00pm") &&
	       (strchr(value, ':') || !strcasecmp(end, "am") || !strcasecmp(end, "pm"));
}

/* Says what a value of this option has to be. value: what was given instead, not empty. */
static int wants_word(const struct command *command, const struct option_spec *spec,
		      const char *words, const char *value, struct err *err)
{
	bool with_unit = spec->type == OPTION_AMOUNT || spec->type == OPTION_SIZE;
	int shown = spec->type == OPTION_PICTURE ? 200 : 60;
	double span_s;

	if (spec->type == OPTION_SIGNAL && text_starts_with(value, "SIG"))
		value += strlen("SIG");
	if (spec->type == OPTION_WHEN && looks_like_time(value))
		return usage_error(command, err, "option '--%s' wants %s, not '%s': a time of day "
				   "is from 00:00 to 23:59, or from 12am to 11:59pm", spec->name,
				   words, value);
	if (spec->type == OPTION_WHEN && number_parse_duration(value, &span_s) == 0)
		return usage_error(command, err, "option '--%s' wants %s, not '%.*s': from now on, "
				   "that is +%.*s", spec->name, words, shown, value, shown, value);
	return usage_error(command, err, "option '--%s%s%s' wants %s, not '%.*s'", spec->name,
			   with_unit ? " " : "", with_unit ? spec->argument : "", words, shown,
			   value);
}

/* Names the first of several words that is not among the choices. */
static int unknown_word(const struct command *command, const struct option_spec *spec,
			const char *value, struct err *err)
{
	char *copy = xstrdup(value), *rest = copy, *word;
	struct suggestion near;
	struct text known = TEXT_INIT;
	int rc;

	while ((word = strsep(&rest, ",")) && text_is_among(word, spec->choices))
		;
	near = suggestion_for(word ? word : "");
	for (const char *const *choice = spec->choices; *choice; choice++) {
		suggestion_offer(&near, *choice);
		text_addf(&known, "%s%s", choice == spec->choices ? " " : ", ", *choice);
	}
	rc = usage_error(command, err, "option '--%s': there is no '%.60s'; %s%s%sthere are%s",
			 spec->name, word ? word : "", near.best ? "did you mean '" : "",
			 near.best ? near.best : "", near.best ? "'? " : "", known.data);
	text_release(&known);
	free(copy);
	return rc;
}

int wrong_value(const struct command *command, const struct option_spec *spec, const char *value,
		struct err *err)
{
	struct text words = TEXT_INIT, shown = TEXT_INIT;
	int rc = -1;

	if (value && *value && spec->type == OPTION_CHOICES)
		return unknown_word(command, spec, value, err);
	if (value && *value && describe_word(&words, spec)) {
		rc = wants_word(command, spec, words.data, value, err);
	} else {
		describe_value(&words, spec);
		if (value && *value)
			add_clipped(&shown, value);
		err_set(err, EX_USAGE, "option '--%s%s%s'%s%s%s%s", spec->name,
			spec->argument ? " " : "", spec->argument ? spec->argument : "",
			shown.length ? ": '" : "", shown.data,
			shown.length ? "' is not " : " needs ", words.data);
	}
	text_release(&shown);
	text_release(&words);
	return rc;
}

int usage_error(const struct command *command, struct err *err, const char *format, ...)
{
	char text[sizeof(err->text) / 2];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	return err_set(err, EX_USAGE, "%s; see 'pollux%s%s --help'", text, command ? " " : "",
		       command ? command->name : "");
}

int parse_job_id(const struct command *command, const char *text, long long *id, struct err *err)
{
	struct text shown = TEXT_INIT;
	int64_t n;

	if (number_parse_int(text, &n) == 0 && n > 0) {
		*id = n;
		return 0;
	}
	add_clipped(&shown, text);
	usage_error(command, err, "'%s' is not a job number", shown.data);
	text_release(&shown);
	return -1;
}
