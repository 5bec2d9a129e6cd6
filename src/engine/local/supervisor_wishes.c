/* supervisor_wishes.c - what is asked of a run while it goes on: by a person, who edits the job; by
 * a pass, which offers the program another configuration, or gives the run other processors. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/proc.h"
#include "pollux/store_jobs.h"
#include "pollux/store_runs.h"
#include "pollux/text.h"
#include "supervisor_parts.h"

/* --- a changed job --- */

double supervisor_limit_left_s(const struct supervisor *s, double boot_s)
{
	const struct run *run = &s->run;
	double worked_s = run_clock_s(run, boot_s) - run->launch_boot_s;

	if (isnan(s->job.declared.time_limit_s))
		return INFINITY;
	return s->job.declared.time_limit_s - s->job.progress.run_time_s - worked_s;
}

void supervisor_begin_limit(struct supervisor *s)
{
	if (isfinite(s->job.declared.time_limit_s))
		s->wishes.limit_boot_s = clock_boot_s() + s->job.declared.time_limit_s -
					 s->job.progress.run_time_s;
}

void supervisor_keep_limit(struct supervisor *s)
{
	s->wishes.limit_left_s = supervisor_limit_left_s(s, s->run.suspended_boot_s);
}

/* It may stand still since the run left its devices before. */
void supervisor_stop_limit(struct supervisor *s)
{
	if (isfinite(s->wishes.limit_boot_s))
		s->wishes.limit_left_s = s->wishes.limit_boot_s - s->run.suspended_boot_s;
	s->wishes.limit_boot_s = INFINITY;
}

void supervisor_go_on_limit(struct supervisor *s, double now)
{
	s->wishes.limit_boot_s = now + s->wishes.limit_left_s;
}

/* Takes a changed time limit. While the run is suspended its time stands still, so the rest of the
 * limit is kept for its return. */
static void take_time_limit(struct supervisor *s, double time_limit_s)
{
	double now = clock_boot_s();

	s->job.declared.time_limit_s = time_limit_s;
	if (s->state == ST_RUNNING) {
		s->wishes.limit_left_s = supervisor_limit_left_s(s, now);
		s->wishes.limit_boot_s = now + s->wishes.limit_left_s;
	} else if (s->state >= ST_SUSPENDING && s->state <= ST_THAWING) {
		supervisor_keep_limit(s);
	}
}

static bool is_same(double a, double b)
{
	return (isnan(a) && isnan(b)) || !(a < b || a > b || isnan(a) || isnan(b));
}

void supervisor_read_declared(struct supervisor *s)
{
	struct job job;
	struct err err;

	if (store_job_get(&s->store, s->job.id, &job, &err)) {
		supervisor_log(s, "%s", err.text);
		return;
	}
	if (!is_same(job.declared.time_limit_s, s->job.declared.time_limit_s))
		take_time_limit(s, job.declared.time_limit_s);
	s->job.declared.log_limit_bytes = job.declared.log_limit_bytes;
	s->job.declared.grace_s = job.declared.grace_s;
	s->job.declared.stop_nan = job.declared.stop_nan;
	recorder_watch_values(&s->recorder, job.declared.stop_nan, &s->command.metric_regexes);
	job_release(&job);
}

/* A person may have given it more time, and the wake-up was lost. */
bool supervisor_limit_is_over(struct supervisor *s, double now)
{
	if (now >= s->wishes.limit_boot_s)
		supervisor_read_declared(s);
	if (now < s->wishes.limit_boot_s)
		return false;
	s->wishes.limit_boot_s = INFINITY;
	return true;
}

/* --- another configuration --- */

/* False for nonsense that a person wrote into the store by hand. */
static bool is_possible(const struct run *run)
{
	const struct configuration *c = &run->wanted;
	double scale = run->wanted_learning_rate_scale;

	return c->local_batch_size > 0 && c->accumulation_steps > 0 && isfinite(scale) && scale > 0;
}

/* The file is made anew: a file at this path may be incomplete, or made by the program as a
 * trap. */
static int write_file(const char *path, const struct text *t, struct err *err)
{
	int fd, failed;
	ssize_t n;

	unlink(path);
	fd = file_open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	n = fd < 0 ? -1 : write(fd, t->data, t->length);
	failed = fd >= 0 && close(fd);
	if (n == (ssize_t)t->length && !failed)
		return 0;
	return err_set(err, EX_CANTCREAT, "cannot write '%s': %s", path,
		       n >= 0 && !failed ? "the disk is full" : strerror(errno));
}

/* The file is written under another name first, so that the program never sees half of it. */
static int replace_file(const struct supervisor *s, const struct text *t, struct err *err)
{
	char *path = paths_run(s->paths, s->run.id, "config");
	char *new_path = paths_run(s->paths, s->run.id, "config.new");
	int rc = write_file(new_path, t, err);

	if (rc == 0 && rename(new_path, path))
		rc = err_set(err, EX_CANTCREAT, "cannot rename '%s': %s", new_path,
			     strerror(errno));
	free(new_path);
	free(path);
	return rc;
}

void supervisor_remove_config(const struct supervisor *s)
{
	static const char *const suffixes[] = { "config", "config.new" };

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		char *path = paths_run(s->paths, s->run.id, suffixes[i]);

		unlink(path);
		free(path);
	}
}

static void offer_config(struct supervisor *s)
{
	const struct run *run = &s->run;
	struct text t = TEXT_INIT;
	struct err err;
	double gain;

	if (store_run_read_wanted(&s->store, &s->run, &err)) {
		supervisor_log(s, "%s", err.text);
		return;
	}
	if (s->run.wanted_version <= s->wishes.offered_version)
		return;
	if (!is_possible(&s->run)) {
		supervisor_log(s, "the configuration it is wanted to change to is none");
		return;
	}
	if (s->recorder.optimizer[0])	/* reported by this run */
		memcpy(s->job.progress.optimizer, s->recorder.optimizer,
		       sizeof(s->job.progress.optimizer));
	gain = job_lr_gain(&s->job, run->wanted_learning_rate_scale);
	text_addf(&t, "VERSION=%d\nBATCH=%lld\nLOCAL_BATCH=%lld\nACCUM=%d\nLR_SCALE=%.9g\n",
		  run->wanted_version, (long long)configuration_batch_size(&run->wanted),
		  (long long)run->wanted.local_batch_size, run->wanted.accumulation_steps,
		  run->wanted_learning_rate_scale);
	if (isfinite(gain))
		text_addf(&t, "LR_GAIN=%.9g\n", gain);
	if (replace_file(s, &t, &err))
		supervisor_log(s, "%s", err.text);	/* the next look tries again */
	else
		s->wishes.offered_version = s->run.wanted_version;
	text_release(&t);
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

void supervisor_bind_processes(struct supervisor *s, const struct device_backend *backend,
			       const struct device *devices)
{
	struct pid_list list;
	struct err err;

	supervisor_find_processes(s, &list);
	for (int i = 0; i < list.count; i++)
		if (backend->rebind(list.items[i], devices, s->run.configuration.replicas, &err))
			supervisor_log(s, "%s", err.text);
	pid_list_release(&list);
}

static void look_for_cores(struct supervisor *s, const char *had)
{
	struct device *devices;

	if (strcmp(had, s->run.cores) == 0)
		return;
	devices = supervisor_devices_with_cores(&s->run);
	for (int i = 0; i < s->run.configuration.replicas; i++)
		if (!devices[i].binding[0])
			own_processors(devices[i].binding);
	for (int round = 0; round < ROUNDS; round++)
		supervisor_bind_processes(s, device_backend_of("cpu:0"), devices);
	supervisor_log(s, "bound to processors %s", s->run.cores[0] ? s->run.cores
								      : "of its devices");
	free(devices);
}

/* One query reads the configuration and the processors that a pass wants for the run. */
void supervisor_look_for_wishes(struct supervisor *s)
{
	char had[sizeof(s->run.cores)];

	memcpy(had, s->run.cores, sizeof(had));
	offer_config(s);
	look_for_cores(s, had);
}
