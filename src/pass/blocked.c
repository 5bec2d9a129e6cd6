/* blocked.c - jobs that wait because a device cannot be given out are told which one, and why. */
#include <math.h>
#include <stdio.h>
#include <string.h>

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

/* Puts a sentence before the policy's; the latter is left out where there is no room for both. */
void put_reason_first(char *reason, const char *why)
{
	char both[2 * SCHED_REASON_SIZE];
	size_t n = (size_t)snprintf(both, sizeof(both), "%.191s", why);

	if (reason[0] && n + 2 + strlen(reason) < SCHED_REASON_SIZE)
		snprintf(both + n, sizeof(both) - n, "; %.191s", reason);
	snprintf(reason, SCHED_REASON_SIZE, "%.191s", both);
}

/* "profile 11 has cpu:0, cpu:1". Returns the end of the last profile's budget, on the boot clock;
 * NaN: it cannot be told, or has passed. A profile whose command stops late is late itself, and
 * nobody knows by how much. */
static double describe_profile(const struct snapshot *s, int64_t profile, struct text *t)
{
	double end_s = (double)NAN;
	const char *comma = " ";

	text_addf(t, "profile %lld has", (long long)profile);
	for (int i = 0; i < s->devices.count; i++) {
		if (profile_of(s, i))
			end_s = fmax(end_s, s->holds[i].until_s - s->now_wall_s + s->now_boot_s);
		if (profile_of(s, i) != profile)
			continue;
		text_addf(t, "%s%s", comma, s->devices.items[i].name);
		comma = ", ";
	}
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
	double end_s = (double)NAN;
	struct text why = TEXT_INIT;

	if (profile)
		end_s = describe_profile(s, profile, &why);
	else if (first >= 0)
		text_addf(&why, "%s: %s", s->devices.items[first].name,
			  s->devices.items[first].reason);
	for (int j = 0; first >= 0 && j < d->n; j++) {
		struct sched_choice *choice = &d->choices[j];
		int least = d->sched_jobs[j].min_replicas;
		bool is_next = least > n.free && least <= n.free + n.taken_or_held;

		if (choice->replicas > 0 || d->candidates[j].run ||
		    least > d->n_usable + n.out_or_held)
			continue;
		/* The policy's sentence about a job that needs more devices than there are is right
		 * only if no device comes back. */
		if (least > d->n_usable && profile)
			snprintf(choice->reason, SCHED_REASON_SIZE, "needs %d device%s; %.160s",
				 least, least == 1 ? "" : "s", why.data);
		else if (least > d->n_usable || is_next)
			put_reason_first(choice->reason, why.data);
		if (!is_next)
			continue;
		choice->next_start_s = fmin(choice->next_start_s, end_s);
		n.taken_or_held -= least - n.free;
		n.free = 0;
	}
	text_release(&why);
}
