/* submission_braces.c - see submission.h. */
#include "pollux/submission.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "pollux/execution_plan.h"
#include "pollux/mem.h"
#include "pollux/template.h"
#include "pollux/text.h"

/* --- near words --- */

static bool ends_alike(const char *word, const char *name)
{
	static const char *const endings[] = {
		"s", "id", "_id", "number", "_number",
		/* not behind three letters: {run_dir} is another word */
		"size", "_size", "dir", "_dir", "path", "_path", "args", "_args", "_rank",
	};
	size_t n = strlen(name), count = sizeof(endings) / sizeof(*endings);

	if (!text_starts_with(word, name))
		return false;
	for (size_t i = 0; i < (n > 3 ? count : n == 3 ? 5 : 0); i++)
		if (!strcmp(word + n, endings[i]))
			return true;
	return false;
}

/* "num_gpus", "ngpus" */
static bool begins_alike(const char *word, const char *name)
{
	size_t n = strlen(name), w = strlen(word);

	return n > 3 && w > n && !strcmp(word + w - n, name) &&
	       ((w - n == 1 && *word == 'n') || (w - n == 2 && text_starts_with(word, "n_")) ||
		(w - n == 4 && text_starts_with(word, "num_")));
}

static bool has_same_letters(const char *a, const char *b)
{
	int counts[256] = { 0 };

	for (; *a; a++)
		counts[(unsigned char)*a]++;
	for (; *b; b++)
		if (counts[(unsigned char)*b]-- == 0)
			return false;
	return true;
}

/* People rarely mistype a first letter. Of four letters, none is taken for another: {code} is not
 * {node}. */
static bool is_mistyped(const char *word, const char *name)
{
	size_t n = strlen(name);
	int limit = n < 4 ? 0 : n < 8 ? 1 : 2, edits = edit_distance(word, name);

	return edits >= 0 && edits <= limit && *word == *name &&
	       (n > 4 || strlen(word) != n || has_same_letters(word, name));
}

/* {step} is a word of names such as "step-{step}.pt", which programs fill in. */
bool braces_word_is_near(const char *word, const char *name)
{
	return strcmp(word, name) != 0 && strcmp(word, "step") != 0 &&
	       (!strcasecmp(word, name) || ends_alike(word, name) || begins_alike(word, name) ||
		is_mistyped(word, name));
}

/* The caller frees the name. NULL: none is near. */
static char *near_name(const char *word, const struct strings *parameters)
{
	for (int i = 0; template_name(i); i++)
		if (braces_word_is_near(word, template_name(i)))
			return xstrdup(template_name(i));
	for (size_t i = 0; parameters && i < parameters->count; i++) {
		const char *parameter = parameters->items[i];
		char *name = xasprintf("%.*s", (int)strcspn(parameter, "="), parameter);

		if (braces_word_is_near(word, name))
			return name;
		free(name);
	}
	return NULL;
}

/* --- the texts of a submission --- */

struct visit {
	const struct braced *braced;
	struct template_facts facts;	/* of the text that is visited */
	bool knows_job_alone;
	const char *where;
	struct strings *doubts;		/* NULL: not asked for */
	struct text *replaced;		/* NULL: not asked for */
};

static void add_doubt(struct visit *v, const char *word, const char *why)
{
	char *begin = xasprintf("'{%s}' in ", word);
	bool is_said = false;

	for (size_t i = 0; i < v->doubts->count; i++)
		is_said = is_said || text_starts_with(v->doubts->items[i], begin);
	if (!is_said)
		strings_addf(v->doubts, "%s%s stays as it is%s", begin, v->where, why);
	free(begin);
}

static void doubt_template(struct visit *v, const char *word)
{
	const char *option = template_lacks(word, strlen(word), &v->facts);
	char *why = NULL;

	if (v->knows_job_alone && strcmp(word, "job") != 0)
		why = xstrdup(": there pollux replaces {job} alone");
	else if (option && !strcmp(option, v->where))
		why = xstrdup(": it stands for this option");
	else if (option)
		why = xasprintf(": it needs %s", option);
	if (why)
		add_doubt(v, word, why);
	free(why);
}

static void doubt_word(struct visit *v, const char *word)
{
	char *near = near_name(word, v->braced->parameters);
	char *why = near ? xasprintf("; did you mean {%s}?", near) : NULL;

	if (why)
		add_doubt(v, word, why);
	free(why);
	free(near);
}

/* What stands for {lr} and {plan} is shown in the command. */
static void add_replaced(struct visit *v, const char *word)
{
	char *braced = xasprintf("{%s}", word);

	if (strcmp(word, "lr") != 0 && strcmp(word, "plan") != 0 &&
	    !template_lacks(word, strlen(word), &v->facts) &&
	    !(v->knows_job_alone && strcmp(word, "job") != 0) &&
	    !strstr(v->replaced->data, braced))
		text_addf(v->replaced, "%s%s", v->replaced->length ? " " : "", braced);
	free(braced);
}

static void visit_text(struct visit *v, const char *text)
{
	struct braces b = braces_in(text ? text : "");
	struct piece piece;

	while (braces_next(&b, &piece)) {
		char *word;

		if (!piece.word || piece.doubled)
			continue;
		word = xasprintf("%.*s", (int)piece.word_length, piece.word);
		if (v->replaced && template_knows(word, piece.word_length))
			add_replaced(v, word);
		if (v->doubts && template_knows(word, piece.word_length))
			doubt_template(v, word);
		else if (v->doubts)
			doubt_word(v, word);
		free(word);
	}
}

static void visit_plans(struct visit *v)
{
	struct execution_plans plans;
	struct err ignored;

	if (execution_plans_parse(v->braced->declared->plans, &plans, &ignored))
		return;
	for (int i = 0; i < plans.count; i++)
		visit_text(v, plans.items[i].args);
	execution_plans_release(&plans);
}

static void visit_all(struct visit *v)
{
	const struct braced *b = v->braced;
	const struct job_command *c = b->command;
	struct template_facts facts = template_facts_of(b->declared, c);
	char where[48];

	v->facts = facts;
	for (size_t i = 0; i < c->argv.count; i++) {
		snprintf(where, sizeof(where), "argument %zu of the command", i);
		v->where = where;
		visit_text(v, c->argv.items[i]);
	}
	v->where = "--env";
	for (size_t i = 0; b->env && i < b->env->count; i++)
		visit_text(v, b->env->items[i]);
	v->facts = template_facts_within(&facts, "resume");
	v->where = "--resume-args";
	visit_text(v, c->resume_args);
	v->facts = template_facts_within(&facts, "plan");
	v->where = "--plan";
	visit_plans(v);
	v->knows_job_alone = true;
	v->where = "--name";
	visit_text(v, b->name);
	v->where = "--checkpoint-dir";
	visit_text(v, c->checkpoint_template ? c->checkpoint_template : c->checkpoint_dir);
}

void braces_add_doubts(const struct braced *b, struct strings *out)
{
	struct visit v = { .braced = b, .doubts = out };

	visit_all(&v);
}

void braces_add_replaced(const struct braced *b, struct text *out)
{
	struct visit v = { .braced = b, .replaced = out };

	visit_all(&v);
}
