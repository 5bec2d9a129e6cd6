/* slurm_poll.c - whether a run lives, and the end of a run that does not. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/clock.h"
#include "pollux/mem.h"
#include "../local/local.h"
#include "slurm.h"
#include "slurm_ends.h"

/* --- the decision --- */

double slurm_margin_s(double lease_s)
{
	return fmax(5, lease_s / 4);
}

/* Where a job has the claim, only the lease and the files end.K tell that no program of the run can
 * live: Slurm forgets a job whose node is cut off while the program there goes on. */
static enum engine_answer judge_claimed(const struct slurm_facts *f)
{
	bool stale = f->lease_age_s > f->lease_s + slurm_margin_s(f->lease_s);

	if (f->ends >= f->nodes && (stale || f->slurm == SLURM_GONE))
		return ENGINE_GONE;
	return stale ? ENGINE_GONE : ENGINE_ALIVE;
}

enum engine_answer slurm_judge(const struct slurm_facts *f)
{
	if (f->by_pass)
		return ENGINE_GONE;
	if (f->claimed)
		return judge_claimed(f);
	if (!f->launched || f->slurm == SLURM_GONE)
		return ENGINE_UNATTENDED;
	return f->slurm == SLURM_KNOWN ? ENGINE_ALIVE : ENGINE_UNKNOWN;
}

/* --- the facts --- */

static void read_lease(const char *dir, const char *launch, struct slurm_facts *f)
{
	double touched = slurm_file_time_s(dir, "lease");

	f->lease_s = slurm_number(launch, "lease_s", INFINITY);
	/* the time of the claim, for a job that has not come to its first lease */
	if (isnan(touched))
		touched = slurm_file_time_s(dir, "claim");
	f->lease_age_s = slurm_touch(dir, "probe") - touched;
}

bool slurm_programs_gone(const char *dir)
{
	struct slurm_facts f = { .lease_age_s = NAN, .lease_s = NAN };
	struct text launch = TEXT_INIT, claim = TEXT_INIT;
	struct err ignored;
	bool gone = !slurm_read(dir, "launch", 0, &launch) ||
		    slurm_make(dir, "claim", "pass\n", &ignored) == 0;

	f.nodes = (int)slurm_number(launch.data, "nodes", 1);
	if (!gone && slurm_read(dir, "claim", 0, &claim) && !text_starts_with(claim.data, "pass"))
		read_lease(dir, launch.data, &f);
	gone = gone || text_starts_with(claim.data, "pass") ||
	       slurm_count_ends(dir, f.nodes) >= f.nodes ||
	       f.lease_age_s > f.lease_s + slurm_margin_s(f.lease_s);
	text_release(&launch);
	text_release(&claim);
	return gone;
}

static enum slurm_knows look_into_queue(const char *store_id, const struct run *run)
{
	const struct slurm_queue *q = slurm_queue();

	if (!q->known)
		return SLURM_UNKNOWN;
	return slurm_job_of(q, store_id, run) ? SLURM_KNOWN : SLURM_GONE;
}

static struct slurm_facts facts_of(const char *store_id, const struct run *run)
{
	struct slurm_facts f = { .lease_age_s = NAN, .lease_s = NAN };
	struct text launch = TEXT_INIT, claim = TEXT_INIT;
	struct slurm_handle h;

	slurm_handle_parse(run->handle, &h);
	f.launched = h.dir[0] && slurm_read(h.dir, "launch", 0, &launch);
	f.claimed = f.launched && slurm_read(h.dir, "claim", 0, &claim);
	f.by_pass = f.claimed && text_starts_with(claim.data, "pass");
	f.nodes = (int)slurm_number(launch.data, "nodes", 1);
	if (f.claimed && !f.by_pass) {
		read_lease(h.dir, launch.data, &f);
		f.ends = slurm_count_ends(h.dir, f.nodes);
	}
	f.slurm = f.by_pass || !f.launched ? SLURM_UNKNOWN : look_into_queue(store_id, run);
	slurm_handle_release(&h);
	text_release(&launch);
	text_release(&claim);
	return f;
}

int slurm_poll(const struct engine_context *at, const struct run *const *runs, int n,
	       enum engine_answer *answers, struct err *err)
{
	char *store_id = NULL;

	if (store_identity(at->store, &store_id, err))
		return -1;
	for (int i = 0; i < n; i++) {
		struct slurm_facts f = facts_of(store_id, runs[i]);

		answers[i] = slurm_judge(&f);
		/* a run that was started is never started again */
		if (answers[i] == ENGINE_UNATTENDED && runs[i]->state != RUN_ASSIGNED)
			answers[i] = ENGINE_UNKNOWN;
	}
	free(store_id);
	return 0;
}

/* --- the end --- */

/* Makes the file that keeps a late job of Slurm from beginning the program. */
static int declare_over(const char *dir, struct err *err)
{
	if (!dir[0] || slurm_has(dir, "over") || slurm_make(dir, "over", "", err) == 0 ||
	    errno == ENOENT || errno == EEXIST)
		return 0;
	return -1;
}

/* Where nodes have not told, the run ended with its last sign of life. */
static void set_end_time(const char *dir, struct run *run)
{
	struct text launch = TEXT_INIT;
	double ended_s;

	slurm_read(dir, "launch", 0, &launch);
	ended_s = slurm_ended_time_s(dir, (int)slurm_number(launch.data, "nodes", 1));
	slurm_end_at(dir, isnan(ended_s) ? slurm_file_time_s(dir, "lease") : ended_s, run);
	text_release(&launch);
}

/* Slurm may still have the job, of which no program is left. */
int slurm_end(const struct engine_context *at, struct run *run, struct err *err)
{
	struct slurm_handle h;
	int rc;

	slurm_handle_parse(run->handle, &h);
	rc = declare_over(h.dir, err);
	if (rc == 0) {
		slurm_cancel(at, run, NULL);
		set_end_time(h.dir, run);
	}
	slurm_handle_release(&h);
	if (rc || slurm_has_ended(at, run))
		return rc;
	return run_end_lost(at->paths, at->store, run, err);
}
