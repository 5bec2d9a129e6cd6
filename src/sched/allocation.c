/* allocation.c - the choices of all jobs, prices of kinds where there are too many states for an
 * exact search, and allocations of a policy's input: see allocation.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "allocation.h"
#include "pollux/mem.h"

#define MOST_LOOKS 4000000.0	/* choices times states: some tens of milliseconds */
#define STEPS 60
#define STEP 1.5		/* Polyak's step length: less than 2 */
#define SHORTER 0.7		/* the factor after STALLED steps that lowered no bound */
#define STALLED 4
#define MENDS 12			/* steps from one allocation to the next */
#define NARROW 1e-9		/* between prices of one kind, as a part of the price */
#define FEW_LOOKS 1000000.0	/* of one kind: prices would take longer */
#define NEAR 1e-6		/* a gap of this part of the bound is none */

static double states_of(const int *capacity, int n)
{
	double states = 1;

	for (int k = 0; k < n; k++)
		states *= capacity[k] + 1;
	return states;
}

/* --- prices of kinds by subgradient --- */

struct prices {
	const struct search *s;
	double price[SCHED_KINDS];	/* of a device */
	int *chosen;			/* of each job: its choice at the prices */
	int left[SCHED_KINDS];		/* negative: too many are chosen */
};

struct best_prices {
	double price[SCHED_KINDS];
	double bound;		/* no allocation is worth more */
	double worth;		/* of the best allocation found; -INFINITY: none */
};

static double reduced(const struct choice *c, const double *price)
{
	return c->value - price[c->kind] * c->devices;
}

/* The largest worth minus price among the job's choices; *choice (may be NULL): that choice. */
static double best_reduced(const struct search *s, const double *price, int j, int *choice)
{
	double best = -HUGE_VAL;

	for (int i = s->jobs[j].first; i < s->jobs[j].first + s->jobs[j].n; i++) {
		double value = reduced(&s->choices[i], price);

		if (value > best) {
			best = value;
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
		const struct choice *c;

		bound += best_reduced(p->s, p->price, j, &p->chosen[j]);
		c = &p->s->choices[p->chosen[j]];
		p->left[c->kind] -= c->devices;
	}
	return bound;
}

/* --- an allocation from the choices at the prices --- */

static int lack_of(int left)
{
	return left < 0 ? -left : 0;
}

struct move {
	int job, choice;
	double score;
};

/* Finds the change of the job that loses least at the prices, for each device that is freed where
 * too many are chosen. */
static void look_for_less(const struct prices *p, int j, struct move *best)
{
	const struct choice *from = &p->s->choices[p->chosen[j]];
	const struct choice_list *list = &p->s->jobs[j];
	double now = reduced(from, p->price);
	int before = p->left[from->kind];

	if (!from->devices || before >= 0)
		return;
	for (int i = list->first; i < list->first + list->n; i++) {
		const struct choice *to = &p->s->choices[i];
		int there = p->left[to->kind], less;
		double score;

		if (from->kind == to->kind)
			less = lack_of(before) - lack_of(before + from->devices - to->devices);
		else
			less = lack_of(before) + lack_of(there) -
			       lack_of(before + from->devices) - lack_of(there - to->devices);
		if (less <= 0)
			continue;
		score = (reduced(to, p->price) - now) / less;
		if (score > best->score)
			*best = (struct move){ j, i, score };
	}
}

/* Finds the change of the job that gains most with the devices left. */
static void look_for_more(const struct prices *p, int j, struct move *best)
{
	const struct choice *from = &p->s->choices[p->chosen[j]];
	const struct choice_list *list = &p->s->jobs[j];

	for (int i = list->first; i < list->first + list->n; i++) {
		const struct choice *to = &p->s->choices[i];
		int own = from->kind == to->kind ? from->devices : 0;

		if (to->devices <= p->left[to->kind] + own &&
		    to->value - from->value > best->score)
			*best = (struct move){ j, i, to->value - from->value };
	}
}

/* Changes choices until they are an allocation that no single change betters. False: no change
 * makes them an allocation. */
static bool mend_choices(struct prices *p)
{
	for (;;) {
		const struct choice *from, *to;
		struct move best = { .job = -1 };
		bool lacking = false;

		for (int k = 0; k < p->s->n_kinds; k++)
			lacking |= p->left[k] < 0;
		best.score = lacking ? -HUGE_VAL : 0;
		for (int j = 0; j < p->s->n_jobs; j++)
			if (lacking)
				look_for_less(p, j, &best);
			else
				look_for_more(p, j, &best);
		if (best.job < 0)
			return !lacking;
		from = &p->s->choices[p->chosen[best.job]];
		to = &p->s->choices[best.choice];
		p->left[from->kind] += from->devices;
		p->left[to->kind] -= to->devices;
		p->chosen[best.job] = best.choice;
	}
}

static void keep_better(struct prices *p, struct best_prices *best, int *at)
{
	double worth = 0;

	if (!mend_choices(p))
		return;
	for (int j = 0; j < p->s->n_jobs; j++)
		worth += p->s->choices[p->chosen[j]].value;
	if (!(worth > best->worth))
		return;
	best->worth = worth;
	for (int j = 0; j < p->s->n_jobs; j++)
		at[j] = p->s->choices[p->chosen[j]].at;
}

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

/* Finds prices. at (room for all jobs): the best allocation found on the way. */
static struct best_prices prices_of(const struct search *s, int *at)
{
	struct best_prices best = { .bound = HUGE_VAL, .worth = -HUGE_VAL };
	struct prices p = { .s = s };
	double length = STEP;

	for (int j = 0; j < s->n_jobs; j++)
		if (!s->jobs[j].n)
			return best;
	p.chosen = xcalloc((size_t)s->n_jobs, sizeof(*p.chosen));
	for (int step = 0, stalled = 0; step < STEPS; step++) {
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
	memcpy(p.price, best.price, sizeof(p.price));
	choose_at_prices(&p);
	keep_better(&p, &best, at);
	free(p.chosen);
	return best;
}

/* The same of one kind, by bisection: at a higher price, the jobs choose no more devices. */
static struct best_prices price_of_one(const struct search *s, int *at)
{
	struct best_prices best = { .bound = HUGE_VAL, .worth = -HUGE_VAL };
	struct prices p = { .s = s };
	double low = 0, high = 0;

	p.chosen = xcalloc((size_t)s->n_jobs, sizeof(*p.chosen));
	for (int i = 0; i < s->n_choices; i++)
		high = fmax(high, fabs(s->choices[i].value));
	for (high *= 2; high - low > NARROW * high;) {
		double middle = (low + high) / 2, bound;

		p.price[0] = middle;
		bound = choose_at_prices(&p);
		if (bound < best.bound) {
			best.bound = bound;
			best.price[0] = middle;
		}
		*(p.left[0] < 0 ? &low : &high) = middle;
	}
	p.price[0] = high;
	choose_at_prices(&p);
	keep_better(&p, &best, at);
	free(p.chosen);
	return best;
}

/* Keeps the choices that may be in a best allocation. */
static void keep_possible(struct search *s, const struct best_prices *p)
{
	double slack = (p->bound - p->worth) * (1 + 1e-9) + 1e-9 * fabs(p->bound);
	int n = 0;

	for (int j = 0; j < s->n_jobs; j++) {
		struct choice_list *list = &s->jobs[j];
		double best = best_reduced(s, p->price, j, NULL);
		int first = n;

		for (int i = list->first; i < list->first + list->n; i++)
			if (best - reduced(&s->choices[i], p->price) <= slack)
				s->choices[n++] = s->choices[i];
		*list = (struct choice_list){ first, n - first };
	}
	s->n_choices = n;
}

/* Takes the jobs that have a single choice left, and their devices, out of the search. */
static bool search_possible(const struct search *all, double most_looks, int *chosen)
{
	size_t n = (size_t)all->n_jobs;
	struct search s = *all;
	autofree struct allocation_job *given = xcalloc(n, sizeof(*given));
	autofree int *index = xcalloc(n, sizeof(*index)), *found = xcalloc(n, sizeof(*found));
	bool done = false;

	s.given = given;
	s.jobs = xcalloc(n, sizeof(*s.jobs));
	s.n_jobs = 0;
	for (int j = 0; j < all->n_jobs; j++) {
		const struct choice *c = &all->choices[all->jobs[j].first];

		if (all->jobs[j].n == 1) {
			chosen[j] = all->jobs[j].first;
			s.capacity[c->kind] -= c->devices;
			continue;
		}
		given[s.n_jobs] = all->given[j];
		s.jobs[s.n_jobs] = all->jobs[j];
		index[s.n_jobs++] = j;
	}
	if (states_of(s.capacity, s.n_kinds) * s.n_choices <= most_looks)
		done = search_all(&s, found);
	for (int j = 0; done && j < s.n_jobs; j++)
		chosen[index[j]] = found[j];
	free(s.jobs);
	return done;
}

/* --- all --- */

static void add_choices(struct search *s, int j)
{
	const double *value = s->given[j].value;
	int first = s->n_choices;

	for (int k = 0, none = 0; k < s->n_kinds; none += s->capacity[k++])
		for (int r = s->capacity[k]; r >= 1; r--)
			if (isfinite(value[none + r]))
				s->choices[s->n_choices++] = (struct choice){
					.at = none + r, .kind = k, .devices = r,
					.value = value[none + r],
				};
	if (isfinite(value[0]))
		s->choices[s->n_choices++] = (struct choice){ .value = value[0] };
	s->jobs[j] = (struct choice_list){ first, s->n_choices - first };
}

static void set_choices(struct search *s)
{
	int n = 0;

	for (int j = 0; j < s->n_jobs; j++)
		for (int r = 0; r <= s->n_devices; r++)
			n += isfinite(s->given[j].value[r]) ? 1 : 0;
	s->jobs = xcalloc((size_t)s->n_jobs, sizeof(*s->jobs));
	s->choices = xcalloc((size_t)n, sizeof(*s->choices));
	for (int j = 0; j < s->n_jobs; j++)
		add_choices(s, j);
}

bool allocation_best(const struct allocation_job *jobs, int n_jobs, const int *capacity,
		     int n_kinds, int *at, double *gap)
{
	struct search s = { .given = jobs, .n_jobs = n_jobs, .n_kinds = n_kinds };
	autofree int *chosen = xcalloc((size_t)n_jobs, sizeof(*chosen));
	struct best_prices p = { .worth = -HUGE_VAL };
	double states = states_of(capacity, n_kinds);
	bool by_prices, found = false;

	for (int k = 0; k < n_kinds; k++)
		s.n_devices += s.capacity[k] = capacity[k];
	set_choices(&s);
	memset(at, 0, (size_t)n_jobs * sizeof(*at));
	by_prices = n_kinds > 1 ? states > ALLOCATION_STATES : states * s.n_choices > FEW_LOOKS;
	if (by_prices)
		p = n_kinds > 1 ? prices_of(&s, at) : price_of_one(&s, at);
	if (isfinite(p.worth)) {
		keep_possible(&s, &p);
		found = search_possible(&s, n_kinds > 1 ? MOST_LOOKS : HUGE_VAL, chosen);
	} else if (n_kinds == 1 || !by_prices) {
		found = search_all(&s, chosen);
	}
	for (int j = 0; found && j < n_jobs; j++)
		at[j] = s.choices[chosen[j]].at;
	if (gap)
		*gap = found || !(p.worth > 0) ? 0 : fmax(p.bound / p.worth - 1, 0);
	free(s.jobs);
	free(s.choices);
	return found || isfinite(p.worth);
}

bool allocation_of_curves(const struct curves *curves, const struct allocation_job *jobs, int *at)
{
	int capacity[SCHED_KINDS];

	for (int k = 0; k < curves->n_kinds; k++)
		capacity[k] = curves->kinds[k].n;
	return allocation_best(jobs, curves->in->n_jobs, capacity, curves->n_kinds, at,
			       curves->in->gap);
}

void allocation_values(const struct curves *curves, const struct claims *claims, int index,
		       allocation_worth *worth, const void *policy, double *value)
{
	const struct curve *c = &curves->items[index];

	for (int r = 0; r <= curves->n_devices; r++) {
		bool may = !isnan(c->of[r]) && claim_allows(&claims->items[index], r);

		/* The bounds keep the value finite, whatever the input is. */
		value[r] = may ? fmax(-1e300, fmin(worth(policy, c, r), 1e300)) : -HUGE_VAL;
	}
}

double *allocation_of_claims(const struct curves *curves, const struct claims *claims,
			     allocation_worth *worth, const void *policy, int *at)
{
	size_t n_jobs = (size_t)curves->in->n_jobs, width = (size_t)curves->n_devices + 1;
	double *values = xcalloc(n_jobs * width, sizeof(*values));
	autofree struct allocation_job *jobs = xcalloc(n_jobs, sizeof(*jobs));

	for (size_t i = 0; i < n_jobs; i++) {
		allocation_values(curves, claims, (int)i, worth, policy, &values[i * width]);
		jobs[i] = (struct allocation_job){ curves->items[i].held, &values[i * width] };
	}
	allocation_of_curves(curves, jobs, at);
	return values;
}
