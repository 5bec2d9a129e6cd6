/* tier_wait.h - whether a job waits for devices that are joined better than those that it could
 * have now, and whether a running job moves to such devices: pollux-goodput(7), Tiers. Distances
 * are those of assign.h: 0 is nearest. Pure functions. */
#ifndef POLLUX_TIER_WAIT_H
#define POLLUX_TIER_WAIT_H

#include <stdbool.h>

#include "pollux/configuration.h"

#define TIER_LINKS 4			/* as many as enum device_link has */
#define TIER_NONE (-1)			/* no set */
#define TIER_WAITS_KEPT_S (7 * 86400.0)

/* The devices and how they are joined; links as in assign.h. */
struct tier_links {
	int n;
	const unsigned char *links;
};

/* The farthest pair of the devices that are in the set; TIER_NONE: there are fewer than two. */
int tier_of_set(const struct tier_links *l, const bool *in);
/* The number of different distances of pairs among the devices that are in the set. */
int tiers_of_set(const struct tier_links *l, const bool *in);
/* The largest set of devices among those `in` in which no pair is farther than `within`. Where
 * links are not transitive the set may be smaller than the largest: it is found from each device by
 * adding those that are near all before. */
int tier_largest_set(const struct tier_links *l, const bool *in, int within);
/* Sets best[r], for r from 2 to below n_best, to the best tier that r of the devices `in` can have.
 * TIER_FAR: more than there are. Leaves best alone where there are no pairs. Returns true if pairs
 * are joined in several ways; if all are joined alike, best[r] is that tier for each r. */
bool tier_best_by_number(const struct tier_links *l, const bool *in,
			 enum configuration_tier *best, int n_best);

/* Finds n devices of which no pair is farther than `within`, all free as early as possible; of
 * several such sets the one with the least sum of times. free_s[d]: when device d is free;
 * infinite: never. Returns that time; infinite: there are none. */
double tier_earliest_set(const struct tier_links *l, const double *free_s, int n, int within,
			 bool *set);

/* A job that could have devices now, and may wait for better ones. */
struct tier_offer {
	struct tier_links links;
	/* When each device is free for the job: now or before, later, or never (infinite). NaN: it
	 * is not known. */
	const double *free_s;
	int replicas;
	double now_s;
	double goodput[TIER_LINKS];	/* of as many devices of each tier; NaN: not known */
	int tier_now;			/* of the devices that it could have */
	int worst;			/* the worst tier that it accepts */
	double work;			/* useful samples until its end; NaN: not known */
	double usual_wait_s[TIER_LINKS];	/* for each tier, where ends are not known */
	double since_s;			/* since when it waits for a tier; now, if it does not */
	double latest_s;		/* it must not wait beyond this time */
};

struct tier_answer {
	bool waits;
	int tier;			/* that it waits for */
	double start_s;			/* expected */
	double until_s;			/* then it takes what there is; infinite: it never does */
	bool *wanted;			/* the caller's memory, by device: the set it waits for */
};

void tier_ask(const struct tier_offer *o, struct tier_answer *a);

/* True if a relaunch of a running job on better joined devices pays: over half a slice, or ten
 * relaunches if that is longer, it gains more than 5 % beside the time of the relaunch; and where
 * the work is known, the job ends sooner. work NaN: not known. */
bool tier_move_pays(double goodput_now, double goodput_there, double work, double slice_s,
		    double relaunch_s, double cost_s);

/* Waits of jobs until they got devices of a tier. A job that gave up counts with the time that it
 * had waited. */
struct tier_past {
	double time_s;			/* wall clock: the end of the wait */
	int replicas, tier;
	double wait_s;
};

/* The median of the waits for as many devices of the tier, of the last TIER_WAITS_KEPT_S before
 * now_s; otherwise_s if there is none. */
double tier_usual_wait_s(const struct tier_past *past, int n, int replicas, int tier, double now_s,
			 double otherwise_s);

#endif
