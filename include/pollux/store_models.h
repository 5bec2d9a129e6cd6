/* store_models.h - models: what is known of a workload on one kind of device. */
#ifndef POLLUX_STORE_MODELS_H
#define POLLUX_STORE_MODELS_H

#include "pollux/fit.h"
#include "pollux/store.h"

struct model_row {
	struct fit_result fit;		/* params, basis, stop, objective, rmse_*, n_observations */
	int64_t n_steps;		/* that the observations rest on */
	int max_replicas;		/* the most that were ever measured */
	int max_nodes;			/* the same; 0, from an older version: 1 */
	int64_t max_local_batch_size;	/* the largest that was ever measured */
	char observations_key[64];	/* see struct workload_stamp */
	double fit_time_s;		/* wall clock */
};

/* *found: whether there is a model; without one *model stays as it is. */
int store_model_get(struct store *s, const char *workload, const char *device_kind,
		    struct model_row *model, bool *found, struct err *err);
int store_model_set(struct store *s, const char *workload, const char *device_kind,
		    const struct model_row *model, struct err *err);

/* A kind of device that the workload has a model on: the preferred one (NULL: none is), or else
 * that of most steps. The caller's to free. *kind NULL: it has none. */
int store_model_kind(struct store *s, const char *workload, const char *preferred, char **kind,
		     struct err *err);

/* One for each workload with queued or running jobs and observations on this kind of device. */
struct workload_stamp {
	char *workload;			/* owned */
	char observations_key[64];	/* changes when an observation does */
};

struct workload_stamp_list {
	struct workload_stamp *items;	/* owned */
	int count;
};

/* plans: also one for each plan of such a workload (execution_plan.h). */
int store_workload_stamps(struct store *s, const char *device_kind, bool plans,
			  struct workload_stamp_list *list, struct err *err);
void workload_stamp_list_release(struct workload_stamp_list *list);

/* The parameters of the workload's model, as last declared or reported; NaN: unknown. */
int store_workload_set_parameters(struct store *s, const char *workload, double n, struct err *err);
int store_workload_get_parameters(struct store *s, const char *workload, double *n,
				  struct err *err);

#endif
