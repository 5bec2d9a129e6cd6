/* test_kept_position.c - where a run stands, kept in a file: what is read back, which files are
 * passed over, and what a pass makes of it after a reboot. The store is real. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/mem.h"
#include "pollux/store_jobs.h"
#include "pollux/store_runs.h"
#include "engine/local/recorder.h"
#include "engine/local/supervisor.h"
#include "tap.h"

#define LAUNCH_S 1000.0

static char root[] = "/tmp/test_kept.XXXXXX";
static struct paths paths;
static struct run run;
static struct recorder r;
static struct err err;

/* A run that the store knew at 10 s, at 100 samples after a first report at 10. */
static void begin(void)
{
	static int n;
	autofree char *dir = xasprintf("%s/%d", root, ++n);

	setenv("POLLUX_DIR", dir, 1);
	run_init(&run);
	recorder_init(&r);
	run.id = 7;
	run.job_id = 3;
	run.state = RUN_RUNNING;
	run.boot_id = xstrdup("some boot");
	run.launch_boot_s = LAUNCH_S;
	run.duration_s = 10;
	run.first_samples = 10;
	run.last_samples = 100;
	if (paths_init(&paths, &err) || paths_create(&paths, &err))
		printf("# %s\n", err.text);
}

static void end(void)
{
	run_release(&run);
	paths_release(&paths);
}

/* Keeps the run's position at the time. */
static void keep(double samples, double time_s)
{
	struct run later = run;
	struct kept_position k;
	int fd = kept_position_create(&paths, &run);

	later.last_samples = samples;
	kept_position_fill(&k, &r, &later, time_s);
	k.log_begin = 5;
	k.log_read = 50;
	if (fd < 0 || !kept_position_write(fd, &k, &run) || close(fd))
		printf("# cannot keep the position\n");
}

static bool is_read(void)
{
	struct kept_position k;

	return kept_position_read(&paths, &run, &k, NULL);
}

static void test_whole(void)
{
	struct kept_position k;
	struct recorder other;
	int fd;

	begin();
	r.steps = 15;
	r.began = 4;
	r.steps_are_reported = r.start.has_reported = true;
	r.positions = (struct position_watch){ 3, 10, 1001, 150, 1011, 1010.5 };
	run.checkpoint_samples = 90;
	run.checkpoint_boot_s = 1009;
	snprintf(run.step_source, sizeof(run.step_source), "reports");
	keep(150, 1011);
	ok(kept_position_read(&paths, &run, &k, &fd), "a position is read back");
	ok(fd >= 0, "a position is read with its file");
	close(fd);
	run.checkpoint_samples = run.checkpoint_boot_s = NAN;
	run.step_source[0] = '\0';
	kept_position_apply(&k, &run);
	near(run.last_samples, 150, 0, "a kept position has the samples of the run");
	near(run.checkpoint_samples, 90, 0, "a kept position has the checkpoint of the run");
	near(run.checkpoint_boot_s, 1009, 0, "a kept position has the time of the checkpoint");
	near(run.duration_s, 11, 0, "a kept position has the duration of the run");
	is_str(run.step_source, "reports", "a kept position has the source of the steps");
	is_int(k.log_read, 50, "a kept position has how far the log was read");
	recorder_init(&other);
	kept_position_restore(&k, &other);
	near(other.steps, 15, 0, "a kept position restores the steps of the recorder");
	near(other.began, 4, 0, "a kept position restores where the steps began");
	ok(other.steps_are_reported && other.start.has_reported && !other.samples_are_reported,
	   "a kept position restores what was reported");
	near(other.positions.last, 150, 0, "a kept position restores the last position judged");
	ok(other.changed, "a restored recorder has something to write");
	kept_position_remove(&paths, run.id);
	ok(!is_read(), "a removed file has no position");
	end();
}

static void test_passed_over(void)
{
	autofree char *path = NULL;

	begin();
	keep(150, 999);
	ok(!is_read(), "a position from before the launch is passed over");
	keep(1e9, 1012);
	ok(!is_read(), "a position that the run cannot have come to is passed over");
	keep(INFINITY, 1012);
	ok(!is_read(), "a position that is no number is passed over");
	keep(-5, 1012);
	ok(!is_read(), "a negative position is passed over");
	keep(150, 1012);
	ok(is_read(), "a possible position is read");
	run.job_id = 4;
	ok(!is_read(), "the position of another job's run is passed over");
	run.job_id = 3;
	free(run.boot_id);
	run.boot_id = xstrdup("another boot");
	ok(!is_read(), "a position of another boot is passed over");
	free(run.boot_id);
	run.boot_id = xstrdup("some boot");
	path = paths_run(&paths, run.id, "position");
	ok(truncate(path, 100) == 0 && !is_read(), "a torn file is passed over");
	ok(unlink(path) == 0 && mkfifo(path, 0600) == 0 && !is_read(),
	   "a FIFO in place of the file is passed over at once");
	ok(unlink(path) == 0 && mkdir(path, 0700) == 0 && !is_read(),
	   "a directory in place of the file is passed over");
	ok(rmdir(path) == 0 && symlink("/dev/zero", path) == 0 && !is_read(),
	   "a link in place of the file is passed over");
	end();
}

static void each_byte_counts(void)
{
	char *path, byte;
	int fd, n = 0;
	struct stat st;

	begin();
	keep(150, 1012);
	path = paths_run(&paths, run.id, "position");
	fd = open(path, O_RDWR);
	ok(fd >= 0 && fstat(fd, &st) == 0, "a file of one record is opened");
	for (off_t i = 0; i < st.st_size; i++) {
		char other;

		if (pread(fd, &byte, 1, i) != 1)
			break;
		other = (char)(byte ^ 0x10);
		n += pwrite(fd, &other, 1, i) == 1 && !is_read() && pwrite(fd, &byte, 1, i) == 1;
	}
	is_int(n, st.st_size, "a record with any byte changed is passed over");
	ok(is_read(), "a record with its bytes put back is read");
	close(fd);
	free(path);
	end();
}

/* A job whose run claims its device; the machine goes down 12 s later. */
static void start_job(struct store *store, bool *claimed)
{
	struct job_command c = { .program = xstrdup("/bin/true"), .directory = xstrdup("/") };
	struct dependency_list none = { 0 };
	scoped(job_release) struct job job = { 0 };

	job_init(&job);
	job.declared.name = xstrdup("x");
	job.declared.workload = xstrdup("w");
	job.submit_time_s = 1;
	if (store_open(store, &paths, STORE_WRITE, &err) ||
	    store_job_insert(store, &job, &c, &none, &err))
		printf("# %s\n", err.text);
	run.job_id = job.id;
	run.state = RUN_ASSIGNED;
	run.configuration.replicas = run.configuration.accumulation_steps = 1;
	run.assigned_time_s = run.assigned_boot_s = 1;
	run.devices = xcalloc(1, sizeof(*run.devices));
	snprintf(run.devices[0].id, sizeof(run.devices[0].id), "cpu:0");
	snprintf(run.devices[0].kind, sizeof(run.devices[0].kind), "cpu");
	if (store_run_add(store, &run, &err) ||
	    store_run_claim(store, run.id, "local", LAUNCH_S, claimed, &err))
		printf("# %s\n", err.text);
	run.state = RUN_RUNNING;
	run.launch_boot_s = LAUNCH_S;
	job_command_release(&c);
}

static void test_reboot(void)
{
	struct store store;
	bool claimed = false;
	struct job job;

	begin();
	start_job(&store, &claimed);
	ok(claimed, "a run claims its device");
	run.checkpoint_samples = 60;
	run.checkpoint_boot_s = 1004;
	r.steps = 15;
	keep(150, 1012);
	if (run_end_lost(&paths, &store, &run, &err) ||
	    store_job_get(&store, run.job_id, &job, &err))
		printf("# %s\n", err.text);
	near(job.progress.lost_samples, 90, 0,
	     "the job has the samples that were lost at the reboot");
	near(job.progress.lost_s, 8, 1e-9, "the job has the time that was lost at the reboot");
	near(job.progress.samples, 60, 0,
	     "the job goes on at the last checkpoint after the reboot");
	near(job.progress.steps, 15, 0, "the job has the steps of the kept position");
	near(job.progress.run_time_s, 12, 1e-9, "the job has the run time until the kept position");
	job_release(&job);
	store_close(&store);
	end();
}

int main(void)
{
	autofree char *command = NULL;

	if (!mkdtemp(root))
		return 1;
	test_whole();
	test_passed_over();
	each_byte_counts();
	test_reboot();
	command = xasprintf("rm -rf '%s'", root);
	if (system(command))
		return 1;
	return done();
}
