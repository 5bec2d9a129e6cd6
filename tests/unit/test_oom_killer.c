/* test_oom_killer.c - whose kills the kernel counts, as it shows them in its files. */
#include <sys/stat.h>
#include <unistd.h>

#include "engine/local/oom_killer.h"
#include "pollux/file.h"
#include "pollux/mem.h"
#include "tap.h"

static char root[] = "/tmp/test_oom_killer.XXXXXX";

/* A file below root, its directories made. */
static void put(const char *path, const char *text)
{
	char *name = xasprintf("%s/%s", root, path);
	FILE *f;

	for (char *p = name + strlen(root) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(name, 0777);
		*p = '/';
	}
	f = fopen(name, "w");
	if (!f || fputs(text, f) < 0 || fclose(f))
		printf("# cannot write %s\n", name);
	free(name);
}

static void is_reading(int64_t kills, int64_t memory_bytes, bool of_group, const char *what)
{
	char *proc = xasprintf("%s/proc", root), *cgroup = xasprintf("%s/cgroup", root);
	struct oom_reading r;

	oom_read(proc, cgroup, &r);
	ok(r.kills == kills && r.memory_bytes == memory_bytes && r.of_group == of_group, what);
	if (r.kills != kills || r.memory_bytes != memory_bytes)
		printf("# %lld kills, %lld bytes\n", (long long)r.kills, (long long)r.memory_bytes);
	free(proc);
	free(cgroup);
}

static void test_read(void)
{
	is_reading(-1, 0, false, "no files: nothing is known");
	put("proc/meminfo", "MemTotal:       1024 kB\nMemFree:         512 kB\n");
	put("proc/vmstat", "pgfault 99\noom_kill 7\n");
	is_reading(7, 1048576, false, "without control groups, the machine's");
	put("proc/self/cgroup", "0::/user.slice/session-1.scope\n");
	put("cgroup/user.slice/memory.max", "max\n");
	put("cgroup/user.slice/session-1.scope/memory.max", "max\n");
	is_reading(7, 1048576, false, "nor where they are there, but not for memory");
	put("cgroup/user.slice/memory.events",
	    "low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 0\n");
	is_reading(2, 1048576, true, "the group's, if above its own");
	put("cgroup/user.slice/session-1.scope/memory.events", "low 0\noom 1\noom_kill 1\n");
	put("cgroup/user.slice/memory.max", "65536\n");
	put("cgroup/user.slice/session-1.scope/memory.max", "131072\n");
	is_reading(1, 65536, true, "its own count; the least limit");

	/* The first version: its own hierarchy, and in a container another root. */
	put("proc/self/cgroup", "9:name=systemd:/\n4:memory:/docker/abc\n2:cpuacct:/\n0::/\n");
	put("cgroup/memory/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 5\n");
	put("cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
	is_reading(5, 1048576, true, "of version 1; no limit is no limit");
	put("cgroup/memory/docker/abc/memory.oom_control",
	    "oom_kill_disable 0\nunder_oom 0\noom_kill 4\n");
	put("cgroup/memory/docker/abc/memory.limit_in_bytes", "524288\n");
	is_reading(4, 524288, true, "of the group itself, where it is to be seen");
	put("cgroup/memory/docker/abc/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\n");
	is_reading(5, 524288, true, "one of an old kernel counts none");
}

static void test_killer(void)
{
	struct oom_reading before = { .kills = 3, .memory_bytes = 1600, .of_group = true },
			   now = before;

	ok(!oom_was_killer(&before, &now, 1600), "it killed nobody");
	now.kills = 4;
	ok(oom_was_killer(&before, &now, 100), "it killed somebody, and this had a sixteenth");
	ok(!oom_was_killer(&before, &now, 99), "less than that is not whom it takes");
	now.of_group = false;
	ok(!oom_was_killer(&before, &now, 1600), "counts of others are no counts of these");
	now = before;
	before.kills = -1;
	ok(!oom_was_killer(&before, &now, 1600), "nobody knows how many there were");
}

static void test_watch(void)
{
	struct oom_watch w;

	oom_watch_start(&w, 100);
	w.last.kills = 41;
	w.before.kills = 40;
	oom_watch_look(&w, 100 + OOM_WINDOW_S - 1);
	is_int(w.before.kills, 40, "within seconds the older reading stays");
	oom_watch_look(&w, 100 + OOM_WINDOW_S);
	is_int(w.before.kills, 41,
	       "then what was newer is the older one: kills of long ago are none of its");
	ok(w.last.kills != 41, "and a new one is taken");

	/* An adopted run's: what was killed before it is none of its. */
	oom_watch_init(&w);
	is_int(w.before.kills, -1, "one that was not started knows nothing");
	oom_watch_look(&w, 100);
	is_int(w.before.kills, -1, "nor when it was looked at once");
}

int main(void)
{
	if (!mkdtemp(root))
		return 1;
	test_read();
	test_killer();
	test_watch();
	remove_tree(root);
	return done();
}
