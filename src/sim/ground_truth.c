/* ground_truth.c - look up, and remember. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "ground_truth.h"
#include "pollux/mem.h"

/* --- classes --- */

static struct place_class class_of_gpus(const struct application *a, const int *gpus, int n,
					int replicas)
{
	struct place_class c = { .application = a, .nodes = n, .replicas = replicas };
	char digits[PLACEMENT_DIGITS + 1];

	if (placement_digits(gpus, n, digits, sizeof(digits)))
		c.exact = application_placement(a, digits);
	if (!c.exact && c.nodes > a->max_nodes)
		c.nodes = a->max_nodes;
	return c;
}

struct place_class place_class_of(const struct application *a, const struct placement *p)
{
	return class_of_gpus(a, p->gpus, p->n, p->replicas);
}

struct place_class place_class_packed(const struct application *a, int replicas, int gpus_per_node)
{
	int gpus[PLACEMENT_DIGITS + 1], n = (replicas + gpus_per_node - 1) / gpus_per_node;

	for (int i = 0; i < n && i <= PLACEMENT_DIGITS; i++)
		gpus[i] = i < n - 1 ? gpus_per_node : replicas - (n - 1) * gpus_per_node;
	return class_of_gpus(a, gpus, n, replicas);
}

/* --- times --- */

static double between(double x0, double x1, double y0, double y1, double x)
{
	return (y1 - y0) / (x1 - x0) * (x - x0) + y0;
}

static bool interpolate(const struct placement_times *p, double m, struct times *times)
{
	const double *x = p->local_batch_size;
	int i = 1;

	if (m < x[0] || m > x[p->n - 1])
		return false;
	if (p->n == 1) {
		*times = p->times[0];
		return true;
	}
	while (i < p->n - 1 && x[i] < m)
		i++;
	times->step_s = between(x[i - 1], x[i], p->times[i - 1].step_s, p->times[i].step_s, m);
	times->sync_s = between(x[i - 1], x[i], p->times[i - 1].sync_s, p->times[i].sync_s, m);
	return true;
}

static int look_up(const struct place_class *c, int64_t m, struct times *times, struct err *err)
{
	bool found = c->exact ? interpolate(c->exact, (double)m, times)
			      : grid_find(&c->application->grid, c->nodes, c->replicas, (double)m,
					  times);

	if (found)
		return 0;
	return err_set(err, EX_DATAERR,
		       "the profiles of '%s' do not cover a local batch of %lld on %d node%s "
		       "with %d GPU%s%s%s: '%s/%s'",
		       c->application->name, (long long)m, c->nodes, c->nodes == 1 ? "" : "s",
		       c->replicas, c->replicas == 1 ? "" : "s", c->exact ? ", placement " : "",
		       c->exact ? c->exact->digits : "", c->application->directory,
		       c->exact ? "placements.csv" : "*.csv");
}

static size_t hash_of(const struct place_class *c, int64_t m)
{
	uint64_t z = (uint64_t)(uintptr_t)(c->exact ? (const void *)c->exact
						    : (const void *)c->application);

	z += (uint64_t)c->nodes * 0x9e3779b97f4a7c15 + (uint64_t)c->replicas * 0xbf58476d1ce4e5b9;
	z += (uint64_t)m * 0x94d049bb133111eb;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return (size_t)(z ^ (z >> 31));
}

static bool is_same(const struct truth_entry *e, const struct place_class *c, int64_t m)
{
	return e->place.application == c->application && e->place.exact == c->exact &&
	       e->place.nodes == c->nodes && e->place.replicas == c->replicas &&
	       e->local_batch_size == m;
}

/* Returns the entry of this key, or the empty entry where a new one belongs. */
static struct truth_entry *find_truth_entry(const struct truth *t, const struct place_class *c,
					    int64_t m)
{
	size_t i = hash_of(c, m) & (t->capacity - 1);

	while (t->entries[i].place.application && !is_same(&t->entries[i], c, m))
		i = (i + 1) & (t->capacity - 1);
	return &t->entries[i];
}

static void grow_truth(struct truth *t)
{
	struct truth old = *t;

	t->capacity = old.capacity ? 2 * old.capacity : 1024;
	t->entries = xcalloc(t->capacity, sizeof(*t->entries));
	for (size_t i = 0; i < old.capacity; i++) {
		const struct truth_entry *e = &old.entries[i];

		if (e->place.application)
			*find_truth_entry(t, &e->place, e->local_batch_size) = *e;
	}
	free(old.entries);
}

int truth_times(struct truth *t, const struct place_class *c, int64_t local_batch_size,
		struct times *times, struct err *err)
{
	struct truth_entry *e;

	if (2 * (t->count + 1) > t->capacity)
		grow_truth(t);
	e = find_truth_entry(t, c, local_batch_size);
	if (!e->place.application) {
		if (look_up(c, local_batch_size, &e->times, err))
			return -1;
		e->place = *c;
		e->local_batch_size = local_batch_size;
		t->count++;
	}
	*times = e->times;
	return 0;
}

void truth_release(struct truth *t)
{
	free(t->entries);
	*t = (struct truth){ 0 };
}

double times_of_update(struct times times, int passes)
{
	return times.step_s + (passes - 1) * (times.step_s - times.sync_s);
}

/* --- gradients --- */

/* The validations on both sides of a batch size; both are the same for a validated batch size. */
struct sides {
	const struct validation *low, *high;
	double batch_size;
};

static struct sides sides_of(const struct application *a, double batch_size)
{
	struct sides s = { .low = a->validations,
			   .high = a->validations,
			   .batch_size = batch_size };
	const struct validation *last = &a->validations[a->n_validations - 1];

	assert(batch_size >= (double)a->initial_batch_size &&
	       batch_size <= (double)a->max_batch_size);
	while (s.high < last && (double)s.high->batch_size < batch_size)
		s.high++;
	s.low = (double)s.high->batch_size > batch_size ? s.high - 1 : s.high;
	return s;
}

static double weigh(const struct sides *s, double low, double high)
{
	double l = (double)s->low->batch_size, u = (double)s->high->batch_size;

	if (s->low == s->high)
		return low;
	return ((s->batch_size - l) * high + (u - s->batch_size) * low) / (u - l);
}

struct gradients truth_gradients(const struct application *a, double batch_size, int epoch)
{
	struct sides s = sides_of(a, batch_size);

	return (struct gradients){
		.sqr = weigh(&s, s.low->grad_sqr[epoch], s.high->grad_sqr[epoch]),
		.var = weigh(&s, s.low->grad_var[epoch], s.high->grad_var[epoch]),
	};
}

double truth_iterations(const struct application *a, double batch_size, int epoch)
{
	struct sides s = sides_of(a, batch_size);

	return weigh(&s, s.low->iteration[epoch], s.high->iteration[epoch]);
}

double gradients_gain(struct gradients g, double scale)
{
	return (g.var + g.sqr) / (g.var / scale + g.sqr);
}

double gradients_noise_scale(const struct application *a, struct gradients g)
{
	return g.sqr > 0 ? (double)a->initial_batch_size * g.var / g.sqr : HUGE_VAL;
}
