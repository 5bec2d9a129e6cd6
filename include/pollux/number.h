/* number.h - numbers from text, strictly: the whole string, no blanks, nothing clipped.
 *
 * Each function returns 0 and sets *value, or returns -1 with errno and leaves *value unchanged.
 * EINVAL: the text is not such a number. ERANGE: the number does not fit. */
#ifndef POLLUX_NUMBER_H
#define POLLUX_NUMBER_H

#include <stdint.h>

/* Decimal digits with at most a minus sign before them. */
int number_parse_int(const char *text, int64_t *value);

/* A decimal number: "3", "-0.5", ".25", "1e6". No hexadecimal, no infinity, no NaN. */
int number_parse(const char *text, double *value);

/* A duration in seconds, >= 0: "90", "90s", "1.5m", "2h", "1d", or a sum with the larger unit
 * first, as tables show it: "3h05m"; or a clock, as Slurm has it: "30:00" (minutes), "2:00:00",
 * "1-12" (days and hours), "1-12:30:00". Slurm's number alone is minutes, here it is seconds. */
int number_parse_duration(const char *text, double *seconds);

/* An amount of memory or disk: a number and K, M, G or T, which are powers of 1024: "1.5G". */
int number_parse_size(const char *text, double *bytes);

#endif
