/* client.c - reports from a training program to its supervisor.
 *
 * A report is one datagram of KEY=VALUE lines, built on the stack and sent by
 * one system call to the path in POLLUX_REPORT_SOCKET. The socket is not
 * connected, so a new supervisor at the same path gets the reports. The last reports that no
 * supervisor took go to a file (kept_file.c). */
#include "client_private.h"

#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	STATUS_MAX = 1000,               /* bytes of a status text */
	CHECKPOINT_WAIT_MS = 1000,
	/* the program has to stop: a checkpoint that is not reported is lost */
	LAST_CHECKPOINT_WAIT_MS = 10000,
	CHECKPOINT_RETRY_MS = 5,
};

struct message {
	size_t length;
	char text[CLIENT_MESSAGE_MAX];
};

/* Global, because a signal handler receives no pointer to the client. */
static atomic_bool stop_requested;

static void request_stop(int signal_number)
{
	(void)signal_number;
	atomic_store(&stop_requested, true);
}

static const char *environment(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

static int64_t environment_integer(const char *name, int64_t max)
{
	const char *text = environment(name);

	return text ? client_integer(text, max) : 0;
}

static double environment_positive(const char *name, locale_t c_locale)
{
	const char *text = environment(name);

	return text ? client_positive(text, c_locale) : (double)NAN;
}

static void install_stop_handler(struct pollux_client *c)
{
	struct sigaction action = { .sa_handler = request_stop, .sa_flags = SA_RESTART };
	int64_t number = environment_integer("POLLUX_STOP_SIGNAL", NSIG - 1);

	c->stop_signal = number ? (int)number : SIGTERM;
	sigemptyset(&action.sa_mask);
	atomic_store(&stop_requested, false);
	if (sigaction(c->stop_signal, &action, &c->previous) < 0)
		c->stop_signal = 0;
}

/* If the path is too long for a socket address, the client sends no reports. */
static void open_socket(struct pollux_client *c, const char *path)
{
	size_t length = strlen(path);

	if (length >= sizeof(c->address.sun_path))
		return;
	c->address.sun_family = AF_UNIX;
	memcpy(c->address.sun_path, path, length + 1);
	c->address_length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + 1);
	c->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	c->kept = client_kept_open(path);
}

static void begin_client(struct pollux_client *c, const char *socket_path)
{
	const char *directory = environment("POLLUX_CHECKPOINT_DIR");
	const char *config_file = environment("POLLUX_CONFIG_FILE");

	c->under_pollux = true;
	if (directory)
		c->checkpoint_dir = strdup(directory);
	if (config_file)
		c->config_path = strdup(config_file);
	open_socket(c, socket_path);
	install_stop_handler(c);
}

struct pollux_client *pollux_client_open(void)
{
	int saved_errno = errno;
	const char *socket_path = environment("POLLUX_REPORT_SOCKET");
	struct pollux_client *c = calloc(1, sizeof(*c));

	if (c) {
		c->fd = -1;
		c->config_version = -1;
		c->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	}
	if (c && !c->c_locale) {
		free(c);
		c = NULL;
	}
	if (c && socket_path)
		begin_client(c, socket_path);
	errno = saved_errno;
	return c;
}

void pollux_client_close(struct pollux_client *c)
{
	int saved_errno = errno;

	if (!c)
		return;
	if (c->stop_signal)
		sigaction(c->stop_signal, &c->previous, NULL);
	client_kept_close(c);
	if (c->fd >= 0)
		close(c->fd);
	freelocale(c->c_locale);
	free(c->checkpoint_dir);
	free(c->config_path);
	free(c);
	errno = saved_errno;
}

bool pollux_client_config(const struct pollux_client *c, struct pollux_config *config)
{
	int saved_errno = errno;

	*config = (struct pollux_config){ .lr_scale = (double)NAN };
	if (!c || !c->under_pollux)
		return false;
	config->job_id = environment_integer("POLLUX_JOB_ID", INT64_MAX);
	config->run = environment_integer("POLLUX_RUN", INT64_MAX);
	config->batch_size = environment_integer("POLLUX_BATCH", INT64_MAX);
	config->local_batch_size = (int)environment_integer("POLLUX_LOCAL_BATCH", INT_MAX);
	config->accumulation_steps = (int)environment_integer("POLLUX_ACCUM", INT_MAX);
	config->replicas = (int)environment_integer("POLLUX_REPLICAS", INT_MAX);
	config->lr_scale = environment_positive("POLLUX_LR_SCALE", c->c_locale);
	config->checkpoint_dir = c->checkpoint_dir;
	errno = saved_errno;
	return true;
}

/* Appends a line. A line that does not fit is left out as a whole. */
__attribute__((format(printf, 2, 3)))
static void add_to_message(struct message *m, const char *format, ...)
{
	size_t room = sizeof(m->text) - m->length;
	va_list ap;

	va_start(ap, format);
	int n = vsnprintf(m->text + m->length, room, format, ap);
	va_end(ap);
	if (n > 0 && (size_t)n < room)
		m->length += (size_t)n;
}

static void add_integer(struct message *m, const char *key, int64_t value)
{
	if (value >= 0)
		add_to_message(m, "%s=%lld\n", key, (long long)value);
}

static void add_number(struct message *m, const char *key, double value)
{
	if (isfinite(value))
		add_to_message(m, "%s=%.9g\n", key, value);
}

/* A loss need not be finite: that it is not is news. */
static void add_loss(struct message *m, double loss)
{
	if (isfinite(loss) && loss > POLLUX_LOSS_UNKNOWN)
		add_to_message(m, "LOSS=%.9g\n", loss);
	else if (!isfinite(loss))
		add_to_message(m, "LOSS=%s\n", isnan(loss) ? "nan" : loss > 0 ? "inf" : "-inf");
}

static bool send_message(const struct pollux_client *c, const struct message *m)
{
	return sendto(c->fd, m->text, m->length, MSG_DONTWAIT | MSG_NOSIGNAL,
		      (const struct sockaddr *)&c->address,
		      c->address_length) == (ssize_t)m->length;
}

static bool can_report(const struct pollux_client *c)
{
	return c && c->fd >= 0;
}

bool pollux_client_step(const struct pollux_client *c, const struct pollux_step *step)
{
	struct message m;
	int saved_errno = errno;

	if (!can_report(c))
		return false;
	m.length = 0;
	add_integer(&m, "STEP", step->step);
	add_integer(&m, "SAMPLES", step->samples);
	add_integer(&m, "STEP_NS", step->step_ns);
	add_integer(&m, "SYNC_NS", step->sync_ns);

	locale_t theirs = uselocale(c->c_locale);
	add_number(&m, "GRAD_SQR", step->grad_sqr);
	add_number(&m, "GRAD_VAR", step->grad_var);
	add_loss(&m, step->loss);
	add_number(&m, "EPOCH", step->epoch);
	uselocale(theirs);
	if (m.length > 0)
		add_integer(&m, "CONFIG", atomic_load(&c->config_version));

	bool sent = m.length > 0 && send_message(c, &m);
	if (m.length > 0)
		client_kept_add(c, CLIENT_KEPT_STEP, m.text, m.length, sent);
	errno = saved_errno;
	return sent;
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* poll() cannot tell whether an unconnected datagram socket's receiver has
 * room, so a full receiver is asked again every few milliseconds. */
static bool send_patiently(const struct pollux_client *c, const struct message *m)
{
	const struct timespec pause = { .tv_nsec = CHECKPOINT_RETRY_MS * 1000000L };
	int wait_ms = pollux_client_should_stop(c) ? LAST_CHECKPOINT_WAIT_MS : CHECKPOINT_WAIT_MS;
	int64_t deadline_ms = now_ms() + wait_ms - CHECKPOINT_RETRY_MS;

	while (!send_message(c, m)) {
		if (errno != EAGAIN || now_ms() >= deadline_ms)
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

/* Writes the path to full, with the directory of the program, which nobody else knows. Returns
 * full, or path if it is absolute, names no file, or is too long. */
static const char *absolute_path(const char *path, char full[PATH_MAX])
{
	size_t n;

	if (*path == '/' || access(path, F_OK) || !getcwd(full, PATH_MAX))
		return path;
	n = strlen(full);
	if (n + 1 + strlen(path) >= PATH_MAX)
		return path;
	full[n] = '/';
	strcpy(full + n + 1, path);
	return full;
}

bool pollux_client_checkpoint(const struct pollux_client *c, const char *path,
			      int64_t samples)
{
	char full[PATH_MAX];
	struct message m;
	int saved_errno = errno;

	if (!can_report(c) || !*path || strlen(path) >= PATH_MAX || strchr(path, '\n'))
		return false;
	m.length = 0;
	add_to_message(&m, "CHECKPOINT=%s\n", absolute_path(path, full));
	add_integer(&m, "SAMPLES", samples);
	bool sent = send_patiently(c, &m);
	client_kept_add(c, CLIENT_KEPT_CHECKPOINT, m.text, m.length, sent);
	errno = saved_errno;
	return sent;
}

bool pollux_client_parameters(const struct pollux_client *c, int64_t n)
{
	struct message m;
	int saved_errno = errno;

	if (!can_report(c) || n < 1)
		return false;
	m.length = 0;
	add_integer(&m, "PARAMETERS", n);
	bool sent = send_message(c, &m);
	errno = saved_errno;
	return sent;
}

/* The length of text cut to at most STATUS_MAX bytes before a UTF-8 sequence
 * that would not fit. */
static int status_length(const char *text)
{
	size_t length = strnlen(text, STATUS_MAX + 1);

	if (length <= STATUS_MAX)
		return (int)length;
	length = STATUS_MAX;
	while (length > STATUS_MAX - 4 && ((unsigned char)text[length] & 0xC0) == 0x80)
		length--;
	return (int)length;
}

bool pollux_client_status(const struct pollux_client *c, const char *text)
{
	static const char key[] = "STATUS=";
	struct message m;
	int saved_errno = errno;

	if (!can_report(c))
		return false;
	m.length = 0;
	add_to_message(&m, "%s%.*s\n", key, status_length(text), text);
	for (char *p = m.text + strlen(key); p < m.text + m.length - 1; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7F)
			*p = ' ';
	bool sent = send_message(c, &m);
	errno = saved_errno;
	return sent;
}

bool pollux_client_should_stop(const struct pollux_client *c)
{
	return c && c->stop_signal && atomic_load(&stop_requested);
}

bool pollux_gradient_estimates(double local_batch, double local_sqr, double batch,
			       double mean_sqr, double *grad_sqr, double *grad_var)
{
	*grad_sqr = *grad_var = (double)NAN;
	if (!(local_batch > 0 && local_batch < batch && isfinite(batch)) ||
	    !(local_sqr >= 0 && mean_sqr >= 0))
		return false;
	double sqr = (batch * mean_sqr - local_batch * local_sqr) / (batch - local_batch);
	double var = (local_sqr - mean_sqr) / (1 / local_batch - 1 / batch);
	if (!isfinite(sqr) || !isfinite(var))
		return false;
	*grad_sqr = sqr;
	*grad_var = var;
	return true;
}
