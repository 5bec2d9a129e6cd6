/* allocation_prices.c - prices of kinds by subgradient, and allocations made of the choices at
 * these prices. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "allocation_kinds.h"
#include "pollux/mem.h"

#define STEPS 60
#define STEP 1.5		/* Polyak's step length: less than 2 */
#define SHORTER 0.7		/* after STALLED steps without a lower bound */
#define STALLED 4
#define NEAR 1e-6		/* of the bound: near enough */

struct prices {
	const struct kinds_search *s;
	double price[SCHED_KINDS];
	int *chosen;			/* of each job: its choice at the prices */
	int left[SCHED_KINDS];		/* negative: too many are chosen */
};

double kinds_best_reduced(const struct kinds_search *s, const double *price,
			  const struct kinds_job *job, int *choice)
{
	double best = -HUGE_VAL;

	for (int i = job->first; i < job->first + job->n; i++) {
		double reduced = kinds_reduced(&s->choices[i], price);

		if (reduced > best) {
			best = reduced;
			if (choice)
				*choice = i;
		}
	}
	return best;
}

/* Each job takes its best choice; returns the bound. */
static double choose(struct prices *p)
{
	double bound = 0;

	for (int k = 0; k < p->s->n_kinds; k++) {
		p->left[k] = p->s->capacity[k];
		bound += p->price[k] * p->s->capacity[k];
	}
	for (int j = 0; j < p->s->n_jobs; j++) {
		const struct kinds_choice *c;

		bound += kinds_best_reduced(p->s, p->price, &p->s->jobs[j], &p->chosen[j]);
		c = &p->s->choices[p->chosen[j]];
		p->left[c->kind] -= c->devices;
	}
	return bound;
}

/* --- an allocation from the choices --- */

static void change(struct prices *p, int j, int choice)
{
	const struct kinds_choice *from = &p->s->choices[p->chosen[j]];
	const struct kinds_choice *to = &p->s->choices[choice];

	p->left[from->kind] += from->devices;
	p->left[to->kind] -= to->devices;
	p->chosen[j] = choice;
}

/* The lack of devices, over all kinds, after a change. */
static int lack_after(const struct prices *p, const struct kinds_choice *from,
		      const struct kinds_choice *to)
{
	int lack = 0;

	for (int k = 0; k < p->s->n_kinds; k++) {
		int left = p->left[k] + (from->kind == k ? from->devices : 0) -
			   (to->kind == k ? to->devices : 0);

		lack += left < 0 ? -left : 0;
	}
	return lack;
}

struct move {
	int job, choice;
	double score;
};

/* While devices are lacking: the change that loses least at the prices, for each device that it
 * makes up for. Otherwise: the change that gains most, for each device that it takes. */
static void look_at_job(const struct prices *p, int j, int lack, struct move *best)
{
	const struct kinds_choice *from = &p->s->choices[p->chosen[j]];
	const struct kinds_job *job = &p->s->jobs[j];

	for (int i = job->first; i < job->first + job->n; i++) {
		const struct kinds_choice *to = &p->s->choices[i];
		double gain = to->value - from->value, score;
		int after;

		if (i == p->chosen[j] || (!lack && !(gain > 0)))
			continue;
		after = lack_after(p, from, to);
		if (lack ? after >= lack : after > 0)
			continue;
		if (lack)
			score = (kinds_reduced(to, p->price) - kinds_reduced(from, p->price)) /
				(lack - after);
		else
			score = gain;
		if (score > best->score)
			*best = (struct move){ j, i, score };
	}
}

/* False: no change makes the choices an allocation. */
static bool mend(struct prices *p)
{
	for (;;) {
		static const struct kinds_choice nothing = { .devices = 0 };
		int lack = lack_after(p, &nothing, &nothing);
		struct move best = { .job = -1, .score = -HUGE_VAL };

		for (int j = 0; j < p->s->n_jobs; j++)
			look_at_job(p, j, lack, &best);
		if (best.job < 0)
			return lack == 0;
		change(p, best.job, best.choice);
	}
}

static double worth_of(const struct prices *p)
{
	double worth = 0;

	for (int j = 0; j < p->s->n_jobs; j++)
		worth += p->s->choices[p->chosen[j]].value;
	return worth;
}

static void keep_better(struct prices *p, struct kinds_prices *best, int *at)
{
	double worth;

	if (!mend(p))
		return;
	worth = worth_of(p);
	if (!(worth > best->worth))
		return;
	best->worth = worth;
	for (int j = 0; j < p->s->n_jobs; j++)
		at[j] = p->s->choices[p->chosen[j]].at;
}

/* --- prices --- */

/* Returns false where all devices of each price are chosen: the choices are best. */
static bool move_prices(struct prices *p, const int *left, double distance)
{
	double square = 0;

	for (int k = 0; k < p->s->n_kinds; k++)
		if (left[k] < 0 || p->price[k] > 0)
			square += (double)left[k] * left[k];
	if (!(square > 0))
		return false;
	for (int k = 0; k < p->s->n_kinds; k++)
		p->price[k] = fmax(p->price[k] - distance / square * left[k], 0);
	return true;
}

static bool is_allowed(const struct kinds_search *s)
{
	for (int j = 0; j < s->n_jobs; j++)
		if (!s->jobs[j].n)
			return false;
	return true;
}

struct kinds_prices kinds_prices_of(const struct kinds_search *s, int *at)
{
	struct kinds_prices best = { .bound = HUGE_VAL, .worth = -HUGE_VAL };
	struct prices p = { .s = s, .chosen = xcalloc((size_t)s->n_jobs, sizeof(*p.chosen)) };
	double length = STEP;

	for (int step = 0, stalled = 0; step < STEPS && is_allowed(s); step++) {
		double bound = choose(&p), distance;
		int left[SCHED_KINDS];

		memcpy(left, p.left, sizeof(left));
		if (bound < best.bound) {
			best.bound = bound;
			memcpy(best.price, p.price, sizeof(best.price));
			stalled = 0;
			keep_better(&p, &best, at);
		} else if (++stalled >= STALLED) {
			length *= SHORTER;
			stalled = 0;
		}
		distance = bound - (isfinite(best.worth) ? best.worth : bound - fabs(bound) / 10);
		if (best.bound - best.worth <= NEAR * fabs(best.bound) ||
		    !move_prices(&p, left, length * distance))
			break;
	}
	free(p.chosen);
	return best;
}
