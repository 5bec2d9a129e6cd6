/* assign.c - which devices, once it is decided how many. */
#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

#include "pollux/assign.h"
#include "pollux/mem.h"

/* Lowest numbers first, so that what a shrinking job gives up is its highest. */
static void keep_held(int n_devices, const int *holder, int *need, int *owner)
{
	for (int d = 0; d < n_devices; d++) {
		int j = holder[d];

		owner[d] = ASSIGN_FREE;
		if (j >= 0 && need[j] > 0) {
			owner[d] = j;
			need[j]--;
		}
	}
}

/* Give the devices of one sort to the jobs that need some: free ones, or ones being given up. */
static void hand_out(int n_devices, const int *holder, bool given_up, int n_jobs, int *need,
		     int *owner)
{
	int j = 0;

	for (int d = 0; d < n_devices; d++) {
		if (owner[d] >= 0 || holder[d] == ASSIGN_UNUSABLE || (holder[d] >= 0) != given_up)
			continue;
		while (j < n_jobs && need[j] <= 0)
			j++;
		if (j == n_jobs)
			return;
		owner[d] = j;
		need[j]--;
	}
}

void assign_devices(int n_devices, const int *holder, int n_jobs, const int *count, int *owner)
{
	int *need = xcalloc((size_t)n_jobs, sizeof(*need));

	for (int j = 0; j < n_jobs; j++)
		need[j] = count[j];
	keep_held(n_devices, holder, need, owner);
	hand_out(n_devices, holder, false, n_jobs, need, owner);
	hand_out(n_devices, holder, true, n_jobs, need, owner);
	for (int j = 0; j < n_jobs; j++)
		assert(need[j] <= 0);	/* else more was decided than there is */
	free(need);
}
