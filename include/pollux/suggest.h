/* suggest.h - the known name that a mistyped one was meant to be.
 *
 *	struct suggestion s = suggestion_for("sumbit");
 *	suggestion_offer(&s, "submit");		// every known name
 *	if (s.best) ... "did you mean '%s'?"
 */
#ifndef POLLUX_SUGGEST_H
#define POLLUX_SUGGEST_H

struct suggestion {
	const char *typed;	/* borrowed */
	const char *best;	/* borrowed from an offer; NULL while none is near */
	int distance;		/* edits between the two; less than any refused offer */
};

struct suggestion suggestion_for(const char *typed);

/* Near is: one edit in three characters typed (at least one, exchanging neighbours counts as one), or
 * at least two characters that the name begins with. Of equally near names the first offered stays. */
void suggestion_offer(struct suggestion *s, const char *name);

#endif
