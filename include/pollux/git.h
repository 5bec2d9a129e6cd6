/* git.h - runs git(1) within a time, and without what a repository may have it execute.
 *
 *	struct git git = { .directory = "/home/u/project", .until_boot_s = clock_boot_s() + 3 };
 *	if (git_run(&git, &out, err, "rev-parse", "HEAD")) return -1;
 *
 * No hook and no monitor of files is executed, no lock is taken that is not needed, and nobody is
 * asked for a password. Variables GIT_* of the caller are left out (but those of the
 * configuration): they could name another repository. */
#ifndef POLLUX_GIT_H
#define POLLUX_GIT_H

#include <stdbool.h>
#include <stddef.h>

#include "pollux/err.h"
#include "pollux/text.h"

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

#endif
