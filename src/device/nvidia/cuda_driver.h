/* cuda_driver.h - CUDA's driver library, libcuda.so.1, opened at run time; private to src/device.
 *
 * Only what freezes need is here: the functions that lock, save, restore and unlock a process,
 * which drivers have since 570 (CUDA 12.8), and those that the self-test's program computes with.
 * As in nvml.h, all is declared as the driver's ABI has it, because headers at build may be older
 * or missing; tests/cli/abi.t compares the declarations with NVIDIA's headers.
 *
 * Functions return a code of enum cu_code. The library stays open until the process ends: CUDA
 * does not survive its removal. */
#ifndef POLLUX_DEVICE_CUDA_DRIVER_H
#define POLLUX_DEVICE_CUDA_DRIVER_H

#include <stddef.h>
#include <stdint.h>

#include "pollux/err.h"
#include "pollux/freeze.h"

enum cu_code {
	CU_OK = 0,
	CU_INVALID_VALUE = 1,
	CU_OUT_OF_MEMORY = 2,
	CU_NOT_INITIALIZED = 3,
	CU_NO_DEVICE = 100,
	CU_OPERATING_SYSTEM = 304,
	CU_ILLEGAL_STATE = 401,
	CU_NOT_READY = 600,
	CU_NOT_PERMITTED = 800,
	CU_NOT_SUPPORTED = 801,
};

enum cu_state {
	CU_RUNNING = 0,
	CU_LOCKED = 1,
	CU_CHECKPOINTED = 2,
	CU_FAILED = 3,
	CU_CHECKPOINTING = 4,	/* since CUDA 13.4, as CU_RESTORING: while others move the memory */
	CU_RESTORING = 5,
};

struct cu_lock_args {
	unsigned timeout_ms;		/* 0: wait for ever */
	unsigned reserved0;
	uint64_t reserved1[7];
};

#define CU_ARGS 8	/* 64-bit words, all 0, are the arguments of the other calls */

typedef struct cu_context *cu_context;
typedef struct cu_module *cu_module;
typedef struct cu_function *cu_function;
typedef struct cu_stream *cu_stream;
typedef uint64_t cu_pointer;

struct cuda_driver {
	void *library;
	int (*init)(unsigned flags);
	int (*version)(int *version);	/* 1000 * major + 10 * minor */
	int (*error_text)(int code, const char **text);
	/* optional: NULL in drivers before 570 */
	int (*find)(int pid, int *state);
	int (*lock)(int pid, struct cu_lock_args *args);
	int (*checkpoint)(int pid, void *args);
	int (*restore)(int pid, void *args);
	int (*unlock)(int pid, void *args);
	/* for programs */
	int (*device)(int *device, int ordinal);
	int (*retain)(cu_context *context, int device);
	int (*set_current)(cu_context context);
	int (*allocate)(cu_pointer *p, size_t bytes);
	int (*to_device)(cu_pointer to, const void *from, size_t bytes);
	int (*to_host)(void *to, cu_pointer from, size_t bytes);
	int (*load)(cu_module *module, const void *text);
	int (*function)(cu_function *function, cu_module module, const char *name);
	int (*launch)(cu_function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
		      unsigned by, unsigned bz, unsigned shared_bytes, cu_stream stream,
		      void **arguments, void **extra);
	int (*synchronize)(void);
	/* optional */
	int (*new_stream)(cu_stream *stream, unsigned flags);
	int (*allocate_pinned)(void **p, size_t bytes);
	int (*to_host_later)(void *to, cu_pointer from, size_t bytes, cu_stream stream);
};

/* Opens the library and looks up its functions; touches no GPU. library_path: directories between
 * colons in which the library is looked for, too; "": none. EX_UNAVAILABLE: there is none, or it is
 * too old. */
int cuda_driver_open(struct cuda_driver *d, const char *library_path, struct err *err);
/* EX_UNAVAILABLE: the driver has no functions that freeze. */
int cuda_driver_can_freeze(const struct cuda_driver *d, struct err *err);
/* The driver's words for a code. */
const char *cuda_driver_text(const struct cuda_driver *d, int code);

/* --- the parts of NVIDIA's freezer; private to src/device --- */

extern const struct device_freezer freezer_nvidia;

int nvidia_work(int64_t bytes, int rounds, struct err *err);	/* work_nvidia.c */

#endif
