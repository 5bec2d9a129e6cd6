/* format.h - short forms of numbers for tables. Each writes into buf and returns it; 16 bytes do for
 * all of them. */
#ifndef POLLUX_FORMAT_H
#define POLLUX_FORMAT_H

#include <stddef.h>

#define FORMAT_SIZE 16

/* 59s 12m30s 3h05m 2d04h; the rest is cut off, not rounded. "-" unless finite and >= 0. */
const char *format_duration(char *buf, size_t size, double seconds);
/* 0 10.0ns 12.3us 4.56ms 1.23s, as format_duration from 100 s on: three digits. "-" likewise. */
const char *format_span(char *buf, size_t size, double seconds);
/* 950, 12.3k, 4.56M: three digits from 1000 on; below, whole numbers whole. "-" unless finite and >= 0. */
const char *format_count(char *buf, size_t size, double n);
/* Local time: 14:20:31 less than an hour from now, where events follow each other; else 14:20 when within
 * today, else 11-20 14:20. "-" for NaN. */
const char *format_time(char *buf, size_t size, double wall_s, double now_wall_s);

#endif
