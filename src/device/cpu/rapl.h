/* rapl.h - the counters of energy of the processors' packages (RAPL, "running average power limit",
 * in Linux's powercap). Most systems let only root read them. */
#ifndef POLLUX_DEVICE_RAPL_H
#define POLLUX_DEVICE_RAPL_H

#include "pollux/device.h"

/* The counter of each package that has processors of these slots, with the part of the package's
 * processors that are theirs. Returns their number; the caller frees *list. 0: none can be read.
 * For tests, POLLUX_CPU_ROOT is put before /sys. */
int rapl_read(const struct device *slots, int n, struct device_energy **list);

#endif
