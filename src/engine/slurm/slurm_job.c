/* slurm_job.c - what a supervisor in a job of Slurm makes there: a store of its own, which has the
 * rows of one run, lies on the node, and goes with the job; and the command that brings its program
 * to the nodes. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/store_journal.h"
#include "slurm.h"

/* --- the store --- */

static int link_to(const char *base, const char *dir, const char *part, struct err *err)
{
	char *there = xasprintf("%s/%s", base, part), *here = xasprintf("%s/%s", dir, part);
	int rc = symlink(there, here);

	if (rc)
		err_set(err, EX_CANTCREAT, "cannot make '%s': %s", here, strerror(errno));
	free(there);
	free(here);
	return rc;
}

/* Other people's pollux sees these devices by Slurm. */
static int write_config(const struct slurm_own_store *o, struct err *err)
{
	double limit = slurm_number(o->launch, "log_limit", 0);
	struct text t = TEXT_INIT;
	int rc;

	text_add(&t, "shared_dir = no\nengine = local\n");
	if (limit > 0)
		text_addf(&t, "log_limit = %.0fM\n", ceil(limit / 0x1p20));
	else
		text_add(&t, "log_limit = no\n");
	rc = slurm_write(o->own, "config", t.data, t.length, err);
	text_release(&t);
	return rc;
}

static int fill_store(const struct slurm_own_store *o, const struct paths *paths,
		      struct err *err)
{
	int64_t job_id = (int64_t)slurm_number(o->launch, "job", 0);
	char *checkpoints = xasprintf("%s/checkpoints/%lld", o->base, (long long)job_id);
	char *before = slurm_value(o->launch, "before");
	struct text rows = TEXT_INIT;
	struct store store;
	int rc;

	if (!slurm_read(o->run_dir, "rows", 0, &rows))
		rc = err_set(err, EX_NOINPUT, "cannot read '%s/rows'", o->run_dir);
	else
		rc = store_open_rows(&store, paths, rows.data, rows.length, err);
	if (rc == 0) {
		rc = (before && store_job_position_is_old(&store, job_id, err)) ||
		     store_command_place(&store, job_id, checkpoints, err) ? -1 : 0;
		store_close(&store);
	}
	text_release(&rows);
	free(before);
	free(checkpoints);
	return rc;
}

static int open_journal(const struct slurm_own_store *o, struct err *err)
{
	char *path = xasprintf("%s/journal", o->run_dir);
	int fd = file_open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0600);

	if (fd < 0)
		err_set(err, EX_CANTCREAT, "cannot open '%s': %s", path, strerror(errno));
	free(path);
	if (fd >= 0)
		store_journal_to(fd);
	return fd < 0 ? -1 : 0;
}

int slurm_own_store(const struct slurm_own_store *o, struct paths *paths, struct err *err)
{
	int rc = o->base ? 0 : err_set(err, EX_DATAERR, "'%s/launch' is not complete", o->run_dir);

	setenv("POLLUX_DIR", o->own, 1);
	for (size_t i = 0; i < 3; i++) {
		static const char *const parts[] = { "logs", "checkpoints", "code" };

		if (rc == 0)
			rc = link_to(o->base, o->own, parts[i], err);
	}
	if (rc == 0)
		rc = write_config(o, err) || paths_init(paths, err) ||
		     fill_store(o, paths, err) || open_journal(o, err) ? -1 : 0;
	return rc;
}

/* --- the command --- */

char *slurm_own_address(const char *launch)
{
	const char *name = getenv("SLURMD_NODENAME");
	char *key = xasprintf("address %s", name ? name : "");
	char *address = slurm_value(launch, key);

	free(key);
	return address ? address : xstrdup(name ? name : "127.0.0.1");
}

/* A program that srun starts is a step, which has all that the job has: an srun of the program's
 * own would wait for the end of that step. With the variable no step waits for another one. Where
 * no srun starts the program, its steps share out what the job has, as in any script of sbatch. */
static void let_steps_overlap(struct strings *env)
{
	for (size_t i = 0; i < env->count; i++)
		if (text_starts_with(env->items[i], "SLURM_OVERLAP="))
			return;
	strings_set_variable(env, "SLURM_OVERLAP", "1");
}

void slurm_add_environment(int nodes, struct strings *env)
{
	for (char **v = environ; *v; v++) {
		char name[80];
		size_t n = strcspn(*v, "=");

		if (!text_starts_with(*v, "SLURM") || n >= sizeof(name) || !(*v)[n])
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)n, *v);
		strings_set_variable(env, name, *v + n + 1);
	}
	if (nodes > 1)
		let_steps_overlap(env);
	device_slurm.environment(NULL, 0, env);
}

/* Returns the full name of srun, for the caller to free. */
static char *find_srun(void)
{
	char *path = xstrdup(getenv("PATH") ? getenv("PATH") : "/usr/bin"), *rest = path;

	for (const char *dir; (dir = strsep(&rest, ":"));) {
		char *name = xasprintf("%s/srun", *dir ? dir : ".");

		if (access(name, X_OK) == 0) {
			free(path);
			return name;
		}
		free(name);
	}
	free(path);
	return xstrdup("/usr/bin/srun");
}

static void add_srun(int nodes, struct strings *argv)
{
	const char *cpus = getenv("SLURM_CPUS_PER_TASK");
	char *srun = find_srun();

	strings_add(argv, srun);
	strings_addf(argv, "--nodes=%d", nodes);
	strings_addf(argv, "--ntasks=%d", nodes);
	strings_add(argv, "--ntasks-per-node=1");
	strings_add(argv, "--kill-on-bad-exit=0");
	strings_add(argv, "--wait=0");
	if (cpus)	/* srun does not take it from the job */
		strings_addf(argv, "--cpus-per-task=%s", cpus);
	strings_add(argv, "--input=none");
	strings_add(argv, "--unbuffered");
	free(srun);
}

void slurm_add_wrapper(const char *dir, int nodes, const char *program, const struct strings *argv,
		       struct strings *wrapped)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = '\0';
	if (nodes > 1)
		add_srun(nodes, wrapped);
	strings_add(wrapped, self);
	strings_add(wrapped, "supervise");
	strings_add(wrapped, dir);
	strings_add(wrapped, program);
	for (size_t i = 0; i < argv->count; i++)
		strings_add(wrapped, argv->items[i]);
}
