/* client_config.c - another configuration while the program runs.
 *
 * The supervisor renames a file of KEY=VALUE lines to the path in POLLUX_CONFIG_FILE. Any other
 * file at that path, and a file whose configuration is incomplete or does not add up, is
 * ignored. */
#include "client_private.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	LOOK_EVERY_NS = 50000000,
	FILE_MAX = 512,                  /* bytes; pollux writes less than 128 */
};

struct offer {
	int64_t version;
	struct pollux_config config;
};

static bool is_due(struct pollux_client *c)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	int64_t now_ns = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
	if (now_ns < c->config_due_ns)
		return false;
	c->config_due_ns = now_ns + LOOK_EVERY_NS;
	return true;
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* True if there is a file that was not read before; *st then describes the file. */
static bool is_new_file(const struct pollux_client *c, struct stat *st)
{
	return stat(c->config_path, st) == 0 && !is_same_file(st, &c->config_seen) &&
	       S_ISREG(st->st_mode) && st->st_size < FILE_MAX;
}

/* The number of bytes read; -1 for an error. */
static ssize_t read_file(const char *path, char *bytes, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return -1;
	ssize_t n = read(fd, bytes, size);
	close(fd);
	return n;
}

/* Reads the file. False if the text does not end with a newline, or holds a NUL. A file that cannot
 * be read now (for lack of a descriptor, say) does not count as seen: the next look tries again. */
static bool read_text(struct pollux_client *c, const struct stat *st, char text[FILE_MAX])
{
	ssize_t n = read_file(c->config_path, text, FILE_MAX - 1);

	if (n < 0 || n != st->st_size)
		return false;
	c->config_seen = *st;
	text[n] = '\0';
	return n > 0 && text[n - 1] == '\n' && strlen(text) == (size_t)n;
}

static void set_field(struct offer *offer, const char *key, const char *value, locale_t c_locale)
{
	if (!strcmp(key, "VERSION"))
		offer->version = client_integer(value, INT_MAX);
	else if (!strcmp(key, "BATCH"))
		offer->config.batch_size = client_integer(value, INT64_MAX);
	else if (!strcmp(key, "LOCAL_BATCH"))
		offer->config.local_batch_size = (int)client_integer(value, INT_MAX);
	else if (!strcmp(key, "ACCUM"))
		offer->config.accumulation_steps = (int)client_integer(value, INT_MAX);
	else if (!strcmp(key, "LR_SCALE"))
		offer->config.lr_scale = client_positive(value, c_locale);
}

/* Reads an offer, which has to contain all fields that it may change. The other fields are those of
 * the launch. Ignores unknown keys and lines without '='. */
static struct offer parse_offer(char *text, const struct pollux_config *launched, locale_t c_locale)
{
	struct offer offer = { .config = *launched };
	char *rest;

	offer.config.batch_size = 0;
	offer.config.local_batch_size = offer.config.accumulation_steps = 0;
	offer.config.lr_scale = (double)NAN;

	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char *equals = strchr(line, '=');

		if (!equals)
			continue;
		*equals = '\0';
		set_field(&offer, line, equals + 1, c_locale);
	}
	return offer;
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

static bool change_config(struct pollux_client *c, struct pollux_config *config)
{
	struct pollux_config launched;
	struct stat st;
	char text[FILE_MAX];

	if (!is_due(c) || !is_new_file(c, &st) || !read_text(c, &st, text))
		return false;
	pollux_client_config(c, &launched);
	struct offer offer = parse_offer(text, &launched, c->c_locale);
	if (!adds_up(&offer.config) || offer.version <= atomic_load(&c->config_version))
		return false;
	*config = offer.config;
	atomic_store(&c->config_version, offer.version);
	return true;
}

bool pollux_client_config_changed(struct pollux_client *c, struct pollux_config *config)
{
	int saved_errno = errno;

	if (!c || !c->config_path)
		return false;
	if (atomic_load(&c->config_version) < 0)
		atomic_store(&c->config_version, 0);
	bool changed = change_config(c, config);
	errno = saved_errno;
	return changed;
}
