/* after.c - the jobs that a job waits for, from the option --after. */
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "pollux/mem.h"

/* Reads the rule that a word begins with. Returns the rule's length; 0: there is none. */
static size_t read_rule(const char *word, enum after_rule *rule)
{
	size_t n = strcspn(word, ":");

	if (!word[n])
		return 0;
	for (int i = 0; i < N_AFTER_RULES; i++)
		if (strlen(after_rule_names[i]) == n && !strncmp(word, after_rule_names[i], n)) {
			*rule = (enum after_rule)i;
			return n + 1;
		}
	return 0;
}

static void append_dependency(struct dependency_list *list, int64_t id, bool group,
			      enum after_rule rule)
{
	list->items = xreallocarray(list->items, (size_t)list->count + 1, sizeof(*list->items));
	list->items[list->count++] = (struct dependency){
		.after_id = group ? 0 : id, .after_group_id = group ? id : 0, .rule = rule,
	};
}

/* A name means the jobs of the name that have not ended; where all have, the newest of them. */
static int read_jobs(char *operand, struct store *s, struct id_list *ids, struct err *err)
{
	struct selection_options active = SELECTION_INIT;
	struct selecting what = { .command = &cmd_submit, .operands = &operand, .n_operands = 1 };

	if (!strcmp(operand, "@") || !operand[strspn(operand, "-0123456789")])
		return selection_read(&what, s, ids, err);
	active.states = "active";
	what.options = &active;
	if (selection_read(&what, s, ids, err) == 0)
		return 0;
	what.options = NULL;
	if (selection_read(&what, s, ids, err))
		return -1;
	ids->items[0] = ids->items[ids->count - 1];
	ids->count = 1;
	return 0;
}

/* Adds the jobs that a name, a range or @ means, and says which they are. */
static int add_jobs(char *operand, enum after_rule rule, struct dependency_list *list,
		    struct err *err)
{
	int length = (int)strcspn(operand, ":");
	enum after_rule ignored;
	struct id_list ids;
	struct session s;
	int rc = session_open(&s, STORE_READ, err);

	if (rc == 0) {
		rc = read_jobs(operand, &s.store, &ids, err);
		session_close(&s);
	}
	/* "bad:1" is read as the name of a job, which there may be. */
	if (rc && err->exit_status == EX_NOINPUT && operand[length] &&
	    !read_rule(operand, &ignored)) {
		char *first = xstrdup(err->text);

		err_set(err, EX_NOINPUT, "option '--after': %s, and '%.*s' is no rule; there are "
			"ok, notok, end and any", first, length < 60 ? length : 60, operand);
		free(first);
	}
	if (rc)
		return -1;
	fprintf(stderr, "pollux: --after '");
	output_clean(stderr, operand);
	fprintf(stderr, "': job%s", plural(ids.count));
	for (int i = 0; i < ids.count; i++) {
		fprintf(stderr, "%s %lld", i ? "," : "", (long long)ids.items[i]);
		append_dependency(list, ids.items[i], false, rule);
	}
	fputc('\n', stderr);
	id_list_release(&ids);
	return 0;
}

/* *rule: "any:" holds for all numbers and groups up to the next rule, the others for one. */
static int add_dependency(const struct command *by, char *word, enum after_rule *rule,
			  struct dependency_list *list, struct err *err)
{
	char *number;
	int64_t id;
	bool group;

	if (*rule != AFTER_ANY)
		*rule = AFTER_OK;
	number = word + read_rule(word, rule);
	group = text_starts_with(number, "group:");
	/* what is no number, good or bad, and not "" */
	if (!group && (number[strspn(number, "-0123456789")] ||
		       (*number != '-' && strchr(number, '-'))))
		return add_jobs(number, *rule, list, err);
	if (number_parse_int(number + (group ? strlen("group:") : 0), &id) || id < 1)
		return usage_error(by, err, "option '--after' wants job numbers such as "
				   "'3,end:4,group:2', not '%.60s'", word);
	append_dependency(list, id, group, *rule);
	return 0;
}

int submit_after(const struct command *by, const struct asked *o, struct dependency_list *list,
		 struct err *err)
{
	for (size_t i = 0; i < o->after.count; i++) {
		char *words = xstrdup(o->after.items[i]), *rest = words, *word;
		enum after_rule rule = AFTER_OK;
		int rc = 0;

		while (rc == 0 && (word = strsep(&rest, ",")))
			rc = add_dependency(by, word, &rule, list, err);
		free(words);
		if (rc)
			return -1;
	}
	return 0;
}
