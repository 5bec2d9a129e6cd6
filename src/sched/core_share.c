/* core_share.c - see pollux/core_share.h. */
#include "pollux/core_share.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"

#define NOBODY (-1)

struct binding {
	const struct cores_device *devices;
	int n_devices;
	struct cores_run *runs;
	int n_runs;
	int home[CORES_MAX];		/* device; NOBODY: no device is near the processor */
	int taken[CORES_MAX];		/* by a run that wants processors; NOBODY */
	int *first_home;		/* by run: the least processor near its devices */
};

static bool wants(const struct binding *s, int run)
{
	return run >= 0 && s->runs[run].wanted > 0;
}

/* Gives each processor to the near device that has fewest. */
static void find_homes(struct binding *s)
{
	autofree int *count = xcalloc((size_t)s->n_devices + 1, sizeof(*count));

	for (int p = 0; p < CORES_MAX; p++) {
		s->home[p] = NOBODY;
		for (int d = 0; d < s->n_devices; d++)
			if (core_set_has(&s->devices[d].near, p) &&
			    (s->home[p] == NOBODY || count[d] < count[s->home[p]]))
				s->home[p] = d;
		if (s->home[p] != NOBODY)
			count[s->home[p]]++;
	}
	/* Slots that share a processor: those that have no home keep others from taking theirs. */
	for (int d = 0; d < s->n_devices; d++)
		for (int p = 0; count[d] == 0 && s->devices[d].run != CORES_IDLE && p < CORES_MAX;
		     p++)
			if (core_set_has(&s->devices[d].near, p))
				s->home[p] = d;
}

static bool is_near(const struct binding *s, int run, int p)
{
	if (core_set_has(&s->runs[run].near, p))
		return true;
	for (int d = 0; d < s->n_devices; d++)
		if (s->devices[d].run == run && core_set_has(&s->devices[d].near, p))
			return true;
	return false;
}

static int count_taken(const struct binding *s, int run)
{
	int n = 0;

	for (int p = 0; p < CORES_MAX; p++)
		n += s->taken[p] == run;
	return n;
}

/* A run takes what is at home at its devices; those that it has now come first. */
static void take_own(struct binding *s, int run)
{
	int left = s->runs[run].wanted;

	for (int round = 0; round < 2; round++)
		for (int p = 0; left > 0 && p < CORES_MAX; p++)
			if (s->home[p] != NOBODY && s->devices[s->home[p]].run == run &&
			    s->taken[p] == NOBODY &&
			    (round > 0 || core_set_has(&s->runs[run].now, p))) {
				s->taken[p] = run;
				left--;
			}
}

/* The lower the better: processors that the run has now, those near its devices, any, and last
 * those that another run has now. */
static long rank_of(const struct binding *s, int run, int p)
{
	long distance = labs((long)p - s->first_home[run]);

	if (core_set_has(&s->runs[run].now, p))
		return distance;
	for (int r = 0; r < s->n_runs; r++)
		if (r != run && wants(s, r) && core_set_has(&s->runs[r].now, p))
			return distance + 3L * CORES_MAX;
	return distance + (is_near(s, run, p) ? 1L : 2L) * CORES_MAX;
}

static bool take_one(struct binding *s, int run)
{
	int best = NOBODY;

	for (int p = 0; p < CORES_MAX; p++) {
		int holder = s->home[p] == NOBODY ? NOBODY : s->devices[s->home[p]].run;

		if (s->home[p] == NOBODY || s->taken[p] != NOBODY ||
		    (holder != CORES_IDLE && !wants(s, holder)))
			continue;
		if (best == NOBODY || rank_of(s, run, p) < rank_of(s, run, best))
			best = p;
	}
	if (best != NOBODY)
		s->taken[best] = run;
	return best != NOBODY;
}

/* --- by gain --- */

/* How much the run's goodput grows by one more processor: the logarithm of the quotient of the step
 * times. */
static double gain_of(const struct binding *s, int run)
{
	const struct cores_run *r = &s->runs[run];
	double part = r->base > 0 ? r->part : 1, n = count_taken(s, run);
	double base = r->base > 0 ? r->base : 1;

	if (!(n > 0))
		return HUGE_VAL;
	return log((1 - part + part * base / n) / (1 - part + part * base / (n + 1)));
}

/* Gives processors to the run that gains most; of runs that gain as much, to the first. A run that
 * finds no processor is full. */
static void take_by_gain(struct binding *s)
{
	autofree bool *full = xcalloc((size_t)s->n_runs, sizeof(*full));

	for (int best = 0; best != NOBODY;) {
		best = NOBODY;
		for (int r = 0; r < s->n_runs; r++)
			if (wants(s, r) && !full[r] && count_taken(s, r) < s->runs[r].wanted &&
			    (best == NOBODY || gain_of(s, r) > gain_of(s, best)))
				best = r;
		if (best != NOBODY && !take_one(s, best))
			full[best] = true;
	}
}

static void take_in_turn(struct binding *s)
{
	bool any = true;

	while (any) {
		any = false;
		for (int r = 0; r < s->n_runs; r++)
			if (wants(s, r) && count_taken(s, r) < s->runs[r].wanted)
				any |= take_one(s, r);
	}
}

static void bind(const struct binding *s, int run)
{
	struct cores_run *r = &s->runs[run];
	bool less = false, any = false;

	for (int p = 0; p < CORES_MAX; p++) {
		bool mine = s->taken[p] == run, near = !wants(s, run) && is_near(s, run, p);

		if (mine || (near && s->taken[p] == NOBODY)) {
			core_set_add(&r->given, p);
			any = true;
		} else if (near) {
			less = true;
		}
	}
	r->bound = any && (less || wants(s, run));
}

void cores_share(const struct cores_device *devices, int n_devices, struct cores_run *runs,
		 int n_runs)
{
	struct binding s = { devices, n_devices, runs, n_runs, { 0 }, { 0 }, NULL };
	bool any = false, any_is_known = false;

	for (int r = 0; r < n_runs; r++) {
		runs[r].bound = false;
		memset(&runs[r].given, 0, sizeof(runs[r].given));
		any |= runs[r].wanted > 0;
		any_is_known |= runs[r].wanted > 0 && runs[r].base > 0;
	}
	if (!any)
		return;
	find_homes(&s);
	s.first_home = xcalloc((size_t)n_runs, sizeof(*s.first_home));
	for (int p = CORES_MAX - 1; p >= 0; p--) {
		s.taken[p] = NOBODY;
		for (int r = 0; r < n_runs; r++)
			if (is_near(&s, r, p))
				s.first_home[r] = p;
	}
	for (int r = 0; r < n_runs; r++)
		if (wants(&s, r))
			take_own(&s, r);
	if (any_is_known)
		take_by_gain(&s);
	else
		take_in_turn(&s);
	for (int r = 0; r < n_runs; r++)
		bind(&s, r);
	free(s.first_home);
}
