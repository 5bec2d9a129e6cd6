/* paths.c - names of the files pollux keeps, and the directories they need. */
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "pollux/advice.h"
#include "pollux/mem.h"
#include "pollux/paths.h"

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

/* Returns XDG/pollux; without that variable ~/DEFAULT/pollux; NULL if the home directory is
 * unknown. */
static char *usual_directory(const char *xdg, const char *home_default)
{
	const char *base = variable(xdg), *home = variable("HOME");
	const struct passwd *user;

	if (base)
		return xasprintf("%s/pollux", base);
	user = home ? NULL : getpwuid(getuid());
	home = user ? user->pw_dir : home;
	return home ? xasprintf("%s/%s/pollux", home, home_default) : NULL;
}

/* Makes a relative path absolute, because jobs and supervisors change directory. Takes ownership of
 * path; the caller frees the result. */
static char *absolute(char *path)
{
	autofree char *cwd = NULL;
	char *full;

	if (!path || path[0] == '/')
		return path;
	cwd = getcwd(NULL, 0);
	full = cwd ? xasprintf("%s/%s", cwd, path) : NULL;
	free(path);
	return full;
}

/* A job finds its store in POLLUX_DIR, also where the store is at its usual place. If POLLUX_DIR
 * names that place, the configuration file is at its usual place, too, unless there is a file
 * beside the store. */
static char *configuration_file(const char *dir)
{
	char *beside = xasprintf("%s/config", dir), *file = NULL;
	autofree char *store = absolute(usual_directory("XDG_STATE_HOME", ".local/state"));
	autofree char *config = absolute(usual_directory("XDG_CONFIG_HOME", ".config"));

	if (config && store && !strcmp(dir, store) &&
	    (!variable("POLLUX_DIR") || access(beside, F_OK)))
		file = xasprintf("%s/config", config);
	if (file)
		free(beside);
	return file ? file : beside;
}

/* The members that are files of the directory, and their names there. */
static const struct {
	size_t offset;
	const char *name;
} files[] = {
	{ offsetof(struct paths, store), "pollux.db" },
	{ offsetof(struct paths, schedule_lock), "schedule.lock" },
	{ offsetof(struct paths, schedule_again), "schedule.again" },
	{ offsetof(struct paths, regular_pass), "regular-pass" },
	{ offsetof(struct paths, failed_pass), "failed-pass" },
	{ offsetof(struct paths, outage), "outage" },
	{ offsetof(struct paths, pass_host), "pass.host" },
	{ offsetof(struct paths, supervisor_log), "supervisor.log" },
};

int paths_init(struct paths *p, struct err *err)
{
	const char *dir = variable("POLLUX_DIR");

	*p = (struct paths){
		.dir = absolute(dir ? xstrdup(dir)
				    : usual_directory("XDG_STATE_HOME", ".local/state")),
	};
	if (!p->dir)
		return err_set(err, EX_CONFIG, "no place for the store: set POLLUX_DIR or HOME");
	p->config = configuration_file(p->dir);
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		*(char **)(void *)((char *)p + files[i].offset) =
			xasprintf("%s/%s", p->dir, files[i].name);
	return 0;
}

/* Sets an XDG variable to BASE, for a file BASE/pollux/NAME. */
static void set_base(const char *name, const char *file)
{
	autofree char *base = xstrdup(file);

	for (int i = 0; i < 2; i++) {
		char *slash = strrchr(base, '/');

		if (slash)
			*slash = '\0';
	}
	setenv(name, *base ? base : "/", 1);
}

void paths_to_environment(const struct paths *p)
{
	if (variable("POLLUX_DIR")) {
		setenv("POLLUX_DIR", p->dir, 1);
	} else {
		set_base("XDG_STATE_HOME", p->store);
		set_base("XDG_CONFIG_HOME", p->config);
	}
}

void paths_release(struct paths *p)
{
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		free(*(char **)(void *)((char *)p + files[i].offset));
	free(p->dir);
	free(p->config);
	*p = (struct paths){ 0 };
}

int paths_make_directory(const char *path, struct err *err)
{
	struct stat st;
	char *part;
	int rc = 0;

	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return 0;
	part = xstrdup(path);
	for (char *p = part; rc == 0 && *p;) {
		char c;

		p += 1 + strcspn(p + 1, "/");
		c = *p;
		*p = '\0';
		if (mkdir(part, 0700) && errno != EEXIST)
			rc = err_set(err, EX_CANTCREAT, "cannot create directory '%s': %s", part,
				     strerror(errno));
		*p = c;
	}
	free(part);
	if (rc == 0 && (stat(path, &st) || !S_ISDIR(st.st_mode)))
		rc = err_set(err, EX_CANTCREAT, "'%s' is not a directory", path);
	return rc;
}

int paths_check_owner(const struct paths *p, struct err *err)
{
	scoped(text_release) struct text mend = TEXT_INIT;
	struct stat st;

	if (stat(p->dir, &st))
		return 0;
	if (st.st_uid != geteuid())
		return err_set(err, EX_NOPERM,
			       "'%s' belongs to another user; set POLLUX_DIR to one of your own",
			       p->dir);
	if (!(st.st_mode & (S_IWGRP | S_IWOTH)))
		return 0;
	advice_add_private(&mend, p->dir);
	err_set(err, EX_NOPERM, "others may write to '%s'; type: %s", p->dir, mend.data);
	return -1;
}

int paths_create(const struct paths *p, struct err *err)
{
	static const char *const parts[] = { "logs", "checkpoints", "run" };

	if (paths_make_directory(p->dir, err) || paths_check_owner(p, err))
		return -1;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		autofree char *part = xasprintf("%s/%s", p->dir, parts[i]);
		int rc = paths_make_directory(part, err);

		if (rc)
			return rc;
	}
	return 0;
}

char *paths_log(const struct paths *p, int64_t job_id)
{
	return xasprintf("%s/logs/%lld.log", p->dir, (long long)job_id);
}

char *paths_checkpoints(const struct paths *p, int64_t job_id)
{
	return xasprintf("%s/checkpoints/%lld", p->dir, (long long)job_id);
}

char *paths_run(const struct paths *p, int64_t run_id, const char *suffix)
{
	return xasprintf("%s/run/%lld.%s", p->dir, (long long)run_id, suffix);
}

/* Devices have names like cpu:0 or GPU-<uuid>. A slash, which no known name has, becomes '_'. */
static char *lock_of_device(const struct paths *p, const char *prefix, const char *device)
{
	char *path = xasprintf("%s/run/%s-%s.lock", p->dir, prefix, device);

	for (char *c = path + strlen(p->dir) + strlen("/run/"); *c; c++)
		if (*c == '/')
			*c = '_';
	return path;
}

char *paths_device_lock(const struct paths *p, const char *device)
{
	return lock_of_device(p, "device", device);
}

char *paths_measure_lock(const struct paths *p, const char *device)
{
	return lock_of_device(p, "measure", device);
}

int paths_have_store(const struct paths *p, bool *have, struct err *err)
{
	*have = access(p->store, F_OK) == 0;
	if (*have || errno == ENOENT)
		return 0;
	return err_set(err, errno == EACCES ? EX_NOPERM : EX_OSFILE,
		       "cannot look for the store '%s': %s", p->store, strerror(errno));
}

bool paths_on_network(const struct paths *p)
{
	/* Magic numbers of statfs(2): NFS, SMB/CIFS (two), AFS, Ceph, Lustre, FUSE (sshfs), 9P,
	 * GPFS, BeeGFS. */
	static const unsigned long remote[] = { 0x6969, 0xff534d42, 0xfe534d42, 0x5346414f,
						0x00c36400, 0x0bd00bd0, 0x65735546, 0x01021997,
						0x47504653, 0x19830326 };
	struct statfs fs;

	if (statfs(p->dir, &fs))
		return false;
	for (size_t i = 0; i < sizeof(remote) / sizeof(remote[0]); i++)
		if (((unsigned long)fs.f_type & 0xffffffffUL) == remote[i])
			return true;
	return false;
}

/* --- names in paths --- */

const char *path_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

char *path_within(const char *directory, const char *path)
{
	return *path == '/' || !directory ? xstrdup(path) : xasprintf("%s/%s", directory, path);
}

char *path_search(const char *list, const char *name, const char *directory)
{
	autofree char *copy = xstrdup(list);
	char *rest = copy, *found = NULL;
	struct stat st;

	for (const char *part; !found && (part = strsep(&rest, ":"));) {
		autofree char *place = *part ? path_within(directory, part) : NULL;

		found = place ? xasprintf("%s/%s", place, name) : NULL;
		if (found && (stat(found, &st) || !S_ISREG(st.st_mode) || access(found, X_OK))) {
			free(found);
			found = NULL;
		}
	}
	return found;
}

/* --- find share/pollux --- */

static char *existing(char *path)
{
	if (access(path, F_OK) == 0)
		return path;
	free(path);
	return NULL;
}

char *paths_data(const char *name)
{
	const char *share = getenv("POLLUX_DATA_DIR");
	char program[PATH_MAX], *slash, *found;
	ssize_t n;

	if (share && *share)
		return existing(xasprintf("%s/pollux/%s", share, name));
	n = readlink("/proc/self/exe", program, sizeof(program) - 1);
	if (n <= 0)
		return NULL;
	program[n] = '\0';
	slash = strrchr(program, '/');
	*slash = '\0';
	found = existing(xasprintf("%s/../share/pollux/%s", program, name));
	return found ? found : existing(xasprintf("%s/../../share/pollux/%s", program, name));
}
