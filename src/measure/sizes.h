/* sizes.h - the sizes of the products to measure; private to the layer. */
#ifndef MEASURE_SIZES_H
#define MEASURE_SIZES_H

#include <stdbool.h>
#include <stdint.h>

/* Rows go from 1 to this number in powers of two (quick: of four), for each width of a layer. */
#define SIZES_ROWS_MAX 4096
#define SIZES_ROWS_MAX_QUICK 1024

struct size_walk {
	int64_t width, rows;
};

/* Steps to the next size, by width and then by rows. Start with *w all zero. Returns false at the
 * end. */
bool sizes_next(struct size_walk *w, bool quick);
/* Skips the larger sizes of this width. */
void sizes_skip_width(struct size_walk *w);

#endif
