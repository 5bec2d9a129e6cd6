/* job_run.c - a job's progress through an interval, or up to an event, second for second as
 * published. */
#include <math.h>

#include "simulation.h"

#define MEASURED_S 10.0	/* work after which events count a job as measured */

static struct throughput_place place_of(const struct sim_job *job)
{
	return throughput_place_on(job->placement.n, job->placement.replicas);
}

static double batch_of(const struct sim_job *job)
{
	return (double)configuration_batch_size(&job->configuration);
}

static int set_times(struct simulation *s, struct sim_job *job, struct err *err)
{
	const struct application *a = job_application(job);

	if (truth_times(&s->truth, &job->place, job->configuration.local_batch_size, &job->times,
			err))
		return err_prefix(err, "job '%s'", job->spec->name);
	if (!sizes_are_validated(a, &job->configuration))
		return err_set(err, EX_DATAERR,
			       "job '%s': '%s' was not validated at a batch size of %.0f",
			       job->spec->name, a->name, batch_of(job));
	return 0;
}

static void observe(struct simulation *s, struct sim_job *job, struct gradients g)
{
	job->has_run = true;
	job->gradients = g;
	if (!job->agent || s->options->knowledge == SIM_KNOWLEDGE_FULL)
		return;
	agent_observe(&job->agent[job->kind], place_of(job),
		      job->configuration.local_batch_size, job->times);
	job->agent->gradients[job->epoch] = g;
}

static void update_sizes(struct simulation *s, struct sim_job *job)
{
	if (!s->manner.owners_batch)
		job->configuration = job_best_sizes(s, job);
}

/* The progress per second, in updates at the initial batch size. */
static double progress_rate(const struct simulation *s, const struct sim_job *job,
			    struct gradients g)
{
	double scale = batch_of(job) /
		       (double)job->spec->application->initial_batch_size;
	double rate = gradients_gain(g, scale) /
		      times_of_update(job->times, job->configuration.accumulation_steps);

	rate /= job->spec->application->slowdown;
	return job->interfered ? rate * (1 - s->options->interference) : rate;
}

/* Advances the job to the end of the epoch or of the interval. Returns the seconds that this takes,
 * rounded up to whole ones at the end of an epoch. */
static double advance_job(struct simulation *s, struct sim_job *job, double at_s, double seconds)
{
	const struct application *a = job->spec->application;
	double next = a->progress[job->epoch + 1];
	struct gradients g = truth_gradients(a, batch_of(job), job->epoch);
	double rate = progress_rate(s, job, g), taken_s;

	observe(s, job, g);
	if (job->progress + rate * seconds < next) {
		job->progress += rate * seconds;
		return seconds;
	}
	taken_s = rint((next - job->progress) / rate);
	job->progress = next;
	if (++job->epoch == a->n_epochs)
		job->finish_s = at_s + taken_s;
	return taken_s;
}

int job_event_s(struct simulation *s, struct sim_job *job, double *seconds, struct err *err)
{
	const struct application *a = job->spec->application;
	double left = a->progress[job->epoch + 1] - job->progress;

	*seconds = HUGE_VAL;
	if (!job->placement.replicas)
		return 0;
	if (set_times(s, job, err))
		return -1;
	*seconds = left / progress_rate(s, job, truth_gradients(a, batch_of(job), job->epoch));
	if (!job->has_run)
		*seconds = fmin(*seconds, MEASURED_S);
	*seconds = fmax(ceil(job->delay_s + *seconds), 1);
	return 0;
}

/* Adds the time to the service of the job on its GPUs. */
static void serve(const struct simulation *s, struct sim_job *job, double seconds)
{
	double speed = job_speed_on(job, job->kind), slowest = speed;

	for (int k = 0; k < s->n_kinds; k++)
		slowest = fmin(slowest, job_speed_on(job, k));
	job->attained_device_s += seconds * job->placement.replicas;
	job->service_device_s += seconds * job->placement.replicas * (speed / slowest);
}

int job_run(struct simulation *s, struct sim_job *job, double start_s, double interval_s,
	    struct err *err)
{
	double seconds = interval_s, delay_s = fmin(job->delay_s, seconds), before;

	if (!job->placement.replicas)
		return 0;
	before = job->progress;
	job->delay_s -= delay_s;
	serve(s, job, delay_s);
	seconds -= delay_s;
	while (seconds > 0 && isnan(job->finish_s)) {
		double taken_s;

		if (set_times(s, job, err))
			return -1;
		taken_s = advance_job(s, job, start_s + interval_s - seconds, seconds);
		serve(s, job, taken_s);
		seconds -= taken_s;
		if (isnan(job->finish_s))
			update_sizes(s, job);
	}
	if (job->progress > before)
		s->progress_s = s->now_s;
	return 0;
}

void job_place(struct simulation *s, struct sim_job *job, struct placement *placement, int kind)
{
	const struct application *a = job->spec->application;

	placement_release(&job->placement);
	job->placement = *placement;
	*placement = (struct placement){ 0 };
	if (!job->placement.n) {
		job->waiting_since_s = s->now_s;
		return;
	}
	job->kind = kind;
	job->place = place_class_of(job_application(job), &job->placement);
	job->delay_s = isnan(a->restart_s) ? s->options->restart_s : a->restart_s;
	job->launched_s = s->now_s;
	job->restarts++;
	if (isnan(job->start_s))
		job->start_s = s->now_s;
	if (s->manner.owners_batch)
		job->configuration = sizes_spread(job_application(job), place_of(job),
					  job->spec->batch_size, false);
	update_sizes(s, job);
}
