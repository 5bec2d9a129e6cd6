/* Which nodes: by hand, and what the header promises of any counts. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "pollux/assign.h"
#include "sched_cases.h"
#include "tap.h"

#define NODES 5
#define SIZE 4
#define JOBS 12
#define CASES 20000

static int held[JOBS][NODES], placed[JOBS][NODES], count[JOBS];

static bool is_row(int job, const int *want)
{
	return memcmp(placed[job], want, NODES * sizeof(*want)) == 0;
}

static void clear(void)
{
	memset(held, 0, sizeof(held));
	memset(count, 0, sizeof(count));
}

static void by_hand(void)
{
	clear();
	held[0][2] = 1;
	count[0] = 1;
	count[1] = 2;
	count[2] = 8;
	place_jobs(NODES, SIZE, 3, held[0], count, placed[0]);
	ok(is_row(0, (int[]){ 0, 0, 1, 0, 0 }), "a job whose count is unchanged stays");
	ok(is_row(1, (int[]){ 0, 0, 2, 0, 0 }), "a small job goes to the fullest node with room");
	ok(is_row(2, (int[]){ 4, 4, 0, 0, 0 }), "a large job goes to empty nodes");

	clear();
	for (int n = 0; n < NODES; n++) {
		held[n][n] = n == 3 ? 1 : 2;
		count[n] = n == 3 ? 1 : 2;
	}
	count[5] = 4;
	place_jobs(NODES, SIZE, 6, held[0], count, placed[0]);
	ok(is_row(5, (int[]){ 0, 0, 0, 4, 0 }),
	   "room is made on the node where the fewest devices move");
	ok(is_row(3, (int[]){ 1, 0, 0, 0, 0 }), "a job that made room is placed again");
	ok(is_row(0, (int[]){ 2, 0, 0, 0, 0 }) && is_row(4, (int[]){ 0, 0, 0, 0, 2 }),
	   "jobs that need not make room stay");

	clear();
	for (int n = 0; n < NODES; n++) {
		held[n][n] = 3;
		count[n] = 3;
	}
	count[5] = 3;
	place_jobs(NODES, SIZE, 6, held[0], count, placed[0]);
	ok(is_row(5, (int[]){ 1, 1, 1, 0, 0 }),
	   "a job of an odd number that finds no node is spread");
	ok(place_is_regular(20, 4, 2) && place_is_regular(20, 4, 12) &&
		   !place_is_regular(20, 4, 3) && !place_is_regular(20, 4, 6) &&
		   place_is_regular(4, 4, 3) && place_is_regular(9, 0, 7) &&
		   !place_is_regular(20, 6, 4), "regular counts are those that divide nodes");
}

/* Counts at random, regular or not, of at most all devices. */
static void draw_counts(uint64_t *random, bool regular)
{
	int left = NODES * SIZE;

	for (int j = 0; j < JOBS; j++) {
		int n = case_below(random, 3) ? case_below(random, SIZE + 1)
					      : case_below(random, 13);

		while (n > left || (regular && n && !place_is_regular(NODES * SIZE, SIZE, n)))
			n--;
		if (case_below(random, 3) || count[j] > left)	/* else as before, if that fits */
			count[j] = n;
		left -= count[j];
	}
}

static bool adds_up(void)
{
	for (int j = 0; j < JOBS; j++) {
		int sum = 0;

		for (int n = 0; n < NODES; n++)
			sum += placed[j][n];
		if (sum != count[j])
			return false;
	}
	for (int n = 0; n < NODES; n++) {
		int sum = 0;

		for (int j = 0; j < JOBS; j++)
			sum += placed[j][n];
		if (sum > SIZE)
			return false;
	}
	return true;
}

static int nodes_of(int job)
{
	int n = 0;

	for (int k = 0; k < NODES; k++)
		n += placed[job][k] > 0;
	return n;
}

/* Packed on as few nodes as can be, and no two distributed jobs on one. */
static bool is_packed(void)
{
	for (int j = 0; j < JOBS; j++)
		if (nodes_of(j) != (count[j] + SIZE - 1) / SIZE)
			return false;
	for (int n = 0; n < NODES; n++) {
		int distributed = 0;

		for (int j = 0; j < JOBS; j++)
			distributed += placed[j][n] > 0 && nodes_of(j) > 1;
		if (distributed > 1)
			return false;
	}
	return true;
}

/* A job of unchanged count moves only where a larger one was placed. */
static bool moves_for_larger(void)
{
	int largest = 0;

	for (int j = 0; j < JOBS; j++) {
		int before = 0;

		for (int n = 0; n < NODES; n++)
			before += held[j][n];
		if (before != count[j] && count[j] > largest)
			largest = count[j];
	}
	for (int j = 0; j < JOBS; j++) {
		int before = 0;

		for (int n = 0; n < NODES; n++)
			before += held[j][n];
		if (before == count[j] && count[j] >= largest &&
		    memcmp(held[j], placed[j], sizeof(held[j])) != 0)
			return false;
	}
	return true;
}

static void at_random(bool regular)
{
	uint64_t random = regular ? 3 : 4;
	int wrong_sums = 0, wrong_packing = 0, wrong_moves = 0;

	clear();
	for (int i = 0; i < CASES; i++) {
		draw_counts(&random, regular);
		place_jobs(NODES, SIZE, JOBS, held[0], count, placed[0]);
		wrong_sums += !adds_up();
		wrong_packing += regular && !is_packed();
		wrong_moves += !moves_for_larger();
		memcpy(held, placed, sizeof(held));
	}
	is_int(wrong_sums, 0,
	       regular ? "regular counts give no node more than it has" :
	       "any counts give no node more than it has");
	is_int(wrong_moves, 0, "jobs of unchanged count move for larger ones only");
	if (regular)
		is_int(wrong_packing, 0,
		       "regular counts are packed, and distributed jobs stay apart");
}

int main(void)
{
	by_hand();
	at_random(true);
	at_random(false);
	return done();
}
