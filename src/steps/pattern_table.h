/* pattern_table.h - the built-in patterns; private to src/steps. */
#ifndef POLLUX_STEPS_PATTERN_TABLE_H
#define POLLUX_STEPS_PATTERN_TABLE_H

#include "patterns.h"

extern const struct pattern pattern_table[];
extern const int n_pattern_table;

#endif
