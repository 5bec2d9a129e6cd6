/* whole.h - arithmetic of whole numbers; private to the model. */
#ifndef MODEL_WHOLE_H
#define MODEL_WHOLE_H

#include <stdint.h>

/* a / b, rounded up. */
static inline int64_t ceil_div(int64_t a, int64_t b)
{
	return a / b + (a % b != 0);
}

static inline int64_t least_of(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static inline int64_t most_of(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

#endif
