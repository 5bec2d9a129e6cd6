/* sizes.c - walks over widths, and over rows within each. */
#include "sizes.h"

static const int64_t widths[] = { 256, 1024, 4096 };
#define N_WIDTHS ((int)(sizeof(widths) / sizeof(widths[0])))

static int64_t next_width(int64_t width, bool quick)
{
	int n = quick ? N_WIDTHS - 1 : N_WIDTHS;

	for (int i = 0; i < n; i++)
		if (widths[i] > width)
			return widths[i];
	return 0;
}

bool sizes_next(struct size_walk *w, bool quick)
{
	int64_t most = quick ? SIZES_ROWS_MAX_QUICK : SIZES_ROWS_MAX;

	if (w->rows > 0 && w->rows < most) {
		w->rows *= quick ? 4 : 2;
		return true;
	}
	w->width = next_width(w->width, quick);
	w->rows = 1;
	return w->width > 0;
}

void sizes_skip_width(struct size_walk *w)
{
	w->rows = SIZES_ROWS_MAX;
}
