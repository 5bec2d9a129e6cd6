/* test_run_group.c - the control groups in which those of new runs are made. */
#include "engine/local/run_group.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pollux/mem.h"
#include "tap.h"

static void leaves(const char *path, const char *want, const char *what)
{
	autofree char *got = xstrdup(path);

	run_group_leave(got);
	is_str(got, want, what);
}

/* Plain files stand for those of the kernel. */

static void put(const char *group, const char *name, const char *text)
{
	char *path = xasprintf("%s/%s", group, name);
	FILE *f = fopen(path, "w");

	if (f) {
		fputs(text, f);
		fclose(f);
	}
	free(path);
}

static void has(const char *group, const char *name, const char *want, const char *what)
{
	char *path = xasprintf("%s/%s", group, name), line[64] = "";
	FILE *f = fopen(path, "r");

	if (f && !fgets(line, sizeof(line), f))
		line[0] = '\0';
	if (f)
		fclose(f);
	is_str(line, want, what);
	free(path);
}

static void test_memory(void)
{
	char base[] = "/tmp/pollux-test-group.XXXXXX";
	char *group = mkdtemp(base) ? xasprintf("%s/run", base) : NULL;
	int64_t peak;

	ok(group && mkdir(group, 0700) == 0, "a directory stands for a group");
	put(base, "cgroup.subtree_control", "");
	ok(!run_group_limit_memory(group, 1 << 20), "a group without a controller limits nothing");
	has(base, "cgroup.subtree_control", "+memory", "the group above is asked for a controller");
	put(group, "memory.max", "");
	put(group, "memory.swap.max", "");
	put(group, "memory.oom.group", "");
	put(group, "memory.peak", "1048576\n");
	put(group, "memory.events", "low 0\noom 1\noom_kill 3\noom_group_kill 1\n");
	ok(run_group_limit_memory(group, 1 << 20), "a group with a controller has a limit");
	has(group, "memory.max", "1048576", "the limit is that of its memory");
	has(group, "memory.swap.max", "0", "it has no swap");
	has(group, "memory.oom.group", "1", "all of it is killed at once");
	ok(run_group_memory_kills(group, &peak) == 3 && peak == 1048576,
	   "how many were killed, and the most memory, are read");
	ok(!run_group_remove(group), "files of a test remain");
	for (int i = 0; i < 5; i++) {
		static const char *const names[] = {
			"memory.max", "memory.swap.max", "memory.oom.group", "memory.peak",
			"memory.events",
		};
		char *path = xasprintf("%s/%s", group, names[i]);

		unlink(path);
		free(path);
	}
	ok(run_group_remove(group), "then the group goes");
	free(group);
	group = xasprintf("%s/cgroup.subtree_control", base);
	unlink(group);
	rmdir(base);
	free(group);
}

int main(void)
{
	test_memory();
	leaves("/user.slice/pollux-0123456789abcdef-17.a1b2c3d4", "/user.slice",
	       "a new run leaves the group of another run");
	leaves("/user.slice/pollux-0123456789abcdef-17.a1b2c3d4/inner", "/user.slice",
	       "a new run leaves the groups that the other run's job made");
	leaves("/a/pollux-0123456789abcdef-17.a1b2c3d4/pollux-fedcba9876543210-2.d4c3b2a1", "/a",
	       "a new run leaves the group of a run within a run");
	leaves("/pollux-0123456789abcdef-17", "", "a new run leaves the group of a run at the top");
	leaves("/system.slice/pollux-nightly.service", "/system.slice/pollux-nightly.service",
	       "a new run stays in a unit of another name");
	leaves("/system.slice/pollux-.service", "/system.slice/pollux-.service",
	       "a new run stays in a unit of a very short name");
	leaves("/pollux-0123456789abcdef.service", "/pollux-0123456789abcdef.service",
	       "a new run stays in a unit that is named like a part of a group");
	leaves("/machine.slice/pollux-7-2.scope/pollux-0123456789abcdef-3.a1b2c3d4",
	       "/machine.slice/pollux-7-2.scope",
	       "a new run leaves the group of a run within such a unit");
	leaves("/", "/", "a new run stays at the root");
	return done();
}
