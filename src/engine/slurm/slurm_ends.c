/* slurm_ends.c - see slurm_ends.h. */
#include "slurm_ends.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pollux/clock.h"
#include "pollux/text.h"
#include "slurm.h"

static enum slurm_ended read_end(const char *dir, int k)
{
	struct text t = TEXT_INIT;
	enum slurm_ended how = SLURM_NOT_ENDED;
	char name[24];

	snprintf(name, sizeof(name), "end.%d", k);
	if (slurm_read(dir, name, 0, &t) && strchr(t.data, '\n'))
		how = text_starts_with(t.data, "exit 0\n") ? SLURM_ENDED_WELL
		    : text_starts_with(t.data, "fenced") ? SLURM_ENDED_FENCED : SLURM_ENDED_BADLY;
	text_release(&t);
	return how;
}

enum slurm_ended slurm_worst_end(const char *dir, int nodes)
{
	enum slurm_ended worst = SLURM_NOT_ENDED;

	for (int k = 0; k < nodes; k++) {
		enum slurm_ended how = read_end(dir, k);

		worst = how > worst ? how : worst;
	}
	return worst;
}

int slurm_count_ends(const char *dir, int nodes)
{
	int n = 0;

	for (int k = 0; k < nodes; k++)
		n += read_end(dir, k) != SLURM_NOT_ENDED;
	return n;
}

double slurm_ended_time_s(const char *dir, int nodes)
{
	double last_s = (double)NAN;

	if (slurm_count_ends(dir, nodes) < nodes)
		return (double)NAN;
	for (int k = 0; k < nodes; k++) {
		char name[24];

		snprintf(name, sizeof(name), "end.%d", k);
		last_s = fmax(last_s, slurm_file_time_s(dir, name));
	}
	return last_s;
}

void slurm_end_at(const char *dir, double ended_s, struct run *run)
{
	double ago_s = slurm_touch(dir, "probe") - ended_s;

	if (!(ago_s > 0 && clock_boot_s() - ago_s > run->launch_boot_s))
		return;
	run->end_boot_s = clock_boot_s() - ago_s;
	run->end_time_s = clock_wall_s() - ago_s;
}

int slurm_silent_node(const char *dir, int nodes, double lease_s, double lease_time_s,
		      double begun_time_s)
{
	double most_s = lease_s + slurm_margin_s(lease_s);

	for (int k = 0; k < nodes; k++) {
		char name[24];
		double seen_s;

		snprintf(name, sizeof(name), "node.%d", k);
		seen_s = fmax(slurm_file_time_s(dir, name), begun_time_s);
		if (lease_time_s - seen_s > most_s && read_end(dir, k) == SLURM_NOT_ENDED)
			return k;
	}
	return -1;
}
