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
	autofree char *name = xasprintf("%s/%s", root, path);
	FILE *f;

	for (char *p = name + strlen(root) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(name, 0777);
		*p = '/';
	}
	f = fopen(name, "w");
	if (!f || fputs(text, f) < 0 || fclose(f))
		printf("# cannot write %s\n", name);
}

static void is_reading(int64_t kills, int64_t memory_bytes, bool of_group, const char *what)
{
	autofree char *proc = xasprintf("%s/proc", root), *cgroup = xasprintf("%s/cgroup", root);
	struct oom_reading r;

	oom_read(proc, cgroup, &r);
	ok(r.kills == kills && r.memory_bytes == memory_bytes && r.of_group == of_group, what);
	if (r.kills != kills || r.memory_bytes != memory_bytes)
		printf("# %lld kills, %lld bytes\n", (long long)r.kills, (long long)r.memory_bytes);
}

static void test_read(void)
{
	is_reading(-1, 0, false, "a reading without files knows no kills");
	put("proc/meminfo", "MemTotal:       1024 kB\nMemFree:         512 kB\n");
	put("proc/vmstat", "pgfault 99\noom_kill 7\n");
	is_reading(7, 1048576, false, "a reading without control groups has the machine's kills");
	put("proc/self/cgroup", "0::/user.slice/session-1.scope\n");
	put("cgroup/user.slice/memory.max", "max\n");
	put("cgroup/user.slice/session-1.scope/memory.max", "max\n");
	is_reading(7, 1048576, false,
		   "a reading with groups without memory has the machine's kills");
	put("cgroup/user.slice/memory.events",
	    "low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 0\n");
	is_reading(2, 1048576, true, "a reading has the kills of a group above its own");
	put("cgroup/user.slice/session-1.scope/memory.events", "low 0\noom 1\noom_kill 1\n");
	put("cgroup/user.slice/memory.max", "65536\n");
	put("cgroup/user.slice/session-1.scope/memory.max", "131072\n");
	is_reading(1, 65536, true, "a reading has its own group's kills and the least limit");

	/* The first version: its own hierarchy, and in a container another root. */
	put("proc/self/cgroup", "9:name=systemd:/\n4:memory:/docker/abc\n2:cpuacct:/\n0::/\n");
	put("cgroup/memory/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 5\n");
	put("cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
	is_reading(5, 1048576, true, "a reading of version 1 has the group's kills, and no limit");
	put("cgroup/memory/docker/abc/memory.oom_control",
	    "oom_kill_disable 0\nunder_oom 0\noom_kill 4\n");
	put("cgroup/memory/docker/abc/memory.limit_in_bytes", "524288\n");
	is_reading(4, 524288, true, "a reading of version 1 has its own group where it is seen");
	put("cgroup/memory/docker/abc/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\n");
	is_reading(5, 524288, true,
		   "a reading skips the group of an old kernel that counts no kills");
}

static void test_killer(void)
{
	struct oom_reading before = { .kills = 3, .memory_bytes = 1600, .of_group = true },
			   now = before;

	ok(!oom_was_killer(&before, &now, 1600), "a run is no victim if nobody was killed");
	now.kills = 4;
	ok(oom_was_killer(&before, &now, 100),
	   "a run with a sixteenth of the memory may be the victim");
	ok(!oom_was_killer(&before, &now, 99), "a run with less than a sixteenth is no victim");
	now.of_group = false;
	ok(!oom_was_killer(&before, &now, 1600),
	   "a run is no victim by the counts of another group");
	now = before;
	before.kills = -1;
	ok(!oom_was_killer(&before, &now, 1600),
	   "a run is no victim if the earlier count is unknown");
}

static void test_watch(void)
{
	struct oom_watch w;

	oom_watch_start(&w, 100);
	w.last.kills = 41;
	w.before.kills = 40;
	oom_watch_look(&w, 100 + OOM_WINDOW_S - 1);
	is_int(w.before.kills, 40, "a watch keeps its older reading for seconds");
	oom_watch_look(&w, 100 + OOM_WINDOW_S);
	is_int(w.before.kills, 41, "a watch moves its newer reading to the older one in time");
	ok(w.last.kills != 41, "a watch takes a new reading in time");

	/* An adopted run's: what was killed before it is none of its. */
	oom_watch_init(&w);
	is_int(w.before.kills, -1, "a watch that was not started knows no kills");
	oom_watch_look(&w, 100);
	is_int(w.before.kills, -1, "a watch that was not started knows no kills after one look");
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
