/* supervise.c - start, take over and leave a run's supervisor. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guardian.h"
#include "local.h"
#include "pollux/clock.h"
#include "pollux/file.h"
#include "pollux/lock.h"
#include "pollux/mem.h"
#include "pollux/proc.h"
#include "pollux/report_socket.h"
#include "pollux/store_jobs.h"
#include "pollux/supervise.h"
#include "run_group.h"
#include "supervisor_driver.h"
#include "supervisor_loop.h"
#include "supervisor_remote.h"

const struct supervisor_remote *supervisor_remote;

/* Fixes the directories now, wherever the supervisor is later. The pass at the supervisor's end
 * reads the slots from the store. */
void supervisor_set_environment(const struct paths *paths)
{
	unsetenv("POLLUX_SLOTS");
	unsetenv("POLLUX_SLICE");
	unsetenv("POLLUX_POLICY");
	unsetenv("POLLUX_SUSPEND_MEMORY");
	paths_to_environment(paths);
}

/* Runs in the grandchild: cuts every tie to the terminal, cron job or session it came from. */
static _Noreturn void become_supervisor(const struct paths *paths, int64_t run_id)
{
	int null = file_open_null(O_RDWR);
	int log = file_open(paths->supervisor_log, O_WRONLY | O_CREAT | O_APPEND, 0600);
	char id[24];

	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(log >= 0 ? log : null, STDERR_FILENO);
	close_range(STDERR_FILENO + 1, ~0U, 0);
	supervisor_set_environment(paths);
	if (chdir("/"))
		_exit(EX_OSERR);
	snprintf(id, sizeof(id), "%lld", (long long)run_id);
	execl("/proc/self/exe", "pollux", "supervise", id, (char *)NULL);
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
			setsid();
			become_supervisor(paths, run_id);
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
		.driver_until_boot_s = INFINITY, .driver = { .fd = -1, .until_boot_s = INFINITY },
		.limit_boot_s = INFINITY, .limit_left_s = INFINITY, .wait_status = -1,
		.run_lock = -1, .signal_fd = -1, .socket_fd = -1, .leader_fd = -1, .log_fd = -1,
		.leader_stat_fd = -1, .position_fd = -1, .next_tell_boot_s = INFINITY,
	};
	stop_order_begin(&s->stop, 0, NAN, 0);
	job_init(&s->job);
	run_init(&s->run);
	recorder_init(&s->recorder);
	oom_watch_init(&s->oom);
	log_watch_init(&s->log_watch);
	s->keeper.fd = -1;
}

static void supervisor_release(struct supervisor *s)
{
	int fds[] = { s->signal_fd, s->socket_fd, s->leader_fd, s->leader_stat_fd, s->log_fd,
		      s->position_fd, s->run_lock };

	supervisor_leave_driver(s);
	supervisor_leave_freezer(s);
	supervisor_forget_energy(s);
	if (s->device_locks)
		supervisor_leave_locks(s);
	free(s->moved_locks);
	free(s->launch_devices);
	free(s->bound_devices);
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	free(s->device_locks);
	recorder_release(&s->recorder);
	free(s->before);
	stop_order_release(&s->stop);
	log_watch_close(&s->log_watch);
	log_keeper_close(&s->keeper);
	job_release(&s->job);
	job_command_release(&s->command);
	strings_release(&s->containers);
	run_release(&s->run);
	local_handle_release(&s->handle);
	store_close(&s->store);
}

void supervisor_update_handle(struct supervisor *s)
{
	free(s->run.handle);
	s->run.handle = local_handle_text(&s->handle);
}

/* Until the command runs, the supervisor can miss nothing while it waits for the store, and a disk
 * may need seconds for what others write. */
static int load_run(struct supervisor *s, int64_t run_id, struct err *err)
{
	if (store_open(&s->store, s->paths, STORE_OBSERVE, err))
		return -1;
	store_wait_patiently(&s->store, true);
	if (store_run_get(&s->store, run_id, &s->run, err) ||
	    store_job_get(&s->store, s->run.job_id, &s->job, err) ||
	    store_job_command_get(&s->store, s->run.job_id, &s->command, err))
		return -1;
	local_handle_parse(s->run.handle, &s->handle);
	s->device_locks = xcalloc((size_t)supervisor_lock_count(s), sizeof(int));
	for (int i = 0; i < supervisor_lock_count(s); i++)
		s->device_locks[i] = -1;
	return 0;
}

bool supervisor_has_lock_file(const struct supervisor *s)
{
	char *path = paths_run(s->paths, s->run.id, "lock");
	struct stat mine, there;
	bool has = fstat(s->run_lock, &mine) == 0 && stat(path, &there) == 0 &&
		   mine.st_ino == there.st_ino && mine.st_dev == there.st_dev;

	free(path);
	return has;
}

void supervisor_keep_lock(struct supervisor *s)
{
	char *path;
	struct err ignored;
	int fd;

	if (supervisor_has_lock_file(s) || !store_is_there(&s->store))
		return;
	path = paths_run(s->paths, s->run.id, "lock");
	fd = lock_take(path, &ignored);
	free(path);
	if (fd < 0)
		return;
	supervisor_log(s, "its lock file was removed: made anew");
	close(s->run_lock);
	s->run_lock = fd;
	s->next_beat_boot_s = 0;
}

#define BEAT_S 10.0

void supervisor_beat(struct supervisor *s)
{
	double now = clock_boot_s();

	if (now < s->next_beat_boot_s)
		return;
	lock_holder_sign(s->run_lock);
	s->next_beat_boot_s = now + BEAT_S;
}

static void remove_lock(const struct supervisor *s)
{
	char *lock = paths_run(s->paths, s->run.id, "lock");

	unlink(lock);
	free(lock);
}

static int take_over(struct supervisor *s, struct err *err)
{
	switch (s->run.state) {
	case RUN_RUNNING:
	case RUN_STOPPING:
		return supervisor_adopt(s, err);
	case RUN_ENDED:
		/* this process made the lock file, after the run had ended */
		remove_lock(s);
		s->state = ST_FINISHED;
		return 0;
	case RUN_ASSIGNED:
		break;
	}
	return 0;
}

static int look_after(struct supervisor *s, int64_t run_id, struct err *err)
{
	if (load_run(s, run_id, err))
		return -1;
	s->signal_fd = block_signals(err);
	if (s->signal_fd < 0)
		return -1;
	if (prctl(PR_SET_CHILD_SUBREAPER, 1))
		return err_set(err, EX_OSERR, "cannot become a subreaper: %s", strerror(errno));
	if (take_over(s, err))
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

/* Where no control group can be made, a guardian keeps the run's processes together. Only a
 * supervisor that a pass started, which leads its session, gets one. */
static pid_t start_guardian(void)
{
	struct err ignored;
	char *base = getsid(0) == getpid() ? run_group_base(&ignored) : xstrdup("");
	pid_t guardian = base ? 0 : guardian_start();

	free(base);
	return guardian;
}

int supervise_in_foreground(const struct paths *paths, int64_t run_id, pid_t group,
			    struct err *err)
{
	char *lock = paths_run(paths, run_id, "lock");
	struct supervisor s;
	int rc = 0;

	supervisor_init(&s, paths);
	s.foreground = group;
	s.run_lock = lock_take(lock, err);
	free(lock);
	if (s.run_lock == -1)
		return -1;
	if (s.run_lock != LOCK_HELD) {
		/* a manager of machines that signals this process must reach the supervisor */
		s.guardian_pid = supervisor_remote ? 0 : start_guardian();
		supervisor_beat(&s);
		rc = look_after(&s, run_id, err);
	}
	guardian_dismiss(s.guardian_pid);
	supervisor_release(&s);
	return rc;
}

int supervise(const struct paths *paths, int64_t run_id, struct err *err)
{
	return supervise_in_foreground(paths, run_id, 0, err);
}
