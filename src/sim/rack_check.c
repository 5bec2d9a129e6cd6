/* rack_check.c - looks at GPUs and leases only, not at how a policy came to them. */
#include "rack_check.h"

#include <string.h>

#define ROUNDING 1e-9

static int check_job(const struct rack_holding *j, int n_machines, double lease_s, struct err *err)
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
		if (check_job(&jobs[i], n_machines, lease_s, err))
			return -1;
	return 0;
}
