/* test_run_group.c - the control groups in which those of new runs are made. */
#include "engine/local/run_group.h"
#include "pollux/mem.h"
#include "tap.h"

static void leaves(const char *path, const char *want, const char *what)
{
	autofree char *got = xstrdup(path);

	run_group_leave(got);
	is_str(got, want, what);
}

int main(void)
{
	leaves("/user.slice/pollux-0123456789abcdef-17.a1b2c3d4", "/user.slice",
	       "a new run leaves the group of another run");
	leaves("/user.slice/pollux-0123456789abcdef-17.a1b2c3d4/inner", "/user.slice",
	       "a new run leaves the groups that the other run's job made");
	leaves("/a/pollux-0123456789abcdef-17.a1b2c3d4/pollux-fedcba9876543210-2.d4c3b2a1", "/a",
	       "a new run leaves the group of a run within a run");
	leaves("/pollux-0123456789abcdef-17", "", "a new run leaves the group of a run at the top");
	leaves("/system.slice/pollux-nightly.service", "/system.slice/pollux-nightly.service",
	       "a new run stays in a unit of another name");
	leaves("/system.slice/pollux-.service", "/system.slice/pollux-.service",
	       "a new run stays in a unit of a very short name");
	leaves("/pollux-0123456789abcdef.service", "/pollux-0123456789abcdef.service",
	       "a new run stays in a unit that is named like a part of a group");
	leaves("/machine.slice/pollux-7-2.scope/pollux-0123456789abcdef-3.a1b2c3d4",
	       "/machine.slice/pollux-7-2.scope",
	       "a new run leaves the group of a run within such a unit");
	leaves("/", "/", "a new run stays at the root");
	return done();
}
