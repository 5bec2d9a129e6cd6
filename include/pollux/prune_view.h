/* prune_view.h - what was pruned, or would be. */
#ifndef POLLUX_PRUNE_VIEW_H
#define POLLUX_PRUNE_VIEW_H

#include "pollux/prune.h"
#include "pollux/report.h"

/* A row for each job. now_s: wall clock. */
void prune_print_jobs(const struct prune_result *r, double now_s, struct output *out);
/* "12 jobs: 3.4 GiB and 10 records removed; 2 records stay, because models rest on them" */
void prune_print_total(const struct prune_result *r, bool dry_run, FILE *out);

#endif
