/* submit_braces.c - what a submission says about words in braces. */
#include <stdio.h>

#include "pollux/submission.h"
#include "submit.h"

void submit_tell_braces(const struct asked *o, const struct job *job,
			const struct job_command *command, const struct strings *parameters,
			bool dry_run)
{
	struct braced b = { &job->declared, command, o->declared.name, &o->env, parameters };
	struct text replaced = TEXT_INIT;
	struct strings doubts = { 0 };

	braces_add_doubts(&b, &doubts);
	for (size_t i = 0; i < doubts.count; i++)
		output_messagef("warning: %s", doubts.items[i]);
	if (dry_run)
		braces_add_replaced(&b, &replaced);
	if (replaced.length)
		output_messagef("replaced at launch: %s", replaced.data);
	strings_release(&doubts);
	text_release(&replaced);
}
