/* simulate_generate.c - pollux simulate --generate: a signal ends it with nothing left. */
#include <signal.h>
#include <stdio.h>

#include "pollux/simulate.h"
#include "pollux/simulations.h"
#include "simulate.h"

static volatile sig_atomic_t stopped_by;

static void stop(int signal_number)
{
	stopped_by = signal_number;
}

int simulate_generate(const char *directory, struct sim_generation *g, struct err *err)
{
	g->stop = &stopped_by;
	simulate_catch(stop, 0);
	if (sim_generate(directory, g, err)) {
		if (stopped_by) {
			signal(stopped_by, SIG_DFL);
			raise(stopped_by);
		}
		return -1;
	}
	output_sayf(stdout, "%s/profiles: %d applications, on nodes of up to %d GPUs", directory,
		    sim_generate_applications(), sim_generate_gpus(g));
	output_sayf(stdout, "%s/workloads: %d workload%s of %d job%s", directory, g->n_workloads,
		    plural(g->n_workloads), g->n_jobs, plural(g->n_jobs));
	return 0;
}
