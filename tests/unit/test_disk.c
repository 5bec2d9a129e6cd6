/* test_disk.c - when a disk is nearly full. */
#include "pollux/file.h"
#include "pollux/mem.h"
#include "tap.h"

#define GIB 0x1p30

static const struct {
	double left, all;
	const char *want, *what;
} cases[] = {
	{ 1.01 * GIB, 100 * GIB, NULL,
	  "a disk with a little over 1 % and over 1 GiB left is fine" },
	{ 0.99 * GIB, 50 * GIB, "1 GiB", "a disk with 2 % but under 1 GiB left is short" },
	{ 0.99 * GIB, 99 * GIB, "1 GiB", "a disk with 1 % but under 1 GiB left is short" },
	{ 5 * GIB, 501 * GIB, "1 %", "a disk with 5 GiB but under 1 % left is short" },
	{ 0, 500 * GIB, "1 %", "a disk with nothing left is short" },
	{ 0.99 * GIB, 2 * GIB, "1 GiB", "a half empty disk of 2 GiB is short" },
	{ 0.99 * GIB, 1.9 * GIB, NULL, "a half empty disk below 2 GiB is fine" },
	{ 0.02, 1, NULL, "a small disk with 2 % left is fine" },
	{ 0.009, 1, "1 %", "a small disk with under 1 % left is short" },
};

int main(void)
{
	scoped(text_release) struct text why = TEXT_INIT;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		is_str(disk_shortage(cases[i].left, cases[i].all), cases[i].want, cases[i].what);
	ok(!disk_nearly_full("/no/such/directory", &why),
	   "a directory that is not there is not nearly full");
	ok(why.length == 0, "a directory that is not there gives no text");
	return done();
}
