/* template.c - {names} in a command. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pollux/template.h"

enum name {
	NAME_BATCH, NAME_LOCAL_BATCH, NAME_ACCUM, NAME_GPUS, NAME_REPLICAS, NAME_LR, NAME_LR_SCALE,
	NAME_SAMPLES, NAME_CHECKPOINT, NAME_NEWEST, NAME_RESUME, NAME_PLAN, NAME_PORT, NAME_JOB,
	NAME_RUN, NAME_NODES, NAME_NODE, NAME_MASTER, NAME_GPUS_PER_NODE, N_NAMES
};

static const char *const names[N_NAMES] = {
	[NAME_BATCH] = "batch", [NAME_LOCAL_BATCH] = "local_batch", [NAME_ACCUM] = "accum",
	[NAME_GPUS] = "gpus", [NAME_REPLICAS] = "replicas",
	[NAME_LR] = "lr", [NAME_LR_SCALE] = "lr_scale",
	[NAME_SAMPLES] = "samples", [NAME_CHECKPOINT] = "checkpoint", [NAME_NEWEST] = "newest",
	[NAME_RESUME] = "resume", [NAME_PLAN] = "plan",
	[NAME_PORT] = "port", [NAME_JOB] = "job", [NAME_RUN] = "run",
	[NAME_NODES] = "nodes", [NAME_NODE] = "node", [NAME_MASTER] = "master",
	[NAME_GPUS_PER_NODE] = "gpus_per_node",
};

static int find_name(const char *text, size_t length)
{
	for (int i = 0; i < N_NAMES; i++)
		if (strlen(names[i]) == length && !memcmp(names[i], text, length))
			return i;
	return -1;
}

/* Returns the next piece of *p, either literal text up to a template or one template, and moves *p
 * behind the piece. */
struct piece {
	const char *text;	/* of the literal, or of the name between the braces */
	size_t length;
	bool is_template;
	bool is_open;		/* a "{" without its "}" */
	bool has_dollar;	/* "${HOME}": a shell's variable is meant */
};

static struct piece next_piece(const char **p)
{
	struct piece piece = { .text = *p };
	const char *end;

	if (text_starts_with(*p, "{{")) {
		piece.length = 1;
		*p += 2;
	} else if (**p == '{') {
		end = strchr(*p, '}');
		piece.text++;
		piece.is_template = true;
		piece.is_open = !end;
		piece.length = end ? (size_t)(end - piece.text) : strlen(piece.text);
		*p = end ? end + 1 : piece.text + piece.length;
	} else {
		piece.length = strcspn(*p, "{");
		*p += piece.length;
	}
	return piece;
}

static int check_piece(const char *where, const struct piece *piece,
		       const struct template_facts *facts, struct err *err)
{
	int length = piece->length > 60 ? 60 : (int)piece->length;
	int name = find_name(piece->text, piece->length);

	if (piece->is_open)
		return err_set(err, EX_USAGE,
			       "'{' without '}' in %s; a literal brace is '{{'", where);
	if (name < 0)
		return err_set(err, EX_USAGE, "unknown template '{%.*s}' in %s; a literal brace is "
			       "'{{'%s%.*s%s", length, piece->text, where,
			       piece->has_dollar ? ", a shell's variable '${{" : "",
			       piece->has_dollar ? length : 0, piece->text,
			       piece->has_dollar ? "}'" : "");
	if (!facts->has_batch_size &&
	    (name == NAME_BATCH || name == NAME_LOCAL_BATCH || name == NAME_ACCUM))
		return err_set(err, EX_USAGE, "'{%s}' in %s needs --batch", names[name], where);
	if (!facts->has_learning_rate && name == NAME_LR)
		return err_set(err, EX_USAGE, "'{lr}' in %s needs --lr", where);
	if (!facts->has_resume_args && name == NAME_RESUME)
		return err_set(err, EX_USAGE, "'{resume}' in %s needs --resume-args", where);
	if (!facts->has_plans && name == NAME_PLAN)
		return err_set(err, EX_USAGE, "'{plan}' in %s needs --plan", where);
	return 0;
}

static int check_text(const char *text, const char *where, const struct template_facts *facts,
		      struct err *err)
{
	for (const char *start = text; *text;) {
		struct piece piece = next_piece(&text);

		piece.has_dollar = piece.is_template && piece.text - start >= 2 &&
				   piece.text[-2] == '$';
		if (piece.is_template && check_piece(where, &piece, facts, err))
			return -1;
	}
	return 0;
}

int template_check(const struct strings *argv, const char *resume_args,
		   const struct template_facts *facts, struct err *err)
{
	struct template_facts inner = *facts;
	char where[48];

	inner.has_resume_args = false;	/* {resume} inside the resume arguments would not end */
	for (size_t i = 0; i < argv->count; i++) {
		snprintf(where, sizeof(where), "argument %zu of the command", i);
		if (check_text(argv->items[i], where, facts, err))
			return -1;
	}
	return resume_args ? check_text(resume_args, "--resume-args", &inner, err) : 0;
}

int template_check_plan(const char *args, const struct template_facts *facts, struct err *err)
{
	struct template_facts inner = *facts;

	inner.has_plans = inner.has_resume_args = false;
	return check_text(args, "--plan", &inner, err);
}

bool template_knows(const char *name)
{
	return find_name(name, strlen(name)) >= 0;
}

bool template_text_mentions(const char *text, const char *name)
{
	while (*text) {
		struct piece piece = next_piece(&text);

		if (piece.is_template && piece.length == strlen(name) &&
		    !memcmp(piece.text, name, piece.length))
			return true;
	}
	return false;
}

bool template_mentions(const struct strings *argv, const char *name)
{
	for (size_t i = 0; i < argv->count; i++)
		if (template_text_mentions(argv->items[i], name))
			return true;
	return false;
}

static void expand_text(const char *text, const struct template_values *values, struct text *out);

static void expand_learning_rate(const struct template_values *v, struct text *out)
{
	if (v->typed_learning_rate && fabs(v->learning_rate_scale - 1) < 1e-12)
		text_add(out, v->typed_learning_rate);
	else
		text_addf(out, "%.9g", v->learning_rate * v->learning_rate_scale);
}

/* Adds text of the result. On a cluster the result is a template again. */
static void add_literal(const struct template_values *v, const char *text, size_t length,
			struct text *out)
{
	for (size_t i = 0; i < length; i++) {
		if (text[i] == '{' && v->nodes.n > 0)
			text_add(out, "{");
		text_add_bytes(out, text + i, 1);
	}
}

static void add_value(const struct template_values *v, const char *text, struct text *out)
{
	add_literal(v, text, strlen(text), out);
}

static void expand_node_name(int name, const struct template_values *v, struct text *out)
{
	int n = v->nodes.n > 0 ? v->nodes.n : 1;

	switch (name) {
	case NAME_NODES:	text_addf(out, "%d", n); break;
	case NAME_NODE:		text_add(out, v->nodes.n > 0 ? "{node}" : "0"); break;
	case NAME_MASTER:
		add_value(v, v->nodes.master ? v->nodes.master : "127.0.0.1", out);
		break;
	case NAME_GPUS_PER_NODE: text_addf(out, "%d", v->configuration.replicas / n); break;
	default:		break;	/* an unknown name, which is refused earlier */
	}
}

static void expand_name(int name, const struct template_values *v, struct text *out)
{
	const struct configuration *c = &v->configuration;
	long long batch_size = configuration_batch_size(c);

	switch (name) {
	case NAME_BATCH:	text_addf(out, "%lld", batch_size); break;
	case NAME_LOCAL_BATCH:	text_addf(out, "%lld", (long long)c->local_batch_size); break;
	case NAME_ACCUM:	text_addf(out, "%d", c->accumulation_steps); break;
	case NAME_GPUS:		text_addf(out, "%d", c->replicas); break;
	case NAME_REPLICAS:	text_addf(out, "%d", configuration_workers(c)); break;
	case NAME_LR:		expand_learning_rate(v, out); break;
	case NAME_LR_SCALE:	text_addf(out, "%.9g", v->learning_rate_scale); break;
	case NAME_SAMPLES:	text_addf(out, "%.0f", isnan(v->samples) ? 0 : v->samples); break;
	case NAME_CHECKPOINT:	add_value(v, v->checkpoint_dir, out); break;
	case NAME_NEWEST:	add_value(v, v->newest ? v->newest : "", out); break;
	case NAME_PORT:		text_addf(out, "%d", v->port); break;
	case NAME_JOB:		text_addf(out, "%lld", (long long)v->job_id); break;
	case NAME_RUN:		text_addf(out, "%d", v->run_number); break;
	case NAME_RESUME:
		if (v->resume_args)
			expand_text(v->resume_args, v, out);
		break;
	case NAME_PLAN:
		if (v->plan_args)
			expand_text(v->plan_args, v, out);
		break;
	default:		expand_node_name(name, v, out); break;
	}
}

static void expand_text(const char *text, const struct template_values *values, struct text *out)
{
	while (*text) {
		struct piece piece = next_piece(&text);

		if (piece.is_template)
			expand_name(find_name(piece.text, piece.length), values, out);
		else
			add_literal(values, piece.text, piece.length, out);
	}
}

/* Splits at blanks before each word is expanded, so that a directory with a blank in its name stays
 * one argument. */
static void add_words(const char *text, const struct template_values *values, struct strings *out)
{
	const char *p = text ? text : "";

	for (p += strspn(p, " \t"); *p; p += strspn(p, " \t")) {
		size_t length = strcspn(p, " \t");
		struct text word = TEXT_INIT, expanded = TEXT_INIT;

		text_add_bytes(&word, p, length);
		expand_text(word.data, values, &expanded);
		strings_add(out, expanded.data);
		text_release(&word);
		text_release(&expanded);
		p += length;
	}
}

void template_expand(const struct strings *argv, const struct template_values *values,
		     struct strings *out)
{
	for (size_t i = 0; i < argv->count; i++) {
		struct text expanded = TEXT_INIT;

		if (!strcmp(argv->items[i], "{resume}")) {
			add_words(values->resume_args, values, out);
			continue;
		}
		if (!strcmp(argv->items[i], "{plan}")) {
			add_words(values->plan_args, values, out);
			continue;
		}
		expand_text(argv->items[i], values, &expanded);
		strings_add(out, expanded.data);
		text_release(&expanded);
	}
	if (!template_mentions(argv, "plan"))
		add_words(values->plan_args, values, out);
	if (!template_mentions(argv, "resume"))
		add_words(values->resume_args, values, out);
}

static void expand_node(const char *text, int node, struct text *out)
{
	while (*text) {
		struct piece piece = next_piece(&text);

		if (piece.is_template)
			text_addf(out, "%d", node);	/* no other name is left */
		else
			text_add_bytes(out, piece.text, piece.length);
	}
}

void template_expand_node(const struct strings *argv, int node, struct strings *out)
{
	for (size_t i = 0; i < argv->count; i++) {
		struct text expanded = TEXT_INIT;

		expand_node(argv->items[i], node, &expanded);
		strings_add(out, expanded.data);
		text_release(&expanded);
	}
}
