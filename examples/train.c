/* train.c - train a classifier on Fashion-MNIST with SGD, alone or under pollux.
 *
 * A program of the kind that pollux schedules: it takes its batch size, replicas
 * and accumulation from the command line or from pollux, reports every update,
 * saves itself when asked to stop, and goes on from there with whatever
 * configuration it is given next, or changes to it while it runs. It computes on
 * the processor or on GPUs (train/worker.h). Progress is counted in samples; the
 * order of the samples does not depend on the configuration (train/data.h).
 *
 *	train --help
 *	train --replicas 2 --target-accuracy 0.88
 *	train --device cuda
 *	train --checkpoint /tmp/t --samples 300000    # stop it, and run it again
 */
#include "train/blas.h"
#include "train/checkpoint.h"
#include "train/clock.h"
#include "train/data.h"
#include "train/die.h"
#include "train/net.h"
#include "train/noise.h"
#include "train/options.h"
#include "train/team.h"
#include "train/worker.h"

#include "pollux/client.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>
#include <time.h>

struct training {
	struct options options;
	const struct worker_kind *kind;  /* of device */
	struct dataset train, test;
	struct net net;
	struct weights weights;
	struct order order;
	int *samples;                    /* of one update: options.batch */
	struct team *team;
	struct progress progress;
	struct checkpoint checkpoint;
	int64_t saved_ns;                /* when the last checkpoint was taken */
	struct pollux_client *client;
	bool takes_configs;              /* while it runs */
	/* The steps since the last log line. */
	int64_t logged_ns, window_ns;
	double window_loss;
	int window_steps;
};

static atomic_bool stop_requested;

static void request_stop(int signal_number)
{
	(void)signal_number;
	atomic_store(&stop_requested, true);
}

/* SIGTERM, and a first SIGINT, end the training in good order; a second SIGINT
 * kills. Under pollux the client adds the stop signal that pollux sends. */
static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = request_stop, .sa_flags = SA_RESTART };

	sigemptyset(&action.sa_mask);
	sigaction(SIGTERM, &action, NULL);
	action.sa_flags |= (int)SA_RESETHAND;
	sigaction(SIGINT, &action, NULL);
}

static bool should_stop(const struct training *t)
{
	return atomic_load(&stop_requested) || pollux_client_should_stop(t->client);
}

static bool keeps_checkpoints(const struct training *t)
{
	return t->options.checkpoint && !t->options.freeze && !t->options.measure_noise;
}

static void load_data(struct training *t)
{
	const char *directory = t->options.data;

	dataset_load(&t->train, directory, "train", (int)t->options.subset);
	dataset_load(&t->test, directory, "t10k", 0);
	if (t->train.n_inputs != t->test.n_inputs || t->test.n_classes > t->train.n_classes)
		die(EX_DATAERR, "the training and test sets in '%s' do not match", directory);
}

static void make_net(struct training *t)
{
	int width[MAX_LAYERS + 1], n_hidden = t->options.n_hidden;

	width[0] = t->train.n_inputs;
	for (int l = 0; l < n_hidden; l++)
		width[l + 1] = t->options.hidden[l];
	width[n_hidden + 1] = t->train.n_classes;
	net_init(&t->net, n_hidden + 1, width);
	t->weights.params = allocate(t->net.n_params, sizeof(float));
	t->weights.velocity = allocate(t->net.n_params, sizeof(float));
}

static void start_fresh(struct training *t)
{
	t->progress = (struct progress){
		.seed = t->options.seed < 0 ? 1 : t->options.seed,
		.n_train = t->train.n_samples, .evaluated_at = -1,
		.last_accuracy = (double)NAN, .best_accuracy = (double)NAN,
	};
	net_randomise(&t->net, t->weights.params, (uint64_t)t->progress.seed);
}

/* Before anything is read: without the device that was asked for there is
 * nothing to do. */
static void choose_device(struct training *t)
{
	enum device device = t->options.device;
	const char *visible = getenv("CUDA_VISIBLE_DEVICES"), *why;

	t->kind = t->options.replicate_optimizer ? &worker_cpu_replicated : &worker_cpu;
	if (device == DEVICE_CPU || t->options.measure_noise ||
	    (device == DEVICE_AUTO && !(visible && *visible)))
		return;
	if (t->options.recompute || t->options.replicate_optimizer)
		die(EX_USAGE, "--recompute and --replicate-optimizer are for --device cpu");
	t->kind = worker_cuda((int)t->options.replicas, &why);
	if (t->kind)
		return;
	if (device == DEVICE_CUDA)
		die(EX_UNAVAILABLE, "%s", why);
	complain("%s; on the CPU then", why);
	t->kind = &worker_cpu;
}

/* A checkpoint counts samples of one order only. */
static void check_order(const struct training *t)
{
	const struct progress *p = &t->progress;

	if (p->n_train != t->train.n_samples)
		die(EX_DATAERR, "checkpoint '%s' is of %lld training samples, not %d: give its "
		    "--subset, or --fresh to start over", t->checkpoint.path,
		    (long long)p->n_train, t->train.n_samples);
	if (t->options.seed >= 0 && p->seed != t->options.seed)
		die(EX_DATAERR, "checkpoint '%s' is of seed %lld: leave out --seed, or give "
		    "--fresh to start over", t->checkpoint.path, (long long)p->seed);
}

static void print_setup(const struct training *t)
{
	const struct options *o = &t->options;

	printf("%d training samples, %zu parameters, batch %lld = %lld replicas x %lld x %lld "
	       "passes, seed %lld, lr %g", t->train.n_samples, t->net.n_params,
	       (long long)o->batch, (long long)o->replicas, (long long)o->local_batch,
	       (long long)o->accum, (long long)t->progress.seed, o->lr);
	if (isnan(o->lr_scale))
		printf(" for batch %lld\n", (long long)o->initial_batch);
	else
		printf(" x %g\n", o->lr_scale);
	if (t->kind != &worker_cpu && t->kind != &worker_cpu_replicated)
		printf("on %lld x %s\n", (long long)o->replicas, worker_cuda_name());
}

static void begin(struct training *t)
{
	const struct options *o = &t->options;
	bool resumed = false;

	if (o->checkpoint) {
		checkpoint_init(&t->checkpoint, o->checkpoint);
		resumed = !o->fresh && checkpoint_load(&t->checkpoint, &t->net, &t->progress,
						       &t->weights);
	}
	if (resumed)
		check_order(t);
	else
		start_fresh(t);
	order_init(&t->order, t->train.n_samples, (uint64_t)t->progress.seed);
	t->samples = allocate((size_t)o->batch, sizeof(int));
	print_setup(t);
	if (resumed)
		printf("resumed samples %lld step %lld from %s\n",
		       (long long)t->progress.samples, (long long)t->progress.steps,
		       t->checkpoint.path);
}

/* The base rate, times half a cosine from 1 to 0.01 over lr_decay_samples, times
 * the factor for this batch size. */
static double learning_rate(const struct training *t)
{
	const struct options *o = &t->options;
	double decay = 1, factor = o->lr_scale;

	if (o->freeze)
		return 0;
	if (o->lr_decay_samples) {
		double done = fmin(1, (double)t->progress.samples / (double)o->lr_decay_samples);

		decay = 0.01 + 0.99 * 0.5 * (1 + cos(done * acos(-1)));
	}
	if (isnan(factor))
		factor = lr_factor(o->lr_rule, (double)o->batch, (double)o->initial_batch,
				   noise_scale(&t->progress.noise, o->noise_horizon));
	return o->lr * decay * factor;
}

static double epochs(const struct training *t)
{
	return (double)t->progress.samples / t->train.n_samples;
}

static void log_step(struct training *t, int64_t step_ns, double loss)
{
	const struct progress *p = &t->progress;
	int64_t now_ns = clock_ns();

	t->window_ns += step_ns;
	t->window_loss += loss;
	t->window_steps++;
	if ((double)(now_ns - t->logged_ns) < 1e9 * t->options.log_every_s)
		return;
	printf("step %lld samples %lld epoch %.2f loss %.4f %.2f ms/step\n",
	       (long long)p->steps, (long long)p->samples, epochs(t),
	       t->window_loss / t->window_steps,
	       1e-6 * (double)t->window_ns / t->window_steps);
	t->logged_ns = now_ns;
	t->window_ns = t->window_steps = 0;
	t->window_loss = 0;
}

/* Average the noise estimates and tell pollux. An update cut short says nothing
 * about the time of a whole one. */
static void account(struct training *t, const struct update_result *result,
		    int64_t step_ns, bool whole)
{
	struct progress *p = &t->progress;
	struct pollux_step report = {
		.step = p->steps, .samples = p->samples, .step_ns = whole ? step_ns : -1,
		.sync_ns = whole ? result->sync_ns : -1, .loss = result->loss,
		.epoch = epochs(t),
	};

	if (pollux_gradient_estimates(result->local_batch, result->local_sqr, result->batch,
				      result->batch_sqr, &report.grad_sqr, &report.grad_var))
		noise_add(&p->noise, report.grad_sqr, report.grad_var, (double)t->options.batch,
			  t->options.freeze ? (double)INFINITY : t->options.noise_horizon);
	pollux_client_step(t->client, &report);
	log_step(t, step_ns, result->loss);
}

static void delay_update(double ms)
{
	double s = floor(ms / 1e3);
	struct timespec left = { .tv_sec = (time_t)s, .tv_nsec = (long)(1e6 * (ms - 1e3 * s)) };

	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		;
}

static void train_step(struct training *t)
{
	struct progress *p = &t->progress;
	int64_t left = t->options.samples - p->samples, start_ns = clock_ns();
	bool whole = left >= t->options.batch;
	struct update_result result;
	struct update update = {
		.samples = t->samples, .n_samples = (int)(whole ? t->options.batch : left),
		.lr = learning_rate(t), .momentum = t->options.momentum,
	};

	order_fill(&t->order, p->samples, update.n_samples, t->samples);
	team_step(t->team, &update, &result);
	if (t->options.update_delay_ms > 0)
		delay_update(t->options.update_delay_ms);
	if (!isfinite(result.loss) || !isfinite(result.mean_sqr))
		die(EX_SOFTWARE, "the %s is not finite at step %lld (%lld samples): try a lower "
		    "--lr", isfinite(result.loss) ? "gradient" : "loss",
		    (long long)p->steps + 1, (long long)p->samples);
	p->steps++;
	p->samples += update.n_samples;
	account(t, &result, clock_ns() - start_ns, whole);
}

static void print_noise(const char *name, int64_t samples, const struct noise *noise,
			double phi)
{
	printf("%s samples %lld grad_sqr %.6g grad_var %.6g scale ", name, (long long)samples,
	       noise->grad_sqr, noise->grad_var);
	if (isnan(phi))
		puts("unknown");
	else
		printf("%.6g\n", phi);
}

static void evaluate(struct training *t)
{
	struct progress *p = &t->progress;
	char text[400];

	p->last_accuracy = team_evaluate(t->team);
	p->best_accuracy = fmax(p->last_accuracy, p->best_accuracy);
	p->evaluated_at = p->samples;
	printf("samples %lld accuracy %.4f\n", (long long)p->samples, p->last_accuracy);
	print_noise("noise", p->samples, &p->noise,
		    noise_scale(&p->noise, t->options.noise_horizon));
	snprintf(text, sizeof(text), "accuracy %.4f at %lld samples", p->last_accuracy,
		 (long long)p->samples);
	pollux_client_status(t->client, text);
}

/* Returns 0, or -1 when it could not be written. */
static int save(struct training *t)
{
	t->saved_ns = clock_ns();
	team_fetch(t->team);
	if (checkpoint_save(&t->checkpoint, &t->net, &t->progress, &t->weights) < 0)
		return -1;
	printf("checkpoint samples %lld\n", (long long)t->progress.samples);
	pollux_client_checkpoint(t->client, t->checkpoint.path, t->progress.samples);
	return 0;
}

static bool complete(const struct training *t)
{
	const struct progress *p = &t->progress;

	return p->samples >= t->options.samples || p->last_accuracy >= t->options.target_accuracy;
}

/* Where pollux wants another batch size, the next update has it. The replicas
 * stay: they are the devices that this run was given. */
static void follow_pollux(struct training *t)
{
	struct options *o = &t->options;
	struct pollux_config config;
	int64_t old_batch = o->batch;

	if (!t->takes_configs || !pollux_client_config_changed(t->client, &config))
		return;
	options_reconfigure(o, &config);
	team_reconfigure(t->team, (int)o->local_batch, (int)o->accum);
	free(t->samples);
	t->samples = allocate((size_t)o->batch, sizeof(int));
	printf("batch %lld -> %lld (%lld x %lld x %lld), lr x %.3g\n", (long long)old_batch,
	       (long long)o->batch, (long long)o->replicas, (long long)o->local_batch,
	       (long long)o->accum, o->lr_scale);
}

static void train_until_done_or_stopped(struct training *t)
{
	int64_t every = t->options.eval_every ? t->options.eval_every : t->train.n_samples;
	double save_every_ns = 1e9 * t->options.checkpoint_every_s;

	t->saved_ns = t->logged_ns = clock_ns();
	while (!complete(t) && !should_stop(t)) {
		int64_t before = t->progress.samples;

		follow_pollux(t);
		train_step(t);
		if (t->progress.samples / every > before / every)
			evaluate(t);
		if (keeps_checkpoints(t) && (double)(clock_ns() - t->saved_ns) >= save_every_ns)
			save(t);         /* a failure is reported; training goes on */
	}
}

/* Returns the exit status. */
static int finish(struct training *t)
{
	struct progress *p = &t->progress;
	bool done = complete(t);

	if (done && p->evaluated_at != p->samples && !t->options.freeze)
		evaluate(t);
	if (keeps_checkpoints(t) && save(t) < 0)
		return EX_IOERR;
	if (done && t->options.freeze)
		print_noise("frozen", p->samples, &p->noise,
			    noise_scale(&p->noise, (double)INFINITY));
	else if (done)
		printf("done samples %lld accuracy %.4f steps %lld\n", (long long)p->samples,
		       p->last_accuracy, (long long)p->steps);
	else
		printf("stopped samples %lld steps %lld%s\n", (long long)p->samples,
		       (long long)p->steps, keeps_checkpoints(t) ? "" : " not saved");
	return done ? 0 : EX_TEMPFAIL;
}

static int run(struct training *t)
{
	struct team_setup setup = {
		.kind = t->kind, .tf32 = t->options.tf32, .recompute = t->options.recompute,
		.net = &t->net, .train = &t->train, .test = &t->test, .weights = t->weights,
		.replicas = (int)t->options.replicas,
		.local_batch_size = (int)t->options.local_batch,
		.accumulation_steps = (int)t->options.accum,
	};

	if (t->options.freeze)
		t->progress = (struct progress){ .seed = t->progress.seed,
						 .last_accuracy = (double)NAN };
	t->team = team_new(&setup);
	train_until_done_or_stopped(t);
	int status = finish(t);
	team_free(t->team);
	return status;
}

/* |G|^2 and tr(Sigma) at the weights as they are, from the gradients g_i of n
 * single samples and their mean g: tr(Sigma) = (sum |g_i|^2 - n |g|^2) / (n - 1),
 * |G|^2 = |g|^2 - tr(Sigma) / n. The samples are the first n of the order. */
static void measure_noise(struct training *t)
{
	enum { CHUNK = 200 };
	int n = (int)t->options.measure_noise;
	size_t n_params = t->net.n_params;
	int samples[CHUNK];
	double *sum = allocate(n_params, sizeof(double)), sqr_sum = 0, mean_sqr = 0;
	float *gradient = allocate(n_params, sizeof(float));
	struct pass pass = { 0 };

	pass_init(&pass, &t->net, CHUNK, t->options.recompute);
	pass.wants_sample_sqr = true;
	for (int at = 0; at < n; at += CHUNK) {
		int part = n - at < CHUNK ? n - at : CHUNK;

		order_fill(&t->order, at, part, samples);
		dataset_gather(&t->train, samples, part, pass.activation[0], pass.labels);
		net_gradient(&t->net, t->weights.params, &pass, part, gradient);
		sqr_sum += pass.sample_sqr;
		for (size_t i = 0; i < n_params; i++)
			sum[i] += (double)gradient[i];
	}
	for (size_t i = 0; i < n_params; i++)
		mean_sqr += sum[i] / n * (sum[i] / n);
	double grad_var = (sqr_sum - n * mean_sqr) / (n - 1);
	struct noise noise = { mean_sqr - grad_var / n, grad_var, n };
	print_noise("measured", n, &noise, noise_scale(&noise, (double)INFINITY));
	pass_release(&pass);
	free(gradient);
	free(sum);
}

static void release(struct training *t)
{
	pollux_client_close(t->client);
	order_release(&t->order);
	dataset_release(&t->train);
	dataset_release(&t->test);
	free(t->weights.params);
	free(t->weights.velocity);
	free(t->samples);
}

int main(int argc, char **argv)
{
	struct training t = { 0 };
	struct pollux_config config;
	int status = 0;

	blas_choose_kernels(argv);
	setvbuf(stdout, NULL, _IOLBF, 0);
	catch_signals();
	t.client = pollux_client_open();
	pollux_client_config(t.client, &config);
	options_parse(&t.options, argc, argv, &config);
	t.takes_configs = t.options.replicas == config.replicas && !t.options.freeze;
	choose_device(&t);
	load_data(&t);
	make_net(&t);
	begin(&t);
	pollux_client_parameters(t.client, (int64_t)t.net.n_params);
	if (t.options.measure_noise)
		measure_noise(&t);
	else
		status = run(&t);
	release(&t);
	return status;
}
