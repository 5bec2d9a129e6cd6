/* command.c - options from a command's table, by getopt_long(3) with messages of our own.
 * option_value.c parses the values, and says what a wrong one should have been. */
#include <ctype.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "pollux/text.h"
#include "request.h"

#define LONG_FORM 256		/* what getopt returns for options[i] in its long form, less i */

enum { SCAN_END = -1, SCAN_HELP = -2, SCAN_BAD = -3 };

/* One walk through an argument vector. Only one can be under way, since getopt keeps its place in
 * globals. */
struct scan {
	const struct command *command;
	struct command_option *options;
	int n;				/* how many */
	struct option *longs;		/* n, --help, and the end */
	char *letters;
	int argc;
	char **argv;
};

/* Appends the rows of the declaration for which the option stands. */
static void add_declared(const struct option_spec *place, struct command_option *options, int *n)
{
	int first = *n;

	for (int row = 0; row < n_declared_fields; row++) {
		const struct declared_field *field = &declared_fields[row];
		struct option_spec spec = field->option;

		if (!(field->uses & place->uses))
			continue;
		spec.offset += place->offset;
		spec.target = field->column.field.name ? field->column.field.type : FIELD_NONE;
		for (int i = 0; i < *n; i++)
			if (options[i].spec.letter == spec.letter)
				spec.letter = 0;
		if (place->uses == IGNORED_BY_PROFILE)
			spec.help = "as for submit, not used";
		options[(*n)++] = (struct command_option){ spec, place->offset, row };
	}
	/* What an option needs counts only if this command has it. */
	for (int i = first; i < *n; i++) {
		bool has = false;

		for (int k = first; options[i].spec.needs && k < *n; k++)
			has = has || !strcmp(options[k].spec.name, options[i].spec.needs);
		options[i].spec.needs = has ? options[i].spec.needs : NULL;
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
		int value = spec->type == OPTION_FLAG ? no_argument
			: spec->type == OPTION_WORDS || spec->type == OPTION_COUNT
			? optional_argument : required_argument;

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

/* The option that a value of getopt stands for: an index, SCAN_HELP or SCAN_BAD. */
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

/* "--cpu 4" is "--cpu=4": no program is called by a number. */
static void take_count(const struct scan *s)
{
	const char *next = optind < s->argc ? s->argv[optind] : "";

	if (optarg || !*next || next[strspn(next, "0123456789")])
		return;
	optarg = s->argv[optind++];
}

/* The next option: its index with its value in optarg, or one of SCAN_*. *error is getopt's reason
 * for SCAN_BAD: '?' or ':'. */
static int scan_next(const struct scan *s, int *error)
{
	int c = getopt_long(s->argc, s->argv, s->letters, s->longs, NULL), i;

	*error = c;
	if (c == -1)
		return SCAN_END;
	i = c == '?' || c == ':' ? SCAN_BAD : scan_index(s, c);
	if (i >= 0 && s->options[i].spec.type == OPTION_COUNT)
		take_count(s);
	return i;
}

static bool has_option(const struct scan *s, const char *name)
{
	for (int i = 0; i < s->n; i++)
		if (!strcmp(s->longs[i].name, name))
			return true;
	return false;
}

/* Tells what the option of another program is here, if it is known. option: "--gpus=2", "-g". */
static bool tell_peer(const struct scan *s, const char *option, const char *shown, struct err *err)
{
	const char *here = peer_word(option), *way = peer_way(option);

	if (here && has_option(s, here + strlen("--")))
		err_set(err, EX_USAGE, "unknown option '%s'; here that is '%s'", shown, here);
	else if (way && !strcmp(s->command->name, "submit"))
		err_set(err, EX_USAGE, "unknown option '%s'; %s", shown, way);
	else
		return false;
	return true;
}

/* getopt accepts the beginning of a name if no other name begins with the same letters. */
static int unknown_name(const struct scan *s, const char *argument, struct err *err)
{
	char *name = xstrdup(argument + strspn(argument, "-"));
	struct suggestion nearest = suggestion_for(name);
	struct text shown = TEXT_INIT;
	int n_alike = 0;

	name[strcspn(name, "=")] = '\0';
	for (int i = 0; i <= s->n; i++) {
		n_alike += *name && text_starts_with(s->longs[i].name, name);
		suggestion_offer(&nearest, s->longs[i].name);
	}
	text_add(&shown, "--");
	add_clipped(&shown, name);
	if (n_alike > 1)
		usage_error(s->command, err, "option '%s' could be several", shown.data);
	else if (tell_peer(s, argument, shown.data, err))
		;
	else if (nearest.best)
		err_set(err, EX_USAGE, "unknown option '%s'; did you mean '--%s'?", shown.data,
			nearest.best);
	else
		usage_error(s->command, err, "unknown option '%s'", shown.data);
	text_release(&shown);
	free(name);
	return -1;
}

/* The error that getopt would have printed: a missing value (':'), a value too many, or an unknown
 * option. getopt leaves the option's number in optopt, or 0 for an unknown long name. */
static int bad_option(const struct scan *s, int error, struct err *err)
{
	int i = optopt ? scan_index(s, optopt) : SCAN_BAD;

	if (error == ':' && i >= 0)
		return wrong_value(s->command, &s->options[i].spec, NULL, err);
	if (i != SCAN_BAD)
		return usage_error(s->command, err, "option '--%s' takes no value",
				   s->longs[i == SCAN_HELP ? s->n : i].name);
	if (optopt > 0 && optopt < 128 && isgraph(optopt)) {
		const char letter[] = { '-', (char)optopt, '\0' };

		return tell_peer(s, letter, letter, err)
			? -1 : usage_error(s->command, err, "unknown option '%s'", letter);
	}
	if (optopt)
		return usage_error(s->command, err, "unknown option letter, not even ASCII");
	return unknown_name(s, s->argv[optind - 1], err);
}

static struct asked *asked_of(const struct command_option *option, void *target)
{
	return (struct asked *)(void *)((char *)target + option->asked_offset);
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
	for (i = 0; i < s->n; i++) {
		const struct command_option *option = &s->options[i];

		if (option->spec.needs &&
		    asked_gives(asked_of(option, target), option->spec.name) &&
		    !asked_gives(asked_of(option, target), option->spec.needs))
			return usage_error(s->command, err, "option '--%s' needs --%s",
					   option->spec.name, option->spec.needs);
	}
	return 0;
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

/* Looks for --help, or for an option that is not among the names. Scans a copy: getopt moves
 * operands behind the options, so the last option, if its value is missing, would take the first
 * operand as the value; and the caller knows where the operands of argv are. */
static const char *find_option(const struct command *command, int argc, char **argv,
			       const char *const *names)
{
	char **copy = xcalloc((size_t)argc + 1, sizeof(*copy));
	const char *found = NULL;
	struct scan s;
	int i, error;

	memcpy(copy, argv, (size_t)argc * sizeof(*copy));
	scan_init(&s, command, argc, copy);
	while (!found && (i = scan_next(&s, &error)) != SCAN_END)
		if (names ? i >= 0 && !text_is_among(s.options[i].spec.name, names)
			  : i == SCAN_HELP)
			found = i >= 0 ? s.options[i].spec.name : "help";
	scan_release(&s);
	free(copy);
	return found;
}

bool options_ask_help(const struct command *command, int argc, char **argv)
{
	return find_option(command, argc, argv, NULL) != NULL;
}

const char *options_given_but(const struct command *command, int argc, char **argv,
			      const char *const *names)
{
	return find_option(command, argc, argv, names);
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
