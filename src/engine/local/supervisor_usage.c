/* supervisor_usage.c - the largest memory of a run, and its processor time. */
#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "pollux/run_nodes.h"
#include "pollux/clock.h"
#include "pollux/proc.h"
#include "supervisor_driver.h"
#include "supervisor_loop.h"
#include "supervisor_remote.h"

/* Returns the memory of the listed processes on one device. In a container with pids of its own
 * nobody can tell whose processes they are; on an assigned device they are taken for the run's. */
static int64_t bytes_on(const struct supervisor *s, const struct device_process *list, int n,
			int device)
{
	struct run_marks m = supervisor_marks(s);
	bool sees_all = proc_sees_all();
	int64_t bytes = 0;

	for (int i = 0; i < n; i++)
		if (list[i].device == device && list[i].memory_bytes > 0 &&
		    (!sees_all || proc_bears((pid_t)list[i].pid, &m.marks)))
			bytes += list[i].memory_bytes;
	run_marks_release(&m);
	return bytes;
}

/* Limits of the questions during a measured run: rare and short. */
#define FIRST_SAMPLE_S 0.5
#define SAMPLE_S 2.0
#define SAMPLE_PART 0.01	/* of the time may go into looking at the memory of processes */
#define ANSWER_S 2.0

/* Returns the largest memory on any of the devices: that device fills up first. */
static void take_sample(struct supervisor *s, struct device_process *list, int n)
{
	for (int i = 0; n > 0 && i < s->run.configuration.replicas; i++) {
		int64_t bytes = bytes_on(s, list, n, i);

		if (bytes > s->run.peak_device_memory_bytes)
			s->run.peak_device_memory_bytes = bytes;
	}
	free(list);
	if (!s->stop_waits)
		return;
	s->stop_waits = false;
	s->sampled_last = true;
	supervisor_handle(s, EV_STOP);
}

static enum driver_asked sample_devices(struct supervisor *s)
{
	if (!s->job.profile || s->adopted)
		return DRIVER_NONE;
	s->next_driver_boot_s = clock_boot_s() + SAMPLE_S;
	return supervisor_ask_driver(s, ANSWER_S, take_sample);
}

bool supervisor_sample_first(struct supervisor *s)
{
	if (!s->stop_waits && !s->sampled_last)
		s->stop_waits = sample_devices(s) != DRIVER_NONE && s->driver.fd >= 0;
	return s->stop_waits;
}

/* True if the processes here are not the programs: those of several nodes are begun by srun. */
static bool sees_srun(const struct supervisor *s)
{
	return supervisor_remote && run_n_nodes(&s->run) > 1;
}

/* Asks the driver only for a profile, whose purpose is to measure: a question costs
 * milliseconds. */
void supervisor_sample_memory(struct supervisor *s)
{
	double now_s = clock_boot_s();

	if (now_s >= s->next_memory_boot_s && !sees_srun(s)) {
		int64_t bytes = supervisor_used_bytes(s);

		if (bytes > s->run.peak_memory_bytes)
			s->run.peak_memory_bytes = bytes;
		s->next_memory_boot_s = now_s + (clock_boot_s() - now_s) / SAMPLE_PART;
	}
	if (now_s - s->run.launch_boot_s >= FIRST_SAMPLE_S && now_s >= s->next_driver_boot_s)
		sample_devices(s);
}

/* Takes the use of the leader or of an orphan, with all processes that these waited for. Their
 * largest memory may lie between two looks. */
void supervisor_take_usage(struct supervisor *s, const struct rusage *usage)
{
	const struct timeval *user = &usage->ru_utime, *system = &usage->ru_stime;

	double cpu_s = (double)(user->tv_sec + system->tv_sec) +
		       1e-6 * (double)(user->tv_usec + system->tv_usec);

	if (sees_srun(s))
		return;
	s->run.cpu_time_s = isfinite(s->run.cpu_time_s) ? s->run.cpu_time_s + cpu_s : cpu_s;
	if (usage->ru_maxrss * 1024 > s->run.peak_memory_bytes)
		s->run.peak_memory_bytes = usage->ru_maxrss * 1024;
}
