/* allocation_prices.c - prices of kinds by subgradient, and allocations made of the choices at
 * these prices. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "allocation_kinds.h"
#include "pollux/mem.h"

#define STEPS 60
#define STEP 1.5		/* Polyak's step length: less than 2 */
#define SHORTER 0.7		/* the factor after STALLED steps that lowered no bound */
#define STALLED 4
#define MENDS 12			/* steps from one allocation to the next */
#define NEAR 1e-6		/* a gap of this part of the bound is none */

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
static double choose_at_prices(struct prices *p)
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

static void change_choice(struct prices *p, int j, int choice)
{
	const struct kinds_choice *from = &p->s->choices[p->chosen[j]];
	const struct kinds_choice *to = &p->s->choices[choice];

	p->left[from->kind] += from->devices;
	p->left[to->kind] -= to->devices;
	p->chosen[j] = choice;
}

static int lack_of(int left)
{
	return left < 0 ? -left : 0;
}

/* The number of devices that the change frees where too many are chosen. */
static int made_up(const struct prices *p, const struct kinds_choice *from,
		   const struct kinds_choice *to)
{
	int before = p->left[from->kind], there = p->left[to->kind];

	if (from->kind == to->kind)
		return lack_of(before) - lack_of(before + from->devices - to->devices);
	return lack_of(before) + lack_of(there) - lack_of(before + from->devices) -
	       lack_of(there - to->devices);
}

struct move {
	int job, choice;
	double score;
};

/* Finds the change of the job that loses least at the prices, for each device that is freed. */
static void look_for_less(const struct prices *p, int j, struct move *best)
{
	const struct kinds_choice *from = &p->s->choices[p->chosen[j]];
	const struct kinds_job *job = &p->s->jobs[j];
	double now = kinds_reduced(from, p->price);

	if (!from->devices || p->left[from->kind] >= 0)
		return;
	for (int i = job->first; i < job->first + job->n; i++) {
		const struct kinds_choice *to = &p->s->choices[i];
		int less = made_up(p, from, to);
		double score;

		if (less <= 0)
			continue;
		score = (kinds_reduced(to, p->price) - now) / less;
		if (score > best->score)
			*best = (struct move){ j, i, score };
	}
}

/* Finds the change of the job that gains most with the devices left. */
static void look_for_more(const struct prices *p, int j, struct move *best)
{
	const struct kinds_choice *from = &p->s->choices[p->chosen[j]];
	const struct kinds_job *job = &p->s->jobs[j];

	for (int i = job->first; i < job->first + job->n; i++) {
		const struct kinds_choice *to = &p->s->choices[i];
		int own = from->kind == to->kind ? from->devices : 0;

		if (to->devices <= p->left[to->kind] + own &&
		    to->value - from->value > best->score)
			*best = (struct move){ j, i, to->value - from->value };
	}
}

static bool is_lacking(const struct prices *p)
{
	for (int k = 0; k < p->s->n_kinds; k++)
		if (p->left[k] < 0)
			return true;
	return false;
}

/* Changes choices until they are an allocation that no single change betters. False: no change
 * makes them an allocation. */
static bool mend_choices(struct prices *p)
{
	for (;;) {
		bool lacking = is_lacking(p);
		struct move best = { .job = -1, .score = lacking ? -HUGE_VAL : 0 };

		for (int j = 0; j < p->s->n_jobs; j++)
			if (lacking)
				look_for_less(p, j, &best);
			else
				look_for_more(p, j, &best);
		if (best.job < 0)
			return !lacking;
		change_choice(p, best.job, best.choice);
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

	if (!mend_choices(p))
		return;
	worth = worth_of(p);
	if (!(worth > best->worth))
		return;
	best->worth = worth;
	for (int j = 0; j < p->s->n_jobs; j++)
		at[j] = p->s->choices[p->chosen[j]].at;
}

/* --- prices --- */

/* Returns false where the choices take all devices that have a price: such choices are best. */
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
		double bound = choose_at_prices(&p), distance;
		int left[SCHED_KINDS];

		memcpy(left, p.left, sizeof(left));
		if (bound < best.bound) {
			best.bound = bound;
			memcpy(best.price, p.price, sizeof(best.price));
			stalled = 0;
		} else if (++stalled >= STALLED) {
			length *= SHORTER;
			stalled = 0;
		}
		if (step % MENDS == MENDS / 2)
			keep_better(&p, &best, at);
		distance = bound - (isfinite(best.worth) ? best.worth : bound - fabs(bound) / 10);
		if (best.bound - best.worth <= NEAR * fabs(best.bound) ||
		    !move_prices(&p, left, length * distance))
			break;
	}
	if (is_allowed(s)) {
		memcpy(p.price, best.price, sizeof(p.price));
		choose_at_prices(&p);
		keep_better(&p, &best, at);
	}
	free(p.chosen);
	return best;
}
