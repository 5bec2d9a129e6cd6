/* steps_state.h - what is known of the steps in a log; private to src/steps. */
#ifndef POLLUX_STEPS_STATE_H
#define POLLUX_STEPS_STATE_H

#include "bars.h"
#include "log_lines.h"
#include "patterns.h"
#include "track.h"

#define RANK_MAX 32

/* The hits of a pattern before it is locked. */
struct record {
	int hits;			/* hits in a row that count */
	int64_t n;			/* all hits */
	double step, first_arrival_s;
	bool from_0;			/* an epoch 0 was seen */
	bool step_0;			/* a step 0 was seen */
};

/* The last line that told an epoch and no step. */
struct header {
	double epoch, epochs;		/* NaN: no such line yet */
	int first_epoch;
	bool are_bare;			/* sighting: epochs_are_bare */
	int64_t n;			/* the number of such lines */
};

struct steps {
	struct patterns patterns;
	struct log_lines lines;
	struct bars bars;
	struct track track;
	struct record records[PATTERNS_MAX];
	int locked, almost;		/* indices; -1: none */
	uint64_t active;		/* bits of the patterns that are tried */
	/* the job's run before this one: its locked pattern (-1: none), and its counter */
	int former;
	struct track former_track;
	struct header header;
	double final_unit_s;
	/* Hugging Face's trainer, whose bars count updates however often they begin */
	bool is_trainer;
	bool is_lightning;
	bool has_begun;			/* an event of the locked pattern was passed on */
	char rank[RANK_MAX];		/* the only rank that counts */
	size_t rank_length;		/* 0: no rank has printed a step yet */
	double bytes_left, cpu_left_s, refilled_s;	/* budgets of regular expressions */
	double (*cpu_s)(void);		/* NULL: expressions are not timed */
	int64_t n_skipped;
	steps_sink *sink;		/* of the present call */
	void *arg;
};

/* steps_follow.c */
/* Takes a line that pattern i matches. */
void steps_see(struct steps *s, int i, struct sighting *seen);
/* NULL: no pattern is locked. */
const struct pattern *steps_locked_pattern(const struct steps *s);

#endif
