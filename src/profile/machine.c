/* machine.c - reads the load of the processors from /proc and the control group. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/engine.h"
#include "pollux/file.h"
#include "profile_state.h"

/* "cpu user nice system idle iowait irq softirq steal ...", in ticks. */
static void read_processors(struct machine_time *t)
{
	enum { USER, NICE, SYSTEM, IDLE, WAIT, IRQ, SOFTIRQ, STEAL, N };
	double tick_s = 1.0 / (double)sysconf(_SC_CLK_TCK), s[N] = { 0 };
	FILE *f = file_open_stream("/proc/stat");
	char line[512] = "", *p = line;

	if (f && fgets(line, sizeof(line), f) && text_starts_with(line, "cpu "))
		p += strlen("cpu ");
	for (int i = 0; p > line && i < N; i++)
		s[i] = (double)strtoull(p, &p, 10) * tick_s;
	t->busy_s = s[USER] + s[NICE] + s[SYSTEM] + s[IRQ] + s[SOFTIRQ];
	t->stolen_s = s[STEAL];
	if (f)
		fclose(f);
}

/* Seconds for which a quota of the container held back its processes. */
static double read_held_back(void)
{
	static const char name[] = "throttled_usec ";
	FILE *f = file_open_stream("/sys/fs/cgroup/cpu.stat");
	double us = 0;
	char line[128];

	while (f && fgets(line, sizeof(line), f))
		if (text_starts_with(line, name))
			us = (double)strtoull(line + strlen(name), NULL, 10);
	if (f)
		fclose(f);
	return 1e-6 * us;
}

static int64_t read_hot(void)
{
	int64_t n = 0;
	glob_t files;
	char line[32];

	if (glob("/sys/devices/system/cpu/cpu[0-9]*/thermal_throttle/core_throttle_count", 0, NULL,
		 &files))
		return 0;
	for (size_t i = 0; i < files.gl_pathc; i++) {
		FILE *f = file_open_stream(files.gl_pathv[i]);

		if (f && fgets(line, sizeof(line), f))
			n += strtoll(line, NULL, 10);
		if (f)
			fclose(f);
	}
	globfree(&files);
	return n;
}

bool machine_is_slowed(const struct device *devices, int n, const struct config *config, char *by,
		       size_t size)
{
	struct device_list list;
	struct err ignored;
	bool slowed = false;

	if (engine_devices(config, true, &list, &ignored))
		return false;
	for (int d = 0; d < list.count; d++)
		for (int i = 0; i < n && list.items[d].now.slowed_by; i++) {
			if (strcmp(list.items[d].id, devices[i].id) != 0)
				continue;
			slowed = true;
			snprintf(by, size, "%s", list.items[d].now.slowed_by);
		}
	devices_release(&list);
	return slowed;
}

struct machine_time machine_time_now(void)
{
	struct machine_time t = { .boot_s = clock_boot_s() };

	read_processors(&t);
	t.stolen_s += read_held_back();
	t.n_hot = read_hot();
	return t;
}

int machine_processors(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n > 0 ? (int)n : 1;
}

int64_t machine_memory_bytes(void)
{
	return (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
}
