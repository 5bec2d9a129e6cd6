/* recorder.c - see recorder.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pollux/clock.h"
#include "pollux/mem.h"
#include "pollux/store_measurements.h"
#include "recorder.h"

/* --- other devices, or another number of processors --- */

/* The step times so far were measured in other circumstances. */
static void forget_step_times(struct recorder *r)
{
	step_stats_init(&r->stats);
	observation_init(&r->earlier);
	r->last_step = -1;
}

/* Step times on devices that are joined otherwise are others: a suspended run may have come back
 * to such devices. */
static int see_tier(struct recorder *r, struct store *store, const struct run *run,
		    struct err *err)
{
	bool changed = r->tier_is_known && r->tier != run->configuration.tier;
	struct observation earlier;

	if (changed) {
		observation_init(&earlier);
		if (store_observation_get(store, run, &earlier, err))
			return -1;
		r->tiers_differ = true;
		forget_step_times(r);
		r->earlier = earlier;
	}
	r->tier = run->configuration.tier;
	r->tier_is_known = true;
	return 0;
}

#define PROCESSORS_MAX 1024

/* Marks the processors of a list, and returns how many were not marked before. */
static int mark(bool *seen, const char *list)
{
	long first, last;
	int n = 0;

	while (device_next_span(&list, &first, &last))
		for (long p = first; p >= 0 && p <= last && p < PROCESSORS_MAX; p++) {
			n += !seen[p];
			seen[p] = true;
		}
	return n;
}

/* The processors that the run has for each device: those that a pass gave it, or those near its
 * devices. 0: it may have any. */
static int cores_of(const struct run *run)
{
	bool seen[PROCESSORS_MAX] = { false };
	int replicas = run->configuration.replicas, n = mark(seen, run->cores);

	for (int i = 0; !run->cores[0] && run->devices && i < replicas; i++) {
		if (!run->devices[i].binding[0])
			return 0;
		n += mark(seen, run->devices[i].binding);
	}
	if (n == 0 || replicas < 1)
		return 0;
	return n < replicas ? 1 : n / replicas;
}

/* --- reports become a few rows of the store --- */

#define QUIET_WRITE_S 30.0	/* between writes of the running time alone */

void recorder_init(struct recorder *r)
{
	*r = (struct recorder){
		.steps = NAN, .epoch = NAN, .last_step = -1,
		.printed_total_steps = NAN, .first_logged_position = NAN, .base_samples = NAN,
		.log_total = { .first_position = NAN, .first_steps = NAN },
		.gradient_start_boot_s = NAN,
		.total_samples = NAN, .total_steps = NAN, .total_epochs = NAN,
		.start = { NAN, NAN, NAN, NAN, false }, .first_position = NAN, .began = NAN,
		.position_s = NAN, .kept_s = NAN, .heard_s = NAN,
		.oom.bytes = -1, .resumes = -1, .unseen_steps = NAN,
		.logged_part = NAN,
	};
	step_stats_init(&r->stats);
	observation_init(&r->earlier);
}

void recorder_begin(struct recorder *r, const struct job *job)
{
	const struct progress *p = &job->progress;

	if (!job->profile)
		r->start = (struct recorder_start){
			p->position_doubt == POSITION_OLD ? (double)NAN : p->samples,
			p->lost_samples, p->lost_s, p->run_time_s,
			isfinite(p->checkpoint_samples) && p->position_doubt == POSITION_KNOWN,
		};
}

int recorder_go_on(struct recorder *r, struct store *store, const struct run *run, struct err *err)
{
	int64_t windows;

	r->position_is_known = true;
	r->stage_first_samples = run->stage > 1 ? (double)NAN : 0;
	r->steps_are_reported = !strcmp(run->step_source, "reports");
	if (store_observation_get(store, run, &r->earlier, err) ||
	    store_gradient_windows(store, run->id, &windows, err))
		return -1;
	r->tier = run->configuration.tier;
	r->tier_is_known = true;
	if (run->measured_cores > 0) {
		r->cores = run->measured_cores;
		r->cores_are_known = true;
	}
	r->gradient.window = (int)windows;
	return 0;
}

void recorder_skip_pause(struct recorder *r)
{
	r->spans_pause = true;
}

/* True if, as far as known, the report was made at the run's present configuration. */
static bool measures(const struct run *run, const struct report_message *m)
{
	return m->config < 0 || m->config == run->config_version;
}

/* Steps that are reported replace those of the log. */
static void see_reported(struct recorder *r, struct run *run, const struct report_message *m)
{
	bool begins = !r->steps_are_reported && (m->step >= 0 || m->step_ns > 0);

	/* the positions of the log may come from a line that is no step */
	if (begins && m->samples >= 0 && !isnan(r->first_logged_position) &&
	    !r->samples_are_reported && !r->position_is_known) {
		run->first_samples = r->first_position = r->began = (double)NAN;
		run->lost_samples = run->lost_s = 0;
	}
	r->samples_are_reported |= m->samples >= 0;
	if (!begins)
		return;
	r->steps_are_reported = true;
	if (*run->step_source)
		step_stats_init(&r->stats);
	r->printed_total_steps = 0;
	r->counts_from_0 = r->total_may_be_of_epoch = false;
	r->unseen_steps = 0;
	r->logged_part = (double)NAN;
	snprintf(run->step_source, sizeof(run->step_source), "reports");
}

/* Uses the step's own time if the report has one, otherwise the time between two reports divided by
 * the steps between them. */
static void add_step(struct recorder *r, const struct run *run, const struct report_message *m,
		     double now)
{
	double sync_s = m->sync_ns >= 0 ? (double)m->sync_ns * 1e-9 : (double)NAN;
	bool counts = measures(run, m) && r->sender != SENDER_KEPT &&
		      !(m->step_ns > 0 && r->spans_pause);
	int64_t steps = r->last_step >= 0 && m->step > r->last_step ? m->step - r->last_step : 0;

	if (counts && m->step_ns > 0)
		step_stats_add_mean(&r->stats, (double)m->step_ns * 1e-9, sync_s,
				    steps > 0 ? steps : 1);
	else if (counts && steps > 0)
		step_stats_add(&r->stats, (now - r->last_step_boot_s) / (double)steps, NAN);
	if (m->step >= 0 || m->step_ns > 0)
		r->spans_pause = false;
	if (m->step >= 0 && !recorder_is_of_the_past(r, run, m)) {
		r->last_step = m->step;
		r->last_step_boot_s = now;
		r->steps = (double)m->step;
	}
}

/* The program has changed to the wanted configuration. A failed write loses little: the last write
 * was two seconds ago. */
static void change_configuration(struct recorder *r, struct store *store, struct run *run)
{
	struct err err;

	r->changed = true;
	recorder_write(r, store, run, &err);
	if (recorder_has_window(r))
		recorder_open_gradient_window(r);
	run->config_version = run->wanted_version;
	run->configuration = run->wanted;
	run->learning_rate_scale = run->wanted_learning_rate_scale;
	run->step_time_s = NAN;
	step_stats_init(&r->stats);
	store_observation_get(store, run, &r->earlier, &err);
	r->last_step = -1;
	r->first_logged_position = NAN;
}

/* Keeps the last value of each text and number that the report has. */
static void add_values(struct recorder *r, struct run *run, const struct report_message *m)
{
	if (m->framework[0])
		snprintf(run->framework, sizeof(run->framework), "%.95s", m->framework);
	if (m->helper.given)
		memcpy(run->helper, m->helper.text, sizeof(run->helper));
	if (m->loss.given)
		r->loss = m->loss;
	if (!isnan(m->epoch))
		r->epoch = m->epoch;
	if (m->status[0])
		memcpy(r->status, m->status, sizeof(r->status));
	if (m->parameters > 0)
		r->parameters = m->parameters;
	if (m->resumes >= 0)
		r->resumes = m->resumes;
	if (m->total_steps >= 0)	/* 0: it is not known any more; so for epochs and samples */
		r->total_steps = (double)m->total_steps;
	if (m->total_epochs >= 0)
		r->total_epochs = m->total_epochs;
	if (training_end_parse(m->ends) != END_UNKNOWN)
		r->end = training_end_parse(m->ends);
	if (optimizer_family_of(m->optimizer) != OPTIMIZER_UNKNOWN)
		snprintf(r->optimizer, sizeof(r->optimizer), "%.95s", m->optimizer);
	if (m->peak_bytes > run->peak_allocated_bytes)
		run->peak_allocated_bytes = m->peak_bytes;
	if (m->out_of_memory >= 0)
		r->oom = (struct recorder_oom){ m->out_of_memory, m->peak_bytes, m->limit_bytes };
	else if (m->step_ns > 0)	/* the program has dealt with the failed allocation */
		r->oom.bytes = -1;
}

/* Another training of the run begins. How long it is is not known yet. */
static void begin_stage(struct recorder *r, struct run *run, const struct report_message *m)
{
	if (m->stage <= run->stage || m->step < 0)
		return;
	run->stage = m->stage;
	run->stage_first_steps = (double)m->step;
	r->stage_first_samples = m->samples >= 0 ? (double)m->samples : (double)NAN;
	r->total_steps = r->total_samples = r->total_epochs = 0;
	r->total_samples_are_reported = false;
	r->has_ended = r->came_to_its_end = false;
}

static void add_position(struct recorder *r, struct run *run, const struct report_message *m,
			 double now)
{
	recorder_add_start(r, run, m);
	if ((m->step >= 0 || m->samples >= 0) && isnan(run->first_step_s))
		run->first_step_s = now - run->launch_boot_s;
	if (m->samples >= 0 && !recorder_is_of_the_past(r, run, m)) {
		run->last_samples = (double)m->samples;
		r->position_s = now;
		if (isnan(run->first_samples))
			run->first_samples = run->last_samples;
		recorder_see_position(r, run, run->last_samples);
	}
	if (m->checkpoint[0]) {
		run->checkpoint_samples = m->samples >= 0 ? (double)m->samples
							  : run->last_samples;
		run->checkpoint_boot_s = now;
		xreplace(&run->checkpoint_path, m->checkpoint);
	}
	if (m->total_samples >= 0) {
		r->total_samples = (double)m->total_samples;
		r->total_samples_are_reported = m->total_samples > 0;
	}
	if (!r->total_samples_are_reported && m->total_epochs <= 0)
		r->total_samples = 0;
	/* the samples of all epochs follow from those of the epochs done */
	if (!r->total_samples_are_reported && m->epoch > 0 && r->total_epochs > 0 &&
	    m->samples > 0 && !isnan(r->stage_first_samples))
		r->total_samples = r->stage_first_samples + r->total_epochs / m->epoch *
				   (run->last_samples - r->stage_first_samples);
}

bool recorder_add(struct recorder *r, struct store *store, struct run *run, const char *bytes,
		  size_t n, double now_boot_s)
{
	struct report_message *m = &r->message;
	int malformed;

	if (n > REPORT_MESSAGE_SIZE) {
		run->malformed_reports++;
		r->changed = true;
		return false;
	}
	malformed = report_message_parse(bytes, n, m);
	if (m->wake)
		return true;
	if (!recorder_believes(r, run, now_boot_s))
		return false;
	if (r->sender != SENDER_KEPT)
		r->heard_s = now_boot_s;
	if (m->config >= 0)
		run->takes_configs = true;
	if (m->config >= 0 && m->config > run->config_version && m->config == run->wanted_version)
		change_configuration(r, store, run);
	run->reports++;
	run->malformed_reports += malformed;
	r->changed = true;
	see_reported(r, run, m);
	begin_stage(r, run, m);
	recorder_add_ended(r, m);
	add_step(r, run, m, now_boot_s);
	if (measures(run, m)) {
		recorder_add_loss(r, run, m, now_boot_s);
		recorder_add_gradient(r, run, m, now_boot_s);
	}
	add_values(r, run, m);
	add_position(r, run, m, now_boot_s);
	recorder_add_metrics(r, run, m);
	return false;
}

/* Step times of a run that shares its device count for whoever is beside it. Those of the time in
 * which somebody came or left count for nothing. */
static int see_others(struct recorder *r, struct store *store, const struct run *run,
		      struct err *err)
{
	char beside[RECORDER_BESIDE_SIZE];

	if (run->configuration.share == 0)
		return 0;
	if (store_share_beside(store, run->id, beside, sizeof(beside), err))
		return -1;
	if (!strcmp(beside, r->beside))
		return 0;
	snprintf(r->beside, sizeof(r->beside), "%s", beside);
	forget_step_times(r);
	return beside[0] ? 0 : store_observation_get(store, run, &r->earlier, err);
}

/* Alone, step times are the workload's; beside one other run they tell what the two do to each
 * other. */
static int write_step_times(struct recorder *r, struct store *store, struct run *run,
			    struct observation *o, struct run_update *p, struct err *err)
{
	bool stay = run->config_version > 0 || r->tiers_differ;

	/* A window of the warm-up counts only where no other run in this configuration was
	 * measured. */
	if (r->positions_only ||
	    !(step_stats_result(&r->stats, o) ||
	      (r->earlier.n_windows == 0 && step_stats_provisional(&r->stats, o))))
		return 0;
	run->step_time_s = o->step_time_s;
	if (run_has_no_device(run))
		return 0;	/* they tell nothing of devices */
	if (r->beside[0])
		return strcmp(r->beside, "*") != 0
			? store_share_put(store, run, r->beside, o, err) : 0;
	observation_merge(o, &r->earlier);
	/* Until step times with another number of cores take their place, those of the number
	 * before are stored. Where the run had other sizes or another tier, step times of both
	 * numbers stay, and the number is not known. */
	if (run->measured_cores > 0 && run->measured_cores != r->cores && stay)
		run->measured_cores = RUN_CORES_DIFFER;
	else if (run->measured_cores >= 0)
		run->measured_cores = r->cores;
	p->observation = o;
	return 0;
}

int recorder_write(struct recorder *r, struct store *store, struct run *run, struct err *err)
{
	double now = run_clock_s(run, clock_boot_s());
	struct observation observation;
	struct run_update p = {
		.run = run, .steps = r->steps, .has_loss = r->loss.given, .loss = r->loss.value,
		.epoch = r->epoch,
		.position_is_least = isnan(r->unseen_steps) ? -1 : r->unseen_steps > 0,
		.printed_total_steps = r->printed_total_steps,
		.total_samples = r->total_samples, .total_steps = r->total_steps,
		.total_epochs = r->total_epochs,
		.end = r->end, .optimizer = r->optimizer[0] ? r->optimizer : NULL,
		.resumes = r->resumed ? 1 : r->resumes < 0 ? -1 : r->resumes > 0,
		.saves_when_asked = r->resumes > 1 ? 1 : -1,
		.status_text = r->status[0] ? r->status : NULL,
		.parameters = r->parameters,
	};
	int cores;

	if (!r->changed && now - r->written_boot_s < QUIET_WRITE_S)
		return 0;
	if (isfinite(run->launch_boot_s))
		run->duration_s = now - run->launch_boot_s;
	step_stats_close_window(&r->stats);
	if (see_tier(r, store, run, err))
		return -1;
	cores = cores_of(run);
	/* Step times with more or fewer cores are others: a pass may have bound the run anew. */
	if (r->cores_are_known && r->cores != cores)
		forget_step_times(r);
	r->cores = cores;
	r->cores_are_known = true;
	if (see_others(r, store, run, err) ||
	    write_step_times(r, store, run, &observation, &p, err))
		return -1;
	if (!r->positions_only && recorder_has_window(r))
		p.gradient = &r->gradient;
	if (store_run_update(store, &p, err) ||
	    recorder_write_metrics(r, store, run, err))
		return -1;
	r->changed = false;
	r->written_boot_s = now;
	recorder_turn_gradient_window(r, now);
	return 0;
}
