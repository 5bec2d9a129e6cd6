/* profile_plans.c - measures each plan of a command in turn, within the budget. */
#include <stdlib.h>

#include "pollux/clock.h"
#include "profile_state.h"

/* Other plans than the first get their share of what the first leaves. */
#define FIRST_SHARE 0.5

/* Resets what is counted for each plan by itself. */
static void begin_plan(struct profile *p, int i, int n)
{
	double left_s = p->start_boot_s + p->settings->budget_s - clock_boot_s();
	int n_left = n - i;

	free(p->workload);
	p->plan = &p->plans.items[i];
	p->workload = execution_plan_workload(p->job->declared.workload, p->plan->name,
					      p->plan->hash);
	p->budget_s = i == 0 && n > 1 ? FIRST_SHARE * left_s : left_s / n_left;
	p->until_boot_s = clock_boot_s() + p->budget_s;
	observation_list_release(&p->bad);
	p->n_points = p->n_measured = p->n_known = p->n_lost = p->n_lost_there = 0;
	p->n_launches = 0;
	p->launches_s = 0;
}

int profile_measure_plans(struct profile *p, int (*measure)(struct profile *p, struct err *err),
			  struct err *err)
{
	int n = p->plans.count, n_points = 0, n_measured = 0, rc = 0;

	if (n == 0)
		return measure(p, err);
	for (int i = 0; i < n && !p->interrupted && !p->cancelled; i++) {
		begin_plan(p, i, n);
		/* A plan that does not work leaves the others. */
		rc = measure(p, err);
		n_points += p->n_points;
		n_measured += p->n_measured;
	}
	p->n_points = n_points;
	p->n_measured = n_measured;
	return n_measured > 0 ? 0 : rc;
}
