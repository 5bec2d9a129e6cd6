/* test_proc.c - what /proc tells of processes, also of one whose first thread has ended. */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/proc.h"
#include "tap.h"

#define TRIES 1000	/* of 10 ms each, for the kernel to show what was asked for */

static void *work(void *arg)
{
	pause();
	return arg;
}

static pid_t start(void)
{
	pid_t pid = fork();
	pthread_t thread;

	if (pid != 0)
		return pid;
	if (pthread_create(&thread, NULL, work, NULL))
		_exit(1);
	pthread_exit(NULL);
}

static bool has_file_state(pid_t pid, char wanted)
{
	char path[48], line[256] = "";
	scoped(close_file) FILE *file = NULL;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)pid, (int)pid);
	file = fopen(path, "re");
	if (!file || !fgets(line, sizeof(line), file))
		line[0] = '\0';
	return strstr(line, ") ") && strstr(line, ") ")[2] == wanted;
}

static bool comes_to(pid_t pid, bool (*is)(pid_t pid))
{
	for (int i = 0; i < TRIES; i++) {
		if (is(pid))
			return true;
		poll(NULL, 0, 10);
	}
	return false;
}

static bool first_thread_is_gone(pid_t pid)
{
	return has_file_state(pid, 'Z');
}

static bool is_dead(pid_t pid)
{
	return !proc_lives(pid);
}

static int n_found(void)
{
	struct proc_marks marks = { .ancestor = getpid() };
	scoped(pid_list_release) struct pid_list list = { 0 };

	proc_find(&marks, &list);
	return list.count;
}

#define SHARED_BYTES (64 << 20)

/* Memory from before a fork is one process's, however many others have the same pages. */
static void test_shared_memory(void)
{
	struct proc_marks children = { .ancestor = getpid() };
	autofree char *memory = malloc(SHARED_BYTES);
	pid_t pids[3];
	int64_t bytes;

	if (!memory)
		return;
	memset(memory, 1, SHARED_BYTES);
	for (int i = 0; i < 3; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			for (;;)
				pause();
	}
	bytes = proc_used_bytes(&children);
	ok(bytes > SHARED_BYTES / 2 && bytes < 2 * (int64_t)SHARED_BYTES,
	   "memory that three processes share counts once");
	for (int i = 0; i < 3; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
}

static bool sleeps(pid_t pid)
{
	return proc_state(pid) == 'S';
}

static void wait_for_child(void)
{
	if (fork() == 0)
		pause();
	waitpid(-1, NULL, 0);
}

/* As dash and zsh wait. */
static void wait_for_signal(void)
{
	sigset_t none;

	sigemptyset(&none);
	sigsuspend(&none);
}

static void wait_for_time(void)
{
	sleep(1000);
}

/* As tini and programs with a thread for their signals. */
static void wait_for_term(void)
{
	sigset_t term;
	int number;

	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, NULL);
	sigwait(&term, &number);
}

static bool blocks_term(pid_t pid)
{
	return sleeps(pid) && proc_heed(pid, SIGTERM) == PROC_BLOCKS;
}

static pid_t start_to(void (*wait)(void))
{
	pid_t pid = fork();

	if (pid == 0) {
		setpgid(0, 0);
		wait();
		_exit(0);
	}
	setpgid(pid, pid);
	return pid;
}

static void test_waits(void)
{
	static const struct {
		void (*wait)(void);
		const char *name;
		bool is_for_child;
	} waits[] = {
		{ wait_for_child, "a process in waitpid() waits for a child", true },
		{ wait_for_signal, "a process in sigsuspend() waits for a child", true },
		{ wait_for_time, "a process in sleep() does not wait for a child", false },
	};

	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		pid_t pid = start_to(waits[i].wait);

		ok(comes_to(pid, waits[i].is_for_child ? proc_waits_for_child : sleeps) &&
		   proc_waits_for_child(pid) == waits[i].is_for_child, waits[i].name);
		kill(-pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
}

static void test_sigwait(void)
{
	pid_t pid = start_to(wait_for_term);

	ok(comes_to(pid, blocks_term), "a signal that a process is waiting for counts as blocked");
	kill(-pid, SIGKILL);
	waitpid(pid, NULL, 0);
	pid = start_to(wait_for_time);
	ok(comes_to(pid, sleeps) && proc_heed(pid, SIGTERM) == PROC_HEEDS_NOT,
	   "a signal that a process would die of does not count as blocked");
	kill(-pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static bool reads_what_is_printed(const struct proc_streams *reader,
				  const struct proc_streams *writer)
{
	for (int i = 0; i < PROC_READS; i++)
		if (writer->prints[0] != 0 && reader->reads[i] == writer->prints[0])
			return true;
	return false;
}

/* node gives its children sockets, not pipes. */
static void test_sockets(void)
{
	struct proc_streams reader, writer;
	int ends[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		abort();
	pid = fork();
	if (pid == 0) {
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		pause();
	}
	close(ends[1]);
	proc_streams(getpid(), &reader);
	for (int i = 0; i < TRIES; i++) {
		proc_streams(pid, &writer);
		if (reads_what_is_printed(&reader, &writer))
			break;
		poll(NULL, 0, 10);
	}
	ok(reads_what_is_printed(&reader, &writer), "the reader of a socket pair is found");
	ok(!reads_what_is_printed(&writer, &writer), "the writer of a socket pair is no reader");
	close(ends[0]);
	proc_streams(getpid(), &reader);
	ok(!reads_what_is_printed(&reader, &writer),
	   "a process that closed its end of a socket pair is no reader");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

#define ID "4f2a1b22c3d40123456789abcdef0123456789abcdef0123456789abcdef0123"
#define OUTER "00001b22c3d40123456789abcdef0123456789abcdef0123456789abcdef0123"

static void test_containers(void)
{
	static const char *const in[] = {
		"0::/system.slice/docker-" ID ".scope\n",
		"12:memory:/docker/" ID "\n",
		"1:name=systemd:/docker/" ID "\n",
		"0::/../docker-" ID ".scope/init\n",
		"0::/machine.slice/libpod-" ID ".scope/container\n",
		"0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope\n",
		"4:devices:/libpod_parent/libpod-" ID "\n",
		"0::/kubepods.slice/kubepods-pod0a1b.slice/cri-containerd-" ID ".scope\n",
		"0::/kubepods.slice/kubepods-pod0a1b.slice/crio-" ID ".scope\n",
		"3:cpu:/kubepods/besteffort/pod12345678-1234-1234-1234-123456789abc/" ID "\n",
		"0::/system.slice:docker:" ID "\n",
		"0::/system.slice/nerdctl-" ID ".scope\n",
		("0::/docker/" OUTER "/docker/" ID "\n"),
		"0::/default/" ID,
	}, *const out[] = {
		"0::/user.slice/user-1000.slice/session-2.scope\n",
		"0::/pollux-4f2a1b22-17.0123abcd\n",
		"0::/docker/4f2a1b22c3d4\n",
		"0::/lxc.payload.web\n",
		"0::/\n", "",
	};
	char id[PROC_CONTAINER_SIZE];

	for (size_t i = 0; i < sizeof(in) / sizeof(in[0]); i++)
		ok(proc_container_in(in[i], id) && !strcmp(id, ID), in[i]);
	for (size_t i = 0; i < sizeof(out) / sizeof(out[0]); i++)
		ok(!proc_container_in(out[i], id),
		   "a control group of no container has no container");
	ok(!proc_container_in("0::/docker/0" ID, id),
	   "a number that is too long names no container");
	ok(!proc_container(getpid(), id) && !*id, "the caller of the test is in no container");
}

static bool is_asleep(pid_t pid)
{
	return proc_state(pid) == 'D';
}

/* A process that waits for its vforked child is asleep in the kernel, as one that waits for a
 * disk. */
static void test_asleep(void)
{
	pid_t pid = fork(), child;

	if (pid == 0) {
		setpgid(0, 0);
		/* NOLINTNEXTLINE(clang-analyzer-security.insecureAPI.vfork): for its wait */
		child = vfork();
		if (child == 0) {
			sleep(60);
			_exit(0);
		}
		_exit(child < 0);
	}
	ok(pid > 0 && comes_to(pid, is_asleep), "a process can be asleep in the kernel");
	ok(proc_is_stopped(pid), "it does not run before a stop signal meets it");
	ok(!proc_was_stopped(pid), "but nobody has stopped it");
	kill(-pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

int main(void)
{
	pid_t pid = start();
	int status = 0;
	struct proc_marks child = { .ancestor = getpid() };
	struct proc_marks variable = { .variable = environ[0] };

	if (pid < 0)
		return 1;
	ok(comes_to(pid, first_thread_is_gone), "the first thread of a process can end");
	ok(proc_lives(pid), "a process whose first thread ended lives");
	ok(proc_state(pid) == 'R', "a process whose first thread ended counts as running");
	ok(!proc_is_stopped(pid), "a process whose first thread ended is not stopped");
	ok(n_found() == 1, "a process whose first thread ended is found");
	ok(!environ[0] || proc_bears(pid, &variable),
	   "the environment of a process whose first thread ended is read");
	ok(proc_used_bytes(&child) > 0, "the memory of a process whose first thread ended is read");
	kill(pid, SIGSTOP);
	ok(comes_to(pid, proc_is_stopped),
	   "a process without its first thread is stopped with its threads");
	ok(proc_was_stopped(pid), "then somebody has stopped it");
	ok(proc_state(pid) == 'T' && proc_lives(pid),
	   "a stopped process without its first thread still lives");
	ok(!proc_reap(pid, 0.05, NULL), "a child that does not end is not waited for without end");
	kill(pid, SIGKILL);
	ok(comes_to(pid, is_dead), "a killed process is dead before its parent waits for it");
	ok(n_found() == 0, "a killed process is not found");
	ok(proc_reap(pid, 10, &status) && WTERMSIG(status) == SIGKILL,
	   "a child that ended is reaped");
	test_asleep();
	test_shared_memory();
	test_waits();
	test_sigwait();
	test_sockets();
	test_containers();
	return done();
}
