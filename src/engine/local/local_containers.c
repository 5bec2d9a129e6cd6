/* local_containers.c - containers that a run's processes started. docker(1) and its kin only ask a
 * service to start one, whose processes bear no mark of the run. */
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

#include "local.h"
#include "pollux/clock.h"
#include "pollux/file.h"
#include "pollux/mem.h"

/* A program that starts containers, and where it wrote the id of its own. */
struct client {
	const char *name;		/* "docker" */
	char id[PROC_CONTAINER_SIZE];	/* "": no file of --cidfile, or nothing in it yet */
};

static const char *client_name(const char *word)
{
	static const char *const names[] = { "docker", "podman", "nerdctl" };
	const char *slash = strrchr(word, '/');

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(slash ? slash + 1 : word, names[i]))
			return names[i];
	return NULL;
}

/* True if the file was written after the process began: docker(1) refuses one that is there. */
static bool is_newer(FILE *stream, pid_t pid)
{
	double age_s = clock_boot_s() -
		       (double)proc_start_ticks(pid) / (double)sysconf(_SC_CLK_TCK);
	struct stat st;

	return fstat(fileno(stream), &st) == 0 &&
	       (double)st.st_mtim.tv_sec + 1 >= clock_wall_s() - age_s;
}

/* A relative path begins at the directory of the process. */
static void read_id(pid_t pid, const char *file, char id[PROC_CONTAINER_SIZE])
{
	char *path = *file == '/' ? xstrdup(file) : xasprintf("/proc/%d/cwd/%s", (int)pid, file);
	char line[PROC_CONTAINER_SIZE + 1] = "";
	FILE *stream = file_open_stream(path);

	if (stream && is_newer(stream, pid) && fgets(line, sizeof(line), stream))
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
		client->name = client_name(buffer);
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
	local_list_processes(&handle, &list);
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

static bool has_text(const struct strings *list, const char *text)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->items[i], text))
			return true;
	return false;
}

void local_add_containers(const struct pid_list *processes, struct strings *containers)
{
	for (int i = 0; i < processes->count; i++) {
		struct client client;
		char *text;

		if (!look_at(processes->items[i], &client) || !client.id[0])
			continue;
		text = xasprintf("%s %s", client.name, client.id);
		if (!has_text(containers, text))
			strings_add(containers, text);
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
