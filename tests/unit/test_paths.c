/* test_paths.c - where things are, and which directories will do. */
#include <sys/stat.h>
#include <unistd.h>

#include "pollux/mem.h"
#include "pollux/paths.h"
#include "tap.h"

static char root[] = "/tmp/test_paths.XXXXXX";
static struct err err;

static void set(const char *name, const char *value)
{
	if (value)
		setenv(name, value, 1);
	else
		unsetenv(name);
}

/* NULL: unset. %s in what is wanted stands for the present directory. */
static const struct {
	const char *what, *pollux, *state, *config, *home;
	const char *want_dir, *want_config;
} places[] = {
	{ "POLLUX_DIR counts before all other directories",
	  "/p", "/s", "/c", "/h", "/p", "/p/config" },
	{ "XDG directories count before the home directory",
	  NULL, "/s", "/c", "/h", "/s/pollux", "/c/pollux/config" },
	{ "the home directory counts where nothing else is set", NULL, NULL, NULL, "/h",
	  "/h/.local/state/pollux", "/h/.config/pollux/config" },
	{ "one of the two XDG directories counts alone",
	  NULL, "/s", NULL, "/h", "/s/pollux", "/h/.config/pollux/config" },
	{ "empty variables count as unset", "", "", "", "/h",
	  "/h/.local/state/pollux", "/h/.config/pollux/config" },
	{ "a relative POLLUX_DIR is below the present directory",
	  "a/b", NULL, NULL, "/h", "%s/a/b", "%s/a/b/config" },
	{ "a relative home is below the present directory", NULL, NULL, NULL, "h",
	  "%s/h/.local/state/pollux", "%s/h/.config/pollux/config" },
};

static char *expand(const char *text)
{
	return text[0] == '%' ? xasprintf("%s%s", root, text + 2) : xstrdup(text);
}

static void test_places(void)
{
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		char *dir = expand(places[i].want_dir), *config = expand(places[i].want_config);
		autofree char *store = xasprintf("%s/pollux.db", dir);
		struct paths p;

		set("POLLUX_DIR", places[i].pollux);
		set("XDG_STATE_HOME", places[i].state);
		set("XDG_CONFIG_HOME", places[i].config);
		set("HOME", places[i].home);
		is_int(paths_init(&p, &err), 0, places[i].what);
		is_str(p.dir, dir, "the directory of the store is as wanted");
		is_str(p.config, config, "the settings are where they are wanted");
		is_str(p.store, store, "the store is in its directory");
		paths_release(&p);
		is_str(p.dir, NULL, "released paths have no directory");
		free(dir);
		free(config);
	}
	unsetenv("XDG_STATE_HOME");
	unsetenv("XDG_CONFIG_HOME");
}

static void test_names(void)
{
	scoped(paths_release) struct paths p = { 0 };
	char *name;

	set("POLLUX_DIR", "/p");
	paths_init(&p, &err);
	is_str(p.schedule_lock, "/p/schedule.lock", "the lock of a pass is in the directory");
	is_str(p.schedule_again, "/p/schedule.again",
	       "the request for another pass is in the directory");
	is_str(p.supervisor_log, "/p/supervisor.log", "the log of supervisors is in the directory");
	name = paths_log(&p, 17);
	is_str(name, "/p/logs/17.log", "the log of a job has its number");
	free(name);
	name = paths_checkpoints(&p, 17);
	is_str(name, "/p/checkpoints/17", "the checkpoints of a job have its number");
	free(name);
	name = paths_run(&p, 9000000000, "sock");
	is_str(name, "/p/run/9000000000.sock", "the socket of a run has its number");
	free(name);
	name = paths_device_lock(&p, "cpu:3");
	is_str(name, "/p/run/device-cpu:3.lock", "the lock of a device has its name");
	free(name);
	name = paths_device_lock(&p, "a/../../b");
	is_str(name, "/p/run/device-a_.._.._b.lock",
	       "the lock of a device has no slashes of its name");
	free(name);
}

static int mode_of(const char *format, const char *dir)
{
	autofree char *path = xasprintf("%s%s", dir, format);
	struct stat st;

	return stat(path, &st) ? -1 : (int)(st.st_mode & 07777);
}

/* Try to create the store's directories at ROOT/where. */
static int create(const char *where)
{
	autofree char *dir = xasprintf("%s/%s", root, where);
	scoped(paths_release) struct paths p = { 0 };

	set("POLLUX_DIR", dir);
	err = (struct err){ 0 };
	paths_init(&p, &err);
	return paths_create(&p, &err);
}

static void test_create(void)
{
	autofree char *want = NULL;

	umask(0);	/* the modes are ours, not the umask's */
	is_int(create("new/deep/store"), 0, "a directory and its parents are made");
	is_int(mode_of("/new", root), 0700, "a parent of the directory is made private");
	is_int(mode_of("/new/deep/store", root), 0700, "the directory is made private");
	is_int(mode_of("/new/deep/store/logs", root), 0700,
	       "the directory of logs is made private");
	is_int(mode_of("/new/deep/store/run", root), 0700, "the directory of runs is made private");
	is_int(mode_of("/new/deep/store/checkpoints", root), 0700,
	       "the directory of checkpoints is made private");
	is_int(create("new/deep/store"), 0, "a directory that is there is taken");
	is_int(create("new//deep/store/"), 0, "a directory is taken however it is written");
	umask(0077);
	is_int(create("tight/a/b"), 0, "a directory is made under a umask of 077");
	umask(0777);
	is_int(create("new/deep/store"), 0, "a directory is taken under a umask of 777");
	umask(022);

	chmod("new", 0755);
	is_int(create("new"), 0, "a directory that others may read is taken");
	chmod("new", 0775);
	is_int(create("new"), -1, "a directory that the group may write to is refused");
	is_int(err.exit_status, EX_NOPERM,
	       "a directory that the group may write to is a lack of permission");
	want = xasprintf("others may write to '%s/new'; type: export POLLUX_DIR=%s/new/pollux",
			 root, root);
	is_str(err.text, want, "the error of a directory for all says what to type");
	chmod("new", 0700);

	fclose(fopen("file", "w"));
	is_int(create("file"), -1, "a file in place of the directory is refused");
	is_int(err.exit_status, EX_CANTCREAT, "a file in place of the directory cannot be created");
	is_int(create("file/below"), -1, "a directory below a file is refused");
	is_int(err.exit_status, EX_CANTCREAT, "a directory below a file cannot be created");
	rmdir("new/deep/store/logs");
	fclose(fopen("new/deep/store/logs", "w"));
	is_int(create("new/deep/store"), -1, "a file in place of logs/ is refused");
	is_int(err.exit_status, EX_CANTCREAT, "a file in place of logs/ cannot be created");
	unlink("new/deep/store/logs");
	is_int(symlink("nowhere", "dangling"), 0, "the test makes a link to nowhere");
	is_int(create("dangling"), -1, "a link to nowhere in place of the directory is refused");
}

static void test_network(void)
{
	struct paths p;

	set("POLLUX_DIR", root);
	paths_init(&p, &err);
	ok(!paths_on_network(&p), "a directory under /tmp is on no network");
	paths_release(&p);
	set("POLLUX_DIR", "/nonexistent/directory");
	paths_init(&p, &err);
	ok(!paths_on_network(&p), "a directory that is not there is on no network");
	paths_release(&p);
}

int main(void)
{
	autofree char *command = NULL;

	if (!mkdtemp(root) || chdir(root))
		return 1;
	test_places();
	test_names();
	test_create();
	test_network();
	command = xasprintf("rm -rf '%s'", root);
	if (system(command))
		return 1;
	return done();
}
