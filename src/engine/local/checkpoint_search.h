/* checkpoint_search.h - the candidates below a directory of checkpoints; private to
 * src/engine/local. */
#ifndef POLLUX_RUN_CHECKPOINT_SEARCH_H
#define POLLUX_RUN_CHECKPOINT_SEARCH_H

#include "checkpoint_names.h"
#include "checkpoint_order.h"
#include "checkpoint_whole.h"
#include "checkpoints.h"

struct candidate {
	char *path;			/* owned */
	enum name_class class;		/* NAME_CHECKPOINT or NAME_MODEL */
	bool reported, link;
	bool companion;			/* it tells about a checkpoint beside it */
	struct contents contents;
	struct checkpoint_order order;
};

struct candidates {
	struct candidate *items;	/* owned */
	int count;
	/* wall clock: when one of the files that are no candidates, but are no sources or logs
	 * either, last changed; NaN: there is none */
	double other_s;
	bool cut_short;			/* there was no time to look at all names */
};

/* Directories are read one level after the other, so that what lies beside a large set of data
 * is found before it. Names of checkpoints are looked at for two minutes; other names as long as
 * SEARCH_S and OTHERS_MAX allow, and in a large directory only if files came into it since the
 * time asked for. */
void candidates_find(const struct checkpoint_query *query, struct candidates *found);
void candidates_release(struct candidates *found);

#define SEARCH_DEPTH 8
#define SEARCH_S 10.0

#endif
