/* proc_info.c - who a process is, for people; the signals and limits of one to be. */
#include <errno.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/proc.h"
#include "pollux/text.h"

/* Number of the first namespace of processes: it is the machine's own. */
#define FIRST_PID_NAMESPACE "pid:[4026531836]"

bool proc_has_name(pid_t pid, const char *name)
{
	char command[17];

	return proc_find_line(pid, "comm", "", command, sizeof(command)) && !strcmp(command, name);
}

void proc_look(pid_t pid, struct proc_info *info)
{
	const struct passwd *user;
	char path[32];
	struct stat st;

	*info = (struct proc_info){ .start_ticks = proc_start_ticks(pid) };
	info->lives = info->start_ticks > 0 && proc_lives(pid);
	info->hidden = !info->lives && proc_is_hidden(pid);
	if (!info->lives)
		return;
	info->age_s = clock_boot_s() - (double)info->start_ticks / (double)sysconf(_SC_CLK_TCK);
	proc_find_line(pid, "comm", "", info->command, sizeof(info->command));
	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if (stat(path, &st))
		return;
	user = getpwuid(st.st_uid);
	if (user)
		snprintf(info->owner, sizeof(info->owner), "%.32s", user->pw_name);
	else
		snprintf(info->owner, sizeof(info->owner), "%u", (unsigned)st.st_uid);
}

/* The masks of signals in /proc/PID/status, in hexadecimal. */
static const struct {
	const char *name;
	enum proc_heed heed;
} masks[] = {
	{ "SigBlk:", PROC_BLOCKS }, { "SigIgn:", PROC_IGNORES }, { "SigCgt:", PROC_HANDLES },
};

enum proc_heed proc_heed(pid_t pid, int signal)
{
	enum proc_heed heed = PROC_HEEDS_NOT;
	char text[64];

	for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++)
		if (masks[i].heed > heed &&
		    proc_find_line(pid, "status", masks[i].name, text, sizeof(text)) &&
		    (strtoull(text, NULL, 16) >> (signal - 1) & 1))
			heed = masks[i].heed;
	/* The kernel shows a signal that sigwait(3) waits for as one that is not blocked. */
	if (heed == PROC_HEEDS_NOT && proc_find_line(pid, "wchan", "", text, sizeof(text)) &&
	    strstr(text, "sigtimedwait"))
		return PROC_BLOCKS;
	return heed;
}

int64_t proc_memory_bytes(const char *line)
{
	char kib[64];

	file_find_line("/proc/meminfo", line, kib, sizeof(kib));
	return strtoll(kib, NULL, 10) * 1024;
}

bool proc_sees_all(void)
{
	char name[64];
	ssize_t n = readlink("/proc/self/ns/pid", name, sizeof(name) - 1);

	if (n < 0)
		return true;
	name[n] = '\0';
	return strcmp(name, FIRST_PID_NAMESPACE) == 0;
}

/* The kernel adds the word to the path of a file that was removed or replaced. */
int proc_program(char *path, size_t size, struct err *err)
{
	static const char removed[] = " (deleted)";
	ssize_t n = readlink("/proc/self/exe", path, size - 1);
	size_t length = n > 0 ? (size_t)n : 0, end = sizeof(removed) - 1;

	if (n < 0)
		return err_set(err, EX_OSERR, "cannot read '/proc/self/exe': %s", strerror(errno));
	path[length] = '\0';
	if (access(path, X_OK) && length > end && !strcmp(path + length - end, removed))
		path[length - end] = '\0';
	if (access(path, X_OK))
		return err_set(err, EX_OSFILE, "'%s' is not there any more: was pollux replaced?",
			       path);
	return 0;
}

/* --- the signals of a process --- */

#define KERNEL_MASK_BYTES 8

void signals_unblock(void)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* By the system call: sigaction(3) refuses the signals that the C library reserves, and a parent
 * without that library may have left those ignored. */
void signals_reset(void)
{
	/* the kernel's struct sigaction, and room */
	const unsigned long action[8] = { (unsigned long)SIG_DFL };

	for (int i = 1; i < NSIG; i++)
		if (i != SIGKILL && i != SIGSTOP)
			syscall(SYS_rt_sigaction, i, action, NULL, KERNEL_MASK_BYTES);
	signals_unblock();
}

/* --- the umask, the nice value and the resource limits of a process, as one text --- */

static const struct limit {
	const char *name;
	__rlimit_resource_t resource;
} limits[] = {
	{ "as", RLIMIT_AS }, { "core", RLIMIT_CORE }, { "cpu", RLIMIT_CPU },
	{ "data", RLIMIT_DATA }, { "fsize", RLIMIT_FSIZE }, { "memlock", RLIMIT_MEMLOCK },
	{ "nofile", RLIMIT_NOFILE }, { "nproc", RLIMIT_NPROC }, { "rss", RLIMIT_RSS },
	{ "stack", RLIMIT_STACK },
};
#define N_LIMITS (sizeof(limits) / sizeof(limits[0]))

char *limits_capture(void)
{
	mode_t mask = umask(0);
	struct text t = TEXT_INIT;
	struct rlimit now;

	umask(mask);
	text_addf(&t, "umask=%04o nice=%d", (unsigned)mask, getpriority(PRIO_PROCESS, 0));
	for (size_t i = 0; i < N_LIMITS; i++) {
		if (getrlimit(limits[i].resource, &now))
			continue;
		if (now.rlim_cur == RLIM_INFINITY)
			text_addf(&t, " %s=unlimited", limits[i].name);
		else
			text_addf(&t, " %s=%llu", limits[i].name, (unsigned long long)now.rlim_cur);
	}
	return text_detach(&t);
}

static void apply_setting(const char *name, const char *value)
{
	struct rlimit now;
	rlim_t wanted;

	if (!strcmp(name, "umask"))
		umask((mode_t)strtoul(value, NULL, 8) & 0777);
	else if (!strcmp(name, "nice"))
		setpriority(PRIO_PROCESS, 0, (int)strtol(value, NULL, 10));
	for (size_t i = 0; i < N_LIMITS; i++) {
		if (strcmp(name, limits[i].name) != 0 || getrlimit(limits[i].resource, &now))
			continue;
		wanted = strcmp(value, "unlimited") ? (rlim_t)strtoull(value, NULL, 10)
						    : RLIM_INFINITY;
		now.rlim_cur = wanted < now.rlim_max ? wanted : now.rlim_max;
		setrlimit(limits[i].resource, &now);
	}
}

const char *limits_for_all(void)
{
	static const struct {
		const char *option;
		__rlimit_resource_t resource;
	} hard[] = {
		{ "-v", RLIMIT_AS }, { "-t", RLIMIT_CPU }, { "-d", RLIMIT_DATA },
		{ "-f", RLIMIT_FSIZE },
	};
	struct rlimit now;

	for (size_t i = 0; i < sizeof(hard) / sizeof(hard[0]); i++)
		if (getrlimit(hard[i].resource, &now) == 0 && now.rlim_max != RLIM_INFINITY)
			return hard[i].option;
	return NULL;
}

void limits_apply(const char *text)
{
	char *copy = xstrdup(text ? text : ""), *save = NULL;

	for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		char *equals = strchr(word, '=');

		if (!equals)
			continue;
		*equals = '\0';
		apply_setting(word, equals + 1);
	}
	free(copy);
}
