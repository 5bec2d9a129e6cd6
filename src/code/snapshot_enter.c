/* snapshot_enter.c - a command's paths in the repository become paths in the snapshot. */
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pollux/code.h"
#include "pollux/mem.h"
#include "pollux/paths.h"

#define NOT_EXECUTABLE 126	/* as of a command: a relaunch would not help */

struct entrance {
	const char *dir, *repository;
	char *directory;		/* owned; where the command runs, without links */
	bool inside;			/* that is in the repository */
};

/* Returns what follows the repository's path: "", or "/..."; NULL: it is not in the repository. */
static const char *below(const char *repository, const char *path)
{
	size_t n = strlen(repository);

	return !strncmp(path, repository, n) && (path[n] == '/' || !path[n]) ? path + n : NULL;
}

/* Returns the path in the snapshot if it has a file (or a directory) there of its own, not by a
 * link; NULL. The caller frees. */
static char *in_snapshot(const struct entrance *e, const char *path, mode_t type)
{
	char *real = realpath(path, NULL), *there = NULL, *own = NULL;
	/* of a file that is not in the repository any more, the path as it is */
	const char *rest = below(e->repository, real ? real : path);
	struct stat st;

	if (rest) {
		there = xasprintf("%s%s", e->dir, rest);
		own = realpath(there, NULL);
	}
	if (!own || strcmp(own, there) != 0 || lstat(there, &st) ||
	    (st.st_mode & S_IFMT) != type) {
		free(there);
		there = NULL;
	}
	free(own);
	free(real);
	return there;
}

/* A relative path is left alone where the command runs in the snapshot and the path stays there:
 * it means the same there. */
static void enter_argument(const struct entrance *e, char **argument)
{
	const char *equals = strchr(*argument, '=');
	const char *path = (*argument)[0] == '-' && equals ? equals + 1 : *argument;
	char *full, *there, *new;

	if (!*path || (path[0] != '/' && e->inside && !text_starts_with(path, "../")))
		return;
	full = path_within(e->directory, path);
	there = in_snapshot(e, full, S_IFREG);
	free(full);
	if (!there)
		return;
	new = xasprintf("%.*s%s", (int)(path - *argument), *argument, there);
	free(*argument);
	free(there);
	*argument = new;
}

static void enter_python_path(const struct entrance *e, struct strings *env)
{
	static const char name[] = "PYTHONPATH=";
	struct text t = TEXT_INIT;
	char *list, *rest;
	size_t i = 0;

	while (i < env->count && !text_starts_with(env->items[i], name))
		i++;
	if (i == env->count)
		return;
	rest = list = xstrdup(env->items[i] + strlen(name));
	for (const char *part; (part = strsep(&rest, ":"));) {
		char *there = *part == '/' ? in_snapshot(e, part, S_IFDIR) : NULL;

		text_addf(&t, "%s%s", part == list ? "" : ":", there ? there : part);
		free(there);
	}
	strings_set_variable(env, "PYTHONPATH", t.data);
	text_release(&t);
	free(list);
}

static int enter_directory(struct entrance *e, const struct snapshot_command *c, struct err *err)
{
	const char *rest;
	char *there;
	struct stat st;

	e->directory = realpath(*c->directory, NULL);
	rest = e->directory ? below(e->repository, e->directory) : NULL;
	e->inside = rest != NULL;
	if (!rest)
		return 0;
	there = xasprintf("%s%s", e->dir, rest);
	if (stat(there, &st) || !S_ISDIR(st.st_mode)) {
		err_set(err, NOT_EXECUTABLE, "the snapshot of the code has no directory '%s'",
			there);
		free(there);
		return -1;
	}
	xreplace(c->directory, there);
	strings_set_variable(c->env, "PWD", there);
	free(there);
	return 0;
}

int snapshot_enter(const char *dir, const char *repository, const struct snapshot_command *c,
		   struct err *err)
{
	struct entrance e = { .repository = repository };
	char *real = realpath(dir, NULL), *program;
	struct stat st;
	int rc;

	e.dir = real;
	if (!real || stat(real, &st) || !S_ISDIR(st.st_mode)) {
		free(real);
		return err_set(err, NOT_EXECUTABLE, "the snapshot of the code, '%s', is not there",
			       dir);
	}
	program = in_snapshot(&e, *c->program, S_IFREG);
	rc = enter_directory(&e, c, err);
	if (rc == 0) {
		for (size_t i = 0; i < c->argv->count; i++)
			enter_argument(&e, &c->argv->items[i]);
		enter_python_path(&e, c->env);
		xreplace(c->program, program);
	}
	free(program);
	free(e.directory);
	free(real);
	return rc;
}
