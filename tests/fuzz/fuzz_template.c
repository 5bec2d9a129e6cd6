/* fuzz_template.c - whatever a command has is expanded at launch, and braces that stand for
 * themselves come out as they are. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/template.h"
#include "pollux/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The words that resume arguments make. */
static size_t count_words(const char *text)
{
	size_t n = 0;

	for (text += strspn(text, " \t"); *text; text += strspn(text, " \t")) {
		text += strcspn(text, " \t");
		n++;
	}
	return n;
}

/* How many arguments more than one each the name in braces makes: where it stands alone, or at the
 * end if it is nowhere. */
static size_t more_words(const struct strings *argv, const char *name, const char *in_braces,
			 const char *text)
{
	size_t words = text ? count_words(text) : 0, more = 0;

	for (size_t i = 0; text && i < argv->count; i++)
		if (!strcmp(argv->items[i], in_braces))
			more += words - 1;	/* wraps, as does the sum */
	return template_mentions(argv, name) ? more : words;
}

static void check_count(const struct strings *argv, const struct template_values *values,
			const struct strings *out)
{
	assert(out->count == argv->count +
	       more_words(argv, "resume", "{resume}", values->resume_args) +
	       more_words(argv, "plan", "{plan}", values->plan_args));
	assert(!out->count || !out->items[out->count]);
}

/* What was escaped comes out as it went in. */
static void check_literals(const struct strings *argv, const struct template_values *values)
{
	struct template_values none = *values;
	struct strings escaped = { 0 }, out = { 0 };

	none.resume_args = none.plan_args = NULL;
	for (size_t i = 0; i < argv->count; i++) {
		struct text t = TEXT_INIT;

		braces_escape(argv->items[i], template_knows, &t);
		strings_add(&escaped, t.data);
		text_release(&t);
	}
	template_expand(&escaped, &none, &out);
	assert(out.count == argv->count);
	for (size_t i = 0; i < argv->count; i++) {
		assert(!strcmp(out.items[i], argv->items[i]));
		assert(template_changes(argv->items[i]) ||
		       !strcmp(escaped.items[i], argv->items[i]));
	}
	strings_release(&escaped);
	strings_release(&out);
}

/* The nodes of a cluster make of it what a single machine makes, but for the number of the node. */
static void check_nodes(const struct strings *argv, const struct template_values *values)
{
	struct template_values nodes = *values;

	nodes.nodes = (struct template_nodes){ 1, "127.0.0.1" };
	for (size_t i = 0; i < argv->count; i++) {
		char *one = template_expand_text(argv->items[i], values);
		char *all = template_expand_text(argv->items[i], &nodes);
		char *node = template_expand_node(all, 0);

		assert(!strcmp(one, node));
		free(one);
		free(all);
		free(node);
	}
}

static void check_expansion(const struct strings *argv, const char *resume_args,
			    struct template_facts facts)
{
	struct template_values values = {
		.facts = facts, .job_id = INT64_MAX, .run_number = 2,
		.configuration = configuration_make(8, 32, 4), .learning_rate = 1e-300,
		.learning_rate_scale = 1e300, .samples = 1e18, .checkpoint_dir = "/c {batch} d",
		.resume_args = resume_args, .plan_args = facts.has_plans ? "--plan gc{job}" : NULL,
		.port = 65535,
	};
	struct strings out = { 0 };

	template_expand(argv, &values, &out);
	check_count(argv, &values, &out);
	strings_release(&out);
	check_literals(argv, &values);
	check_nodes(argv, &values);
}

/* A byte of facts, the resume arguments, the arguments; strings end with NUL. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct template_facts facts;
	struct strings all = { 0 }, argv = { 0 };

	if (!size)
		return 0;
	facts = (struct template_facts){ data[0] & 1, data[0] & 2, data[0] & 4, data[0] & 8,
					data[0] & 16 };
	strings_unpack(&all, data + 1, size - 1);
	for (size_t i = 1; i < all.count; i++)
		strings_add(&argv, all.items[i]);
	if (argv.count) {
		const char *resume_args = facts.has_resume_args ? all.items[0] : NULL;

		check_expansion(&argv, resume_args, facts);
	}
	strings_release(&argv);
	strings_release(&all);
	return 0;
}
