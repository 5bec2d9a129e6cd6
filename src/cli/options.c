/* options.c - options from a command's table, by getopt_long(3) with messages of our own. */
#include <ctype.h>
#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "pollux/mem.h"
#include "pollux/number.h"
#include "pollux/picture.h"
#include "pollux/suggest.h"
#include "pollux/text.h"

#define LONG_FORM 256		/* what getopt returns for options[i] in its long form, less i */

enum { SCAN_END = -1, SCAN_HELP = -2, SCAN_BAD = -3 };

/* One walk through an argument vector. getopt keeps its place in globals, so there is one at a
 * time. */
struct scan {
	const struct command *command;
	struct command_option *options;
	int n;				/* how many */
	struct option *longs;		/* n, --help, and the end */
	char *letters;
	int argc;
	char **argv;
};

static bool is_taken(const struct command_option *options, int n, char letter)
{
	for (int i = 0; i < n; i++)
		if (options[i].spec.letter == letter)
			return true;
	return false;
}

/* Append the rows of the declaration for which the option stands. */
static void add_declared(const struct option_spec *place, struct command_option *options, int *n)
{
	for (int row = 0; row < n_declared_fields; row++) {
		const struct declared_field *field = &declared_fields[row];
		struct option_spec spec = field->option;

		if (!(field->uses & place->uses))
			continue;
		spec.offset += place->offset;
		spec.target = field->column.field.name ? field->column.field.type : FIELD_NONE;
		if (is_taken(options, *n, spec.letter))
			spec.letter = 0;
		if (place->uses == IGNORED_BY_PROFILE)
			spec.help = "as for submit, not used";
		options[(*n)++] = (struct command_option){ spec, place->offset, row };
	}
}

struct command_option *command_options(const struct command *command, int *n)
{
	struct command_option *options;
	int most = 0;

	for (const struct option_spec *o = command->options; o && o->name; o++)
		most += o->type == OPTION_DECLARED ? n_declared_fields : 1;
	options = xcalloc((size_t)most + 1, sizeof(*options));
	*n = 0;
	for (const struct option_spec *o = command->options; o && o->name; o++)
		if (o->type == OPTION_DECLARED)
			add_declared(o, options, n);
		else
			options[(*n)++] = (struct command_option){ *o, 0, -1 };
	return options;
}

/* "+": stop at the first operand. ":": tell a missing value from an unknown option. Without "+"
 * getopt moves operands behind the options, which does no harm twice. */
static void scan_init(struct scan *s, const struct command *command, int argc, char **argv)
{
	struct text letters = TEXT_INIT;

	*s = (struct scan){ .command = command, .argc = argc, .argv = argv };
	s->options = command_options(command, &s->n);
	s->longs = xcalloc((size_t)s->n + 2, sizeof(*s->longs));
	text_add(&letters, command->runs_program ? "+:h" : ":h");
	for (int i = 0; i < s->n; i++) {
		const struct option_spec *spec = &s->options[i].spec;
		int value = spec->type == OPTION_FLAG ? no_argument : required_argument;

		s->longs[i] = (struct option){ spec->name, value, NULL, LONG_FORM + i };
		if (spec->letter)
			text_addf(&letters, "%c%s", spec->letter, value == no_argument ? "" : ":");
	}
	s->longs[s->n] = (struct option){ "help", no_argument, NULL, LONG_FORM + s->n };
	s->letters = text_detach(&letters);
	opterr = 0;
	optind = 0;		/* 0, not 1: glibc and musl then forget the walk before */
}

static void scan_release(struct scan *s)
{
	free(s->options);
	free(s->longs);
	free(s->letters);
}

/* Which option a value of getopt's stands for: an index, or SCAN_HELP, or SCAN_BAD. */
static int scan_index(const struct scan *s, int c)
{
	if (c == 'h' || c == LONG_FORM + s->n)
		return SCAN_HELP;
	if (c >= LONG_FORM)
		return c - LONG_FORM;
	for (int i = 0; i < s->n; i++)
		if (s->options[i].spec.letter && s->options[i].spec.letter == c)
			return i;
	return SCAN_BAD;
}

/* The next option: its index with its value in optarg, or one of SCAN_*. *error is getopt's reason
 * for SCAN_BAD: '?' or ':'. */
static int scan_next(const struct scan *s, int *error)
{
	int c = getopt_long(s->argc, s->argv, s->letters, s->longs, NULL);

	*error = c;
	if (c == -1)
		return SCAN_END;
	return c == '?' || c == ':' ? SCAN_BAD : scan_index(s, c);
}

/* "--slots N", as messages name an option. The caller frees. */
static char *option_title(const struct option_spec *spec)
{
	return xasprintf("--%s%s%s", spec->name, spec->argument ? " " : "",
			 spec->argument ? spec->argument : "");
}

static const char *type_words(enum option_type type)
{
	switch (type) {
	case OPTION_INT: return "a whole number";
	case OPTION_NUMBER: return "a number";
	case OPTION_DURATION: return "a time (such as 90s, 1.5m, 2h or 1d)";
	case OPTION_RANGE: return "a whole number, or two as smaller:larger,";
	case OPTION_FLAG:
	case OPTION_AMOUNT:
	case OPTION_CHOICE:
	case OPTION_SIGNAL:
	case OPTION_DECLARED:
	case OPTION_TEXT:
	case OPTION_LIST: break;
	}
	return "a value that is not empty";
}

static bool is_bounded(const struct option_spec *spec)
{
	return spec->min < 0 || spec->min > 0 || spec->max < 0 || spec->max > 0;
}

/* "a whole number from 1 to 64", "a time (such as ...) of at least 1 second": what a value has to
 * be. 17 digits would show 0.1 as 0.10000000000000001, and no bound is written with more than
 * 15. */
static void describe_value(struct text *t, const struct option_spec *spec)
{
	const char *unit = spec->type == OPTION_DURATION ? " seconds" : "";
	bool low = spec->min > -HUGE_VAL, high = spec->max < HUGE_VAL;

	text_add(t, type_words(spec->type));
	if (!is_bounded(spec) || spec->type == OPTION_TEXT || spec->type == OPTION_LIST ||
	    spec->type == OPTION_AMOUNT)
		return;
	if (low && high)
		text_addf(t, " from %.15g to %.15g%s", spec->min, spec->max, unit);
	else if (low)
		text_addf(t, " of at least %.15g%s", spec->min, unit);
	else if (high)
		text_addf(t, " of at most %.15g%s", spec->max, unit);
}

static bool in_range(const struct option_spec *spec, double x)
{
	return !is_bounded(spec) || (x >= spec->min && x <= spec->max);
}

static bool is_among(const char *name, const char *const *names)
{
	while (*names && strcmp(name, *names) != 0)
		names++;
	return *names;
}

static int set_int(const struct option_spec *spec, const char *value, void *field)
{
	int64_t n;

	if (number_parse_int(value, &n) || !in_range(spec, (double)n))
		return -1;
	if (spec->target == FIELD_INT)
		*(int *)field = (int)n;
	else
		*(int64_t *)field = n;
	return 0;
}

static int set_number(const struct option_spec *spec, const char *value, void *field)
{
	double x;
	int rc = spec->type == OPTION_DURATION ? number_parse_duration(value, &x)
					       : number_parse(value, &x);

	if (rc || !in_range(spec, x))
		return -1;
	*(double *)field = x;
	return 0;
}

/* "4" is from 4 to 4. */
static int split_range(const char *value, int64_t *min, int64_t *max)
{
	const char *colon = strchr(value, ':');
	char *first;
	int rc;

	if (!colon) {
		rc = number_parse_int(value, min);
		*max = *min;
		return rc;
	}
	first = xstrdup(value);
	first[colon - value] = '\0';
	rc = number_parse_int(first, min);
	free(first);
	return rc ? rc : number_parse_int(colon + 1, max);
}

static int set_range(const struct option_spec *spec, const char *value, void *field)
{
	int64_t min = 0, max = 0;

	if (split_range(value, &min, &max) || min > max)
		return -1;
	if (!in_range(spec, (double)min) || !in_range(spec, (double)max))
		return -1;
	if (spec->target == FIELD_INT) {
		((int *)field)[0] = (int)min;
		((int *)field)[1] = (int)max;
	} else {
		((int64_t *)field)[0] = min;
		((int64_t *)field)[1] = max;
	}
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

/* "124M" is 124 million. */
static int set_amount(const struct option_spec *spec, const char *value, void *field)
{
	static const char suffixes[] = "KMG";
	char *digits = xstrdup(value);
	size_t n = strlen(digits);
	const char *suffix = n > 0 ? strchr(suffixes, digits[n - 1]) : NULL;
	double x;
	int rc;

	if (suffix)
		digits[n - 1] = '\0';
	rc = number_parse(digits, &x);
	free(digits);
	for (const char *s = suffixes; rc == 0 && suffix && s <= suffix; s++)
		x *= 1e3;
	if (rc || !in_range(spec, x))
		return -1;
	*(double *)field = x;
	return 0;
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

static int add_text(const char *value, void *field)
{
	struct text_list *list = field;

	if (!*value)
		return -1;
	list->items = xreallocarray(list->items, list->count + 1, sizeof(*list->items));
	list->items[list->count++] = value;
	return 0;
}

static int set_value(const struct option_spec *spec, const char *value, void *field)
{
	switch (spec->type) {
	case OPTION_FLAG:
		*(bool *)field = true;
		return 0;
	case OPTION_INT: return set_int(spec, value, field);
	case OPTION_NUMBER:
	case OPTION_DURATION: return set_number(spec, value, field);
	case OPTION_RANGE: return set_range(spec, value, field);
	case OPTION_TEXT: return set_text(spec, value, field);
	case OPTION_LIST: return add_text(value, field);
	case OPTION_AMOUNT: return set_amount(spec, value, field);
	case OPTION_CHOICE: 
		return is_among(value, spec->choices) ? set_text(spec, value, field) : -1;
	case OPTION_SIGNAL: return set_signal(value, field);
	case OPTION_DECLARED: break;
	}
	return -1;
}

/* Values may be megabytes long; what a message shows of one is not. */
static void add_clipped(struct text *t, const char *value)
{
	size_t n = strnlen(value, 61);

	text_add_bytes(t, value, n > 60 ? 58 : n);
	text_add(t, n > 60 ? ".." : "");
}

/* "adascale, sqrt, linear or none" */
static void add_choices(struct text *t, const char *const *choices)
{
	for (; *choices; choices++)
		text_addf(t, "%s%s", *choices, !choices[1] ? "" : choices[2] ? ", " : " or ");
}

/* Add what a value of this option has to be, for types other than numbers and times. Returns false
 * for numbers and times. */
static bool describe_word(struct text *t, const struct option_spec *spec)
{
	if (spec->type == OPTION_CHOICE)
		add_choices(t, spec->choices);
	else if (spec->type == OPTION_SIGNAL)
		text_add(t, "a signal that a program can catch, such as TERM, INT or USR1");
	else if (spec->type == OPTION_AMOUNT)
		text_add(t, "a number of at least 1, such as 124M");
	else
		return false;
	return true;
}

static int wrong_value(const struct command *command, const struct option_spec *spec,
		       const char *value, struct err *err)
{
	struct text what = TEXT_INIT, words = TEXT_INIT;
	char *title = option_title(spec);

	text_addf(&what, "option '%s'", title);
	if (value && *value && describe_word(&words, spec)) {
		if (spec->type == OPTION_SIGNAL)
			value += text_starts_with(value, "SIG") ? strlen("SIG") : 0;
		if (spec->type != OPTION_AMOUNT)
			usage_error(command, err, "option '--%s' wants %s, not '%.60s'",
				    spec->name, words.data, value);
		else
			usage_error(command, err, "%s wants %s, not '%.60s'", what.data,
				    words.data, value);
	} else {
		if (value && *value) {
			text_add(&what, ": '");
			add_clipped(&what, value);
			text_add(&what, "' is not ");
		} else {
			text_add(&what, " needs ");
		}
		describe_value(&what, spec);
		err_set(err, EX_USAGE, "%s", what.data);
	}
	free(title);
	text_release(&what);
	text_release(&words);
	return -1;
}

/* getopt takes a beginning of a name for the name where only one begins so. */
static bool is_ambiguous(const struct scan *s, const char *name, size_t length)
{
	int n = 0;

	for (int i = 0; i <= s->n; i++)
		n += !strncmp(s->longs[i].name, name, length);
	return length && n > 1;
}

static int unknown_name(const struct scan *s, const char *argument, struct err *err)
{
	char *name = xstrdup(argument + strspn(argument, "-"));
	struct suggestion nearest = suggestion_for(name);
	struct text shown = TEXT_INIT;
	bool ambiguous;

	name[strcspn(name, "=")] = '\0';
	ambiguous = is_ambiguous(s, name, strlen(name));
	for (int i = 0; i <= s->n; i++)
		suggestion_offer(&nearest, s->longs[i].name);
	add_clipped(&shown, name);
	if (ambiguous)
		usage_error(s->command, err, "option '--%s' could be several", shown.data);
	else if (nearest.best)
		err_set(err, EX_USAGE, "unknown option '--%s'; did you mean '--%s'?", shown.data,
			nearest.best);
	else
		usage_error(s->command, err, "unknown option '--%s'", shown.data);
	text_release(&shown);
	free(name);
	return -1;
}

/* What getopt would have said: a value missing (':'), a value too many, or an unknown option. It
 * leaves the option's number in optopt, 0 where a long name means nothing to it. */
static int bad_option(const struct scan *s, int error, struct err *err)
{
	int i = optopt ? scan_index(s, optopt) : SCAN_BAD;

	if (error == ':' && i >= 0)
		return wrong_value(s->command, &s->options[i].spec, NULL, err);
	if (i != SCAN_BAD)
		return usage_error(s->command, err, "option '--%s' takes no value",
				   s->longs[i == SCAN_HELP ? s->n : i].name);
	if (optopt > 0 && optopt < 128 && isgraph(optopt))
		return usage_error(s->command, err, "unknown option '-%c'", optopt);
	if (optopt)
		return usage_error(s->command, err, "unknown option letter, not even ASCII");
	return unknown_name(s, s->argv[optind - 1], err);
}

static struct asked *asked_of(const struct command_option *option, void *target)
{
	return (struct asked *)(void *)((char *)target + option->asked_offset);
}

/* Refuses an option that was given without the option that it needs. */
static int check_needs(const struct scan *s, void *target, struct err *err)
{
	for (int i = 0; i < s->n; i++) {
		const struct command_option *option = &s->options[i];

		if (option->spec.needs &&
		    asked_gives(asked_of(option, target), option->spec.name) &&
		    !asked_gives(asked_of(option, target), option->spec.needs))
			return usage_error(s->command, err, "option '--%s' needs --%s",
					   option->spec.name, option->spec.needs);
	}
	return 0;
}

static int parse_all(const struct scan *s, void *target, struct err *err)
{
	int i, error;

	while ((i = scan_next(s, &error)) != SCAN_END) {
		const struct command_option *option;

		if (i == SCAN_HELP)
			continue;
		if (i == SCAN_BAD)
			return bad_option(s, error, err);
		option = &s->options[i];
		if (set_value(&option->spec, optarg, (char *)target + option->spec.offset))
			return wrong_value(s->command, &option->spec, optarg, err);
		if (option->row >= 0)
			asked_of(option, target)->given |= (uint64_t)1 << option->row;
	}
	return check_needs(s, target, err);
}

int options_parse(const struct command *command, int argc, char **argv, void *target, int *first,
		  struct err *err)
{
	struct scan s;
	int rc;

	scan_init(&s, command, argc, argv);
	rc = parse_all(&s, target, err);
	*first = optind;
	scan_release(&s);
	return rc;
}

/* In a copy: getopt moves operands behind the options, where one that lacks its value would then
 * take the first of them for that. */
bool options_ask_help(const struct command *command, int argc, char **argv)
{
	char **copy = xcalloc((size_t)argc + 1, sizeof(*copy));
	struct scan s;
	int i, error;

	memcpy(copy, argv, (size_t)argc * sizeof(*copy));
	scan_init(&s, command, argc, copy);
	do
		i = scan_next(&s, &error);
	while (i != SCAN_END && i != SCAN_HELP);
	scan_release(&s);
	free(copy);
	return i == SCAN_HELP;
}

/* Scan a copy: getopt moves operands, and the caller knows where the operands of argv are. */
const char *options_given_but(const struct command *command, int argc, char **argv,
			      const char *const *names)
{
	char **copy = xcalloc((size_t)argc + 1, sizeof(*copy));
	const char *found = NULL;
	struct scan s;
	int i, error;

	memcpy(copy, argv, (size_t)argc * sizeof(*copy));
	scan_init(&s, command, argc, copy);
	while (!found && (i = scan_next(&s, &error)) != SCAN_END)
		if (i >= 0 && !is_among(s.options[i].spec.name, names))
			found = s.options[i].spec.name;
	scan_release(&s);
	free(copy);
	return found;
}

void options_release(const struct command *command, void *target)
{
	int n;
	struct command_option *options = command_options(command, &n);

	for (int i = 0; i < n; i++) {
		const struct option_spec *spec = &options[i].spec;
		void *field = (char *)target + spec->offset;

		if (spec->type == OPTION_LIST) {
			free(((struct text_list *)field)->items);
			*(struct text_list *)field = (struct text_list){ 0 };
		} else if (spec->target == FIELD_TEXT) {
			free(*(char **)field);
			*(char **)field = NULL;
		}
	}
	free(options);
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

int check_color(const struct command *command, const char *mode, struct err *err)
{
	if (!strcmp(mode, "auto") || !strcmp(mode, "always") || !strcmp(mode, "never"))
		return 0;
	return usage_error(command, err, "option '--color' wants auto, always or never, not "
			   "'%.60s'", mode);
}

int check_picture(const struct command *command, const char *path, struct err *err)
{
	if (picture_format(path))
		return 0;
	return usage_error(command, err, "option '--plot' wants a file that ends in .svg or .png, "
			   "not '%.200s'", path);
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
