/* slurm_node.c - a run's supervisor in its job of Slurm, on the first node: the local supervisor
 * over a store of its own, whose journal the passes read. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../local/supervisor_parts.h"
#include "pollux/clock.h"
#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/store_jobs.h"
#include "pollux/store_journal.h"
#include "pollux/supervise.h"
#include "slurm.h"

/* A lease that could not be touched for so long ends the run. In the rest of the lease the program
 * saves, for its grace at most: at the end the wrappers kill. */
static double untouched_s(const struct supervisor *s, double lease_s)
{
	if (s->job.declared.preemption == PREEMPT_NEVER)
		return lease_s;
	return fmax(lease_s / 2, lease_s - s->job.declared.grace_s - slurm_margin_s(lease_s));
}

/* Where one node's program has failed, those of the others get this long to end by themselves. */
#define OTHERS_S 15.0

static struct {
	const char *dir;		/* the run's directory */
	char *base;			/* owned; the directory that the nodes see */
	char *launch;			/* owned; the content of the file */
	char *address;			/* owned; of this node, for the others */
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

static void touch_lease(struct supervisor *s)
{
	double now = clock_boot_s(), time_s = slurm_touch(node.dir, "lease");

	if (isfinite(time_s)) {
		node.touched_boot_s = now;
		node.lease_time_s = time_s;
	} else if (now - node.touched_boot_s > untouched_s(s, node.lease_s) &&
		   s->run.stop_reason == STOP_NONE) {
		supervisor_stop_for(s, STOP_ORPHAN);
	}
}

/* A reason that the store has already changes nothing. */
static void take_stop(struct supervisor *s)
{
	struct text t = TEXT_INIT;
	struct err err;
	enum stop_reason reason = STOP_NONE;

	if (slurm_read(node.dir, "stop", 0, &t)) {
		t.data[strcspn(t.data, "\n")] = '\0';
		reason = (enum stop_reason)stop_reason_parse(t.data);
	}
	text_release(&t);
	if (reason != STOP_NONE && reason != s->run.stop_reason &&
	    store_run_request_stop(&s->store, s->run.id, reason, clock_boot_s(), &err))
		supervisor_log(s, "%s", err.text);
}

/* The other store has written the same. */
static void take_wanted(struct supervisor *s)
{
	struct configuration c = s->run.configuration;
	struct text t = TEXT_INIT;
	struct err err;
	int version;

	if (s->state != ST_RUNNING || !slurm_read(node.dir, "wanted", 0, &t)) {
		text_release(&t);
		return;
	}
	version = (int)fmin(slurm_number(t.data, "version", 0), 1e6);
	c.local_batch_size = (int64_t)slurm_number(t.data, "local_batch_size", 0);
	c.accumulation_steps = (int)slurm_number(t.data, "accumulation_steps", 1);
	for (; node.wanted_version < version; node.wanted_version++)
		if (store_run_set_wanted(&s->store, s->run.id, &c,
					 slurm_number(t.data, "learning_rate_scale", 1), &err) < 0)
			break;
	text_release(&t);
}

/* --- the programs --- */

/* The file has the last order alone. Orders of a stop follow each other, each stronger than the one
 * before: the stop signal, SIGTERM, SIGKILL. A wrapper that misses one looked too late for it: the
 * time that the program had for it was over. */
static bool order(struct supervisor *s, int signal_number, const char *whom)
{
	char *text = xasprintf("%d %d %s\n", ++node.orders, signal_number, whom);
	struct err err;
	bool written = slurm_write(node.dir, "order", text, strlen(text), &err) == 0;

	if (!written)
		supervisor_log(s, "%s", err.text);
	free(text);
	return written;
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

/* The wrapper of a silent node ends its program; the programs of the other nodes would wait for
 * that program for ever. */
static void watch_silence(struct supervisor *s, double now)
{
	int k;

	if (now - node.silence_looked_boot_s < 1)
		return;
	node.silence_looked_boot_s = now;
	if (isnan(node.begun_time_s))
		node.begun_time_s = node.lease_time_s;
	k = slurm_silent_node(node.dir, node.nodes, node.lease_s, node.lease_time_s,
			      node.begun_time_s);
	if (k < 0)
		return;
	supervisor_log(s, "node %d of the run shows no life: the run is ended", k);
	supervisor_stop_for(s, STOP_ORPHAN);
}

/* Ends the programs of the other nodes when that of one node has failed: they may wait for it. */
static void watch_nodes(struct supervisor *s)
{
	double now = clock_boot_s();

	if (node.nodes < 2 || s->state != ST_RUNNING)
		return;
	if (s->run.stop_reason == STOP_NONE)
		watch_silence(s, now);
	if (isnan(node.failed_boot_s) &&
	    slurm_ends(node.dir, node.nodes).worst >= SLURM_ENDED_BADLY)
		node.failed_boot_s = now;
	if (now - node.failed_boot_s > 2 * OTHERS_S)
		order(s, SIGKILL, "all");
	else if (now - node.failed_boot_s > OTHERS_S)
		order(s, SIGTERM, "all");
}

static void look(struct supervisor *s)
{
	struct err err;

	touch_lease(s);
	take_stop(s);
	take_wanted(s);
	watch_nodes(s);
	if (store_journal_flush(false, &err))
		supervisor_log(s, "%s", err.text);
}

/* The end of srun does not tell that no program is left on the other nodes. The lease is not
 * touched meanwhile, so that a node that does not answer ends its program by itself. */
static void wait_for_nodes(struct supervisor *s)
{
	const struct timespec pause = { .tv_nsec = 200000000 };
	double until_s = clock_boot_s() + node.lease_s + 1;

	for (int round = 0; slurm_ends(node.dir, node.nodes).n < node.nodes &&
			    clock_boot_s() < until_s; round++) {
		if (round % 5 == 4)
			order(s, SIGKILL, "all");
		nanosleep(&pause, NULL);
	}
}

/* A program that a node ended because it was cut off has not failed. */
static void conclude(struct supervisor *s)
{
	struct slurm_ends ends;
	struct err ignored;

	if (!slurm_has(node.dir, "over"))
		slurm_make(node.dir, "over", "", &ignored);
	if (node.nodes > 1 && isfinite(slurm_file_time_s(node.dir, "node.0")))
		wait_for_nodes(s);
	ends = slurm_ends(node.dir, node.nodes);
	if (s->run.stop_reason == STOP_NONE && ends.worst == SLURM_ENDED_FENCED)
		s->run.stop_reason = STOP_ORPHAN;
	slurm_end_at(node.dir, ends.last_s, &s->run);
}

static void wrap(struct supervisor *s, const struct strings *argv, struct strings *wrapped,
		 struct strings *env)
{
	struct err err;

	/* that of the job's own is made by now, as on one machine */
	if (text_starts_with(s->command.checkpoint_dir, node.base) &&
	    paths_make_directory(s->command.checkpoint_dir, &err))
		supervisor_log(s, "%s", err.text);
	slurm_add_environment(node.nodes, env);
	slurm_add_wrapper(node.dir, node.nodes, s->command.program, argv, wrapped);
}

static const char *master(void)
{
	return node.address;
}

/* The wrapper of the first node, which is no child of this process where srun started it. */
static pid_t ancestor(void)
{
	struct text t = TEXT_INIT;

	if (node.wrapper == 0 && slurm_read(node.dir, "node.0", 0, &t))
		node.wrapper = (pid_t)strtol(t.data, NULL, 10);
	text_release(&t);
	return node.wrapper;
}

static const struct supervisor_remote remote = {
	.look = look, .conclude = conclude, .wrap = wrap, .master = master, .ancestor = ancestor,
	.signal = signal_programs,
};

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

/* The exit status of this job of Slurm, for its accounting: that of a program that failed; else
 * 0. */
static int status_for_slurm(const struct paths *paths)
{
	int64_t id = (int64_t)slurm_number(node.launch, "run", 0);
	struct store store;
	struct run run;
	struct err ignored;
	int status = 0;

	if (store_open(&store, paths, STORE_READ, &ignored))
		return 0;
	if (store_run_get(&store, id, &run, &ignored) == 0 && run.outcome == OUTCOME_FAILED)
		status = run.term_signal > 0 ? 128 + run.term_signal : run.exit_code;
	run_release(&run);
	store_close(&store);
	return status > 0 ? status : 0;
}

static int run_supervisor(const char *dir, struct err *err)
{
	struct paths paths = { 0 };
	char *boot_id = slurm_value(node.launch, "boot_id");
	int rc;

	/* The times in the rows are by the clock of the machine of the passes. */
	clock_take_boot(boot_id ? boot_id : "", slurm_number(node.launch, "boot_s", 0),
			slurm_number(node.launch, "wall_s", 0));
	node.touched_boot_s = clock_boot_s();
	free(boot_id);
	rc = slurm_own_store(&(struct slurm_own_store){ node.dir, node.launch, node.base, dir },
			     &paths, err);
	supervisor_remote = &remote;
	if (rc == 0)
		rc = supervise(&paths, (int64_t)slurm_number(node.launch, "run", 0), 0, err);
	finish_journal();
	rc = rc < 0 ? -1 : status_for_slurm(&paths);
	paths_release(&paths);
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

/* Waits until no program of the job's run before this one can live, or until a pass takes this run
 * back. */
static void wait_for_run_before(void)
{
	const struct timespec pause = { .tv_nsec = 300000000 };
	char *before = slurm_value(node.launch, "before");

	while (before && !slurm_has(node.dir, "stop") && !slurm_programs_gone(before)) {
		slurm_touch(node.dir, "lease");
		nanosleep(&pause, NULL);
	}
	free(before);
}

int slurm_supervise(const char *dir, struct err *err)
{
	const char *tmp = getenv("TMPDIR");
	char own[PATH_MAX];
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
	node.address = slurm_own_address(node.launch);
	if (claim(&ours, err))
		return -1;
	if (!ours) {
		dprintf(STDERR_FILENO, "another job of Slurm has this run\n");
		return 0;
	}
	slurm_touch(dir, "lease");
	wait_for_run_before();
	snprintf(own, sizeof(own), "%s/pollux-XXXXXX", tmp && *tmp == '/' ? tmp : "/tmp");
	if (!mkdtemp(own))
		return err_set(err, EX_CANTCREAT, "cannot make a directory in '%s': %s",
			       tmp ? tmp : "/tmp", strerror(errno));
	rc = run_supervisor(own, err);
	remove_tree(own);
	free(node.launch);
	free(node.base);
	free(node.address);
	return rc;
}
