/* preset.c - see submission.h. */
#include "pollux/submission.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/paths.h"
#include "pollux/report.h"
#include "pollux/template.h"

#define SUFFIX ".conf"

/* --- files --- */

void preset_release(struct preset *p)
{
	free(p->name);
	free(p->summary);
	free(p->tried);
	free(p->directory);
	strings_release(&p->launchers);
	strings_release(&p->arguments);
	strings_release(&p->first_arguments);
	strings_release(&p->steps_arguments);
	strings_release(&p->options);
	*p = (struct preset){ 0 };
}

#define AT(member) offsetof(struct preset, member)
static const struct {
	const char *key;
	size_t text, list;		/* the member; of two one is 0, that of the name */
} keys[] = {
	{ "summary", AT(summary), 0 }, { "tried", AT(tried), 0 },
	{ "directory", AT(directory), 0 }, { "launcher", 0, AT(launchers) },
	{ "argument", 0, AT(arguments) }, { "first-argument", 0, AT(first_arguments) },
	{ "steps-argument", 0, AT(steps_arguments) },
};

static void take_key(struct preset *p, const char *key, const char *value)
{
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		if (strcmp(key, keys[i].key) != 0)
			continue;
		if (keys[i].text)
			xreplace((char **)(void *)((char *)p + keys[i].text), value);
		else
			strings_add((struct strings *)(void *)((char *)p + keys[i].list), value);
		return;
	}
	if (!strcmp(value, "yes"))
		strings_addf(&p->options, "--%s", key);
	else
		strings_addf(&p->options, "--%s=%s", key, value);
}

static char *strip(char *text)
{
	char *end;

	text += strspn(text, " \t");
	end = text + strlen(text);
	while (end > text && strchr(" \t\r\n", end[-1]))
		*--end = '\0';
	return text;
}

static int read_lines(struct preset *p, FILE *file, const char *path, struct err *err)
{
	char line[1024];

	for (int number = 1; fgets(line, sizeof(line), file); number++) {
		char *text, *equals;
		if (!strchr(line, '\n') && (!feof(file) || strlen(line) == sizeof(line) - 1))
			return err_set(err, EX_CONFIG, "'%s', line %d: too long, or not text",
				       path, number);
		text = strip(line);
		if (!*text || *text == '#')
			continue;
		equals = strchr(text, '=');
		if (!equals || equals == text)
			return err_set(err, EX_CONFIG, "'%s', line %d: KEY = VALUE is wanted",
				       path, number);
		*equals = '\0';
		take_key(p, strip(text), strip(equals + 1));
	}
	if (ferror(file))
		return err_set(err, EX_CONFIG, "cannot read preset '%s': %s", path,
			       strerror(errno));
	return 0;
}

/* Opens a regular file. Does not wait for a writer if the path is a FIFO. */
static int read_file(struct preset *p, const char *path, struct err *err)
{
	int fd = file_open_settings(path), rc;
	struct stat st;
	FILE *file = NULL;

	if (fd < 0 || fstat(fd, &st))
		err_set(err, EX_CONFIG, "cannot read preset '%s': %s", path, strerror(errno));
	else if (!S_ISREG(st.st_mode))
		err_set(err, EX_CONFIG, "cannot read preset '%s': it is not a regular file", path);
	else if (!(file = fdopen(fd, "r")))
		err_set(err, EX_OSERR, "cannot read preset '%s': %s", path, strerror(errno));
	if (!file) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	rc = read_lines(p, file, path, err);
	fclose(file);
	return rc;
}

static int is_preset(const struct dirent *e)
{
	size_t n = strlen(e->d_name);

	return e->d_name[0] != '.' && n > strlen(SUFFIX) &&
	       !strcmp(e->d_name + n - strlen(SUFFIX), SUFFIX);
}

void preset_names(struct strings *names)
{
	char *directory = paths_data("presets");
	struct dirent **entries = NULL;
	int n = directory ? scandir(directory, &entries, is_preset, alphasort) : 0;

	for (int i = 0; i < n; i++) {
		strings_addf(names, "%.*s", (int)(strlen(entries[i]->d_name) - strlen(SUFFIX)),
			     entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	free(directory);
}

int preset_none(struct err *err)
{
	const char *share = getenv("POLLUX_DATA_DIR");

	if (share && *share)
		return err_set(err, EX_FAILED, "no presets found: POLLUX_DATA_DIR is '%s', and "
			       "'%s/pollux/presets' has none", share, share);
	return err_set(err, EX_FAILED, "no presets found: share/pollux/presets is not beside the "
		       "program");
}

int preset_load(const char *name, struct preset *p, struct err *err)
{
	char *file = strchr(name, '/') ? NULL : xasprintf("presets/%s" SUFFIX, name);
	char *path = file ? paths_data(file) : NULL;
	struct strings names = { 0 };
	int rc;

	*p = (struct preset){ .name = xstrdup(name) };
	if (path) {
		rc = read_file(p, path, err);
	} else {
		preset_names(&names);
		rc = names.count == 0 ? preset_none(err)
			: err_set(err, EX_USAGE, "no preset '%.60s'; 'pollux presets' lists them",
				  name);
		strings_release(&names);
	}
	free(file);
	free(path);
	if (rc)
		preset_release(p);
	return rc;
}

/* --- the command --- */

/* True if the word begins with the option's name: "--nproc-per-node" is "--nproc_per_node". */
static bool has_name(const char *word, const char *option, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (word[i] != option[i] && !(strchr("-_", option[i]) && word[i] &&
					      strchr("-_", word[i])))
			return false;
	return true;
}

/* Returns the value of an option in the words, "--out_dir=x" or "--output_dir" "x". NULL: the words
 * do not have the option; "": the option has no value. option may end in '=' or ' ' and a value. */
static const char *value_of_option(char *const *words, int n, const char *option)
{
	size_t length = strcspn(option, "= ");

	for (int i = 0; i < n; i++) {
		const char *word = words[i];

		if (!has_name(word, option, length))
			continue;
		if (word[length] == '=')
			return word + length + 1;
		if (!word[length])
			return i + 1 < n ? words[i + 1] : "";
	}
	return NULL;
}

static void add_words(struct strings *out, const char *text)
{
	for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
		size_t n = strcspn(text, " ");

		strings_addf(out, "%.*s", (int)n, text);
		text += n;
	}
}

static void add_missing(struct strings *out, const struct strings *arguments, char *const *words,
			int n)
{
	for (size_t i = 0; i < arguments->count; i++)
		if (!value_of_option(words, n, arguments->items[i]))
			add_words(out, arguments->items[i]);
}

/* The number of words up to the end of the launcher, which may stand behind others, as in "uv run
 * accelerate launch"; 0: the words have none of the preset's. */
static int launcher_end(const struct preset *p, char *const *words, int n)
{
	for (int i = 0; i < n; i++)
		for (size_t k = 0; k < p->launchers.count; k++) {
			const char *rest = p->launchers.items[k], *word = path_name(words[i]);
			int end = i;

			while (*rest && text_starts_with(rest, word) &&
			       strcspn(rest, " ") == strlen(word)) {
				rest += strlen(word);
				rest += strspn(rest, " ");
				end++;
				word = end < n ? words[end] : "";
			}
			if (!*rest)
				return end;
		}
	return 0;
}

/* Adds the command with the preset's arguments. An option with its value in another word is added
 * as two words. */
static void add_command(const struct preset *p, char *const *words, int n, struct strings *out)
{
	int end = launcher_end(p, words, n);

	for (int i = 0; i < n; i++) {
		strings_add(out, words[i]);
		if (i + 1 == end)
			add_missing(out, &p->first_arguments, words, n);
	}
	if (p->launchers.count && !end) {
		struct text missing = TEXT_INIT;

		for (size_t i = 0; i < p->first_arguments.count; i++)
			text_addf(&missing, " %s", p->first_arguments.items[i]);
		output_messagef("warning: preset '%s': the command has no '%s' of its own, which "
				"gets:%s", p->name, p->launchers.items[0], missing.data);
		text_release(&missing);
	}
	if (p->directory && !value_of_option(words, n, p->directory)) {
		bool joined = p->directory[strlen(p->directory) - 1] == '=';

		strings_addf(out, "%s%s", p->directory, joined ? "{checkpoint}" : "");
		if (!joined)
			strings_add(out, "{checkpoint}");
	}
	add_missing(out, &p->arguments, words, n);
}

/* True if the options make the name a parameter of a sweep, which is put in before a template is.
 * --params has names in a file. */
static bool is_parameter(char *const *words, int first, const char *name)
{
	static const char option[] = "--param";
	size_t length = strlen(name);

	for (int i = 1; i < first; i++) {
		const char *value = i + 1 < first && !strcmp(words[i], option) ? words[i + 1] : "";

		if (text_starts_with(words[i], "--param="))
			value = words[i] + sizeof(option);
		if (!strncmp(value, name, length) && value[length] == '=')
			return true;
	}
	return value_of_option(words, first, "--params");
}

void preset_apply(const struct preset *p, char *const *words, int n, int first,
		  struct strings *out)
{
	const char *directory = p->directory
		? value_of_option(words + first, n - first, p->directory) : NULL;
	bool is_known = true, is_told_steps = !value_of_option(words, first, "--steps");

	strings_add(out, words[0]);
	for (size_t i = 0; i < p->options.count; i++)
		if (strcmp(p->options.items[i], "--preempt") != 0 ||
		    !value_of_option(words, first, "--no-preempt"))
			strings_add(out, p->options.items[i]);
	/* --checkpoint-dir knows {job} and the parameters of a sweep. Where the command has another
	 * template, the directory is not known before a launch. */
	for (int i = 0; directory && *directory && template_name(i); i++)
		is_known = is_known && (!strcmp(template_name(i), "job") ||
					!template_text_mentions(directory, template_name(i)) ||
					is_parameter(words, first, template_name(i)));
	if (directory && *directory && is_known)
		strings_addf(out, "--checkpoint-dir=%s", directory);
	else if (directory && *directory && !template_text_mentions(directory, "checkpoint"))
		output_messagef("warning: the directory '%s' is not known before a launch: what is "
				"saved there is no checkpoint of the job, and a run that is "
				"stopped begins anew; {job} may stand in it", directory);
	for (int i = 1; i < first; i++)
		strings_add(out, words[i]);
	if (first < 2 || strcmp(words[first - 1], "--") != 0)
		strings_add(out, "--");
	add_command(p, words + first, n - first, out);
	for (int i = first; i < n; i++)
		is_told_steps = is_told_steps || template_text_mentions(words[i], "steps");
	for (size_t i = 0; !is_told_steps && i < p->steps_arguments.count; i++)
		add_words(out, p->steps_arguments.items[i]);
}
