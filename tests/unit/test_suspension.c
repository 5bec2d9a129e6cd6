/* test_suspension.c - a run leaves its devices in the store, and comes back: each step only from
 * the state before, and no device is used by two. */
#include <string.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/store_runs.h"
#include "store_fixture.h"

static void check(int rc, const char *what)
{
	if (rc)
		printf("# cannot %s: %s\n", what, err.text);
}

/* A running run of a new job on this device. */
static struct run add_run(const char *device, bool can_suspend)
{
	bool claimed = false;
	struct job job;
	struct run run;

	job_init(&job);
	run_init(&run);
	run.job_id = add_to_fixture(&job, "w");
	run.configuration = configuration_make(1, 0, 1);
	run.assigned_time_s = run.assigned_boot_s = 1;
	run.suspension = can_suspend ? SUSPENSION_NONE : SUSPENSION_CANNOT;
	run.devices = xcalloc(1, sizeof(*run.devices));
	snprintf(run.devices[0].id, sizeof(run.devices[0].id), "%s", device);
	snprintf(run.devices[0].kind, sizeof(run.devices[0].kind), "cpu");
	check(store_run_add(&store, &run, &err), "add a run");
	check(store_run_claim(&store, run.id, "local", 1, &claimed, &err), "claim it");
	run.launch_boot_s = 1;
	ok(claimed, "a run is claimed");
	return run;
}

static enum suspension state_of(struct run *run)
{
	check(store_run_read_suspension(&store, run, &err), "read it");
	return run->suspension;
}

static bool set_suspended(struct run *run)
{
	bool done;

	run->suspension = SUSPENSION_DONE;
	run->suspended_boot_s = 50;
	run->kept_memory_bytes = 12345;
	check(store_run_set_suspended(&store, run, "kept", &done, &err), "suspend it");
	return done;
}

static bool resume(struct run *run)
{
	struct run next = *run;
	bool resumed;

	next.suspension = SUSPENSION_NONE;
	next.suspended_s += 25;
	next.suspended_boot_s = (double)NAN;
	next.resumed_boot_s = 75;
	check(store_run_resume(&store, &next, &resumed, &err), "resume it");
	return resumed;
}

static bool may_claim(int64_t id)
{
	bool may = false;

	check(store_run_may_claim(&store, id, &may, &err), "ask");
	return may;
}

static void test_there_and_back(void)
{
	struct run run = add_run("cpu:0", true), other;
	struct event_list events;

	ok(!set_suspended(&run), "a run cannot be suspended before it is asked");
	ok(state_of(&run) == SUSPENSION_NONE, "a run that is not asked stays as it is");
	check(store_run_ask_suspension(&store, run.id, false, &err), "ask for it");
	ok(state_of(&run) == SUSPENSION_ASKED, "a run is asked for its suspension");
	ok(set_suspended(&run), "a run that is asked can be suspended");
	other = add_run("cpu:0", true);
	ok(state_of(&run) == SUSPENSION_DONE && run.kept_memory_bytes == 12345,
	   "a run stays suspended while another has its device");
	check(store_run_give_devices(&store, &run, &err), "give it the device");
	ok(state_of(&run) == SUSPENSION_RESUMING, "a suspended run is given its device again");
	ok(!resume(&run), "a run does not resume while another uses its device");
	check(store_run_ask_suspension(&store, run.id, false, &err), "take it away");
	ok(state_of(&run) == SUSPENSION_DONE,
	   "a suspended run can lose the device that it was given");
	snprintf(run.devices[0].id, sizeof(run.devices[0].id), "cpu:1");
	check(store_run_give_devices(&store, &run, &err), "give it another");
	snprintf(run.devices[0].id, sizeof(run.devices[0].id), "cpu:2");
	ok(!resume(&run), "a run does not resume on a device that it was not given");
	ok(state_of(&run) == SUSPENSION_RESUMING, "a refused run is still to resume");
	is_str(run.devices[0].id, "cpu:1", "a refused run reads the device that it was given");
	ok(resume(&run), "a run resumes on the device that it was given");
	ok(state_of(&run) == SUSPENSION_NONE && run.suspended_s > 24.9 &&
	   isnan(run.suspended_boot_s), "a resumed run has the time of its suspension");
	ok(!resume(&run), "a run resumes once");
	check(store_events_of_job(&store, run.job_id, &events, &err), "read its events");
	ok(events.count > 1 && !strcmp(events.items[events.count - 2].devices, "cpu:0"),
	   "an event tells which device a run left");
	ok(events.count > 1 && !strcmp(events.items[events.count - 1].devices, "cpu:1"),
	   "an event tells to which device a run came back");
	event_list_release(&events);
	ok(!may_claim(run.id), "a running run cannot be claimed");
	run_release(&other);
	run_release(&run);
}

/* As a disk that is full at the commit: SQLite rolls the transaction back. */
static int refuse_commit(void *arg)
{
	(void)arg;
	return 1;
}

static void test_failed_commit(void)
{
	struct run run = add_run("cpu:6", true), next;
	bool done = true;

	check(store_run_ask_suspension(&store, run.id, false, &err), "ask for it");
	sqlite3_commit_hook(store.db, refuse_commit, NULL);
	run.suspension = SUSPENSION_DONE;
	run.suspended_boot_s = 50;
	is_int(store_run_set_suspended(&store, &run, "kept", &done, &err), -1,
	       "a suspension fails if the commit fails");
	ok(!done, "a run that could not be suspended is not said to be");
	sqlite3_commit_hook(store.db, NULL, NULL);
	ok(state_of(&run) == SUSPENSION_ASKED, "a run that could not be suspended is still asked");
	ok(set_suspended(&run), "the next attempt suspends the run");
	check(store_run_give_devices(&store, &run, &err), "give it the device");
	next = run;
	next.suspension = SUSPENSION_NONE;
	next.suspended_boot_s = (double)NAN;
	next.resumed_boot_s = 75;
	sqlite3_commit_hook(store.db, refuse_commit, NULL);
	done = true;
	is_int(store_run_resume(&store, &next, &done, &err), -1,
	       "a resumption fails if the commit fails");
	ok(!done, "a run that could not resume is not said to have");
	sqlite3_commit_hook(store.db, NULL, NULL);
	ok(state_of(&run) == SUSPENSION_RESUMING, "a run that could not resume is still to resume");
	ok(resume(&run), "the next attempt resumes the run");
	run_release(&run);
}

static void test_failed_claim(void)
{
	struct run run = add_run("cpu:7", true);
	bool claimed = true;

	check(store_run_end(&store, &run, &err), "end it");
	run.number = 2;
	run.state = RUN_ASSIGNED;
	check(store_run_add(&store, &run, &err), "add the next");
	sqlite3_commit_hook(store.db, refuse_commit, NULL);
	is_int(store_run_claim(&store, run.id, "local", 1, &claimed, &err), -1,
	       "a claim fails if the commit fails");
	ok(!claimed, "a run that could not be claimed is not said to be");
	sqlite3_commit_hook(store.db, NULL, NULL);
	ok(may_claim(run.id), "a run that could not be claimed can be claimed later");
	run_release(&run);
}

/* The memory that is in the host's comes back by the driver, whoever asks next. */
static void test_freezes(void)
{
	struct run run = add_run("cpu:8", true);

	check(store_run_ask_suspension(&store, run.id, true, &err), "ask for it");
	ok(state_of(&run) == SUSPENSION_ASKED && run.freezes, "a run is asked to move its memory");
	ok(set_suspended(&run), "a run whose memory is moved is suspended");
	check(store_run_give_devices(&store, &run, &err), "give it the device");
	check(store_run_ask_suspension(&store, run.id, false, &err), "take it away");
	ok(state_of(&run) == SUSPENSION_DONE && run.freezes,
	   "a suspended run keeps that its memory was moved");
	run_release(&run);
}

static void test_not_offered(void)
{
	struct run run = add_run("cpu:4", false);

	check(store_run_ask_suspension(&store, run.id, false, &err), "ask for it");
	ok(state_of(&run) == SUSPENSION_CANNOT,
	   "a run whose supervisor cannot suspend is not asked");
	run_release(&run);
}

static void test_end(void)
{
	struct run run = add_run("cpu:5", true), next;

	check(store_run_ask_suspension(&store, run.id, false, &err), "ask for it");
	ok(set_suspended(&run), "a run can be suspended before it ends");
	run.outcome = OUTCOME_STOPPED;
	run.stop_reason = STOP_CANCEL;
	check(store_run_end(&store, &run, &err), "end it");
	check(store_run_give_devices(&store, &run, &err), "give it devices");
	ok(state_of(&run) == SUSPENSION_DONE, "a suspended run that ended is given no device");
	next = add_run("cpu:5", true);
	run_release(&next);
	run_release(&run);
}

int main(void)
{
	open_fixture();
	test_there_and_back();
	test_failed_commit();
	test_failed_claim();
	test_freezes();
	test_not_offered();
	test_end();
	return close_fixture();
}
