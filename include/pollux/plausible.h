/* plausible.h - whether a reported position can be true.
 *
 * A program consumes samples at some rate, and its position only grows. The n accepted positions go
 * from (first, t_first) to (last, t_last). t_before is the time of the last position that was read
 * earlier than now:
 *
 *	rate    = (last - first) / (t_last - t_first)	samples/s
 *	advance = (last - first) / (n - 1)		samples from one report to the next
 *
 * A position beyond last by more than POSITION_FACTOR * max(rate * (now - t_before), advance) is a
 * jump. The advance allows for reports that were read together, whose times say nothing. Until
 * POSITION_REPORTS positions at two times are known there is no rate, and nothing is a jump. A
 * program that really went so far is believed after a while: the time since its last accepted
 * position explains more and more.
 *
 * A judged position that is FELL or JUMPED leaves the watch as it was. Pure functions. */
#ifndef POLLUX_PLAUSIBLE_H
#define POLLUX_PLAUSIBLE_H

#include <stdint.h>

#define POSITION_FACTOR 100.0
#define POSITION_REPORTS 3

enum position_verdict { POSITION_FINE, POSITION_FELL, POSITION_JUMPED };

struct position_watch {
	int64_t n;			/* accepted positions */
	double first, first_s, last, last_s;
	double before_s;		/* the last time before last_s */
};

enum position_verdict position_judge(struct position_watch *w, double samples, double now_s);
void position_restart(struct position_watch *w);

#endif
