/* test_store_profiles.c - profiles in the store: their devices, their states, what they do not
 * count for; and which local batches fit. */
#include <string.h>

#include "pollux/store_measurements.h"
#include "pollux/store_machine.h"
#include "pollux/store_runs.h"
#include "store_fixture.h"

static int64_t add_job(bool profile)
{
	struct job job;

	job_init(&job);
	job.state = JOB_RUNNING;
	job.profile = profile;
	return add_to_fixture(&job, "w");
}

/* A run that ended; out of memory, or else with a step time. */
static void add_ended_run(int64_t job, int local_batch, bool out_of_memory)
{
	autofree char *sql = xasprintf(
		"INSERT INTO runs (job_id, number, state, replicas, accumulation_steps,"
		" local_batch_size, learning_rate_scale, boot_id, assigned_time_s,"
		" assigned_boot_s, outcome, out_of_memory) VALUES"
		" (%lld, (SELECT count(*) + 1 FROM runs), 'ended', 1, 1, %d, 1, 'x', 1, 1,"
		" 'failed', %d);"
		"INSERT INTO run_devices (run_id, position, device, kind, binding, cores, in_use)"
		" SELECT max(id), 0, 'cpu:0', 'kind', '0', 1, 0 FROM runs;"
		"INSERT INTO observations SELECT id, 'kind', 1, 1, %d, 1, NULL, 100, 10, 0, 0, "
		"0.1, 0.01, 0.1,"
		" NULL, 1 FROM runs WHERE id = (SELECT max(id) FROM runs) AND NOT %d",
		(long long)job, local_batch, out_of_memory, local_batch, out_of_memory);

	run_sql(sql);
}

static void is_limit_on(const char *kind, int replicas, int64_t too_large, int64_t fits,
			const char *what)
{
	scoped(memory_bounds_release) struct memory_bounds b = { 0 };
	int rc = store_memory_bounds(&store, "w", kind, &b, &err);
	int64_t no = memory_too_large(&b, replicas), yes = no ? memory_fits(&b, replicas) : 0;

	ok(rc == 0 && no == too_large && yes == fits, what);
	if (no != too_large || yes != fits)
		printf("# too large %lld, fits %lld\n", (long long)no, (long long)yes);
}

static void is_limit(const char *kind, int64_t too_large, int64_t fits, const char *what)
{
	is_limit_on(kind, 1, too_large, fits, what);
}

static void test_memory(void)
{
	int64_t job = add_job(false);

	is_limit("kind", 0, 0, "no local batch is bounded before a measurement");
	add_ended_run(job, 64, false);
	is_limit("kind", 0, 0, "no local batch is bounded where all fitted");
	add_ended_run(job, 512, true);
	add_ended_run(job, 256, true);
	add_ended_run(job, 128, false);
	is_limit("kind", 256, 128, "the bound is between what ran out and what fitted");
	is_limit("other", 0, 0, "the bound of one kind of device does not hold for another");
	add_ended_run(job, 300, false);
	is_limit("kind", 512, 300, "a batch that fitted since it ran out is not too large");
	add_ended_run(job, 300, true);
	is_limit("kind", 300, 128, "a batch that ran out since it fitted is too large");
	run_sql("UPDATE observations SET n_windows = 60");
	is_limit("kind", 300, 128, "a batch that fitted for minutes is too large if it ran out");
	run_sql("UPDATE observations SET n_windows = 100");
	is_limit("kind", 512, 300, "a batch that fitted for long is not too large for one failure");
	add_ended_run(job, 300, true);
	is_limit("kind", 300, 128, "a batch that fitted for long is too large after two in a row");
	is_limit_on("kind", 2, 150, 0, "the bound of one slot is halved on two slots");
	run_sql("UPDATE runs SET replicas = 2 WHERE out_of_memory = 1");
	is_limit("kind", 0, 0, "a batch that ran out on two slots is not too large on one");
	is_limit_on("kind", 2, 256, 0, "a batch that ran out on two slots is too large on two");
	run_sql("UPDATE run_devices SET device = 'gpu:' || device");
	is_limit("kind", 300, 128, "a batch that ran out on two GPUs is too large on one");
}

static int count(enum job_filter filter)
{
	scoped(job_list_release) struct job_list list = { 0 };

	return store_jobs_list(&store, filter, 0, &list, &err) ? -1 : list.count;
}

/* meanwhile: what happens between the beginning of the run and its end. */
static void end_run_after(const char *meanwhile, int64_t job, enum run_outcome outcome,
			  enum stop_reason reason)
{
	scoped(run_release) struct run run = { 0 };

	run_init(&run);
	run.job_id = job;
	run.configuration.replicas = 1;
	run.configuration.accumulation_steps = 1;
	run.assigned_time_s = run.assigned_boot_s = 1;
	run.devices = xcalloc(1, sizeof(*run.devices));
	snprintf(run.devices[0].id, sizeof(run.devices[0].id), "cpu:0");
	ok(store_run_add(&store, &run, &err) == 0, "a run of the profile is added");
	run_sql(meanwhile);
	run.outcome = outcome;
	run.stop_reason = reason;
	run.diagnosis = xstrdup("");
	ok(store_run_end(&store, &run, &err) == 0, "the run of the profile ends");
}

static void end_run(int64_t job, enum run_outcome outcome, enum stop_reason reason)
{
	end_run_after("", job, outcome, reason);
}

static enum job_state state(int64_t id)
{
	scoped(job_release) struct job job = { 0 };

	return store_job_get(&store, id, &job, &err) ? JOB_HELD : job.state;
}

static bool is_reason(int64_t id, const char *reason)
{
	scoped(job_release) struct job job = { 0 };
	bool same = !store_job_get(&store, id, &job, &err) && job.reason &&
		    !strcmp(job.reason, reason);

	return same;
}

static void test_profile(void)
{
	struct device device = { .id = "cpu:0", .kind = "kind", .binding = "0-1", .cores = 2 };
	struct reserved_list reserved;
	double samples;
	int n_jobs;
	int64_t id;

	run_sql("DELETE FROM jobs");
	id = add_job(true);
	is_int(count(JOBS_SCHEDULABLE), 0, "no pass decides on a profile");
	is_int(count(JOBS_ACTIVE), 1, "a profile is shown as active");
	ok(store_device_reserve(&store, id, &device, &err) == 0, "a profile reserves a device");
	ok(store_device_reserve(&store, id + 1, &device, &err) != 0,
	   "nobody else can reserve a device that is reserved");
	ok(store_reserved_list(&store, &reserved, &err) == 0 && reserved.count == 1 &&
	   reserved.items[0].job_id == id && reserved.items[0].device.cores == 2 &&
	   !strcmp(reserved.items[0].device.binding, "0-1"),
	   "a reserved device is listed as it was");
	reserved_list_release(&reserved);
	end_run(id, OUTCOME_STOPPED, STOP_MEASURED);
	is_int(state(id), JOB_RUNNING, "a measured run leaves the profile running");
	end_run(id, OUTCOME_FAILED, STOP_NONE);
	is_int(state(id), JOB_RUNNING, "a failed run leaves the profile running");
	run_sql("UPDATE jobs SET samples = 1000");
	end_run(id, OUTCOME_STOPPED, STOP_CANCEL);
	is_int(state(id), JOB_CANCELLED, "a cancelled run ends the profile");
	ok(store_reserved_list(&store, &reserved, &err) == 0 && reserved.count == 0,
	   "a cancelled run frees the reserved device");
	reserved_list_release(&reserved);
	end_run_after("UPDATE jobs SET state = 'cancelled', reason = 'killed'", id,
		      OUTCOME_NOT_STARTED, STOP_CANCEL);
	ok(is_reason(id, "killed"), "the reason that a pass gave stays when the run ends");
	run_sql("UPDATE jobs SET state = 'done', samples = 1000");
	ok(store_typical_samples(&store, "w", &samples, &n_jobs, &err) == 0 && samples != samples,
	   "the samples of a profile do not count for the length of jobs");
	run_sql("UPDATE jobs SET profile = 0");
	ok(store_typical_samples(&store, "w", &samples, &n_jobs, &err) == 0 && samples > 999,
	   "the samples of a job count for the length of jobs");
}

int main(void)
{
	open_fixture();
	test_memory();
	test_profile();
	return close_fixture();
}
