/* braces.h - words in braces, in texts that people write: "{job}". Templates of commands
 * (template.h) and parameters of sweeps are such words. One rule holds for both:
 *
 *	{word}		is replaced where the word is known
 *	{{word}}	is {word}, where the word is known
 *	${word}		is a shell's variable, and stays
 *
 * Every other brace stays as it is. A word has letters, digits and '_'. */
#ifndef POLLUX_BRACES_H
#define POLLUX_BRACES_H

#include <stdbool.h>
#include <stdint.h>

#include "pollux/text.h"

struct braces {
	const char *start, *at;		/* of the text; what is left of it */
};

/* A part of a text. The parts of a text, one after the other, are the text. */
struct piece {
	const char *text;
	size_t length;
	const char *word;		/* within the braces; NULL: the part has no word */
	size_t word_length;
	bool doubled;			/* {{word}} */
};

struct braces braces_in(const char *text);
/* Takes the next part. Returns false at the end of the text. */
bool braces_next(struct braces *b, struct piece *piece);
/* True if the text begins with a character of a word. */
bool braces_word_goes_on(const char *text);
bool piece_is(const struct piece *piece, const char *word);

/* Adds a text that stands for itself: its words that are known get a second pair of braces. */
void braces_escape(const char *text, bool (*knows)(const char *word, size_t length),
		   struct text *out);

/* {job} in the name and the checkpoint directory of a job. They know this word alone. */
bool braces_knows_job(const char *word, size_t length);
bool braces_have_job(const char *text);		/* True if one of {job} and {{job}} occurs */
char *braces_put_job(const char *text, int64_t job_id);		/* the caller frees */
/* True if the template makes this name of the number. */
bool braces_name_is(const char *template, int64_t job_id, const char *name);

#endif
