/* cmd_presets.c - pollux presets: what 'submit --preset' knows of frameworks. */
#include "commands.h"

/* A line for each word, or one for the text. */
static void print_words(const char *name, const struct strings *words, const char *text)
{
	for (size_t i = 0; words && i < words->count; i++)
		printf("  %-16s%s\n", i ? "" : name, words->items[i]);
	if (text)
		printf("  %-16s%s\n", name, text);
}

static int show_preset(const char *name, bool is_listed, struct err *err)
{
	struct preset p;

	if (preset_load(name, &p, err))
		return -1;
	if (is_listed) {
		printf("%-14s%s\n", p.name, p.summary ? p.summary : "");
	} else {
		printf("%s: %s\n", p.name, p.summary ? p.summary : "");
		print_words("options", &p.options, NULL);
		print_words("directory", NULL, p.directory);
		print_words("arguments", &p.arguments, NULL);
		print_words("launcher", &p.launchers, NULL);
		print_words("its arguments", &p.first_arguments, NULL);
		print_words("tried with", NULL, p.tried);
	}
	preset_release(&p);
	return 0;
}

static int main_presets(int argc, char **argv, struct err *err)
{
	struct strings names = { 0 };
	int first, rc = options_parse(&cmd_presets, argc, argv, NULL, &first, err);

	for (int i = first; rc == 0 && i < argc; i++)
		rc = show_preset(argv[i], false, err);
	if (rc || first < argc)
		return rc;
	preset_names(&names);
	for (size_t i = 0; i < names.count && rc == 0; i++)
		rc = show_preset(names.items[i], true, err);
	if (rc == 0 && !names.count)
		rc = preset_none(err);
	strings_release(&names);
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
