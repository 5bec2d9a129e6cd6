/* supervisor_wishes.c - what is asked of a run while it goes on: by a person, who edits the job; by
 * a pass, which offers the program another configuration, or gives the run other processors. */
#include <fcntl.h>

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

void supervisor_read_declared(struct supervisor *s)
{
	double now = clock_boot_s(), had_s = s->job.declared.time_limit_s, limit_s;
	struct job job;
	bool changed;

	if (supervisor_note(s, store_job_get(&s->store, s->job.id, &job, &s->err)))
		return;
	limit_s = job.declared.time_limit_s;
	s->job.declared.time_limit_s = limit_s;
	changed = limit_s < had_s || limit_s > had_s || isnan(limit_s) != isnan(had_s);
	if (changed && s->state == ST_RUNNING) {
		s->wishes.limit_left_s = supervisor_limit_left_s(s, now);
		supervisor_go_on_limit(s, now);
	} else if (changed && s->state >= ST_SUSPENDING && s->state <= ST_THAWING) {
		supervisor_keep_limit(s);	/* for its return: its time stands still */
	}
	s->job.declared.log_limit_bytes = job.declared.log_limit_bytes;
	s->job.declared.memory_limit_bytes = job.declared.memory_limit_bytes;
	if (s->state == ST_RUNNING)
		supervisor_limit_memory(s);
	supervisor_set_grace(s, job.declared.grace_s);
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

/* Writes the file under another name first, so that the program never sees half of it. A file with
 * that name may be incomplete, or made by the program as a trap: it is made anew. */
static int replace_file(const struct supervisor *s, const struct text *t, struct err *err)
{
	char *path = paths_run(s->paths, s->run.id, "config");
	char *new_path = paths_run(s->paths, s->run.id, "config.new");
	int fd, failed, rc = 0;
	ssize_t n;

	unlink(new_path);
	fd = file_open(new_path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	n = fd < 0 ? -1 : write(fd, t->data, t->length);
	failed = fd >= 0 && close(fd);
	if (n != (ssize_t)t->length || failed)
		rc = err_set(err, EX_CANTCREAT, "cannot write '%s': %s", new_path,
			     n >= 0 && !failed ? "the disk is full" : strerror(errno));
	else if (rename(new_path, path))
		rc = err_set(err, EX_CANTCREAT, "cannot rename '%s': %s", new_path,
			     strerror(errno));
	free(new_path);
	free(path);
	return rc;
}

static void offer_config(struct supervisor *s)
{
	const struct run *run = &s->run;
	double gain, scale;
	struct text t = TEXT_INIT;

	if (supervisor_note(s, store_run_read_wanted(&s->store, &s->run, &s->err)) ||
	    run->wanted_version <= s->wishes.offered_version)
		return;
	scale = run->wanted_learning_rate_scale;
	/* nonsense that a person wrote into the store by hand */
	if (run->wanted.local_batch_size <= 0 || run->wanted.accumulation_steps <= 0 ||
	    !isfinite(scale) || scale <= 0) {
		supervisor_log(s, "the configuration it is wanted to change to is none");
		return;
	}
	if (s->recorder.optimizer[0])	/* reported by this run */
		memcpy(s->job.progress.optimizer, s->recorder.optimizer,
		       sizeof(s->job.progress.optimizer));
	gain = job_lr_gain(&s->job, scale);
	text_addf(&t, "VERSION=%d\nBATCH=%lld\nLOCAL_BATCH=%lld\nACCUM=%d\nLR_SCALE=%.9g\n",
		  run->wanted_version, (long long)configuration_batch_size(&run->wanted),
		  (long long)run->wanted.local_batch_size, run->wanted.accumulation_steps, scale);
	if (isfinite(gain))
		text_addf(&t, "LR_GAIN=%.9g\n", gain);
	if (supervisor_note(s, replace_file(s, &t, &s->err)) == 0)	/* else the next look */
		s->wishes.offered_version = run->wanted_version;
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

struct device *supervisor_devices_with_cores(const struct run *run)
{
	int n = run_has_no_device(run) ? 1 : run->configuration.replicas;
	struct device *devices = xmalloc((size_t)n * sizeof(*devices));

	memcpy(devices, run->devices, (size_t)n * sizeof(*devices));
	for (int i = 0; run->cores[0] && i < n; i++) {
		int cores = count_processors(run->cores) / n;
		int all = count_processors(run->devices[i].binding);

		/* the physical cores of a slot for each of its processors */
		if (all > 0)
			cores = cores * run->devices[i].cores / all;
		snprintf(devices[i].binding, sizeof(devices[i].binding), "%s", run->cores);
		devices[i].cores = cores > 1 ? cores : 1;
	}
	return devices;
}

void supervisor_bind_processes(struct supervisor *s, const struct device_backend *backend,
			       const struct device *devices)
{
	struct pid_list list;

	supervisor_find_processes(s, &list);
	for (int i = 0; i < list.count; i++)
		supervisor_note(s, backend->rebind(list.items[i], devices,
						   s->run.configuration.replicas, &s->err));
	pid_list_release(&list);
}

/* One query reads the configuration and the processors that a pass wants for the run. */
void supervisor_look_for_wishes(struct supervisor *s)
{
	const char key[] = "Cpus_allowed_list:";
	char had[sizeof(s->run.cores)], line[RUN_CORES_SIZE], own[RUN_CORES_SIZE] = EVERY_PROCESSOR;
	struct device *devices;
	FILE *status;

	memcpy(had, s->run.cores, sizeof(had));
	offer_config(s);
	if (!strcmp(had, s->run.cores))
		return;
	/* the processors of this process, which runs on devices without a binding begin with */
	status = file_open_stream("/proc/self/status");
	while (status && fgets(line, sizeof(line), status))
		if (text_starts_with(line, key)) {
			line[strcspn(line, "\n")] = '\0';
			snprintf(own, sizeof(own), "%s",
				 line + strlen(key) + strspn(line + strlen(key), " \t"));
		}
	if (status)
		fclose(status);
	devices = supervisor_devices_with_cores(&s->run);
	for (int i = 0; i < s->run.configuration.replicas; i++)
		if (!devices[i].binding[0])
			snprintf(devices[i].binding, sizeof(devices[i].binding), "%s", own);
	for (int round = 0; round < ROUNDS; round++)
		supervisor_bind_processes(s, device_backend_of("cpu:0"), devices);
	supervisor_log(s, "bound to processors %s", s->run.cores[0] ? s->run.cores
								      : "of its devices");
	free(devices);
}
