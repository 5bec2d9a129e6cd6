/* recorder_belief.c - what is refused of a report, and what a kept report tells. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "recorder.h"

/* Where no position was reported, the position of the run is that of its log, which may be of a
 * line that is no step: a report counts for more. A kept report does not if the supervisor is
 * another. */
bool recorder_is_of_the_past(const struct recorder *r, const struct run *run,
			   const struct report_message *m)
{
	double last = r->positions.n > 0 ? r->positions.last
		    : r->sender == SENDER_KEPT ? run->last_samples : (double)NAN;

	return m->checkpoint[0] && !m->resumed[0] && m->samples >= 0 && (double)m->samples < last;
}

static void refuse_report(struct recorder *r, struct run *run, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void refuse_report(struct recorder *r, struct run *run, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(run->refusal, sizeof(run->refusal), format, ap);
	va_end(ap);
	run->refused_reports++;
	r->changed = true;
}

/* A program that continues from a checkpoint may stand anywhere. A position that cannot be true is
 * left out, and the rest of its report counts: a program that restarted itself has step times as
 * good as before, and a checkpoint is there whatever its position. */
static void check_position(struct recorder *r, struct run *run, struct report_message *m,
			   double now)
{
	double last = r->positions.last;
	enum position_verdict judgement;

	if (m->samples < 0 || recorder_is_of_the_past(r, run, m))
		return;
	if (m->resumed[0])
		position_restart(&r->positions);
	judgement = position_judge(&r->positions, (double)m->samples, now);
	if (judgement == POSITION_FINE)
		return;
	refuse_report(r, run, "SAMPLES %s from %.0f to %lld",
		      judgement == POSITION_FELL ? "fell" : "jumped", last,
		      (long long)m->samples);
	m->samples = m->step = -1;
}

/* True if a kept report tells more than is known. The same report may have come by the socket, or a
 * later one, whose texts and numbers an older report must not replace. */
static bool is_news(const struct recorder *r, const struct run *run,
		    const struct report_message *m)
{
	double samples = (double)m->samples;

	if (m->resumed[0])
		return r->positions.n == 0 && isnan(run->last_samples);
	if (m->checkpoint[0])
		return m->samples < 0 ? isnan(run->checkpoint_samples)
				      : !(samples <= run->checkpoint_samples);
	if (m->samples >= 0)
		return !(samples <= run->last_samples);
	return m->step >= 0 ? !((double)m->step <= r->steps) : !(r->kept_s <= r->heard_s);
}

bool recorder_believes(struct recorder *r, struct run *run, double now)
{
	if (r->sender == SENDER_FOREIGN) {
		refuse_report(r, run, "sent by a process that is not the job's");
		return false;
	}
	if (r->sender == SENDER_KEPT && !is_news(r, run, &r->message))
		return false;
	if (r->sender != SENDER_OURS)
		report_message_drop_measurements(&r->message);
	check_position(r, run, &r->message, now);
	return true;
}
