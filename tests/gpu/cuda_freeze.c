/* cuda_freeze.c - a stand-in for CUDA's driver library, libcuda.so.1, as far as freezes go: where
 * there is no GPU, two processes may see here what cuCheckpointProcess* would do to one of them. It
 * was never compared with a real driver. What it does is what NVIDIA's documentation says of these
 * functions, and what users reported: calls wait while a process is locked; a process that is saved
 * has nothing on the card and is not listed by NVML; a restore without room fails, and then for
 * ever; each function refuses every state but its own.
 *
 * CUDA_STANDIN_DIR names a directory, the machine's GPUs: PID is the state of a process that has a
 * context, PID.card what it has on the card, PID.host what was saved. tests/gpu/standin.h reads
 * the same files for NVML. CUDA_STANDIN_MIB is the memory of a card (141,000). The file "fail"
 * there has lines FUNCTION CODE [SKIP]: after SKIP calls of it, FUNCTION (state, lock, checkpoint,
 * restore, unlock) answers CODE and does nothing. CODE may be "hang" (the call never returns),
 * "kill" (the other process dies of the call), "failed" (that process becomes FAILED), "after" (the
 * call does its work, then answers 999), "wrong" (a byte of what is moved is changed), "slow" (it
 * waits a second first), "wait" (as long as the file CUDA_STANDIN_WAIT is there), or "hang-beside"
 * (it waits while another process is locked or saved, as users saw with NCCL:
 * NVIDIA/cuda-checkpoint issues 30 and 45).
 * cuda_freeze_old.c is a driver without these functions. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
/* Each function is declared by the line before it, as nobody's header does. */
#define DEFINE(name, ...) EXPORT int name(__VA_ARGS__); int name(__VA_ARGS__)

enum { OK, INVALID = 1, NO_MEMORY = 2, UNINITIALIZED = 3, UNAVAILABLE = 46,
       NO_DEVICE = 100, NO_CONTEXT = 201,
       OPERATING_SYSTEM = 304, ILLEGAL_STATE = 401, NOT_FOUND = 500, NOT_READY = 600,
       NOT_SUPPORTED = 801 };
enum { RUNNING, LOCKED, CHECKPOINTED, FAILED };

/* Device memory is addressed from here on; nothing is there for the host. */
#define BASE ((uint64_t)1 << 44)

struct process {
	int state;
	int stuck;			/* a restore failed for want of memory */
	char uuid[64];			/* of its GPU */
};

static struct {
	int initialized, context;
	int file;			/* of the state; held locked during each call of ours */
	int card;
	uint64_t used;
} me;

/* --- files --- */

static const char *directory(void)
{
	return getenv("CUDA_STANDIN_DIR");
}

static const char *path(char buffer[4096], int pid, const char *suffix)
{
	snprintf(buffer, 4096, "%s/%d%s", directory() ? directory() : "/nowhere", pid, suffix);
	return buffer;
}

static int open_state(int pid)
{
	char buffer[4096];

	return open(path(buffer, pid, ""), O_RDWR | O_CLOEXEC);
}

static int set_lock(int file, short type)
{
	struct flock whole = { .l_type = type, .l_whence = SEEK_SET };

	return fcntl(file, F_OFD_SETLK, &whole);
}

static void pause_ms(long ms)
{
	nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

/* Bytes that processes have on the card, or how many processes have a context there. */
static int64_t on_card(const char *uuid, int count)
{
	DIR *dir = opendir(directory() ? directory() : "/nowhere");
	const struct dirent *entry;
	int64_t sum = 0;

	while (dir && (entry = readdir(dir))) {
		int file, pid = (int)strtol(entry->d_name, NULL, 10);
		char buffer[4096];
		struct process p;
		struct stat info;

		if (!strstr(entry->d_name, ".card") || kill(pid, 0) != 0)
			continue;
		file = open_state(pid);
		if (file >= 0 && pread(file, &p, sizeof(p), 0) == (ssize_t)sizeof(p) &&
		    !strcmp(p.uuid, uuid) && stat(path(buffer, pid, ".card"), &info) == 0)
			sum += count ? 1 : info.st_size;
		if (file >= 0)
			close(file);
	}
	if (dir)
		closedir(dir);
	return sum;
}

static int has_room(const char *uuid, int64_t bytes)
{
	const char *text = getenv("CUDA_STANDIN_MIB");
	int64_t mib = text ? strtol(text, NULL, 10) : 141000;

	return on_card(uuid, 0) + bytes <= mib << 20;
}

/* --- a program's calls --- */

/* Calls that change anything wait while the process is locked. */
static void begin(void)
{
	struct process p;

	for (;;) {
		if (set_lock(me.file, F_WRLCK) == 0) {
			if (pread(me.file, &p, sizeof(p), 0) == (ssize_t)sizeof(p) &&
			    p.state == RUNNING)
				return;
			set_lock(me.file, F_UNLCK);
		}
		pause_ms(1);
	}
}

static int end(int code)
{
	set_lock(me.file, F_UNLCK);
	return code;
}

DEFINE(cuInit, unsigned flags)
{
	if (flags || !directory())
		return flags ? INVALID : NO_DEVICE;
	me.initialized = 1;
	return OK;
}

DEFINE(cuDriverGetVersion, int *version)
{
	const char *text = getenv("CUDA_STANDIN_VERSION");

	*version = text ? (int)strtol(text, NULL, 10) : 13000;
	return OK;
}

DEFINE(cuGetErrorString, int code, const char **text)
{
	*text = code == NO_MEMORY ? "out of memory" : "a stand-in's error";
	return OK;
}

/* --- GPUs: those of NVML_STANDIN (standin.h), as CUDA_VISIBLE_DEVICES has them --- */

enum { GPUS = 16 };
struct gpu {
	char uuid[64];
	int compute;			/* its compute mode; 2: for no process, 1 or 3: for one */
};

static int read_gpus(struct gpu list[GPUS])
{
	const char *path = getenv("NVML_STANDIN");
	FILE *file = path ? fopen(path, "re") : NULL;
	char line[256];
	int n = 0;

	while (file && fgets(line, sizeof(line), file)) {
		if (n < GPUS && sscanf(line, "gpu %63s", list[n].uuid) == 1)
			list[n++].compute = 0;
		else if (n > 0 && !strncmp(line, "compute ", 8))
			list[n - 1].compute = (int)strtol(line + 8, NULL, 10);
	}
	if (file)
		fclose(file);
	return n;
}

/* The GPU that an entry names: by its number, or by the beginning of its UUID. */
static int find_gpu(const struct gpu list[GPUS], int n, const char *entry, size_t length)
{
	char *end;
	long number = strtol(entry, &end, 10);

	if (length > 0 && end == entry + length)
		return number >= 0 && number < n ? (int)number : -1;
	for (int i = 0; i < n && length > 4; i++)
		if (!strncmp(list[i].uuid, entry, length))
			return i;
	return -1;
}

/* The GPU that the process knows by this number. CUDA takes the entries up to the first that there
 * is not. */
static int visible(int ordinal, struct gpu *found)
{
	const char *entry = getenv("CUDA_VISIBLE_DEVICES");
	struct gpu list[GPUS];
	int n = read_gpus(list), at = ordinal;

	for (int i = 0; entry && i <= ordinal; i++) {
		size_t length = strcspn(entry, ",");

		at = find_gpu(list, n, entry, length);
		if (at < 0)
			return NO_DEVICE;
		entry += length;
		if (!*entry++ && i < ordinal)
			return NO_DEVICE;
	}
	if (ordinal < 0 || at >= n)
		return NO_DEVICE;
	*found = list[at];
	return OK;
}

DEFINE(cuDeviceGet, int *device, int ordinal)
{
	struct gpu ignored;

	*device = ordinal;
	return me.initialized ? visible(ordinal, &ignored) : UNINITIALIZED;
}

static void forget(void)
{
	char buffer[4096];

	unlink(path(buffer, getpid(), ".card"));
	unlink(path(buffer, getpid(), ""));
}

DEFINE(cuDevicePrimaryCtxRetain, void **context, int device)
{
	struct process p = { .state = RUNNING };
	struct gpu gpu;
	char buffer[4096];

	if (!me.initialized || visible(device, &gpu) != OK)
		return me.initialized ? INVALID : UNINITIALIZED;
	memcpy(p.uuid, gpu.uuid, sizeof(p.uuid));
	if (gpu.compute == 2 || (gpu.compute && on_card(p.uuid, 1) > 0))
		return UNAVAILABLE;
	me.card = open(path(buffer, getpid(), ".card"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC,
		       0600);
	me.file = open(path(buffer, getpid(), ""), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (me.card < 0 || me.file < 0 || pwrite(me.file, &p, sizeof(p), 0) != (ssize_t)sizeof(p))
		return OPERATING_SYSTEM;
	atexit(forget);
	*context = &me;
	return OK;
}

DEFINE(cuCtxSetCurrent, void *context)
{
	me.context = context == &me;
	return me.context ? OK : INVALID;
}

DEFINE(cuMemAlloc_v2, uint64_t *at, size_t bytes)
{
	struct process p;

	if (!me.context)
		return NO_CONTEXT;
	begin();
	if (pread(me.file, &p, sizeof(p), 0) != (ssize_t)sizeof(p) ||
	    !has_room(p.uuid, (int64_t)bytes))
		return end(NO_MEMORY);
	*at = BASE + me.used;
	me.used += bytes;
	return end(ftruncate(me.card, (off_t)me.used) ? NO_MEMORY : OK);
}

/* The card's file is opened by its name each time: after a restore it is another one. */
static int open_card(void)
{
	char buffer[4096];

	return open(path(buffer, getpid(), ".card"), O_RDWR | O_CLOEXEC);
}

static int is_there(uint64_t at, size_t bytes)
{
	return me.context && at >= BASE && at - BASE + bytes <= me.used;
}

DEFINE(cuMemcpyHtoD_v2, uint64_t to, const void *from, size_t bytes)
{
	int card, rc = INVALID;

	if (!is_there(to, bytes))
		return INVALID;
	begin();
	card = open_card();
	if (card >= 0 && pwrite(card, from, bytes, (off_t)(to - BASE)) == (ssize_t)bytes)
		rc = OK;
	if (card >= 0)
		close(card);
	return end(rc);
}

DEFINE(cuMemcpyDtoH_v2, void *to, uint64_t from, size_t bytes)
{
	int card, rc = INVALID;

	if (!is_there(from, bytes))
		return INVALID;
	begin();
	card = open_card();
	if (card >= 0 && pread(card, to, bytes, (off_t)(from - BASE)) == (ssize_t)bytes)
		rc = OK;
	if (card >= 0)
		close(card);
	return end(rc);
}

DEFINE(cuModuleLoadData, void **module, const char *text)
{
	*module = &me;
	return strstr(text, ".entry pollux_mix(") ? OK : INVALID;
}

DEFINE(cuModuleGetFunction, void **function, void *module, const char *name)
{
	*function = module;
	return strcmp(name, "pollux_mix") ? NOT_FOUND : OK;
}

/* The one kernel there is: work_nvidia.c says what it computes. */
static int mix(uint64_t words, uint32_t count, uint32_t rounds)
{
	enum { WORDS = 1 << 16 };
	static uint32_t chunk[WORDS];
	uint32_t factor = 1, addend = 0;	/* of all rounds together */
	int card = open_card();
	int rc = card < 0 ? INVALID : OK;

	for (uint32_t r = 0; r < rounds; r++) {
		factor *= 1664525u;
		addend = addend * 1664525u + 1013904223u;
	}
	for (size_t first = 0; first < count && rc == OK; first += WORDS) {
		size_t n = count - first < WORDS ? count - first : WORDS;
		off_t at = (off_t)(words - BASE + 4 * first);

		if (pread(card, chunk, 4 * n, at) != (ssize_t)(4 * n))
			rc = INVALID;
		for (size_t i = 0; i < n; i++)
			chunk[i] = chunk[i] * factor + addend;
		if (rc == OK && pwrite(card, chunk, 4 * n, at) != (ssize_t)(4 * n))
			rc = INVALID;
	}
	if (card >= 0)
		close(card);
	return rc;
}

DEFINE(cuLaunchKernel, void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
       unsigned by, unsigned bz, unsigned shared_bytes, void *stream, void **arguments,
       void **extra)
{
	uint64_t words;
	uint32_t count, rounds;

	memcpy(&words, arguments[0], sizeof(words));
	memcpy(&count, arguments[1], sizeof(count));
	memcpy(&rounds, arguments[2], sizeof(rounds));
	if (function != &me || gy != 1 || gz != 1 || by != 1 || bz != 1 || bx > 1024 ||
	    (uint64_t)gx * bx < count || shared_bytes || (stream && stream != &me) || extra ||
	    !is_there(words, (size_t)count * 4))
		return INVALID;
	begin();
	return end(mix(words, count, rounds));
}

DEFINE(cuCtxSynchronize, void)
{
	if (!me.context)
		return NO_CONTEXT;
	begin();
	return end(OK);
}

DEFINE(cuStreamCreate, void **stream, unsigned flags)
{
	*stream = &me;
	return flags == 1 ? OK : INVALID;
}

DEFINE(cuMemAllocHost_v2, void **p, size_t bytes)
{
	*p = malloc(bytes);
	return *p ? OK : NO_MEMORY;
}

DEFINE(cuMemcpyDtoHAsync_v2, void *to, uint64_t from, size_t bytes, void *stream)
{
	return stream == &me ? cuMemcpyDtoH_v2(to, from, bytes) : INVALID;
}

/* --- cuBLAS, where this is found as libcublas.so, too --- */

DEFINE(cublasCreate_v2, void **handle)
{
	const char *code = getenv("CUDA_STANDIN_CUBLAS");

	*handle = &me;
	return code ? (int)strtol(code, NULL, 10) : 0;
}

DEFINE(cublasSetStream_v2, void *handle, void *stream)
{
	return handle == &me && stream == &me ? 0 : 7;
}

/* Of square matrices, as they are. */
DEFINE(cublasSgemm_v2, void *handle, int turn_a, int turn_b, int m, int n, int k,
       const float *alpha, uint64_t a, int lda, uint64_t b, int ldb, const float *beta, uint64_t c,
       int ldc)
{
	enum { MOST = 256 };
	static float x[3][MOST * MOST];
	const uint64_t at[3] = { a, b, c };
	size_t bytes = (size_t)m * (size_t)m * sizeof(float);

	if (handle != &me || turn_a || turn_b || n != m || k != m || lda != m || ldb != m ||
	    ldc != m || m > MOST || *alpha < 1 || *beta < 1)
		return 7;
	for (int i = 0; i < 3; i++)
		if (cuMemcpyDtoH_v2(x[i], at[i], bytes) != OK)
			return 14;
	for (int column = 0; column < m; column++)
		for (int row = 0; row < m; row++)
			for (int i = 0; i < m; i++)
				x[2][row + column * m] += x[0][row + i * m] * x[1][i + column * m];
	return cuMemcpyHtoD_v2(c, x[2], bytes) == OK ? 0 : 14;
}

#ifndef CUDA_FREEZE_OLD
/* --- what a test lets fail --- */

struct fault {
	char code[16];			/* "": none */
};

/* How often the function was called before, which is counted in a file. */
static long count_call(const char *function)
{
	char name[4096], line[32] = "0";
	FILE *file;
	long calls;

	snprintf(name, sizeof(name), "%.4000s/calls-%s", directory(), function);
	file = fopen(name, "re");
	if (file && !fgets(line, sizeof(line), file))
		line[0] = '\0';
	if (file)
		fclose(file);
	calls = strtol(line, NULL, 10);
	file = fopen(name, "we");
	if (file) {
		fprintf(file, "%ld\n", calls + 1);
		fclose(file);
	}
	return calls;
}

static struct fault fault_of(const char *function)
{
	char buffer[4096], line[128], name[32] = "", skip[16] = "";
	struct fault f = { "" };
	FILE *file;

	snprintf(buffer, sizeof(buffer), "%s/fail", directory() ? directory() : "/nowhere");
	file = fopen(buffer, "re");
	while (file && strcmp(name, function) != 0 && fgets(line, sizeof(line), file)) {
		skip[0] = f.code[0] = '\0';
		sscanf(line, "%31s %15s %15s", name, f.code, skip);
	}
	if (file)
		fclose(file);
	if (strcmp(name, function) != 0 || count_call(function) < strtol(skip, NULL, 10))
		f.code[0] = '\0';
	return f;
}

static int fault_is(const struct fault *f, const char *code)
{
	return !strcmp(f->code, code);
}

/* --- freezes --- */

/* Opens the process's state. INVALID: no process that uses CUDA, or a dead one. */
static int other(int pid, int *file, struct process *p)
{
	if (!me.initialized)
		return UNINITIALIZED;
	*file = open_state(pid);
	if (*file < 0 || kill(pid, 0) != 0) {
		if (*file >= 0)
			close(*file);
		return INVALID;
	}
	if (pread(*file, p, sizeof(*p), 0) == (ssize_t)sizeof(*p))
		return OK;
	close(*file);
	return INVALID;
}

static int write_state(int file, struct process *p, int state)
{
	p->state = state;
	return pwrite(file, p, sizeof(*p), 0) == (ssize_t)sizeof(*p) ? OK : OPERATING_SYSTEM;
}

/* True if any process but this one is locked or saved. */
static int is_beside(int pid)
{
	DIR *dir = opendir(directory());
	const struct dirent *entry;
	struct process p;
	int found = 0;

	while (dir && !found && (entry = readdir(dir))) {
		char *end;
		int other = (int)strtol(entry->d_name, &end, 10);
		int file = *end || other <= 0 || other == pid ? -1 : open_state(other);

		found = file >= 0 && kill(other, 0) == 0 &&
			pread(file, &p, sizeof(p), 0) == (ssize_t)sizeof(p) && p.state != RUNNING;
		if (file >= 0)
			close(file);
	}
	if (dir)
		closedir(dir);
	return found;
}

/* What a fault does before the call does anything. -1: go on. */
static int break_call(const struct fault *f, int pid, int file, struct process *p)
{
	if (fault_is(f, "hang"))
		for (;;)
			pause();
	if (fault_is(f, "slow"))
		pause_ms(1000);
	while (fault_is(f, "wait") && !access(getenv("CUDA_STANDIN_WAIT"), F_OK))
		pause_ms(5);
	while (fault_is(f, "hang-beside") && is_beside(pid))
		pause_ms(5);
	if (fault_is(f, "kill")) {
		kill(pid, SIGABRT);
		pause_ms(200);
		return OPERATING_SYSTEM;
	}
	if (fault_is(f, "failed")) {
		write_state(file, p, FAILED);
		return OPERATING_SYSTEM;
	}
	return f->code[0] >= '0' && f->code[0] <= '9' ? (int)strtol(f->code, NULL, 10) : -1;
}

static int finish(int file, const struct fault *f, int code)
{
	close(file);
	return code == OK && fault_is(f, "after") ? 999 : code;
}

static int is_stopped(int pid)
{
	char buffer[64], line[512], *at;
	FILE *file;

	snprintf(buffer, sizeof(buffer), "/proc/%d/stat", pid);
	file = fopen(buffer, "re");
	if (!file || !fgets(line, sizeof(line), file))
		line[0] = '\0';
	if (file)
		fclose(file);
	at = strrchr(line, ')');
	return at && at[1] == ' ' && at[2] == 'T';
}

/* Threads of the process take part in every call: a stopped process answers none. */
static void wait_for_it(int pid)
{
	while (is_stopped(pid))
		pause_ms(5);
}

DEFINE(cuCheckpointProcessGetState, int pid, int *state)
{
	struct fault f = fault_of("state");
	struct process p;
	int file, code = other(pid, &file, &p);

	if (code != OK)
		return code;
	code = break_call(&f, pid, file, &p);
	if (code < 0) {
		*state = p.state;
		code = OK;
	}
	return finish(file, &f, code);
}

struct lock_args { unsigned timeout_ms, reserved0; uint64_t reserved1[7]; };

DEFINE(cuCheckpointProcessLock, int pid, struct lock_args *args)
{
	struct fault f = fault_of("lock");
	unsigned limit_ms = args ? args->timeout_ms : 0, waited_ms = 0;
	struct process p;
	int file, code = other(pid, &file, &p);

	if (code != OK)
		return code;
	if (args && args->reserved0)
		return finish(file, &f, INVALID);
	code = break_call(&f, pid, file, &p);
	if (code >= 0)
		return finish(file, &f, code);
	if (p.state != RUNNING)
		return finish(file, &f, ILLEGAL_STATE);
	/* A call of the process goes on, or the process is stopped. */
	while (is_stopped(pid) || set_lock(file, F_WRLCK) != 0) {
		if (limit_ms && waited_ms++ >= limit_ms)
			return finish(file, &f, NOT_READY);
		pause_ms(1);
	}
	code = write_state(file, &p, LOCKED);
	set_lock(file, F_UNLCK);
	return finish(file, &f, code);
}

static void spoil(const char *name)
{
	int file = open(name, O_RDWR | O_CLOEXEC);
	unsigned char byte;

	if (file >= 0 && pread(file, &byte, 1, 12345) == 1) {
		byte ^= 1;
		if (pwrite(file, &byte, 1, 12345) != 1)
			byte = 0;
	}
	if (file >= 0)
		close(file);
}

DEFINE(cuCheckpointProcessCheckpoint, int pid, void *args)
{
	struct fault f = fault_of("checkpoint");
	char from[4096], to[4096];
	struct process p;
	int file, code = other(pid, &file, &p);

	(void)args;
	if (code != OK)
		return code;
	code = break_call(&f, pid, file, &p);
	if (code >= 0)
		return finish(file, &f, code);
	if (p.state != LOCKED)
		return finish(file, &f, ILLEGAL_STATE);
	wait_for_it(pid);
	if (fault_is(&f, "wrong"))
		spoil(path(from, pid, ".card"));
	if (rename(path(from, pid, ".card"), path(to, pid, ".host")))
		return finish(file, &f, OPERATING_SYSTEM);
	return finish(file, &f, write_state(file, &p, CHECKPOINTED));
}

/* A map to other GPUs is refused, as drivers refuse one that does not name every GPU there is. */
DEFINE(cuCheckpointProcessRestore, int pid, const uint64_t args[8])
{
	struct fault f = fault_of("restore");
	char from[4096], to[4096];
	struct process p;
	struct stat info;
	int file, code = other(pid, &file, &p);

	if (code != OK)
		return code;
	code = break_call(&f, pid, file, &p);
	if (code >= 0)
		return finish(file, &f, code);
	if (p.state != CHECKPOINTED)
		return finish(file, &f, ILLEGAL_STATE);
	if (p.stuck)
		return finish(file, &f, OPERATING_SYSTEM);
	for (int i = 0; args && i < 8; i++)
		if (args[i])
			return finish(file, &f, INVALID);
	wait_for_it(pid);
	if (stat(path(from, pid, ".host"), &info) || !has_room(p.uuid, info.st_size)) {
		p.stuck = 1;
		write_state(file, &p, CHECKPOINTED);
		return finish(file, &f, NO_MEMORY);
	}
	if (fault_is(&f, "wrong"))
		spoil(from);
	if (rename(from, path(to, pid, ".card")))
		return finish(file, &f, OPERATING_SYSTEM);
	return finish(file, &f, write_state(file, &p, LOCKED));
}

DEFINE(cuCheckpointProcessUnlock, int pid, void *args)
{
	struct fault f = fault_of("unlock");
	struct process p;
	int file, code = other(pid, &file, &p);

	(void)args;
	if (code != OK)
		return code;
	code = break_call(&f, pid, file, &p);
	if (code >= 0)
		return finish(file, &f, code);
	if (p.state != LOCKED)
		return finish(file, &f, ILLEGAL_STATE);
	return finish(file, &f, write_state(file, &p, RUNNING));
}
#endif
