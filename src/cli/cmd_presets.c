/* cmd_presets.c - pollux presets: what 'submit --preset' knows of frameworks. */
#include <stdio.h>

#include "commands.h"
#include "pollux/submission.h"

static void print_words(const char *name, const struct strings *words)
{
	for (size_t i = 0; i < words->count; i++)
		printf("  %-16s%s\n", i ? "" : name, words->items[i]);
}

static void print_text(const char *name, const char *text)
{
	if (text)
		printf("  %-16s%s\n", name, text);
}

static int show_preset(const char *name, struct err *err)
{
	struct preset p;

	if (preset_load(name, &p, err))
		return -1;
	printf("%s: %s\n", p.name, p.summary ? p.summary : "");
	print_words("options", &p.options);
	print_text("directory", p.directory);
	print_words("arguments", &p.arguments);
	print_text("launcher", p.launcher);
	print_words("its arguments", &p.first_arguments);
	print_text("tried with", p.tried);
	preset_release(&p);
	return 0;
}

static int list(struct err *err)
{
	struct strings names = { 0 };
	int rc = 0;

	preset_names(&names);
	for (size_t i = 0; i < names.count && rc == 0; i++) {
		struct preset p;

		rc = preset_load(names.items[i], &p, err);
		if (rc)
			break;
		printf("%-12s%s\n", p.name, p.summary ? p.summary : "");
		preset_release(&p);
	}
	if (rc == 0 && !names.count)
		rc = preset_none(err);
	strings_release(&names);
	return rc;
}

static int main_presets(int argc, char **argv, struct err *err)
{
	int first, rc = options_parse(&cmd_presets, argc, argv, NULL, &first, err);

	if (rc == 0 && first == argc)
		return list(err);
	for (int i = first; rc == 0 && i < argc; i++)
		rc = show_preset(argv[i], err);
	return rc;
}

const struct command cmd_presets = {
	.name = "presets", .synopsis = "[NAME...]",
	.summary = "list what makes programs of a framework save and continue",
	.example = "pollux presets\n"
		   "pollux presets hf\n"
		   "pollux submit --preset hf -- python run_clm.py --do_train",
	.run = main_presets,
};
