/* again.c - a job that is like another one. */
#include <stdlib.h>
#include <string.h>

#include "pollux/command.h"
#include "pollux/mem.h"
#include "pollux/submission.h"
#include "pollux/text.h"
#include "request.h"

/* --- arguments --- */

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

/* The length of OLD in such a change; 0: there is none. */
static size_t again_old_length(const char *change, const struct strings *argv)
{
	char *old = xstrdup(change), *equals = strrchr(old, '=');
	size_t length = 0;

	for (; equals && equals > old && !length; equals = strrchr(old, '=')) {
		*equals = '\0';
		for (size_t i = 1; !length && i < argv->count; i++)
			if (strstr(argv->items[i], old))
				length = (size_t)(equals - old);
	}
	free(old);
	return length;
}

int again_set(const struct command *by, const struct text_list *changes, struct strings *argv,
	      struct err *err)
{
	for (size_t n = 0; n < changes->count; n++) {
		const char *change = changes->items[n];
		size_t length = again_old_length(change, argv);
		char *old = xasprintf("%.*s", (int)length, change);

		for (size_t i = 1; length && i < argv->count; i++) {
			char *argument = replaced(argv->items[i], old, change + length + 1);

			free(argv->items[i]);
			argv->items[i] = argument;
		}
		free(old);
		if (length)
			continue;
		if (!strchr(change, '=') || *change == '=')
			return usage_error(by, err, "option '--set' wants OLD=NEW, not '%.60s'",
					   change);
		return err_set(err, EX_USAGE, "option '--set': no argument has the text that "
			       "'%.60s' replaces", change);
	}
	return 0;
}

/* --- what differs --- */

/* "'a b' -> c" */
static void add_change(struct text *t, const char *was, const char *is)
{
	text_add_shell_quoted(t, was);
	text_add(t, " -> ");
	text_add_shell_quoted(t, is);
}

static void add_arguments(struct text *t, const struct strings *argv, size_t from)
{
	for (size_t i = from; i < argv->count; i++) {
		text_add(t, i > from ? " " : "");
		text_add_shell_quoted(t, argv->items[i]);
	}
	text_add(t, argv->count <= from ? "none" : "");
}

/* Adds only the arguments that differ, if there are as many as before; else all of them. */
static void add_argument_changes(struct text *t, const struct strings *was,
				 const struct strings *is)
{
	bool same_program = !strcmp(was->items[0], is->items[0]);
	size_t same = 0;

	while (same < was->count && same < is->count && !strcmp(was->items[same], is->items[same]))
		same++;
	if (was->count != is->count || !same_program) {
		text_add(t, same_program ? "; arguments " : "; command ");
		add_arguments(t, was, same_program);
		text_add(t, " -> ");
		add_arguments(t, is, same_program);
		return;
	}
	for (size_t i = same; i < is->count; i++) {
		if (!strcmp(was->items[i], is->items[i]))
			continue;
		text_addf(t, "; argument %zu ", i);
		add_change(t, was->items[i], is->items[i]);
	}
}

void again_add_differences(struct text *t, const struct job_command *was,
			   const struct job_command *is)
{
	const struct {
		const char *name, *was, *is;
	} texts[] = {
		{ "directory", was->directory, is->directory },
		{ "checkpoint dir", was->checkpoint_dir, is->checkpoint_dir },
		{ "checkpoint glob", was->checkpoint_glob, is->checkpoint_glob },
		{ "resume args", was->resume_args, is->resume_args },
		{ "step regex", was->step_regex, is->step_regex },
		{ "commit", was->git_commit, is->git_commit },
	};

	add_argument_changes(t, &was->argv, &is->argv);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		const char *a = texts[i].was && *texts[i].was ? texts[i].was : "none";
		const char *b = texts[i].is && *texts[i].is ? texts[i].is : "none";

		if (strcmp(a, b) != 0)
			text_addf(t, "; %s %s -> %s", texts[i].name, a, b);
	}
}

/* --- a run of a sweep --- */

int again_group_read(struct again_group *g, struct store *s, const struct job *was,
		     struct err *err)
{
	if (!was->group_id)
		return 0;
	for (size_t i = 0; i < was->parameters.count; i++) {
		strings_add(&g->was, was->parameters.items[i]);
		strings_add(&g->parameters, was->parameters.items[i]);
	}
	g->index = was->group_index;
	g->stays = true;
	return store_group_get(s, was->group_id, &g->of, err);
}

/* The parameter that begins "NAME=" as the text does; -1: none. */
static int parameter_of(const struct strings *parameters, const char *text)
{
	for (size_t i = 0; i < parameters->count; i++) {
		size_t n = strcspn(parameters->items[i], "=") + 1;

		if (!strncmp(parameters->items[i], text, n))
			return (int)i;
	}
	return -1;
}

static void set_parameter(struct strings *parameters, int i, const char *text)
{
	free(parameters->items[i]);
	parameters->items[i] = xstrdup(text);
}

static char *put_group_values(const struct again_group *g, const char *text, enum sweep_text kind,
			      const struct strings *parameters)
{
	struct strings values = { 0 };
	struct text out = TEXT_INIT;

	for (size_t i = 0; i < parameters->count; i++)
		strings_add(&values, parameters->items[i]);
	strings_addf(&values, "index=%d", g->index);	/* the second one, if --array gives it */
	sweep_put(text, kind, &values, &out);
	strings_release(&values);
	return text_detach(&out);
}

static bool differs(const struct again_group *g)
{
	for (size_t i = 0; i < g->parameters.count; i++)
		if (strcmp(g->was.items[i], g->parameters.items[i]) != 0)
			return true;
	return false;
}

int again_group_set(struct again_group *g, const struct command *by, const struct asked *o,
		    const struct text_list *set, struct strings *argv, struct err *err)
{
	struct strings new = { 0 };
	int lr = parameter_of(&g->parameters, "lr=");

	for (size_t i = 0; i < set->count; i++) {
		const char *change = set->items[i];
		int parameter = parameter_of(&g->parameters, change);

		/* "width=128=width=256" replaces a text where an argument has "width=128". */
		if (parameter >= 0 && again_old_length(change, argv) <= strcspn(change, "="))
			set_parameter(&g->parameters, parameter, change);
		else
			text_list_add(&g->other_changes, change);
	}
	if (lr >= 0 && asked_gives(o, "lr")) {
		char rate[40];

		snprintf(rate, sizeof(rate), "lr=%.9g", o->declared.learning_rate);
		set_parameter(&g->parameters, lr, rate);
	}
	if (lr >= 0 && sweep_check_learning_rate(by, g->parameters.items[lr] + 3, err))
		return -1;
	g->stays = g->stays && g->other_changes.count == 0;
	/* A variable that tells a run its parameters, set by hand, contradicts them. */
	for (size_t i = 0; i < o->env.count; i++)
		g->stays = g->stays && !text_starts_with(o->env.items[i], "POLLUX_PARAM_") &&
			   !text_starts_with(o->env.items[i], "POLLUX_INDEX=");
	if (!differs(g))
		return 0;
	for (size_t i = 0; i < g->of.argv.count; i++) {
		char *argument = put_group_values(g, g->of.argv.items[i], SWEEP_TEMPLATE,
						  &g->parameters);

		strings_add(&new, argument);
		free(argument);
	}
	if (new.count == 0 || strcmp(new.items[0], argv->items[0]) != 0) {
		strings_release(&new);
		return usage_error(by, err, "the program of group:%lld follows from its "
				   "parameters: submit it anew", (long long)g->of.id);
	}
	strings_release(argv);
	*argv = new;
	return 0;
}

void again_group_join(const struct again_group *g, const struct asked *o, const struct job *was,
		      struct job *is)
{
	int lr = parameter_of(&g->parameters, "lr=");

	if (lr >= 0)
		number_parse(g->parameters.items[lr] + strlen("lr="), &is->declared.learning_rate);
	if (!o->declared.name && differs(g)) {
		char *given = put_group_values(g, g->of.name, SWEEP_WITH_JOB, &g->was);
		char *made = sweep_run_name(g->of.name, &g->was), *name = NULL;

		/* A name that was made of the parameters is made anew, but for {job}. */
		if (braces_name_is(given, was->id, is->declared.name))
			name = put_group_values(g, g->of.name, SWEEP_WITH_JOB, &g->parameters);
		else if (!strcmp(is->declared.name, made))
			name = sweep_run_name(g->of.name, &g->parameters);
		xreplace(&is->declared.name, name);
		free(name);
		free(made);
		free(given);
	}
	if (!g->stays)
		return;
	is->group_id = was->group_id;
	is->group_index = was->group_index;
	for (size_t i = 0; i < g->parameters.count; i++)
		strings_add(&is->parameters, g->parameters.items[i]);
}

void again_group_add_differences(struct text *t, const struct again_group *g,
				 const struct job *was)
{
	if (was->group_id && !g->stays) {
		text_addf(t, "; no run of group:%lld", (long long)was->group_id);
		return;
	}
	for (size_t i = 0; i < g->parameters.count; i++) {
		const char *from = g->was.items[i], *to = g->parameters.items[i];
		size_t n = strcspn(from, "=");

		if (!strcmp(from, to) || text_starts_with(from, "lr="))
			continue;	/* the learning rate is also declared */
		text_addf(t, "; parameter %.*s ", (int)n, from);
		add_change(t, from + n + 1, to + n + 1);
	}
}

void again_group_release(struct again_group *g)
{
	job_group_release(&g->of);
	strings_release(&g->was);
	strings_release(&g->parameters);
	free(g->other_changes.items);
	*g = (struct again_group){ .index = 0 };
}
