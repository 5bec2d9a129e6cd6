/* again_group.h - a job like a run of a sweep: another run of the sweep, with the parameters of
 * that run or others. The arguments are made anew from the command of the sweep. A job with other
 * arguments than its parameters make is no run of the sweep: it has no group and no parameters. */
#ifndef POLLUX_AGAIN_GROUP_H
#define POLLUX_AGAIN_GROUP_H

#include "pollux/command.h"
#include "pollux/declaration.h"
#include "pollux/store_groups.h"

struct again_group {
	struct job_group of;		/* id 0: the job is of no sweep */
	struct strings was, parameters;	/* those of the job that is there, those of the new one */
	int index;
	bool stays;			/* the new job is a run of the sweep */
	/* The changes of --set that name no parameter; their texts are borrowed. */
	struct text_list other_changes;
};

int again_group_read(struct again_group *g, struct store *s, const struct job *was,
		     struct err *err);
/* Takes the parameters from --set and --lr, and makes the arguments. EX_USAGE: the learning rate is
 * no number. */
int again_group_set(struct again_group *g, const struct command *by, const struct asked *o,
		    const struct text_list *set, struct strings *argv, struct err *err);
/* Gives the new job its group, its parameters, its learning rate, and the name made of these. */
void again_group_join(const struct again_group *g, const struct asked *o, const struct job *was,
		      struct job *is);
/* Adds "; parameter lr 0.1 -> 0.3", or that the new job is no run of the sweep. */
void again_group_add_differences(struct text *t, const struct again_group *g,
				 const struct job *was);
void again_group_release(struct again_group *g);

#endif
