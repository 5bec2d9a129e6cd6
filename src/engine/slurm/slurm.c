/* slurm.c - the engine of Slurm: each run is a job of Slurm with a supervisor in it. */
#include "slurm.h"
#include "slurm_command.h"

#define KILL_WAIT_S 60.0

static int adopt(const struct engine_context *at, const struct run *run, struct err *err)
{
	(void)at;
	return err_set(err, EX_TEMPFAIL, "run %lld is Slurm's: nobody can take it over",
		       (long long)run->id);
}

static int64_t command_pid(const struct run *run)
{
	(void)run;
	return 0;
}

static bool owns_process(const struct run *run, int64_t pid)
{
	(void)run;
	(void)pid;
	return false;
}

static enum engine_containment containment(struct text *detail)
{
	text_add(detail, "");
	return CONTAINED_BY_SLURM;
}

static const char *device_holder(const struct engine_context *at, const struct device *device)
{
	(void)at;
	(void)device;
	return NULL;
}

const struct engine engine_slurm = {
	.name = "slurm",
	.kill_wait_s = KILL_WAIT_S,
	.outage = SLURM_SILENT,
	.list = slurm_list,
	.collect = slurm_collect,
	.poll = slurm_poll,
	.start = slurm_start,
	.adopt = adopt,
	.wake = slurm_wake,
	.stop_unrecorded = slurm_stop_unrecorded,
	.end = slurm_end,
	.clean = slurm_clean,
	.command_pid = command_pid,
	.owns_process = owns_process,
	.containment = containment,
	.device_holder = device_holder,
	.describe = slurm_describe,
	.stuck = slurm_stuck,
	.examine = slurm_examine,
	.other_user = slurm_other_user,
	.crowded_out = slurm_crowded_out,
};
