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

static inline int tap_true(int pass, const char *condition, const char *file, int line,
			   const char *what)
{
	if (!tap_ok(pass, file, line, what))
		printf("# want true: %s\n", condition);
	return pass;
}

static inline int tap_int(long long got, long long want, const char *file, int line,
			  const char *what)
{
	int pass = tap_ok(got == want, file, line, what);

	if (!pass)
		printf("# want %lld\n# got  %lld\n", want, got);
	return pass;
}

static inline int tap_str(const char *got, const char *want, const char *file, int line,
			  const char *what)
{
	int same = got && want ? strcmp(got, want) == 0 : got == want;
	int pass = tap_ok(same, file, line, what);

	if (!pass)
		printf("# want '%s'\n# got  '%s'\n", want ? want : "(null)", got ? got : "(null)");
	return pass;
}

static inline int tap_near(double got, double want, double rtol, const char *file, int line,
			   const char *what)
{
	int pass = tap_ok(fabs(got - want) <= rtol * fabs(want), file, line, what);

	if (!pass)
		printf("# want %.17g, within %g of that\n# got  %.17g\n", want, rtol, got);
	return pass;
}

static inline int tap_done(void)
{
	printf("1..%d\n", tap_run);
	return tap_failed != 0;
}

#define ok(cond, what) tap_true(!!(cond), #cond, __FILE__, __LINE__, (what))
#define is_int(got, want, what) \
	tap_int((long long)(got), (long long)(want), __FILE__, __LINE__, (what))
#define is_str(got, want, what) tap_str((got), (want), __FILE__, __LINE__, (what))
/* Relative tolerance: |got - want| <= rtol * |want|. */
#define near(got, want, rtol, what) \
	tap_near((got), (want), (rtol), __FILE__, __LINE__, (what))
/* The last statement of main: return done(); */
#define done() tap_done()
/* The number of random cases to try, out of n: all of them if ALL_CASES is set (`make soak` does),
 * otherwise a quarter, and an eighth under the sanitizers, which take several times as long. */
#if defined(__SANITIZE_ADDRESS__)
#define RANDOM_SHARE 8
#else
#define RANDOM_SHARE 4
#endif
#define RANDOM_CASES(n) (getenv("ALL_CASES") ? (n) : (n) / RANDOM_SHARE)
#define skip_all(why) do { printf("1..0 # SKIP %s\n", (why)); exit(0); } while (0)

#endif
