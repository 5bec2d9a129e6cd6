/* again_command.c - arguments that change, and what differs of two commands. */
#include <stdlib.h>
#include <string.h>

#include "pollux/again_command.h"
#include "pollux/mem.h"

/* --- arguments --- */

static bool occurs(const struct strings *argv, const char *text)
{
	for (size_t i = 1; i < argv->count; i++)
		if (strstr(argv->items[i], text))
			return true;
	return false;
}

static char *replaced(const char *argument, const char *old, const char *new)
{
	struct text t = TEXT_INIT;
	const char *found;

	while ((found = strstr(argument, old))) {
		text_add_bytes(&t, argument, (size_t)(found - argument));
		text_add(&t, new);
		argument = found + strlen(old);
	}
	text_add(&t, argument);
	return text_detach(&t);
}

size_t again_old_length(const char *change, const struct strings *argv)
{
	char *old = xstrdup(change), *equals = strrchr(old, '=');
	size_t length = 0;

	for (; equals && equals > old && !length; equals = strrchr(old, '=')) {
		*equals = '\0';
		if (occurs(argv, old))
			length = (size_t)(equals - old);
	}
	free(old);
	return length;
}

static int set_one(const struct command *by, const char *change, struct strings *argv,
		   struct err *err)
{
	size_t length = again_old_length(change, argv);
	char *old = xasprintf("%.*s", (int)length, change);

	for (size_t i = 1; length && i < argv->count; i++) {
		char *argument = replaced(argv->items[i], old, change + length + 1);

		free(argv->items[i]);
		argv->items[i] = argument;
	}
	free(old);
	if (length)
		return 0;
	if (!strchr(change, '=') || *change == '=')
		return usage_error(by, err, "option '--set' wants OLD=NEW, not '%.60s'", change);
	return err_set(err, EX_USAGE, "option '--set': no argument has the text that '%.60s' "
		       "replaces", change);
}

int again_set(const struct command *by, const struct text_list *changes, struct strings *argv,
	      struct err *err)
{
	for (size_t i = 0; i < changes->count; i++)
		if (set_one(by, changes->items[i], argv, err))
			return -1;
	return 0;
}

/* --- what differs --- */

static void add_arguments(struct text *t, const struct strings *argv, size_t from)
{
	for (size_t i = from; i < argv->count; i++) {
		text_add(t, i > from ? " " : "");
		text_add_shell_quoted(t, argv->items[i]);
	}
	text_add(t, argv->count <= from ? "none" : "");
}

static bool is_equal(const struct strings *a, const struct strings *b)
{
	size_t i = 0;

	while (i < a->count && i < b->count && !strcmp(a->items[i], b->items[i]))
		i++;
	return i == a->count && i == b->count;
}

/* Adds only the arguments that differ, if there are as many as before; else all of them. */
static void add_argument_changes(struct text *t, const struct strings *was,
				 const struct strings *is)
{
	if (is_equal(was, is))
		return;
	if (was->count != is->count || strcmp(was->items[0], is->items[0]) != 0) {
		size_t from = !strcmp(was->items[0], is->items[0]);

		text_add(t, from ? "; arguments " : "; command ");
		add_arguments(t, was, from);
		text_add(t, " -> ");
		add_arguments(t, is, from);
		return;
	}
	for (size_t i = 1; i < is->count; i++) {
		if (!strcmp(was->items[i], is->items[i]))
			continue;
		text_addf(t, "; argument %zu ", i);
		text_add_shell_quoted(t, was->items[i]);
		text_add(t, " -> ");
		text_add_shell_quoted(t, is->items[i]);
	}
}

static void add_text(struct text *t, const char *name, const char *was, const char *is)
{
	if (!strcmp(was ? was : "", is ? is : ""))
		return;
	text_addf(t, "; %s %s -> %s", name, was && *was ? was : "none", is && *is ? is : "none");
}

void again_add_differences(struct text *t, const struct job_command *was,
			   const struct job_command *is)
{
	add_argument_changes(t, &was->argv, &is->argv);
	add_text(t, "directory", was->directory, is->directory);
	add_text(t, "checkpoint dir", was->checkpoint_dir, is->checkpoint_dir);
	add_text(t, "checkpoint glob", was->checkpoint_glob, is->checkpoint_glob);
	add_text(t, "resume args", was->resume_args, is->resume_args);
	add_text(t, "step regex", was->step_regex, is->step_regex);
	add_text(t, "commit", was->git_commit, is->git_commit);
}
