/* supervise.c - start, take over and leave a run's supervisor. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/file.h"
#include "pollux/lock.h"
#include "pollux/mem.h"
#include "pollux/proc.h"
#include "pollux/report_message.h"
#include "pollux/store_jobs.h"
#include "pollux/supervise.h"
#include "local.h"
#include "run_group.h"
#include "supervisor_parts.h"

const struct supervisor_remote *supervisor_remote;

/* Executes "pollux supervise RUN [GROUP]". Fixes the directories now, wherever the supervisor is
 * later. The pass at the supervisor's end reads the slots from the store. */
static _Noreturn void execute(const struct paths *paths, int64_t run_id, const char *group)
{
	char id[24];

	unsetenv("POLLUX_SLOTS");
	unsetenv("POLLUX_SLICE");
	unsetenv("POLLUX_POLICY");
	unsetenv("POLLUX_SUSPEND_MEMORY");
	paths_to_environment(paths);
	snprintf(id, sizeof(id), "%lld", (long long)run_id);
	if (chdir("/") == 0)
		execl("/proc/self/exe", "pollux", "supervise", id, group, (char *)NULL);
	_exit(EX_OSERR);
}

int supervisor_spawn(const struct paths *paths, int64_t run_id, struct err *err)
{
	pid_t pid = fork();
	int status = 0;

	if (pid < 0)
		return err_set(err, EX_OSERR, "cannot fork: %s", strerror(errno));
	if (pid == 0) {
		/* the supervisor is nobody's child: nobody has to reap it */
		pid = fork();
		if (pid == 0) {
			/* cuts every tie to the terminal, cron job or session it came from */
			int null = file_open_null(O_RDWR);
			int log = file_open(paths->supervisor_log, O_WRONLY | O_CREAT | O_APPEND,
					    0600);

			setsid();
			dup2(null, STDIN_FILENO);
			dup2(null, STDOUT_FILENO);
			dup2(log >= 0 ? log : null, STDERR_FILENO);
			close_range(STDERR_FILENO + 1, ~0U, 0);
			execute(paths, run_id, NULL);
		}
		_exit(pid < 0 ? EX_OSERR : 0);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status == 0 ? 0 : err_set(err, EX_OSERR, "cannot start a supervisor");
}

/* Asks the supervisor to look into the store. The supervisor looks every two seconds anyway, so a
 * lost message costs at most that time. */
void supervisor_wake(const struct run *run)
{
	static const char message[] = "WAKE=1\n";
	struct local_handle handle;
	struct err ignored;

	local_handle_parse(run->handle, &handle);
	if (handle.socket_path[0])
		report_socket_send(handle.socket_path, message, sizeof(message) - 1, 0, NULL,
				   &ignored);
	local_handle_release(&handle);
}

/* --- a run that has the terminal of its 'pollux run': supervise.h --- */

/* The command's: the supervisor's own standard descriptors are those of any supervisor. */
const int foreground_stdio[3] = { 3, 4, 5 };
#define TOLD_FD 6	/* to 'pollux run' */
#define TELL_MS 2000	/* a 'pollux run' that is stopped says nothing */
#define BEYOND_FD 10	/* no descriptor from here on is one of the above */

/* Runs in the child: moves the three standard descriptors and the pipe to their numbers. */
static int move_descriptors(const struct paths *paths, int told)
{
	int null = fcntl(file_open_null(O_RDWR), F_DUPFD, BEYOND_FD);
	int log = file_open(paths->supervisor_log, O_WRONLY | O_CREAT | O_APPEND, 0600);
	int from[4];

	log = log < 0 ? null : fcntl(log, F_DUPFD, BEYOND_FD);
	for (int i = 0; i < 4; i++) {
		from[i] = fcntl(i < 3 ? i : told, F_DUPFD, BEYOND_FD);
		if (from[i] < 0)
			from[i] = null;
	}
	for (int i = 0; i < 4; i++)
		if (dup2(from[i], i < 3 ? foreground_stdio[i] : TOLD_FD) < 0)
			return -1;
	if (dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
	    dup2(log, STDERR_FILENO) < 0)
		return -1;
	return close_range(TOLD_FD + 1, ~0U, 0);
}

int foreground_start(const struct paths *paths, int64_t run_id, struct foreground *f,
		     struct err *err)
{
	pid_t parent = getpid();
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		return err_set(err, EX_OSERR, "cannot make a pipe: %s", strerror(errno));
	f->supervisor = fork();
	if (f->supervisor == 0) {
		char group[24];

		snprintf(group, sizeof(group), "%lld", (long long)getpgrp());
		/* SIGTERM, when 'pollux run' dies, stops the run */
		if (setpgid(0, 0) || move_descriptors(paths, fds[1]) ||
		    !proc_dies_with(parent, SIGTERM))
			_exit(EX_OSERR);
		execute(paths, run_id, group);
	}
	close(fds[1]);
	f->fd = fds[0];
	if (f->supervisor > 0)
		return 0;
	close(fds[0]);
	return err_set(err, EX_OSERR, "cannot fork: %s", strerror(errno));
}

void foreground_tell_limit(const struct supervisor *s)
{
	double now_s = clock_boot_s(), limit_boot_s = now_s + supervisor_limit_left_s(s, now_s);
	struct pollfd told = { .fd = TOLD_FD };

	if (write(TOLD_FD, &limit_boot_s, sizeof(limit_boot_s)) == sizeof(limit_boot_s))
		poll(&told, 1, TELL_MS);	/* until the reader closes its end */
}

/* --- the run of a supervisor that died --- */

/* A run that was at work is stopped; its job goes on from its last checkpoint. A suspended run
 * whose processes are all still stopped loses nothing: it stays suspended under the new supervisor,
 * and comes back later as it would have. */

/* True if the run is suspended and nothing of it has gone on or ended meanwhile. */
static bool may_stay_suspended(const struct supervisor *s)
{
	const struct run *run = &s->run;
	struct pid_list list;
	bool may;

	if (run->state != RUN_RUNNING || run->suspension < SUSPENSION_DONE ||
	    isnan(run->suspended_boot_s) || s->leader.fd < 0 || s->job.profile ||
	    (run->freeze_state != FREEZE_NONE && run->freeze_state != FREEZE_FROZEN))
		return false;
	may = supervisor_find_processes(s, &list) == 0 && list.count > 0;
	for (int i = 0; may && i < list.count; i++)
		may = proc_is_stopped(list.items[i]);
	may = may && left_locks_release(s->paths, &list);
	pid_list_release(&list);
	return may;
}

static void stay_suspended(struct supervisor *s, const struct kept_position *k)
{
	struct err err;

	if (supervisor_open_socket(s, &err) || supervisor_open_log(s, &err) ||
	    recorder_go_on(&s->recorder, &s->store, &s->run, &err) ||
	    recorder_read_rungs(&s->recorder, &s->store, s->job.id, &err))
		supervisor_log(s, "%s", err.text);
	if (k)
		kept_position_restore(k, &s->recorder);
	supervisor_read_kept_reports(s, clock_boot_s());
	supervisor_watch_rest_of_log(s, k);
	recorder_watch_values(&s->recorder, s->job.declared.stop_nan, &s->command.metric_regexes);
	supervisor_rest_log(s);
	supervisor_stay_suspended(s);
	supervisor_stay_frozen(s);
	supervisor_keep_limit(s);
	supervisor_begin_usage(s);
	supervisor_tell_event(s, "adopted", "its supervisor was killed; it stays suspended under "
			      "another");
	s->state = ST_SUSPENDED;
}

static int stop_orphan(struct supervisor *s, const struct kept_position *k, struct err *err)
{
	double used_s = s->job.progress.run_time_s + run_clock_s(&s->run, clock_boot_s()) -
			s->run.launch_boot_s;
	bool adopted, was_at_work = s->run.state == RUN_RUNNING &&
				    s->run.suspension == SUSPENSION_NONE;
	struct err why;

	/* the time limit may have ended while the supervisor hung */
	if (s->run.stop_reason == STOP_NONE && used_s >= s->job.declared.time_limit_s &&
	    store_run_request_stop(&s->store, s->run.id, STOP_TIME_LIMIT, clock_boot_s(), &why))
		supervisor_log(s, "%s", why.text);
	if (store_run_adopt(&s->store, s->run.id, s->run.handle, clock_boot_s(), &adopted, err))
		return -1;
	if (!adopted) {
		s->state = ST_FINISHED;
		return 0;
	}
	/* Only positions count, because nobody has measured times meanwhile. */
	s->recorder.positions_only = true;
	if (k)
		kept_position_restore(k, &s->recorder);
	/* the run has to be stopped all the same */
	if (supervisor_open_socket(s, &why) || supervisor_open_log(s, &why))
		supervisor_log(s, "%s", why.text);
	supervisor_read_kept_reports(s, clock_boot_s());
	if (k)
		supervisor_watch_rest_of_log(s, k);
	supervisor_log(s, "its supervisor is gone: stopping what is left of it");
	supervisor_take_over_stop(s);
	if (store_run_stop_reason(&s->store, s->run.id, &s->run.stop_reason, &s->run.state, err))
		return -1;
	/* The end of a run that a person or a pass had asked to stop names that wish. The loss of
	 * the supervisor is an event of its own then. */
	if (s->run.stop_reason != STOP_ORPHAN)
		supervisor_add_event(s, "adopted", "its supervisor was killed; another one stops "
						   "what is left of it");
	supervisor_hold_devices(s);
	supervisor_drop_suspension(s);
	supervisor_mend_freeze(s);
	s->state = ST_RUNNING;
	if (was_at_work)
		supervisor_hear_report(s);
	if (s->leader.fd < 0)
		supervisor_lose_leader(s);
	supervisor_handle(s, s->leader.gone && supervisor_count_processes(s) == 0 ? EV_LEADER_EXIT
										  : EV_STOP);
	return 0;
}

static int adopt(struct supervisor *s, struct err *err)
{
	struct kept_position k;
	bool stays = false, is_kept;

	/* The supervisor that the handle names may live. Its lock could be taken because somebody
	 * removed the file: it makes the file anew at its next look (keep_lock()). */
	if (s->handle.supervisor_pid != getpid() &&
	    local_is_supervisor(&s->run, s->handle.supervisor_pid)) {
		s->state = ST_FINISHED;
		return 0;
	}
	s->handle.supervisor_pid = getpid();
	supervisor_update_handle(s);
	s->adopted = true;
	supervisor_watch_leader(s);
	is_kept = supervisor_take_position(s, &k);
	if (may_stay_suspended(s) &&
	    store_run_keep_suspended(&s->store, s->run.id, s->run.handle, &stays, err))
		return -1;
	if (!stays)
		return stop_orphan(s, is_kept ? &k : NULL, err);
	stay_suspended(s, is_kept ? &k : NULL);
	return 0;
}

/* --- one run, from its devices to its end --- */

static int block_signals(struct err *err)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGCHLD, SIG_DFL);	/* an inherited "ignore" would lose exit statuses */
	sigprocmask(SIG_SETMASK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd >= 0 ? fd : err_set(err, EX_OSERR, "cannot make a signalfd: %s", strerror(errno));
}

static void supervisor_init(struct supervisor *s, const struct paths *paths)
{
	*s = (struct supervisor){
		.paths = paths, .state = ST_WAITING, .deadline_boot_s = INFINITY,
		.freeze = { .freezer = FREEZER_NONE, .until_boot_s = INFINITY },
		.driver = { .fd = -1, .until_boot_s = INFINITY, .clear_until_boot_s = INFINITY },
		.wishes = { .limit_boot_s = INFINITY, .limit_left_s = INFINITY },
		.leader = { .fd = -1, .stat_fd = -1, .wait_status = -1, .ended_boot_s = NAN },
		.reports = { .socket_fd = -1, .position_fd = -1 },
		.output = { .log_fd = -1, .keeper.fd = -1 },
		.suspension.all_stopped_boot_s = NAN, .memory.look_boot_s = INFINITY,
		.stop.next_boot_s = INFINITY, .lock.fd = -1, .signal_fd = -1,
	};
	stop_order_begin(&s->stop.order, 0, NAN, 0);
	job_init(&s->job);
	run_init(&s->run);
	recorder_init(&s->recorder);
	oom_watch_init(&s->usage.oom);
	log_watch_init(&s->output.watch);
}

static void supervisor_release(struct supervisor *s)
{
	int fds[] = { s->signal_fd, s->reports.socket_fd, s->leader.fd, s->leader.stat_fd,
		      s->output.log_fd, s->reports.position_fd, s->lock.fd };

	supervisor_leave_driver(s);
	supervisor_leave_freezer(s);
	for (int i = 0; i < driver_children_left()->count; i++)
		kill(driver_children_left()->items[i], SIGKILL);
	supervisor_forget_energy(s);
	supervisor_leave_locks(s);
	free(s->devices.moved);
	free(s->devices.launch);
	free(s->suspension.bound);
	pid_list_release(&s->suspension.stopped_before);
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	free(s->driver.before);
	stop_order_release(&s->stop.order);
	log_watch_close(&s->output.watch);
	log_keeper_close(&s->output.keeper);
	free(s->output.log_path);
	job_release(&s->job);
	job_command_release(&s->command);
	strings_release(&s->stop.containers);
	run_release(&s->run);
	local_handle_release(&s->handle);
	store_close(&s->store);
}

static int look_after(struct supervisor *s, int64_t run_id, struct err *err)
{
	if (store_open(&s->store, s->paths, STORE_OBSERVE, err))
		return -1;
	/* Until the command runs, the supervisor can miss nothing while it waits for the store, and
	 * a disk may need seconds for what others write. */
	store_wait_patiently(&s->store, true);
	if (store_run_get(&s->store, run_id, &s->run, err) ||
	    store_job_get(&s->store, s->run.job_id, &s->job, err) ||
	    store_job_command_get(&s->store, s->run.job_id, &s->command, err))
		return -1;
	local_handle_parse(s->run.handle, &s->handle);
	s->output.log_path = paths_log(s->paths, s->job.id);
	supervisor_begin_holds(s);
	s->signal_fd = block_signals(err);
	if (s->signal_fd < 0)
		return -1;
	if (prctl(PR_SET_CHILD_SUBREAPER, 1))
		return err_set(err, EX_OSERR, "cannot become a subreaper: %s", strerror(errno));
	if (s->run.state == RUN_ENDED) {
		/* this process made the lock file, after the run had ended */
		supervisor_unlink(s, "lock");
		return 0;
	}
	if (s->run.state != RUN_ASSIGNED && adopt(s, err))
		return -1;
	if (s->state == ST_FINISHED)
		return 0;
	store_wait_patiently(&s->store, s->state == ST_WAITING);
	/* Only the run's 'pollux run' could begin it, and that process is gone. */
	if (s->job.interactive && !s->foreground && s->run.state == RUN_ASSIGNED)
		supervisor_stop_for(s, STOP_CANCEL);
	supervisor_loop(s);
	return !s->superseded && supervisor_conclude(s) ? 1 : 0;
}

int supervise(const struct paths *paths, int64_t run_id, pid_t group, struct err *err)
{
	char *lock = paths_run(paths, run_id, "lock"), *base;
	struct supervisor s;
	struct err ignored;
	int rc = 0;

	supervisor_init(&s, paths);
	s.foreground = group;
	s.lock.fd = lock_take(lock, err);
	free(lock);
	if (s.lock.fd == -1)
		return -1;
	if (s.lock.fd != LOCK_HELD) {
		/* Where no control group can be made, a guardian keeps the run's processes
		 * together. Only a supervisor that a pass started, which leads its session, gets
		 * one; a manager of machines that signals this process must reach the
		 * supervisor. */
		if (!supervisor_remote && getsid(0) == getpid()) {
			base = run_group_base(&ignored);
			s.guardian_pid = base ? 0 : guardian_start();
			free(base);
		}
		supervisor_beat(&s);
		rc = look_after(&s, run_id, err);
	}
	guardian_dismiss(s.guardian_pid);
	supervisor_release(&s);
	return rc;
}
