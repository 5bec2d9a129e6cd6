/* device_users.c - who the processes on the devices are, and how a person reads of them; the locks
 * of devices. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pollux/device_users.h"
#include "pollux/file.h"
#include "pollux/lock.h"
#include "pollux/mem.h"
#include "pollux/people.h"

/* The part of a GPU's memory that they take; contexts come on top, and CUDA counts a little less
 * memory than NVML. */
static const struct {
	enum device_taker taker;
	double least, most;
	const char *library, *variable;
} takers[] = {
	{ TAKER_JAX, 0.7, 0.85, "/jaxlib/", "XLA_CLIENT_MEM_" },
	{ TAKER_JAX, 0.7, 0.85, "/jaxlib/", "XLA_PYTHON_CLIENT_" },
	{ TAKER_TENSORFLOW, 0.85, 1.0, "/tensorflow/", "TF_FORCE_GPU_ALLOW_GROWTH=" },
};

static enum device_taker taker_of(const struct device_process *p, const struct device *device)
{
	double part = device->memory_bytes > 0
		? (double)p->memory_bytes / (double)device->memory_bytes : 0;
	enum device_taker taker = TAKER_NONE;
	scoped(text_release) struct text variables = TEXT_INIT;
	bool told = false;

	for (size_t i = 0; i < sizeof(takers) / sizeof(takers[0]); i++) {
		if (part < takers[i].least || part > takers[i].most ||
		    !proc_has_loaded((pid_t)p->pid, takers[i].library))
			continue;
		taker = takers[i].taker;
		text_clear(&variables);
		proc_environment((pid_t)p->pid, &variables);
		for (size_t k = 0; k < variables.length; k += strlen(variables.data + k) + 1)
			told |= !strncmp(variables.data + k, takers[i].variable,
					 strlen(takers[i].variable));
	}
	return told ? TAKER_NONE : taker;
}

void device_users_look(const struct device_list *devices, struct device_user_list *list)
{
	bool sees_all = proc_sees_all();

	*list = (struct device_user_list){ 0 };
	if (devices->n_processes == 0)
		return;
	list->items = xcalloc((size_t)devices->n_processes, sizeof(*list->items));
	for (int i = 0; i < devices->n_processes; i++) {
		struct device_user *u = &list->items[list->count++];

		u->process = devices->processes[i];
		if (!sees_all || u->process.pid <= 0)
			continue;
		proc_look((pid_t)u->process.pid, &u->info);
		proc_container((pid_t)u->process.pid, u->container);
		u->taker = taker_of(&u->process, &devices->items[u->process.device]);
	}
}

void device_user_list_release(struct device_user_list *list)
{
	free(list->items);
	free(list->aside_until_s);
	*list = (struct device_user_list){ 0 };
}

/* Returns the share of a process. A driver that does not tell the shares of processes tells only
 * their sum, and each process may be the one that takes all of it. */
static double share_of(const struct device_process *p, const struct device_list *devices)
{
	return isnan(p->utilization) ? devices->items[p->device].now.utilization : p->utilization;
}

/* Unknown memory counts as above the limits. */
bool device_user_is_above_limits(const struct device_user *u, const struct device_list *devices)
{
	return u->process.memory_bytes < 0 || u->process.memory_bytes > DEVICE_USER_MEMORY_BYTES ||
	       share_of(&u->process, devices) > DEVICE_USER_SHARE;
}

const struct device_user *device_user_worst(const struct device_user_list *list, int device)
{
	const struct device_user *worst = NULL;

	for (const struct device_user *u = list->items; u < list->items + list->count; u++)
		if (u->blocks && u->process.device == device &&
		    (!worst || u->process.memory_bytes > worst->process.memory_bytes))
			worst = u;
	return worst;
}

/* --- in words --- */

/* "20 min", "47 h", "3 d": coarse steps, because a reason that changes is written to the store. */
static void add_age(struct text *t, double age_s)
{
	if (age_s < 600)
		text_add(t, " for less than 10 min");
	else if (age_s < 3600)
		text_addf(t, " for %d min", (int)(age_s / 600) * 10);
	else if (age_s < 72 * 3600.0)
		text_addf(t, " for %d h", (int)(age_s / 3600));
	else
		text_addf(t, " for %d d", (int)(age_s / 86400));
}

const char *device_user_describe(const struct device_user *u, const struct device_list *devices,
				 char text[DEVICE_USER_SIZE])
{
	const struct device_process *p = &u->process;
	scoped(text_release) struct text t = TEXT_INIT;

	if (p->pid == 0)
		text_add(&t, "an unknown process");
	else
		text_addf(&t, "pid %lld", (long long)p->pid);
	if (u->job_id && u->container[0])
		text_addf(&t, " (container %.12s of job %lld)", u->container,
			  (long long)u->job_id);
	else if (u->job_id)
		text_addf(&t, " (of job %lld, not given it)", (long long)u->job_id);
	else if (u->info.lives && u->container[0])
		text_addf(&t, " (%.16s, container %.12s)", u->info.owner, u->container);
	else if (u->info.lives)
		text_addf(&t, " (%.20s)", u->info.owner);
	else if (u->info.hidden)
		text_add(&t, " (another user's, not visible here)");
	else if (p->pid > 0)
		text_addf(&t, " (%s)", proc_sees_all() ? "ended" : "outside this container");
	if (p->memory_bytes >= 0)
		text_addf(&t, " %lld MiB", (long long)(p->memory_bytes >> 20));
	else
		text_add(&t, " unknown memory");
	if (share_of(p, devices) <= DEVICE_USER_SHARE)
		text_add(&t, ", 0 %");
	else if (!isnan(share_of(p, devices)))
		text_addf(&t, ", %d %%", (int)ceil(share_of(p, devices) * 10) * 10);
	if (u->info.lives)
		add_age(&t, u->info.age_s);
	snprintf(text, DEVICE_USER_SIZE, "%.95s", t.data);
	return text;
}

/* --- a kernel lock does not tell its holder; a second lock does --- */

const char *device_lock_holder(const struct paths *paths, const char *device_id)
{
	autofree char *lock = paths_device_lock(paths, device_id);
	autofree char *mark = paths_measure_lock(paths, device_id);
	enum lock_state state = lock_look(lock), measure;

	if (state == LOCK_IS_FREE)
		return NULL;
	measure = lock_look(mark);
	if (state == LOCK_CANNOT_BE_TOLD || measure == LOCK_CANNOT_BE_TOLD)
		return DEVICE_LOCK_UNKNOWN;
	return measure == LOCK_IS_HELD ? DEVICE_LOCK_MEASURE : DEVICE_LOCK_ENDED;
}

/* --- the lock that keeps other people's pollux from a device --- */

#define PROCESSOR_BYTES (1 << 20)	/* bytes of the file for each processor */
#define TRIES 5				/* tries, if somebody removes the file meanwhile */

/* --- which bytes of which file --- */

bool shared_lock_is_in_parts(const struct device *device)
{
	const struct device_backend *backend = device_backend_of(device->id);

	return backend && backend->owns_binding;
}

struct file_name {
	char s[sizeof(SHARED_LOCK_PREFIX SHARED_LOCK_SUFFIX) + DEVICE_ID_SIZE];
};

static struct file_name name_of(const struct device *device)
{
	const char *id = shared_lock_is_in_parts(device) ? "cpu" : device->id;
	struct file_name name;

	snprintf(name.s, sizeof(name.s), "%s%.63s%s", SHARED_LOCK_PREFIX, id, SHARED_LOCK_SUFFIX);
	for (char *c = name.s; *c; c++)
		if (*c == '/')
			*c = '_';
	return name;
}

char *shared_lock_path(const char *directory, const struct device *device)
{
	return xasprintf("%s/%s", directory, name_of(device).s);
}

/* A walk over the bytes of a device's lock. */
struct walk {
	const char *spans;		/* of processors that are left; NULL: the whole file */
	bool has_ended;
	int part, parts;		/* of each processor */
	long processor, last;		/* the next one, and the last one of its span */
};

static struct walk walk_of(const struct device *device)
{
	const struct device_backend *backend = device_backend_of(device->id);
	struct walk w = { .parts = 1, .last = -1 };

	if (!shared_lock_is_in_parts(device))
		return w;
	w.spans = device->binding;
	if (backend->part)
		backend->part(device, &w.part, &w.parts);
	return w;
}

static bool next_bytes(struct walk *w, struct flock *bytes)
{
	*bytes = (struct flock){ .l_type = F_WRLCK, .l_whence = SEEK_SET };
	if (!w->spans) {
		bool first = !w->has_ended;

		w->has_ended = true;
		return first;
	}
	if (w->processor > w->last && !device_next_span(&w->spans, &w->processor, &w->last))
		return false;
	if (w->processor < 0 || w->processor > w->last)
		return false;
	bytes->l_start = w->processor * PROCESSOR_BYTES +
			 (off_t)PROCESSOR_BYTES * w->part / w->parts;
	bytes->l_len = w->processor * PROCESSOR_BYTES +
		       (off_t)PROCESSOR_BYTES * (w->part + 1) / w->parts - bytes->l_start;
	w->processor++;
	return true;
}

bool shared_locks_meet(const struct device *a, const struct device *b)
{
	struct walk of_a = walk_of(a);
	struct flock x, y;

	if (strcmp(name_of(a).s, name_of(b).s) != 0)
		return false;
	while (next_bytes(&of_a, &x)) {
		struct walk of_b = walk_of(b);

		while (next_bytes(&of_b, &y))
			if ((x.l_len == 0 || y.l_start < x.l_start + x.l_len) &&
			    (y.l_len == 0 || x.l_start < y.l_start + y.l_len))
				return true;
	}
	return false;
}

/* --- taking --- */

/* Runs of one store that share a device lock the bytes of the device for reading, and one byte far
 * behind them for reading as well: that of their user and store. A run of another user or store
 * sees that byte, and leaves. Two that come at the same time may both leave, and try again. */
#define SHARERS_START ((off_t)1 << 61)		/* of the bytes of users, by processor */
#define SHARERS_BYTES ((off_t)1 << 42)		/* for each processor: user and store */
#define STORE_BITS 10
#define PROCESSORS_MAX (1 << 18)

static int lock_shared(int fd, const struct paths *paths, struct flock bytes)
{
	struct flock mine = { .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_len = 1 };
	struct flock before = { .l_type = F_WRLCK, .l_whence = SEEK_SET }, behind = before;
	off_t start = SHARERS_START +
		      bytes.l_start / PROCESSOR_BYTES % PROCESSORS_MAX * SHARERS_BYTES;
	uint64_t store = 0;
	off_t own;

	for (const char *c = paths->dir; *c; c++)
		store = store * 31 + (unsigned char)*c;
	own = (off_t)((uint64_t)geteuid() << STORE_BITS | (store & ((1 << STORE_BITS) - 1)));
	mine.l_start = start + own;
	bytes.l_type = F_RDLCK;
	/* Where a lock of the whole file is asked for, the bytes of the users are left out. */
	if (bytes.l_len == 0)
		bytes.l_len = PROCESSOR_BYTES;
	if (fcntl(fd, F_OFD_SETLK, &bytes) || fcntl(fd, F_OFD_SETLK, &mine))
		return -1;
	before.l_start = start;
	before.l_len = own;
	behind.l_start = start + own + 1;
	behind.l_len = SHARERS_BYTES - own - 1;
	if ((own > 0 && fcntl(fd, F_OFD_GETLK, &before)) || fcntl(fd, F_OFD_GETLK, &behind))
		return -1;
	if ((own > 0 && before.l_type != F_UNLCK) || behind.l_type != F_UNLCK) {
		errno = EAGAIN;		/* somebody of another user or store has a byte there */
		return -1;
	}
	return 0;
}

/* On failure the lock may be held in part. */
static int lock_bytes(int fd, const struct paths *paths, const struct device *device)
{
	struct walk w = walk_of(device);
	struct flock bytes;

	while (next_bytes(&w, &bytes))
		if (device->seat ? lock_shared(fd, paths, bytes) : fcntl(fd, F_OFD_SETLK, &bytes))
			return -1;
	return 0;
}

bool shared_lock_again(int fd, const struct paths *paths, const struct device *device)
{
	if (lock_bytes(fd, paths, device) == 0)
		return true;
	lock_release(fd);
	return false;
}

static int take_in(int dir, const struct paths *paths, const char *path,
		   const struct device *device, struct err *err)
{
	struct file_name name = name_of(device);
	const char *why = "somebody removes it again and again";
	bool is_held = false, has_failed = false;
	struct stat mine, there;

	for (int i = 0; i < TRIES && !has_failed; i++) {
		int fd = shared_dir_open_file(dir, name.s, true, &why);

		has_failed = fd < 0 || lock_bytes(fd, paths, device);
		/* somebody may have removed the file, and made another */
		if (!has_failed && fstat(fd, &mine) == 0 &&
		    fstatat(dir, name.s, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
		    mine.st_ino == there.st_ino && mine.st_dev == there.st_dev)
			return fd;
		if (fd >= 0 && has_failed) {
			is_held = errno == EAGAIN || errno == EACCES;
			why = strerror(errno);
		}
		if (fd >= 0)
			lock_drop(fd);
	}
	if (is_held)
		return LOCK_HELD;
	return err_set(err, EX_CANTCREAT, "cannot use the lock '%s/%s': %s", path, name.s, why);
}

int shared_lock_take(const struct paths *paths, const struct device *device, struct err *err)
{
	autofree char *path = NULL;
	scoped(close_fd) int dir = shared_dir_open(paths, &path, err);

	if (dir == SHARED_DIR_NONE)
		return SHARED_LOCK_NONE;
	return dir >= 0 ? take_in(dir, paths, path, device, err) : -1;
}

/* --- looking --- */

enum lock_state shared_lock_look(const struct paths *paths, const struct device *device)
{
	struct file_name name = name_of(device);
	struct walk w = walk_of(device);
	struct flock bytes;
	struct err ignored;
	const char *why;
	scoped(close_fd) int dir = shared_dir_open(paths, NULL, &ignored), fd = -1;

	if (dir < 0)
		return dir == SHARED_DIR_NONE ? LOCK_IS_FREE : LOCK_CANNOT_BE_TOLD;
	fd = shared_dir_open_file(dir, name.s, false, &why);
	if (fd < 0)
		return errno == ENOENT ? LOCK_IS_FREE : LOCK_CANNOT_BE_TOLD;
	/* A run could not take the lock of a file that another user keeps from being written. */
	if (faccessat(dir, name.s, W_OK, AT_EACCESS))
		return LOCK_CANNOT_BE_TOLD;
	while (next_bytes(&w, &bytes))
		if (fcntl(fd, F_OFD_GETLK, &bytes))
			return LOCK_CANNOT_BE_TOLD;
		else if (bytes.l_type != F_UNLCK)
			return LOCK_IS_HELD;
	return LOCK_IS_FREE;
}
