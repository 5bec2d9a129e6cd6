/* cpu_work.c - what kernels on processors work with: a team of threads, OpenBLAS, and the peak of
 * cores. */
#include "cpu_work.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/clock.h"
#include "pollux/file.h"
#include "pollux/mem.h"

struct team_member {
	struct team *team;
	const struct device *device;	/* NULL: the thread is not bound */
	int rank;
	pthread_t thread;
	struct err err;			/* of binding the thread */
};

void team_meet(struct team *team)
{
	pthread_barrier_wait(&team->barrier);
}

static void bind(struct team_member *m)
{
	const struct device_backend *backend = m->device ? device_backend_of(m->device->id) : NULL;

	if (backend)
		backend->bind(m->device, 1, &m->err);
}

static void *run_tasks(void *argument)
{
	struct team_member *m = argument;

	bind(m);
	team_meet(m->team);		/* see team_start */
	for (;;) {
		team_meet(m->team);
		if (!m->team->task)
			return NULL;
		m->team->task(m->team, m->rank, m->team->count);
		team_meet(m->team);
	}
}

/* If a thread cannot be started, the others stay at the barrier: the process is about to end. */
int team_start(struct team *team, int n, const struct device *devices, struct err *err)
{
	*team = (struct team){ .n = n, .members = xcalloc((size_t)n, sizeof(struct team_member)) };
	if (pthread_barrier_init(&team->barrier, NULL, (unsigned)n))
		return err_set(err, EX_OSERR, "cannot make a barrier for %d threads", n);
	for (int r = 0; r < n; r++) {
		struct team_member *m = &team->members[r];

		*m = (struct team_member){
			.team = team, .rank = r, .device = devices ? &devices[r] : NULL,
		};
		if (r > 0 && pthread_create(&m->thread, NULL, run_tasks, m))
			return err_set(err, EX_OSERR, "cannot start thread %d of %d", r + 1, n);
	}
	bind(&team->members[0]);
	team_meet(team);
	for (int r = 0; r < n; r++)
		if (team->members[r].err.exit_status) {
			*err = team->members[r].err;
			return -1;
		}
	return 0;
}

double team_do(struct team *team, team_task *task, int64_t count)
{
	double time_s;

	team->task = task;
	team->count = count;
	team_meet(team);
	time_s = task(team, 0, count);
	team_meet(team);
	return time_s;
}

void team_stop(struct team *team)
{
	team->task = NULL;
	team_meet(team);
	for (int r = 1; r < team->n; r++)
		pthread_join(team->members[r].thread, NULL);
	pthread_barrier_destroy(&team->barrier);
	free(team->members);
}

/* ---- OpenBLAS ---- */

#ifdef POLLUX_OPENBLAS
#include <cblas.h>
#include <dlfcn.h>
#include <errno.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

/* Each signature is taken from the header, so a wrong call does not compile. */
#define FUNCTIONS(X) X(cblas_sgemm) X(cblas_dgemm) X(openblas_get_corename)
#define FIELD(name) __typeof__(&(name)) (name);
static struct { FUNCTIONS(FIELD) } open_blas;
#define SYMBOL(function) { #function, &open_blas.function },
static const struct { const char *name; void *slot; } symbols[] = { FUNCTIONS(SYMBOL) };

static int load_openblas(struct err *err)
{
	void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return err_set(err, EX_UNAVAILABLE, "no products: OpenBLAS is not there (%s)",
			       dlerror());
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		void *address = dlsym(library, symbols[i].name);

		if (!address)
			return err_set(err, EX_UNAVAILABLE, "no products: this OpenBLAS has no %s",
				       symbols[i].name);
		memcpy(symbols[i].slot, &address, sizeof(address));
	}
	return 0;
}

/* True if OpenBLAS falls back to its oldest kernels. Checked in a child process, since a loaded
 * library does not choose again. */
static bool falls_back(void)
{
	struct err ignored;
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit(load_openblas(&ignored) == 0 &&
		      strcasecmp(open_blas.openblas_get_corename(), "Prescott") == 0);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

static void product_fp32(int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c)
{
	open_blas.cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)m, (blasint)n,
			      (blasint)k, 1, a, (blasint)k, b, (blasint)n, 0, c, (blasint)n);
}

static void product_fp64(int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c)
{
	open_blas.cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)m, (blasint)n,
			      (blasint)k, 1, a, (blasint)k, b, (blasint)n, 0, c, (blasint)n);
}

int blas_open(struct blas *blas, int threads, struct err *err)
{
	const char *better = NULL;	/* the best kernels for the processor's instructions */
	char text[16];

#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
		better = "SkylakeX";
	else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		better = "Haswell";
#endif

	snprintf(text, sizeof(text), "%d", threads);
	setenv("OPENBLAS_NUM_THREADS", text, 1);
	/* cppcheck-suppress knownConditionTrueFalse ; not so on x86-64 */
	if (better && !getenv("OPENBLAS_CORETYPE") && falls_back())
		setenv("OPENBLAS_CORETYPE", better, 1);
	if (load_openblas(err))
		return -1;
	*blas = (struct blas){ product_fp32, product_fp64, open_blas.openblas_get_corename() };
	return 0;
}

#else

int blas_open(struct blas *blas, int threads, struct err *err)
{
	(void)blas;
	(void)threads;
	return err_set(err, EX_UNAVAILABLE, "no products: pollux was built where OpenBLAS's header "
		       "was not found");
}

#endif

/* ---- the peak of cores ---- */

/* cores * clock * operations per cycle. The result is an upper bound: some processors have one unit
 * instead of the two assumed, and many lower their clock while their widest units are busy. */

#define ADDS_PER_ROUND 16
#define FOUR(x) x x x x
#define SIXTEEN(x) FOUR(FOUR(x))
#define ROUNDS 20000
#define TRIES 200

/* Measures the actual clock. An addition that depends on the one before takes one cycle on every
 * processor that OpenBLAS has kernels for. Takes the best of many tries, each shorter than a
 * scheduler's time slice. */
static double measured_clock_hz(void)
{
	double best_s = HUGE_VAL;

	for (int t = 0; t < TRIES; t++) {
		unsigned long x = 1, y = (unsigned long)t;
		int64_t begun_ns = clock_boot_ns();

		for (int i = 0; i < ROUNDS; i++) {
			SIXTEEN(x += y; __asm__ volatile("" : "+r"(x));)
		}
		best_s = fmin(best_s, 1e-9 * (double)(clock_boot_ns() - begun_ns));
	}
	return (double)ROUNDS * ADDS_PER_ROUND / best_s;
}

void cpu_peak_send(struct sink *sink, int cores, int processor)
{
	/* The specified clock, if the kernel reports it, which it does not in most virtual
	 * machines. */
	double stated, clock;
	/* The widest instructions here, with two fused multiply-add units, each as wide as a
	 * register. In fp32; half as many FLOP in fp64. */
	const char *isa = "";
	int flop_per_cycle = 0;
	char path[96], khz[32];

#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx512f")) {
		isa = "AVX-512";
		flop_per_cycle = 64;
	} else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
		isa = "AVX2";
		flop_per_cycle = 32;
	} else {
		isa = __builtin_cpu_supports("avx") ? "AVX" : "SSE2";
		flop_per_cycle = __builtin_cpu_supports("avx") ? 16 : 8;
	}
#elif defined(__aarch64__)
	isa = "NEON";
	flop_per_cycle = 16;
#endif
	/* cppcheck-suppress knownConditionTrueFalse ; not so on x86-64 */
	if (flop_per_cycle == 0)
		return;
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cpufreq/cpuinfo_max_freq",
		 processor);
	file_find_line(path, "", khz, sizeof(khz));
	stated = 1e3 * strtod(khz, NULL);
	clock = fmax(stated, measured_clock_hz());
	sink_peak(sink, "fp32", cores * clock * flop_per_cycle);
	sink_peak(sink, "fp64", cores * clock * flop_per_cycle / 2);
	sink_peak_basis(sink, "at most: %d core%s at %.2f GHz (%s), %d FLOP a cycle (%s)", cores,
			plural(cores), 1e-9 * clock, stated >= clock ? "specified" : "measured",
			flop_per_cycle, isa);
}
