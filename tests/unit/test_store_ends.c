/* test_store_ends.c - the end of a job is told once, again after the job was queued again, and to
 * nobody where no command is to be told. What the end of a run tells of where its job stands. */
#include <math.h>

#include "pollux/store_jobs.h"
#include "pollux/store_runs.h"
#include "store_fixture.h"

static void add_job(const char *on_end, bool profile)
{
	struct job job;

	job_init(&job);
	job.declared.on_end = on_end ? xstrdup(on_end) : NULL;
	job.profile = profile;
	add_to_fixture(&job, "w");
}

/* The job whose end is taken; 0: none is left; -1: it cannot be taken. */
static int64_t taken(bool all)
{
	int64_t id;

	return store_ends_take(&store, all, &id, &err) ? -1 : id;
}

static bool is_left(bool all)
{
	bool left = false;

	return store_ends_left(&store, all, &left, &err) == 0 && left;
}

static void test_ends(void)
{
	add_job(NULL, false);
	add_job("true", false);
	add_job("true", true);
	is_int(is_left(true), 0, "no end is left while no job has ended");
	is_int(taken(true), 0, "no end is taken while no job has ended");
	run_sql("UPDATE jobs SET state = 'done'");
	is_int(is_left(false), 1, "the end of a job with a command of its own is left");
	is_int(taken(false), 2, "the end of a job with its own command is taken, not a profile's");
	is_int(is_left(true), 0, "no end is left for all after the ends were taken");
	is_int(taken(true), 0, "an end that counts as told is not taken");
	run_sql("UPDATE jobs SET state = 'queued' WHERE id <= 2");
	is_int(is_left(true), 0, "jobs that are queued again have no end left");
	run_sql("UPDATE jobs SET state = 'failed' WHERE id <= 2");
	is_int(is_left(true), 1, "the ends of jobs that failed again are left for all");
	is_int(taken(true), 1, "the end of the first job is taken first");
	is_int(is_left(true), 1, "the end of the second job is left after the first");
	is_int(taken(true), 2, "the end of the second job is taken second");
	is_int(taken(true), 0, "no end is taken twice");
}

/* How a run ends: not seen, or with an exit status; where it began, its last checkpoint (NaN: it
 * did not tell). Then how sure it is where the job stands, and the checkpoint that is known. */
static const struct run_ending {
	const char *what;
	enum run_outcome outcome;
	int exit_code;
	double first_samples, checkpoint_samples;
	enum position_doubt doubt;
	double known_samples;
} endings[] = {
	{ "a run that saved and was stopped leaves a known position",
	  OUTCOME_STOPPED, 75, 0, 100, POSITION_KNOWN, 100 },
	{ "a run whose end nobody saw leaves a least position",
	  OUTCOME_LOST, -1, 100, 160, POSITION_AT_LEAST, 160 },
	{ "a silent run after a lost one leaves a least position",
	  OUTCOME_FAILED, 1, NAN, NAN, POSITION_AT_LEAST, 160 },
	{ "a second silent run after a lost one leaves a least position",
	  OUTCOME_STOPPED, 75, NAN, NAN, POSITION_AT_LEAST, 160 },
	{ "a run that fails before its next checkpoint leaves a known one",
	  OUTCOME_FAILED, 1, 240, NAN, POSITION_KNOWN, 160 },
	{ "a lost run without a checkpoint leaves a least position", OUTCOME_LOST, -1, 240, NAN,
	  POSITION_AT_LEAST, 160 },
	{ "a run that tells an earlier checkpoint leaves the later one",
	  OUTCOME_LOST, -1, NAN, 120, POSITION_AT_LEAST, 160 },
};

static void end_run(int64_t job_id, const struct run_ending *e)
{
	struct device device = { .id = "cpu:0" };
	scoped(run_release) struct run run = { 0 };

	run_init(&run);
	run.job_id = job_id;
	run.configuration = (struct configuration){ .replicas = 1, .nodes = 1,
						    .accumulation_steps = 1 };
	run.learning_rate_scale = 1;
	run.assigned_time_s = run.assigned_boot_s = 1;
	run.devices = &device;
	ok(store_run_add(&store, &run, &err) == 0, e->what);
	run.outcome = e->outcome;
	run.exit_code = e->exit_code;
	run.first_samples = e->first_samples;
	run.checkpoint_samples = e->checkpoint_samples;
	ok(store_run_end(&store, &run, &err) == 0, "the end of the run is stored");
	run.devices = NULL;
}

static void test_positions(void)
{
	struct job job;
	int64_t id;

	job_init(&job);
	id = add_to_fixture(&job, "w");
	run_sql("UPDATE jobs SET checkpoint_samples = 100");	/* as a report of the first run */
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		end_run(id, &endings[i]);
		if (!ok(store_job_get(&store, id, &job, &err) == 0, "the job of the run is read"))
			return;
		is_int(job.progress.position_doubt, endings[i].doubt, endings[i].what);
		near(job.progress.checkpoint_samples, endings[i].known_samples, 0,
		     "the job has the last checkpoint that is known");
		job_release(&job);
	}
}

int main(void)
{
	open_fixture();
	test_ends();
	test_positions();
	return close_fixture();
}
