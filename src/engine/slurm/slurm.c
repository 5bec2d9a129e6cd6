/* slurm.c - the engine of Slurm: each run is a job of Slurm with a supervisor in it. What people
 * are told of that, and what is left when runs have ended. */
#include <ctype.h>
#include <dirent.h>

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

/* The last line that is not empty may be "srun: Job 12 step creation temporarily disabled, retrying
 * (Requested nodes are busy)": srun says so once, after a minute, and waits. */
static const char *stuck(const struct engine_context *at, const struct run *run)
{
	char *path = paths_log(at->paths, run->job_id), tail[2048];
	size_t n = run->state == RUN_RUNNING ? log_tail(path, 0, tail, sizeof(tail) - 1) : 0;
	const char *line, *srun;

	free(path);
	if (memchr(tail, '\0', n))
		return NULL;
	while (n > 0 && strchr(" \r\n", tail[n - 1]))
		n--;
	tail[n] = '\0';
	line = strrchr(tail, '\n');
	srun = strstr(line ? line + 1 : tail, "srun: ");
	return srun && strstr(srun, "step creation ") && strstr(srun, "disabled, retrying (")
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

/* The node reads what was written here, and writes what is read here. */
static void check_files(struct look *l)
{
	autofree char *mark = xasprintf("doctor.%d.%.0f", (int)getpid(), clock_wall_s() * 1e6);
	autofree char *back = xasprintf("%s.back", mark);
	autofree char *script = xasprintf("cat %s && echo seen > %s; exit 0", mark, back);
	scoped(text_release) struct text answer = TEXT_INIT, seen = TEXT_INIT;
	scoped(strings_release) struct strings argv = { 0 };
	struct err err;

	/* a shell command on any node, in the directory */
	slurm_add_words("srun --nodes=1 --ntasks=1 --quiet --time=1", &argv);
	strings_add(&argv, "--job-name=pollux-doctor");
	strings_addf(&argv, "--immediate=%d", START_S);
	strings_addf(&argv, "--chdir=%s", l->dir);
	slurm_add_words(l->config.slurm_args, &argv);
	slurm_add_words("/bin/sh -c", &argv);
	strings_add(&argv, script);
	if (slurm_make(l->dir, mark, mark, &err))
		strings_add(l->troubles, err.text);
	else if (slurm_command(&argv, LOOK_S, &answer, &err))
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
		autofree char *path = xasprintf("%s/%s", l->dir, i ? back : mark);

		unlink(path);
	}
}

static void examine(const struct engine_context *at, struct strings *troubles, struct text *well)
{
	static const char *const commands[] = { "sbatch", "srun", "squeue", "scontrol", "scancel" };
	struct look l = { .troubles = troubles, .well = well };
	struct err ignored;
	const char *store_id;
	bool all = true;

	config_load_leniently(&l.config, at->paths->config);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		struct strings argv = { 0 };
		scoped(text_release) struct text answer = TEXT_INIT;
		struct err err;

		strings_add(&argv, commands[i]);
		strings_add(&argv, "--version");
		if (slurm_command(&argv, ASK_S, &answer, &err)) {
			strings_add(troubles, err.text);
			all = false;
		} else if (i == 0) {
			text_addf(well, "%.*s", (int)strcspn(answer.data, "\n"), answer.data);
		}
	}
	if (!all || !controller_answers(&l))
		return;
	/* where the store's runs meet passes, or where that will be made */
	store_id = at->store ? slurm_store_id(at, &ignored) : NULL;
	l.dir = store_id ? slurm_base(at->paths, l.config.slurm_dir, store_id) : NULL;
	if (!l.dir || access(l.dir, F_OK)) {
		free(l.dir);
		l.dir = xstrdup(l.config.slurm_dir[0] ? l.config.slurm_dir : at->paths->dir);
	}
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

static void clean(const struct engine_context *at, const struct run_list *active)
{
	struct config config;
	struct err ignored;
	const char *store_id = slurm_store_id(at, &ignored);
	const struct dirent *entry;
	autofree char *base = NULL, *name = NULL;
	scoped(close_dir) DIR *dir = NULL;

	config_load_leniently(&config, at->paths->config);
	if (!config.slurm || !store_id)
		return;
	base = slurm_base(at->paths, config.slurm_dir, store_id);
	name = xasprintf("%s/run", base);
	dir = opendir(name);
	while (dir && (entry = readdir(dir))) {
		size_t digits = strspn(entry->d_name, "0123456789");
		autofree char *run = xasprintf("%s/%s", name, entry->d_name);
		bool over = digits > 0 && digits <= 15 && !entry->d_name[digits];

		for (int i = 0; over && i < active->count; i++)
			over = active->items[i].id != strtoll(entry->d_name, NULL, 10);
		if (over && is_quiet(run))
			remove_tree(run);
	}
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
