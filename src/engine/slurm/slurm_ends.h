/* slurm_ends.h - what the nodes of a run tell of themselves in its directory: how their programs
 * ended, and whether they live; private to src/engine/slurm. */
#ifndef POLLUX_SLURM_ENDS_H
#define POLLUX_SLURM_ENDS_H

#include "pollux/job.h"

/* From the best to the worst. FENCED: the node was cut off, and ended its program itself. */
enum slurm_ended { SLURM_NOT_ENDED, SLURM_ENDED_WELL, SLURM_ENDED_BADLY, SLURM_ENDED_FENCED };

enum slurm_ended slurm_worst_end(const char *dir, int nodes);
/* The nodes that have told how their program ended. */
int slurm_count_ends(const char *dir, int nodes);
/* When the last program ended, by the clock of the file system; NaN: nodes have not told yet. */
double slurm_ended_time_s(const char *dir, int nodes);
/* The run ended at this time of the directory's clock, if that is before now: who learns of it late
 * may find that Slurm has given the devices to the next run since. NaN: nothing changes. */
void slurm_end_at(const char *dir, double ended_s, struct run *run);
/* Returns a node that has not told its end, and, at lease_time_s, the time of the lease, has not
 * touched its file for lease_s and a margin, or never since the programs were started at
 * begun_time_s; -1: there is none. Such a node is cut off from the directory, or stands still. The
 * margin is the time between two touches: after this process and all nodes stood still for less
 * than the lease, the nodes are yet to touch their files. */
int slurm_silent_node(const char *dir, int nodes, double lease_s, double lease_time_s,
		      double begun_time_s);

#endif
