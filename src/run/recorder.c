/* recorder.c - from datagrams to a few rows. */
#include <math.h>
#include <string.h>

#include "pollux/clock.h"
#include "recorder.h"

#define GRADIENT_WINDOW_S 30.0
#define QUIET_WRITE_S 30.0	/* between writes of nothing but the running time */

void recorder_init(struct recorder *r)
{
	*r = (struct recorder){
		.steps = NAN, .loss = NAN, .epoch = NAN, .last_step = -1,
		.gradient_start_boot_s = NAN,
	};
	step_stats_init(&r->stats);
}

void recorder_release(struct recorder *r)
{
	(void)r;
}

/* A step's own time is best; else the time between two reports over the steps between them. */
static void add_step(struct recorder *r, const struct report_message *m, double now)
{
	double sync_s = m->sync_ns >= 0 ? (double)m->sync_ns * 1e-9 : (double)NAN;

	if (m->step_ns > 0)
		step_stats_add(&r->stats, (double)m->step_ns * 1e-9, sync_s);
	else if (m->step > r->last_step && r->last_step >= 0)
		step_stats_add(&r->stats,
			       (now - r->last_step_boot_s) / (double)(m->step - r->last_step), NAN);
	if (m->step >= 0) {
		r->last_step = m->step;
		r->last_step_boot_s = now;
		r->steps = (double)m->step;
	}
}

static void add_gradient(struct recorder *r, const struct report_message *m, double now)
{
	struct gradient_window *g = &r->gradient;

	if (isnan(m->grad_sqr) || isnan(m->grad_var))
		return;
	if (isnan(r->gradient_start_boot_s)) {
		r->gradient_start_boot_s = now;
		g->first_samples = m->samples >= 0 ? (double)m->samples : (double)NAN;
	}
	g->last_samples = m->samples >= 0 ? (double)m->samples : (double)NAN;
	g->n++;
	g->sum_grad_sqr += m->grad_sqr;
	g->sum_grad_var += m->grad_var;
}

static void add_position(struct run *run, const struct report_message *m, double now)
{
	if ((m->step >= 0 || m->samples >= 0) && isnan(run->first_step_s))
		run->first_step_s = now - run->launch_boot_s;
	if (m->samples >= 0) {
		run->last_samples = (double)m->samples;
		if (isnan(run->first_samples))
			run->first_samples = run->last_samples;
	}
	if (m->checkpoint[0]) {
		run->checkpoint_samples = run->last_samples;
		run->checkpoint_boot_s = now;
	}
}

static void add_texts(struct recorder *r, const struct report_message *m)
{
	if (!isnan(m->loss))
		r->loss = m->loss;
	if (!isnan(m->epoch))
		r->epoch = m->epoch;
	if (m->status[0])
		memcpy(r->status, m->status, sizeof(r->status));
}

bool recorder_add(struct recorder *r, struct run *run, const char *bytes, size_t n, double now_boot_s)
{
	struct report_message *m = &r->message;
	int malformed;

	if (n > REPORT_MESSAGE_SIZE) {
		r->n_malformed++;
		r->changed = true;
		return false;
	}
	malformed = report_message_parse(bytes, n, m);
	if (m->wake)
		return true;
	r->n_reports++;
	r->n_malformed += malformed;
	r->changed = true;
	add_step(r, m, now_boot_s);
	add_gradient(r, m, now_boot_s);
	add_position(run, m, now_boot_s);
	add_texts(r, m);
	return false;
}

/* A window that has lasted long enough is closed by opening the next. */
static void turn_gradient_window(struct recorder *r, double now)
{
	if (isnan(r->gradient_start_boot_s) || now - r->gradient_start_boot_s < GRADIENT_WINDOW_S)
		return;
	r->gradient = (struct gradient_window){ .window = r->gradient.window + 1 };
	r->gradient_start_boot_s = NAN;
}

int recorder_write(struct recorder *r, struct store *store, struct run *run, struct err *err)
{
	double now = clock_boot_s();
	struct observation observation;
	struct progress p = {
		.run = run, .steps = r->steps, .loss = r->loss, .epoch = r->epoch,
		.status_text = r->status[0] ? r->status : NULL,
		.n_reports = r->n_reports, .n_malformed = r->n_malformed,
	};

	if (!r->changed && now - r->written_boot_s < QUIET_WRITE_S)
		return 0;
	if (isfinite(run->launch_boot_s))
		run->duration_s = now - run->launch_boot_s;
	step_stats_close_window(&r->stats);
	if (!r->positions_only && step_stats_result(&r->stats, &observation)) {
		run->step_time_s = observation.step_time_s;
		p.observation = &observation;
	}
	if (!r->positions_only && r->gradient.n > 0)
		p.gradient = &r->gradient;
	if (store_progress_write(store, &p, err))
		return -1;
	r->changed = false;
	r->written_boot_s = now;
	turn_gradient_window(r, now);
	return 0;
}
