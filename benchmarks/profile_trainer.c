/* profile_trainer.c - a training program that computes nothing and is as fast as published profiles
 * say, in time divided by SPEED.
 *
 *	profile_trainer PROFILES APPLICATION SPEED CHECKPOINTS
 *	profile_trainer PROFILES APPLICATION
 *
 * The second form prints what the simulator allows the application: the initial and the largest
 * batch size, the largest local one, and the batch size that may not be changed, or 0.
 *
 * The program sleeps, and advances by the time that has passed: a busy machine makes its reports
 * late, not its training slow. Step times, gradients and progress are those of the simulator, for
 * the same devices on the same number of nodes, evenly. The program takes configurations while it
 * runs, saves when it is asked to stop, and goes on from there. On other nodes than the first the
 * program waits for the end. Runs of benchmarks/slurm_workload.sh are such programs. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pollux/client.h"
#include "pollux/clock.h"
#include "pollux/mem.h"
#include "pollux/simulate.h"
#include "sim/application.h"

#define TICK_S 0.05
#define EX_SAVED 75

struct training {
	const struct application *application;
	struct placement placement;
	struct place_class place;
	int64_t local_batch_size;
	int passes, epoch;
	double speed, progress, steps, samples;
	char *state, *done;	/* owned; files */
};

static _Noreturn void fail(const char *what, const char *why)
{
	fprintf(stderr, "profile_trainer: %s: %s\n", what, why);
	exit(1);
}

static void sleep_s(double seconds)
{
	struct timespec t = { .tv_sec = (time_t)seconds };

	t.tv_nsec = (long)((seconds - floor(seconds)) * 1e9);
	nanosleep(&t, NULL);
}

static int number_of(const char *variable)
{
	const char *value = getenv(variable);
	int n = value ? (int)strtol(value, NULL, 10) : 0;

	return n > 0 ? n : 1;
}

/* --- the checkpoint --- */

static void restore(struct training *t)
{
	double *number[] = { &t->progress, &t->steps, &t->samples };
	FILE *in = fopen(t->state, "r");
	char line[200], *p = line, *end;

	if (!in)
		return;
	if (!fgets(line, sizeof(line), in))
		fail(t->state, "not a checkpoint");
	fclose(in);
	for (int i = 0; i < 3; i++, p = end) {
		*number[i] = strtod(p, &end);
		if (end == p)
			fail(t->state, "not a checkpoint");
	}
	t->epoch = (int)strtol(p, &end, 10);
	if (end == p)
		fail(t->state, "not a checkpoint");
}

static void save(const struct training *t)
{
	char *fresh = xasprintf("%s.new", t->state);
	FILE *out = fopen(fresh, "w");

	if (!out || fprintf(out, "%.17g %.17g %.17g %d\n", t->progress, t->steps, t->samples,
			    t->epoch) < 0 || fclose(out) || rename(fresh, t->state))
		fail(t->state, strerror(errno));
	free(fresh);
}

/* --- the training --- */

static void use(struct training *t, const struct pollux_config *c)
{
	t->local_batch_size = c->local_batch_size;
	t->passes = c->accumulation_steps > 0 ? c->accumulation_steps : 1;
}

static double batch_size(const struct training *t)
{
	return (double)t->local_batch_size * t->placement.replicas * t->passes;
}

/* A batch smaller than the profiles have takes as long as the smallest. */
static double step_s(struct training *t, struct times *times)
{
	const struct application *a = t->application;
	int64_t m = t->local_batch_size;
	struct err err;

	if (m < a->min_local_batch_size)
		m = a->min_local_batch_size;
	if (truth_times(&t->place, m, times, &err))
		fail("step time", err.text);
	return times_of_update(*times, t->passes);
}

static struct gradients gradients_now(const struct training *t)
{
	const struct application *a = t->application;
	double batch = fmin(fmax(batch_size(t), (double)a->initial_batch_size),
			    (double)a->max_batch_size);

	return truth_gradients(a, batch, t->epoch);
}

/* The progress in a second of the profiles. */
static double progress_rate(struct training *t)
{
	struct times times;
	double scale = batch_size(t) / (double)t->application->initial_batch_size;

	return gradients_gain(gradients_now(t), scale) / step_s(t, &times);
}

/* Advances by seconds of the profiles, or to the end. */
static void advance(struct training *t, double seconds)
{
	const struct application *a = t->application;

	while (seconds > 0 && t->epoch < a->n_epochs) {
		struct times times;
		double rate = progress_rate(t), left = a->progress[t->epoch + 1] - t->progress;
		double taken_s = fmin(seconds, left / rate);

		t->steps += taken_s / step_s(t, &times);
		t->samples += taken_s / step_s(t, &times) * batch_size(t);
		t->progress += rate * taken_s;
		if (taken_s >= left / rate) {
			t->progress = a->progress[t->epoch + 1];
			t->epoch++;
		}
		seconds -= taken_s;
	}
}

/* Until the next report: less where the epoch ends before, and it is the last one. */
static double pause_s(struct training *t)
{
	const struct application *a = t->application;
	double left = a->progress[a->n_epochs] - t->progress;

	if (t->epoch < a->n_epochs - 1)
		return TICK_S;
	return fmin(TICK_S, left / progress_rate(t) / t->speed + 1e-3);
}

static void tell(struct training *t, struct pollux_client *client)
{
	struct pollux_step report = POLLUX_STEP_INIT;
	struct gradients g;
	struct times times;

	if (t->epoch == t->application->n_epochs)
		return;
	g = gradients_now(t);
	report.step = (int64_t)t->steps;
	report.samples = (int64_t)t->samples;
	report.step_ns = (int64_t)(step_s(t, &times) / t->speed * 1e9);
	report.sync_ns = (int64_t)(times.sync_s / t->speed * 1e9);
	report.grad_sqr = g.sqr;
	report.grad_var = g.var * (double)t->application->initial_batch_size;
	pollux_client_step(client, &report);
}

static int train(struct training *t)
{
	struct pollux_client *client = pollux_client_open();
	struct pollux_config c;
	double last;

	if (!pollux_client_config(client, &c) || c.local_batch_size < 1)
		fail("configuration", "not run by pollux");
	use(t, &c);
	restore(t);
	last = clock_boot_s();
	tell(t, client);
	while (t->epoch < t->application->n_epochs && !pollux_client_should_stop(client)) {
		double now;

		sleep_s(pause_s(t));
		now = clock_boot_s();
		advance(t, (now - last) * t->speed);
		last = now;
		if (pollux_client_config_changed(client, &c))
			use(t, &c);
		tell(t, client);
	}
	save(t);
	pollux_client_checkpoint(client, t->state, (int64_t)t->samples);
	pollux_client_close(client);
	return t->epoch == t->application->n_epochs ? 0 : EX_SAVED;
}

/* --- the other nodes --- */

static void tell_others(const struct training *t)
{
	FILE *out = fopen(t->done, "w");

	if (!out || fclose(out))
		fail(t->done, strerror(errno));
}

static int wait_for_end(const struct training *t)
{
	struct pollux_client *client = pollux_client_open();
	bool ended = false;

	while (!ended && !pollux_client_should_stop(client)) {
		sleep_s(TICK_S);
		ended = access(t->done, F_OK) == 0;
	}
	pollux_client_close(client);
	return ended ? 0 : EX_SAVED;
}

static int print_limits(const struct application *a)
{
	printf("%lld %lld %lld %lld\n", (long long)a->initial_batch_size,
	       (long long)a->max_batch_size, (long long)a->max_local_batch_size,
	       (long long)a->fixed_batch_size);
	return 0;
}

static int train_here(struct training *t)
{
	int nodes = number_of("POLLUX_NODES"), gpus = number_of("POLLUX_REPLICAS") / nodes, rc;

	for (int i = 0; i < nodes; i++)
		placement_add(&t->placement, i, gpus);
	t->place = place_class_of(t->application, &t->placement);
	rc = train(t);
	if (rc == 0)
		tell_others(t);
	placement_release(&t->placement);
	return rc;
}

int main(int argc, char **argv)
{
	struct training t = { 0 };
	struct sim_profiles profiles;
	const char *node = getenv("POLLUX_NODE");
	struct err err;
	int rc;

	if (argc != 3 && argc != 5)
		fail("usage", "profile_trainer PROFILES APPLICATION [SPEED CHECKPOINTS]");
	t.speed = argc == 5 ? strtod(argv[3], NULL) : 1;
	t.state = xasprintf("%s/state", argc == 5 ? argv[4] : ".");
	t.done = xasprintf("%s/done", argc == 5 ? argv[4] : ".");
	if (argc == 5 && node && strcmp(node, "0") != 0)
		return wait_for_end(&t);
	if (sim_profiles_read(&profiles, argv[1], NULL, 0, &err))
		fail(argv[1], err.text);
	t.application = sim_profiles_find(&profiles, argv[2]);
	if (!t.application || !(t.speed > 0))
		fail(argv[2], "no such application, or no speed");
	rc = argc == 3 ? print_limits(t.application) : train_here(&t);
	sim_profiles_release(&profiles);
	free(t.state);
	free(t.done);
	return rc;
}
