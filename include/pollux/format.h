/* format.h - short forms of numbers, for tables and sentences:
 *
 *	table_text(&t, format_span(seconds).s);
 *
 * A form is returned by value and lives to the end of the statement that asked for it. */
#ifndef POLLUX_FORMAT_H
#define POLLUX_FORMAT_H

struct formatted {
	char s[16];
};

/* 59s 12m30s 3h05m 2d04h; the rest is cut off, not rounded. "-" unless finite and >= 0. */
struct formatted format_duration(double seconds);
/* 0 10.0ns 12.3us 4.56ms 1.23s: three digits; from 100 s on as format_duration. "-" unless finite
 * and >= 0. */
struct formatted format_span(double seconds);
/* 950, 12.3k, 4.56M: three digits from 1000 on; below, whole numbers whole. "-" unless finite and
 * >= 0. */
struct formatted format_count(double n);
/* 512 B, 4.0 KiB, 12 MiB, 1.2 GiB: two digits. "-" unless finite and >= 0. */
struct formatted format_bytes(double bytes);
/* 4.56 mWh, 45.6 Wh, 456 kWh: three digits, of an energy in joules. "-" unless finite and >= 0. */
struct formatted format_energy(double joules);
/* 4.56, 45.6, 456: three digits, or as many as there are before the point. "-" unless finite. */
struct formatted format_number(double x);
/* Local time, by the zone of the last tzset(3): 14:20:31 less than an hour from now, where events
 * follow each other; else 14:20 when within today, else 11-20 14:20. "-" for NaN. */
struct formatted format_time(double wall_s, double now_wall_s);

#endif
