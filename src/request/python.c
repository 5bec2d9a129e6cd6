/* python.c - which jobs are offered the helper for PyTorch: which Python runs a command, whether it
 * has PyTorch, and what scripts do that stand before a Python. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pollux/advice.h"
#include "pollux/clock.h"
#include "pollux/environment.h"
#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/paths.h"
#include "pollux/proc.h"
#include "request.h"

#define LONGEST_FIRST_LINES 4096
#define LONGEST_SCRIPT (1 << 20)

/* Reads the beginning of a file as a text. The caller frees; NULL: it cannot be read. */
static char *read_beginning(const char *path, size_t most)
{
	FILE *f = file_open_stream(path);
	char *text;
	size_t n;

	if (!f)
		return NULL;
	text = xmalloc(most + 1);
	n = fread(text, 1, most, f);
	fclose(f);
	for (size_t i = 0; i < n; i++)	/* NUL bytes, as in a binary, would end the text */
		text[i] = (char)(text[i] ? text[i] : '?');
	text[n] = '\0';
	return text;
}

/* The Python of a program, which it is itself, or that of "#!/usr/bin/env python3",
 * "#!/venv/bin/python" or, as pip writes where the path is too long for the kernel, "#!/bin/sh" and
 * "'''exec' /venv/bin/python ...". The caller frees; NULL: none. */
static char *python_of(const struct job_command *c)
{
	const char *path = strings_variable(&c->env, "PATH");
	char *script, *save = NULL, *word = NULL, *found = NULL;

	if (program_is(c->program, "python"))
		return xstrdup(c->program);
	script = read_beginning(c->program, LONGEST_FIRST_LINES);
	if (script && text_starts_with(script, "#!"))
		word = strtok_r(script + strlen("#!"), " \t\n", &save);
	if (word && !strcmp(path_name(word), "env"))
		do
			word = strtok_r(NULL, " \t\n", &save);
		while (word && *word == '-');
	else if (word && !strcmp(word, "/bin/sh") &&
		 (word = strtok_r(NULL, " \t\n", &save)) && !strcmp(word, "'''exec'"))
		word = strtok_r(NULL, " \t\n\"", &save);
	if (word && program_is(word, "python"))
		found = strchr(word, '/') ? xstrdup(word)
					  : path_search(path ? path : "/usr/bin:/bin", word, ".");
	free(script);
	return found;
}

static bool has_file(const char *directory, const char *rest)
{
	char *pattern = xasprintf("%s/%s", directory, rest);
	glob_t found;
	bool has = glob(pattern, GLOB_NOSORT, NULL, &found) == 0;

	globfree(&found);
	free(pattern);
	return has;
}

/* True if the packages of a Python program, which has a bin directory beside them, have torch. */
static bool has_torch_beside(const char *python)
{
	char *prefix = xstrdup(python), *slash = strrchr(prefix, '/');
	bool has = false;

	if (slash)
		*slash = '\0';
	slash = slash ? strrchr(prefix, '/') : NULL;
	if (slash) {
		*slash = '\0';
		has = has_file(prefix, "lib/python3*/site-packages/torch/__init__.py") ||
		      has_file(prefix, "lib/python3*/dist-packages/torch/__init__.py");
	}
	free(prefix);
	return has;
}

/* A directory of the name without __init__.py has no origin. */
static bool says_it_has_torch(const char *python, const struct job_command *c)
{
	static char code[] = "import importlib.util, sys; s = importlib.util.find_spec('torch'); "
			     "sys.exit(not (s and s.origin))";
	static char flag[] = "-c";
	char *name = xstrdup(python), *argv[] = { name, flag, code, NULL };
	struct question q = {
		.argv = argv, .env = c->env.items, .directory = c->directory,
		.until_boot_s = clock_boot_s() + PYTHON_PATIENCE_S, .complaint = TEXT_INIT,
	};
	struct err ignored;
	int status = question_ask(&q, &ignored);

	text_release(&q.complaint);
	free(name);
	return status == 0;
}

/* Looks where torch usually is, then asks the Python. A glob's special characters in a path only
 * make the look miss it. */
static bool has_torch(const char *python, const struct job_command *c)
{
	char *list = xstrdup(environment_value(&c->env, "PYTHONPATH")), *rest = list;
	char *real = realpath(python, NULL);
	bool has = has_torch_beside(python) || (real && has_torch_beside(real));

	for (const char *dir; !has && (dir = strsep(&rest, ":"));)
		has = *dir == '/' && has_file(dir, "torch/__init__.py");
	free(real);
	free(list);
	return has || says_it_has_torch(python, c);
}

/* The caller frees; NULL: the path is no plain file that can be read. */
static char *read_script(const char *path)
{
	struct stat st;

	return path && stat(path, &st) == 0 && S_ISREG(st.st_mode)
		? read_beginning(path, LONGEST_SCRIPT) : NULL;
}

static bool file_speaks_to_pollux(const char *path)
{
	char *text = read_script(path);
	bool speaks = text && strstr(text, "POLLUX_");

	free(text);
	return speaks;
}

/* --- commands that may run Python somewhere --- */

/* What the shell's words of a command, or of its script, do. */
struct words_seen {
	bool speaks;		/* hand a learning rate of pollux on, or report */
	bool isolated;		/* run a Python that reads no PYTHONPATH, or no sitecustomize */
	bool hidden;		/* set another PYTHONPATH */
};

static const char separators[] = " \t\r\n;&|()<>\"'`";

/* True for an option such as "-I" and "-uE". *is_last: the words behind it are no options of
 * Python. */
static bool option_isolates(const char *word, size_t n, bool *is_last)
{
	bool isolates = false;

	for (size_t i = 1; i < n && !*is_last && word[1] != '-'; i++) {
		isolates = isolates || strchr("IES", word[i]);
		*is_last = strchr("cmWX", word[i]) != NULL;
	}
	return isolates;
}

/* p: behind the name of a Python. */
static bool is_isolated(const char *p)
{
	bool isolates = false, is_last = false;

	while (*(p += strspn(p, "\"' \t")) == '-' && !is_last && !isolates) {
		size_t n = strcspn(p, separators);

		isolates = option_isolates(p, n, &is_last);
		p += n;
	}
	return isolates;
}

/* True for "PYTHONPATH=src", not for "PYTHONPATH=src:$PYTHONPATH". */
static bool hides(const char *word)
{
	static const char name[] = "PYTHONPATH";
	const char *end = word + strcspn(word, " \t\n;&|"), *value = word + strlen(name) + 1;

	return text_starts_with(word, name) && value[-1] == '=' &&
	       !memmem(value, (size_t)(end > value ? end - value : 0), name, strlen(name));
}

static void see_words(const char *text, struct words_seen *seen)
{
	seen->speaks = seen->speaks || strstr(text, "POLLUX_LR_") ||
		       strstr(text, "POLLUX_REPORT") || strstr(text, "pollux report");
	for (const char *p = text; *p; p += strspn(p, separators)) {
		size_t n = strcspn(p, separators);
		char *word = xasprintf("%.*s", (int)n, p);

		if (*word == '#' && word[1] != '!')
			n = strcspn(p, "\n");
		else if (program_is(word, "python"))
			seen->isolated = seen->isolated || is_isolated(p + n);
		seen->hidden = seen->hidden || hides(p);
		p += n;
		free(word);
	}
}

/* The script that the command runs, or its Makefile. The caller frees; NULL: none. Of a script in
 * Python it is the line "#!" alone. */
static char *script_of_command(const struct job_command *c)
{
	static const char *const makefiles[] = { "GNUmakefile", "makefile", "Makefile" };
	bool makes = program_is(c->program, "make") || program_is(c->program, "gmake");
	char *path = makes ? NULL : script_path(c->directory, c->argv.items);
	char *text = read_script(path), *end = path ? strrchr(path, '.') : NULL;
	size_t first = text && text_starts_with(text, "#!") ? strcspn(text, "\n") : 0;

	if (text && ((end && !strcmp(end, ".py")) || memmem(text, first, "python", 6)))
		text[first] = '\0';
	free(path);
	for (size_t i = 0; makes && !text && i < sizeof(makefiles) / sizeof(*makefiles); i++) {
		path = path_within(c->directory, makefiles[i]);
		text = read_script(path);
		free(path);
	}
	return text;
}

static struct words_seen see_command(const struct job_command *c)
{
	struct words_seen seen = { .speaks = false };
	struct text words = TEXT_INIT;
	char *script = script_of_command(c);

	for (size_t i = 0; i < c->argv.count; i++)
		text_addf(&words, "%s ", c->argv.items[i]);
	if (words.length)
		see_words(words.data, &seen);
	if (script)
		see_words(script, &seen);
	free(script);
	text_release(&words);
	return seen;
}

/* --- the rule --- */

/* True for a program in Python that reports by itself. */
static bool program_speaks(const struct job_command *c)
{
	bool speaks = !program_is(c->program, "python") && file_speaks_to_pollux(c->program);

	for (size_t i = 1; i < c->argv.count && !speaks; i++) {
		const char *dot = strrchr(c->argv.items[i], '.');
		char *path = dot && !strcmp(dot, ".py")
			? path_within(c->directory, c->argv.items[i]) : NULL;

		speaks = path && file_speaks_to_pollux(path);
		free(path);
	}
	return speaks;
}

/* A program that speaks to pollux itself gets no helper: reports from two senders would contradict
 * each other, and the learning rate would be scaled twice. */
const char *python_helper_by_default(const struct job_command *c)
{
	char *python = python_of(c);
	struct words_seen seen = see_command(c);
	const char *helper = "offered";

	if (seen.speaks || (python && program_speaks(c)))
		helper = NULL;
	else if (seen.isolated)
		helper = "isolated";
	else if (seen.hidden)
		helper = "hidden";
	else if (python && has_torch(python, c))
		helper = "auto";
	free(python);
	return helper;
}
