/* code_state.h - which code a job runs: the commit that its repository is at, and a tree of all
 * tracked files as they are, with changes that nobody has committed.
 *
 * git(1) makes the tree from a copy of its index. The copy and the new objects are written below
 * the store's directory (code/), so that nothing in the repository changes, and a killed git leaves
 * nothing there. Two trees tell which files differ, whatever was committed in between. */
#ifndef POLLUX_CODE_STATE_H
#define POLLUX_CODE_STATE_H

#include <stdbool.h>

#include "pollux/err.h"
#include "pollux/git.h"
#include "pollux/text.h"

#define CODE_ID_SIZE 66			/* up to 64 hexadecimal digits, "+" and the terminator */

struct code_state {
	char commit[CODE_ID_SIZE];	/* "+" at its end: tracked files differ; "": not known */
	char tree[CODE_ID_SIZE];	/* "": not known */
};

/* Who asks: where objects are kept, with which variables git runs, and how long it may take. */
struct code_asking {
	const char *dir;		/* the store's; NULL: no object is kept */
	char *const *variables;		/* as for struct git */
	double limit_s;			/* for all calls of git together */
};
#define CODE_LIMIT_S 3.0		/* where a person or a launch waits */

/* The working tree that holds a directory. */
struct code_repository {
	char *top;			/* owned, as the next two: absolute paths */
	char *index, *objects;
	struct code_state head;		/* its commit and the tree of that */
};

/* -1 with *err where there is none, where it has no commit yet, or where git fails (git_run). */
int code_repository_find(const struct git *git, struct code_repository *r, struct err *err);
void code_repository_release(struct code_repository *r);

/* Copies the index with its time, by which git knows whether a file changed just then. */
int code_copy_index(const struct code_repository *r, const char *path, struct err *err);

/* The state of the working tree that holds the directory; *top (NULL: not wanted) is that tree's
 * own directory, which the caller frees. */
int code_state_read(const char *directory, const struct code_asking *asking,
		    struct code_state *state, char **top, struct err *err);

/* True if both are known and tracked files differ. */
bool code_differs(const struct code_state *from, const struct code_state *to);

/* Adds "a1b2c3 -> d4e5f6+, 3 files: a.py, b.py, c.py". Says so where the files are not known: the
 * objects of a state are kept for CODE_KEPT_DAYS. */
void code_add_difference(const char *directory, const struct code_asking *asking,
			 const struct code_state *from, const struct code_state *to,
			 struct text *t);

/* Removes objects that were not used for CODE_KEPT_DAYS. dir: the store's. */
#define CODE_KEPT_DAYS 60
void code_forget_old(const char *dir, double now_s);

#endif
