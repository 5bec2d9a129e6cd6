/* proc_info.c - who a process is, for people. */
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/proc.h"
#include "pollux/text.h"

/* Number of the first namespace of processes: it is the machine's own. */
#define FIRST_PID_NAMESPACE "pid:[4026531836]"

static void read_owner(pid_t pid, struct proc_info *info)
{
	const struct passwd *user;
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if (stat(path, &st))
		return;
	user = getpwuid(st.st_uid);
	if (user)
		snprintf(info->owner, sizeof(info->owner), "%.32s", user->pw_name);
	else
		snprintf(info->owner, sizeof(info->owner), "%u", (unsigned)st.st_uid);
}

static void read_command(pid_t pid, struct proc_info *info)
{
	char path[32];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	file = file_open_stream(path);
	if (!file || !fgets(info->command, sizeof(info->command), file))
		info->command[0] = '\0';
	info->command[strcspn(info->command, "\n")] = '\0';
	if (file)
		fclose(file);
}

bool proc_has_name(pid_t pid, const char *name)
{
	struct proc_info info;

	read_command(pid, &info);
	return !strcmp(info.command, name);
}

void proc_look(pid_t pid, struct proc_info *info)
{
	*info = (struct proc_info){ .start_ticks = proc_start_ticks(pid) };
	info->lives = info->start_ticks > 0 && proc_lives(pid);
	info->hidden = !info->lives && proc_is_hidden(pid);
	if (!info->lives)
		return;
	info->age_s = clock_boot_s() - (double)info->start_ticks / (double)sysconf(_SC_CLK_TCK);
	read_owner(pid, info);
	read_command(pid, info);
}

/* The masks of signals in /proc/PID/status, in hexadecimal. */
static const struct {
	const char *name;
	enum proc_heed heed;
} masks[] = {
	{ "SigBlk:", PROC_BLOCKS }, { "SigIgn:", PROC_IGNORES }, { "SigCgt:", PROC_HANDLES },
};

static enum proc_heed heed_in(const char *line, int signal)
{
	for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
		size_t length = strlen(masks[i].name);

		if (!strncmp(line, masks[i].name, length))
			return strtoull(line + length, NULL, 16) >> (signal - 1) & 1
				? masks[i].heed : PROC_HEEDS_NOT;
	}
	return PROC_HEEDS_NOT;
}

/* The kernel shows a signal that sigwait(3) waits for as one that is not blocked. */
static bool waits_for_signals(pid_t pid)
{
	char path[32], place[64] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/wchan", (int)pid);
	file = file_open_stream(path);
	if (file && !fgets(place, sizeof(place), file))
		place[0] = '\0';
	if (file)
		fclose(file);
	return strstr(place, "sigtimedwait");
}

enum proc_heed proc_heed(pid_t pid, int signal)
{
	enum proc_heed heed = PROC_HEEDS_NOT;
	char path[32], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = file_open_stream(path);
	while (file && heed != PROC_HANDLES && fgets(line, sizeof(line), file)) {
		enum proc_heed found = heed_in(line, signal);

		heed = found > heed ? found : heed;
	}
	if (file)
		fclose(file);
	return heed == PROC_HEEDS_NOT && waits_for_signals(pid) ? PROC_BLOCKS : heed;
}

int64_t proc_memory_bytes(const char *line)
{
	FILE *file = file_open_stream("/proc/meminfo");
	size_t length = strlen(line);
	long long kib = 0;
	char text[128];

	while (file && fgets(text, sizeof(text), file))
		if (!strncmp(text, line, length))
			kib = strtoll(text + length, NULL, 10);
	if (file)
		fclose(file);
	return kib * 1024;
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

static void apply_limit(const struct limit *limit, const char *value)
{
	struct rlimit now;
	rlim_t wanted = RLIM_INFINITY;

	if (getrlimit(limit->resource, &now))
		return;
	if (strcmp(value, "unlimited") != 0)
		wanted = (rlim_t)strtoull(value, NULL, 10);
	now.rlim_cur = wanted < now.rlim_max ? wanted : now.rlim_max;
	setrlimit(limit->resource, &now);
}

static void apply_setting(const char *name, const char *value)
{
	if (!strcmp(name, "umask"))
		umask((mode_t)strtoul(value, NULL, 8) & 0777);
	else if (!strcmp(name, "nice"))
		setpriority(PRIO_PROCESS, 0, (int)strtol(value, NULL, 10));
	for (size_t i = 0; i < N_LIMITS; i++)
		if (!strcmp(name, limits[i].name))
			apply_limit(&limits[i], value);
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
