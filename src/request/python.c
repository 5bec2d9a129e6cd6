/* python.c - which Python runs a command, and what that Python says of PyTorch. */
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

static bool file_speaks_to_pollux(const char *path)
{
	struct stat st;
	char *text = stat(path, &st) == 0 && S_ISREG(st.st_mode)
		? read_beginning(path, LONGEST_SCRIPT) : NULL;
	bool speaks = text && strstr(text, "POLLUX_");

	free(text);
	return speaks;
}

/* A program that speaks to pollux itself gets no helper: reports from two senders would contradict
 * each other, and the learning rate would be scaled twice. */
bool python_wants_torch_helper(const struct job_command *c)
{
	char *python = python_of(c);
	bool speaks = python && !program_is(c->program, "python") &&
		      file_speaks_to_pollux(c->program), wants;

	for (size_t i = 1; python && i < c->argv.count && !speaks; i++) {
		const char *dot = strrchr(c->argv.items[i], '.');
		char *path = dot && !strcmp(dot, ".py")
			? path_within(c->directory, c->argv.items[i]) : NULL;

		speaks = path && file_speaks_to_pollux(path);
		free(path);
	}
	wants = python && !speaks && has_torch(python, c);
	free(python);
	return wants;
}
