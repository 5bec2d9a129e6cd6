/* slurm_srun.c - see slurm_srun.h. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pollux/mem.h"
#include "slurm.h"
#include "slurm_srun.h"

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
