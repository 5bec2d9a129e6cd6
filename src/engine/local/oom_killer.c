/* oom_killer.c - counts of kills, of the control groups' two versions and of the machine. */
#include "oom_killer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pollux/file.h"

#define SHARE 16
#define PATH_SIZE 4096
#define LINE_SIZE 4352

/* Returns the number after a word that begins a line of a file; -1: none. With an empty word, the
 * first number of the file; the text "max" is no number. */
static int64_t read_number(const char *path, const char *word)
{
	size_t n = strlen(word);
	char line[256], *end;
	int64_t value = -1;
	FILE *f = file_open_stream(path);

	while (f && value < 0 && fgets(line, sizeof(line), f)) {
		if (strncmp(line, word, n) != 0)
			continue;
		value = strtoll(line + n, &end, 10);
		if (end == line + n)
			value = -1;
	}
	if (f)
		fclose(f);
	return value;
}

/* File names and places of one version of control groups. */
struct version {
	/* begins the version's line of /proc/self/cgroup, after the number */
	const char *line;
	const char *places[2];		/* directories under the root of the file system */
	const char *kills, *limit;
};

static const struct version versions[] = {
	{ "::", { "", "/unified" }, "memory.events", "memory.max" },
	{ ":memory:", { "/memory", NULL }, "memory.oom_control", "memory.limit_in_bytes" },
};

/* Returns this process's control group, as a path from the root of the hierarchy. */
static bool read_group(const char *proc, const struct version *v, char *group)
{
	char path[PATH_SIZE], line[LINE_SIZE];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "%s/self/cgroup", proc);
	f = file_open_stream(path);
	while (f && !found && fgets(line, sizeof(line), f)) {
		const char *rest = line + strspn(line, "0123456789");

		found = strncmp(rest, v->line, strlen(v->line)) == 0;
		if (found)
			snprintf(group, PATH_SIZE, "%s", rest + strlen(v->line));
	}
	if (f)
		fclose(f);
	if (found)
		group[strcspn(group, "\n")] = '\0';
	return found;
}

/* Reads the kill count of the nearest group that has one, and the lowest limit of all groups above.
 * In a container the path may not exist; then its parents are tried. */
static void read_places(const char *cgroup, const struct version *v, char *group,
			struct oom_reading *r)
{
	for (int i = 0; i < 2 && v->places[i]; i++) {
		char at[PATH_SIZE], path[2 * PATH_SIZE + 64], *slash;

		snprintf(at, sizeof(at), "%s", strcmp(group, "/") ? group : "");
		do {
			int64_t n;

			snprintf(path, sizeof(path), "%s%s%s/%s", cgroup, v->places[i], at,
				 v->kills);
			n = read_number(path, "oom_kill ");
			if (n >= 0 && !r->of_group) {
				r->kills = n;
				r->of_group = true;
			}
			snprintf(path, sizeof(path), "%s%s%s/%s", cgroup, v->places[i], at,
				 v->limit);
			n = read_number(path, "");
			if (n > 0 && (r->memory_bytes == 0 || n < r->memory_bytes))
				r->memory_bytes = n;
			slash = strrchr(at, '/');
			if (slash)
				*slash = '\0';
		} while (slash);
	}
}

void oom_read(const char *proc, const char *cgroup, struct oom_reading *r)
{
	char path[PATH_SIZE], group[PATH_SIZE];
	int64_t kib;

	*r = (struct oom_reading){ .kills = -1 };
	snprintf(path, sizeof(path), "%s/meminfo", proc);
	kib = read_number(path, "MemTotal:");
	if (kib > 0)
		r->memory_bytes = 1024 * kib;
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		if (read_group(proc, &versions[i], group))
			read_places(cgroup, &versions[i], group, r);
	if (r->of_group)
		return;
	snprintf(path, sizeof(path), "%s/vmstat", proc);
	r->kills = read_number(path, "oom_kill ");
}

void oom_watch_init(struct oom_watch *w)
{
	*w = (struct oom_watch){ .before.kills = -1, .last.kills = -1 };
}

void oom_watch_start(struct oom_watch *w, double now_boot_s)
{
	oom_read("/proc", "/sys/fs/cgroup", &w->last);
	w->before = w->last;
	w->next_boot_s = now_boot_s + OOM_WINDOW_S;
}

void oom_watch_look(struct oom_watch *w, double now_boot_s)
{
	if (now_boot_s < w->next_boot_s)
		return;
	w->before = w->last;
	oom_read("/proc", "/sys/fs/cgroup", &w->last);
	w->next_boot_s = now_boot_s + OOM_WINDOW_S;
}

bool oom_was_killer(const struct oom_reading *before, const struct oom_reading *now,
		    int64_t peak_bytes)
{
	if (before->kills < 0 || before->of_group != now->of_group || now->kills <= before->kills)
		return false;
	return now->memory_bytes == 0 || peak_bytes >= now->memory_bytes / SHARE;
}
