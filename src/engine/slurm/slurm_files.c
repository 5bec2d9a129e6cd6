/* slurm_files.c - the files by which passes and supervisors meet, and what they tell of the nodes
 * of a run: how their programs ended, and whether they live. */
#include <fcntl.h>
#include <sys/stat.h>

#include "slurm.h"

#define MOST_BYTES (64 << 20)

char *slurm_base(const struct paths *paths, const char *slurm_dir, const char *store_id)
{
	return *slurm_dir ? xasprintf("%s/pollux-%.8s", slurm_dir, store_id) : xstrdup(paths->dir);
}

static int open_in(const char *dir, const char *name, int flags)
{
	autofree char *path = xasprintf("%s/%s", dir, name);

	return file_open(path, flags | O_NOFOLLOW, 0600);
}

bool slurm_read(const char *dir, const char *name, int64_t from, struct text *t)
{
	scoped(close_fd) int fd = open_in(dir, name, O_RDONLY | O_NONBLOCK);
	ssize_t n = 1;

	if (fd < 0 || lseek(fd, from, SEEK_SET) != from)
		return false;
	while (n > 0 && t->length < MOST_BYTES) {
		char bytes[65536];

		n = read(fd, bytes, sizeof(bytes));
		if (n > 0)
			text_add_bytes(t, bytes, (size_t)n);
	}
	return n >= 0;
}

bool slurm_has(const char *dir, const char *name)
{
	return isfinite(slurm_file_time_s(dir, name));
}

int slurm_make(const char *dir, const char *name, const char *content, struct err *err)
{
	int fd = open_in(dir, name, O_WRONLY | O_CREAT | O_EXCL), error = errno;

	if (fd >= 0 && file_write_all(fd, content, strlen(content)) == 0 && fsync(fd) == 0) {
		close(fd);
		return 0;
	}
	if (fd >= 0) {
		error = errno;
		close(fd);
	}
	err_set(err, EX_CANTCREAT, "cannot make '%s/%s': %s", dir, name, strerror(error));
	errno = error;
	return -1;
}

int slurm_write(const char *dir, const char *name, const char *bytes, size_t n, struct err *err)
{
	autofree char *path = xasprintf("%s/%s", dir, name);

	return file_replace(path, bytes, n, err);
}

int slurm_tell(const char *dir, const char *name, const char *text, struct err *err)
{
	scoped(text_release) struct text there = TEXT_INIT;
	bool has = slurm_read(dir, name, 0, &there) && !strcmp(there.data, text);

	return has ? 0 : slurm_write(dir, name, text, strlen(text), err);
}

static double time_of(int fd)
{
	struct stat st;
	double time_s = NAN;

	if (fd >= 0 && fstat(fd, &st) == 0)
		time_s = (double)st.st_mtim.tv_sec + (double)st.st_mtim.tv_nsec * 1e-9;
	if (fd >= 0)
		close(fd);
	return time_s;
}

double slurm_file_time_s(const char *dir, const char *name)
{
	if (!strcmp(name, "."))
		return time_of(open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	return time_of(open_in(dir, name, O_RDONLY | O_NONBLOCK));
}

double slurm_touch(const char *dir, const char *name)
{
	int fd = open_in(dir, name, O_WRONLY | O_CREAT | O_NONBLOCK);

	if (fd >= 0 && futimens(fd, NULL)) {
		close(fd);
		return NAN;
	}
	return time_of(fd);
}

char *slurm_value(const char *text, const char *key)
{
	size_t n = strlen(key);

	for (const char *p = text; p && *p; p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL)
		if (!strncmp(p, key, n) && p[n] == '=')
			return xasprintf("%.*s", (int)strcspn(p + n + 1, "\n"), p + n + 1);
	return NULL;
}

double slurm_number(const char *text, const char *key, double otherwise)
{
	autofree char *value = slurm_value(text, key);
	double number = otherwise;

	if (value && number_parse(value, &number))
		number = otherwise;
	return number;
}

/* --- nodes --- */

static enum slurm_ended read_end(const char *dir, int k)
{
	scoped(text_release) struct text t = TEXT_INIT;
	enum slurm_ended how = SLURM_NOT_ENDED;
	char name[24];

	snprintf(name, sizeof(name), "end.%d", k);
	if (slurm_read(dir, name, 0, &t) && strchr(t.data, '\n'))
		how = text_starts_with(t.data, "exit 0\n") ? SLURM_ENDED_WELL
		    : text_starts_with(t.data, "fenced") ? SLURM_ENDED_FENCED : SLURM_ENDED_BADLY;
	return how;
}

struct slurm_ends slurm_ends(const char *dir, int nodes)
{
	struct slurm_ends ends = { .last_s = (double)NAN };

	for (int k = 0; k < nodes; k++) {
		enum slurm_ended how = read_end(dir, k);
		char name[24];

		snprintf(name, sizeof(name), "end.%d", k);
		ends.n += how != SLURM_NOT_ENDED;
		ends.worst = how > ends.worst ? how : ends.worst;
		ends.last_s = fmax(ends.last_s, slurm_file_time_s(dir, name));
	}
	if (ends.n < nodes)
		ends.last_s = (double)NAN;
	return ends;
}

void slurm_end_at(const char *dir, double ended_s, struct run *run)
{
	double ago_s = slurm_touch(dir, "probe") - ended_s;

	if (!(ago_s > 0 && clock_boot_s() - ago_s > run->launch_boot_s))
		return;
	run->end_boot_s = clock_boot_s() - ago_s;
	run->end_time_s = clock_wall_s() - ago_s;
}

int slurm_silent_node(const char *dir, int nodes, double lease_s, double lease_time_s,
		      double begun_time_s)
{
	double most_s = lease_s + slurm_margin_s(lease_s);

	for (int k = 0; k < nodes; k++) {
		char name[24];
		double seen_s;

		snprintf(name, sizeof(name), "node.%d", k);
		seen_s = fmax(slurm_file_time_s(dir, name), begun_time_s);
		if (lease_time_s - seen_s > most_s && read_end(dir, k) == SLURM_NOT_ENDED)
			return k;
	}
	return -1;
}
