/* slurm_examine.c - for 'pollux doctor': Slurm's commands answer, and a node sees the files that
 * runs and passes meet by. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/config.h"
#include "pollux/mem.h"
#include "pollux/store.h"
#include "slurm.h"
#include "slurm_command.h"

/* A node has so long to start the job that looks at the files, which then takes a moment. */
#define START_S 10
#define LOOK_S 30.0
#define ASK_S 3.0

struct look {
	struct config config;
	char *dir;		/* owned; the directory that is looked at */
	struct strings *troubles;
	struct text *well;
};

static bool has_command(struct look *l, const char *name)
{
	struct strings argv = { 0 };
	struct text answer = TEXT_INIT;
	struct err err;
	int rc;

	strings_add(&argv, name);
	strings_add(&argv, "--version");
	rc = slurm_command(&argv, ASK_S, &answer, &err);
	answer.data[strcspn(answer.data, "\n")] = '\0';
	if (rc)
		strings_add(l->troubles, err.text);
	else if (!strcmp(name, "sbatch"))
		text_addf(l->well, "%s", answer.data);
	strings_release(&argv);
	text_release(&answer);
	return rc == 0;
}

static bool controller_answers(struct look *l)
{
	const struct slurm_nodes *nodes;
	struct err err;
	bool known;
	int n = 0, gpus = 0;

	slurm_forget();
	nodes = slurm_nodes();
	err = nodes->err;
	known = nodes->known && slurm_place_read(&err) == 0;
	for (int i = 0; known && i < nodes->n; i++) {
		bool takes = slurm_place_takes(&nodes->items[i]);

		n += takes;
		gpus += takes ? nodes->items[i].gpus : 0;
	}
	if (!known)
		strings_add(l->troubles, err.text);
	else if (n == 0)
		strings_add(l->troubles, "Slurm has no node with GPUs on which jobs can start");
	else
		text_addf(l->well, "; %d node%s with %d GPUs", n, n == 1 ? "" : "s", gpus);
	return known && n > 0;
}

/* --- the files --- */

static void add_words(const char *words, struct strings *argv)
{
	char *copy = xstrdup(words), *rest = copy;

	for (const char *word; (word = strsep(&rest, " \t"));)
		if (*word)
			strings_add(argv, word);
	free(copy);
}

/* Runs a shell command on any node, in the directory. */
static int run_on_node(const struct look *l, const char *script, struct text *answer,
		       struct err *err)
{
	struct strings argv = { 0 };
	int rc;

	add_words("srun --nodes=1 --ntasks=1 --quiet --job-name=pollux-doctor --time=1", &argv);
	strings_addf(&argv, "--immediate=%d", START_S);
	strings_addf(&argv, "--chdir=%s", l->dir);
	add_words(l->config.slurm_args, &argv);
	add_words("/bin/sh -c", &argv);
	strings_add(&argv, script);
	rc = slurm_command(&argv, LOOK_S, answer, err);
	strings_release(&argv);
	return rc;
}

/* The node reads what was written here, and writes what is read here. */
static void check_files(struct look *l)
{
	char *mark = xasprintf("doctor.%d.%.0f", (int)getpid(), clock_wall_s() * 1e6);
	char *back = xasprintf("%s.back", mark);
	char *script = xasprintf("cat %s && echo seen > %s; exit 0", mark, back);
	struct text answer = TEXT_INIT, seen = TEXT_INIT;
	struct err err;

	if (slurm_make(l->dir, mark, mark, &err))
		strings_add(l->troubles, err.text);
	else if (run_on_node(l, script, &answer, &err))
		strings_addf(l->troubles, "a job that looks at '%s' from a node failed or found no "
			     "node within %d s: %s", l->dir, START_S, err.text);
	else if (!text_starts_with(answer.data, mark))
		strings_addf(l->troubles, "a node sees other files in '%s' than this machine: set "
			     "slurm_dir to a directory that all see", l->dir);
	else if (!slurm_read(l->dir, back, 0, &seen) || !text_starts_with(seen.data, "seen"))
		strings_addf(l->troubles, "what a node writes into '%s' is not seen here", l->dir);
	else
		text_addf(l->well, "; a node sees the files of '%s'", l->dir);
	for (int i = 0; i < 2; i++) {
		char *path = xasprintf("%s/%s", l->dir, i ? back : mark);

		unlink(path);
		free(path);
	}
	free(mark);
	free(back);
	free(script);
	text_release(&answer);
	text_release(&seen);
}

/* The directory of this store where its runs meet passes, or where it will be made. */
static char *directory(const struct engine_context *at, const struct config *config)
{
	struct err ignored;
	char *store_id = NULL;

	if (at->store && store_identity(at->store, &store_id, &ignored) == 0) {
		char *base = slurm_base(at->paths, config->slurm_dir, store_id);

		free(store_id);
		if (access(base, F_OK) == 0)
			return base;
		free(base);
	}
	return xstrdup(config->slurm_dir[0] ? config->slurm_dir : at->paths->dir);
}

void slurm_examine(const struct engine_context *at, struct strings *troubles, struct text *well)
{
	static const char *const commands[] = { "sbatch", "srun", "squeue", "scontrol", "scancel" };
	struct look l = { .troubles = troubles, .well = well };
	bool all = true;

	config_load_leniently(&l.config, at->paths->config);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		all &= has_command(&l, commands[i]);
	if (!all || !controller_answers(&l))
		return;
	l.dir = directory(at, &l.config);
	if (access(l.dir, F_OK) == 0)
		check_files(&l);
	free(l.dir);
}
