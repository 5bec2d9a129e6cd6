/* ends_stream.c - how jobs came of late, and whether more are to come: see ends.h. */
#include <math.h>

#include "pollux/ends.h"

#define BURST_S 600.0		/* jobs that came within this time may be all there are */
#define STOPS 0.05
#define LEAST_GAP_S 10.0

/* Finds the rate at which jobs still arrive. At each arrival the odds that it is the last one are
 * STOPS to 1. Each mean gap without a job multiplies these odds by e. */
static struct ends_stream stream_of(const double *newest, int n, double now_s)
{
	double gap_s = fmax(newest[0] - newest[n - 1], 0) / (n - 1);
	double odds = STOPS * exp(fmin(fmax(now_s - newest[0], 0) / fmax(gap_s, LEAST_GAP_S), 50));

	return (struct ends_stream){
		.gap_s = fmax(now_s - newest[n - 1], BURST_S) / (n - 1),
		.stopped = odds / (1 + odds),
	};
}

struct ends_stream ends_stream_of(const double *submitted_s, int n, double now_s)
{
	double newest[ENDS_NEWEST] = { 0 };
	int kept = 0;

	for (int i = 0; i < n; i++) {
		int at = kept < ENDS_NEWEST ? kept++ : ENDS_NEWEST - 1;

		if (at == ENDS_NEWEST - 1 && i >= ENDS_NEWEST && submitted_s[i] <= newest[at])
			continue;
		for (newest[at] = submitted_s[i]; at > 0 && newest[at] > newest[at - 1]; at--) {
			double other = newest[at - 1];

			newest[at - 1] = newest[at];
			newest[at] = other;
		}
	}
	return kept > 1 ? stream_of(newest, kept, now_s)
			: (struct ends_stream){ .gap_s = (double)NAN };
}
