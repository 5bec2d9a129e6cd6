/* cpu_use.h - how busy the logical processors are, by Linux's counters.
 *
 *	struct cpu_use use = { NULL, NULL };
 *	cpu_use_read(&use);			// again and again
 *	cpu_use_of(&use, "0-3,8");		// between the last two readings
 *	cpu_use_release(&use);
 */
#ifndef POLLUX_CPU_USE_H
#define POLLUX_CPU_USE_H

struct cpu_use {
	struct cpu_ticks *before, *now;	/* owned; by the processor's number; NULL: not read yet */
};

void cpu_use_read(struct cpu_use *u);
/* The part of the time in which the processors of a binding computed, 0 to 1; "": all processors.
 * NaN: unknown. */
double cpu_use_of(const struct cpu_use *u, const char *binding);
void cpu_use_release(struct cpu_use *u);

#endif
