/* slurm.c - the engine of Slurm: each run is a job of Slurm with a supervisor in it. What people
 * are told of that, and what is left when runs have ended. */
#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/config.h"
#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/store.h"
#include "../local/run_log.h"
#include "slurm.h"

/* --- what Slurm says of a run --- */

static bool says_nothing(const char *text)
{
	return !*text || !strcmp(text, "None") || !strcmp(text, "N/A");
}

static void describe(const struct engine_context *at, const struct run *run, struct text *out)
{
	int64_t number = slurm_handle_of(run).job;
	const struct slurm_job *job;

	if (!number)
		return;
	text_addf(out, "job %lld of Slurm", (long long)number);
	job = slurm_queued_job(at, run);
	if (job)
		text_addf(out, ": %s", job->state);
	if (job && !says_nothing(job->reason))
		text_addf(out, ", %s", job->reason);
	if (job && !strcmp(job->state, "PENDING") && !says_nothing(job->start))
		text_addf(out, "; expected to start at %s", job->start);
	if (!slurm_queue()->known)
		text_addf(out, "; %s", slurm_queue()->err.text);
	else if (!job)
		text_add(out, ", which squeue no longer lists");
}

/* The last line that is not empty is "srun: Job 12 step creation temporarily disabled, retrying
 * (Requested nodes are busy)": srun says so once, after a minute, and waits. text is changed. */
static bool ends_in_busy_srun(char *text)
{
	const char *line, *srun;
	size_t n = strlen(text);

	while (n > 0 && strchr(" \r\n", text[n - 1]))
		text[--n] = '\0';
	line = strrchr(text, '\n');
	srun = strstr(line ? line + 1 : text, "srun: ");
	return srun && strstr(srun, "step creation ") && strstr(srun, "disabled, retrying (");
}

static const char *stuck(const struct engine_context *at, const struct run *run)
{
	char *path = paths_log(at->paths, run->job_id), tail[2048];
	size_t n = run->state == RUN_RUNNING ? log_tail(path, 0, tail, sizeof(tail) - 1) : 0;

	tail[n] = '\0';
	free(path);
	return strlen(tail) == n && ends_in_busy_srun(tail)
		? "its srun starts nothing: Slurm says that the nodes are busy, as other steps "
		  "of its job have them" : NULL;
}

/* --- for 'pollux doctor': Slurm's commands answer, and a node sees the files --- */

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

/* Runs a shell command on any node, in the directory. */
static int run_on_node(const struct look *l, const char *script, struct text *answer,
		       struct err *err)
{
	struct strings argv = { 0 };

	slurm_add_words("srun --nodes=1 --ntasks=1 --quiet --time=1", &argv);
	strings_add(&argv, "--job-name=pollux-doctor");
	strings_addf(&argv, "--immediate=%d", START_S);
	strings_addf(&argv, "--chdir=%s", l->dir);
	slurm_add_words(l->config.slurm_args, &argv);
	slurm_add_words("/bin/sh -c", &argv);
	strings_add(&argv, script);
	return slurm_command(&argv, LOOK_S, answer, err);
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
	const char *store_id = at->store ? slurm_store_id(at, &ignored) : NULL;

	if (store_id) {
		char *base = slurm_base(at->paths, config->slurm_dir, store_id);

		if (access(base, F_OK) == 0)
			return base;
		free(base);
	}
	return xstrdup(config->slurm_dir[0] ? config->slurm_dir : at->paths->dir);
}

static void examine(const struct engine_context *at, struct strings *troubles, struct text *well)
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

/* --- the directories of runs that have ended --- */

/* For the lease of a run whose file launch cannot be read: a pass was killed before that was
 * written, or while the directory was being removed. */
#define UNKNOWN_LEASE_S 86400.0

/* Programs of a node that is cut off may still live until their lease is over. The time of the
 * directory is read before the probe is made there, which changes that time. */
static bool is_quiet(const char *dir)
{
	struct text launch = TEXT_INIT;
	double touched = slurm_file_time_s(dir, "lease"), made = slurm_file_time_s(dir, ".");
	double lease_s = NAN;

	if (slurm_read(dir, "launch", 0, &launch))
		lease_s = slurm_number(launch.data, "lease_s", NAN);
	text_release(&launch);
	if (isnan(touched))
		touched = slurm_file_time_s(dir, "launch");
	if (isnan(lease_s)) {
		lease_s = UNKNOWN_LEASE_S;
		touched = fmax(touched, made);
	}
	return slurm_touch(dir, "probe") - touched > lease_s + slurm_margin_s(lease_s);
}

static bool is_among(const struct run_list *runs, int64_t id)
{
	for (int i = 0; i < runs->count; i++)
		if (runs->items[i].id == id)
			return true;
	return false;
}

static void clean_in(const char *base, const struct run_list *active)
{
	char *name = xasprintf("%s/run", base);
	DIR *dir = opendir(name);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		size_t digits = strspn(entry->d_name, "0123456789");
		char *run;

		if (digits == 0 || digits > 15 || entry->d_name[digits] ||
		    is_among(active, strtoll(entry->d_name, NULL, 10)))
			continue;
		run = xasprintf("%s/%s", name, entry->d_name);
		if (is_quiet(run))
			remove_tree(run);
		free(run);
	}
	if (dir)
		closedir(dir);
	free(name);
}

static void clean(const struct engine_context *at, const struct run_list *active)
{
	struct config config;
	struct err ignored;
	const char *store_id = slurm_store_id(at, &ignored);
	char *base;

	config_load_leniently(&config, at->paths->config);
	if (!config.slurm || !store_id)
		return;
	base = slurm_base(at->paths, config.slurm_dir, store_id);
	clean_in(base, active);
	free(base);
}

/* --- the engine --- */

#define KILL_WAIT_S 60.0

static enum engine_containment containment(struct text *detail)
{
	text_add(detail, "");
	return CONTAINED_BY_SLURM;
}

const struct engine engine_slurm = {
	.name = "slurm",
	.kill_wait_s = KILL_WAIT_S,
	.outage = SLURM_SILENT,
	.list = slurm_list,
	.collect = slurm_collect,
	.poll = slurm_poll,
	.start = slurm_start,
	.wake = slurm_wake,
	.stop_unrecorded = slurm_stop_unrecorded,
	.end = slurm_end,
	.clean = clean,
	.containment = containment,
	.describe = describe,
	.stuck = stuck,
	.examine = examine,
	.other_user = slurm_other_user,
	.crowded_out = slurm_crowded_out,
};
