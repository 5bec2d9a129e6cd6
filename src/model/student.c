/* student.c - computes the quantile of Student's t from the normal quantile. */
#include "pollux/student.h"

#define NORMAL_QUANTILE 1.959963984540054	/* 0.975 */

double student_quantile(double freedom)
{
	double z = NORMAL_QUANTILE, z2 = z * z, v = freedom;
	double g1 = (z2 + 1) / 4;
	double g2 = ((5 * z2 + 16) * z2 + 3) / 96;
	double g3 = (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
	double g4 = ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / 92160;

	return z * (1 + (g1 + (g2 + (g3 + g4 / v) / v) / v) / v);
}
