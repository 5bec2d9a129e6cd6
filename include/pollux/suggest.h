/* suggest.h - the known name that is nearest to a mistyped name.
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
	int distance;		/* edits between typed and best */
};

struct suggestion suggestion_for(const char *typed);

/* Remembers the name if it is nearer than the best so far. A name is near if it differs by at most
 * one edit in three typed characters (one edit is always allowed), or if at least two characters
 * were typed and the name begins with them. Among equally near names the first offer stays. */
void suggestion_offer(struct suggestion *s, const char *name);

/* Insertions, deletions, substitutions and exchanges of neighbours from a to b; -1: one of them is
 * longer than any name. */
int edit_distance(const char *a, const char *b);

#endif
