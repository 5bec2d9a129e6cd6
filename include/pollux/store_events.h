/* store_events.h - decisions of passes, and events. */
#ifndef POLLUX_STORE_EVENTS_H
#define POLLUX_STORE_EVENTS_H

#include "pollux/store.h"

struct decision_entry {
	int64_t job_id;
	int replicas;
	const char *reason;
};

/* Records a pass that changes something, with the jobs that it changes. */
int store_decision_add(struct store *s, const char *policy, int n_devices,
		       const struct decision_entry *entries, int n, struct err *err);

/* The last recorded decision on a job. */
struct decision_row {
	double time_s;			/* wall clock */
	char *policy, *reason;		/* owned; NULL: there is none */
	int n_devices, replicas;	/* of all devices, and given to the job */
};

int store_decision_of_job(struct store *s, int64_t job_id, struct decision_row *d, struct err *err);
void decision_row_release(struct decision_row *d);

struct event {
	double time_s;		/* wall clock */
	int64_t job_id, run_id;	/* 0: none */
	char *kind, *text;	/* owned */
};

struct event_list {
	struct event *items;	/* owned */
	int count;
};

/* The number of the last one; 0: none yet. */
int store_last_event(struct store *s, int64_t *id, struct err *err);
int store_event_add(struct store *s, int64_t job_id, int64_t run_id, const char *kind,
		    const char *text, struct err *err);
int store_events_of_job(struct store *s, int64_t job_id, struct event_list *list, struct err *err);
/* Reads the events of all jobs after event `after`, up to event `last`. */
int store_events_between(struct store *s, int64_t after, int64_t last, struct event_list *list,
			 struct err *err);
void event_list_release(struct event_list *list);

/* What passes see of the run on the GPUs: one sentence, an event each time it changes. *text: the
 * last one, which the caller frees; "": there is nothing to say, or no longer. */
int store_run_remark(struct store *s, int64_t job_id, int64_t run_id, char **text,
		     struct err *err);
int store_run_set_remark(struct store *s, int64_t job_id, int64_t run_id, const char *text,
			 struct err *err);

#endif
