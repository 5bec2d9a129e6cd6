/* freeze_nvidia.h - the parts of NVIDIA's freezer; private to src/device. */
#ifndef POLLUX_DEVICE_FREEZE_NVIDIA_H
#define POLLUX_DEVICE_FREEZE_NVIDIA_H

#include "pollux/freeze.h"

extern const struct device_freezer freezer_nvidia;

int nvidia_work(int64_t bytes, int rounds, struct err *err);	/* work_nvidia.c */

#endif
