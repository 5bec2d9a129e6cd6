/* test_client.c - the client library against a real receiver, and against
 * receivers that are full, gone, or were never there. */
#include "pollux/client.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define UNKNOWN ((double)NAN)
#define INFINITE ((double)INFINITY)

static const char *const variables[] = {
	"POLLUX_REPORT_SOCKET", "POLLUX_STOP_SIGNAL", "POLLUX_JOB_ID", "POLLUX_RUN",
	"POLLUX_BATCH", "POLLUX_LOCAL_BATCH", "POLLUX_ACCUM", "POLLUX_REPLICAS",
	"POLLUX_LR_SCALE", "POLLUX_CHECKPOINT_DIR", "POLLUX_CONFIG_FILE",
};

static char directory[] = "/tmp/test_client.XXXXXX";
static char socket_path[sizeof(directory) + 8], config_path[sizeof(directory) + 8];
static char kept_path[sizeof(socket_path) + 8];
static char received[2 * PATH_MAX];

static void clear_environment(void)
{
	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++)
		unsetenv(variables[i]);
}

static int bind_receiver(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);

	memcpy(address.sun_path, socket_path, sizeof(socket_path));
	unlink(socket_path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		perror("bind");
		exit(1);
	}
	return fd;
}

/* The next datagram, or "" when there is none. */
static const char *receive(int fd)
{
	ssize_t n = recv(fd, received, sizeof(received) - 1, 0);

	received[n > 0 ? n : 0] = '\0';
	return received;
}

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int count_fds(void)
{
	int n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static const struct pollux_step whole_step = {
	.step = 400, .samples = 51200, .step_ns = 12345678, .sync_ns = 0,
	.grad_sqr = 0.25, .grad_var = -1.5e-7, .loss = 0.4312, .epoch = 0.85,
};

static void handler_of_the_program(int number)
{
	(void)number;
}

static void test_outside(void)
{
	struct sigaction before = { .sa_handler = handler_of_the_program }, after;
	struct pollux_config config;
	int fds = count_fds();

	clear_environment();
	setenv("POLLUX_BATCH", "128", 1);
	sigaction(SIGTERM, &before, NULL);
	struct pollux_client *c = pollux_client_open();
	ok(c, "open gives a client outside pollux");
	is_int(count_fds(), fds, "open opens no descriptor outside pollux");
	ok(!pollux_client_config(c, &config), "config says no outside pollux");
	is_int(config.batch_size, 0, "config ignores the environment outside pollux");
	errno = 77;
	ok(!pollux_client_step(c, &whole_step), "step does nothing outside pollux");
	ok(!pollux_client_checkpoint(c, "/x", 1), "checkpoint does nothing outside pollux");
	ok(!pollux_client_status(c, "x"), "status does nothing outside pollux");
	is_int(errno, 77, "no call outside pollux changes errno");
	raise(SIGTERM);
	ok(!pollux_client_should_stop(c), "should_stop is false after a signal outside pollux");
	sigaction(SIGTERM, NULL, &after);
	ok(after.sa_handler == handler_of_the_program,
	   "open outside pollux leaves the program's handler alone");
	pollux_client_close(c);

	setenv("POLLUX_REPORT_SOCKET", "", 1);
	c = pollux_client_open();
	ok(!pollux_client_config(c, &config), "an empty socket name counts as outside pollux");
	pollux_client_close(c);
}

static void test_null(void)
{
	struct pollux_config config;

	ok(!pollux_client_config(NULL, &config) && isnan(config.lr_scale),
	   "config takes a client that is NULL");
	ok(!pollux_client_step(NULL, &whole_step), "step takes a client that is NULL");
	ok(!pollux_client_checkpoint(NULL, "/x", 1), "checkpoint takes a client that is NULL");
	ok(!pollux_client_status(NULL, "x"), "status takes a client that is NULL");
	ok(!pollux_client_should_stop(NULL), "should_stop takes a client that is NULL");
	pollux_client_close(NULL);
}

static void test_config(void)
{
	struct pollux_config config;

	clear_environment();
	setenv("POLLUX_REPORT_SOCKET", "/nonexistent/socket", 1);
	setenv("POLLUX_JOB_ID", "17", 1);
	setenv("POLLUX_RUN", "3", 1);
	setenv("POLLUX_BATCH", "4096", 1);
	setenv("POLLUX_LOCAL_BATCH", "512", 1);
	setenv("POLLUX_ACCUM", "4", 1);
	setenv("POLLUX_REPLICAS", "2", 1);
	setenv("POLLUX_LR_SCALE", "2.5e0", 1);
	setenv("POLLUX_CHECKPOINT_DIR", "/var/x y", 1);
	struct pollux_client *c = pollux_client_open();
	ok(pollux_client_config(c, &config), "config says yes under pollux");
	is_int(config.job_id, 17, "config tells the number of the job");
	is_int(config.run, 3, "config tells the number of the run");
	is_int(config.batch_size, 4096, "config tells the batch size");
	is_int(config.local_batch_size, 512, "config tells the local batch size");
	is_int(config.accumulation_steps, 4, "config tells the accumulation steps");
	is_int(config.replicas, 2, "config tells the replicas");
	near(config.lr_scale, 2.5, 0, "config tells the learning-rate scale");
	is_str(config.checkpoint_dir, "/var/x y", "config tells the checkpoint directory");
	pollux_client_close(c);
}

static void test_malformed(void)
{
	static const char *const bad[] = {
		"", " ", "0", "-1", "+1", " 1", "1 ", "1x", "x", "1.5", "0x10", "1e3",
		"99999999999999999999", "nan", "inf",
	};
	static const char *const bad_scale[] = {
		"", "0", "-1", "0.0", " 1", "1 ", "1x", "nan", "inf", "1e999", "-inf", "1,5",
	};
	struct pollux_config config;

	clear_environment();
	setenv("POLLUX_REPORT_SOCKET", "/nonexistent/socket", 1);
	setenv("POLLUX_STOP_SIGNAL", "TERM", 1);
	struct pollux_client *c = pollux_client_open();
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		setenv("POLLUX_BATCH", bad[i], 1);
		setenv("POLLUX_REPLICAS", bad[i], 1);
		pollux_client_config(c, &config);
		if (!ok(config.batch_size == 0 && config.replicas == 0,
			"a bad integer counts as not set"))
			printf("# '%s'\n", bad[i]);
	}
	setenv("POLLUX_REPLICAS", "2147483648", 1);
	pollux_client_config(c, &config);
	is_int(config.replicas, 0, "an integer too large for its field counts as not set");
	for (size_t i = 0; i < sizeof(bad_scale) / sizeof(*bad_scale); i++) {
		setenv("POLLUX_LR_SCALE", bad_scale[i], 1);
		pollux_client_config(c, &config);
		if (!ok(isnan(config.lr_scale), "a bad learning-rate scale counts as not set"))
			printf("# '%s'\n", bad_scale[i]);
	}
	clear_environment();
	pollux_client_config(c, &config);
	ok(config.job_id == 0 && config.run == 0 && config.local_batch_size == 0 &&
	   config.accumulation_steps == 0 && isnan(config.lr_scale) &&
	   !config.checkpoint_dir, "config leaves unset what the environment does not set");
	pollux_client_close(c);
}

static void test_step_message(void)
{
	static const struct {
		const char *name;
		struct pollux_step step;
		const char *want;
	} cases[] = {
		{ "a whole step is sent with all its keys",
		  { 400, 51200, 12345678, 0, 0.25, -1.5e-7, 0.4312, 0.85 },
		  "STEP=400\nSAMPLES=51200\nSTEP_NS=12345678\nSYNC_NS=0\n"
		  "GRAD_SQR=0.25\nGRAD_VAR=-1.5e-07\nLOSS=0.4312\nEPOCH=0.85\n" },
		{ "a step leaves out what is not known",
		  { 1, -1, -1, -1, UNKNOWN, UNKNOWN, POLLUX_LOSS_UNKNOWN, UNKNOWN }, "STEP=1\n" },
		{ "a step leaves out an infinite gradient",
		  { 2, -1, -1, -1, INFINITE, -INFINITE, POLLUX_LOSS_UNKNOWN, UNKNOWN },
		  "STEP=2\n" },
		{ "a loss of NaN is sent",
		  { 3, -1, -1, -1, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN }, "STEP=3\nLOSS=nan\n" },
		{ "an infinite loss is sent",
		  { 4, -1, -1, -1, UNKNOWN, UNKNOWN, INFINITE, UNKNOWN }, "STEP=4\nLOSS=inf\n" },
		{ "a loss of minus infinity is sent",
		  { 5, -1, -1, -1, UNKNOWN, UNKNOWN, -INFINITE, UNKNOWN }, "STEP=5\nLOSS=-inf\n" },
		{ "a step of nothing sends nothing", POLLUX_STEP_INIT, "" },
		{ "a step of the largest numbers is sent",
		  { INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, 1e308, -1e308, 1e-308, 0 },
		  "STEP=9223372036854775807\nSAMPLES=9223372036854775807\n"
		  "STEP_NS=9223372036854775807\nSYNC_NS=9223372036854775807\n"
		  "GRAD_SQR=1e+308\nGRAD_VAR=-1e+308\nLOSS=1e-308\nEPOCH=0\n" },
	};
	int fd = bind_receiver();

	setenv("POLLUX_REPORT_SOCKET", socket_path, 1);
	struct pollux_client *c = pollux_client_open();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		bool sent = pollux_client_step(c, &cases[i].step);

		is_str(receive(fd), cases[i].want, cases[i].name);
		ok(sent == (*cases[i].want != 0), "the result of step says whether it was sent");
	}
	pollux_client_close(c);
	close(fd);
}

/* A program that set a locale with a decimal comma still sends points. */
static void test_locale(void)
{
	static const char *const with_comma[] = {
		"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8",
	};
	const char *set = NULL;
	int fd = bind_receiver();
	struct pollux_config config;

	for (size_t i = 0; !set && i < sizeof(with_comma) / sizeof(*with_comma); i++)
		set = setlocale(LC_NUMERIC, with_comma[i]);
	if (!set)
		printf("# no locale with a decimal comma here: tested in the C locale only\n");
	setenv("POLLUX_LR_SCALE", "1.5", 1);
	struct pollux_client *c = pollux_client_open();
	pollux_client_step(c,
			   &(struct pollux_step){ -1, -1, -1, -1, UNKNOWN, UNKNOWN, 1.5, UNKNOWN });
	is_str(receive(fd), "LOSS=1.5\n", "numbers are sent with a decimal point in any locale");
	pollux_client_config(c, &config);
	near(config.lr_scale, 1.5, 0, "numbers are read with a decimal point in any locale");
	pollux_client_close(c);
	setlocale(LC_NUMERIC, "C");
	close(fd);
}

static void test_parameters_message(void)
{
	int fd = bind_receiver();
	struct pollux_client *c = pollux_client_open();

	ok(pollux_client_parameters(c, 124439808), "the number of parameters is sent");
	is_str(receive(fd), "PARAMETERS=124439808\n", "the message tells the number of parameters");
	ok(!pollux_client_parameters(c, 0), "a number of 0 parameters is refused");
	is_str(receive(fd), "", "a number of 0 parameters sends nothing");
	pollux_client_close(c);
	close(fd);
}

static void test_checkpoint_message(void)
{
	char long_path[PATH_MAX + 1];
	int fd = bind_receiver();
	struct pollux_client *c = pollux_client_open();

	ok(pollux_client_checkpoint(c, "/a b/c=d", 51200), "a checkpoint is sent");
	is_str(receive(fd), "CHECKPOINT=/a b/c=d\nSAMPLES=51200\n",
	       "the message of a checkpoint has its path and samples");
	pollux_client_checkpoint(c, "/x", -1);
	is_str(receive(fd), "CHECKPOINT=/x\n",
	       "the message of a checkpoint leaves out unknown samples");
	ok(!pollux_client_checkpoint(c, "", 1), "an empty path of a checkpoint is refused");
	ok(!pollux_client_checkpoint(c, "/a\nSTATUS=b", 1),
	   "a path of a checkpoint with a newline is refused");
	memset(long_path, 'x', PATH_MAX);
	long_path[PATH_MAX] = '\0';
	ok(!pollux_client_checkpoint(c, long_path, 1),
	   "a path of a checkpoint of PATH_MAX bytes is refused");
	is_str(receive(fd), "", "a refused checkpoint sends nothing");
	long_path[PATH_MAX - 1] = '\0';
	ok(pollux_client_checkpoint(c, long_path, INT64_MAX),
	   "the longest path of a checkpoint is sent");
	is_int(strlen(receive(fd)),
	       PATH_MAX - 1 + strlen("CHECKPOINT=\nSAMPLES=9223372036854775807\n"),
	       "the longest path of a checkpoint arrives whole");
	pollux_client_close(c);
	close(fd);
}

static void test_status_message(void)
{
	char text[3000], want[3000];
	int fd = bind_receiver();
	struct pollux_client *c = pollux_client_open();

	ok(pollux_client_status(c, "accuracy 0.8712 at 183000 samples"), "a status is sent");
	is_str(receive(fd), "STATUS=accuracy 0.8712 at 183000 samples\n",
	       "the message of a status has its text");
	pollux_client_status(c, "a\nSTEP=9\r\tb\033[1m\x7f");
	is_str(receive(fd), "STATUS=a STEP=9  b [1m \n",
	       "control characters in a status become spaces");
	pollux_client_status(c, "");
	is_str(receive(fd), "STATUS=\n", "an empty text clears the status");
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	pollux_client_status(c, text);
	snprintf(want, sizeof(want), "STATUS=%.1000s\n", text);
	is_str(receive(fd), want, "a long status is cut at 1000 bytes");
	memcpy(text + 998, "\xe2\x82\xac", 3);
	pollux_client_status(c, text);
	snprintf(want, sizeof(want), "STATUS=%.998s\n", text);
	is_str(receive(fd), want, "a long status is cut between two characters");
	memset(text, '\x80', sizeof(text) - 1);
	pollux_client_status(c, text);
	is_int(strlen(receive(fd)), 7 + 996 + 1, "a long status that is not UTF-8 is cut, too");
	pollux_client_close(c);
	close(fd);
}

/* Send until the receiver's queue is full; return the messages taken. */
static int fill(const struct pollux_client *c)
{
	int n = 0;

	while (n < 100000 && pollux_client_step(c, &whole_step))
		n++;
	return n;
}

static void *unused_slot;

static void drain_one(int number)
{
	char one[4096];

	(void)number;
	if (recv(*(int *)unused_slot, one, sizeof(one), 0) < 0)
		_exit(9);
}

static void test_full(void)
{
	int fd = bind_receiver();
	struct pollux_client *c = pollux_client_open();
	int taken = fill(c);
	double start_s = now_s();

	ok(taken > 0 && taken < 100000, "a receiver that does not read fills up");
	for (int i = 0; i < 1000; i++)
		pollux_client_step(c, &whole_step);
	pollux_client_status(c, "x");
	ok(now_s() - start_s < 0.5, "a thousand steps to a full receiver do not wait");
	start_s = now_s();
	ok(!pollux_client_checkpoint(c, "/x", 1), "a checkpoint to a full receiver gives up");
	double waited_s = now_s() - start_s;
	ok(waited_s > 0.5 && waited_s < 3, "a checkpoint gives up after about a second");

	struct sigaction action = { .sa_handler = drain_one };
	unused_slot = &fd;
	sigaction(SIGALRM, &action, NULL);
	start_s = now_s();
	alarm(1);
	while (now_s() - start_s < 0.5)
		usleep(10000);
	ok(pollux_client_checkpoint(c, "/x", 1),
	   "a checkpoint is sent if the receiver wakes in time");
	for (int i = 1; i < taken; i++)
		receive(fd);
	is_str(receive(fd), "CHECKPOINT=/x\nSAMPLES=1\n",
	       "a checkpoint arrives at a receiver that wakes in time");
	pollux_client_close(c);
	close(fd);
}

static void test_gone(void)
{
	int fd = bind_receiver();
	struct pollux_client *c = pollux_client_open();

	close(fd);
	double start_s = now_s();
	errno = 77;
	ok(!pollux_client_step(c, &whole_step), "step survives a receiver that died");
	ok(!pollux_client_checkpoint(c, "/x", 1), "checkpoint survives a receiver that died");
	unlink(socket_path);
	ok(!pollux_client_step(c, &whole_step), "step survives a deleted socket");
	ok(!pollux_client_checkpoint(c, "/x", 1), "checkpoint survives a deleted socket");
	ok(now_s() - start_s < 0.5, "no call waits for a receiver that is gone");
	is_int(errno, 77, "no call to a receiver that is gone changes errno");
	fd = bind_receiver();
	ok(pollux_client_step(c, &whole_step), "a receiver that comes back gets the next step");
	pollux_client_close(c);
	close(fd);
}

static void test_bad_socket(void)
{
	char long_path[300];
	struct pollux_config config;

	memset(long_path, 'x', sizeof(long_path));
	long_path[0] = '/';
	long_path[sizeof(long_path) - 1] = '\0';
	setenv("POLLUX_REPORT_SOCKET", long_path, 1);
	struct pollux_client *c = pollux_client_open();
	ok(pollux_client_config(c, &config),
	   "a socket name that is too long counts as under pollux");
	ok(!pollux_client_step(c, &whole_step),
	   "step sends nothing to a socket name that is too long");
	pollux_client_close(c);

	setenv("POLLUX_REPORT_SOCKET", "/dev/null", 1);
	c = pollux_client_open();
	ok(!pollux_client_step(c, &whole_step), "step survives a file that is no socket");
	pollux_client_close(c);
}

static void test_close_on_exec(void)
{
	int before = count_fds(), bad = 0;

	setenv("POLLUX_REPORT_SOCKET", socket_path, 1);
	struct pollux_client *c = pollux_client_open();
	is_int(count_fds(), before + 1, "an open client holds one descriptor");
	for (int fd = 3; fd < 256; fd++) {
		int flags = fcntl(fd, F_GETFD);

		bad += flags >= 0 && before == 3 && !(flags & FD_CLOEXEC);
	}
	is_int(bad, 0, "the descriptor of a client is closed on exec");
	pollux_client_close(c);
	is_int(count_fds(), before, "close closes the descriptor of a client");
}

static void test_stop(const char *variable, int expected, const char *name)
{
	struct sigaction before = { .sa_handler = handler_of_the_program }, after;

	if (variable)
		setenv("POLLUX_STOP_SIGNAL", variable, 1);
	else
		unsetenv("POLLUX_STOP_SIGNAL");
	sigaction(expected, &before, NULL);
	struct pollux_client *c = pollux_client_open();
	ok(!pollux_client_should_stop(c), name);
	raise(expected);
	ok(pollux_client_should_stop(c), "should_stop is true after the stop signal");
	ok(pollux_client_should_stop(c), "should_stop stays true after the stop signal");
	pollux_client_close(c);
	sigaction(expected, NULL, &after);
	ok(after.sa_handler == handler_of_the_program, "close restores the handler of the program");
	c = pollux_client_open();
	ok(!pollux_client_should_stop(c), "should_stop is false in a new client");
	pollux_client_close(c);
}

static void test_impossible_signal(void)
{
	setenv("POLLUX_STOP_SIGNAL", "9", 1);
	struct pollux_client *c = pollux_client_open();
	struct pollux_config config;

	ok(pollux_client_config(c, &config) && !pollux_client_should_stop(c),
	   "a client survives a stop signal that cannot be caught");
	pollux_client_close(c);
}

static void test_estimates(void)
{
	static const struct { const char *name; double b, b_sqr, B, B_sqr, sqr, var; } cases[] = {
		/* |g_b|^2 = |G|^2 + tr/b: |G|^2 = 2, tr = 32 */
		{ "two batches worked out by hand give estimates", 8, 6, 32, 3, 2, 32 },
		{ "a batch of a single sample gives estimates", 1, 34, 64, 2.5, 2, 32 },
		{ "gradients without noise give estimates", 16, 5, 32, 5, 5, 0 },
		{ "negative estimates are given as they are", 1, 1, 2, 2, 3, -2 },
		{ "gradients of noise alone give estimates", 1, 4, 2, 1, -2, 6 },
	};
	static const struct { double b, b_sqr, B, B_sqr; } bad[] = {
		{ 8, 1, 8, 1 }, { 16, 1, 8, 1 }, { 0, 1, 8, 1 }, { -1, 1, 8, 1 },
		{ 8, UNKNOWN, 16, 1 }, { 8, 1, 16, INFINITE }, { 8, -1, 16, 1 }, { 8, 1, 16, -1 },
		{ UNKNOWN, 1, 8, 1 }, { 1, 1, UNKNOWN, 1 }, { 1, 1, INFINITE, 1 },
		{ 8, 1e308, 9, 1e308 },
	};
	double sqr, var;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ok(pollux_gradient_estimates(cases[i].b, cases[i].b_sqr, cases[i].B,
					     cases[i].B_sqr, &sqr, &var), cases[i].name);
		near(sqr, cases[i].sqr, 1e-14, "the estimate of |G|^2 is that worked out by hand");
		near(var, cases[i].var, 1e-14,
		     "the estimate of tr(Sigma) is that worked out by hand");
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ok(!pollux_gradient_estimates(bad[i].b, bad[i].b_sqr, bad[i].B, bad[i].B_sqr,
					      &sqr, &var) && isnan(sqr) && isnan(var),
		   "impossible batches give estimates of NaN");
}

/* --- another configuration --- */

/* As the supervisor does it: another file each time. */
static void put_config(const char *text)
{
	char new_path[sizeof(config_path) + 4];

	snprintf(new_path, sizeof(new_path), "%s.new", config_path);
	FILE *file = fopen(new_path, "w");
	if (!file || fputs(text, file) < 0 || fclose(file) || rename(new_path, config_path))
		perror(new_path);
}

static bool changed_at_last(struct pollux_client *c, struct pollux_config *config)
{
	usleep(60000);                   /* it looks every 50 ms */
	return pollux_client_config_changed(c, config);
}

static struct pollux_client *open_with_config(void)
{
	clear_environment();
	setenv("POLLUX_REPORT_SOCKET", socket_path, 1);
	setenv("POLLUX_CONFIG_FILE", config_path, 1);
	setenv("POLLUX_JOB_ID", "17", 1);
	setenv("POLLUX_REPLICAS", "2", 1);
	setenv("POLLUX_BATCH", "128", 1);
	setenv("POLLUX_LOCAL_BATCH", "64", 1);
	setenv("POLLUX_ACCUM", "1", 1);
	unlink(config_path);
	return pollux_client_open();
}

static void test_config_changed(void)
{
	struct pollux_step step = POLLUX_STEP_INIT;
	struct pollux_config config = { .batch_size = 77 };
	struct pollux_client *c = open_with_config();
	int fd = bind_receiver();

	step.step = 1;
	pollux_client_step(c, &step);
	is_str(receive(fd), "STEP=1\n", "a program that never asks says nothing of configurations");
	errno = 77;
	ok(!pollux_client_config_changed(c, &config), "no configuration is wanted at first");
	is_int(config.batch_size, 77, "config_changed leaves the configuration if none is wanted");
	pollux_client_step(c, &step);
	is_str(receive(fd), "STEP=1\nCONFIG=0\n",
	       "a step says that the program takes configurations once it asked");
	put_config("VERSION=1\nBATCH=256\nLOCAL_BATCH=64\nACCUM=2\nLR_SCALE=1.41421356\n");
	ok(changed_at_last(c, &config), "a configuration in the file is wanted");
	ok(config.batch_size == 256 && config.local_batch_size == 64 &&
	   config.accumulation_steps == 2,
	   "the wanted configuration tells its batch sizes and passes");
	near(config.lr_scale, 1.41421356, 0,
	     "the wanted configuration tells its learning-rate scale");
	ok(config.replicas == 2 && config.job_id == 17,
	   "the wanted configuration leaves replicas and job as they were");
	is_int(errno, 77, "config_changed does not change errno");
	pollux_client_step(c, &step);
	is_str(receive(fd), "STEP=1\nCONFIG=1\n", "a step says which configuration is in use");
	ok(!changed_at_last(c, &config), "a wanted configuration is told once");
	put_config("VERSION=1\nBATCH=512\nLOCAL_BATCH=64\nACCUM=4\nLR_SCALE=2\n");
	ok(!changed_at_last(c, &config), "a configuration of the same version is not told again");
	put_config("VERSION=7\nCOLOUR=red\nBATCH=512\nLOCAL_BATCH=256\nACCUM=1\nLR_SCALE=.5\n");
	ok(changed_at_last(c, &config) && config.local_batch_size == 256 && config.lr_scale == 0.5,
	   "a later configuration is told, and unknown keys are passed over");
	put_config("VERSION=6\nBATCH=128\nLOCAL_BATCH=64\nACCUM=1\nLR_SCALE=1\n");
	ok(!changed_at_last(c, &config), "a configuration of an earlier version is not told");
	pollux_client_close(c);
	close(fd);
}

static void test_hostile_config(void)
{
	static const char *const bad[] = {
		"", "\n", "=\n", "VERSION=1\n", "VERSION", "no configuration at all\n",
		"VERSION=1\nBATCH=256\nLOCAL_BATCH=64\nACCUM=2\nLR_SCALE=1",	/* half-written */
		"VERSION=1\nBATCH=256\nLOCAL_BATCH=64\nACCUM=2\n",
		"VERSION=0\nBATCH=256\nLOCAL_BATCH=64\nACCUM=2\nLR_SCALE=1\n",
		"VERSION=-1\nBATCH=256\nLOCAL_BATCH=64\nACCUM=2\nLR_SCALE=1\n",
		"VERSION=1\nBATCH=255\nLOCAL_BATCH=64\nACCUM=2\nLR_SCALE=1\n",
		"VERSION=1\nBATCH=256\nLOCAL_BATCH=64\nACCUM=4\nLR_SCALE=1\n",
		"VERSION=1\nBATCH=256\nLOCAL_BATCH=128\nACCUM=2\nLR_SCALE=1\n",	/* 1 replica */
		"VERSION=1\nBATCH=0\nLOCAL_BATCH=0\nACCUM=0\nLR_SCALE=1\n",
		"VERSION=1\nBATCH=256\nLOCAL_BATCH=64\nACCUM=2\nLR_SCALE=0\n",
		"VERSION=1\nBATCH=256\nLOCAL_BATCH=64\nACCUM=2\nLR_SCALE=nan\n",
		"VERSION=1\nBATCH=256\nLOCAL_BATCH=64\nACCUM=2\nLR_SCALE=1e999\n",
		"VERSION=1\nBATCH=256 \nLOCAL_BATCH=64\nACCUM=2\nLR_SCALE=1\n",
		"VERSION=99999999999999999999\nBATCH=256\nLOCAL_BATCH=64\nACCUM=2\nLR_SCALE=1\n",
		("VERSION=1\nBATCH=9223372036854775807\nLOCAL_BATCH=1\nACCUM=2147483647\n"
		 "LR_SCALE=1\n"),
	};
	static const char good[] = "VERSION=1\nBATCH=256\nLOCAL_BATCH=64\nACCUM=2\nLR_SCALE=1\n";
	struct pollux_config config = { .batch_size = 77 };
	struct pollux_client *c = open_with_config();
	char large[4096];

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		put_config(bad[i]);
		if (!ok(!changed_at_last(c, &config), "a malformed configuration is passed over"))
			printf("# %s\n", bad[i]);
	}
	memset(large, '\n', sizeof(large));
	memcpy(large, good, sizeof(good) - 1);
	large[sizeof(large) - 1] = '\0';
	put_config(large);
	ok(!changed_at_last(c, &config), "a configuration file that is too large is passed over");
	unlink(config_path);
	mkfifo(config_path, 0600);
	double start_s = now_s();
	ok(!changed_at_last(c, &config) && now_s() - start_s < 1,
	   "config_changed does not wait for a FIFO");
	unlink(config_path);
	mkdir(config_path, 0700);
	ok(!changed_at_last(c, &config), "config_changed survives a directory");
	rmdir(config_path);
	put_config(good);
	chmod(config_path, 0);
	if (geteuid() != 0)
		ok(!changed_at_last(c, &config),
		   "config_changed survives a file that it may not read");
	is_int(config.batch_size, 77, "a configuration that is passed over changes nothing");
	put_config(good);
	ok(changed_at_last(c, &config), "the next good configuration is taken");
	pollux_client_close(c);
	unlink(config_path);
}

/* A program that has no descriptor left for now. */
static void test_config_unread(void)
{
	struct pollux_config config;
	struct pollux_client *c = open_with_config();
	struct rlimit limit, none;

	put_config("VERSION=1\nBATCH=256\nLOCAL_BATCH=64\nACCUM=2\nLR_SCALE=1\n");
	getrlimit(RLIMIT_NOFILE, &limit);
	none = limit;
	none.rlim_cur = 0;
	setrlimit(RLIMIT_NOFILE, &none);
	ok(!changed_at_last(c, &config), "a configuration is not read without a free descriptor");
	setrlimit(RLIMIT_NOFILE, &limit);
	ok(changed_at_last(c, &config), "a configuration is read once a descriptor is free");
	pollux_client_close(c);
	unlink(config_path);
}

static void test_config_cost(void)
{
	const int n = 1000000;
	struct pollux_config config;
	struct pollux_client *c = open_with_config();
	double start_s = now_s();

	for (int i = 0; i < n; i++)
		pollux_client_config_changed(c, &config);
	double each_ns = (now_s() - start_s) / n * 1e9;
	printf("# %.0f ns a call\n", each_ns);
	ok(each_ns < 2000, "asking for a configuration takes less than 2 us");
	pollux_client_close(c);
	ok(!pollux_client_config_changed(NULL, &config),
	   "config_changed takes a client that is NULL");
	clear_environment();
	setenv("POLLUX_CONFIG_FILE", config_path, 1);
	put_config("VERSION=1\nBATCH=256\nLOCAL_BATCH=64\nACCUM=4\nLR_SCALE=1\n");
	c = pollux_client_open();
	ok(!changed_at_last(c, &config), "no configuration is wanted outside pollux");
	pollux_client_close(c);
	unlink(config_path);
}

int main(void)
{
	if (!mkdtemp(directory)) {
		perror("mkdtemp");
		return 1;
	}
	snprintf(socket_path, sizeof(socket_path), "%s/socket", directory);
	snprintf(config_path, sizeof(config_path), "%s/config", directory);
	snprintf(kept_path, sizeof(kept_path), "%s.kept", socket_path);
	test_outside();
	test_null();
	test_config();
	test_malformed();
	clear_environment();
	test_step_message();
	test_locale();
	test_parameters_message();
	test_checkpoint_message();
	test_status_message();
	test_full();
	test_gone();
	test_bad_socket();
	test_close_on_exec();
	setenv("POLLUX_REPORT_SOCKET", socket_path, 1);
	test_stop(NULL, SIGTERM, "should_stop is false before SIGTERM if no signal is set");
	test_stop("10", SIGUSR1, "should_stop is false before the signal of POLLUX_STOP_SIGNAL");
	test_stop("TERM", SIGTERM,
		  "should_stop is false before SIGTERM if the variable is no number");
	test_impossible_signal();
	test_estimates();
	test_config_changed();
	test_hostile_config();
	test_config_unread();
	test_config_cost();
	unlink(socket_path);
	unlink(kept_path);
	rmdir(directory);
	return done();
}
