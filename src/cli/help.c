/* help.c - what --help prints, made from a command's table. */
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "pollux/submission.h"
#include "pollux/text.h"

#define WIDTH 80
#define WIDEST_OPTION 28	/* wider ones have their help on the next line */

static void option_form(struct text *t, const struct option_spec *spec)
{
	text_clear(t);
	if (spec->letter)
		text_addf(t, "  -%c, ", spec->letter);
	else
		text_add(t, "      ");
	text_addf(t, "--%s%s%s%s", spec->name,
		  !spec->argument ? "" : spec->type == OPTION_WORDS ? "[=" : " ",
		  spec->argument ? spec->argument : "", spec->type == OPTION_WORDS ? "]" : "");
}

static const struct option_spec help_spec = {
	.name = "help", .letter = 'h', .help = "print this help",
};

/* Words from column indent on; the cursor stands at column at. A word too long for a line sticks
 * out. */
static void print_wrapped(FILE *out, const char *words, int at, int indent)
{
	bool first = true;

	while (*words) {
		int n = (int)strcspn(words, " ");

		if (!first && at + 1 + n > WIDTH) {
			fputc('\n', out);
			at = 0;
			first = true;
		}
		fprintf(out, "%*s%.*s", first ? indent - at : 1, "", n, words);
		at = (first ? indent : at + 1) + n;
		first = false;
		words += n;
		words += strspn(words, " ");
	}
	fputc('\n', out);
}

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
	print_wrapped(out, spec->help, at, indent);
	text_release(&form);
}

/* The column at which the help of all options begins. */
static int help_column(const struct command_option *options, int n)
{
	struct text form = TEXT_INIT;
	int widest = 0;

	option_form(&form, &help_spec);
	widest = (int)form.length;
	for (int i = 0; i < n; i++) {
		option_form(&form, &options[i].spec);
		if ((int)form.length > widest && form.length <= WIDEST_OPTION)
			widest = (int)form.length;
	}
	text_release(&form);
	return widest + 2;
}

static void print_examples(FILE *out, const char *examples)
{
	fputs("\nexamples:\n", out);
	while (*examples) {
		int n = (int)strcspn(examples, "\n");

		fprintf(out, "  %.*s\n", n, examples);
		examples += n + (examples[n] == '\n');
	}
}

void command_help(const struct command *command, FILE *out)
{
	int n;
	struct command_option *options = command_options(command, &n);
	int column = help_column(options, n);

	fprintf(out, "usage: pollux %s%s%s\n\n", command->name, *command->synopsis ? " " : "",
		command->synopsis);
	print_wrapped(out, command->summary, 0, 0);
	fputs("\noptions:\n", out);
	for (int i = 0; i < n; i++)
		print_option(out, &options[i].spec, column);
	print_option(out, &help_spec, column);
	if (command->example)
		print_examples(out, command->example);
	free(options);
}

/* The values of --preset are files. */
static void print_presets(FILE *out)
{
	struct strings names = { 0 };

	preset_names(&names);
	for (size_t i = 0; i < names.count; i++)
		fprintf(out, "%s\n", names.items[i]);
	strings_release(&names);
}

bool command_choices(const struct command *command, const char *option, FILE *out)
{
	int n;
	struct command_option *options = command_options(command, &n);
	bool found = !strcmp(option, help_spec.name);

	for (int i = 0; i < n; i++) {
		const char *const *choice = options[i].spec.choices;

		if (strcmp(options[i].spec.name, option) != 0)
			continue;
		found = true;
		for (; choice && *choice; choice++)
			fprintf(out, "%s\n", *choice);
		if (!strcmp(option, "preset"))
			print_presets(out);
	}
	free(options);
	return found;
}
