/* cpu_peak.h - the theoretical peak of cores; private to the layer. */
#ifndef MEASURE_CPU_PEAK_H
#define MEASURE_CPU_PEAK_H

#include "backend.h"

/* Sends the peaks of a number of cores. processor is the logical processor of the first core, on
 * which the calling thread runs. */
void cpu_peak_send(struct sink *sink, int cores, int processor);

#endif
