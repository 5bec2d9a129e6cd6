/* test_account.c - what a run that was cut short has lost; worked out by hand. */
#include "engine/local/supervisor_parts.h"
#include "tap.h"

#define UNKNOWN ((double)NAN)
#define LAUNCH_S 1000.0

static const struct {
	const char *what;
	enum run_outcome outcome;
	double job_checkpoint;			/* of earlier runs */
	double first, last, checkpoint, checkpoint_s;	/* of this one */
	double end_s;
	double want_samples, want_s, want_checkpoint;
	struct fallback unreported;
	enum position_doubt doubt;
} cases[] = {
	{ "a completed run loses nothing", OUTCOME_COMPLETED,
	  500, 510, 800, 700, 1050, 1100, 0, 0, 700,
	  { UNKNOWN, UNKNOWN }, POSITION_KNOWN },
	{ "a run that never started loses nothing", OUTCOME_NOT_STARTED,
	  500, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, 1100, 0, 0, UNKNOWN,
	  { UNKNOWN, UNKNOWN }, POSITION_KNOWN },
	{ "a run stopped at its checkpoint loses nothing", OUTCOME_STOPPED,
	  UNKNOWN, 10, 800, 800, 1090, 1100, 0, 0, 800,
	  { UNKNOWN, UNKNOWN }, POSITION_KNOWN },
	{ "a killed run loses what came after its checkpoint", OUTCOME_FAILED,
	  UNKNOWN, 10, 800, 700, 1050, 1100, 100, 50, 700,
	  { UNKNOWN, UNKNOWN }, POSITION_KNOWN },
	{ "a run lost with its supervisor loses what came after", OUTCOME_LOST,
	  200, 210, 300, 250, 1020, 1030, 50, 10, 250,
	  { UNKNOWN, UNKNOWN }, POSITION_KNOWN },
	{ "a run without a checkpoint of its own loses all of it", OUTCOME_FAILED,
	  500, 510, 800, UNKNOWN, UNKNOWN, 1100, 300, 100, 500,
	  { UNKNOWN, UNKNOWN }, POSITION_KNOWN },
	{ "a run that began from the start loses all since the start", OUTCOME_FAILED,
	  500, 10, 400, UNKNOWN, UNKNOWN, 1100, 390, 100, 10,
	  { UNKNOWN, UNKNOWN }, POSITION_KNOWN },
	{ "a run claims no loss where the job goes on is unknown", OUTCOME_STOPPED,
	  UNKNOWN, 10, 800, UNKNOWN, UNKNOWN, 1100, 0, 0, UNKNOWN,
	  { UNKNOWN, UNKNOWN }, POSITION_KNOWN },
	{ "a run of a job that never saved loses all of it", OUTCOME_FAILED,
	  UNKNOWN, 10, 800, UNKNOWN, UNKNOWN, 1100, 800, 100, UNKNOWN,
	  { 0, LAUNCH_S }, POSITION_KNOWN },
	{ "a run that saved without a report loses what came after", OUTCOME_STOPPED,
	  UNKNOWN, 10, 800, UNKNOWN, UNKNOWN, 1100, 300, 40, UNKNOWN,
	  { 500, 1060 }, POSITION_KNOWN },
	{ "a reported checkpoint counts before an unreported one", OUTCOME_FAILED,
	  500, 510, 800, 700, 1050, 1100, 100, 50, 700, { 0, LAUNCH_S }, POSITION_KNOWN },
	{ "a run that reported nothing leaves the job where it stood", OUTCOME_FAILED,
	  500, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, 1100, 0, 0, 500,
	  { UNKNOWN, UNKNOWN }, POSITION_KNOWN },
	{ "a run that began later after an unseen end counts from there", OUTCOME_FAILED,
	  420, 675, 705, UNKNOWN, UNKNOWN, 1100, 30, 100, 675,
	  { UNKNOWN, UNKNOWN }, POSITION_AT_LEAST },
	{ "a run that began later after a seen end counts from the job's", OUTCOME_FAILED,
	  420, 675, 705, UNKNOWN, UNKNOWN, 1100, 285, 100, 420,
	  { UNKNOWN, UNKNOWN }, POSITION_KNOWN },
	{ "a run that began earlier after an unseen end counts from there", OUTCOME_FAILED,
	  420, 10, 40, UNKNOWN, UNKNOWN, 1100, 30, 100, 10,
	  { UNKNOWN, UNKNOWN }, POSITION_AT_LEAST },
	{ "a run that told nothing after an unseen end loses nothing", OUTCOME_FAILED,
	  420, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, 1100, 0, 0, 420,
	  { UNKNOWN, UNKNOWN }, POSITION_AT_LEAST },
	{ "a run with a checkpoint ahead of its last report loses nothing", OUTCOME_STOPPED,
	  UNKNOWN, 10, 600, 700, 1050, 1100, 0, 0, 700,
	  { UNKNOWN, UNKNOWN }, POSITION_KNOWN },
	{ "a run that ended just before its checkpoint loses no time", OUTCOME_LOST,
	  UNKNOWN, 10, 800, 700, 1050, 1049, 100, 0, 700,
	  { UNKNOWN, UNKNOWN }, POSITION_KNOWN },
};

static void same(double got, double want, const char *what)
{
	if (isnan(want))
		ok(isnan(got), what);
	else
		near(got, want, 0, what);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		scoped(job_release) struct job job = { 0 };
		scoped(run_release) struct run run = { 0 };

		job_init(&job);
		run_init(&run);
		job.progress.checkpoint_samples = cases[i].job_checkpoint;
		job.progress.position_doubt = cases[i].doubt;
		run.outcome = cases[i].outcome;
		run.launch_boot_s = LAUNCH_S;
		run.first_samples = cases[i].first;
		run.last_samples = cases[i].last;
		run.checkpoint_samples = cases[i].checkpoint;
		run.checkpoint_boot_s = cases[i].checkpoint_s;
		account_for_loss(&job, &run, &cases[i].unreported, cases[i].end_s);
		near(run.lost_samples, cases[i].want_samples, 0, cases[i].what);
		near(run.lost_s, cases[i].want_s, 0,
		     "the lost seconds are those worked out by hand");
		same(run.checkpoint_samples, cases[i].want_checkpoint,
		     "the run stands where it was worked out by hand");
	}
	return done();
}
