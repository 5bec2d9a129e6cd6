/* value.h - measured values of programs, such as a loss: numbers, and what takes the place of a
 * number in a training that diverged (nan, inf, -inf).
 *
 * A value that is not finite is a value like others: it is kept, and shown. It is worse than every
 * number, whether low or high numbers are good. In the store NaN is NULL in a row that a value has
 * made (job_metrics, curve_points, rung_results); infinities are numbers of SQLite's. */
#ifndef POLLUX_VALUE_H
#define POLLUX_VALUE_H

#include <stdbool.h>

/* Reads what a program printed or reported as a value: a number; nan, inf or infinity in any case
 * and with any sign; a number beyond a double (1e999), which is infinite; any of these as the
 * argument of what prints it, as in "tensor(nan, device='cuda:0')", or before a comma or the full
 * stop of a sentence. Returns false, and leaves *value, for any other text. */
bool value_parse(const char *text, double *value);

/* "nan", "inf" or "-inf"; NULL for a finite value. */
const char *value_word(double value);

/* The value with so many digits, as %g has it, or its word. */
struct value_text {
	char s[32];
};
struct value_text value_format(double value, int digits);

/* Sorts values: negative if a is better than b, positive if it is worse. Values that are not finite
 * are all equal, and worse than every number. */
int value_compare(double a, double b, bool low_is_best);

#endif
