/* status_order.c - the order of the table that people look at all day. */
#include <math.h>
#include <stdlib.h>

#include "parts.h"
#include "pollux/mem.h"

#define MOST_ENDED 10	/* rows */
#define UNKNOWN_PLACE 1e8	/* above the number of jobs, below the wall clock */

enum part { AT_WORK, IN_LINE, HELD, ENDED, LEFT_OUT };

struct ordered {
	struct status_job item;
	enum part part;
	double place;		/* within the part */
};

static enum part part_of(enum shown_state state)
{
	switch (state) {
	case SHOWN_STARTING: case SHOWN_RUNNING: case SHOWN_STOPPING:
		return AT_WORK;
	case SHOWN_QUEUED: case SHOWN_SUSPENDED:
		return IN_LINE;
	case SHOWN_HELD: case SHOWN_PAUSED:
		return HELD;
	case SHOWN_DONE: case SHOWN_FAILED: case SHOWN_CANCELLED: case SHOWN_TIMEOUT:
		break;
	}
	return ENDED;
}

/* Jobs in line come first, then those of which no start is known, then by the next start. */
static double place_of(const struct status_job *item, enum part part)
{
	double next_s = item->job->next_start_s;

	if (part == ENDED)
		return item->job->end_time_s;
	if (part != IN_LINE)
		return 0;
	return item->place > 0 ? item->place : isnan(next_s) ? UNKNOWN_PLACE : next_s;
}

static int by_order(const void *a, const void *b)
{
	const struct ordered *x = a, *y = b;

	if (x->part != y->part)
		return x->part < y->part ? -1 : 1;
	if (x->place < y->place || x->place > y->place)
		return x->place < y->place ? -1 : 1;
	return (x->item.job->id > y->item.job->id) - (x->item.job->id < y->item.job->id);
}

/* Leaves out the ended jobs that would need more rows, the newest come first; none of a group whose
 * row is in the table. all is sorted. */
static int leave_out(const struct status *status, struct ordered *all)
{
	bool *told = xcalloc((size_t)status->n_groups + 1, sizeof(*told));
	int n_rows = 0, n_left_out = 0, first = 0;

	for (; first < status->jobs.count && all[first].part != ENDED; first++) {
		const struct status_group *group = status_group_of(status, &all[first].item);

		if (group)
			told[group - status->groups] = true;
	}
	for (int i = status->jobs.count - 1; i >= first; i--) {
		const struct status_group *group = status_group_of(status, &all[i].item);

		if (group && told[group - status->groups])
			continue;
		if (n_rows == MOST_ENDED) {
			all[i].part = LEFT_OUT;
			n_left_out++;
			continue;
		}
		n_rows++;
		if (group)
			told[group - status->groups] = true;
	}
	free(told);
	return n_left_out;
}

void status_arrange(struct status *status)
{
	size_t n = (size_t)status->jobs.count;
	struct ordered *all = xcalloc(n, sizeof(*all));

	for (size_t i = 0; i < n; i++) {
		enum part part = part_of(status->items[i].state);

		all[i] = (struct ordered){
			status->items[i], part, place_of(&status->items[i], part),
		};
	}
	qsort(all, n, sizeof(*all), by_order);
	status->n_left_out = leave_out(status, all);
	qsort(all, n, sizeof(*all), by_order);
	for (size_t i = 0; i < n; i++)
		status->items[i] = all[i].item;
	free(all);
}

struct status_row *status_rows(const struct status *status, int *n)
{
	bool *told = xcalloc((size_t)status->n_groups + 1, sizeof(*told));
	struct status_row *rows = xcalloc((size_t)status->jobs.count + 1, sizeof(*rows));

	*n = 0;
	for (int i = 0; i < status->jobs.count - status->n_left_out; i++) {
		const struct status_group *group = status_group_of(status, &status->items[i]);

		if (group && told[group - status->groups])
			continue;
		if (group)
			told[group - status->groups] = true;
		rows[(*n)++] = (struct status_row){ &status->items[i], group };
	}
	free(told);
	return rows;
}
