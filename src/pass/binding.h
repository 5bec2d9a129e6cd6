/* binding.h - which processors each run is bound to, in a decision: private to src/pass. Where no
 * run wants processors (--plan NAME:cores=C), runs are bound as their devices are. */
#ifndef POLLUX_PASS_BINDING_H
#define POLLUX_PASS_BINDING_H

#include "decision.h"
#include "plan.h"

/* Decides on the runs that go on and those that start, once devices and plans are chosen. */
void bind_runs(const struct snapshot *s, struct decision *d);
void forget_bindings(struct decision *d);
/* Copies the processors of candidate j's next run to text; "": those of its devices. */
void copy_cores(const struct decision *d, int j, char *text, size_t size);
/* Adds the actions for runs that go on and are bound otherwise now. */
void plan_bindings(const struct decision *d, struct plan *p);

#endif
