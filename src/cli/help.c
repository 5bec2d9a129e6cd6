/* help.c - what --help prints, made from a command's table. */
#include <stdlib.h>
#include <string.h>

#include "commands.h"

#define WIDEST_OPTION 28	/* wider ones have their help on the next line */

static void option_form(struct text *t, const struct option_spec *spec)
{
	text_clear(t);
	if (spec->letter)
		text_addf(t, "  -%c, ", spec->letter);
	else
		text_add(t, "      ");
	text_addf(t, "--%s%s%s%s", spec->name,
		  !spec->argument ? "" : spec->type == OPTION_WORDS ? "[="
		  : spec->type == OPTION_COUNT ? " [" : " ",
		  spec->argument ? spec->argument : "",
		  spec->type == OPTION_WORDS || spec->type == OPTION_COUNT ? "]" : "");
}

static const struct option_spec help_spec = {
	.name = "help", .letter = 'h', .help = "print this help",
};

/* The form of an option, and from column indent on its help. */
static void print_option(FILE *out, const struct option_spec *spec, int indent)
{
	struct text form = TEXT_INIT;
	int at;

	option_form(&form, spec);
	at = (int)form.length;
	fputs(form.data, out);
	if (at + 2 > indent) {
		fputc('\n', out);
		at = 0;
	}
	output_words(out, at, indent, spec->help);
	text_release(&form);
}

/* The length of the first part of a synopsis, which is not broken: a word, or all in brackets. */
static int part_length(const char *synopsis)
{
	int n = 0, depth = 0;

	for (; synopsis[n] && (depth > 0 || synopsis[n] != ' '); n++)
		depth += (synopsis[n] == '[') - (synopsis[n] == ']');
	return n;
}

static void print_usage(FILE *out, const struct command *command)
{
	static const char begin[] = "usage: pollux ";
	int at = fprintf(out, "%s%s", begin, command->name);

	for (const char *part = command->synopsis; *part; part += *part == ' ') {
		int n = part_length(part);
		bool fits = at + 1 + n <= REMARK_WIDTH;

		if (!fits)
			fputc('\n', out);
		at = (fits ? at : 0) + fprintf(out, "%*s%.*s", fits ? 1 : (int)strlen(begin), "",
					       n, part);
		part += n;
	}
	fputs("\n\n", out);
}

static bool is_common(const struct command *command, const char *name)
{
	size_t n = strlen(name);

	for (const char *s = command->common; s; s = strchr(s, ' ')) {
		s += *s == ' ';
		if (!strncmp(s, name, n) && (s[n] == ' ' || !s[n]))
			return true;
	}
	return false;
}

static void print_heading(FILE *out, const struct command *command, const char *name)
{
	for (const char *const *h = command->headings; h && *h; h += 2)
		if (!strcmp(h[0], name))
			fprintf(out, "\n%s:\n", h[1]);
}

static void print_options(FILE *out, const struct command *command, bool all)
{
	int n, column;
	struct command_option *options = command_options(command, &n);
	struct text form = TEXT_INIT;

	option_form(&form, &help_spec);
	column = (int)form.length + 2;
	for (int i = 0; i < n; i++) {
		option_form(&form, &options[i].spec);
		if ((int)form.length + 2 > column && form.length <= WIDEST_OPTION)
			column = (int)form.length + 2;
	}
	if (!all || !command->headings)
		fputs("\noptions:\n", out);
	for (int i = 0; i < n; i++) {
		if (all)
			print_heading(out, command, options[i].spec.name);
		if (all || is_common(command, options[i].spec.name))
			print_option(out, &options[i].spec, column);
	}
	print_option(out, &help_spec, column);
	if (!all)
		fprintf(out, "\n'pollux %s --help all' has all options, pollux-%s(1) explains "
			"them.\n", command->name, command->name);
	text_release(&form);
	free(options);
}

void command_help(const struct command *command, bool all, FILE *out)
{
	const char *examples = command->example ? command->example : "";

	print_usage(out, command);
	output_words(out, 0, 0, command->summary);
	print_options(out, command, all || !command->common);
	fputs(*examples ? "\nexamples:\n" : "", out);
	while (*examples) {
		int length = (int)strcspn(examples, "\n");

		fprintf(out, "  %.*s\n", length, examples);
		examples += length + (examples[length] == '\n');
	}
}

bool command_choices(const struct command *command, const char *option, FILE *out)
{
	int n;
	struct command_option *options = command_options(command, &n);
	bool found = !strcmp(option, help_spec.name);
	struct strings presets = { 0 };

	for (int i = 0; i < n; i++) {
		const char *const *choice = options[i].spec.choices;

		if (strcmp(options[i].spec.name, option) != 0)
			continue;
		found = true;
		for (; choice && *choice; choice++)
			fprintf(out, "%s\n", *choice);
	}
	if (found && !strcmp(option, "preset"))
		preset_names(&presets);		/* each is a file */
	for (size_t i = 0; i < presets.count; i++)
		fprintf(out, "%s\n", presets.items[i]);
	strings_release(&presets);
	free(options);
	return found;
}
