/* student.h - the quantile of Student's t for 95 % confidence intervals.
 *
 * The 0.975 quantile, by the expansion in 1 / freedom to the fourth power (M. Abramowitz and I. A.
 * Stegun, "Handbook of Mathematical Functions", 26.7.5): within 1 % from 2 degrees of freedom on,
 * 0.5 % from 4. Pure. */
#ifndef POLLUX_STUDENT_H
#define POLLUX_STUDENT_H

#define STUDENT_NORMAL 1.959963984540054	/* 0.975 */

static inline double student_quantile(double freedom)
{
	double z = STUDENT_NORMAL, z2 = z * z, v = freedom;
	double g1 = (z2 + 1) / 4;
	double g2 = ((5 * z2 + 16) * z2 + 3) / 96;
	double g3 = (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
	double g4 = ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / 92160;

	return z * (1 + (g1 + (g2 + (g3 + g4 / v) / v) / v) / v);
}

#endif
