/* sizes.h - which products are measured; private to the layer. */
#ifndef MEASURE_SIZES_H
#define MEASURE_SIZES_H

#include <stdbool.h>
#include <stdint.h>

/* Widths of layers, and rows from 1 to this in powers of two (quick: of four). */
#define SIZES_ROWS_MAX 4096
#define SIZES_ROWS_MAX_QUICK 1024

struct size_walk {
	int64_t width, rows;
};

/* Walk over all of them, by width and then by rows: begins with *w all zero; false at the end. */
bool sizes_next(struct size_walk *w, bool quick);
/* Leave out the larger ones of this width. */
void sizes_skip_width(struct size_walk *w);

#endif
