/* legal.c - a second look at what was decided: at GPUs, times and leases only, not at how a policy
 * came to them. */
#include "world.h"

#include <string.h>

#define ROUNDING 1e-9

/* --- execution plans --- */

static int gpus_on(const struct placement *p, int node)
{
	int gpus = 0;

	for (int k = 0; k < p->n; k++)
		gpus += p->nodes[k] == node ? p->gpus[k] : 0;
	return gpus;
}

static int check_plan(const struct plan_state *s, struct err *err)
{
	int gpus = s->held->replicas;
	char digits[PLAN_DIGITS + 1] = "";
	const struct plan_row *row;

	if (!s->plan != !gpus)
		return err_set(err, EX_SOFTWARE, "job '%s' has %d GPUs and makes %siterations",
			       s->name, gpus, s->plan ? "" : "no ");
	if (s->job->guaranteed && gpus == 0 && s->had)
		return err_set(err, EX_SOFTWARE, "guaranteed job '%s' loses its GPUs", s->name);
	if (gpus == 0)
		return 0;
	placement_digits(s->held->gpus, s->held->n, digits, sizeof(digits));
	row = plan_row_find(s->job->application, s->plan, digits);
	if (!row || row->gpus != gpus || row->iteration_s != s->iteration_s)
		return err_set(err, EX_SOFTWARE,
			       "job '%s' with plan '%s' on %s has no such row", s->name, s->plan,
			       digits);
	if (s->job->guaranteed && s->iteration_s > s->job->owner_s)
		return err_set(err, EX_SOFTWARE, "guaranteed job '%s' is slower than asked",
			       s->name);
	return 0;
}

int plan_check(const struct plan_state *states, int n, int n_nodes, int gpus_per_node,
	       double cores_per_node, struct err *err)
{
	for (int node = 0; node < n_nodes; node++) {
		double cores = 0;
		int gpus = 0;

		for (int i = 0; i < n; i++) {
			int held = gpus_on(states[i].held, node);

			if (held < 0)
				return err_set(err, EX_SOFTWARE, "job '%s' has %d GPUs",
					       states[i].name, held);
			gpus += held;
			cores += held * states[i].job->cores;
		}
		if (gpus > gpus_per_node)
			return err_set(err, EX_SOFTWARE, "%d of %d GPUs of node %d are held", gpus,
				       gpus_per_node, node);
		if (cores > cores_per_node * (1 + ROUNDING))
			return err_set(err, EX_SOFTWARE, "%g of %g cores of node %d are wanted",
				       cores, cores_per_node, node);
	}
	for (int i = 0; i < n; i++)
		if (check_plan(&states[i], err))
			return -1;
	return 0;
}

/* --- machines in racks --- */

static int check_holding(const struct rack_holding *j, int n_machines, double lease_s,
			 struct err *err)
{
	size_t bytes = (size_t)n_machines * sizeof(*j->held);
	int gpus = 0;

	for (int m = 0; m < n_machines; m++)
		gpus += j->held[m];
	if (gpus != (j->runs ? j->gpus : 0))
		return err_set(err, EX_SOFTWARE, "job '%s' of %d GPUs %s with %d", j->name, j->gpus,
			       j->runs ? "runs" : "waits", gpus);
	if (j->ran && !j->ended && (!j->runs || memcmp(j->held, j->held_before, bytes) != 0))
		return err_set(err, EX_SOFTWARE, "job '%s' lost GPUs within its lease", j->name);
	if (j->runs && j->lease_s > lease_s + SIM_RACKS_CHECKPOINT_S + ROUNDING)
		return err_set(err, EX_SOFTWARE, "job '%s' has a lease of %g s", j->name,
			       j->lease_s);
	if (j->runs && (j->part <= 0 || j->part > j->part_most * (1 + ROUNDING)))
		return err_set(err, EX_SOFTWARE, "job '%s' computes for %g of its time, not %g",
			       j->name, j->part, j->part_most);
	return 0;
}

int rack_check(const struct sim_racks *t, const int *free, const struct rack_holding *jobs, int n,
	       double lease_s, struct err *err)
{
	int n_machines = t->cluster.racks * t->cluster.machines_per_rack;

	for (int m = 0; m < n_machines; m++) {
		int held = 0;

		for (int i = 0; i < n; i++) {
			if (jobs[i].held[m] < 0)
				return err_set(err, EX_SOFTWARE, "job '%s' has %d GPUs",
					       jobs[i].name, jobs[i].held[m]);
			held += jobs[i].held[m];
		}
		if (free[m] < 0 || held + free[m] != t->cluster.gpus_per_machine)
			return err_set(err, EX_SOFTWARE,
				       "machine %d has %d GPUs, of which %d are held and %d free",
				       m, t->cluster.gpus_per_machine, held, free[m]);
	}
	for (int i = 0; i < n; i++)
		if (check_holding(&jobs[i], n_machines, lease_s, err))
			return -1;
	return 0;
}
