/* code.h - the code that jobs run: git, the state of a repository, snapshots of it. */
#ifndef POLLUX_CODE_H
#define POLLUX_CODE_H

#include <stdbool.h>
#include <stddef.h>

#include "pollux/err.h"
#include "pollux/paths.h"
#include "pollux/text.h"

/* Runs git(1) within a time, and without what a repository may have it execute.
 *
 * No hook and no monitor of files is executed, no lock is taken that is not needed, and nobody is
 * asked for a password. Variables GIT_* of the caller are left out (but those of the
 * configuration): they could name another repository. */

struct git {
	const char *directory;		/* where git runs */
	/* whose PATH has git, and which git gets; NULL: those of this process */
	char *const *variables;
	/* on top of those, "NAME=VALUE"; NULL: none */
	const struct strings *more;
	double until_boot_s;		/* then git is killed, with all that it has started */
};

/* Runs git with these words, and appends what it prints to *out (NULL: dropped). -1 with *err if
 * there is no git (EX_UNAVAILABLE), if the time is over (EX_TEMPFAIL), or, with git's own words, if
 * git failed (EX_FAILED). */
#define git_run(git, out, err, ...) \
	git_run_list(git, out, err, (const char *const[]){ __VA_ARGS__, NULL })
/* The words up to a NULL. */
int git_run_list(const struct git *git, struct text *out, struct err *err,
		 const char *const *list);
/* The same, with the words of a list. */
int git_run_words(const struct git *git, const struct strings *words, struct text *out,
		  struct err *err);

/* True if the directory, or one above it, has an entry ".git": a look that runs nothing. */
bool git_is_near(const char *directory);

/* Which code a job runs: the commit that its repository is at, and a tree of all tracked files as
 * they are, with changes that nobody has committed.
 *
 * git(1) makes the tree from a copy of its index. The copy and the new objects are written below
 * the store's directory (code/), so that nothing in the repository changes, and a killed git leaves
 * nothing there. Two trees tell which files differ, whatever was committed in between. */

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

/* A copy of a repository's code, for runs that are to use the code as it was.
 *
 *	DIR/snapshots/NAME/		DIR: the store's directory
 *		.pollux			names the repository; locked while a submission makes it
 *		PROJECT/		the copy, a working tree of git's (git worktree) of a
 *					commit that has the uncommitted changes, too
 *		SIBLING -> ...		what lies beside the repository, for paths like ../data
 *
 * The copy has the tracked files and the small untracked files of source code beside them. What
 * else there is, such as data, environments and directories of results, is there by links to the
 * originals: so the program finds its data, and what it writes there is where people look for it.
 * A directory with nothing but .gitkeep and the like is linked, too. Files that a program made in
 * the copy itself are work: a copy with such files is not removed. */

#define SNAPSHOT_LIMIT_S 600.0		/* git may take so long in all */

struct code_snapshot {
	char *dir;			/* owned: DIR/snapshots/NAME/PROJECT */
	char *top;			/* owned: the directory of the repository */
	int lock;			/* snapshot_keep() drops it; else -1 */
	struct text remarks;		/* what a person should know of it; may be empty */
};

/* Makes a snapshot of the working tree that holds the directory. Until snapshot_keep(), others do
 * not take it for one that nobody needs. -1 with *err, and nothing is left behind. */
int snapshot_make(const struct paths *paths, const char *directory, struct code_snapshot *s,
		  struct err *err);
/* Once the store has it. */
void snapshot_keep(struct code_snapshot *s);
/* Where it is not needed after all. */
void snapshot_drop(struct code_snapshot *s);

/* Calls visit for each snapshot's directory, but not for one that is being made. */
void snapshots_each(const struct paths *paths, void (*visit)(const char *dir, void *arg),
		    void *arg);

/* Removes the snapshot and what git keeps of it; 1: it stays, for it has files that its runs made,
 * and *own (the caller frees) is one of them. -1: it cannot be read. Works, too, where the
 * repository is gone. */
int snapshot_remove(const char *dir, char **own);
/* Looks for such a file only. */
int snapshot_own_files(const char *dir, char **own);

/* A command that is to run in the snapshot. */
struct snapshot_command {
	char **program, **directory;	/* owned by the caller; replaced */
	struct strings *argv, *env;
};

/* Puts paths of the snapshot where the command has paths of files in the repository: program,
 * directory, arguments (also NAME=PATH), and PYTHONPATH. Other paths stay. -1 with *err (126) if
 * the snapshot is not there. */
int snapshot_enter(const char *dir, const char *repository, const struct snapshot_command *c,
		   struct err *err);

#endif
