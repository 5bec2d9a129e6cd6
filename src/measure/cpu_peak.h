/* cpu_peak.h - what a core could do on paper; private to the layer. */
#ifndef MEASURE_CPU_PEAK_H
#define MEASURE_CPU_PEAK_H

#include "backend.h"

/* Peaks of so many cores, the first of which is this logical processor, where the present thread runs. */
void cpu_peak_send(struct sink *sink, int cores, int processor);

#endif
