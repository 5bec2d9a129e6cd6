/* submit_launch.c - what a submission says about where its command is started. */
#include "pollux/submission.h"
#include "submit.h"

void submit_tell_launch(const struct asked *o, const struct job *job,
			const struct job_command *command)
{
	const char *launcher;

	if (o->launch || job->declared.launch != LAUNCH_FIRST || job->declared.max_replicas == 1)
		return;
	launcher = launcher_of_command(command);
	if (launcher)
		output_messagef("its command calls %s: on several nodes it is started on the first "
				"alone, and the others are kept for what %s starts; --launch each "
				"starts it on each", launcher, launcher);
}
