/* student.h - the quantile of Student's t for 95 % confidence intervals.
 *
 * The 0.975 quantile, by the expansion in 1 / freedom to the fourth power (M. Abramowitz and I. A.
 * Stegun, "Handbook of Mathematical Functions", 26.7.5): within 1 % from 2 degrees of freedom on,
 * 0.5 % from 4. Pure. */
#ifndef POLLUX_STUDENT_H
#define POLLUX_STUDENT_H

double student_quantile(double freedom);

#endif
