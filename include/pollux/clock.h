/* clock.h - the only readers of time. src/model and src/sched never include it.
 *
 * Durations come from the boot clock. It is monotonic, the same for all processes of one boot, and
 * stands still while the machine is suspended, so that a night's sleep is no running time. Its
 * readings mean nothing after a reboot, so a stored reading has the boot id beside it. The wall
 * clock is for people and may be set back. */
#ifndef POLLUX_CLOCK_H
#define POLLUX_CLOCK_H

#include <stdint.h>

#define BOOT_ID_SIZE 37		/* 36 characters and the terminator */

int64_t clock_boot_ns(void);	/* CLOCK_MONOTONIC */
double clock_boot_s(void);
double clock_wall_s(void);	/* since 1970-01-01 UTC */

/* This boot's id, from /proc/sys/kernel/random/boot_id; "unknown" where there is none. */
const char *clock_boot_id(void);

/* From now on this process tells the boot clock, and the boot id, of a machine whose clocks showed
 * these two times at one moment: its wall clock agrees with ours. */
void clock_take_boot(const char *boot_id, double boot_s, double wall_s);

/* --- a time to come, from text, in local time --- */

/* A time of day, "22:00", "22:00:30", "8pm", "8:30am", "noon" or "midnight" (today, or tomorrow
 * where that has passed); "+2h" or "now+2h" (from now on, as number_parse_duration); "tomorrow" or
 * "2026-12-01" (at 0:00), or with a time of day behind a blank; "2026-12-01T22:00"; "now": *wall_s
 * is the reading of the wall clock then, NaN for "now". Returns -1 with errno and leaves *wall_s
 * unchanged: EINVAL for other texts, ERANGE for a date that has passed or +1e9 s and more. */
int when_parse(const char *text, double now_s, double *wall_s);

#endif
