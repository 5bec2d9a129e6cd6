/* test_device_cpu.c - CPU slots on machines described to hwloc in words, and binding on this one.
 * Descriptions name the memory, "[numa]": adding it itself, hwloc 2.9 copies overlapping memory. */
#include <sched.h>
#include <unistd.h>

#include "pollux/device.h"
#include "pollux/mem.h"
#include "tap.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct want {
	const char *binding, *kind;
	int cores;
};

static struct err err;

static int list_slots(struct device_list *list, int slots)
{
	struct device_settings settings = { .slots = slots };

	err = (struct err){ 0 };
	return devices_list(&settings, list, &err);
}

static void expect(const char *machine, int slots, const struct want *want, int n)
{
	struct device_list list;
	char id[16];

	setenv("HWLOC_SYNTHETIC", machine, 1);
	printf("# %s, slots = %d\n", machine, slots);
	is_int(list_slots(&list, slots), 0, "the slots of a described machine are listed");
	is_int(list.count, n, "a described machine has as many slots as wanted");
	for (int i = 0; i < n && i < list.count; i++) {
		const struct device *d = &list.items[i];

		snprintf(id, sizeof(id), "cpu:%d", i);
		is_str(d->id, id, "the slots are numbered in order");
		is_str(d->binding, want[i].binding, "a slot names its logical processors");
		is_int(d->cores, want[i].cores, "a slot tells its number of cores");
		is_str(d->kind, want[i].kind, "a slot tells its kind");
		ok(d->usable && !d->reason[0] && d->memory_bytes == 0,
		   "a slot is usable and tells no reason and no memory");
	}
	devices_release(&list);
	unsetenv("HWLOC_SYNTHETIC");
}

static void test_one_per_core(void)
{
	static const struct want four[] = {
		{ "0", "CPU, 1 core", 1 }, { "1", "CPU, 1 core", 1 },
		{ "2", "CPU, 1 core", 1 }, { "3", "CPU, 1 core", 1 },
	};
	static const struct want threads[] = {
		{ "0-1", "CPU, 1 core", 1 }, { "2-3", "CPU, 1 core", 1 },
	};
	static const struct want interleaved[] = {
		{ "0,4", "CPU, 1 core", 1 }, { "2,6", "CPU, 1 core", 1 },
		{ "1,5", "CPU, 1 core", 1 }, { "3,7", "CPU, 1 core", 1 },
	};

	expect("package:1 [numa] core:4 pu:1", 0, four, 4);
	expect("package:1 [numa] core:2 pu:2", 0, threads, 2);
	/* The kernel numbers packages in turn, and second threads last: cores of a package are
	 * neighbours all the same. */
	expect("package:2 [numa] core:2 pu:2(indexes=0,4,2,6,1,5,3,7)", 0, interleaved, 4);
	expect("package:1 [numa] pu:4", 0, four, 4);	/* no word of cores */
}

static void test_groups(void)
{
	static const struct want halves[] = {
		{ "0,2,4,6", "CPU, 2 cores", 2 }, { "1,3,5,7", "CPU, 2 cores", 2 },
	};
	static const struct want uneven[] = {
		{ "0", "CPU, 1 core", 1 }, { "1", "CPU, 1 core", 1 }, { "2-3", "CPU, 2 cores", 2 },
	};
	static const struct want whole[] = { { "0-7", "CPU, 4 cores", 4 } };

	expect("package:2 [numa] core:2 pu:2(indexes=0,4,2,6,1,5,3,7)", 2, halves, 2);
	expect("package:1 [numa] core:4 pu:1", 3, uneven, 3);	/* every core is in some slot */
	expect("package:1 [numa] core:4 pu:2", 1, whole, 1);
}

static void test_sizes(void)
{
	static const struct want sizes[] = {
		{ "0", "CPU, 1 core", 1 }, { "1", "CPU, 1 core", 1 }, { "2-3", "CPU, 2 cores", 2 },
	};

	expect("package:1 [numa] core:4 pu:1", device_slots_of_two_sizes(2, 1, 1, 2), sizes, 3);
}

static void test_shared(void)
{
	static const struct want three[] = {
		{ "0", "CPU, 1 core shared by 2 slots", 1 },
		{ "0", "CPU, 1 core shared by 2 slots", 1 }, { "1", "CPU, 1 core", 1 },
	};
	struct device_list list;

	expect("package:1 [numa] core:2 pu:1", 3, three, 3);
	setenv("HWLOC_SYNTHETIC", "package:2 [numa] core:700 pu:1", 1);
	is_int(list_slots(&list, 0), 0, "a machine of 1400 cores is listed");
	is_int(list.count, DEVICE_MAX, "a machine of 1400 cores has the most slots there may be");
	devices_release(&list);
	unsetenv("HWLOC_SYNTHETIC");
}

/* Row by row below the diagonal: F, S, N, M for the four links. */
static void expect_links(const char *machine, int slots, const char *want)
{
	struct device_list list;
	static const char letters[] = "FSNM?";
	char got[128] = "";
	size_t n = 0;

	setenv("HWLOC_SYNTHETIC", machine, 1);
	is_int(list_slots(&list, slots), 0, machine);
	is_int(list.linked, list.count, "a list of slots has links for all of them");
	for (int a = 0; a < list.count; a++)
		for (int b = 0; b <= a; b++) {
			int there = list.links[a * list.count + b],
			    back = list.links[b * list.count + a];

			if (a == b && a < list.count - 1)
				got[n++] = there == DEVICE_LINK_FAST ? ' ' : '?';
			else if (a != b)
				got[n++] = letters[there == back ? there : 4];
		}
	is_str(got, want, "the links tell how near slots are");
	devices_release(&list);
	unsetenv("HWLOC_SYNTHETIC");
}

static void test_links(void)
{
	expect_links("package:2 [numa] l3:2 core:2 pu:1", 0, " S NN NNS MMMM MMMMS MMMMNN MMMMNNS");
	expect_links("package:2 [numa] l3:2 core:2 pu:1", 4, " N MM MMN");
	/* As large as a node; larger, so in no one node. */
	expect_links("package:2 [numa] l3:2 core:2 pu:1", 2, " M");
	expect_links("package:2 l3:2 [numa] core:2 pu:1", 2, " M");
	expect_links("package:1 [numa] core:2 pu:2", 0, " N");	/* no word of caches */
	expect_links("package:1 [numa] l3:1 core:3 pu:1", 0, " S SS");
	/* slots that share a core */
	expect_links("package:1 [numa] l3:2 core:1 pu:1", 4, " S NN NNS");
	expect_links("package:1 [numa] core:4 pu:1", 1, "");
}

/* 400 logical processors, every other one: their list has more than 1023 characters. */
static void test_long_binding(void)
{
	char machine[4096] = "package:2 [numa] core:400 pu:1(indexes=";
	struct device_list list;
	size_t n = strlen(machine);

	for (int i = 0; i < 800; i++)
		n += (size_t)snprintf(machine + n, sizeof(machine) - n, "%d%c",
				      2 * (i % 400) + i / 400, i < 799 ? ',' : ')');
	setenv("HWLOC_SYNTHETIC", machine, 1);
	is_int(list_slots(&list, 2), 0, "two slots of 400 scattered cores are listed");
	ok(!list.items[0].usable && !list.items[0].binding[0],
	   "a slot of 400 scattered cores cannot be used");
	ok(strstr(list.items[0].reason, "use more slots") != NULL,
	   "a slot that cannot be used says to use more slots");
	devices_release(&list);
	is_int(list_slots(&list, 4), 0, "four slots of 200 scattered cores are listed");
	ok(list.items[3].usable, "a slot of 200 scattered cores is usable");
	devices_release(&list);
	unsetenv("HWLOC_SYNTHETIC");
}

static void test_this_machine(void)
{
	scoped(devices_release) struct device_list list = { 0 };

	is_int(list_slots(&list, 0), 0, "the slots of this machine are listed");
	if (ok(list.count >= 1, "this machine has a slot")) {
		is_str(list.items[0].id, "cpu:0", "the first slot of this machine is cpu:0");
		is_int(list.items[0].cores, 1, "the first slot of this machine has one core");
		ok(strstr(list.items[0].kind, ", 1 core") != NULL,
		   "the kind of the first slot says that it has one core");
	}
}

/* Only cores that this process may use are slots. */
static void test_affinity(void)
{
	cpu_set_t all, one;
	struct device_list list;
	char last[24];
	size_t core = 0;

	sched_getaffinity(0, sizeof(all), &all);
	for (size_t i = 0; i < CPU_SETSIZE; i++)
		core = CPU_ISSET(i, &all) ? i : core;
	CPU_ZERO(&one);
	CPU_SET(core, &one);
	sched_setaffinity(0, sizeof(one), &one);
	is_int(list_slots(&list, 0), 0, "the slots of a process confined to one core are listed");
	is_int(list.count, 1, "a process confined to one core has one slot");
	snprintf(last, sizeof(last), "%zu", core);
	is_str(list.items[0].binding, last, "the slot of a confined process is bound to its core");
	devices_release(&list);
	sched_setaffinity(0, sizeof(all), &all);
}

/* Bind, read back, and go back to where we were. */
static void test_bind(void)
{
	const struct device_backend *cpu = device_backend_of("cpu:0");
	struct device devices[2] = { { .cores = 1 }, { .cores = 1 } };
	cpu_set_t before, after;
	struct device_list list;

	if (!ok(cpu == &device_cpu, "the id of a slot finds its backend"))
		return;
	sched_getaffinity(0, sizeof(before), &before);
	list_slots(&list, 0);
	is_int(cpu->bind(list.items, 1, &err), 0, "a process can bind to one slot");
	sched_getaffinity(0, sizeof(after), &after);
	ok(CPU_ISSET(strtoul(list.items[0].binding, NULL, 10), &after),
	   "a bound process may use the processor of its slot");
	ok(list.count == 1 || CPU_COUNT(&after) < CPU_COUNT(&before),
	   "a bound process may not use all processors");
	sched_setaffinity(0, sizeof(before), &before);
	is_int(cpu->bind(list.items, list.count, &err), 0, "a process can bind to all slots");
	sched_getaffinity(0, sizeof(after), &after);
	ok(CPU_EQUAL(&before, &after), "a process bound to all slots may use all their processors");
	devices_release(&list);

	snprintf(devices[0].binding, sizeof(devices[0].binding), "4000-4003,4010");
	is_int(cpu->bind(devices, 1, &err), -1,
	       "a process cannot bind to processors that are not there");
	is_str(err.text, "cannot bind to cores '4000-4003,4010': this process may use none of them",
	       "the error names the processors that are not there");
	is_int(cpu->bind(&devices[1], 1, &err), -1, "a process cannot bind to an empty list");
	is_str(err.text, "cannot bind to cores '': not a list of cores",
	       "the error says that an empty list is no list of cores");
	snprintf(devices[0].binding, sizeof(devices[0].binding), "2-");
	is_int(cpu->bind(devices, 1, &err), -1, "a process cannot bind to a list without end");
	is_str(err.text, "cannot bind to cores '2-': not a list of cores",
	       "the error says that a list without end is no list of cores");
	is_int(cpu->bind(devices, 0, &err), -1, "a process cannot bind to no slot");
	sched_getaffinity(0, sizeof(after), &after);
	ok(CPU_EQUAL(&before, &after), "a refused binding changes nothing");
}

static void test_environment(void)
{
	struct device devices[2] = { { .cores = 4 }, { .cores = 3 } };
	scoped(strings_release) struct strings env = { 0 };

	strings_init(&env);
	strings_add(&env, "OMP_NUM_THREADS=64");
	device_cpu.environment(devices, 1, &env);
	is_int((long long)env.count, 1, "a slot replaces the user's variable of threads");
	is_str(env.items[0], "OMP_NUM_THREADS=4",
	       "a replica gets as many threads as its slot has cores");
	device_cpu.environment(devices, 2, &env);
	is_str(env.items[0], "OMP_NUM_THREADS=3",
	       "a replica gets the threads of the smallest slot");
}

static void test_names(void)
{
	ok(!device_backend_of("cpu"), "a name without a colon has no backend");
	ok(!device_backend_of("cpux:0"), "a name that is longer than a backend's has none");
	ok(!device_backend_of("c:0"), "half of a backend's name has no backend");
	ok(!device_backend_of(""), "an empty name has no backend");
}

/* hwloc is told to be quiet through the environment, which jobs inherit. */
static void test_clean_environment(void)
{
	struct device_list list;

	setenv("HWLOC_HIDE_ERRORS", "0", 1);
	list_slots(&list, 1);
	devices_release(&list);
	is_str(getenv("HWLOC_HIDE_ERRORS"), "0",
	       "listing slots leaves a variable of the user as it was");
	ok(!getenv("HWLOC_PLUGINS_PATH"), "listing slots leaves no variable of hwloc behind");
}

int main(void)
{
	setenv("POLLUX_NVML", "none", 1);	/* whatever this machine has */
	unsetenv("HWLOC_PLUGINS_PATH");
	unsetenv("HWLOC_XMLFILE");
	test_one_per_core();
	test_groups();
	test_sizes();
	test_shared();
	test_links();
	test_long_binding();
	test_this_machine();
	test_affinity();
	test_bind();
	test_environment();
	test_names();
	test_clean_environment();
	return done();
}
