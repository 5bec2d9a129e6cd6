/* share_pair.c - see share_pair.h. */
#include <math.h>

#include "pollux/share_pair.h"

static double measured(const struct share_factor *f)
{
	return f->n_windows >= SHARE_WINDOWS ? f->relative : (double)NAN;
}

/* The rate of i beside j, relative to its rate alone; NaN: nothing is known of the pair. */
static double factor(const struct share_group *g, int i, int j)
{
	double one = measured(&g->factors[i][j]);

	return isnan(one) && !g->factors[i][j].was_alone ? measured(&g->factors[j][i]) : one;
}

/* The sum of relative rates of the first n jobs; NaN: a pair was not measured. */
static double sum_of(const struct share_group *g, int n)
{
	double sum = 0;

	for (int i = 0; i < n; i++) {
		double rate = 1;

		for (int j = 0; j < n; j++)
			rate *= i == j ? 1 : factor(g, i, j);
		sum += rate;
	}
	return sum;
}

static bool fits(const struct share_group *g)
{
	double sum = 0;

	for (int i = 0; i < g->n; i++)
		sum += g->need_bytes[i];
	/* A peak that is NaN is not known, and counts as one that does not fit. */
	return g->room_bytes == 0 || sum <= (1 - SHARE_SPARE) * g->room_bytes;
}

static bool ran_out(const struct share_group *g)
{
	for (int i = 0; i < g->n; i++)
		for (int j = 0; j < g->n; j++)
			if (i != j && g->factors[i][j].out_of_memory)
				return true;
	return false;
}

struct share_answer share_judge(const struct share_group *g)
{
	struct share_answer answer = { SHARE_TOGETHER, sum_of(g, g->n), SHARE_GAIN - 1 };

	if (ran_out(g))
		answer.verdict = SHARE_NOT_AGAIN;
	else if (!fits(g))
		answer.verdict = SHARE_NO_ROOM;
	else if (isnan(answer.sum))
		answer.verdict = g->n == 2 ? SHARE_TRY : SHARE_APART;
	else if (answer.sum <= SHARE_GAIN * sum_of(g, g->n - 1))
		answer.verdict = SHARE_APART;
	if (!isnan(answer.sum))
		answer.gain = answer.sum - sum_of(g, g->n - 1);
	return answer;
}
