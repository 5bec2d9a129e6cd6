/* after.c - the jobs that a job waits for, from the option --after. */
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "pollux/number.h"
#include "pollux/text.h"
#include "submission.h"

/* Reads the rule that a word begins with. Returns the rule's length; 0: there is none. */
static size_t read_rule(const char *word, enum after_rule *rule)
{
	size_t n = strcspn(word, ":");

	if (!word[n])
		return 0;
	for (int i = AFTER_OK; i < N_AFTER_RULES; i++)
		if (strlen(after_rule_names[i]) == n && !strncmp(word, after_rule_names[i], n)) {
			*rule = (enum after_rule)i;
			return n + 1;
		}
	return 0;
}

/* *rule: "any:" holds for all numbers and groups up to the next rule, the others for one. */
static int add_dependency(const struct command *by, const char *word, enum after_rule *rule,
			  struct dependency_list *list, struct err *err)
{
	const char *number;
	int64_t id;
	bool group;

	if (*rule != AFTER_ANY)
		*rule = AFTER_END;
	number = word + read_rule(word, rule);
	group = text_starts_with(number, "group:");
	if (number_parse_int(number + (group ? strlen("group:") : 0), &id) || id < 1)
		return usage_error(by, err, "option '--after' wants job numbers such as "
				   "'3,ok:4,group:2', not '%.60s'", word);
	list->items = xreallocarray(list->items, (size_t)list->count + 1, sizeof(*list->items));
	list->items[list->count++] = (struct dependency){
		.after_id = group ? 0 : id, .after_group_id = group ? id : 0, .rule = *rule,
	};
	return 0;
}

int submission_after(const struct command *by, const struct asked *o, struct dependency_list *list,
		     struct err *err)
{
	for (size_t i = 0; i < o->after.count; i++) {
		char *words = xstrdup(o->after.items[i]), *rest = words, *word;
		enum after_rule rule = AFTER_END;
		int rc = 0;

		while (rc == 0 && (word = strsep(&rest, ",")))
			rc = add_dependency(by, word, &rule, list, err);
		free(words);
		if (rc)
			return -1;
	}
	return 0;
}
