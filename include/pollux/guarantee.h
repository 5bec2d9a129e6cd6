/* guarantee.h - what --guarantee promises a job: never worse than on so many devices, in one plan.
 *
 *	struct guarantee g;
 *	if (guarantee_parse("2:dp", &g, err)) ...
 *
 * Pure functions. */
#ifndef POLLUX_GUARANTEE_H
#define POLLUX_GUARANTEE_H

#include "pollux/configuration.h"
#include "pollux/err.h"

#define GUARANTEE_MAX_DEVICES 1024

struct guarantee {
	int replicas;				/* 1 to GUARANTEE_MAX_DEVICES */
	char plan[CONFIGURATION_PLAN_SIZE];	/* "": the first plan, or none is declared */
};

/* Parses R[:PLAN]. -1: *err (EX_USAGE) says what is wrong. */
int guarantee_parse(const char *text, struct guarantee *g, struct err *err);

#endif
