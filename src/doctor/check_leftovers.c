/* check_leftovers.c - files that belong to no job and no run of the store, or to a repair of the
 * store that did not end. */
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "pollux/code.h"
#include "pollux/file.h"
#include "pollux/lock.h"
#include "pollux/mem.h"
#include "pollux/store.h"

#define NAMED_MAX 50	/* files named in one command */

/* Removes nothing but what the last prunes did not get to. */
#define PRUNE "pollux prune --logs --older-than 36500d"

/* Files of one kind in the store's directory, and the command that shows them. Nothing tells for
 * sure that nobody needs a file: a store that was restored from a backup lacks jobs that it had, a
 * new one begins behind the numbers of the files that are there, and a damaged one loses records.
 * So no command is named that removes them. */
struct pile {
	struct text mend;
	int n, n_named;
	char *first;		/* owned */
};

static void pile_add(struct pile *pile, const struct paths *paths, const char *part,
		     const char *name)
{
	autofree char *path = xasprintf("%s/%s", part, name);

	if (pile->n++ == 0) {
		pile->first = xstrdup(path);
		text_add(&pile->mend, "cd ");
		text_add_shell_quoted(&pile->mend, paths->dir);
		text_add(&pile->mend, " && ls -la");
	}
	if (pile->n_named < NAMED_MAX) {
		pile->n_named++;
		text_add(&pile->mend, " ");
		text_add_shell_quoted(&pile->mend, path);
	}
}

/* Files of logs/ and checkpoints/, by what they are. */
enum { OTHERS, PRUNED, UNKNOWN, JOBLESS, N_PILES };
static const struct {
	const char *mend;	/* NULL: the command that shows the files */
	const char *what;
} told[N_PILES] = {
	[OTHERS] = { NULL, "is of another store, or of a job that this one lost: keep what you "
		     "want, then remove it" },
	[PRUNED] = { PRUNE, "was to be removed by 'pollux prune'" },
	[UNKNOWN] = { NULL, "is of a job that this store does not know; a newer copy of the store "
		      "may have it" },
	[JOBLESS] = { NULL, "is of a job that is not in the store, or not any more: keep what you "
		      "want, then remove it" },
};

/* last_job: the last one that the store knows or knew. */
static void sort_out(struct patient *p, const char *part, const char *name, int64_t last_job,
		     struct pile *piles)
{
	size_t digits = strspn(name, "0123456789");
	const char *end = name + digits;
	int64_t id = digits > 18 ? 0 : strtoll(name, NULL, 10);
	struct err ignored;
	bool has = true;

	if (digits == 0 || id == 0)
		return;		/* not a name of pollux: it begins with the job's number */
	if (!strncmp(end, ".of-", 4) || !strncmp(end, ".log.of-", 8)) {
		pile_add(&piles[OTHERS], &p->paths, part, name);
	} else if (!strcmp(end, ".pruned")) {
		pile_add(&piles[PRUNED], &p->paths, part, name);
	} else if (!*end || !strcmp(end, ".log") || !strcmp(end, ".store")) {
		if (p->store.db && store_has_job(&p->store, id, &has, &ignored) == 0 && !has)
			pile_add(&piles[id > last_job ? UNKNOWN : JOBLESS], &p->paths, part, name);
	}
}

static void check_jobs(struct patient *p)
{
	static const char *const parts[] = { "logs", "checkpoints" };
	struct pile piles[N_PILES] = { 0 };
	int64_t last_job = 0;
	struct err ignored;

	if (p->store.db)
		store_last_job(&p->store, &last_job, &ignored);
	for (int i = 0; i < 2; i++) {
		autofree char *path = xasprintf("%s/%s", p->paths.dir, parts[i]);
		scoped(close_dir) DIR *dir = opendir(path);
		const struct dirent *entry;

		while (dir && (entry = readdir(dir)))
			sort_out(p, parts[i], entry->d_name, last_job, piles);
	}
	for (int i = 0; i < N_PILES; i++) {
		struct pile *pile = &piles[i];
		const char *mend = told[i].mend ? told[i].mend : pile->mend.data;

		if (pile->n == 1)
			found(p, FINDING_LOOK, xstrdup(mend), "'%s' %s", pile->first, told[i].what);
		else if (pile->n > 1)
			found(p, FINDING_LOOK, xstrdup(mend), "'%s' and %d more: each %s",
			      pile->first, pile->n - 1, told[i].what);
		text_release(&pile->mend);
		free(pile->first);
	}
}

/* Snapshots of code that no job needs. */
struct strays {
	struct patient *patient;
	int n;
	char *first;		/* owned */
};

static void count_stray(const char *dir, void *arg)
{
	struct strays *strays = arg;
	bool needed = true;
	struct err ignored;

	if (store_snapshot_is_needed(&strays->patient->store, dir, &needed, &ignored) || needed)
		return;
	if (strays->n++ == 0)
		strays->first = xstrdup(dir);
}

void check_leftovers(struct patient *p)
{
	autofree char *path = xasprintf("%s/run", p->paths.dir);
	DIR *dir = p->store.db ? opendir(path) : NULL;
	const struct dirent *entry;
	struct strays strays = { p, 0, NULL };
	int n = 0;

	check_jobs(p);
	/* files of ended runs, which passes remove */
	while (dir && (entry = readdir(dir))) {
		int64_t id = isdigit((unsigned char)entry->d_name[0])
			? strtoll(entry->d_name, NULL, 10) : 0;
		autofree char *lock = paths_run(&p->paths, id, "lock");

		n += id > 0 && !patient_has_run(p, id) && lock_look(lock) == LOCK_IS_FREE;
	}
	if (dir)
		closedir(dir);
	if (n)
		found(p, FINDING_LOOK, xstrdup("pollux schedule"),
		      "%d file%s of ended runs in '%s/run'", n, plural(n), p->paths.dir);
	/* A prune of no job's log removes snapshots, with what git keeps of them. */
	if (p->store.db)
		snapshots_each(&p->paths, count_stray, &strays);
	if (strays.n == 1)
		found(p, FINDING_LOOK, xstrdup(PRUNE),
		      "no job needs the snapshot of code '%s'; files that runs made there stay",
		      strays.first);
	else if (strays.n > 1)
		found(p, FINDING_LOOK, xstrdup(PRUNE),
		      "no job needs '%s' and %d more snapshots of code; files that runs made "
		      "there stay", strays.first, strays.n - 1);
	free(strays.first);
	if (store_repair_left_files(&p->paths))
		found(p, FINDING_LOOK, xstrdup("pollux doctor --repair"),
		      "'%s.repaired' was left by a repair that did not end", p->paths.store);
}
