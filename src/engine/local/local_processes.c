/* local_processes.c - which processes of this machine belong to a run: by the handle, the text by
 * which the store knows the run; and the containers that they started. */
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/proc.h"
#include "pollux/text.h"
#include "local.h"
#include "run_group.h"

/* --- the handle --- */

static int64_t number_after(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? strtoll(at + strlen(key), NULL, 10) : 0;
}

/* Cuts the text at the key. Returns what follows the key; the caller frees. */
static char *cut_path(char *text, const char *key)
{
	char *at = strstr(text, key);

	if (!at)
		return xstrdup("");
	*at = '\0';
	return xstrdup(at + strlen(key));
}

void local_handle_parse(const char *text, struct local_handle *h)
{
	char *numbers = xstrdup(text ? text : "");

	h->socket_path = cut_path(numbers, " socket=");
	h->group = cut_path(numbers, " group=");
	h->guardian_pid = number_after(numbers, " guardian=");
	h->keeper_pid = number_after(numbers, " keeper=");
	h->supervisor_pid = number_after(numbers, " supervisor=");
	h->leader_pid = number_after(numbers, " leader=");
	h->leader_start_ticks = number_after(numbers, " start=");
	free(numbers);
}

static void add_number(struct text *t, const char *key, int64_t value)
{
	if (value)
		text_addf(t, " %s=%lld", key, (long long)value);
}

char *local_handle_text(const struct local_handle *h)
{
	struct text t = TEXT_INIT;

	text_add(&t, "local");
	add_number(&t, "supervisor", h->supervisor_pid);
	add_number(&t, "leader", h->leader_pid);
	add_number(&t, "start", h->leader_start_ticks);
	add_number(&t, "guardian", h->guardian_pid);
	add_number(&t, "keeper", h->keeper_pid);
	if (h->group && h->group[0])
		text_addf(&t, " group=%s", h->group);
	if (h->socket_path && h->socket_path[0])
		text_addf(&t, " socket=%s", h->socket_path);
	return text_detach(&t);
}

void local_handle_release(struct local_handle *h)
{
	free(h->socket_path);
	free(h->group);
	h->socket_path = h->group = NULL;
}

/* --- processes --- */

bool local_is_command(int64_t pid, const char *command, int64_t run_id)
{
	char path[48], got[64], want[64];
	int length = snprintf(want, sizeof(want), "pollux%c%s%c%lld", 0, command, 0,
			      (long long)run_id);
	ssize_t n;
	int fd;

	if (pid <= 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%lld/cmdline", (long long)pid);
	fd = file_open(path, O_RDONLY, 0);
	n = fd < 0 ? -1 : read(fd, got, sizeof(got));
	if (fd >= 0)
		close(fd);
	return n > length && !memcmp(got, want, (size_t)length + 1);
}

bool local_is_supervisor(const struct run *run, int64_t pid)
{
	return local_is_command(pid, "supervise", run->id);
}

void local_leave_out(struct pid_list *list, pid_t pid)
{
	int n = 0;

	for (int i = 0; i < list->count; i++)
		if (list->items[i] != pid)
			list->items[n++] = list->items[i];
	list->count = n;
}

/* The processes of the run's control group; without a group, those that descend from its
 * supervisor. -1: /proc cannot be read. */
static int list_processes(const struct local_handle *h, struct pid_list *list)
{
	struct proc_marks marks = { .ancestor = (pid_t)h->supervisor_pid };

	*list = (struct pid_list){ 0 };
	if (h->group[0])
		proc_group_list(h->group, list);
	else if (proc_find(&marks, list))
		return -1;
	local_leave_out(list, (pid_t)h->keeper_pid);
	return 0;
}

/* Looks again if a signal is only blocked, as it is while a process forks: after 2 ms, then after
 * twice as long each time, since a busy machine may keep that process waiting. */
#define LOOKS 5
#define LOOK_AGAIN_US 2000

bool local_dies_of(const struct run *run, int signal)
{
	enum proc_heed heed = PROC_BLOCKS;
	useconds_t wait_us = LOOK_AGAIN_US;
	struct local_handle handle;
	struct pid_list list;

	local_handle_parse(run->handle, &handle);
	if (!local_is_supervisor(run, handle.supervisor_pid))
		heed = PROC_HANDLES;
	for (int i = 0; heed == PROC_BLOCKS && i < LOOKS; i++) {
		heed = list_processes(&handle, &list) || list.count == 0 ? PROC_HANDLES
									 : PROC_HEEDS_NOT;
		/* what heeds the signal may be the child of a shell that does not */
		for (int k = 0; heed != PROC_HANDLES && k < list.count; k++) {
			enum proc_heed of_process = proc_heed(list.items[k], signal);

			heed = of_process > heed ? of_process : heed;
		}
		pid_list_release(&list);
		if (heed == PROC_BLOCKS && i < LOOKS - 1)
			usleep(wait_us);
		wait_us *= 2;
	}
	local_handle_release(&handle);
	return heed == PROC_HEEDS_NOT;
}

bool local_owns_process(const struct run *run, int64_t pid)
{
	struct local_handle handle;
	struct proc_marks marks = { 0 }, leader = { 0 };
	char *variable;
	bool owns;

	local_handle_parse(run->handle, &handle);
	variable = xasprintf("POLLUX_REPORT_SOCKET=%s", handle.socket_path);
	if (local_is_supervisor(run, handle.supervisor_pid))
		marks.ancestor = marks.session = (pid_t)handle.supervisor_pid;
	else if (local_is_supervisor(run, handle.guardian_pid))
		marks.ancestor = (pid_t)handle.guardian_pid;
	if (handle.group[0])
		marks.group = handle.group;
	if (handle.socket_path[0])
		marks.variable = variable;
	/* one of a run that was taken over from a dead supervisor may descend from the leader */
	leader.ancestor = leader.session = (pid_t)handle.leader_pid;
	owns = proc_bears((pid_t)pid, &marks) ||
	       (handle.leader_pid > 0 && handle.leader_start_ticks > 0 &&
		proc_start_ticks(leader.ancestor) == handle.leader_start_ticks &&
		proc_bears((pid_t)pid, &leader));
	free(variable);
	local_handle_release(&handle);
	return owns;
}

const char *local_stuck(const struct engine_context *at, const struct run *run)
{
	struct local_handle handle;
	struct pid_list list = { 0 };
	char *variable;
	bool all;

	(void)at;
	/* a suspended run is stopped by pollux */
	if (run->state != RUN_RUNNING || run->suspension > SUSPENSION_NONE)
		return NULL;
	local_handle_parse(run->handle, &handle);
	variable = xasprintf("POLLUX_REPORT_SOCKET=%s", handle.socket_path);
	all = handle.leader_pid > 0 && proc_was_stopped((pid_t)handle.leader_pid) &&
	      proc_start_ticks((pid_t)handle.leader_pid) == handle.leader_start_ticks;
	if (all)
		proc_find(&(struct proc_marks){ .ancestor = (pid_t)handle.leader_pid,
						.session = (pid_t)handle.leader_pid,
						.variable = variable }, &list);
	for (int i = 0; i < list.count && all; i++)
		all = proc_was_stopped(list.items[i]);
	pid_list_release(&list);
	free(variable);
	local_handle_release(&handle);
	return all ? "stopped: somebody has stopped all its processes" : NULL;
}

int64_t local_command_pid(const struct run *run)
{
	struct local_handle handle;
	int64_t pid;

	local_handle_parse(run->handle, &handle);
	pid = handle.leader_pid;
	local_handle_release(&handle);
	return pid;
}

enum engine_containment local_containment(struct text *detail)
{
	struct err err;
	char *base = run_group_base(&err);
	bool has_groups = base;

	text_add(detail, base ? base : err.text);
	free(base);
	return has_groups ? CONTAINED_BY_GROUP : CONTAINED_BY_GUARDIAN;
}

/* --- containers --- */

/* docker(1) and its kin only ask a service to start one, whose processes bear no mark of the
 * run. */

/* A program that starts containers, and where it wrote the id of its own. */
struct client {
	const char *name;		/* "docker" */
	char id[PROC_CONTAINER_SIZE];	/* "": no file of --cidfile, or nothing in it yet */
};

/* A relative path begins at the directory of the process. */
static void read_id(pid_t pid, const char *file, char id[PROC_CONTAINER_SIZE])
{
	char *path = *file == '/' ? xstrdup(file) : xasprintf("/proc/%d/cwd/%s", (int)pid, file);
	char line[PROC_CONTAINER_SIZE + 1] = "";
	double age_s = clock_boot_s() -
		       (double)proc_start_ticks(pid) / (double)sysconf(_SC_CLK_TCK);
	FILE *stream = file_open_stream(path);
	struct stat st;

	/* docker(1) refuses a file that is there: its own was written after the process began */
	if (stream && fstat(fileno(stream), &st) == 0 &&
	    (double)st.st_mtim.tv_sec + 1 >= clock_wall_s() - age_s &&
	    fgets(line, sizeof(line), stream))
		proc_container_in(line, id);
	if (stream)
		fclose(stream);
	free(path);
}

/* True if the program's words ask for a process in a container: "docker logs" only looks at one.
 * The word after an option may be the option's value. */
static bool starts_one(const char *words, const char *end)
{
	static const char *const verbs[] = { "run", "start", "exec", "create", "up" };
	bool may_be_value = false;

	for (const char *word = words; word < end; word += strlen(word) + 1) {
		for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
			if (!strcmp(word, verbs[i]))
				return true;
		if (*word != '-' && !may_be_value && strcmp(word, "container") != 0 &&
		    strcmp(word, "compose") != 0)
			return false;
		may_be_value = *word == '-' && !strchr(word, '=');
	}
	return false;
}

/* True if the process is such a program. */
static bool look_at(pid_t pid, struct client *client)
{
	static const char option[] = "--cidfile";
	static const char *const names[] = { "docker", "podman", "nerdctl" };
	char path[48], *buffer = xcalloc(1, 16385);
	ssize_t n;
	int fd;

	*client = (struct client){ 0 };
	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	fd = file_open(path, O_RDONLY, 0);
	n = fd < 0 ? 0 : read(fd, buffer, 16384);
	if (fd >= 0)
		close(fd);
	if (n > 0 && starts_one(buffer + strlen(buffer) + 1, buffer + n))
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			if (!strcmp(strrchr(buffer, '/') ? strrchr(buffer, '/') + 1 : buffer,
				    names[i]))
				client->name = names[i];
	for (const char *word = buffer; client->name && word < buffer + n;
	     word += strlen(word) + 1) {
		const char *value = word + sizeof(option) - 1;

		if (strncmp(word, option, sizeof(option) - 1) != 0)
			continue;
		if (*value == '=' || (!*value && value + 1 < buffer + n))
			read_id(pid, value + 1, client->id);
	}
	free(buffer);
	return client->name;
}

enum engine_container local_container(const struct run *run, const char *id, int64_t start_ticks)
{
	enum engine_container is = CONTAINER_OF_OTHERS;
	struct local_handle handle;
	struct pid_list list;

	local_handle_parse(run->handle, &handle);
	list_processes(&handle, &list);
	for (int i = 0; is != CONTAINER_OF_RUN && i < list.count; i++) {
		struct client client;

		if (!look_at(list.items[i], &client))
			continue;
		if (!*id || !strcmp(client.id, id))
			is = CONTAINER_OF_RUN;
		else if (!client.id[0] && proc_start_ticks(list.items[i]) <= start_ticks)
			is = CONTAINER_POSSIBLE;
	}
	pid_list_release(&list);
	local_handle_release(&handle);
	return is;
}

void local_add_containers(const struct pid_list *processes, struct strings *containers)
{
	for (int i = 0; i < processes->count; i++) {
		struct client client;
		char *text;

		if (!look_at(processes->items[i], &client) || !client.id[0])
			continue;
		text = xasprintf("%s %s", client.name, client.id);
		strings_add_once(containers, text);
		free(text);
	}
}

/* docker(1) gets this long to ask its service, and the container to end then. */
#define KILL_S 5.0

static bool comes_to(bool (*is)(const char *what), const char *what)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	double until_s = clock_boot_s() + KILL_S;

	while (!is(what) && clock_boot_s() < until_s)
		nanosleep(&pause, NULL);
	return is(what);
}

static pid_t killer;

static bool killer_has_ended(const char *ignored)
{
	(void)ignored;
	return waitpid(killer, NULL, WNOHANG) != 0;
}

static bool is_gone(const char *id)
{
	return !proc_container_lives(id);
}

static void kill_container(char *name, char *id, char *const *env)
{
	char verb[] = "kill", *argv[] = { name, verb, id, NULL };
	posix_spawn_file_actions_t files;

	posix_spawn_file_actions_init(&files);
	for (int fd = 0; fd <= 2; fd++)
		posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
	posix_spawn_file_actions_addclosefrom_np(&files, 3);
	if (posix_spawnp(&killer, name, &files, NULL, argv, env) == 0 &&
	    !comes_to(killer_has_ended, NULL)) {
		kill(killer, SIGKILL);
		comes_to(killer_has_ended, NULL);
	}
	posix_spawn_file_actions_destroy(&files);
}

void local_kill_containers(const struct strings *containers, const struct strings *env,
			   struct text *said)
{
	for (size_t i = 0; i < containers->count; i++) {
		char *name = xstrdup(containers->items[i]);
		char *id = name + strcspn(name, " ");

		*id++ = '\0';
		if (proc_container_lives(id)) {
			kill_container(name, id, env->items);
			text_addf(said, "%scontainer %.12s of its %s ", said->length ? "; " : "",
				  id, name);
			if (comes_to(is_gone, id))
				text_addf(said, "outlived it and was killed");
			else
				text_addf(said, "lives on: %s kill %.12s", name, id);
		}
		free(name);
	}
}
