/* backend.h - the functions that measure one sort of device, and the sink of their results; private
 * to the layer. */
#ifndef MEASURE_BACKEND_H
#define MEASURE_BACKEND_H

#include "pollux/measure.h"
#include "repeat.h"

struct measure_backend;

/* The pipe to the process that asked for the measurement. */
struct sink {
	int fd;
	const struct measure_backend *backend;
	const struct repeat_limits *limits;
	bool quick;
};

struct measure_backend {
	const char *name;		/* the name of the device backend */
	/* Both run in a process of their own, which is bound to the devices. */
	int (*device)(struct sink *sink, const struct device *d, struct err *err);
	int (*exchange)(struct sink *sink, const struct device *devices, int n, struct err *err);
};

extern const struct measure_backend measure_cpu, measure_gpu;

/* Times run, and sends m with this time. Returns -1 if the run failed; then nothing is sent. */
int sink_time(struct sink *sink, struct device_measurement *m, repeat_run *run, void *state);
void sink_peak(struct sink *sink, const char *variant, double per_s);
void sink_peak_basis(struct sink *sink, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void sink_note(struct sink *sink, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
