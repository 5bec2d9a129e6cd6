/* noise_trust.h - which of the reported gradient statistics of a workload are believed;
 * private to the model.
 *
 *	struct noise_trust *trust = noise_trust_new(windows, n, own_job, initial_batch_size);
 *	noise_trust_at(trust, position, horizon);
 *	if (noise_trust_has(trust, i)) ...		// windows[i] counts
 *	noise_trust_free(trust);
 *
 * Averages of |G|^2 and tr(Sigma) follow the largest value among them: one report of 1e139 decides
 * for all jobs of a workload. Three rules bound what one report, one window and one job can do.
 *
 * A window is left out if its |tr(Sigma)| is more than NOISE_SPREAD times the median of those of
 * its neighbours (itself, two windows before and two after, of the same job), or if its |G|^2 is
 * more than NOISE_SPREAD times the median of their |g|^2 = |G|^2 + tr(Sigma) / M. This is the
 * running median of F. R. Hampel, "The influence curve and its role in robust estimation", J. Am.
 * Stat. Assoc. 69 (1974), 383-393, with a fixed limit: gradients change by orders of magnitude over
 * a training, but not from one window to the next. Two windows decide nothing.
 *
 * A job's own noise scale, from its windows that are left, is its level: tr(Sigma) / |G|^2, or the
 * low end of the interval where |G|^2 is not positive. No job is believed whose level is beyond
 * NOISE_PLAUSIBLE^2 times the initial batch size, or below the inverse of that: no other check
 * exists for a workload that only one job has measured.
 *
 * Three jobs that know their noise scale near the position, by updates within one horizon, outvote
 * any other. Then only such jobs count, and of these only those whose level is within
 * NOISE_AGREEMENT of the lower median of all levels. Whatever one further job says, the lower
 * median of four lies among the levels of any three of them. The quotient of sums lies between the
 * smallest and the largest quotient of their terms. So where three jobs have levels from a to c,
 * the result is from a / NOISE_AGREEMENT to c * NOISE_AGREEMENT. If two camps are of one size, the
 * lower one counts: a noise scale that is too small is the safe side.
 *
 * A job prefers its own windows to those of others, unless three others near the position are known
 * and its level differs from their lower median by more than the factor NOISE_PLAUSIBLE. */
#ifndef MODEL_NOISE_TRUST_H
#define MODEL_NOISE_TRUST_H

#include "pollux/noise_scale.h"

#define NOISE_SPREAD 1e3
#define NOISE_PLAUSIBLE 1e3
#define NOISE_AGREEMENT 4.0
#define NOISE_VOTERS 3

struct noise_trust;

/* windows belongs to the caller, and must not change before noise_trust_free(). */
struct noise_trust *noise_trust_new(const struct noise_window *windows, int n, int64_t own_job,
				    int64_t initial_batch_size);
/* Judges the jobs at a position. */
void noise_trust_at(struct noise_trust *t, double position, double horizon);
/* True if the window counts in an estimate for any job of the workload. */
bool noise_trust_has(const struct noise_trust *t, int window);
/* True if the window counts in an estimate of the job itself. */
bool noise_trust_has_own(const struct noise_trust *t, int window);
/* Returns the first job that is known near the position and not believed (0: none); *n: the number
 * of such jobs. */
int64_t noise_trust_doubted(const struct noise_trust *t, int *n);
void noise_trust_free(struct noise_trust *t);

#endif
