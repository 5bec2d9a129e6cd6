/* pass.c - a pass: read, decide, apply.
 *
 * pass_read takes no write lock: it looks at the machine, reads the store in one read
 * transaction and fits models, while supervisors go on writing what they measure. So somebody
 * may write (submit a job, cancel one, end a run) after the snapshot was read. No such change
 * is lost: the pass takes the write lock, and only then asks the store whether another
 * connection has committed since (snapshot_is_current). If so, it reads jobs and runs again,
 * under the lock, and decides anew on that; the fits are kept. If a workload came that has to be
 * fitted first, as with the first job of a plan, the pass lets go of the lock and begins again,
 * once; then it fits all models again. Whatever comes later waits for the commit, and finds the
 * runs that it has to stop. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "actions.h"
#include "pollux/advice.h"
#include "pollux/clock.h"
#include "pollux/file.h"
#include "pollux/lock.h"
#include "pollux/pass.h"
#include "pollux/pass_files.h"
#include "pollux/proc.h"
#include "pollux/store_groups.h"
#include "stages.h"

struct pass {
	const struct config *config;
	verdict_wording *words;
	bool apply;			/* else the pass only tells what it would do */
	bool must_fit;			/* the pass must begin again, to fit a model */
	bool again;			/* the pass has begun again */
	struct store store;
	struct engine_context at;
	struct snapshot snapshot;
	struct decision *decision;
	struct actions *actions;
	struct pass_result *result;
};

static void forget_decision(struct pass *p)
{
	actions_free(p->actions);
	decision_free(p->decision);
	p->actions = NULL;
	p->decision = NULL;
}

static void decide(struct pass *p)
{
	forget_decision(p);
	p->decision = pass_decide(&p->snapshot);
	p->actions = actions_of(&p->snapshot, p->decision, p->words);
}

/* Takes the write lock, under which snapshot and actions are up to date. Without actions, and
 * without the lock, the pass has to begin again. */
static int begin_transaction(struct pass *p, struct err *err)
{
	bool current;
	int rc = -1;

	if (store_begin(&p->store, err))
		return -1;
	if (snapshot_is_current(&p->snapshot, &p->store, &current, err) == 0) {
		if (current)
			return 0;
		forget_decision(p);
		rc = pass_read_again(&p->at, &p->snapshot, err);
		/* A workload came with a job, or was measured for the first time: a fit takes too
		 * long under the lock. */
		p->must_fit = rc == 0 && p->snapshot.workloads.needs_fit && !p->again;
		if (rc == 0 && !p->must_fit) {
			decide(p);
			return 0;
		}
	}
	store_rollback(&p->store);
	return rc;
}

static int read_decide_apply(struct pass *p, bool may_write, struct err *err)
{
	struct err *first = may_write ? err : &(struct err){ 0 };
	int rc = pass_read(&p->at, p->config, &p->snapshot, first);

	if (rc == 0) {
		decide(p);
		if (p->apply && (!may_write || begin_transaction(p, first))) {
			rc = -1;
			/* runs that nobody looks after get a supervisor all the same */
			if (p->actions)
				actions_look_after_runs(p->actions, &p->at, &(struct err){ 0 });
		} else if (p->apply && p->actions) {
			rc = actions_apply(p->actions, &p->at, first);
		}
		if (p->apply && rc == 0 && p->decision)
			tell_others(&p->at, &p->snapshot, p->decision);
		if (rc == 0 && p->actions) {
			actions_print(p->actions, &p->result->actions);
			p->result->n_waiting = p->actions->n_waiting;
			p->result->n_running = p->actions->n_running;
			p->result->next_s = p->actions->next_s;
		}
	}
	if (rc == 0 && p->snapshot.look_failed) {
		*err = p->snapshot.failure;
		rc = -1;
	}
	forget_decision(p);
	snapshot_release(&p->snapshot);
	return rc;
}

static int run_with_store(struct pass *p, struct err *err)
{
	bool work;
	int rc;

	if (store_has_work(&p->store, &work, err))
		return -1;
	if (!work) {
		if (p->apply) {
			engine_clean(&p->at, &(struct run_list){ 0 });
			people_leave(p->at.paths);
		}
		return 0;
	}
	rc = recover(&p->at, p->apply, &p->result->actions, err);
	if (rc == 0 && p->apply)
		rc = store_split_groups(&p->store, err);
	if (read_decide_apply(p, rc == 0, err))
		return -1;
	p->again = p->snapshot.jobs_came || p->must_fit;
	if (p->again && read_decide_apply(p, rc == 0, err))
		return -1;
	return rc;
}

static int pass(const struct paths *paths, const struct config *config, verdict_wording *words,
		enum pass_mode mode, struct pass_result *result, struct err *err)
{
	struct pass p = {
		.config = config, .words = words, .apply = mode == PASS_ACT, .result = result,
	};
	int rc = store_open(&p.store, paths, p.apply ? STORE_WRITE : STORE_READ, err);

	p.at = (struct engine_context){ .paths = paths, .store = &p.store };
	result->n_waiting = result->n_running = 0;
	result->next_s = (double)NAN;
	/* Nothing was ever submitted: there is nothing to do. */
	if (rc && err->exit_status == EX_NOINPUT)
		return 0;
	if (rc == 0)
		rc = run_with_store(&p, err);
	store_close(&p.store);
	return rc;
}

/* --- a pass that lets no other one begin --- */

/* Less than the minute between passes of cron: the next of them finds it. */
#define LONG_S 55.0
#define STOPPED_S 10.0	/* the same for a pass that was stopped by a signal */
#define SECOND_LOOK_MS 300

/* A holder that has not signed has just taken the lock, unless it is stopped. */
static bool look(const struct paths *paths, struct lock_holder *h)
{
	if (lock_holder_find(paths->schedule_lock, h))
		return clock_boot_s() - h->since_boot_s >= (h->is_stopped ? STOPPED_S : LONG_S);
	return lock_holder_search(paths->schedule_lock, h) && h->is_stopped;
}

/* Looks twice: only the same holder that did nothing in between is in the way, for the sentence
 * about this holder names a command that kills. */
bool pass_find_hung(const struct paths *paths, struct lock_holder *holder)
{
	struct lock_holder first;
	int64_t ticks;

	if (!look(paths, &first))
		return false;
	ticks = proc_cpu_ticks((pid_t)first.pid);
	poll(NULL, 0, SECOND_LOOK_MS);
	return look(paths, holder) && holder->pid == first.pid &&
	       (isnan(holder->since_boot_s) ? isnan(first.since_boot_s)
					    : holder->since_boot_s - first.since_boot_s < 1e-6) &&
	       holder->is_stopped == first.is_stopped &&
	       proc_cpu_ticks((pid_t)holder->pid) == ticks;
}

void pass_describe_hung(const struct lock_holder *holder, struct text *t)
{
	long long pid = (long long)holder->pid;
	double age_s = clock_boot_s() - holder->since_boot_s;	/* NaN: not known */

	text_addf(t, "the pass of process %lld has been at work", pid);
	if (age_s < LONG_S)
		text_addf(t, " for %.0f s", age_s);
	else if (age_s < 3600)
		text_addf(t, " for %.0f min", age_s / 60);
	else if (!isnan(age_s))
		text_addf(t, " for %.1f h", age_s / 3600);
	text_add(t, " and lets no other one begin: it ");
	if (holder->is_stopped) {
		text_add(t, "is stopped; ");
		advice_add_continue(t, (pid_t)pid);
		text_add(t, " continues it, '");
	} else {
		text_add(t, "may hang; '");
	}
	advice_add_kill(t, "KILL", (pid_t)pid);
	text_add(t, "' ends it without harm");
}

/* --- turns --- */

/* A process stops after this many passes in a row, even if more were requested. The request
 * stays on disk for the next process. */
#define MOST_TURNS 100

/* The request for another pass is a file, made before the lock is tried. The process that has
 * the lock removes the file before it reads, and looks for a new one after it has let go of the
 * lock. So every change that came before a request is seen by a pass that follows at once,
 * unless no file can be made. */
static int take_turn(const struct paths *paths, const struct config *config,
		     struct pass_result *result, struct err *err)
{
	int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, rc = 0;
	int mark = file_open(paths->schedule_again, flags, 0600), lock;
	struct text moved = TEXT_INIT;

	if (mark >= 0)
		close(mark);
	lock = lock_take(paths->schedule_lock, err);
	if (lock < 0)
		return lock;
	if (unlink(paths->schedule_again) && errno != ENOENT) {
		rc = err_set(err, EX_CANTCREAT, "cannot remove '%s': %s", paths->schedule_again,
			     strerror(errno));
	} else if (config->slurm) {
		rc = pass_host_take(paths, lock, &moved, err);
	} else {
		/* The time of the lock's file is that of the last pass. Where runs are on no
		 * cluster any more, the store is no longer that of one machine. */
		unlink(paths->pass_host);
		futimens(lock, NULL);
	}
	if (moved.length)
		strings_add(&result->actions, moved.data);
	text_release(&moved);
	if (rc) {
		lock_drop(lock);
		return -1;
	}
	lock_holder_sign(lock);
	return lock;
}

/* A pass may hang in a disk or a directory of users. So that later passes can do their work, a pass
 * is ended after this time, which no pass needs. A process that the kernel cannot end is named. */
#define LONGEST_S 600

static void give_up(int signal_number)
{
	static const char text[] = "pollux: the pass took more than 10 minutes, and was given up\n";
	ssize_t n = write(STDERR_FILENO, text, sizeof(text) - 1);

	(void)n;
	(void)signal_number;
	_exit(EX_TEMPFAIL);
}

static int take_turns(const struct paths *paths, const struct config *config,
		      verdict_wording *words, struct pass_result *result, struct err *err)
{
	int lock = take_turn(paths, config, result, err), rc = 0, turns = 0;
	struct lock_holder holder;

	result->busy = lock == LOCK_HELD;
	if (result->busy && pass_find_hung(paths, &holder)) {
		struct text t = TEXT_INIT;

		pass_describe_hung(&holder, &t);
		err_set(err, EX_TEMPFAIL, "%s", t.data);
		text_release(&t);
		return -1;
	}
	while (rc == 0 && lock >= 0) {
		signal(SIGALRM, give_up);
		alarm(LONGEST_S);
		rc = pass(paths, config, words, PASS_ACT, result, err);
		alarm(0);
		lock_holder_clear(lock);
		lock_drop(lock);
		lock = LOCK_HELD;
		if (rc == 0 && ++turns < MOST_TURNS && access(paths->schedule_again, F_OK) == 0)
			lock = take_turn(paths, config, result, err);
	}
	return rc || lock != LOCK_HELD ? -1 : 0;
}

/* Says that a cluster's manager does not answer, and that it answers again, once each. A pass that
 * another command starts has its output in /dev/null. */
static void tell_outage(const struct paths *paths, bool failed, struct pass_result *result,
			struct err *err)
{
	enum outage_reader reader = OUTAGE_MAILBOX;
	struct stat here, null;
	double lasted_s;

	if (isatty(STDERR_FILENO))
		reader = OUTAGE_PERSON;
	else if (fstat(STDERR_FILENO, &here) || stat("/dev/null", &null) ||
		 (S_ISCHR(here.st_mode) && here.st_rdev == null.st_rdev))
		reader = OUTAGE_NOBODY;
	if (failed)
		outage_begins(paths, engine_for_new_runs()->outage, reader, err);
	else if (!result->busy && outage_ends(paths, clock_wall_s(), &lasted_s))
		strings_addf(&result->actions, "the cluster's manager answers again, after %.0f s",
			     lasted_s);
}

int pass_run(const struct paths *paths, const struct config *config, verdict_wording *words,
	     enum pass_mode mode, struct pass_result *result, struct err *err)
{
	bool there;

	*result = (struct pass_result){ .next_s = (double)NAN };
	if (!policy_find_live(config->policy, err))
		return -1;
	engine_choose(config);	/* --watch reads the configuration before each pass */
	if (paths_have_store(paths, &there, err))
		return -1;
	if (!there)
		return 0;
	if (mode == PASS_ACT) {
		int rc = take_turns(paths, config, words, result, err);

		tell_outage(paths, rc != 0, result, err);
		return rc;
	}
	return pass(paths, config, words, mode, result, err);
}

void pass_result_release(struct pass_result *result)
{
	strings_release(&result->actions);
}

/* --- passes that come by themselves --- */

#define LATE_S 180.0

void regular_pass_note(const struct paths *paths)
{
	int fd = file_open(paths->regular_pass, O_WRONLY | O_CREAT | O_NOFOLLOW, 0600);

	if (fd < 0)
		return;
	futimens(fd, NULL);
	close(fd);
}

bool regular_passes_come(const struct paths *paths, double now_wall_s)
{
	struct stat st;

	return stat(paths->regular_pass, &st) == 0 &&
	       now_wall_s - (double)st.st_mtim.tv_sec < LATE_S;
}
