/* tap.h - the Test Anything Protocol for unit tests; prove(1) runs them.
 *
 * int main(void) { ok(1 + 1 == 2, "sums"); is_str(name, "x", "name"); return done(); }
 *
 * Every check prints its own line, returns whether it passed, and evaluates
 * its arguments once. A program that cannot run here says skip_all("why").
 */
#ifndef TAP_H
#define TAP_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int tap_run, tap_failed;

static inline int tap_ok(int pass, const char *file, int line, const char *what)
{
	printf("%sok %d - %s\n", pass ? "" : "not ", ++tap_run, what);
	if (!pass) {
		tap_failed++;
		printf("# at %s:%d\n", file, line);
	}
	/* What a crash or a fork would otherwise lose or print twice. */
	fflush(stdout);
	return pass;
}

static inline int tap_int(long long got, long long want, const char *file, int line,
			  const char *what)
{
	int pass = tap_ok(got == want, file, line, what);

	if (!pass)
		printf("# got %lld, want %lld\n", got, want);
	return pass;
}

static inline int tap_str(const char *got, const char *want, const char *file, int line,
			  const char *what)
{
	int same = got && want ? strcmp(got, want) == 0 : got == want;
	int pass = tap_ok(same, file, line, what);

	if (!pass)
		printf("# got '%s', want '%s'\n", got ? got : "(null)", want ? want : "(null)");
	return pass;
}

static inline int tap_near(double got, double want, double rtol, const char *file, int line,
			   const char *what)
{
	int pass = tap_ok(fabs(got - want) <= rtol * fabs(want), file, line, what);

	if (!pass)
		printf("# got %.17g, want %.17g\n", got, want);
	return pass;
}

static inline int tap_done(void)
{
	printf("1..%d\n", tap_run);
	return tap_failed != 0;
}

#define ok(cond, what) tap_ok(!!(cond), __FILE__, __LINE__, (what))
#define is_int(got, want, what) \
	tap_int((long long)(got), (long long)(want), __FILE__, __LINE__, (what))
#define is_str(got, want, what) tap_str((got), (want), __FILE__, __LINE__, (what))
/* Relative tolerance: |got - want| <= rtol * |want|. */
#define near(got, want, rtol, what) \
	tap_near((got), (want), (rtol), __FILE__, __LINE__, (what))
/* The last statement of main: return done(); */
#define done() tap_done()
/* How many random cases: the sanitizers take ten times as long, and look for faults that many cases share. */
#if defined(__SANITIZE_ADDRESS__)
#define RANDOM_CASES(n) ((n) / 4)
#else
#define RANDOM_CASES(n) (n)
#endif
#define skip_all(why) do { printf("1..0 # SKIP %s\n", (why)); exit(0); } while (0)

#endif
