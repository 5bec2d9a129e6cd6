/* test_slurm_list.c - the runs that a pass takes for those that hold devices are its store's. */
#include "engine/slurm/slurm.h"
#include "pollux/store_runs.h"
#include "store_fixture.h"

static void add_run(void)
{
	struct job job;
	scoped(run_release) struct run run = { 0 };

	job_init(&job);
	run_init(&run);
	run.job_id = add_to_fixture(&job, "w");
	run.configuration = (struct configuration){ .replicas = 1, .nodes = 1,
						    .accumulation_steps = 1 };
	run.learning_rate_scale = 1;
	run.assigned_time_s = run.assigned_boot_s = 1;
	run.devices = xcalloc(1, sizeof(*run.devices));
	snprintf(run.devices[0].id, sizeof(run.devices[0].id), "slurm:n1:0");
	run.devices[0].cores = 1;
	ok(store_run_add(&store, &run, &err) == 0, "a run is added");
}

int main(void)
{
	open_fixture();
	is_int(slurm_active_runs(&store)->count, 0, "a store without runs has no active runs");
	is_int(slurm_active_runs(NULL)->count, 0, "no store has no active runs");
	is_int(slurm_active_runs(&store)->count, 0,
	       "a store without runs has no active runs the second time");
	add_run();
	store_close(&store);
	ok(store_open(&store, &paths, STORE_WRITE, &err) == 0, "a later pass opens the store");
	is_int(slurm_active_runs(&store)->count, 1,
	       "a later pass sees the new run, however soon it comes");
	return close_fixture();
}
