/* work.c - a job that proves how it was run.
 *
 *	work [-n SAMPLES] [-b BATCH] [-s MS] [-w MS] [-h FILE] [-p STEPS] [-e STATUS] [-c]
 *	     [-f] [-v SECONDS] [-l KIND]... [COMMAND...]
 *
 * Before anything else it takes a lock on the job, and on each device whose lock it was started
 * with, under the directory $WITNESS, and keeps them to its end, as does whatever it starts. A lock
 * that is taken, or a device too few, is written to $WITNESS/OVERLAP. Then it becomes COMMAND; or
 * it "trains": consumes SAMPLES in steps of BATCH that take so long each, goes on from its
 * checkpoint, saves itself when asked to stop. $WITNESS/ledger gets a line for each start,
 * checkpoint and orderly end, with the samples:
 *
 *	start|save|stop|done JOB RUN SAMPLES
 *
 * -l leaves a process behind that sleeps for a minute and ignores SIGTERM: "group" (in the job's
 * process group), "session" (in one of its own), "daemon" (its parent dead, descriptors closed, its
 * own session), "bare" (a daemon that keeps the device's locks, without environment), "escapee" (a
 * daemon that keeps nothing: no environment, no descriptor). Those without environment are named
 * "$WITNESS:JOB:RUN", for who looks for them.
 * -w sets how long a checkpoint takes; -p makes one every so many steps.
 * -h waits half way, and before it finishes a checkpoint, while FILE exists: a test that wants to
 * see the job at work then need not be quick.
 * -f saves nothing: each run begins at 0. Such a job may be suspended, and its device be another's
 * meanwhile: it takes no lock of a device.
 * -v first sleeps in the kernel for so many seconds, as for a disk, where no signal wakes it.
 * -c counts in $WITNESS/counter-JOB, in memory that outlives the process: struct counter.
 * -e sets the exit status at the end; 137 is death by SIGKILL, half way. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pollux/client.h"

/* Called by the address sanitizer, if the program has it. Leaks are not looked for: a stop signal
 * that comes while they are, at the end of the program, leaves a process that spins for ever. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

#define EXIT_STOPPED 75
#define LEFT_BEHIND_S 60
#define MAX_KEPT 64

static const char *witness, *job, *run;
static int saves_nothing;
static int kept[MAX_KEPT], n_kept;

/* One write at the end of a file: lines of several processes do not mix. */
__attribute__((format(printf, 2, 3)))
static void note(const char *file, const char *format, ...)
{
	char path[PATH_MAX], line[PATH_MAX];
	va_list ap;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", witness, file);
	va_start(ap, format);
	vsnprintf(line, sizeof(line), format, ap);
	va_end(ap);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	n = fd < 0 ? -1 : write(fd, line, strlen(line));
	if (n < 0)
		perror(path);
	if (fd >= 0)
		close(fd);
}

static void take(const char *what)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", witness, what);
	fd = open(path, O_RDWR | O_CREAT, 0600);	/* inherited, on purpose */
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB))
		note("OVERLAP", "job %s run %s pid %d: %s is taken\n", job, run, (int)getpid(),
		     what);
	if (fd >= 0 && n_kept < MAX_KEPT)
		kept[n_kept++] = fd;
}

/* The devices are told by the locks that were inherited: .../run/device-ID.lock */
static int take_devices(void)
{
	DIR *dir = opendir("/proc/self/fd");
	const struct dirent *entry;
	int n = 0;

	while (dir && (entry = readdir(dir))) {
		char target[PATH_MAX];
		ssize_t length = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);
		const char *name;

		target[length > 0 ? length : 0] = '\0';
		name = strstr(target, "/run/device-");
		if (!name)
			continue;
		/* Slurm picks the GPUs of a node; pollux's number of one names none of them */
		if (!saves_nothing && strncmp(name, "/run/device-slurm:", 18) != 0)
			take(name + strlen("/run/"));
		n++;
	}
	if (dir)
		closedir(dir);
	return n;
}

static void be_witness(int replicas)
{
	char name[64];
	int n;

	snprintf(name, sizeof(name), "job-%s", job);
	take(name);
	n = take_devices();
	if (n != replicas)
		note("OVERLAP", "job %s run %s: %d devices, not %d\n", job, run, n, replicas);
}

/* --- what it leaves behind --- */

static void close_but_kept(void)
{
	for (int fd = 0; fd < 256; fd++) {
		int keep = 0;

		for (int i = 0; i < n_kept; i++)
			keep |= kept[i] == fd;
		if (!keep)
			close(fd);
	}
}

static _Noreturn void linger(const char *kind)
{
	char *no_environment[] = { NULL };

	char name[PATH_MAX];

	snprintf(name, sizeof(name), "%s:%s:%s", witness, job, run);
	note("leftovers", "%d\n", (int)getpid());
	if (!strcmp(kind, "daemon"))
		close_but_kept();
	if (!strcmp(kind, "escapee"))
		close_range(0, ~0U, 0);
	if (!strcmp(kind, "bare") || !strcmp(kind, "escapee"))
		execle("/bin/sleep", name, "60", (char *)NULL, no_environment);
	sleep(LEFT_BEHIND_S);
	_exit(0);
}

static void leave_behind(const char *kind)
{
	int daemon = strcmp(kind, "group") != 0 && strcmp(kind, "session") != 0;
	int ready[2];
	char byte;
	ssize_t n;

	if (pipe2(ready, O_CLOEXEC))
		exit(EXIT_FAILURE);
	if (fork() == 0) {
		signal(SIGTERM, SIG_IGN);
		signal(SIGHUP, SIG_IGN);
		if (strcmp(kind, "group") != 0)
			setsid();
		if (daemon && fork() != 0)
			_exit(0);
		n = write(ready[1], "r", 1);
		(void)n;
		linger(kind);
	}
	close(ready[1]);
	n = read(ready[0], &byte, 1);	/* it is there, and deaf, before we go on */
	(void)n;
	close(ready[0]);
}

/* --- what it counts --- */

/* Of all runs of the job. A sample counts as processed before it is reported; what lies between
 * the position and the start of the next run is done again. */
struct counter { int64_t processed, redone, position; };

static struct counter *counter;	/* NULL: does not count */

static void open_counter(void)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/counter-%s", witness, job);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(*counter))) {
		perror(path);
		exit(EXIT_FAILURE);
	}
	counter = mmap(NULL, sizeof(*counter), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (counter == MAP_FAILED)
		exit(EXIT_FAILURE);
}

static void count_start(long long samples)
{
	if (!counter)
		return;
	counter->redone += counter->position - samples;
	counter->position = samples;
}

static void count_samples(long long n)
{
	if (!counter)
		return;
	counter->processed += n;
	counter->position += n;
}

/* --- training, in name --- */

static const char *directory;	/* of checkpoints; NULL: none */
static long long saved;		/* samples of the last checkpoint that was written */

static long long resume(void)
{
	char path[PATH_MAX], text[32] = "";
	int fd;

	if (!directory)
		return 0;
	snprintf(path, sizeof(path), "%s/samples", directory);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	return strtoll(text, NULL, 10);
}

static void pause_ms(long ms)
{
	struct timespec left = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

static const char *hold_path;	/* of -h */

static int is_held(void)
{
	return hold_path && access(hold_path, F_OK) == 0;
}

static int save(struct pollux_client *client, long long samples, long wait_ms)
{
	char path[PATH_MAX], new_path[PATH_MAX];
	int fd;

	pause_ms(wait_ms);
	while (is_held())
		pause_ms(10);
	if (!directory)
		return 0;
	snprintf(path, sizeof(path), "%s/samples", directory);
	snprintf(new_path, sizeof(new_path), "%s/samples.new", directory);
	fd = open(new_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || dprintf(fd, "%lld\n", samples) < 0 || close(fd) || rename(new_path, path)) {
		perror(new_path);
		return -1;
	}
	saved = samples;
	note("ledger", "save %s %s %lld\n", job, run, samples);
	pollux_client_checkpoint(client, path, samples);
	return 0;
}

static void step(struct pollux_client *client, long long steps, long long samples, long ms)
{
	struct pollux_step report = POLLUX_STEP_INIT;

	pause_ms(ms);
	report.step = steps;
	report.samples = samples;
	report.step_ns = ms * 1000000;
	pollux_client_step(client, &report);
	printf("step %lld samples %lld\n", steps, samples);
}

struct training {
	long long total, batch;
	long step_ms, save_ms, save_every;	/* steps; 0: at the end */
	int status;
};

static int train(const struct training *t)
{
	struct pollux_client *client = pollux_client_open();
	long long samples = resume(), half = samples + (t->total - samples) / 2;
	int rc = 0;

	saved = samples;
	printf("%s samples %lld\n", samples ? "resumed" : "begun", samples);
	note("ledger", "start %s %s %lld\n", job, run, samples);
	count_start(samples);
	while (samples < t->total && !pollux_client_should_stop(client)) {
		long long n = t->total - samples < t->batch ? t->total - samples : t->batch;

		samples += n;
		count_samples(n);
		step(client, samples / t->batch, samples, t->step_ms);
		if (t->save_every && samples / t->batch % t->save_every == 0)
			save(client, samples, t->save_ms);
		while (samples >= half && is_held() && !pollux_client_should_stop(client))
			pause_ms(10);
		if (t->status == 137 && samples >= half)
			raise(SIGKILL);
	}
	rc = save(client, samples, t->save_ms);
	/* with where a next run begins: there is one, too, if nobody saw that this one was done */
	note("ledger", "%s %s %s %lld\n", samples >= t->total && rc == 0 ? "done" : "stop", job,
	     run, saves_nothing ? 0 : rc ? saved : samples);
	pollux_client_close(client);
	if (samples < t->total)
		return EXIT_STOPPED;
	return rc ? EXIT_FAILURE : t->status;
}

/* The state is that of a wait for a disk: 'D'. */
static void sleep_in_kernel(unsigned seconds)
{
	/* NOLINTNEXTLINE(clang-analyzer-security.insecureAPI.vfork): for the wait */
	pid_t child = vfork();

	if (child == 0) {
		sleep(seconds);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static const char *environment(const char *name, const char *otherwise)
{
	const char *value = getenv(name);

	return value && *value ? value : otherwise;
}

int main(int argc, char **argv)
{
	struct training t = { .batch = 1, .step_ms = 1 };
	const char *kinds[8];
	int option, n_kinds = 0;

	witness = environment("WITNESS", ".");
	job = environment("POLLUX_JOB_ID", "0");
	run = environment("POLLUX_RUN", "0");
	directory = environment("POLLUX_CHECKPOINT_DIR", NULL);
	setvbuf(stdout, NULL, _IOLBF, 0);
	while ((option = getopt(argc, argv, "+n:b:s:w:h:p:e:l:v:cf")) != -1) {
		switch (option) {
		case 'n': t.total = strtoll(optarg, NULL, 10); break;
		case 'b': t.batch = strtoll(optarg, NULL, 10); break;
		case 's': t.step_ms = strtol(optarg, NULL, 10); break;
		case 'w': t.save_ms = strtol(optarg, NULL, 10); break;
		case 'h': hold_path = optarg; break;
		case 'p': t.save_every = strtol(optarg, NULL, 10); break;
		case 'e': t.status = (int)strtol(optarg, NULL, 10); break;
		case 'c': open_counter(); break;
		case 'f':
			saves_nothing = 1;
			directory = NULL;
			break;
		case 'v': sleep_in_kernel((unsigned)strtoul(optarg, NULL, 10)); break;
		case 'l':
			if (n_kinds < 8)
				kinds[n_kinds++] = optarg;
			break;
		default: return EXIT_FAILURE;
		}
	}
	be_witness((int)strtol(environment("POLLUX_REPLICAS", "1"), NULL, 10));
	for (int i = 0; i < n_kinds; i++)
		leave_behind(kinds[i]);
	if (optind < argc) {
		execvp(argv[optind], argv + optind);
		perror(argv[optind]);
		return 127;
	}
	return train(&t);
}
