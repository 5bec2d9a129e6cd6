/* freeze_nvidia.c - freezes by the driver's cuCheckpointProcess functions. What they do and which
 * errors they return is taken from NVIDIA's documentation and from reports of others; pollux has
 * never called them on a GPU.
 *
 * The driver saves all GPU memory of a process in host memory of that process, and releases its
 * GPUs. Threads on the processor run on and wait in their next call, hence the caller's SIGSTOP. */
#include <stdlib.h>
#include <string.h>

#include "cuda_driver.h"
#include "gpu.h"
#include "pollux/mem.h"
#include "pollux/proc.h"

/* Opens the driver without the variable that hides GPUs: it is meant for jobs, and the freezing
 * process has to see all GPUs. */
static int open_driver(void **driver, struct err *err)
{
	struct cuda_driver *d = xcalloc(1, sizeof(*d));
	int code;

	*driver = d;
	unsetenv("CUDA_VISIBLE_DEVICES");
	if (cuda_driver_open(d, "", err) || cuda_driver_can_freeze(d, err))
		return -1;
	code = d->init(0);	/* a restore needs it unless persistence mode is on */
	if (code != CU_OK)
		return err_set(err, EX_UNAVAILABLE, "cannot start CUDA's driver: %s",
			       cuda_driver_text(d, code));
	return 0;
}

/* What a code means depends on the call. EX_TEMPFAIL: a later try may succeed. */
static int refused(const struct cuda_driver *d, pid_t pid, const char *what, int code,
		   struct err *err)
{
	int status = EX_OSERR;
	const char *why = cuda_driver_text(d, code);

	if (!proc_lives(pid))
		return err_set(err, EX_NOINPUT, "cannot %s process %d: it has ended", what,
			       (int)pid);
	switch (code) {
	case CU_NOT_READY:
		status = EX_TEMPFAIL;
		why = "its work on the GPU did not end in time; it runs on";
		break;
	case CU_NOT_SUPPORTED:
		status = EX_UNAVAILABLE;
		why = "the driver does not support it, for this GPU or for what the process uses "
		      "(managed memory, memory shared between processes, NCCL, MPS, MIG)";
		break;
	case CU_NOT_PERMITTED:
		status = EX_UNAVAILABLE;
		why = "not permitted; persistence mode may help (nvidia-smi -pm 1), or only root "
		      "may do it here";
		break;
	case CU_OPERATING_SYSTEM:
		status = EX_UNAVAILABLE;
		why = "the operating system refused it: only root may do it here, or an earlier "
		      "restore failed";
		break;
	case CU_OUT_OF_MEMORY:
		why = "out of memory";
		break;
	case CU_ILLEGAL_STATE:
		why = "it is in another state than the driver said: somebody else moves its memory";
		break;
	case CU_NOT_INITIALIZED:
		status = EX_TEMPFAIL;
		why = "it has not started CUDA, or has ended it";
		break;
	case CU_INVALID_VALUE:
		why = "the driver does not know it as a process that uses a GPU";
		break;
	default:
		break;
	}
	return err_set(err, status, "cannot %s process %d: %s (CUDA error %d)", what, (int)pid, why,
		       code);
}

/* The driver answers alike for a process that ended and one that it does not know. Only the first
 * is gone: what the other has on the GPU would stay there. */
static int find(void *driver, pid_t pid, enum freeze_found *found, struct err *err)
{
	static const enum freeze_found founds[] = {
		[CU_RUNNING] = FOUND_RUNNING, [CU_LOCKED] = FOUND_LOCKED,
		[CU_CHECKPOINTED] = FOUND_SAVED, [CU_FAILED] = FOUND_FAILED,
		[CU_CHECKPOINTING] = FOUND_BUSY, [CU_RESTORING] = FOUND_BUSY,
	};
	struct cuda_driver *d = driver;
	int state = CU_RUNNING, code;

	*found = FOUND_GONE;
	if (!proc_lives(pid))
		return 0;
	code = d->find((int)pid, &state);
	if (!proc_lives(pid))
		return 0;
	if (code != CU_OK)
		return refused(d, pid, "ask for the state of", code, err);
	if (state < 0 || state > CU_RESTORING)
		return err_set(err, EX_OSERR, "process %d is in a state that only newer drivers "
			       "know (%d)", (int)pid, state);
	*found = founds[state];
	return 0;
}

static int step(void *driver, pid_t pid, enum freeze_step step, double limit_s, struct err *err)
{
	static const char *const names[] = {
		[STEP_LOCK] = "lock", [STEP_SAVE] = "save the GPU memory of",
		[STEP_RESTORE] = "restore the GPU memory of", [STEP_UNLOCK] = "unlock",
	};
	struct cuda_driver *d = driver;
	struct cu_lock_args lock = { .timeout_ms = (unsigned)(limit_s * 1e3) };
	uint64_t args[CU_ARGS] = { 0 };		/* of a restore: back to the same GPU */
	int code;

	if (lock.timeout_ms == 0)
		lock.timeout_ms = 1;	/* 0 would be for ever */
	if (step == STEP_LOCK)
		code = d->lock((int)pid, &lock);
	else if (step == STEP_SAVE)
		code = d->checkpoint((int)pid, args);
	else if (step == STEP_RESTORE)
		code = d->restore((int)pid, args);
	else
		code = d->unlock((int)pid, args);
	return code == CU_OK ? 0 : refused(d, pid, names[step], code, err);
}

static int64_t free_bytes(const char *device_id)
{
	const char *uuid = strchr(device_id, ':');
	struct nvml_memory memory = { 0 };
	nvml_handle handle = NULL;
	struct nvml n;
	struct err ignored;
	int code;

	if (!uuid || nvml_open(&n, &ignored))
		return -1;
	code = NVML_ASK(&n, handle_by_uuid, uuid + 1, &handle);
	if (code == NVML_SUCCESS)
		code = n.memory(handle, &memory);
	nvml_close(&n);
	return code == NVML_SUCCESS ? (int64_t)memory.free_bytes : -1;
}

const struct device_freezer freezer_nvidia = {
	.open = open_driver, .find = find, .step = step, .work = nvidia_work,
	.host_bytes = gpu_available_memory,
	.free_bytes = free_bytes,
};
