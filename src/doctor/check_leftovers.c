/* check_leftovers.c - files that belong to no job and no run of the store, or to a repair of the
 * store that did not end. */
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "pollux/code_snapshot.h"
#include "pollux/lock.h"
#include "pollux/mem.h"
#include "pollux/store_check.h"
#include "pollux/store_code.h"
#include "pollux/store_repair.h"

#define NAMED_MAX 50	/* files named in one command */

/* Files of one kind in the store's directory, and the command that removes them. */
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
		text_add(&pile->mend, " && rm -rf");
	}
	if (pile->n_named < NAMED_MAX) {
		pile->n_named++;
		text_add(&pile->mend, " ");
		text_add_shell_quoted(&pile->mend, path);
	}
	free(path);
}

static void tell_pile(struct patient *p, struct pile *pile, const char *what)
{
	if (pile->n > pile->n_named)
		text_add(&pile->mend, " && pollux doctor");
	if (pile->n == 1)
		found(p, FINDING_LOOK, text_detach(&pile->mend), "'%s' %s", pile->first, what);
	else if (pile->n > 1)
		found(p, FINDING_LOOK, text_detach(&pile->mend), "'%s' and %d more: each %s",
		      pile->first, pile->n - 1, what);
	text_release(&pile->mend);
	free(pile->first);
}

/* --- logs and checkpoints --- */

struct piles {
	struct pile others, pruned, jobless;
};

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && !strcmp(s + n - m, end);
}

/* Returns the job of a file named "12", "12.log" or "12.store"; 0: another name. */
static int64_t job_of(const char *name)
{
	size_t digits = strspn(name, "0123456789");

	if (digits == 0 || digits > 18 ||
	    (name[digits] && strcmp(name + digits, ".log") != 0 &&
	     strcmp(name + digits, ".store") != 0))
		return 0;
	return strtoll(name, NULL, 10);
}

static bool is_jobless(struct patient *p, const char *name)
{
	int64_t id = job_of(name);
	bool has = true;
	struct err ignored;

	return id > 0 && p->store.db && store_has_job(&p->store, id, &has, &ignored) == 0 && !has;
}

static void sort_out(struct patient *p, const char *part, const char *name, struct piles *piles)
{
	if (strstr(name, ".of-"))
		pile_add(&piles->others, &p->paths, part, name);
	else if (ends_with(name, ".pruned"))
		pile_add(&piles->pruned, &p->paths, part, name);
	else if (is_jobless(p, name))
		pile_add(&piles->jobless, &p->paths, part, name);
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
		found(p, FINDING_LOOK, xstrdup("pollux prune --logs --older-than 36500d"),
		      "no job needs the snapshot of code '%s'; files that runs made there stay",
		      strays.first);
	else if (strays.n > 1)
		found(p, FINDING_LOOK, xstrdup("pollux prune --logs --older-than 36500d"),
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
	struct piles piles = {
		.others.mend = TEXT_INIT, .pruned.mend = TEXT_INIT, .jobless.mend = TEXT_INIT,
	};

	look_into(p, "logs", &piles);
	look_into(p, "checkpoints", &piles);
	tell_pile(p, &piles.others, "is of another store, or of a job that this one lost");
	tell_pile(p, &piles.pruned, "was to be removed by 'pollux prune'");
	tell_pile(p, &piles.jobless, "is of a job that is not in the store");
	check_runs(p);
	check_snapshots(p);
	check_repair(p);
}
