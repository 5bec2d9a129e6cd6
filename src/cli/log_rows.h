/* log_rows.h - what a program printed, as the rows that a terminal would show.
 *
 * A newline ends a row. After a carriage return, after backspaces over a row, and where the cursor
 * was moved to another row, new text takes the place of the row's text, so that of a progress bar
 * only the last state stays. The rule is simpler than that of a terminal: the text that is replaced
 * goes as a whole, even where the new text is shorter. Of escape sequences only colours stay, and
 * NUL bytes go. Positions beyond the last ROWS_HELD rows cannot be reached.
 *
 * Memory: ROWS_HELD rows, each below ROW_MOST bytes; a longer row is given out in pieces. */
#ifndef CLI_LOG_ROWS_H
#define CLI_LOG_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#define ROWS_HELD 64
#define ROW_MOST (1 << 20)	/* bytes */

struct rows;

/* Receives a row, or a piece of one. ends: the row ends here, by a newline. */
typedef void rows_sink(const char *text, size_t n, bool ends, void *arg);

/* plain: no colours and no control characters; and progress bars are left out, which are rows that
 * were written over in place. Such a row stays if it was ended by a newline at last, and what it
 * says then is no drawing ("Downloading ... done"). */
struct rows *rows_new(bool plain, rows_sink *sink, void *arg);
void rows_free(struct rows *r);			/* NULL is allowed */
void rows_feed(struct rows *r, const char *bytes, size_t n);
/* Gives out the rows that are ended so far; the cursor cannot go back to them. */
void rows_flush(struct rows *r);
/* Gives out all rows; the next text begins a new one. */
void rows_end(struct rows *r);
/* True if the cursor was moved to before the first text that was fed. */
bool rows_are_cut(const struct rows *r);

#endif
