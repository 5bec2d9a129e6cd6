/* test_local_handle.c - the text by which the store knows a local run, written and read back. */
#include <stdlib.h>

#include "engine/local/local.h"
#include "pollux/engine.h"
#include "pollux/mem.h"
#include "tap.h"

static void is_read_back(const struct local_handle *h, const char *want, const char *name)
{
	autofree char *text = local_handle_text(h);
	scoped(local_handle_release) struct local_handle got = { 0 };

	is_str(text, want, name);
	local_handle_parse(text, &got);
	is_int(got.supervisor_pid, h->supervisor_pid, "the supervisor of a handle is read back");
	is_int(got.leader_pid, h->leader_pid, "the leader of a handle is read back");
	is_int(got.leader_start_ticks, h->leader_start_ticks,
	       "the start of the leader of a handle is read back");
	is_int(got.guardian_pid, h->guardian_pid, "the guardian of a handle is read back");
	is_int(got.keeper_pid, h->keeper_pid, "the keeper of the log of a handle is read back");
	is_str(got.group, h->group ? h->group : "", "the control group of a handle is read back");
	is_str(got.socket_path, h->socket_path, "the socket of a handle is read back");
}

static void test_texts(void)
{
	char plain[] = "/run/7.sock", odd[] = "/a b supervisor=3 socket=x leader=4/\xff.sock",
	     none[] = "", group[] = "/sys/fs/cgroup/a b/pollux-1";

	is_read_back(&(struct local_handle){ .socket_path = none }, "local",
		     "a handle of which nothing is known is written");
	is_read_back(&(struct local_handle){ .supervisor_pid = 12, .socket_path = none },
		     "local supervisor=12", "a handle of a claimed run is written");
	is_read_back(&(struct local_handle){ 12, 34, 5678, .socket_path = plain },
		     "local supervisor=12 leader=34 start=5678 socket=/run/7.sock",
		     "a handle of a started run is written");
	is_read_back(&(struct local_handle){ 12, 34, 5678, 9, 10, group, plain },
		     "local supervisor=12 leader=34 start=5678 guardian=9 keeper=10 "
		     "group=/sys/fs/cgroup/a b/pollux-1 socket=/run/7.sock",
		     "a handle with a guardian and a control group is written");
	is_read_back(&(struct local_handle){ .leader_pid = 4, .socket_path = odd },
		     "local leader=4 socket=/a b supervisor=3 socket=x leader=4/\xff.sock",
		     "a handle with an odd path of its socket is written");
}

static void test_no_text(void)
{
	scoped(local_handle_release) struct local_handle h = { 0 };

	local_handle_parse(NULL, &h);
	is_int(h.supervisor_pid, 0, "a run without a handle has no supervisor");
	is_str(h.socket_path, "", "a run without a handle has no socket");
}

static void test_engine_of(void)
{
	char handle[] = "local supervisor=1", other[] = "localhost 1";
	struct run run = { .handle = NULL };

	ok(engine_of(&run) == engine_for_new_runs(),
	   "a run without a handle is the configured engine's");
	run.handle = handle;
	ok(engine_of(&run) == &engine_local, "a run with a handle is its engine's");
	run.handle = other;
	ok(engine_of(&run) == engine_for_new_runs(), "the engine's name is the whole first word");
}

int main(void)
{
	test_texts();
	test_no_text();
	test_engine_of();
	return done();
}
