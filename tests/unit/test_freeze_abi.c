/* test_freeze_abi.c - what src/device/nvidia declares of CUDA's driver is what CUDA's header
 * has. */
#include "device/nvidia/cuda_driver.h"
#include "tap.h"

#ifdef POLLUX_CUDA
#include <cuda.h>
#endif

#if defined(POLLUX_CUDA) && CUDA_VERSION >= 12080
#define SAME(ours, theirs) is_int((long long)(ours), (long long)(theirs), #theirs)
#define AT(type, member, their_type, their_member) \
	SAME(offsetof(type, member), offsetof(their_type, their_member))
#else
#define NO_HEADER
#endif

int main(void)
{
#ifdef NO_HEADER
	skip_all("no header of CUDA 12.8 or later");
#else
	SAME(CU_OK, CUDA_SUCCESS);
	SAME(CU_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE);
	SAME(CU_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY);
	SAME(CU_NOT_INITIALIZED, CUDA_ERROR_NOT_INITIALIZED);
	SAME(CU_NO_DEVICE, CUDA_ERROR_NO_DEVICE);
	SAME(CU_OPERATING_SYSTEM, CUDA_ERROR_OPERATING_SYSTEM);
	SAME(CU_ILLEGAL_STATE, CUDA_ERROR_ILLEGAL_STATE);
	SAME(CU_NOT_READY, CUDA_ERROR_NOT_READY);
	SAME(CU_NOT_PERMITTED, CUDA_ERROR_NOT_PERMITTED);
	SAME(CU_NOT_SUPPORTED, CUDA_ERROR_NOT_SUPPORTED);
	SAME(CU_RUNNING, CU_PROCESS_STATE_RUNNING);
	SAME(CU_LOCKED, CU_PROCESS_STATE_LOCKED);
	SAME(CU_CHECKPOINTED, CU_PROCESS_STATE_CHECKPOINTED);
	SAME(CU_FAILED, CU_PROCESS_STATE_FAILED);
	SAME(sizeof(struct cu_lock_args), sizeof(CUcheckpointLockArgs));
	AT(struct cu_lock_args, timeout_ms, CUcheckpointLockArgs, timeoutMs);
	SAME(sizeof(struct cu_restore_args), sizeof(CUcheckpointRestoreArgs));
	AT(struct cu_restore_args, n_pairs, CUcheckpointRestoreArgs, gpuPairsCount);
	AT(struct cu_restore_args, reserved1, CUcheckpointRestoreArgs, reserved1);
	SAME(8 * sizeof(uint64_t), sizeof(CUcheckpointCheckpointArgs));
	SAME(8 * sizeof(uint64_t), sizeof(CUcheckpointUnlockArgs));
	SAME(sizeof(cu_pointer), sizeof(CUdeviceptr));
	return done();
#endif
}
