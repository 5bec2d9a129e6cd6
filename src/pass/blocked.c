/* blocked.c - jobs that wait because a device cannot be given out are told which, and why. */
#include <stdio.h>
#include <string.h>

#include "pass_state.h"

static bool is_blocked(const struct pass_state *p, int d)
{
	return !p->devices.items[d].usable && device_user_worst(&p->users, d) != NULL;
}

static int count_blocked(const struct pass_state *p)
{
	int n = 0;

	for (int d = 0; d < p->devices.count; d++)
		n += is_blocked(p, d);
	return n;
}

static int count_free(const struct pass_state *p)
{
	int n = 0;

	for (int d = 0; d < p->devices.count; d++)
		n += p->devices.items[d].usable && p->owner[d] < 0;
	return n;
}

/* That may come back: those with a reason. */
static int count_out(const struct pass_state *p)
{
	int n = 0;

	for (int d = 0; d < p->devices.count; d++)
		n += !p->devices.items[d].usable && p->devices.items[d].reason[0];
	return n;
}

/* The first device with a reason; those of other people's processes before the rest. -1: none. */
static int first_with_reason(const struct pass_state *p)
{
	for (int d = 0; d < p->devices.count; d++)
		if (is_blocked(p, d))
			return d;
	for (int d = 0; d < p->devices.count; d++)
		if (!p->devices.items[d].usable && p->devices.items[d].reason[0])
			return d;
	return -1;
}

/* Before what the policy says, which goes where there is no room for both. */
static void put_first(char *reason, const struct device *device)
{
	char both[2 * SCHED_REASON_SIZE];
	size_t n = (size_t)snprintf(both, sizeof(both), "%s: %s", device->name, device->reason);

	if (reason[0] && n + 2 + strlen(reason) < SCHED_REASON_SIZE)
		snprintf(both + n, sizeof(both) - n, "; %.191s", reason);
	snprintf(reason, SCHED_REASON_SIZE, "%.191s", both);
}

/* A job for which there are too few devices waits for any that might come back; of the others those that
 * would be next, in the order of their submission, as far as what is blocked would do. */
void pass_explain_blocked(struct pass_state *p)
{
	int first = first_with_reason(p), blocked = count_blocked(p), free = count_free(p);
	int most = p->n_usable + count_out(p);

	for (int j = 0; first >= 0 && j < p->n_candidates; j++) {
		int least = p->sched_jobs[j].min_replicas;

		if (p->choices[j].replicas > 0 || p->candidates[j].run || least > most)
			continue;
		if (least > p->n_usable) {
			put_first(p->choices[j].reason, &p->devices.items[first]);
		} else if (least > free && least <= free + blocked) {
			put_first(p->choices[j].reason, &p->devices.items[first]);
			blocked -= least - free;
			free = 0;
		}
	}
}
