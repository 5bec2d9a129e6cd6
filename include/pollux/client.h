/* client.h - how a training program talks to pollux.
 *
 * Link build/libpollux.a; libc is all it needs. The calling sequence:
 *
 *	struct pollux_client *client = pollux_client_open();
 *	struct pollux_config config;
 *
 *	if (pollux_client_config(client, &config) && config.local_batch_size)
 *		local_batch_size = config.local_batch_size;
 *	... load the newest checkpoint, if there is one ...
 *	while (samples < wanted && !pollux_client_should_stop(client)) {
 *		struct pollux_step report = POLLUX_STEP_INIT;
 *
 *		if (pollux_client_config_changed(client, &config))
 *			... take over its batch sizes, passes and learning-rate scale ...
 *
 *		... one optimizer update ...
 *		report.step = ++steps;
 *		report.samples = samples += batch_size;
 *		report.step_ns = elapsed_ns;
 *		report.loss = loss;
 *		pollux_client_step(client, &report);
 *	}
 *	... write a checkpoint to path ...
 *	pollux_client_checkpoint(client, path, samples);
 *	pollux_client_close(client);
 *
 * The program runs unchanged without pollux. It is "under pollux" when the
 * environment has POLLUX_REPORT_SOCKET (not empty). Otherwise every function
 * here does nothing, and its result says so. No function prints, exits,
 * raises SIGPIPE or changes errno, and only pollux_client_checkpoint() may
 * wait. A step or a checkpoint that cannot be delivered (no receiver, receiver
 * behind) is kept in a file for the receiver that comes next, steps at most every
 * 50 ms. Any other report is then dropped.
 *
 * Threads: the reports, the configuration and should_stop may be called from
 * any thread; config_changed from one thread at a time; open and close while no
 * other call is running. A process has one client. A forked child may report through
 * its parent's client; the socket is closed on exec.
 *
 * Every function accepts NULL as its client and then does nothing.
 */
#ifndef POLLUX_CLIENT_H
#define POLLUX_CLIENT_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pollux_client;

/* The configuration that pollux chose for this launch. A variable that is not
 * set, not a number, or out of range (zero, negative, too large) counts as not
 * set: 0 for an integer, NAN for a double, NULL for a string. No valid integer
 * here is 0. */
struct pollux_config {
	int64_t job_id;          /* POLLUX_JOB_ID */
	int64_t run;             /* POLLUX_RUN: launches of this job, this run included */
	int64_t batch_size;      /* POLLUX_BATCH: samples per optimizer update */
	int local_batch_size;    /* POLLUX_LOCAL_BATCH: samples per replica per pass */
	int accumulation_steps;  /* POLLUX_ACCUM: all passes per update; 1: no accumulation */
	int replicas;            /* POLLUX_REPLICAS: data-parallel workers */
	double lr_scale;         /* POLLUX_LR_SCALE: factor on the base learning rate */
	const char *checkpoint_dir; /* POLLUX_CHECKPOINT_DIR; owned by the client */
};

/* One optimizer update. A negative integer means "not known", and so does a
 * double that is not finite; the report leaves the field out. The loss is
 * another matter: a loss that is NaN or infinite is reported as such, and
 * POLLUX_LOSS_UNKNOWN means "not known". */
#define POLLUX_LOSS_UNKNOWN (-DBL_MAX)

struct pollux_step {
	int64_t step;            /* STEP: updates since the job's first launch */
	int64_t samples;         /* SAMPLES: samples consumed since the first launch */
	int64_t step_ns;         /* STEP_NS: duration of this update, ns */
	int64_t sync_ns;         /* SYNC_NS: part of the duration spent synchronising, ns */
	double grad_sqr;         /* GRAD_SQR: unbiased estimate of |G|^2 */
	double grad_var;         /* GRAD_VAR: unbiased estimate of tr(Sigma), per sample */
	double loss;             /* LOSS; POLLUX_LOSS_UNKNOWN: not known */
	double epoch;            /* EPOCH: passes over the data set, with a fraction */
};

/* A report in which nothing is known. (NAN is a float: the casts keep -Wdouble-promotion quiet.) */
#define POLLUX_STEP_INIT \
	{ -1, -1, -1, -1, (double)NAN, (double)NAN, POLLUX_LOSS_UNKNOWN, (double)NAN }

/* Creates the client. Under pollux the function opens a socket (close-on-exec)
 * and installs a handler for the stop signal: POLLUX_STOP_SIGNAL, a signal
 * number, else SIGTERM. This handler replaces an earlier handler of the program
 * until close. A handler that the program installs later replaces this handler,
 * and should_stop no longer learns of the signal. Outside pollux the function
 * opens no socket and changes no handler. Returns NULL only if there is no
 * memory. */
struct pollux_client *pollux_client_open(void);

/* Keeps the last step and the last checkpoint in a file if their receiver has not
 * read them; restores the stop signal's handler, closes the socket and frees the
 * client. */
void pollux_client_close(struct pollux_client *client);

/* Fills in *config. Returns true if the program runs under pollux. Outside
 * pollux every field is "not set", whatever the environment contains. */
bool pollux_client_config(const struct pollux_client *client, struct pollux_config *config);

/* For programs that can change their batch size, passes and learning rate while
 * they run; such a program calls the function before each update. Returns true
 * once for each configuration that pollux chose after the launch: *config then
 * holds this configuration, to be used from the next update on (replicas, job
 * and run do not change). Otherwise returns false and does not change *config.
 *
 * From the first call on, the step reports tell pollux that the program accepts
 * configurations, and which configuration it uses. A program that calls this
 * function and keeps its old configuration makes the measurements wrong. If
 * several processes share the work, one process calls the function and tells
 * the others, so that all change at the same update.
 *
 * A call reads the coarse clock. Every 50 ms a call also does a stat() of the
 * file in POLLUX_CONFIG_FILE, and reads the file if it changed. A file that is
 * not complete, or in which batch = replicas * local batch * passes does not
 * hold, is ignored. Other languages: pollux-program(7) has the format. */
bool pollux_client_config_changed(struct pollux_client *client, struct pollux_config *config);

/* Each report returns true if a receiver got the report. The result may be
 * ignored. Only checkpoint may wait: if the receiver is slow, it tries for up to
 * 1 s, and after the stop signal for up to 10 s, because the report of the last
 * checkpoint must not get lost. */

/* To be called after each optimizer update. */
bool pollux_client_step(const struct pollux_client *client, const struct pollux_step *step);

/* To be called when a checkpoint is complete and safe on disk, with its path
 * (absolute, or relative to the directory in which the job was launched) and the
 * samples consumed when it was taken (negative: not known). A path with a newline, or of
 * PATH_MAX bytes or more, is not reported. */
bool pollux_client_checkpoint(const struct pollux_client *client,
			      const char *path, int64_t samples);

/* Reports the number of parameters of the model; once is enough. If 'pollux
 * profile --devices' has measured the devices, the number tells pollux what to
 * expect of other batch sizes and replicas before it has measured them. */
bool pollux_client_parameters(const struct pollux_client *client, int64_t n);

/* Free text for `pollux status`. Control characters become spaces; the text is
 * cut at 1000 bytes, between two characters if it is UTF-8. */
bool pollux_client_status(const struct pollux_client *client, const char *text);

/* True once the stop signal has arrived. Then finish the update, write a
 * checkpoint, report it, and exit with a status other than 0 (status 0 says that
 * the training is complete; 75, EX_TEMPFAIL, is a good choice). Always false
 * outside pollux. */
bool pollux_client_should_stop(const struct pollux_client *client);

/* Unbiased estimates of the squared norm of the true gradient and of the trace
 * of the per-sample gradient covariance, from mean gradients over two batch
 * sizes b < B (McCandlish et al., "An Empirical Model of Large-Batch Training",
 * 2018, appendix A.1):
 *
 *	|G|^2     = (B |g_B|^2 - b |g_b|^2) / (B - b)
 *	tr(Sigma) = (|g_b|^2 - |g_B|^2) / (1/b - 1/B)
 *
 * With R replicas and s passes per update, R*s >= 2: local_sqr is the average
 * of |g|^2 over the R*s local passes, each g the mean over its b = m samples
 * (as the loss's mean gives it, before synchronisation), and mean_sqr is the
 * squared norm of their mean, B = R*m*s.
 *
 * With R = s = 1 there is one gradient per update. Pair two consecutive
 * updates g1, g2 of m samples each: b = m, local_sqr = (|g1|^2 + |g2|^2) / 2,
 * B = 2m, mean_sqr = |(g1 + g2) / 2|^2. Their expectations G1, G2 differ by the
 * update between them. This makes tr(Sigma) too large by (m/2) |G1 - G2|^2, and
 * the estimate of |G|^2 is one of G1.G2. The bias is not small: a perceptron on Fashion-MNIST
 * at ordinary learning rates gave tr(Sigma)/|G|^2 1.5 to 2.5 times too large.
 * Two halves of one batch (b = m/2, B = m), s = 2 at half the local batch, or
 * norms of single samples' gradients (b = 1, B = m) have no such drift: prefer
 * these if the program can compute them.
 *
 * A single pair of estimates is noisy and may be negative: report them as they
 * are (the receiver averages the two separately, over many updates, before it
 * divides). Returns false, with both estimates NAN, unless 0 < b < B and both
 * norms are finite and not negative. */
bool pollux_gradient_estimates(double local_batch, double local_sqr, double batch, double mean_sqr,
			       double *grad_sqr, double *grad_var);

#ifdef __cplusplus
}
#endif
#endif
