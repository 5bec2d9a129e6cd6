/* units.c - all unit tests in one program. The name by which it is called says which test runs. */
#include <stdio.h>
#include <string.h>

#define TEST(name) int name##_main(void);
#include "names.h"
#undef TEST

#define TEST(name) { #name, name##_main },
static const struct {
	const char *name;
	int (*run)(void);
} tests[] = {
#include "names.h"
};

int main(int argc, char **argv)
{
	const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
	const char *name = slash ? slash + 1 : argv[0];

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		if (name && !strcmp(name, tests[i].name))
			return tests[i].run();
	fprintf(stderr, "units: call it by the name of a test, such as build/unit/test_store\n");
	return 2;
}
