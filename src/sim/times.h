/* times.h - the time of an update of one pass. */
#ifndef SIM_TIMES_H
#define SIM_TIMES_H

struct times {
	double step_s;		/* the whole update */
	/* its part spent synchronising; the difference is a pass without it */
	double sync_s;
};

#endif
