/* cpu_job.c - jobs without a device: what --cpu and --replicas 0 declare, and what does not go with
 * them. */
#include <math.h>

#include "pollux/config.h"
#include "pollux/host_cores.h"
#include "request.h"

int submission_take_cpu(const struct command *by, const struct asked *o, struct declaration *d,
			struct err *err)
{
	bool cpu = asked_gives(o, "cpu"), replicas = asked_gives(o, "replicas");

	if (replicas && d->min_replicas == 0 && d->max_replicas > 0)
		return usage_error(by, err, "option '--replicas': a job has no device, which is 0 "
				   "alone, or one at least: 1:%d", d->max_replicas);
	if (cpu && replicas && d->min_replicas > 0)
		return usage_error(by, err, "give one of --cpu and --replicas: with --cpu a job "
				   "has no device");
	if (cpu || (replicas && d->min_replicas == 0)) {
		d->min_replicas = d->max_replicas = 0;
		d->cpu_cores = d->cpu_cores > 0 ? d->cpu_cores : 1;
	} else if (replicas) {
		d->cpu_cores = 0;
	}
	return 0;
}

int submission_check_cpu(const struct declaration *d, struct err *err)
{
	const struct {
		bool given;
		const char *option;
	} of_devices[] = {
		{ d->batch.size > 0, "batch" }, { d->plans, "plan" },
		{ d->guarantee, "guarantee" }, { d->kind, "kind" }, { d->not_kind, "not-kind" },
		{ d->worst_tier != TIER_UNKNOWN, "tier" }, { d->share, "share" },
		{ isfinite(d->gpu_memory_bytes), "gpu-memory" },
	};
	struct config config;
	int cores;

	if (!d->cpu_cores)
		return 0;
	for (size_t i = 0; i < sizeof(of_devices) / sizeof(of_devices[0]); i++)
		if (of_devices[i].given)
			return err_set(err, EX_USAGE, "option '--%s' is of jobs with devices, and "
				       "with --cpu (or -r 0) a job has none", of_devices[i].option);
	if (config_load_own(&config) && config.slurm)
		return err_set(err, EX_CONFIG, "option '--cpu': with engine = slurm each job is "
			       "one of Slurm and has devices; start this one with srun, or give "
			       "it a device");
	cores = host_cores(NULL);
	if (d->cpu_cores > cores)
		return err_set(err, EX_USAGE, "option '--cpu': %d cores are more than this machine "
			       "has: %d", d->cpu_cores, cores);
	return 0;
}
