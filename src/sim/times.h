/* times.h - how long an update of one pass takes. */
#ifndef SIM_TIMES_H
#define SIM_TIMES_H

struct times {
	double step_s;		/* all of it */
	double sync_s;		/* its part spent synchronising; a pass without takes the difference */
};

#endif
