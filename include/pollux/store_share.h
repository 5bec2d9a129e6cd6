/* store_share.h - step times of runs that share a device, and which workloads do not fit beside
 * each other. */
#ifndef POLLUX_STORE_SHARE_H
#define POLLUX_STORE_SHARE_H

#include "pollux/share_pair.h"
#include "pollux/store_measurements.h"

/* Finds the workload that is at work on the device of this run. "": there is none; "*": there are
 * several. */
int store_share_beside(struct store *s, int64_t run_id, char *beside, size_t size,
		       struct err *err);
/* Counts the other runs that are at work on the device of this run. */
int store_share_count(struct store *s, int64_t run_id, int64_t *count, struct err *err);
/* Stores the step times of a run beside another workload, in its present configuration. Step times
 * that are there already are replaced. */
int store_share_put(struct store *s, const struct run *run, const char *beside,
		    const struct observation *o, struct err *err);
/* Reads what became of the workload beside the other one, by the newest runs on this kind of
 * device. */
int store_share_factor(struct store *s, const char *workload, const char *beside,
		       const char *device_kind, struct share_factor *f, struct err *err);
/* Counts the windows that tell the step time of the workload on a device of its own; 0: not
 * measured. */
int store_share_windows_alone(struct store *s, const char *workload, const char *device_kind,
			      int64_t *windows, struct err *err);
/* Reads the largest amount of the machine's memory that the newest runs of the workload had; 0: not
 * known. */
int store_share_memory(struct store *s, const char *workload, int64_t *bytes, struct err *err);
/* Keeps workloads apart after a run ran out of memory while others were on its device, or just
 * after they had ended. Its workload and theirs do not meet again. *news: true if this was new for
 * at least one of them. */
int store_share_keep_apart(struct store *s, const struct run *run, bool *news, struct err *err);

/* A workload that was beside another one. */
struct share_pair {
	char *beside;			/* owned; the other workload */
	struct share_factor own, other;
};

struct share_pair_list {
	struct share_pair *items;	/* owned */
	int count;
};

/* Reads all pairs of the workload on a kind of device. */
int store_share_pairs(struct store *s, const char *workload, const char *device_kind,
		      struct share_pair_list *list, struct err *err);
void share_pair_list_release(struct share_pair_list *list);

#endif
