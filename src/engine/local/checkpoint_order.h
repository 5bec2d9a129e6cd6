/* checkpoint_order.h - the order of checkpoints by the numbers in their names; private to
 * src/engine/local. */
#ifndef POLLUX_RUN_CHECKPOINT_ORDER_H
#define POLLUX_RUN_CHECKPOINT_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#define ORDER_NUMBERS 8

/* Two names with the same stem are ordered by their numbers, the first number first. */
struct checkpoint_order {
	char *stem;			/* owned: the path with "#" for each number */
	/* owned: the same with "#" for the number of a rank, too: files of one group with the same
	 * numbers are one checkpoint; NULL: there is no such number */
	char *group;
	bool counts;			/* the numbers are those of epochs or steps */
	int n;
	uint64_t numbers[ORDER_NUMBERS];
};

/* path: below the directory of checkpoints. If a number counts epochs or steps, as in
 * "epoch=9-loss=0.31.ckpt", only such numbers order, epochs before steps; else all do but those of
 * a metric, as one with a fraction is. "10k" and "1e4" are 10,000. A directory above that is a
 * number, as in "100/model.pt", counts as an epoch. What numbers of ranks, parts and runs tell
 * apart is not ordered: they stay in the stem. */
void checkpoint_order_of(const char *path, struct checkpoint_order *o);
void checkpoint_order_release(struct checkpoint_order *o);
/* Of two with the same stem: less than, equal to, or greater than 0, as strcmp(). */
int checkpoint_order_compare(const struct checkpoint_order *a, const struct checkpoint_order *b);
/* True if a number in the name counts epochs or steps. */
bool checkpoint_order_counts(const char *name);
/* True if a number in the name is that of a rank: "rank_0.pt". */
bool checkpoint_order_has_ranks(const char *name);

#endif
