/* check_files.c - the configuration file, the store, room on disks, owners and modes of files. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "checks.h"
#include "pollux/advice.h"
#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/pass_files.h"
#include "pollux/report.h"
#include "pollux/store.h"

#define LEAST_RATIO 0.01
/* It shows what could go. What does go is for a person to say. */
#define PRUNE "pollux prune --older-than 30d --all --dry-run"

/* Logs and checkpoints may be on disks of their own. */
void check_space(struct patient *p)
{
	static const char *const disks[] = { "", "/logs", "/checkpoints" };
	dev_t seen[3] = { 0 };
	int n = 0;

	for (size_t i = 0; i < sizeof(disks) / sizeof(disks[0]); i++) {
		autofree char *path = xasprintf("%s%s", p->paths.dir, disks[i]);
		scoped(text_release) struct text why = TEXT_INIT;
		struct statvfs fs;
		struct stat st;
		bool is_new = stat(path, &st) == 0;

		for (int k = 0; is_new && k < n; k++)
			is_new = st.st_dev != seen[k];
		if (is_new)
			seen[n++] = st.st_dev;
		if (is_new && statvfs(path, &fs) == 0) {
			if (disk_nearly_full(path, &why))
				found(p, FINDING_LOOK, xstrdup(PRUNE), "%s", why.data);
			else if ((double)fs.f_favail < LEAST_RATIO * (double)fs.f_files)
				found(p, FINDING_LOOK, xstrdup(PRUNE), "the disk of '%s' has room "
				      "for %.0f files only", path, (double)fs.f_favail);
			else
				note(p, "%s of %s left",
				     format_bytes((double)fs.f_bavail * (double)fs.f_frsize).s,
				     format_bytes((double)fs.f_blocks * (double)fs.f_frsize).s);
		}
	}
}

#define OTHERS_WRITE (S_IWGRP | S_IWOTH)

/* Names a command that takes the file over, unless other people may have put it there: by a link of
 * either kind it may be a file of theirs, or of the system. */
static void check_owner(struct patient *p, const char *path, const struct stat *st)
{
	struct stat named, dir;
	bool ours = lstat(path, &named) == 0 && !S_ISLNK(named.st_mode) &&
		    (S_ISDIR(st->st_mode) || (S_ISREG(st->st_mode) && st->st_nlink == 1)) &&
		    stat(p->paths.dir, &dir) == 0 && !(dir.st_mode & OTHERS_WRITE);
	autofree char *take = xasprintf("%schown -h %lld", advice_sudo(), (long long)geteuid());

	found(p, FINDING_STOPS, command_on(ours ? take : "ls -ld", path),
	      "'%s' belongs to user %lld", path, (long long)st->st_uid);
}

/* What a link stands for may serve others, too; its mode is looked at by a person. */
static void check_mode(struct patient *p, const char *path)
{
	const char *command;
	struct stat st, named;
	bool is_directory;
	mode_t own;

	if (stat(path, &st))
		return;
	if (st.st_uid != geteuid()) {
		check_owner(p, path, &st);
		return;
	}
	is_directory = S_ISDIR(st.st_mode);
	command = is_directory ? "chmod 700" : "chmod 600";
	if (lstat(path, &named) || S_ISLNK(named.st_mode))
		command = "ls -ldL";
	own = is_directory ? S_IRWXU : S_IRUSR | S_IWUSR;
	if ((st.st_mode & own) != own)
		found(p, FINDING_STOPS, command_on(command, path),
		      "you may not read and write '%s'", path);
	else if (st.st_mode & OTHERS_WRITE)
		found(p, is_directory ? FINDING_STOPS : FINDING_LOOK, command_on(command, path),
		      "others may write to '%s'", path);
	else if (st.st_mode & (S_IRWXG | S_IRWXO))
		found(p, FINDING_LOOK, command_on(command, path),
		      "others may look into '%s'", path);
}

/* The directory of the store. Where it is another person's, so are its files: no owner and no mode
 * is to be changed. */
static bool check_directory(struct patient *p)
{
	const char *dir = p->paths.dir;
	struct text mend = TEXT_INIT;
	struct stat st;

	if (stat(dir, &st))
		return false;
	if (st.st_uid != geteuid()) {
		found(p, FINDING_STOPS, command_on("ls -ld", dir), "'%s' belongs to user %lld: set "
		      "POLLUX_DIR to a directory of your own, or be this user", dir,
		      (long long)st.st_uid);
		return false;
	}
	if (st.st_mode & OTHERS_WRITE) {
		advice_add_private(&mend, dir);
		found(p, FINDING_STOPS, text_detach(&mend), "others may write to '%s'", dir);
	} else if ((st.st_mode & S_IRWXU) != S_IRWXU) {
		found(p, FINDING_STOPS, command_on("chmod 700", dir),
		      "you may not read and write '%s'", dir);
	} else if (st.st_mode & (S_IRWXG | S_IRWXO) &&
		   access(p->paths.store, F_OK) == 0) {
		found(p, FINDING_LOOK, command_on("chmod 700", dir), "others may look into '%s'",
		      dir);
	}
	return true;
}

/* --- what is in the place of files --- */

static const struct part {
	const char *name;
	bool is_directory;
	bool by_link;		/* a link may lead to it */
	bool stops;		/* no job starts without it */
	bool is_new;		/* pollux makes another one: what is in its place may go */
} parts[] = {
	{ "logs", .is_directory = true, .by_link = true, .stops = true },
	{ "checkpoints", .is_directory = true, .by_link = true, .stops = true },
	{ "run", .is_directory = true, .by_link = true, .stops = true },
	{ "pollux.db", .by_link = true, .stops = true },
	{ "pollux.db-wal", .stops = true },
	{ "pollux.db-shm", .stops = true },
	{ "pollux.db-journal", .stops = true },
	{ "schedule.lock", .stops = true, .is_new = true },
	{ "supervisor.log", .by_link = true, .is_new = true },
	{ "schedule.again", .is_new = true },
	{ "next-pass", .is_new = true },
	{ "regular-pass", .is_new = true },
	{ "failed-pass", .is_new = true },
	{ "outage", .is_new = true },
};

/* What pollux makes anew is put aside, unless it has been made anew meanwhile. */
static void found_odd(struct patient *p, const struct part *part, const char *path,
		      const char *what)
{
	scoped(text_release) struct text file = TEXT_INIT, aside = TEXT_INIT;
	autofree char *with_end = xasprintf("%s.odd", path);

	text_add_shell_quoted(&file, path);
	text_add_shell_quoted(&aside, with_end);
	found(p, part->stops ? FINDING_STOPS : FINDING_LOOK, part->is_new
	      ? xasprintf("test -f %s -a ! -L %s || mv -nT %s %s", file.data, file.data, file.data,
			  aside.data)
	      : xasprintf("ls -ld %s", file.data), "'%s' is %s", path, what);
}

/* A program of a job, or a person, may have put something else in the place of a file, which is not
 * opened. */
void check_permissions(struct patient *p)
{
	if (!check_directory(p))
		return;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		const struct part *part = &parts[i];
		autofree char *path = xasprintf("%s/%s", p->paths.dir, part->name);
		struct stat named, st;

		if (lstat(path, &named))
			;	/* it is not there */
		else if (S_ISLNK(named.st_mode) && !part->by_link)
			found_odd(p, part, path, "a symbolic link, which is not followed");
		else if (stat(path, &st))
			found_odd(p, part, path, "a symbolic link that leads nowhere");
		else if (part->is_directory ? !S_ISDIR(st.st_mode) : !S_ISREG(st.st_mode))
			found_odd(p, part, path,
				  part->is_directory ? "no directory" : "no regular file");
		else
			check_mode(p, path);
	}
}

/* --- the configuration file and the store --- */

#define REPAIR "pollux doctor --repair"

void check_settings(struct patient *p)
{
	scoped(text_release) struct text mend = TEXT_INIT;

	if (!p->config_err.exit_status)
		return;
	if (p->config.bad_line) {
		/* makes a comment of the line, so that the default of its setting holds */
		autofree char *edit = xasprintf("sed -i '%ds/^/# /'", p->config.bad_line);

		advice_add_edit(&mend, edit, p->paths.config);
	} else if (p->config.bad_variable) {
		text_addf(&mend, "unset %s", p->config.bad_variable);
	}
	found(p, FINDING_STOPS, mend.length ? text_detach(&mend) : NULL, "%s", p->config_err.text);
}

/* Only damage is repaired: a store may be sound that is locked, or on a disk that is full. */
static void found_error(struct patient *p, const struct err *err, bool may_repair)
{
	bool damaged = may_repair && err->exit_status == EX_DATAERR;

	found(p, damaged ? FINDING_DAMAGE : FINDING_STOPS, damaged ? xstrdup(REPAIR) : NULL,
	      "%s", err->text);
}

void check_store(struct patient *p)
{
	scoped(strings_release) struct strings faults = { 0 };
	scoped(text_release) struct text other = TEXT_INIT;
	struct stat st = { 0 };
	struct err err;
	int64_t n = 0;
	autofree char *log = NULL;

	if (!p->store.db && p->store_err.exit_status == EX_NOINPUT) {
		note(p, "%s", p->store_err.text);
		return;
	}
	if (!p->store.db) {
		found_error(p, &p->store_err, !store_is_foreign(&p->paths));
		return;
	}
	log = xasprintf("%s-wal", p->paths.store);
	if (store_check(&p->store, &faults, &err) ||
	    (faults.count == 0 && store_count_jobs(&p->store, &n, &err))) {
		found_error(p, &err, true);
	} else if (faults.count) {
		found(p, FINDING_DAMAGE, xstrdup(REPAIR), "'%s' is damaged: %s%s", p->paths.store,
		      faults.items[0], faults.count > 1 ? ", and more" : "");
	} else {
		stat(p->paths.store, &st);
		note(p, "%lld job%s, %s", (long long)n, plural(n),
		     format_bytes((double)st.st_size).s);
		if (stat(log, &st) == 0 && st.st_size > 0)
			note(p, "the newest changes are in '%s', so copy the store by 'pollux "
			     "backup'", strrchr(log, '/') + 1);
	}
	if (paths_on_network(&p->paths))
		found(p, FINDING_LOOK, NULL, "'%s' is on a network file system, where locks may "
		      "not work: set POLLUX_DIR to a local directory", p->paths.dir);
	if (pass_host_other(&p->paths, &other))
		found(p, FINDING_STOPS, NULL, "%s", other.data);
}
