/* slurm_node.c - a run's supervisor in its job of Slurm, on the first node: the local supervisor
 * over a store of its own, whose journal the passes read. */
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>

#include "../local/supervisor_parts.h"
#include "pollux/store_journal.h"
#include "pollux/supervise.h"
#include "slurm.h"

/* Where one node's program has failed, those of the others get this long to end by themselves. */
#define OTHERS_S 15.0

static struct {
	const char *dir;		/* the run's directory */
	char *base;			/* owned; the directory that the nodes see */
	char *launch;			/* owned; the content of the file */
	pid_t wrapper;			/* of this node; 0: not known yet */
	int nodes;			/* on which the program is started */
	double lease_s;
	double touched_boot_s;		/* when the lease was last touched */
	double lease_time_s;		/* of the file, then */
	double failed_boot_s;		/* when a node's program was found to have failed; NaN */
	double begun_time_s;		/* of the lease, when the programs were started; NaN */
	double silence_looked_boot_s;	/* when the files node.K were last looked at */
	int orders;			/* given so far */
	int kills;			/* orders to kill */
	int wanted_version;		/* taken from the file */
} node = { .failed_boot_s = NAN, .begun_time_s = NAN };

/* A lease that cannot be touched ends the run while the program can still save, for its grace at
 * most: at the end of the lease the wrappers kill. A run that may not be preempted goes on until
 * then. */
static void touch_lease(struct supervisor *s)
{
	double now = clock_boot_s(), time_s = slurm_touch(node.dir, "lease");
	double untouched_s = s->job.declared.preemption == PREEMPT_NEVER
		? node.lease_s
		: fmax(node.lease_s / 2, node.lease_s - s->job.declared.grace_s -
					 slurm_margin_s(node.lease_s));

	if (isfinite(time_s)) {
		node.touched_boot_s = now;
		node.lease_time_s = time_s;
	} else if (now - node.touched_boot_s > untouched_s && s->run.stop_reason == STOP_NONE) {
		supervisor_stop_for(s, STOP_ORPHAN);
	}
}

/* The other store has written the same. */
static void take_wanted(struct supervisor *s)
{
	struct configuration c = s->run.configuration;
	scoped(text_release) struct text t = TEXT_INIT;
	struct err err;
	int version;

	if (s->state != ST_RUNNING || !slurm_read(node.dir, "wanted", 0, &t))
		return;
	version = (int)fmin(slurm_number(t.data, "version", 0), 1e6);
	c.local_batch_size = (int64_t)slurm_number(t.data, "local_batch_size", 0);
	c.accumulation_steps = (int)slurm_number(t.data, "accumulation_steps", 1);
	for (; node.wanted_version < version; node.wanted_version++)
		if (store_run_set_wanted(&s->store, s->run.id, &c,
					 slurm_number(t.data, "learning_rate_scale", 1), &err) < 0)
			break;
}

/* --- the programs --- */

/* The file has the last order alone. Orders of a stop follow each other, each stronger than the one
 * before: the stop signal, SIGTERM, SIGKILL. A wrapper that misses one looked too late for it: the
 * time that the program had for it was over. */
static bool order(struct supervisor *s, int signal_number, const char *whom)
{
	autofree char *text = xasprintf("%d %d %s\n", ++node.orders, signal_number, whom);

	return supervisor_note(s, slurm_write(node.dir, "order", text, strlen(text), &s->err)) == 0;
}

/* After some orders to kill without effect, the processes of this node are killed from here. Where
 * no order can be written, those of this node are signalled: a wrapper passes the signal on. */
#define KILLS_ORDERED 5

static bool signal_programs(struct supervisor *s, int signal_number, bool all)
{
	if (s->leader.gone)
		return false;
	node.kills += all && signal_number == SIGKILL;
	return order(s, signal_number, all ? "all" : "leader") && node.kills <= KILLS_ORDERED;
}

/* Ends the programs of the other nodes when that of one node has failed, or that node is silent and
 * its wrapper ends the program: they may wait for it for ever. */
static void watch_nodes(struct supervisor *s)
{
	double now = clock_boot_s();
	int silent = -1;

	if (node.nodes < 2 || s->state != ST_RUNNING)
		return;
	if (s->run.stop_reason == STOP_NONE && now - node.silence_looked_boot_s >= 1) {
		node.silence_looked_boot_s = now;
		if (isnan(node.begun_time_s))
			node.begun_time_s = node.lease_time_s;
		silent = slurm_silent_node(node.dir, node.nodes, node.lease_s, node.lease_time_s,
					   node.begun_time_s);
	}
	if (silent >= 0) {
		supervisor_log(s, "node %d of the run shows no life: the run is ended", silent);
		supervisor_stop_for(s, STOP_ORPHAN);
	}
	if (isnan(node.failed_boot_s) &&
	    slurm_ends(node.dir, node.nodes).worst >= SLURM_ENDED_BADLY)
		node.failed_boot_s = now;
	if (now - node.failed_boot_s > OTHERS_S)
		order(s, now - node.failed_boot_s > 2 * OTHERS_S ? SIGKILL : SIGTERM, "all");
}

static void look(struct supervisor *s)
{
	scoped(text_release) struct text t = TEXT_INIT;
	enum stop_reason reason = STOP_NONE;

	touch_lease(s);
	if (slurm_read(node.dir, "stop", 0, &t)) {
		t.data[strcspn(t.data, "\n")] = '\0';
		reason = (enum stop_reason)stop_reason_parse(t.data);
	}
	/* a reason that the store has already changes nothing */
	if (reason != STOP_NONE && reason != s->run.stop_reason)
		supervisor_note(s, store_run_request_stop(&s->store, s->run.id, reason,
							  clock_boot_s(), &s->err));
	take_wanted(s);
	watch_nodes(s);
	supervisor_note(s, store_journal_flush(false, &s->err));
}

/* A program that a node ended because it was cut off has not failed. */
static void conclude(struct supervisor *s)
{
	const struct timespec pause = { .tv_nsec = 200000000 };
	double until_s = clock_boot_s() + node.lease_s + 1;
	struct slurm_ends ends;
	struct err ignored;

	if (!slurm_has(node.dir, "over"))
		slurm_make(node.dir, "over", "", &ignored);
	/* The end of srun does not tell that no program is left on the other nodes. The lease is
	 * not touched meanwhile, so that a node that does not answer ends its program by itself. */
	for (int round = 0; node.nodes > 1 && slurm_has(node.dir, "node.0") &&
			    slurm_ends(node.dir, node.nodes).n < node.nodes &&
			    clock_boot_s() < until_s; round++) {
		if (round % 5 == 4)
			order(s, SIGKILL, "all");
		nanosleep(&pause, NULL);
	}
	ends = slurm_ends(node.dir, node.nodes);
	if (s->run.stop_reason == STOP_NONE && ends.worst == SLURM_ENDED_FENCED)
		s->run.stop_reason = STOP_ORPHAN;
	slurm_end_at(node.dir, ends.last_s, &s->run);
}

static void wrap(struct supervisor *s, const struct strings *argv, struct strings *wrapped,
		 struct strings *env)
{
	/* that of the job's own is made by now, as on one machine */
	if (text_starts_with(s->command.checkpoint_dir, node.base))
		supervisor_note(s, paths_make_directory(s->command.checkpoint_dir, &s->err));
	slurm_add_environment(node.nodes, env);
	slurm_add_wrapper(node.dir, node.nodes, s->command.program, argv, wrapped);
}

/* The wrapper of the first node, which is no child of this process where srun started it. */
static pid_t ancestor(void)
{
	scoped(text_release) struct text t = TEXT_INIT;

	if (node.wrapper == 0 && slurm_read(node.dir, "node.0", 0, &t))
		node.wrapper = (pid_t)strtol(t.data, NULL, 10);
	return node.wrapper;
}

static struct supervisor_remote remote = {
	.look = look, .conclude = conclude, .wrap = wrap, .ancestor = ancestor,
	.signal = signal_programs,
};

/* --- the store --- */

static int fill_store(const struct paths *paths, struct err *err)
{
	int64_t job_id = (int64_t)slurm_number(node.launch, "job", 0);
	autofree char *checkpoints = xasprintf("%s/checkpoints/%lld", node.base, (long long)job_id);
	autofree char *before = slurm_value(node.launch, "before");
	scoped(text_release) struct text rows = TEXT_INIT;
	struct store store;
	int rc;

	if (!slurm_read(node.dir, "rows", 0, &rows))
		rc = err_set(err, EX_NOINPUT, "cannot read '%s/rows'", node.dir);
	else
		rc = store_open_rows(&store, paths, rows.data, rows.length, err);
	if (rc == 0) {
		rc = (before && store_job_position_is_old(&store, job_id, err)) ||
		     store_command_place(&store, job_id, checkpoints, err) ? -1 : 0;
		store_close(&store);
	}
	return rc;
}

/* Makes a store with the rows of one run in a new directory on this node, which goes with the job,
 * and its journal in the run's directory; names the store's files. */
static int make_store(const char *own, struct paths *paths, struct err *err)
{
	static const char *const parts[] = { "logs", "checkpoints", "code" };
	autofree char *journal = xasprintf("%s/journal", node.dir);
	double limit = slurm_number(node.launch, "log_limit", 0);
	scoped(text_release) struct text config = TEXT_INIT;
	int rc = 0;

	if (!node.base)
		rc = err_set(err, EX_DATAERR, "'%s/launch' is not complete", node.dir);
	setenv("POLLUX_DIR", own, 1);
	for (size_t i = 0; rc == 0 && i < 3; i++) {
		autofree char *there = xasprintf("%s/%s", node.base, parts[i]);
		autofree char *here = xasprintf("%s/%s", own, parts[i]);

		if (symlink(there, here))
			rc = err_set(err, EX_CANTCREAT, "cannot make '%s': %s", here,
				     strerror(errno));
	}
	/* other people's pollux sees these devices by Slurm */
	text_add(&config, "shared_dir = no\nengine = local\nlog_limit = ");
	if (limit > 0)
		text_addf(&config, "%.0fM\n", ceil(limit / 0x1p20));
	else
		text_add(&config, "no\n");
	if (rc == 0)
		rc = slurm_write(own, "config", config.data, config.length, err) ||
		     paths_init(paths, err) || fill_store(paths, err) ? -1 : 0;
	if (rc == 0) {
		int fd = file_open(journal, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0600);

		if (fd >= 0)
			store_journal_to(fd);
		else
			rc = err_set(err, EX_CANTCREAT, "cannot open '%s': %s", journal,
				     strerror(errno));
	}
	return rc;
}

/* --- begin and end --- */

/* The last record of the journal tells how the run ended, and must arrive. While the journal cannot
 * be written, the supervisor keeps the nodes and tries again, for this long; for less if the run
 * was to stop. A pass ends a run without that record as lost. */
#define FINISH_S 600.0
#define FINISH_STOPPED_S 60.0

static void finish_journal(void)
{
	const struct timespec pause = { .tv_sec = 1 };
	double begin_s = clock_boot_s(), tried_s = 0;
	struct err err;

	while (store_journal_flush(true, &err)) {
		if (tried_s == 0)
			dprintf(STDERR_FILENO, "%s\n", err.text);
		tried_s = clock_boot_s() - begin_s;
		if (tried_s > (slurm_has(node.dir, "stop") ? FINISH_STOPPED_S : FINISH_S)) {
			dprintf(STDERR_FILENO, "how the run ended is not told: %s\n", err.text);
			return;
		}
		slurm_touch(node.dir, "lease");
		nanosleep(&pause, NULL);
	}
}

static int run_supervisor(const char *dir, struct err *err)
{
	scoped(paths_release) struct paths paths = { 0 };
	char *boot_id = slurm_value(node.launch, "boot_id");
	int64_t id = (int64_t)slurm_number(node.launch, "run", 0);
	struct err ignored;
	struct store store;
	struct run run;
	int rc;

	/* The times in the rows are by the clock of the machine of the passes. */
	clock_take_boot(boot_id ? boot_id : "", slurm_number(node.launch, "boot_s", 0),
			slurm_number(node.launch, "wall_s", 0));
	node.touched_boot_s = clock_boot_s();
	free(boot_id);
	rc = make_store(dir, &paths, err);
	supervisor_remote = &remote;
	if (rc == 0)
		rc = supervise(&paths, id, 0, err) < 0 ? -1 : 0;
	finish_journal();
	/* The exit status of this job of Slurm, for its accounting: that of a program that failed;
	 * else 0. */
	if (rc == 0 && store_open(&store, &paths, STORE_READ, &ignored) == 0) {
		if (store_run_get(&store, id, &run, &ignored) == 0 &&
		    run.outcome == OUTCOME_FAILED)
			rc = run.term_signal > 0 ? 128 + run.term_signal
			   : run.exit_code > 0 ? run.exit_code : 0;
		run_release(&run);
		store_close(&store);
	}
	return rc;
}

/* True if this job of Slurm is the one to carry out the run. */
static int claim(bool *ours, struct err *err)
{
	const char *job = getenv("SLURM_JOB_ID");
	char host[HOST_NAME_MAX + 1] = "", *text;
	int rc;

	gethostname(host, sizeof(host) - 1);
	text = xasprintf("job=%s\nhost=%s\npid=%d\n", job ? job : "", host, (int)getpid());
	rc = slurm_make(node.dir, "claim", text, err);
	*ours = rc == 0;
	free(text);
	return rc && errno == EEXIST ? 0 : rc;
}

int slurm_supervise(const char *dir, struct err *err)
{
	const struct timespec pause = { .tv_nsec = 300000000 };
	const char *tmp = getenv("TMPDIR"), *host;
	char own[PATH_MAX], *before, *address, *key;
	struct text launch = TEXT_INIT;
	bool ours;
	int rc;

	node.dir = dir;
	/* without the process of Slurm that started the job, Slurm gives the devices to others */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (!slurm_read(dir, "launch", 0, &launch))
		return err_set(err, EX_NOINPUT, "cannot read '%s/launch'", dir);
	node.launch = text_detach(&launch);
	node.nodes = (int)slurm_number(node.launch, "nodes", 1);
	node.lease_s = slurm_number(node.launch, "lease_s", 60);
	node.base = slurm_value(node.launch, "base");
	/* Slurm's address of this node, which is the run's first: names may not resolve */
	host = getenv("SLURMD_NODENAME");
	key = xasprintf("address %s", host ? host : "");
	address = slurm_value(node.launch, key);
	free(key);
	if (!address)
		address = xstrdup(host ? host : "127.0.0.1");
	remote.master = address;
	if (claim(&ours, err))
		return -1;
	if (!ours) {
		dprintf(STDERR_FILENO, "another job of Slurm has this run\n");
		return 0;
	}
	slurm_touch(dir, "lease");
	/* until no program of the job's run before this one can live, or a pass takes this run
	 * back */
	before = slurm_value(node.launch, "before");
	while (before && !slurm_has(dir, "stop") && !slurm_programs_gone(before)) {
		slurm_touch(dir, "lease");
		nanosleep(&pause, NULL);
	}
	free(before);
	snprintf(own, sizeof(own), "%s/pollux-XXXXXX", tmp && *tmp == '/' ? tmp : "/tmp");
	if (!mkdtemp(own))
		return err_set(err, EX_CANTCREAT, "cannot make a directory in '%s': %s",
			       tmp ? tmp : "/tmp", strerror(errno));
	rc = run_supervisor(own, err);
	remove_tree(own);
	free(node.launch);
	free(node.base);
	free(address);
	return rc;
}
