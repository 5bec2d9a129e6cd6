/* check_leftovers.c - files that belong to no job and no run of the store, or to a repair of the
 * store that did not end. */
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "pollux/code.h"
#include "pollux/lock.h"
#include "pollux/mem.h"
#include "pollux/store.h"
#include "pollux/store_runs.h"

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
	char *path = xasprintf("%s/%s", part, name);

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
	free(path);
}

/* mend: NULL for the command that shows the files */
static void tell_pile(struct patient *p, struct pile *pile, const char *mend, const char *what)
{
	char *command = mend ? xstrdup(mend) : xstrdup(pile->mend.data);

	if (pile->n == 1)
		found(p, FINDING_LOOK, command, "'%s' %s", pile->first, what);
	else if (pile->n > 1)
		found(p, FINDING_LOOK, command, "'%s' and %d more: each %s", pile->first,
		      pile->n - 1, what);
	else
		free(command);
	text_release(&pile->mend);
	free(pile->first);
}

/* --- logs and checkpoints --- */

struct piles {
	struct pile others, pruned, unknown, jobless;
	int64_t last_job;	/* the last one that the store knows or knew */
};

/* Returns the job of a file whose name is a number and one of the ends; 0: another name, which is
 * not one of pollux. */
static int64_t job_of(const char *name, const char **end)
{
	size_t digits = strspn(name, "0123456789");

	*end = name + digits;
	return digits == 0 || digits > 18 ? 0 : strtoll(name, NULL, 10);
}

static bool is_of_another(const char *end)
{
	return !strncmp(end, ".of-", 4) || !strncmp(end, ".log.of-", 8);
}

static bool is_jobless(struct patient *p, int64_t id)
{
	bool has = true;
	struct err ignored;

	return p->store.db && store_has_job(&p->store, id, &has, &ignored) == 0 && !has;
}

static void sort_out(struct patient *p, const char *part, const char *name, struct piles *piles)
{
	const char *end;
	int64_t id = job_of(name, &end);

	if (id == 0)
		return;
	if (is_of_another(end))
		pile_add(&piles->others, &p->paths, part, name);
	else if (!strcmp(end, ".pruned"))
		pile_add(&piles->pruned, &p->paths, part, name);
	else if ((!*end || !strcmp(end, ".log") || !strcmp(end, ".store")) && is_jobless(p, id))
		pile_add(id > piles->last_job ? &piles->unknown : &piles->jobless, &p->paths,
			 part, name);
}

static void look_into(struct patient *p, const char *part, struct piles *piles)
{
	char *path = xasprintf("%s/%s", p->paths.dir, part);
	DIR *dir = opendir(path);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		sort_out(p, part, entry->d_name, piles);
	if (dir)
		closedir(dir);
	free(path);
}

static void check_jobs(struct patient *p)
{
	struct piles piles = {
		.others.mend = TEXT_INIT, .pruned.mend = TEXT_INIT,
		.unknown.mend = TEXT_INIT, .jobless.mend = TEXT_INIT,
	};
	struct err ignored;

	if (p->store.db)
		store_last_job(&p->store, &piles.last_job, &ignored);
	look_into(p, "logs", &piles);
	look_into(p, "checkpoints", &piles);
	tell_pile(p, &piles.others, NULL, "is of another store, or of a job that this one lost: "
		  "keep what you want, then remove it");
	tell_pile(p, &piles.pruned, PRUNE, "was to be removed by 'pollux prune'");
	tell_pile(p, &piles.unknown, NULL, "is of a job that this store does not know; a newer "
		  "copy of the store may have it");
	tell_pile(p, &piles.jobless, NULL, "is of a job that is not in the store, or not any "
		  "more: keep what you want, then remove it");
}

/* --- run/ --- */

static bool is_active(const struct patient *p, int64_t run_id)
{
	for (int i = 0; i < p->runs.count; i++)
		if (p->runs.items[i].id == run_id)
			return true;
	return false;
}

/* Looks for files of ended runs, which passes remove. */
static void check_runs(struct patient *p)
{
	char *path = xasprintf("%s/run", p->paths.dir);
	DIR *dir = p->store.db ? opendir(path) : NULL;
	const struct dirent *entry;
	int n = 0;

	while (dir && (entry = readdir(dir))) {
		int64_t id = isdigit((unsigned char)entry->d_name[0])
			? strtoll(entry->d_name, NULL, 10) : 0;
		char *lock = paths_run(&p->paths, id, "lock");

		n += id > 0 && !is_active(p, id) && lock_look(lock) == LOCK_IS_FREE;
		free(lock);
	}
	if (dir)
		closedir(dir);
	free(path);
	if (n)
		found(p, FINDING_LOOK, xstrdup("pollux schedule"),
		      "%d file%s of ended runs in '%s/run'", n, plural(n), p->paths.dir);
}

/* --- snapshots/ --- */

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

/* A prune of no job's log removes them, with what git keeps of them. */
static void check_snapshots(struct patient *p)
{
	struct strays strays = { p, 0, NULL };

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
}

static void check_repair(struct patient *p)
{
	if (store_repair_left_files(&p->paths))
		found(p, FINDING_LOOK, xstrdup("pollux doctor --repair"),
		      "'%s.repaired' was left by a repair that did not end", p->paths.store);
}

void check_leftovers(struct patient *p)
{
	check_jobs(p);
	check_runs(p);
	check_snapshots(p);
	check_repair(p);
}
