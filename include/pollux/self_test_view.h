/* self_test_view.h - the two ways to show what 'pollux devices --self-test' found. */
#ifndef POLLUX_SELF_TEST_VIEW_H
#define POLLUX_SELF_TEST_VIEW_H

#include <stdio.h>

#include "pollux/self_test.h"

void self_test_print(const struct self_test *t, FILE *out);
void self_test_print_json(const struct self_test *t, FILE *out);

#endif
