/* test_disk.c - when a disk is nearly full. */
#include "pollux/file.h"
#include "tap.h"

#define GIB 0x1p30

static const struct {
	double left, all;
	const char *want, *what;
} cases[] = {
	{ 1.01 * GIB, 100 * GIB, NULL, "a little over 1 % and over 1 GiB" },
	{ 0.99 * GIB, 50 * GIB, "1 GiB", "2 %, but under 1 GiB" },
	{ 0.99 * GIB, 99 * GIB, "1 GiB", "1 %, but under 1 GiB" },
	{ 5 * GIB, 501 * GIB, "1 %", "5 GiB, but under 1 %" },
	{ 0, 500 * GIB, "1 %", "nothing" },
	{ 0.99 * GIB, 2 * GIB, "1 GiB", "half of a disk of 2 GiB" },
	{ 0.99 * GIB, 1.9 * GIB, NULL, "half of a smaller one" },
	{ 0.02, 1, NULL, "2 % of a small one" },
	{ 0.009, 1, "1 %", "under 1 % of a small one" },
};

int main(void)
{
	struct text why = TEXT_INIT;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		is_str(disk_shortage(cases[i].left, cases[i].all), cases[i].want, cases[i].what);
	ok(!disk_nearly_full("/no/such/directory", &why), "nothing is known of no directory");
	ok(why.length == 0, "and nothing said");
	text_release(&why);
	return done();
}
