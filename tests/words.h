/* words.h - the words of verdicts. */
#ifndef TEST_WORDS_H
#define TEST_WORDS_H

#include <stdio.h>

#include "pollux/policy.h"
#include "pollux/text.h"

/* of view.h, whose structs have names that src/sched has for its own */
verdict_wording verdict_words;

/* Valid until the fourth call after this one. */
static inline const char *words(const struct verdict *v)
{
	static char texts[4][512];
	static int n;
	struct text t = TEXT_INIT;
	char *to = texts[n++ % 4];

	verdict_words(v, &t);
	snprintf(to, sizeof(texts[0]), "%s", t.data);
	text_release(&t);
	return to;
}

/* What was said of the job with this choice; valid as the words are. */
static inline const char *said(const struct sched_choice *choice)
{
	return words(&choice->verdict);
}

#endif
