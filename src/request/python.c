/* python.c - which Python runs a command, and what that Python says of PyTorch. */
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pollux/file.h"
#include "pollux/mem.h"
#include "request.h"

#define LONGEST_FIRST_LINES 4096
#define LONGEST_SCRIPT (1 << 20)

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* True for "python", "python3" and "python3.11". */
static bool is_python(const char *path)
{
	const char *name = base_name(path);

	return text_starts_with(name, "python") &&
	       name[6 + strspn(name + 6, "0123456789.")] == '\0';
}

static const char *variable_of(const struct job_command *c, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < c->env.count; i++)
		if (!strncmp(c->env.items[i], name, n) && c->env.items[i][n] == '=')
			return c->env.items[i] + n + 1;
	return NULL;
}

/* Looks for a program in the job's PATH, as env(1) will. The caller frees; NULL: not found. */
static char *find_in_path(const struct job_command *c, const char *name)
{
	const char *path = variable_of(c, "PATH");
	char *list = xstrdup(path ? path : "/usr/bin:/bin"), *save = NULL, *found = NULL;

	for (char *dir = strtok_r(list, ":", &save); dir && !found;
	     dir = strtok_r(NULL, ":", &save)) {
		found = xasprintf("%s/%s", dir, name);
		if (access(found, X_OK)) {
			free(found);
			found = NULL;
		}
	}
	free(list);
	return found;
}

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

/* The Python of "#!/usr/bin/env python3", "#!/venv/bin/python" or, as pip writes where the path is
 * too long for the kernel, "#!/bin/sh" and "'''exec' /venv/bin/python ...". */
static char *python_of_script(const struct job_command *c, char *script)
{
	char *save = NULL, *word = strtok_r(script + strlen("#!"), " \t\n", &save);

	if (word && !strcmp(base_name(word), "env"))
		do
			word = strtok_r(NULL, " \t\n", &save);
		while (word && *word == '-');
	else if (word && !strcmp(word, "/bin/sh") &&
		 (word = strtok_r(NULL, " \t\n", &save)) && !strcmp(word, "'''exec'"))
		word = strtok_r(NULL, " \t\n\"", &save);
	if (!word || !is_python(word))
		return NULL;
	return strchr(word, '/') ? xstrdup(word) : find_in_path(c, word);
}

static char *python_of(const struct job_command *c)
{
	char *script, *found = NULL;

	if (is_python(c->program))
		return xstrdup(c->program);
	script = read_beginning(c->program, LONGEST_FIRST_LINES);
	if (script && text_starts_with(script, "#!"))
		found = python_of_script(c, script);
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

/* Looks where torch usually is. A glob's special characters in a path only make this miss it. */
static bool torch_is_on_disk(const char *python, const struct job_command *c)
{
	const char *path = variable_of(c, "PYTHONPATH");
	char *list = xstrdup(path ? path : ""), *save = NULL, *real = realpath(python, NULL);
	bool found = has_torch_beside(python) || (real && has_torch_beside(real));

	for (char *dir = strtok_r(list, ":", &save); dir && !found;
	     dir = strtok_r(NULL, ":", &save))
		found = *dir == '/' && has_file(dir, "torch/__init__.py");
	free(real);
	free(list);
	return found;
}

/* Waits until the process has ended, or kills it when its time is over. */
static bool succeeds_in_time(pid_t pid)
{
	struct pollfd p = { .fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN };
	int status = -1;

	if (p.fd < 0 || poll(&p, 1, PYTHON_PATIENCE_S * 1000) != 1)
		kill(pid, SIGKILL);
	if (p.fd >= 0)
		close(p.fd);
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* A directory of the name without __init__.py has no origin. */
static bool says_it_has_torch(const char *python, const struct job_command *c)
{
	static char code[] = "import importlib.util, sys; s = importlib.util.find_spec('torch'); "
			     "sys.exit(not (s and s.origin))";
	static char flag[] = "-c";
	char *name = xstrdup(python), *argv[] = { name, flag, code, NULL };
	posix_spawn_file_actions_t files;
	pid_t pid;
	int rc;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addchdir_np(&files, c->directory);
	rc = posix_spawn(&pid, python, &files, NULL, argv, c->env.items);
	posix_spawn_file_actions_destroy(&files);
	free(name);
	return rc == 0 && succeeds_in_time(pid);
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

/* True if one of the command's scripts does. Reports from two senders would contradict each other,
 * and the learning rate would be scaled twice. */
static bool speaks_to_pollux(const struct job_command *c)
{
	bool speaks = !is_python(c->program) && file_speaks_to_pollux(c->program);

	for (size_t i = 1; i < c->argv.count && !speaks; i++) {
		const char *argument = c->argv.items[i], *dot = strrchr(argument, '.');
		char *path = dot && !strcmp(dot, ".py")
			? xasprintf("%s%s%s", *argument == '/' ? "" : c->directory,
				    *argument == '/' ? "" : "/", argument) : NULL;

		speaks = path && file_speaks_to_pollux(path);
		free(path);
	}
	return speaks;
}

bool python_wants_torch_helper(const struct job_command *c)
{
	char *python = python_of(c);
	bool wants = python && !speaks_to_pollux(c) &&
		     (torch_is_on_disk(python, c) || says_it_has_torch(python, c));

	free(python);
	return wants;
}
