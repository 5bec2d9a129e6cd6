/* plausible.c - judges reported positions by the rate of those before. */
#include <math.h>

#include "pollux/plausible.h"

void position_restart(struct position_watch *w)
{
	*w = (struct position_watch){ 0 };
}

enum position_verdict position_judge(struct position_watch *w, double samples, double now_s)
{
	double done = w->last - w->first, since_s = now_s - w->last_s;
	double farthest = (double)INFINITY;	/* advance that can be true now */

	if (w->n >= POSITION_REPORTS && w->last_s > w->first_s && done > 0) {
		if (!(since_s > 0))
			since_s = w->last_s - w->before_s;
		farthest = POSITION_FACTOR * fmax(done / (w->last_s - w->first_s) * since_s,
						  done / (double)(w->n - 1));
	}
	if (w->n > 0 && samples < w->last)
		return POSITION_FELL;
	if (w->n > 0 && samples - w->last > farthest)
		return POSITION_JUMPED;
	if (w->n++ == 0) {
		w->first = samples;
		w->first_s = w->before_s = now_s;
	} else if (now_s > w->last_s) {
		w->before_s = w->last_s;
	}
	w->last = samples;
	w->last_s = now_s;
	return POSITION_FINE;
}
