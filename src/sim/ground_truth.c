/* ground_truth.c - looks up times, and remembers them; gradients and sizes. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "application.h"
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

int truth_times(struct memo *memo, const struct place_class *c, int64_t local_batch_size,
		struct times *times, struct err *err)
{
	uint64_t key[2] = { MEMO_KEY };
	struct memo_entry *e;

	memo_hash(key, (uint64_t)(uintptr_t)c->application);
	memo_hash(key, (uint64_t)(uintptr_t)c->exact);
	memo_hash(key, (uint64_t)c->nodes << 32 | (uint64_t)c->replicas);
	memo_hash(key, (uint64_t)local_batch_size);
	e = memo_find(memo, key);
	if (!e->key[0] && look_up(c, local_batch_size, times, err))
		return -1;
	if (!e->key[0]) {
		memo_set(memo, e, key);
		e->value[0] = times->step_s;
		e->value[1] = times->sync_s;
	}
	*times = (struct times){ e->value[0], e->value[1] };
	return 0;
}

/* --- what is remembered --- */

void memo_hash(uint64_t key[2], uint64_t word)
{
	for (int k = 0; k < 2; k++) {
		key[k] = (key[k] ^ word) * 0x100000001b3;
		key[k] ^= key[k] >> (29 + k);
	}
}

static struct memo_entry *entry_of(const struct memo *memo, const uint64_t key[2])
{
	size_t i = (size_t)key[1] & (memo->capacity - 1);

	while (memo->entries[i].key[0] &&
	       (memo->entries[i].key[0] != (key[0] | 1) || memo->entries[i].key[1] != key[1]))
		i = (i + 1) & (memo->capacity - 1);
	return &memo->entries[i];
}

struct memo_entry *memo_find(struct memo *memo, const uint64_t key[2])
{
	struct memo old = *memo;

	if (2 * (memo->count + 1) <= memo->capacity)
		return entry_of(memo, key);
	memo->capacity = old.capacity ? 2 * old.capacity : 1024;
	memo->entries = xcalloc(memo->capacity, sizeof(*memo->entries));
	for (size_t i = 0; i < old.capacity; i++)
		if (old.entries[i].key[0])
			*entry_of(memo, old.entries[i].key) = old.entries[i];
	free(old.entries);
	return entry_of(memo, key);
}

void memo_set(struct memo *memo, struct memo_entry *e, const uint64_t key[2])
{
	e->key[0] = key[0] | 1;
	e->key[1] = key[1];
	memo->count++;
}

void memo_release(struct memo *memo)
{
	free(memo->entries);
	*memo = (struct memo){ 0 };
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

/* --- sizes --- */

static int64_t ceil_div(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

struct configuration sizes_spread(const struct application *a, struct throughput_place place,
				  int64_t batch_size, bool two_on_one)
{
	int replicas = place.replicas;
	/* The published code takes two steps, from ceil(B / R), with the same result. */
	int64_t passes = ceil_div(batch_size, replicas * a->max_local_batch_size);
	int64_t limit, local;

	if (replicas == 1 && passes < 2 && (two_on_one || batch_size > a->initial_batch_size))
		passes = 2;
	local = ceil_div(batch_size, replicas * passes);
	limit = a->max_batch_size / (replicas * passes);
	return configuration_at(place, local < limit ? local : limit, (int)passes);
}

bool sizes_are_validated(const struct application *a, const struct configuration *sizes)
{
	int64_t batch_size = configuration_batch_size(sizes);

	return batch_size >= a->initial_batch_size && batch_size <= a->max_batch_size;
}
