/* when.h - a time to come, from text, in local time. */
#ifndef POLLUX_WHEN_H
#define POLLUX_WHEN_H

/* "22:00" or "22:00:30" (today, or tomorrow where that has passed), "+2h" (from now on, as
 * number_parse_duration), "2026-12-01" (at 0:00), "2026-12-01 22:00" (or with T in between), "now":
 * *wall_s is the reading of the wall clock then, NaN for "now". Returns -1 with errno and leaves
 * *wall_s unchanged: EINVAL for other texts, ERANGE for a date that has passed or +1e9 s and
 * more. */
int when_parse(const char *text, double now_s, double *wall_s);

#endif
