/* client.c - reports from a training program to its supervisor, and another configuration while the
 * program runs.
 *
 * A report is one datagram of KEY=VALUE lines, built on the stack and sent by
 * one system call to the path in POLLUX_REPORT_SOCKET. The socket is not
 * connected, so a new supervisor at the same path gets the reports. The last reports that no
 * supervisor took go to a file (kept_file.c).
 *
 * For another configuration, the supervisor renames a file of KEY=VALUE lines to the path in
 * POLLUX_CONFIG_FILE. Any other file at that path, and a file whose configuration is incomplete or
 * does not add up, is ignored. */
#include "client_private.h"

#include <fcntl.h>
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
	LOOK_EVERY_NS = 50000000,        /* for a configuration */
	FILE_MAX = 512,                  /* bytes; pollux writes less than 128 */
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
	if (c && socket_path) {
		const char *directory = environment("POLLUX_CHECKPOINT_DIR");
		const char *config_file = environment("POLLUX_CONFIG_FILE");
		struct sigaction action = { .sa_handler = request_stop, .sa_flags = SA_RESTART };
		size_t length = strlen(socket_path);

		c->under_pollux = true;
		c->checkpoint_dir = directory ? strdup(directory) : NULL;
		c->config_path = config_file ? strdup(config_file) : NULL;
		/* If the path is too long for a socket address, the client sends no reports. */
		if (length < sizeof(c->address.sun_path)) {
			c->address.sun_family = AF_UNIX;
			memcpy(c->address.sun_path, socket_path, length + 1);
			c->address_length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) +
							length + 1);
			c->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
			c->kept = client_kept_open(socket_path);
		}
		c->stop_signal = (int)environment_integer("POLLUX_STOP_SIGNAL", NSIG - 1);
		if (!c->stop_signal)
			c->stop_signal = SIGTERM;
		sigemptyset(&action.sa_mask);
		atomic_store(&stop_requested, false);
		if (sigaction(c->stop_signal, &action, &c->previous) < 0)
			c->stop_signal = 0;
	}
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
	const char *lr_scale = environment("POLLUX_LR_SCALE");

	*config = (struct pollux_config){ .lr_scale = (double)NAN };
	if (!c || !c->under_pollux)
		return false;
	config->job_id = environment_integer("POLLUX_JOB_ID", INT64_MAX);
	config->run = environment_integer("POLLUX_RUN", INT64_MAX);
	config->batch_size = environment_integer("POLLUX_BATCH", INT64_MAX);
	config->local_batch_size = (int)environment_integer("POLLUX_LOCAL_BATCH", INT_MAX);
	config->accumulation_steps = (int)environment_integer("POLLUX_ACCUM", INT_MAX);
	config->replicas = (int)environment_integer("POLLUX_REPLICAS", INT_MAX);
	if (lr_scale)
		config->lr_scale = client_positive(lr_scale, c->c_locale);
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

bool pollux_client_checkpoint(const struct pollux_client *c, const char *path,
			      int64_t samples)
{
	const struct timespec pause = { .tv_nsec = CHECKPOINT_RETRY_MS * 1000000L };
	char directory[PATH_MAX];
	struct message m;
	int saved_errno = errno;

	if (!can_report(c) || !*path || strlen(path) >= PATH_MAX || strchr(path, '\n'))
		return false;
	m.length = 0;
	/* Nobody else knows the directory of the program. */
	if (*path != '/' && access(path, F_OK) == 0 && getcwd(directory, PATH_MAX) &&
	    strlen(directory) + 1 + strlen(path) < PATH_MAX)
		add_to_message(&m, "CHECKPOINT=%s/%s\n", directory, path);
	else
		add_to_message(&m, "CHECKPOINT=%s\n", path);
	add_integer(&m, "SAMPLES", samples);

	/* poll() cannot tell whether an unconnected datagram socket's receiver has room, so a full
	 * receiver is asked again every few milliseconds. */
	int wait_ms = pollux_client_should_stop(c) ? LAST_CHECKPOINT_WAIT_MS : CHECKPOINT_WAIT_MS;
	int64_t deadline_ms = now_ms() + wait_ms - CHECKPOINT_RETRY_MS;
	bool sent = send_message(c, &m);
	while (!sent && errno == EAGAIN && now_ms() < deadline_ms) {
		nanosleep(&pause, NULL);
		sent = send_message(c, &m);
	}
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

bool pollux_client_status(const struct pollux_client *c, const char *text)
{
	static const char key[] = "STATUS=";
	struct message m;
	int saved_errno = errno;

	if (!can_report(c))
		return false;
	size_t length = strnlen(text, STATUS_MAX + 1);
	/* A text that is cut ends before a UTF-8 sequence that would not fit. */
	if (length > STATUS_MAX) {
		length = STATUS_MAX;
		while (length > STATUS_MAX - 4 && ((unsigned char)text[length] & 0xC0) == 0x80)
			length--;
	}
	m.length = 0;
	add_to_message(&m, "%s%.*s\n", key, (int)length, text);
	for (char *p = m.text + strlen(key); p < m.text + m.length - 1; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7F)
			*p = ' ';
	bool sent = send_message(c, &m);
	errno = saved_errno;
	return sent;
}

/* Reads a file that was not read before. False if there is none, or the text does not end with a
 * newline, or holds a NUL. A file that cannot be read now (for lack of a descriptor, say) does not
 * count as seen: the next look tries again. */
static bool read_new_file(struct pollux_client *c, char text[FILE_MAX])
{
	const struct stat *seen = &c->config_seen;
	struct stat st;

	if (stat(c->config_path, &st) || !S_ISREG(st.st_mode) || st.st_size >= FILE_MAX)
		return false;
	if (st.st_ino == seen->st_ino && st.st_dev == seen->st_dev &&
	    st.st_size == seen->st_size && st.st_mtim.tv_sec == seen->st_mtim.tv_sec &&
	    st.st_mtim.tv_nsec == seen->st_mtim.tv_nsec)
		return false;
	int fd = open(c->config_path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return false;
	ssize_t n = read(fd, text, FILE_MAX - 1);
	close(fd);
	if (n < 0 || n != st.st_size)
		return false;
	c->config_seen = st;
	text[n] = '\0';
	return n > 0 && text[n - 1] == '\n' && strlen(text) == (size_t)n;
}

/* Reads an offer into *config, and returns its version. The offer has to contain all fields that it
 * may change; *config has those of the launch. Ignores unknown keys and lines without '='. */
static int64_t parse_offer(char *text, struct pollux_config *config, locale_t c_locale)
{
	int64_t version = 0;
	char *rest;

	config->batch_size = 0;
	config->local_batch_size = config->accumulation_steps = 0;
	config->lr_scale = (double)NAN;

	for (char *key = strtok_r(text, "\n", &rest); key; key = strtok_r(NULL, "\n", &rest)) {
		char *value = strchr(key, '=');

		if (!value)
			continue;
		*value++ = '\0';
		if (!strcmp(key, "VERSION"))
			version = client_integer(value, INT_MAX);
		else if (!strcmp(key, "BATCH"))
			config->batch_size = client_integer(value, INT64_MAX);
		else if (!strcmp(key, "LOCAL_BATCH"))
			config->local_batch_size = (int)client_integer(value, INT_MAX);
		else if (!strcmp(key, "ACCUM"))
			config->accumulation_steps = (int)client_integer(value, INT_MAX);
		else if (!strcmp(key, "LR_SCALE"))
			config->lr_scale = client_positive(value, c_locale);
	}
	return version;
}

/* True if batch = replicas * local batch * passes, for the number of replicas at launch. */
static bool adds_up(const struct pollux_config *c)
{
	if (!c->batch_size || !c->local_batch_size || !c->accumulation_steps || isnan(c->lr_scale))
		return false;
	int64_t passes = c->batch_size / c->local_batch_size;
	return c->batch_size % c->local_batch_size == 0 && passes % c->accumulation_steps == 0 &&
	       (!c->replicas || passes / c->accumulation_steps == c->replicas);
}

bool pollux_client_config_changed(struct pollux_client *c, struct pollux_config *config)
{
	int saved_errno = errno;
	struct pollux_config offer;
	struct timespec t;
	char text[FILE_MAX];
	bool changed = false;

	if (!c || !c->config_path)
		return false;
	if (atomic_load(&c->config_version) < 0)
		atomic_store(&c->config_version, 0);
	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	int64_t now_ns = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
	if (now_ns >= c->config_due_ns) {
		c->config_due_ns = now_ns + LOOK_EVERY_NS;
		changed = read_new_file(c, text);
	}
	if (changed) {
		pollux_client_config(c, &offer);
		int64_t version = parse_offer(text, &offer, c->c_locale);
		changed = adds_up(&offer) && version > atomic_load(&c->config_version);
		if (changed) {
			*config = offer;
			atomic_store(&c->config_version, version);
		}
	}
	errno = saved_errno;
	return changed;
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
