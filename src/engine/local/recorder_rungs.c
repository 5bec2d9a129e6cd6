/* recorder_rungs.c - the rungs of a sweep: the metric of the run where it reaches them. */
#include <string.h>

#include "recorder.h"

int recorder_read_rungs(struct recorder *r, struct store *store, int64_t job_id, struct err *err)
{
	r->rungs.n_new = 0;
	return store_job_rungs(store, job_id, &r->rungs.known, err);
}

/* A program that reports its metric seldom may reach several rungs at once. */
void recorder_see_rung(struct recorder *r, const struct run *run, const char *name, double value)
{
	struct recorder_rungs *rungs = &r->rungs;
	const struct halving *h = &rungs->known.halving;

	if (h->n_rungs == 0 || strcmp(name, h->metric) != 0)
		return;
	/* The comparison is false for a position that is not known. */
	while (rungs->known.rung + rungs->n_new < h->n_rungs &&
	       run->last_samples >= h->rungs[rungs->known.rung + rungs->n_new]) {
		rungs->samples[rungs->n_new] = run->last_samples;
		rungs->values[rungs->n_new++] = value;
		r->changed = true;
	}
}

int recorder_write_rungs(struct recorder *r, struct store *store, const struct run *run,
			 struct err *err)
{
	struct recorder_rungs *rungs = &r->rungs;
	int first = rungs->known.rung + 1;

	for (int i = 0; i < rungs->n_new; i++)
		if (store_rung_add(store, run->job_id, first + i, rungs->samples[i],
				   rungs->values[i], err))
			return -1;
	rungs->known.rung += rungs->n_new;
	rungs->n_new = 0;
	return 0;
}
