/* test_run_group.c - the control groups in which those of new runs are made. */
#include "engine/local/run_group.h"
#include "pollux/mem.h"
#include "tap.h"

static void leaves(const char *path, const char *want, const char *what)
{
	char *got = xstrdup(path);

	run_group_leave(got);
	is_str(got, want, what);
	free(got);
}

int main(void)
{
	leaves("/user.slice/pollux-0123456789abcdef-17.a1b2c3d4", "/user.slice",
	       "the group of a run is left");
	leaves("/user.slice/pollux-0123456789abcdef-17.a1b2c3d4/inner", "/user.slice",
	       "with those that its job made");
	leaves("/a/pollux-0123456789abcdef-17.a1b2c3d4/pollux-fedcba9876543210-2.d4c3b2a1", "/a",
	       "and a run in it");
	leaves("/pollux-0123456789abcdef-17", "", "also at the top");
	leaves("/system.slice/pollux-nightly.service", "/system.slice/pollux-nightly.service",
	       "a unit of another name stays");
	leaves("/system.slice/pollux-.service", "/system.slice/pollux-.service", "however short");
	leaves("/pollux-0123456789abcdef.service", "/pollux-0123456789abcdef.service",
	       "or like a part of such a group's");
	leaves("/machine.slice/pollux-7-2.scope/pollux-0123456789abcdef-3.a1b2c3d4",
	       "/machine.slice/pollux-7-2.scope", "the group of a run in such a unit is left");
	leaves("/", "/", "the root is no group");
	return done();
}
