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

/* "num_gpus", "ngpus", "gpus_id" */
static bool is_alike(const char *word, const char *name)
{
	static const char *const endings[] = {
		"s", "id", "_id", "number", "_number",
		/* not behind three letters: {run_dir} is another word */
		"size", "_size", "dir", "_dir", "path", "_path", "args", "_args", "_rank",
	};
	size_t n = strlen(name), w = strlen(word), count = sizeof(endings) / sizeof(*endings);

	count = n > 3 ? count : n == 3 ? 5 : 0;
	for (size_t i = 0; text_starts_with(word, name) && i < count; i++)
		if (!strcmp(word + n, endings[i]))
			return true;
	return n > 3 && w > n && !strcmp(word + w - n, name) &&
	       ((w - n == 1 && *word == 'n') || (w - n == 2 && text_starts_with(word, "n_")) ||
		(w - n == 4 && text_starts_with(word, "num_")));
}

/* People rarely mistype a first letter. Of four letters, none is taken for another: {code} is not
 * {node}. */
static bool is_mistyped(const char *word, const char *name)
{
	size_t n = strlen(name);
	int limit = n < 4 ? 0 : n < 8 ? 1 : 2, edits = edit_distance(word, name);
	int counts[256] = { 0 };

	if (edits < 0 || edits > limit || *word != *name)
		return false;
	for (; n == 4 && strlen(word) == n && *name; name++)
		counts[(unsigned char)*name]++;
	for (const char *p = word; n == 4 && strlen(word) == n && *p; p++)
		if (counts[(unsigned char)*p]-- == 0)
			return false;
	return true;
}

/* {step} is a word of names such as "step-{step}.pt", which programs fill in. */
bool braces_word_is_near(const char *word, const char *name)
{
	return strcmp(word, name) != 0 && strcmp(word, "step") != 0 &&
	       (!strcasecmp(word, name) || is_alike(word, name) || is_mistyped(word, name));
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

/* A template of pollux: noted as replaced, or as one that is not replaced here. What stands for
 * {lr} and {plan} is shown in the command. */
static void visit_template(struct visit *v, const char *word)
{
	const char *option = template_lacks(word, strlen(word), &v->facts);
	bool is_strange = v->knows_job_alone && strcmp(word, "job") != 0;
	char *braced = xasprintf("{%s}", word), *why = NULL;

	if (v->replaced && !option && !is_strange && strcmp(word, "lr") != 0 &&
	    strcmp(word, "plan") != 0 && !strstr(v->replaced->data, braced))
		text_addf(v->replaced, "%s%s", v->replaced->length ? " " : "", braced);
	if (is_strange)
		why = xstrdup(": there pollux replaces {job} alone");
	else if (option && !strcmp(option, v->where))
		why = xstrdup(": it stands for this option");
	else if (option)
		why = xasprintf(": it needs %s", option);
	if (v->doubts && why)
		add_doubt(v, word, why);
	free(why);
	free(braced);
}

/* Another word, which may be near a template or a parameter. */
static void visit_other(struct visit *v, const char *word)
{
	const struct strings *parameters = v->braced->parameters;
	char *near = NULL, *why;

	for (int i = 0; !near && template_name(i); i++)
		if (braces_word_is_near(word, template_name(i)))
			near = xstrdup(template_name(i));
	for (size_t i = 0; !near && parameters && i < parameters->count; i++) {
		near = xasprintf("%.*s", (int)strcspn(parameters->items[i], "="),
				 parameters->items[i]);
		if (!braces_word_is_near(word, near)) {
			free(near);
			near = NULL;
		}
	}
	if (!near)
		return;
	why = xasprintf("; did you mean {%s}?", near);
	add_doubt(v, word, why);
	free(why);
	free(near);
}

static void visit_text(struct visit *v, const char *where, const char *text)
{
	struct braces b = braces_in(text ? text : "");
	struct piece piece;

	v->where = where;
	while (braces_next(&b, &piece)) {
		char *word;

		if (!piece.word || piece.doubled)
			continue;
		word = xasprintf("%.*s", (int)piece.word_length, piece.word);
		if (template_knows(word, piece.word_length))
			visit_template(v, word);
		else if (v->doubts)
			visit_other(v, word);
		free(word);
	}
}

static void visit_all(struct visit *v)
{
	const struct braced *b = v->braced;
	const struct job_command *c = b->command;
	struct template_facts facts = template_facts_of(b->declared, c);
	struct execution_plans plans;
	struct err ignored;
	char where[48];

	v->facts = facts;
	for (size_t i = 0; i < c->argv.count; i++) {
		snprintf(where, sizeof(where), "argument %zu of the command", i);
		visit_text(v, where, c->argv.items[i]);
	}
	for (size_t i = 0; b->env && i < b->env->count; i++)
		visit_text(v, "--env", b->env->items[i]);
	v->facts = template_facts_within(&facts, "resume");
	visit_text(v, "--resume-args", c->resume_args);
	v->facts = template_facts_within(&facts, "plan");
	if (execution_plans_parse(b->declared->plans, &plans, &ignored) == 0) {
		for (int i = 0; i < plans.count; i++)
			visit_text(v, "--plan", plans.items[i].args);
		execution_plans_release(&plans);
	}
	v->knows_job_alone = true;
	visit_text(v, "--name", b->name);
	visit_text(v, "--checkpoint-dir",
		   c->checkpoint_template ? c->checkpoint_template : c->checkpoint_dir);
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
