/* supervisor_usage.c - what a run takes of the machine. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/proc.h"
#include "pollux/store_measurements.h"
#include "pollux/store_runs.h"
#include "supervisor.h"
#include "supervisor_driver.h"
#include "supervisor_loop.h"
#include "supervisor_remote.h"

/* --- memory and processor time --- */

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
#define SAMPLE_ANSWER_S 2.0

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
	return supervisor_ask_driver(s, SAMPLE_ANSWER_S, take_sample);
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

/* --- energy --- */

/* Counters are read when the run gets its devices, when it leaves them, when another run comes to
 * share them or leaves, and once a minute between. A driver is asked in a child, so that its answer
 * comes later; every answer has the counters (supervisor_driver.c). */

/* Processors' counters begin again after some minutes under load. */
#define READ_S 60.0
#define ANSWER_S 5.0

/* Returns what was taken between two readings of a counter; NaN: not known. A counter without a
 * range falls only where its driver is loaded anew. */
static double taken_j(const struct device_energy *before, const struct device_energy *now)
{
	double joules = now->joules - before->joules;

	if (joules < 0)
		joules = now->range_j > 0 ? joules + now->range_j : now->joules;
	return joules * now->part;
}

void supervisor_count_energy(struct supervisor *s, const struct device_energy *list, int n)
{
	struct run_energy *e = &s->energy;
	double joules = 0;
	struct err err;

	for (int i = 0; i < n && e->n == n; i++)
		joules += taken_j(&e->last[i], &list[i]);
	if (e->n == n && n > 0 && isfinite(joules)) {
		s->run.energy_j = fmax(s->run.energy_j, 0) + joules / (double)(e->others + 1);
		s->recorder.changed = true;
	}
	e->others = e->others_now;
	e->next_boot_s = clock_boot_s() + READ_S;
	supervisor_forget_energy(s);
	if (s->run.suspension >= SUSPENSION_DONE && s->recorder.changed &&
	    recorder_write(&s->recorder, &s->store, &s->run, &err))
		supervisor_log(s, "%s", err.text);
	if (n == 0 || s->run.suspension >= SUSPENSION_DONE)
		return;
	e->last = xmalloc((size_t)n * sizeof(*list));
	memcpy(e->last, list, (size_t)n * sizeof(*list));
	e->n = n;
}

void supervisor_forget_energy(struct supervisor *s)
{
	free(s->energy.last);
	s->energy.last = NULL;
	s->energy.n = 0;
}

static void drop_list(struct supervisor *s, struct device_process *list, int n)
{
	(void)s;
	(void)n;
	free(list);
}

/* The driver of a profile's devices is asked often enough. */
void supervisor_read_energy(struct supervisor *s)
{
	const struct device_backend *backend = device_backend_of(s->run.devices[0].id);
	struct device_energy *list;

	s->energy.next_boot_s = clock_boot_s() + READ_S;
	if (backend && backend->energy) {
		int n = backend->energy(s->run.devices, s->run.configuration.replicas, &list);

		supervisor_count_energy(s, list, n);
		free(list);
	} else if (!s->job.profile &&
		   supervisor_ask_driver(s, ANSWER_S, drop_list) == DRIVER_NONE) {
		supervisor_forget_energy(s);
	}
}

void supervisor_read_energy_at_once(struct supervisor *s)
{
	const struct device_backend *backend = device_backend_of(s->run.devices[0].id);

	if (backend && backend->energy)
		supervisor_read_energy(s);
}

void supervisor_watch_energy(struct supervisor *s)
{
	struct run_energy *e = &s->energy;
	struct err err;

	if (s->run.configuration.share > 0 &&
	    store_share_count(&s->store, s->run.id, &e->others_now, &err))
		supervisor_log(s, "%s", err.text);
	if (e->others_now != e->others || clock_boot_s() >= e->next_boot_s)
		supervisor_read_energy(s);
}

/* --- processors --- */

/* Where the kernel does not tell. */
#define EVERY_PROCESSOR "0-1023"
/* A thread that begins while the others are bound has the processors of the thread that made it. */
#define ROUNDS 2

static int count_processors(const char *list)
{
	long first, last;
	int n = 0;

	while (device_next_span(&list, &first, &last))
		n += (int)(last - first) + 1;
	return n;
}

/* The physical cores of a slot for each of its processors. */
static int cores_among(const struct device *device, int processors)
{
	int all = count_processors(device->binding);

	return all > 0 ? processors * device->cores / all : processors;
}

struct device *supervisor_devices_with_cores(const struct run *run)
{
	int n = run->configuration.replicas;
	struct device *devices = xmalloc((size_t)n * sizeof(*devices));

	memcpy(devices, run->devices, (size_t)n * sizeof(*devices));
	for (int i = 0; run->cores[0] && i < n; i++) {
		int cores = cores_among(&run->devices[i], count_processors(run->cores) / n);

		snprintf(devices[i].binding, sizeof(devices[i].binding), "%s", run->cores);
		devices[i].cores = cores > 1 ? cores : 1;
	}
	return devices;
}

/* The processors of this process, which runs on devices without a binding begin with. */
static void own_processors(char list[RUN_CORES_SIZE])
{
	const char key[] = "Cpus_allowed_list:";
	FILE *status = file_open_stream("/proc/self/status");
	char line[RUN_CORES_SIZE];

	snprintf(list, RUN_CORES_SIZE, EVERY_PROCESSOR);
	while (status && fgets(line, sizeof(line), status))
		if (text_starts_with(line, key)) {
			line[strcspn(line, "\n")] = '\0';
			snprintf(list, RUN_CORES_SIZE, "%s",
				 line + strlen(key) + strspn(line + strlen(key), " \t"));
		}
	if (status)
		fclose(status);
}

/* A process that cannot be bound goes on where it was. */
static void bind_processes(struct supervisor *s, const struct device *devices, int n)
{
	const struct device_backend *backend = device_backend_of("cpu:0");
	struct pid_list list;
	struct err err;

	supervisor_find_processes(s, &list);
	for (int i = 0; i < list.count; i++)
		if (backend->rebind(list.items[i], devices, n, &err))
			supervisor_log(s, "%s", err.text);
	pid_list_release(&list);
}

void supervisor_look_for_cores(struct supervisor *s, const char *had)
{
	struct device *devices;

	if (strcmp(had, s->run.cores) == 0)
		return;
	devices = supervisor_devices_with_cores(&s->run);
	for (int i = 0; i < s->run.configuration.replicas; i++)
		if (!devices[i].binding[0])
			own_processors(devices[i].binding);
	for (int round = 0; round < ROUNDS; round++)
		bind_processes(s, devices, s->run.configuration.replicas);
	supervisor_log(s, "bound to processors %s", s->run.cores[0] ? s->run.cores
								      : "of its devices");
	free(devices);
}
