/* blocked.c - jobs that wait because a device cannot be given out are told which one, and why. */
#include <math.h>

#include "stages.h"

/* The profile that keeps the device; 0: none. */
static int64_t profile_of(const struct snapshot *s, int device)
{
	return s->holds ? s->holds[device].job_id : 0;
}

/* True if somebody's process keeps the device from being given out. */
static bool is_taken(const struct snapshot *s, const struct decision *d, int device)
{
	return !d->usable[device] && !s->devices.items[device].left_out &&
	       device_user_worst(&s->users, device) != NULL;
}

/* True if the device itself cannot be used, for a reason that may pass. */
static bool is_out(const struct snapshot *s, const struct decision *d, int device)
{
	/* then people_turns.c tells the reason */
	bool is_known = s->elsewhere && s->elsewhere[device] && s->people.count > 0;

	return !d->usable[device] && s->devices.items[device].reason[0] && !is_known;
}

struct counts {
	int taken_or_held, free, out_or_held;
};

static struct counts count_devices(const struct snapshot *s, const struct decision *d)
{
	struct counts n = { 0 };

	for (int i = 0; i < s->devices.count; i++) {
		bool held = profile_of(s, i) != 0;

		n.taken_or_held += held || is_taken(s, d, i);
		n.out_or_held += held || is_out(s, d, i);
		n.free += d->usable[i] && d->owner[i] < 0;
	}
	return n;
}

/* The device to name: first a device on which somebody has a process, then a device of a profile,
 * then any other that cannot be used. -1: none. */
static int first_of_note(const struct snapshot *s, const struct decision *d)
{
	int held = -1, out = -1;

	for (int i = s->devices.count - 1; i >= 0; i--) {
		held = profile_of(s, i) ? i : held;
		out = is_out(s, d, i) ? i : out;
	}
	for (int i = 0; i < s->devices.count; i++)
		if (is_taken(s, d, i))
			return i;
	return held >= 0 ? held : out;
}

/* The devices of a profile. */
static struct fact describe_profile(const struct snapshot *s, struct decision *d, int64_t profile)
{
	bool *in = decision_calloc(d, (size_t)s->devices.count, sizeof(*in));

	for (int i = 0; i < s->devices.count; i++)
		in[i] = profile_of(s, i) == profile;
	return (struct fact){ FACT_PROFILE_HAS, .job = profile,
			      .set = { .of = &s->devices, .in = in } };
}

/* The end of the last profile's budget, on the boot clock; NaN: it cannot be told, or has passed. A
 * profile whose command stops late is late itself, and nobody knows by how much. */
static double profiles_end_s(const struct snapshot *s)
{
	double end_s = (double)NAN;

	for (int i = 0; i < s->devices.count; i++)
		if (profile_of(s, i))
			end_s = fmax(end_s, s->holds[i].until_s - s->now_wall_s + s->now_boot_s);
	return end_s > s->now_boot_s ? end_s : (double)NAN;
}

/* A job that needs more devices than there are waits for any device that might come back. Of the
 * other waiting jobs, the next ones in the order of submission are told, as many as could run on
 * the blocked devices. */
void explain_blocked(const struct snapshot *s, struct decision *d)
{
	struct counts n = count_devices(s, d);
	int first = first_of_note(s, d);
	int64_t profile = first >= 0 && !is_taken(s, d, first) ? profile_of(s, first) : 0;
	double end_s = profile ? profiles_end_s(s) : (double)NAN;
	struct fact why = { .kind = FACT_DEVICE_OUT };

	if (profile) {
		why = describe_profile(s, d, profile);
	} else if (first >= 0) {
		why.name = s->devices.items[first].name;
		why.why = s->devices.items[first].reason;
	}
	for (int j = 0; first >= 0 && j < d->n; j++) {
		struct sched_choice *choice = &d->choices[j];
		int least = d->sched_jobs[j].min_replicas;
		bool is_next = least > n.free && least <= n.free + n.taken_or_held;

		if (choice->replicas > 0 || d->candidates[j].run ||
		    least > d->n_usable + n.out_or_held)
			continue;
		/* The policy's sentence about a job that needs more devices than there are is right
		 * only if no device comes back. */
		if (least > d->n_usable && profile) {
			choice->verdict = verdict_of((struct fact){ FACT_NEEDS,
								    .devices = least });
			verdict_add(&choice->verdict, why);
		} else if (least > d->n_usable || is_next) {
			verdict_put_first(&choice->verdict, why);
		}
		if (!is_next)
			continue;
		choice->next_start_s = fmin(choice->next_start_s, end_s);
		n.taken_or_held -= least - n.free;
		n.free = 0;
	}
}
