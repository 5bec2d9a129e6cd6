/* reports.c - what a job that reports every step costs its supervisor and leaves in the store.
 *
 *	reports [SECONDS [RATE]...]		(60 1000 10000)
 *
 * For each rate a real job (this program) is submitted to a store of its own, launched by a real
 * pass, and reports so many steps a second through the client library: positions, times, gradient
 * statistics and loss. Measured before: the processor time to keep a position in a file, which a
 * supervisor does after it has read reports. Measured while the job runs: the processor time of its
 * supervisor, the datagrams sent, lost and received, the rows of all tables, the size of the store.
 * Nothing is judged: a missed target is printed, and the exit status is 0. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine/local/recorder.h"
#include "pollux/client.h"
#include "pollux/clock.h"
#include "pollux/mem.h"
#include "pollux/text.h"

#define TARGET_RATE 1000
#define TARGET_KEEP_US 1.0
#define TARGET_PERCENT 1.0
#define SETTLE_S 3.0	/* from the launch to the first reading, and from the last to the end */

static _Noreturn void fail(const char *what, const char *why)
{
	fprintf(stderr, "reports: %s: %s\n", what, why);
	exit(1);
}

static void sleep_until(int64_t boot_ns)
{
	struct timespec t = { .tv_sec = boot_ns / 1000000000, .tv_nsec = boot_ns % 1000000000 };

	while (clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

static double cpu_s(pid_t pid)
{
	struct timespec t;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t))
		return NAN;
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* --- the job --- */

static struct pollux_step next_step(int64_t n, int64_t step_ns)
{
	return (struct pollux_step){
		.step = n, .samples = 64 * n, .step_ns = step_ns, .sync_ns = step_ns / 10,
		.grad_sqr = 0.0123456789 + 1e-6 * (double)(n % 97),
		.grad_var = 12.3456789 + 1e-3 * (double)(n % 89),
		.loss = 2.3 / sqrt(1 + (double)n), .epoch = 64.0 * (double)n / 60000,
	};
}

/* A few steps that are late are made up for; the rest is not, as in training. */
#define LATE_STEPS 4

static void job(double rate, double seconds, const char *counts)
{
	struct pollux_client *client = pollux_client_open();
	int64_t period_ns = llround(1e9 / rate), due_ns = clock_boot_ns();
	int64_t end_ns = due_ns + llround(seconds * 1e9), last_ns = due_ns;
	int64_t sent = 0, lost = 0;
	FILE *out;

	for (int64_t n = 1; due_ns < end_ns && !pollux_client_should_stop(client); n++) {
		struct pollux_step step;
		int64_t now_ns;

		due_ns += period_ns;
		sleep_until(due_ns);
		now_ns = clock_boot_ns();
		due_ns = now_ns > due_ns + LATE_STEPS * period_ns ? now_ns : due_ns;
		step = next_step(n, now_ns - last_ns);
		last_ns = now_ns;
		if (pollux_client_step(client, &step))
			sent++;
		else
			lost++;
	}
	pollux_client_close(client);
	out = fopen(counts, "w");
	if (!out || fprintf(out, "%lld %lld %.6f\n", (long long)sent, (long long)lost,
			    cpu_s(getpid())) < 0 || fclose(out))
		fail(counts, strerror(errno));
}

/* --- the store --- */

static sqlite3 *db;

static int64_t number(const char *sql)
{
	sqlite3_stmt *q;
	int64_t n = 0;

	if (sqlite3_prepare_v2(db, sql, -1, &q, NULL))
		fail(sql, sqlite3_errmsg(db));
	if (sqlite3_step(q) == SQLITE_ROW)
		n = sqlite3_column_int64(q, 0);
	sqlite3_finalize(q);
	return n;
}

static int64_t count_rows(void)
{
	sqlite3_stmt *q;
	int64_t n = 0;

	if (sqlite3_prepare_v2(db, "SELECT 'SELECT count(*) FROM ' || name FROM sqlite_schema"
			       " WHERE type = 'table' AND name NOT LIKE 'sqlite_%'", -1, &q, NULL))
		fail("the store", sqlite3_errmsg(db));
	while (sqlite3_step(q) == SQLITE_ROW)
		n += number((const char *)sqlite3_column_text(q, 0));
	sqlite3_finalize(q);
	return n;
}

static int64_t file_bytes(const char *dir, const char *name)
{
	char *path = xasprintf("%s/store/%s", dir, name);
	struct stat st;
	int64_t bytes = stat(path, &st) ? 0 : st.st_size;

	free(path);
	return bytes;
}

/* --- the measurement --- */

struct reading {
	double time_s, cpu_s;
	int64_t rows, reports, wakeups;
	int64_t file_bytes, log_bytes;	/* of the database and its write-ahead log */
};

static int64_t count_wakeups(pid_t pid)
{
	static const char key[] = "voluntary_ctxt_switches:";
	char *path = xasprintf("/proc/%d/status", (int)pid), line[256];
	FILE *file = fopen(path, "r");
	int64_t n = 0;

	free(path);
	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, key, sizeof(key) - 1))
			n = strtoll(line + sizeof(key) - 1, NULL, 10);
	if (file)
		fclose(file);
	return n;
}

static void reading_take(struct reading *r, const char *dir, pid_t supervisor)
{
	*r = (struct reading){
		.time_s = clock_boot_s(), .cpu_s = cpu_s(supervisor),
		.rows = count_rows(), .reports = number("SELECT reports FROM runs"),
		.wakeups = count_wakeups(supervisor),
		.file_bytes = file_bytes(dir, "pollux.db"),
		.log_bytes = file_bytes(dir, "pollux.db-wal"),
	};
	if (isnan(r->cpu_s))
		fail("the supervisor", "it is gone");
}

static const char *pollux_program(void)
{
	const char *program = getenv("POLLUX");

	return program ? program : "build/pollux";
}

static int run_command(char *command)
{
	int status = system(command);	// NOLINT(cert-env33-c): words of this program

	free(command);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static void start_job(const char *dir, double rate, double seconds)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = '\0';
	if (run_command(xasprintf("cd '%s' && '%s' submit -q --batch 64 -- '%s' --job %.17g %.17g"
			  " '%s/counts' >/dev/null && '%s' schedule", dir, pollux_program(), self,
			  rate, seconds, dir, pollux_program())))
		fail("pollux", "cannot start a job");
}

static pid_t wait_for_supervisor(const char *dir)
{
	char *path = xasprintf("%s/store/pollux.db", dir);

	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL))
		fail(path, sqlite3_errmsg(db));
	free(path);
	sqlite3_busy_timeout(db, 10000);
	for (int i = 0; i < 100; i++) {
		int64_t pid =
			number("SELECT CAST(substr(handle, instr(handle, ' supervisor=') + 12)"
			       " AS INTEGER) FROM runs WHERE state = 'running'"
			       " AND instr(handle, ' leader=') > 0");

		if (pid)
			return (pid_t)pid;
		sleep_until(clock_boot_ns() + 100000000);
	}
	fail("the job", "it does not start");
}

struct counts {
	int64_t sent, lost;
	double cpu_s;
};

static void read_counts(const char *dir, struct counts *c)
{
	char *path = xasprintf("%s/counts", dir), line[128] = "", *p = line;
	FILE *file;

	if (run_command(xasprintf("'%s' wait 1", pollux_program())))
		fail("the job", "it failed");
	file = fopen(path, "r");
	if (!file || !fgets(line, sizeof(line), file))
		fail(path, "no counts");
	fclose(file);
	free(path);
	c->sent = strtoll(p, &p, 10);
	c->lost = strtoll(p, &p, 10);
	c->cpu_s = strtod(p, &p);
}

static void print(double rate, double seconds, const struct reading *a, const struct reading *b,
		  const struct counts *c)
{
	double period_s = b->time_s - a->time_s, minutes = period_s / 60;
	double percent = 100 * (b->cpu_s - a->cpu_s) / period_s;
	long long sent = c->sent, lost = c->lost, all = sent + lost;

	printf("%g reports a second asked for, %.0f made\n", rate, (double)all / seconds);
	printf("  supervisor      %.3f %% of a core over %.0f s, %.0f wake-ups a second\n", percent,
	       period_s, (double)(b->wakeups - a->wakeups) / period_s);
	printf("  datagrams       %lld sent, %lld received, %lld not taken (%.3f %%); "
	       "%.1f us of the job's processor each\n", sent,
	       (long long)number("SELECT reports - malformed_reports FROM runs"), lost,
	       100 * (double)lost / (double)all, 1e6 * c->cpu_s / (double)all);
	printf("  rows            %lld at first, %lld at last: %.2f a minute\n", (long long)a->rows,
	       (long long)b->rows, (double)(b->rows - a->rows) / minutes);
	printf("  bytes           database %lld, then %lld; write-ahead log %lld, then %lld\n",
	       (long long)a->file_bytes, (long long)b->file_bytes, (long long)a->log_bytes,
	       (long long)b->log_bytes);
	if (rate <= TARGET_RATE)
		printf("%s  supervisor %.3f %%; wanted: under %g %% of a core at %d a second\n",
		       percent < TARGET_PERCENT ? "met   " : "MISSED", percent, TARGET_PERCENT,
		       TARGET_RATE);
	fflush(stdout);
}

static void measure(double rate, double seconds)
{
	char dir[] = "/tmp/pollux-bench.XXXXXX", *store;
	struct reading first, last;
	struct counts counts;
	pid_t supervisor;

	if (!mkdtemp(dir))
		fail(dir, strerror(errno));
	store = xasprintf("%s/store", dir);
	setenv("POLLUX_DIR", store, 1);
	start_job(dir, rate, seconds + 2 * SETTLE_S);
	supervisor = wait_for_supervisor(dir);
	sleep_until(clock_boot_ns() + llround(SETTLE_S * 1e9));
	reading_take(&first, dir, supervisor);
	sleep_until(clock_boot_ns() + llround(seconds * 1e9));
	reading_take(&last, dir, supervisor);
	read_counts(dir, &counts);
	print(rate, seconds + 2 * SETTLE_S, &first, &last, &counts);
	sqlite3_close(db);
	free(store);
	run_command(xasprintf("rm -r '%s'", dir));
}

/* What a supervisor does after it has read reports: at most 200 times a second, and for each report
 * where fewer come. */
static void measure_keeping(void)
{
	char dir[] = "/tmp/pollux-bench.XXXXXX";
	const int n = 200000;
	struct paths paths = { .dir = dir };
	struct kept_position k;
	struct recorder r;
	double begin_s, us;
	struct run run;
	int fd;

	run_init(&run);
	recorder_init(&r);
	fd = mkdtemp(dir) && !run_command(xasprintf("mkdir '%s/run'", dir))
		? kept_position_create(&paths, &run) : -1;
	if (fd < 0)
		fail(dir, strerror(errno));
	begin_s = cpu_s(getpid());
	for (int i = 0; i < n; i++) {
		run.last_samples = i;
		kept_position_fill(&k, &r, &run, i);
		k.log_begin = k.log_read = 0;
		if (!kept_position_write(fd, &k, &run))
			fail(dir, strerror(errno));
	}
	us = 1e6 * (cpu_s(getpid()) - begin_s) / n;
	printf("%s  a position kept beside the store: %.2f us of processor; wanted: under %g\n",
	       us < TARGET_KEEP_US ? "met   " : "MISSED", us, TARGET_KEEP_US);
	close(fd);
	run_release(&run);
	run_command(xasprintf("rm -r '%s'", dir));
}

static double argument(const char *text)
{
	double value;

	if (number_parse(text, &value) || value <= 0)
		fail("usage", "reports [SECONDS [RATE]...]");
	return value;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 && strcmp(argv[1], "--job") != 0 ? argument(argv[1]) : 60;

	if (argc == 5 && !strcmp(argv[1], "--job")) {
		job(argument(argv[2]), argument(argv[3]), argv[4]);
		return 0;
	}
	unsetenv("POLLUX_POLICY");
	measure_keeping();
	for (int i = 2; i < argc; i++)
		measure(argument(argv[i]), seconds);
	if (argc <= 2) {
		measure(TARGET_RATE, seconds);
		measure(10 * TARGET_RATE, seconds);
	}
	return 0;
}
