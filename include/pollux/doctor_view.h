/* doctor_view.h - what 'pollux doctor' prints. */
#ifndef POLLUX_DOCTOR_VIEW_H
#define POLLUX_DOCTOR_VIEW_H

#include "pollux/doctor.h"
#include "pollux/report.h"
#include "pollux/store_repair.h"

/* A line for each section in which nothing was found; for each finding a line, and below it the
 * command that mends it, which is never broken. */
void doctor_print(const struct doctor *d, const struct output *out);
void doctor_print_json(const struct doctor *d, FILE *out);

/* What was copied, and what was lost. True if anything was. */
bool doctor_print_repair(const struct store_repair *r, FILE *out);

#endif
