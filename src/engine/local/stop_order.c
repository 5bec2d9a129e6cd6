/* stop_order.c - see stop_order.h. */
#include "stop_order.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/mem.h"

/* --- the decision --- */

/* A program that was told makes no step after this part of the rest of the grace, and no less than
 * so many seconds, but for the one that was under way. */
#define STEPS_PART 0.25
#define STEPS_LEAST_S 3.0
/* The same for a run that shows no steps, and below a light process that is at work. */
#define SILENT_PART 0.5
/* A process that has used less than this part of another's processor time serves or starts the
 * other, which is known where the other has used so much. */
#define LIGHT_PART 0.1
#define LIGHT_FROM_S 10.0
/* In this time a process comes to the end of what one that is gone has printed. */
#define DRAIN_S 2.0
/* the longest way that output takes from process to process */
#define PIPES_MAX 4
#define ANCESTORS_MAX 1000

/* What is known of a process from those above and below. */
struct place {
	double weight_s;	/* the most processor time that the process or one below has used */
	bool starts_heeding;	/* a process below lives and heeds */
	bool is_below;		/* of a process that heeds and is told, or may be told */
	bool waits;		/* for a process above that heeds and is not told yet */
	double told_boot_s;	/* when the last of those above was told; NaN */
};

static bool heeds(const struct stop_process *p)
{
	return (p->heed == PROC_HANDLES || p->heed == PROC_BLOCKS) && !p->has_terminal &&
	       !p->is_srun;
}

static bool is_told(const struct stop_process *p)
{
	return isfinite(p->told_boot_s);
}

static bool descends(const struct stop_order *o, int below, int above)
{
	int i = o->items[below].parent;

	for (int depth = 0; i >= 0 && depth < ANCESTORS_MAX; depth++) {
		if (i == above)
			return true;
		i = o->items[i].parent;
	}
	return false;
}

static struct place *find_places(const struct stop_order *o)
{
	struct place *places = xcalloc((size_t)o->count + 1, sizeof(*places));

	for (int i = 0; i < o->count; i++) {
		places[i].weight_s = o->items[i].cpu_s;
		places[i].is_below = o->is_taken_over;
		places[i].told_boot_s = o->is_taken_over ? o->asked_boot_s : (double)NAN;
	}
	for (int i = 0; i < o->count; i++) {
		const struct stop_process *p = &o->items[i];
		int above = p->parent;

		for (int depth = 0; above >= 0 && depth < ANCESTORS_MAX; depth++) {
			const struct stop_process *a = &o->items[above];

			places[above].weight_s = fmax(places[above].weight_s, p->cpu_s);
			places[above].starts_heeding |= !p->gone && heeds(p);
			if (heeds(a) && is_told(a)) {
				places[i].is_below = true;
				places[i].told_boot_s = fmax(places[i].told_boot_s, a->told_boot_s);
			} else if (heeds(a) && !a->gone) {
				places[i].waits = true;
			}
			above = a->parent;
		}
	}
	return places;
}

static bool is_light(double cpu_s, double other_cpu_s)
{
	return other_cpu_s >= LIGHT_FROM_S && cpu_s < LIGHT_PART * other_cpu_s;
}

/* Of a process that heeds, other pipes than those of its output lead to its workers. */
static bool reads_from(const struct stop_process *reader, const struct stop_process *writer)
{
	int n = heeds(writer) ? PROC_STANDARD : PROC_PRINTS;

	for (int i = 0; i < n; i++)
		for (int j = 0; writer->streams.prints[i] && j < PROC_READS; j++)
			if (reader->streams.reads[j] == writer->streams.prints[i])
				return true;
	return false;
}

/* True if what a process that heeds prints comes to this one, perhaps through others. not_below: a
 * process below that index does not count; -1: all count. */
static bool is_fed(const struct stop_order *o, int i, int not_below, int depth)
{
	const struct stop_process *p = &o->items[i];

	for (int j = 0; j < o->count && p->streams.reads[0]; j++) {
		const struct stop_process *w = &o->items[j];

		if (j == i || w->gone || !reads_from(p, w) || reads_from(w, p))
			continue;
		if (heeds(w) && (not_below < 0 || !descends(o, j, not_below)))
			return true;
		if (!heeds(w) && depth < PIPES_MAX && is_fed(o, j, not_below, depth + 1))
			return true;
	}
	return false;
}

/* True if the process may still have to read what one that is gone has printed, perhaps through
 * others, as tee and gzip. */
static bool is_draining(const struct stop_order *o, int i, double now, int depth, double *next)
{
	bool drains = false;

	for (int j = 0; j < o->count && o->items[i].streams.reads[0]; j++) {
		const struct stop_process *w = &o->items[j];
		double until = w->gone_boot_s + fmin(DRAIN_S, o->grace_s / 2);

		if (j == i || !reads_from(&o->items[i], w) || reads_from(w, &o->items[i]))
			continue;
		if (w->gone && now < until) {
			*next = fmin(*next, until);
			drains = true;
		} else if (!w->gone && !heeds(w) && depth < PIPES_MAX) {
			drains |= is_draining(o, j, now, depth + 1, next);
		}
	}
	return drains;
}

/* What living processes above that were told may do for this one. */
enum above {
	ABOVE_NOTHING,
	/* One that did little itself may have passed the signal on. */
	ABOVE_PASSES_ON,
	/* One may pass the signal on, or may need this process to save. */
	ABOVE_NEEDS,
};

/* One that sleeps until a child ends does nothing: a shell runs its trap when the child has
 * ended. Nor does one reach a process below a shell that has died of the signal. */
static enum above look_for_needs(const struct stop_order *o, int i)
{
	int at = o->items[i].parent;
	enum above most = ABOVE_NOTHING;

	for (int depth = 0; at >= 0 && depth < ANCESTORS_MAX; depth++) {
		const struct stop_process *a = &o->items[at];

		at = a->parent;
		if (a->gone)
			break;
		if (!heeds(a) || !is_told(a) || a->waits_for_child)
			continue;
		if (!is_light(a->cpu_s, o->items[i].cpu_s))
			return ABOVE_NEEDS;
		most = ABOVE_PASSES_ON;
	}
	return most;
}

/* Decides about a process that heeds, below one that was told. */
static bool was_not_passed_on(const struct stop_order *o, int i, const struct place *place,
			      double now, double *next)
{
	double left_s = o->asked_boot_s + o->grace_s - place->told_boot_s;
	double silent_until = place->told_boot_s + SILENT_PART * left_s;
	double steps_s = fmax(STEPS_PART * left_s, STEPS_LEAST_S);
	enum above above = look_for_needs(o, i);

	if (above == ABOVE_NEEDS)
		return false;
	if (above == ABOVE_PASSES_ON)
		steps_s = fmax(SILENT_PART * left_s, STEPS_LEAST_S);
	if (o->step_before_boot_s > place->told_boot_s + steps_s)
		return true;
	if (o->shows_steps || o->is_taken_over || above == ABOVE_PASSES_ON)
		return false;
	if (now < silent_until)
		*next = fmin(*next, silent_until);
	return now >= silent_until;
}

/* What holds for all processes of the run. one_may_save: before it ends. */
struct scene {
	double now, most_cpu_s;
	bool one_may_save, leader_is_gone;
};

static bool tell_heeding(const struct stop_order *o, int i, const struct place *place,
			 const struct scene *scene, double *next)
{
	const struct stop_process *p = &o->items[i];

	if (place->waits)
		return false;
	if (!scene->one_may_save && scene->leader_is_gone)
		return true;
	if (place->is_below)
		return was_not_passed_on(o, i, place, scene->now, next);
	if (p->pid == o->leader)
		return true;
	return !is_light(place->weight_s, scene->most_cpu_s) && !is_fed(o, i, i, 0);
}

static bool tell_heedless(const struct stop_order *o, int i, const struct place *place,
			  const struct scene *scene)
{
	bool is_leader = o->items[i].pid == o->leader;

	if (!scene->one_may_save && (is_leader || scene->leader_is_gone))
		return true;
	if ((place->starts_heeding && o->items[i].leads_terminal) || o->items[i].is_srun)
		return false;
	return (is_leader || place->starts_heeding) && !place->is_below && !place->waits &&
	       !is_fed(o, i, -1, 0);
}

static struct scene scene_of(const struct stop_order *o, const struct place *places, double now)
{
	struct scene scene = { .now = now, .leader_is_gone = true };

	for (int i = 0; i < o->count; i++)
		if (heeds(&o->items[i]))
			scene.most_cpu_s = fmax(scene.most_cpu_s, o->items[i].cpu_s);
	for (int i = 0; i < o->count; i++) {
		const struct stop_process *p = &o->items[i];

		/* A light process that was not told, such as a display server or a dashboard,
		 * serves those that save. */
		scene.one_may_save |= !p->gone && heeds(p) &&
				      (is_told(p) || p->pid == o->leader ||
				       !is_light(places[i].weight_s, scene.most_cpu_s));
		if (p->pid == o->leader && !p->gone)
			scene.leader_is_gone = false;
	}
	return scene;
}

double stop_order_next(const struct stop_order *o, double now, bool *tell)
{
	struct place *places = find_places(o);
	struct scene scene = scene_of(o, places, now);
	double next = INFINITY;

	for (int i = 0; i < o->count; i++) {
		const struct stop_process *p = &o->items[i];

		tell[i] = false;
		if (p->gone || is_told(p))
			continue;
		tell[i] = heeds(p) ? tell_heeding(o, i, &places[i], &scene, &next)
				   : tell_heedless(o, i, &places[i], &scene);
		tell[i] = tell[i] && !is_draining(o, i, now, 0, &next);
	}
	free(places);
	return next;
}

bool stop_order_was_heeded(const struct stop_order *o)
{
	bool was = o->is_taken_over;

	for (int i = 0; i < o->count; i++)
		was |= heeds(&o->items[i]);
	return was;
}

/* --- begin and end --- */

void stop_order_begin(struct stop_order *o, pid_t leader, double asked_boot_s, double grace_s)
{
	*o = (struct stop_order){
		.leader = leader, .asked_boot_s = asked_boot_s, .grace_s = grace_s,
		.step_boot_s = NAN, .step_before_boot_s = NAN,
	};
}

void stop_order_release(struct stop_order *o)
{
	free(o->items);
	stop_order_begin(o, 0, NAN, 0);
}

void stop_order_see_step(struct stop_order *o, double now)
{
	o->shows_steps = true;
	o->step_before_boot_s = o->step_boot_s;
	o->step_boot_s = now;
}

/* --- the processes --- */

/* Looks again at a signal that is only blocked, as it is while a process forks: after 2 ms, then
 * after twice as long each time. */
#define LOOKS 5
#define LOOK_AGAIN_US 2000

/* The newest process with this number that lives, or that began at start_ticks; -1: none. */
static int find(const struct stop_order *o, pid_t pid, int64_t start_ticks)
{
	for (int i = o->count - 1; i >= 0; i--)
		if (o->items[i].pid == pid && (start_ticks ? o->items[i].start_ticks == start_ticks
							   : !o->items[i].gone))
			return i;
	return -1;
}

static void look_at(const struct stop_order *o, struct stop_process *p, int signal_number)
{
	struct proc_streams streams;
	struct proc_times times;
	enum proc_heed heed;

	if (proc_times(p->pid, &times)) {
		p->cpu_s = times.cpu_s;
		p->leads_terminal = times.leads_terminal;
	}
	p->is_srun = o->knows_tasks && proc_has_name(p->pid, "srun");
	p->waits_for_child = proc_waits_for_child(p->pid);
	proc_streams(p->pid, &streams);
	/* one that ends has closed them already */
	if (streams.prints[0] != 0 || streams.reads[0] != 0)
		p->streams = streams;
	if (p->heed == PROC_BLOCKS)
		return;
	/* A handler that was seen counts from then on: it may be gone because the process is
	 * ending. */
	heed = proc_heed(p->pid, signal_number);
	if (isnan(p->told_boot_s) || heed > p->heed)
		p->heed = heed;
}

/* Looks again at the processes that may be in a fork just now. */
static void settle(struct stop_order *o, const bool *was_known, int signal_number)
{
	useconds_t wait_us = LOOK_AGAIN_US;

	for (int look = 1; look < LOOKS; look++, wait_us *= 2) {
		bool unsure = false;

		for (int i = 0; i < o->count; i++)
			unsure |= !was_known[i] && o->items[i].heed == PROC_BLOCKS;
		if (!unsure)
			return;
		usleep(wait_us);
		for (int i = 0; i < o->count; i++)
			if (!was_known[i] && o->items[i].heed == PROC_BLOCKS)
				o->items[i].heed = proc_heed(o->items[i].pid, signal_number);
	}
}

/* Adds the processes that are new, and marks in gone those that are not among the living. */
static void take_list(struct stop_order *o, const struct pid_list *living)
{
	double now = clock_boot_s();
	int known = o->count;
	struct proc_times times;

	for (int i = 0; i < known; i++) {
		if (!o->items[i].gone)
			o->items[i].gone_boot_s = now;
		o->items[i].gone = true;
	}
	for (int i = 0; i < living->count; i++) {
		pid_t pid = living->items[i];
		int at;

		if (!proc_times(pid, &times))
			continue;
		at = find(o, pid, times.start_ticks);
		if (at >= 0) {
			o->items[at].gone = false;
			continue;
		}
		o->items = xgrow(o->items, o->count, sizeof(*o->items));
		o->items[o->count++] = (struct stop_process){
			.pid = pid, .start_ticks = times.start_ticks, .parent = -1,
			.told_boot_s = NAN,
		};
	}
	for (int i = known; i < o->count; i++)
		if (proc_times(o->items[i].pid, &times))
			o->items[i].parent = find(o, times.parent, 0);
}

/* Terminals have negative numbers. */
static bool has_terminal_of(const struct stop_process *p, const struct stop_process *q)
{
	for (int i = 0; i < PROC_READS && p->streams.reads[i] != 0; i++)
		for (int j = 0; j < PROC_PRINTS && p->streams.reads[i] < 0; j++)
			if (q->streams.prints[j] == p->streams.reads[i])
				return true;
	return false;
}

void stop_order_look(struct stop_order *o, const struct pid_list *living, int signal_number)
{
	bool *was_known;

	take_list(o, living);
	was_known = xcalloc((size_t)o->count + 1, sizeof(*was_known));
	for (int i = 0; i < o->count; i++) {
		was_known[i] = o->items[i].heed == PROC_BLOCKS || o->items[i].gone;
		if (!o->items[i].gone)
			look_at(o, &o->items[i], signal_number);
	}
	settle(o, was_known, signal_number);
	free(was_known);
	for (int i = 0; i < o->count; i++) {
		struct stop_process *p = &o->items[i];

		if (p->gone)
			continue;
		p->has_terminal = false;
		for (int j = 0; j < o->count && p->streams.reads[0] != 0; j++)
			p->has_terminal |= j != i && !o->items[j].gone &&
					   o->items[j].heed >= PROC_BLOCKS &&
					   o->items[j].heed != PROC_IGNORES &&
					   has_terminal_of(p, &o->items[j]);
	}
}

double stop_order_tell(struct stop_order *o, int signal_number, double now, stop_send *send_to,
		       void *arg)
{
	bool *tell = xcalloc((size_t)o->count + 1, sizeof(*tell));
	double next = stop_order_next(o, now, tell);

	for (int i = 0; i < o->count; i++) {
		struct stop_process *p = &o->items[i];

		if (!tell[i] || proc_start_ticks(p->pid) != p->start_ticks)
			continue;
		p->told_boot_s = now;
		send_to(arg, p->pid, signal_number);
	}
	free(tell);
	return next;
}
