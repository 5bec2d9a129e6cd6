/* crontab.h - the lines of pollux in the user's crontab, and crontab(1) itself.
 *
 * A line is pollux's own where it ends in "# pollux"; there is one for each store, told apart by
 * the variables that stand before the program. Whatever schedule the user gave such a line
 * stays. */
#ifndef POLLUX_CRONTAB_H
#define POLLUX_CRONTAB_H

#include <stdbool.h>

#include "pollux/err.h"
#include "pollux/text.h"

struct crontab_entry {
	struct text variables;	/* "POLLUX_DIR=/x " or ""; escaped for cron, as all here */
	struct text command;	/* variables, program, arguments and mark */
	struct text line;	/* a pass each minute, or as it stands in the crontab; no newline */
};

/* The entry of this program for its store: with POLLUX_DIR, made absolute, or else with what XDG
 * says. EX_OSFILE: the program's file is gone. */
int crontab_entry_init_own(struct crontab_entry *e, struct err *err);
void crontab_entry_release(struct crontab_entry *e);

enum crontab_change { CRONTAB_SAME, CRONTAB_ADDED, CRONTAB_UPDATED, CRONTAB_REMOVED };

/* Appends to *new a copy of old with the entry's line, or without it. All other lines stay byte by
 * byte as they were, but the last line gets a newline if it has none. e->line becomes the line that
 * is in the crontab, or was there. */
enum crontab_change crontab_change(const char *old, struct crontab_entry *e, bool with,
				   struct text *new);

/* The user's crontab; empty where there is none. -1 (EX_UNAVAILABLE): the crontab cannot be read,
 * and must not be written. */
int crontab_read(struct text *lines, struct err *err);
int crontab_write(const struct text *lines, struct err *err);

#endif
