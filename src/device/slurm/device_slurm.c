/* device_slurm.c - GPUs of nodes of Slurm. Slurm lists them, binds programs to them and keeps other
 * programs off them; what is left is to tell the program what Slurm said. The engine for Slurm
 * lists them: src/engine/slurm/slurm_devices.c. */
#include <stdlib.h>

#include "pollux/device.h"

static const char *const variables[] = {
	"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
	"ZE_AFFINITY_MASK", "GPU_DEVICE_ORDINAL", NULL,
};

/* Called in the job of Slurm, whose environment has Slurm's variables. */
static void pass_on(const struct device *devices, int n, struct strings *env)
{
	(void)devices;
	(void)n;
	for (size_t i = 0; variables[i]; i++) {
		const char *value = getenv(variables[i]);

		if (value)
			strings_set_variable(env, variables[i], value);
	}
}

const struct device_backend device_slurm = {
	.name = "slurm",
	.is_accelerator = true,
	.variables = variables,
	.environment = pass_on,
};
