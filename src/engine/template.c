/* template.c - {names} in a command. */
#include "pollux/mem.h"
#include "pollux/template.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/text.h"

enum name {
	NAME_BATCH, NAME_LOCAL_BATCH, NAME_ACCUM, NAME_GPUS, NAME_REPLICAS, NAME_LR, NAME_LR_SCALE,
	NAME_SAMPLES, NAME_CHECKPOINT, NAME_NEWEST, NAME_RESUME, NAME_PLAN, NAME_PORT, NAME_JOB,
	NAME_RUN, NAME_STEPS, NAME_NODES, NAME_NODE, NAME_MASTER, NAME_GPUS_PER_NODE, NAME_GPU_LIST,
	N_NAMES
};

static const char *const names[N_NAMES] = {
	[NAME_BATCH] = "batch", [NAME_LOCAL_BATCH] = "local_batch", [NAME_ACCUM] = "accum",
	[NAME_GPUS] = "gpus", [NAME_REPLICAS] = "replicas",
	[NAME_LR] = "lr", [NAME_LR_SCALE] = "lr_scale",
	[NAME_SAMPLES] = "samples", [NAME_CHECKPOINT] = "checkpoint", [NAME_NEWEST] = "newest",
	[NAME_RESUME] = "resume", [NAME_PLAN] = "plan",
	[NAME_PORT] = "port", [NAME_JOB] = "job", [NAME_RUN] = "run",
	[NAME_NODES] = "nodes", [NAME_NODE] = "node", [NAME_MASTER] = "master",
	[NAME_GPUS_PER_NODE] = "gpus_per_node", [NAME_STEPS] = "steps",
	[NAME_GPU_LIST] = "gpu_list",
};

static int find_name(const char *text, size_t length)
{
	for (int i = 0; i < N_NAMES; i++)
		if (strlen(names[i]) == length && !memcmp(names[i], text, length))
			return i;
	return -1;
}

struct template_facts template_facts_of(const struct declaration *d, const struct job_command *c)
{
	return (struct template_facts){
		.has_batch_size = d->batch.size > 0,
		.has_learning_rate = !isnan(d->learning_rate),
		.has_resume_args = c->resume_args != NULL,
		.has_plans = d->plans != NULL,
		.has_steps = d->total_steps > 0,
	};
}

struct template_facts template_facts_within(const struct template_facts *facts, const char *name)
{
	struct template_facts inner = *facts;

	inner.has_resume_args = false;
	inner.has_plans = facts->has_plans && strcmp(name, "plan") != 0;
	return inner;
}

/* Returns the option that gives a template its value; NULL: the template has one. */
static const char *lacking_option(int name, const struct template_facts *facts)
{
	switch (name) {
	case NAME_BATCH:
	case NAME_LOCAL_BATCH:
	case NAME_ACCUM:	return facts->has_batch_size ? NULL : "--batch";
	case NAME_LR:		return facts->has_learning_rate ? NULL : "--lr";
	case NAME_RESUME:	return facts->has_resume_args ? NULL : "--resume-args";
	case NAME_PLAN:		return facts->has_plans ? NULL : "--plan";
	case NAME_STEPS:	return facts->has_steps ? NULL : "--steps";
	default:		return NULL;
	}
}

char *template_gpu_list(const struct device *devices, int n)
{
	scoped(text_release) struct text t = TEXT_INIT;

	for (int i = 0; i < n; i++) {
		if (device_backend_of(devices[i].id) != &device_nvidia)
			return NULL;
		text_addf(&t, "%s%s", i ? "," : "", strchr(devices[i].id, ':') + 1);
	}
	return text_detach(&t);
}

bool template_knows(const char *word, size_t length)
{
	return find_name(word, length) >= 0;
}

const char *template_lacks(const char *word, size_t length, const struct template_facts *facts)
{
	return lacking_option(find_name(word, length), facts);
}

const char *template_name(int i)
{
	return i < N_NAMES ? names[i] : NULL;
}

bool template_text_mentions(const char *text, const char *name)
{
	struct braces b = braces_in(text);
	struct piece piece;

	while (braces_next(&b, &piece))
		if (!piece.doubled && piece_is(&piece, name))
			return true;
	return false;
}

bool template_mentions(const struct strings *argv, const char *name)
{
	for (size_t i = 0; i < argv->count; i++)
		if (template_text_mentions(argv->items[i], name))
			return true;
	return false;
}

bool template_command_mentions(const struct job_command *c, const char *name)
{
	return template_mentions(&c->argv, name) ||
	       (c->resume_args && template_text_mentions(c->resume_args, name));
}

bool template_changes(const char *text)
{
	struct braces b = braces_in(text);
	struct piece piece;

	while (braces_next(&b, &piece))
		if (piece.word && template_knows(piece.word, piece.word_length))
			return true;
	return false;
}

/* A text being expanded. */
struct expansion {
	const struct template_values *values;
	struct template_facts facts;
	bool for_nodes;		/* each node goes on with the result: template_expand_node() */
	struct text *out;
};

static void expand_text(const char *text, const struct expansion *e);

/* Adds text of the result. For nodes a '{' is written twice, and {node} stays. */
static void add_literal(const struct expansion *e, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		text_add_byte(e->out, text[i], text[i] == '{' && e->for_nodes ? 2 : 1);
}

static void add_value(const struct expansion *e, const char *text)
{
	add_literal(e, text, strlen(text));
}

/* Expands the resume arguments, or the arguments of the plan, within a text. */
static void expand_within(const struct expansion *e, const char *args, const char *name)
{
	struct expansion inner = *e;

	inner.facts = template_facts_within(&e->facts, name);
	if (args)
		expand_text(args, &inner);
}

static void expand_name(int name, const struct expansion *e)
{
	const struct template_values *v = e->values;
	const struct configuration *c = &v->configuration;
	long long batch_size = configuration_batch_size(c);
	int nodes = v->nodes.n > 0 ? v->nodes.n : 1;
	bool as_typed = v->typed_learning_rate && fabs(v->learning_rate_scale - 1) < 1e-12;
	struct text *out = e->out;

	switch (name) {
	case NAME_BATCH:	text_addf(out, "%lld", batch_size); break;
	case NAME_LOCAL_BATCH:	text_addf(out, "%lld", (long long)c->local_batch_size); break;
	case NAME_ACCUM:	text_addf(out, "%d", c->accumulation_steps); break;
	case NAME_GPUS:		text_addf(out, "%d", c->replicas); break;
	case NAME_REPLICAS:	text_addf(out, "%d", configuration_workers(c)); break;
	case NAME_LR:
		if (as_typed)
			text_add(out, v->typed_learning_rate);
		else
			text_addf(out, "%.9g", v->learning_rate * v->learning_rate_scale);
		break;
	case NAME_LR_SCALE:	text_addf(out, "%.9g", v->learning_rate_scale); break;
	case NAME_SAMPLES:	text_addf(out, "%.0f", isnan(v->samples) ? 0 : v->samples); break;
	case NAME_STEPS:	text_addf(out, "%.0f", v->total_steps); break;
	case NAME_CHECKPOINT:	add_value(e, v->checkpoint_dir); break;
	case NAME_NEWEST:	add_value(e, v->newest ? v->newest : ""); break;
	case NAME_GPU_LIST:	add_value(e, v->gpu_list); break;
	case NAME_PORT:		text_addf(out, "%d", v->port); break;
	case NAME_JOB:		text_addf(out, "%lld", (long long)v->job_id); break;
	case NAME_RUN:		text_addf(out, "%d", v->run_number); break;
	case NAME_RESUME:	expand_within(e, v->resume_args, "resume"); break;
	case NAME_PLAN:		expand_within(e, v->plan_args, "plan"); break;
	case NAME_NODES:	text_addf(out, "%d", nodes); break;
	case NAME_NODE:		text_add(out, e->for_nodes ? "{node}" : "0"); break;
	case NAME_MASTER:
		add_value(e, v->nodes.master ? v->nodes.master : "127.0.0.1");
		break;
	case NAME_GPUS_PER_NODE: text_addf(out, "%d", c->replicas / nodes); break;
	}
}

static void expand_text(const char *text, const struct expansion *e)
{
	struct braces b = braces_in(text);
	struct piece piece;

	while (braces_next(&b, &piece)) {
		int name = piece.word ? find_name(piece.word, piece.word_length) : -1;

		if (name >= 0 && piece.doubled)
			add_literal(e, piece.text + 1, piece.length - 2);
		else if (name >= 0 && !lacking_option(name, &e->facts) &&
			 (name != NAME_GPU_LIST || e->values->gpu_list))
			expand_name(name, e);
		else
			add_literal(e, piece.text, piece.length);
	}
}

static char *expand(const char *text, const struct template_values *values,
		    const struct template_facts *facts)
{
	struct text out = TEXT_INIT;
	struct expansion e = { values, *facts, values->nodes.n > 0, &out };

	expand_text(text, &e);
	return text_detach(&out);
}

char *template_expand_text(const char *text, const struct template_values *values)
{
	return expand(text, values, &values->facts);
}

/* Splits at blanks before each word is expanded, so that a directory with a blank in its name stays
 * one argument. */
static void add_words(const char *text, const char *name, const struct template_values *values,
		      struct strings *out)
{
	struct template_facts facts = template_facts_within(&values->facts, name);
	const char *p = text ? text : "";

	for (p += strspn(p, " \t"); *p; p += strspn(p, " \t")) {
		size_t length = strcspn(p, " \t");
		scoped(text_release) struct text word = TEXT_INIT;
		autofree char *expanded = NULL;

		text_add_bytes(&word, p, length);
		expanded = expand(word.data, values, &facts);
		strings_add(out, expanded);
		p += length;
	}
}

void template_expand(const struct strings *argv, const struct template_values *values,
		     struct strings *out)
{
	const struct template_facts *facts = &values->facts;

	for (size_t i = 0; i < argv->count; i++) {
		const char *argument = argv->items[i];
		autofree char *expanded = NULL;

		if (facts->has_resume_args && !strcmp(argument, "{resume}")) {
			add_words(values->resume_args, "resume", values, out);
			continue;
		}
		if (facts->has_plans && !strcmp(argument, "{plan}")) {
			add_words(values->plan_args, "plan", values, out);
			continue;
		}
		expanded = template_expand_text(argument, values);
		strings_add(out, expanded);
	}
	if (!template_mentions(argv, "plan"))
		add_words(values->plan_args, "plan", values, out);
	if (!template_mentions(argv, "resume"))
		add_words(values->resume_args, "resume", values, out);
}

char *template_expand_node(const char *text, int node)
{
	struct text out = TEXT_INIT;

	while (*text) {
		bool is_node = text_starts_with(text, "{node}");

		if (is_node)
			text_addf(&out, "%d", node);
		else
			text_add_byte(&out, *text, 1);
		text += is_node ? strlen("{node}") : text_starts_with(text, "{{") ? 2 : 1;
	}
	return text_detach(&out);
}
