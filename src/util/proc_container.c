/* proc_container.c - the container that a process is in, by its control group; the libraries that
 * it has loaded. */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pollux/open_file.h"
#include "pollux/proc.h"

/* Docker, Podman, containerd and CRI-O name a container by 64 hexadecimal digits, and its group
 * after it: "/docker/ID", "docker-ID.scope", "libpod-ID.scope/container",
 * "cri-containerd-ID.scope", "system.slice:docker:ID". The last one in a path is the innermost. */
bool proc_container_in(const char *line, char id[PROC_CONTAINER_SIZE])
{
	bool found = false;

	while (*line) {
		size_t n = 0;

		while (isdigit((unsigned char)line[n]) || (line[n] >= 'a' && line[n] <= 'f'))
			n++;
		if (n == PROC_CONTAINER_SIZE - 1) {
			snprintf(id, PROC_CONTAINER_SIZE, "%s", line);
			found = true;
		}
		line += n > 0 ? n : 1;
	}
	return found;
}

static bool find_container(pid_t pid, char id[PROC_CONTAINER_SIZE])
{
	char path[32], line[4096];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	file = file_open_stream(path);
	while (file && !found && fgets(line, sizeof(line), file))
		found = proc_container_in(line, id);
	if (file)
		fclose(file);
	return found;
}

bool proc_container(pid_t pid, char id[PROC_CONTAINER_SIZE])
{
	char own[PROC_CONTAINER_SIZE];

	if (pid <= 0 || !find_container(pid, id) ||
	    (find_container(getpid(), own) && !strcmp(own, id))) {
		id[0] = '\0';
		return false;
	}
	return true;
}

bool proc_container_lives(const char *id)
{
	DIR *dir = opendir("/proc");
	const struct dirent *entry;
	bool lives = false;

	while (dir && !lives && (entry = readdir(dir))) {
		char found[PROC_CONTAINER_SIZE];
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		lives = pid > 0 && find_container(pid, found) && !strcmp(found, id) &&
			proc_lives(pid);
	}
	if (dir)
		closedir(dir);
	return lives;
}

bool proc_has_loaded(pid_t pid, const char *part)
{
	char path[32], *line = NULL;
	bool found = false;
	size_t size = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	file = file_open_stream(path);
	while (file && !found && getline(&line, &size, file) > 0)
		found = strstr(line, part) != NULL;
	free(line);
	if (file)
		fclose(file);
	return found;
}
