/* submission_braces.h - what becomes of the words in braces of a submission, for the person who
 * typed them. */
#ifndef POLLUX_SUBMISSION_BRACES_H
#define POLLUX_SUBMISSION_BRACES_H

#include "pollux/field.h"
#include "pollux/job.h"

/* The texts of a job, or of the first run of a sweep. */
struct braced {
	const struct declaration *declared;
	const struct job_command *command;
	const char *name;			/* as given by --name; NULL: not given */
	const struct text_list *env;		/* of --env */
	const struct strings *parameters;	/* "NAME=VALUE" of the sweep; NULL: none */
};

/* Adds a line for each word that stays as it is, although it may have been meant for pollux: a
 * template without the option that it needs, and a word that is near to a known one. */
void braces_add_doubts(const struct braced *b, struct strings *out);
/* "{job} {checkpoint}": the templates that are replaced at launch, each once. */
void braces_add_replaced(const struct braced *b, struct text *out);

/* True if the word is a known name with a slip of the keyboard, in another case, or with an ending
 * that means the same: "chekpoint", "GPUS", "batchsize". A name of four letters or fewer is near to
 * few words, because most short words are others. */
bool braces_word_is_near(const char *word, const char *name);

#endif
