/* check_files.c - room on the disks, owners and modes of files. */
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "checks.h"
#include "pollux/disk.h"
#include "pollux/format.h"
#include "pollux/mem.h"

/* --- space --- */

#define LEAST_RATIO 0.01
#define PRUNE "pollux prune --older-than 30d --all"

static void check_disk(struct patient *p, const char *path)
{
	struct text why = TEXT_INIT;
	struct statvfs fs;
	double free_bytes, all_bytes;

	if (statvfs(path, &fs))
		return;
	free_bytes = (double)fs.f_bavail * (double)fs.f_frsize;
	all_bytes = (double)fs.f_blocks * (double)fs.f_frsize;
	if (disk_nearly_full(path, &why))
		found(p, FINDING_LOOK, xstrdup(PRUNE), "%s", why.data);
	else if (fs.f_files > 0 && (double)fs.f_favail < LEAST_RATIO * (double)fs.f_files)
		found(p, FINDING_LOOK, xstrdup(PRUNE), "the disk of '%s' has room for %.0f files "
		      "only", path, (double)fs.f_favail);
	else
		note(p, "%s of %s left", format_bytes(free_bytes).s, format_bytes(all_bytes).s);
	text_release(&why);
}

/* Logs and checkpoints may be on disks of their own. */
void check_space(struct patient *p)
{
	static const char *const parts[] = { "", "/logs", "/checkpoints" };
	dev_t seen[3] = { 0 };
	int n = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		char *path = xasprintf("%s%s", p->paths.dir, parts[i]);
		bool is_new = true;
		struct stat st;

		if (stat(path, &st))
			is_new = false;
		for (int k = 0; k < n; k++)
			is_new = is_new && st.st_dev != seen[k];
		if (is_new) {
			seen[n++] = st.st_dev;
			check_disk(p, path);
		}
		free(path);
	}
}

/* --- permissions --- */

static void check_owner(struct patient *p, const char *path, const struct stat *st)
{
	char *command = xasprintf("sudo chown %lld", (long long)geteuid());

	if (st->st_uid != geteuid())
		found(p, FINDING_STOPS, command_on(command, path), "'%s' belongs to user %lld",
		      path, (long long)st->st_uid);
	free(command);
}

static void check_mode(struct patient *p, const char *path, bool is_directory)
{
	mode_t own = is_directory ? S_IRWXU : S_IRUSR | S_IWUSR;
	const char *command = is_directory ? "chmod 700" : "chmod 600";
	struct stat st;

	if (stat(path, &st))
		return;
	check_owner(p, path, &st);
	if ((st.st_mode & own) != own)
		found(p, FINDING_STOPS, command_on(command, path),
		      "you may not read and write '%s'", path);
	else if (st.st_mode & (S_IWGRP | S_IWOTH))
		found(p, is_directory ? FINDING_STOPS : FINDING_LOOK, command_on(command, path),
		      "others may write to '%s'", path);
	else if (st.st_mode & (S_IRWXG | S_IRWXO))
		found(p, FINDING_LOOK, command_on(command, path),
		      "others may look into '%s'", path);
}

void check_permissions(struct patient *p)
{
	static const struct {
		const char *name;
		bool is_directory;
	} files[] = {
		{ "", true }, { "/logs", true }, { "/checkpoints", true }, { "/run", true },
		{ "/pollux.db", false }, { "/pollux.db-wal", false }, { "/pollux.db-shm", false },
		{ "/schedule.lock", false }, { "/supervisor.log", false },
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char *path = xasprintf("%s%s", p->paths.dir, files[i].name);

		check_mode(p, path, files[i].is_directory);
		free(path);
	}
}
