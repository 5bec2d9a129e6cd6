/* checkpoints.c - see checkpoints.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "checkpoints.h"

/* The files of one save come in this time after each other. */
#define SAVE_S 60
/* So many of those before are asked what is saved together. */
#define FORMERS_MAX 3

/* Candidates of the same shape, the newest first; each shape follows the other. */
struct shapes {
	const struct candidate *items;	/* not owned */
	int count;
	bool ranks_vary;
};

static int compare_written(const struct candidate *a, const struct candidate *b)
{
	const struct timespec *x = &a->contents.written, *y = &b->contents.written;

	if (x->tv_sec != y->tv_sec)
		return x->tv_sec > y->tv_sec ? 1 : -1;
	return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

/* Less than, equal to, or greater than 0 as a is older or newer than b. Where nothing else tells,
 * names do, so that the answer does not depend on the order of a directory. */
static int compare(const struct candidate *a, const struct candidate *b)
{
	bool same_shape = !strcmp(a->order.stem, b->order.stem);
	int by = same_shape ? checkpoint_order_compare(&a->order, &b->order) : 0;

	if (by == 0)
		by = compare_written(a, b);
	if (by == 0)
		by = a->reported - b->reported;
	if (by == 0)
		by = b->link - a->link;
	if (by == 0)
		by = (a->order.n > 0) - (b->order.n > 0);
	return by ? by : strcmp(a->path, b->path);
}

static int by_shape(const void *x, const void *y)
{
	const struct candidate *a = x, *b = y;
	int by = strcmp(a->order.stem, b->order.stem);

	return by ? by : -compare(a, b);
}

static bool is_same_shape(const struct shapes *s, int i, int j)
{
	return j < s->count && !strcmp(s->items[i].order.stem, s->items[j].order.stem);
}

/* The files that are one checkpoint with this one, each of a rank. */
static int count_ranks(const struct shapes *s, const struct candidate *c)
{
	int n = 0;

	for (int i = 0; i < s->count; i++) {
		const struct candidate *other = &s->items[i];

		n += other->order.group && other->contents.bytes > 0 &&
		     !strcmp(other->order.group, c->order.group) &&
		     checkpoint_order_compare(&other->order, &c->order) == 0;
	}
	return n;
}

/* True if both have the same numbers, in one directory. */
static bool are_of_one_save(const struct candidate *a, const struct candidate *b)
{
	size_t n = (size_t)(base_name(a->path) - a->path);

	return a->order.n > 0 && a->order.counts == b->order.counts &&
	       checkpoint_order_compare(&a->order, &b->order) == 0 && !b->companion &&
	       !checkpoint_name_is_best(base_name(b->path)) && b->contents.bytes > 0 &&
	       !strncmp(a->path, b->path, n) && !strchr(b->path + n, '/');
}

static const struct candidate *find_beside(const struct shapes *s, const struct candidate *c,
					   const char *stem)
{
	for (int i = 0; i < s->count; i++)
		if (!strcmp(s->items[i].order.stem, stem) && are_of_one_save(c, &s->items[i]))
			return &s->items[i];
	return NULL;
}

/* "optim_200.pt" may come after "model_200.pt": where all those before have both, one alone is not
 * whole. */
static char *fault_of_set(const struct shapes *s, int i, const struct candidate *former)
{
	const struct candidate *c = &s->items[i], *own;
	char *why = NULL, *fault;

	for (int k = 0; k < s->count && !why && !c->reported; k++) {
		const struct candidate *beside = &s->items[k];
		long long after_s = (long long)beside->contents.written.tv_sec -
				    former->contents.written.tv_sec;
		/* it was written in the same save as the former one */
		bool all_have = strcmp(beside->order.stem, former->order.stem) != 0 &&
				!beside->order.group && are_of_one_save(former, beside) &&
				llabs(after_s) <= SAVE_S && compare_written(beside, c) <= 0;

		for (int j = i + 1; all_have && is_same_shape(s, i, j) && j <= i + FORMERS_MAX; j++)
			all_have = find_beside(s, &s->items[j], beside->order.stem) != NULL;
		if (!all_have)
			continue;
		/* what stands to c as beside stands to former */
		own = find_beside(s, c, beside->order.stem);
		if (!own)
			return xasprintf("it has no file such as %s beside it",
					 base_name(beside->path));
		fault = why_not_whole(own->path, &own->contents, beside->path, &beside->contents);
		if (fault)
			why = xasprintf("%s: %s", base_name(own->path), fault);
		free(fault);
	}
	return why;
}

static char *fault_of(const struct shapes *s, int i)
{
	const struct candidate *c = &s->items[i], *former = NULL;
	char *why = why_not_whole(c->path, &c->contents, NULL, NULL);
	struct contents before;

	/* the one before it of the same shape that is whole by itself */
	for (int j = i + 1; !why && !former && is_same_shape(s, i, j); j++) {
		char *fault = why_not_whole(s->items[j].path, &s->items[j].contents, NULL, NULL);

		if (!fault)
			former = &s->items[j];
		free(fault);
	}
	if (!former)
		return why;
	before = former->contents;
	/* Where runs had different numbers of devices, nothing tells how many ranks there are to
	 * be. */
	if (s->ranks_vary && before.has_ranks)
		before.entries = 0;
	why = why_not_whole(c->path, &c->contents, former->path, &before);
	if (!why && !s->ranks_vary && c->order.group) {
		int n = count_ranks(s, c), wanted = count_ranks(s, former);

		if (n < wanted)
			why = xasprintf("it has %d of %d ranks", n, wanted);
	}
	return why ? why : fault_of_set(s, i, former);
}

/* What one look at all shapes finds. */
struct choice {
	const struct candidate *newest, *told, *left_out;
	char *why;			/* owned; of left_out */
	double saved_s;
};

/* A sure name comes before a likely one. */
static bool is_newer(const struct candidate *a, const struct candidate *b)
{
	if (!b || a->class != b->class)
		return !b || a->class < b->class;
	return compare(a, b) > 0;
}

/* why: belongs to *found from then on. */
static void leave_out(struct choice *found, const struct candidate *c, char *why)
{
	if (!is_newer(c, found->left_out)) {
		free(why);
		return;
	}
	free(found->why);
	found->left_out = c;
	found->why = why;
}

/* Goes from the newest of each shape down to the first that is whole. */
static void look_at_shapes(const struct shapes *s, struct choice *found)
{
	bool has_newest = false, companions = false;

	for (int i = 0; i < s->count; i++) {
		const struct candidate *c = &s->items[i];
		char *why;

		if (i == 0 || !is_same_shape(s, i - 1, i)) {
			has_newest = companions = false;
			/* Files that tell about checkpoints, as "ckpt-2.json" beside "ckpt-2.pt",
			 * are of a shape of theirs: the next one may be there before its
			 * checkpoint. */
			for (int j = i; is_same_shape(s, i, j); j++)
				companions |= s->items[j].companion;
		}
		if ((has_newest || companions) && !c->reported)
			continue;
		why = fault_of(s, i);
		if (why) {
			leave_out(found, c, why);
			continue;
		}
		if (c->reported)
			found->told = c;
		if (!has_newest) {
			found->saved_s = fmax(found->saved_s, c->contents.changed_s);
			if (is_newer(c, found->newest))
				found->newest = c;
		}
		has_newest = true;
	}
}

static bool is_only_json(const struct candidate *c)
{
	return checkpoint_name_class(base_name(c->path)) == NAME_JSON;
}

/* Beside a file with the name of a checkpoint or model, whole or torn, JSON tells about the
 * training: it is taken out. */
static void drop_json_beside_others(struct candidates *all)
{
	int kept = 0;
	bool has_others = false;

	for (int i = 0; i < all->count; i++)
		has_others |= !is_only_json(&all->items[i]);
	for (int i = 0; i < all->count; i++) {
		struct candidate *c = &all->items[i];

		if (!has_others || c->class != NAME_JSON) {
			all->items[kept++] = *c;
			continue;
		}
		free(c->path);
		checkpoint_order_release(&c->order);
	}
	all->count = kept;
}

void checkpoints_find(const struct checkpoint_query *query, struct checkpoints *found)
{
	struct choice choice = { .saved_s = NAN };
	struct candidates all;
	struct shapes shapes;

	candidates_find(query, &all);
	drop_json_beside_others(&all);
	if (all.count > 1)
		qsort(all.items, (size_t)all.count, sizeof(*all.items), by_shape);
	shapes = (struct shapes){ all.items, all.count, query->ranks_vary };
	look_at_shapes(&shapes, &choice);
	if (choice.told && choice.newest && compare_written(choice.told, choice.newest) >= 0)
		choice.newest = choice.told;
	*found = (struct checkpoints){
		.saved_s = fmax(choice.saved_s, all.other_s), .cut_short = all.cut_short,
	};
	if (choice.newest)
		found->newest = xstrdup(choice.newest->path);
	if (choice.left_out && (!choice.newest || is_newer(choice.left_out, choice.newest))) {
		found->left_out = xstrdup(choice.left_out->path);
		found->why = choice.why;
		choice.why = NULL;
	} else if (!choice.newest && all.passed) {
		found->left_out = xstrdup(all.passed);
		found->why = xstrdup(all.why_passed);
	}
	free(choice.why);
	candidates_release(&all);
}

void checkpoints_release(struct checkpoints *found)
{
	free(found->newest);
	free(found->left_out);
	free(found->why);
	*found = (struct checkpoints){ .saved_s = NAN };
}
