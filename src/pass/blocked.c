/* blocked.c - jobs that wait because a device cannot be given out are told which, and why. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pass_state.h"

/* By a profile; 0: none. */
static int64_t reserved_for(const struct pass_state *p, int d)
{
	return p->reservations ? p->reservations[d].job_id : 0;
}

/* By somebody's process. */
static bool is_taken(const struct pass_state *p, int d)
{
	return !p->devices.items[d].usable && device_user_worst(&p->users, d) != NULL;
}

static int count_blocked(const struct pass_state *p)
{
	int n = 0;

	for (int d = 0; d < p->devices.count; d++)
		n += is_taken(p, d) || reserved_for(p, d);
	return n;
}

static int count_free(const struct pass_state *p)
{
	int n = 0;

	for (int d = 0; d < p->devices.count; d++)
		n += p->devices.items[d].usable && p->owner[d] < 0;
	return n;
}

static bool is_out(const struct pass_state *p, int d)
{
	return !p->devices.items[d].usable && p->devices.items[d].reason[0];
}

/* That may come back: those with a reason, and those of profiles, which end. */
static int count_out(const struct pass_state *p)
{
	int n = 0;

	for (int d = 0; d < p->devices.count; d++)
		n += is_out(p, d) || reserved_for(p, d);
	return n;
}

/* The first device to be named: those of other people's processes before those of profiles before the rest.
 * -1: none. */
static int first_of_note(const struct pass_state *p)
{
	int reserved = -1, out = -1;

	for (int d = p->devices.count - 1; d >= 0; d--) {
		reserved = reserved_for(p, d) ? d : reserved;
		out = is_out(p, d) ? d : out;
	}
	for (int d = 0; d < p->devices.count; d++)
		if (is_taken(p, d))
			return d;
	return reserved >= 0 ? reserved : out;
}

/* --- what is said --- */

/* "profile 11 has cpu:0, cpu:1" */
static void describe_profile(const struct pass_state *p, int64_t job_id, struct text *t)
{
	const char *comma = " ";

	text_addf(t, "profile %lld has", (long long)job_id);
	for (int d = 0; d < p->devices.count; d++)
		if (reserved_for(p, d) == job_id) {
			text_addf(t, "%s%s", comma, p->devices.items[d].name);
			comma = ", ";
		}
}

static void describe(const struct pass_state *p, int first, struct text *t)
{
	const struct device *device = &p->devices.items[first];

	if (!is_taken(p, first) && reserved_for(p, first))
		describe_profile(p, reserved_for(p, first), t);
	else
		text_addf(t, "%s: %s", device->name, device->reason);
}

/* Before what the policy says, which goes where there is no room for both. */
static void put_first(char *reason, const char *why)
{
	char both[2 * SCHED_REASON_SIZE];
	size_t n = (size_t)snprintf(both, sizeof(both), "%.191s", why);

	if (reason[0] && n + 2 + strlen(reason) < SCHED_REASON_SIZE)
		snprintf(both + n, sizeof(both) - n, "; %.191s", reason);
	snprintf(reason, SCHED_REASON_SIZE, "%.191s", both);
}

/* What the policy says of a job for which there are too few devices is right only where they do not come back. */
static void put_instead(char *reason, int least, const char *why)
{
	snprintf(reason, SCHED_REASON_SIZE, "needs %d device%s; %.160s", least, least == 1 ? "" : "s", why);
}

/* --- who is told --- */

/* The end of the last budget, on the clock of choices; NaN: no profile has any, or one that cannot be told, or it
 * has passed: a profile stops late where its command does, and nobody knows how late. */
static double profiles_end_s(const struct pass_state *p)
{
	double end_s = (double)NAN;

	for (int d = 0; d < p->devices.count; d++)
		if (reserved_for(p, d))
			end_s = fmax(end_s, p->reservations[d].until_s - p->now_wall_s + p->now_boot_s);
	return end_s > p->now_boot_s ? end_s : (double)NAN;
}

/* A job for which there are too few devices waits for any that might come back; of the others those that
 * would be next, in the order of their submission, as far as what is blocked would do. */
void pass_explain_blocked(struct pass_state *p)
{
	int first = first_of_note(p), blocked = count_blocked(p), free = count_free(p);
	int most = p->n_usable + count_out(p);
	bool by_profile = first >= 0 && !is_taken(p, first) && reserved_for(p, first);
	double end_s = by_profile ? profiles_end_s(p) : (double)NAN;
	struct text why = TEXT_INIT;

	if (first >= 0)
		describe(p, first, &why);
	for (int j = 0; first >= 0 && j < p->n_candidates; j++) {
		struct sched_choice *choice = &p->choices[j];
		int least = p->sched_jobs[j].min_replicas;
		bool is_next = least > free && least <= free + blocked;

		if (choice->replicas > 0 || p->candidates[j].run || least > most)
			continue;
		if (least > p->n_usable && by_profile)
			put_instead(choice->reason, least, why.data);
		else if (least > p->n_usable || is_next)
			put_first(choice->reason, why.data);
		if (!is_next)
			continue;
		choice->next_start_s = fmin(choice->next_start_s, end_s);
		blocked -= least - free;
		free = 0;
	}
	text_release(&why);
}
