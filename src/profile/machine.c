/* machine.c - what the processors are busy with, from /proc and the control group. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "profile_state.h"

/* "cpu user nice system idle iowait irq softirq steal ...", in ticks. */
static void read_processors(struct machine_time *t)
{
	unsigned long long user, nice, system, idle, wait, irq, softirq, steal;
	FILE *f = fopen("/proc/stat", "re");
	double tick_s = 1.0 / (double)sysconf(_SC_CLK_TCK);

	if (!f)
		return;
	if (fscanf(f, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system, &idle, &wait,
		   &irq, &softirq, &steal) == 8) {
		t->busy_s = (double)(user + nice + system + irq + softirq) * tick_s;
		t->stolen_s = (double)steal * tick_s;
	}
	fclose(f);
}

/* A container that may use less than it sees. */
static double read_held_back(void)
{
	FILE *f = fopen("/sys/fs/cgroup/cpu.stat", "re");
	unsigned long long us = 0;
	char line[128];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "throttled_usec %llu", &us) == 1)
			break;
	if (f)
		fclose(f);
	return 1e-6 * (double)us;
}

struct machine_time machine_time_now(void)
{
	struct machine_time t = { .boot_s = clock_boot_s() };

	read_processors(&t);
	t.stolen_s += read_held_back();
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
