/* test_freeze.c - the steps of freezes with a driver that is a table here: every order of calls,
 * every call that fails, every state in which a supervisor may die. */
#include "device/nvidia/cuda_driver.h"
#include "pollux/freeze.h"
#include "tap.h"

#define PIDS 2

/* A driver of PIDS processes, as the documentation has it: each call refuses all states but its
 * own. The call of number `bad` fails, before or after its work. */
static struct {
	enum freeze_found states[PIDS];
	int calls, bad;
	bool works_first, fails_for_good;
	int ends_after;		/* so many calls: the last process is about to end then */
	int unknown;		/* so many questions about it are answered by an error */
	char log[512];
} fake;

/* What was recorded, and how many more records succeed. */
static struct {
	char log[512];
	int left;
} book;

static void note(char *log, const char *text)
{
	size_t n = strlen(log), length = strlen(text);

	if (n + length + 2 > 512)
		return;
	if (n > 0)
		log[n++] = ' ';
	memcpy(log + n, text, length + 1);
}

static int do_call(int pid, const char *name, enum freeze_found from, enum freeze_found to,
		   struct err *err)
{
	enum freeze_found *state = &fake.states[pid - 1];
	bool bad = ++fake.calls == fake.bad;
	char text[32];

	snprintf(text, sizeof(text), "%s%d", name, pid);
	note(fake.log, text);
	if (*state == FOUND_GONE || *state != from)
		return err_set(err, EX_OSERR, "illegal state for %s", text);
	if (!bad || fake.works_first)
		*state = to;
	if (bad && fake.fails_for_good)
		*state = FOUND_FAILED;
	return bad ? err_set(err, EX_TEMPFAIL, "%s does not work", text) : 0;
}

static int find(void *driver, pid_t pid, enum freeze_found *found, struct err *err)
{
	(void)driver;
	if (pid == PIDS && fake.calls >= fake.ends_after && fake.unknown > 0) {
		fake.unknown--;
		fake.states[pid - 1] = fake.ends_after ? FOUND_GONE : fake.states[pid - 1];
		return err_set(err, EX_OSERR, "process %d is not known", (int)pid);
	}
	*found = fake.states[pid - 1];
	return 0;
}

static int step(void *driver, pid_t pid, enum freeze_step what, double limit_s, struct err *err)
{
	(void)driver;
	if (what == STEP_LOCK)
		return limit_s > 0 ? do_call(pid, "lock", FOUND_RUNNING, FOUND_LOCKED, err) : -1;
	if (what == STEP_SAVE)
		return do_call(pid, "save", FOUND_LOCKED, FOUND_SAVED, err);
	if (what == STEP_RESTORE)
		return do_call(pid, "restore", FOUND_SAVED, FOUND_LOCKED, err);
	return do_call(pid, "unlock", FOUND_LOCKED, FOUND_RUNNING, err);
}

static const struct device_freezer freezer = {
	.find = find, .step = step,
};

static int write_down(enum freeze_state state, void *arg, struct err *err)
{
	(void)arg;
	if (book.left-- <= 0)
		return err_set(err, EX_IOERR, "no more records");
	note(book.log, freeze_state_names.names[state]);
	return 0;
}

static struct freezing begin(enum freeze_found a, enum freeze_found b, enum freeze_state state)
{
	static const pid_t pids[PIDS] = { 1, 2 };

	memset(&fake, 0, sizeof(fake));
	fake.states[0] = a;
	fake.states[1] = b;
	memset(&book, 0, sizeof(book));
	book.left = 100;
	return (struct freezing){ .freezer = &freezer, .pids = pids, .n = PIDS, .state = state,
				  .record = { write_down, NULL } };
}

static bool all_are(enum freeze_found found)
{
	return fake.states[0] == found && fake.states[1] == found;
}

/* --- what goes well --- */

static void test_there_and_back(void)
{
	struct freezing f = begin(FOUND_RUNNING, FOUND_RUNNING, FREEZE_NONE);
	struct err err = { 0 };

	ok(freeze_run(&f, FREEZE_WISHED, &err) == 0 && all_are(FOUND_SAVED),
	   "a freeze saves all processes");
	is_str(fake.log, "lock1 lock2 save1 save2",
	       "a freeze locks all processes before it saves any");
	is_str(book.log, "locking saving frozen",
	       "a freeze records each state before it enters it");
	fake.log[0] = book.log[0] = '\0';
	ok(freeze_run(&f, THAW_WISHED, &err) == 0 && all_are(FOUND_RUNNING),
	   "a thaw lets all processes run again");
	is_str(fake.log, "restore1 restore2 unlock1 unlock2",
	       "a thaw restores all processes before any goes on");
	is_str(book.log, "restoring unlocking none",
	       "a thaw records each state before it enters it");
	ok(f.state == FREEZE_NONE, "a thaw ends in the state 'none'");

	f = begin(FOUND_SAVED, FOUND_GONE, FREEZE_FROZEN);
	ok(freeze_run(&f, THAW_WISHED, &err) == 0, "a thaw leaves out a process that ended");
	is_str(fake.log, "restore1 unlock1", "a thaw restores the process that is still there");

	f = begin(FOUND_RUNNING, FOUND_LOCKED, FREEZE_NONE);
	ok(freeze_run(&f, FREEZE_WISHED, &err) == 0,
	   "a freeze takes a process that is locked already");
	is_str(fake.log, "lock1 save1 save2", "a freeze does not lock a locked process twice");
}

/* A process that ends has no context any more, and lives until its memory is free. */
static void test_ending_process(void)
{
	struct freezing f = begin(FOUND_RUNNING, FOUND_RUNNING, FREEZE_NONE);
	struct err err = { 0 };

	fake.ends_after = 2;
	fake.unknown = 3;
	ok(freeze_run(&f, FREEZE_WISHED, &err) == 0 && f.state == FREEZE_FROZEN,
	   "a process that ends in the middle of a freeze costs the other nothing");
	is_str(fake.log, "lock1 lock2 save1", "the other process is saved while one ends");

	f = begin(FOUND_SAVED, FOUND_SAVED, FREEZE_FROZEN);
	fake.unknown = 1000;
	ok(freeze_run(&f, THAW_WISHED, &err) && f.state == FREEZE_FROZEN && all_are(FOUND_SAVED),
	   "what is frozen stays so while the driver does not tell of it");
	ok(strstr(err.text, "is not known"),
	   "the error says that the state of the process is not known");
	fake.unknown = 0;
	ok(freeze_run(&f, THAW_WISHED, &err) == 0 && all_are(FOUND_RUNNING),
	   "a frozen process comes back when the driver tells of it");
}

/* --- what fails --- */

/* Any of the four calls of a freeze may fail: before its work, after it, or for good. */
static void test_failing_calls(void)
{
	for (int bad = 1; bad <= 4; bad++) {
		struct freezing f = begin(FOUND_RUNNING, FOUND_RUNNING, FREEZE_NONE);
		struct err err = { 0 };
		char name[64];

		fake.bad = bad;
		snprintf(name, sizeof(name), "a freeze whose call %d fails is undone", bad);
		ok(freeze_run(&f, FREEZE_WISHED, &err) == -1 && all_are(FOUND_RUNNING) &&
		   f.state == FREEZE_NONE, name);
		ok(strstr(err.text, "does not work") && err.exit_status == EX_TEMPFAIL,
		   "a failed freeze gives the error of its call");

		f = begin(FOUND_RUNNING, FOUND_RUNNING, FREEZE_NONE);
		fake.bad = bad;
		fake.works_first = true;
		ok(freeze_run(&f, FREEZE_WISHED, &err) == -1 && all_are(FOUND_RUNNING) &&
		   f.state == FREEZE_NONE, "a freeze whose call fails after its work is undone");

		f = begin(FOUND_RUNNING, FOUND_RUNNING, FREEZE_NONE);
		fake.bad = bad;
		fake.fails_for_good = true;
		ok(freeze_run(&f, FREEZE_WISHED, &err) == -1 && f.state == FREEZE_LOST,
		   "a freeze that a process did not survive is lost");
	}
}

static void test_failing_thaw(void)
{
	for (int bad = 1; bad <= 4; bad++) {
		struct freezing f = begin(FOUND_SAVED, FOUND_SAVED, FREEZE_FROZEN);
		struct err err = { 0 };

		fake.bad = bad;
		ok(freeze_run(&f, THAW_WISHED, &err) == -1, "a thaw whose call fails fails");
		ok(bad <= 2 ? f.state == FREEZE_FROZEN && all_are(FOUND_SAVED)
			    : f.state == FREEZE_LOST,
		   bad <= 2 ? "a thaw that fails in a restore leaves all processes saved"
			    : "a thaw that fails in an unlock is lost");
		f = begin(FOUND_SAVED, FOUND_SAVED, FREEZE_FROZEN);
		fake.bad = bad;
		fake.fails_for_good = true;
		ok(freeze_run(&f, THAW_WISHED, &err) == -1 && f.state == FREEZE_LOST,
		   "a thaw that a process did not survive is lost");
	}
}

/* The caller dies before record number `last` + 1: no call of a state that was not recorded. */
static void test_records(void)
{
	static const char *const calls[] = { "", "lock1 lock2", "lock1 lock2 save1 save2" };

	for (int last = 0; last < 3; last++) {
		struct freezing f = begin(FOUND_RUNNING, FOUND_RUNNING, FREEZE_NONE);
		struct err err = { 0 };

		book.left = last;
		ok(freeze_run(&f, FREEZE_WISHED, &err) == -1, "a freeze ends if a record fails");
		is_str(fake.log, calls[last],
		       "a freeze makes no call of a state that was not recorded");
	}
}

/* --- mending --- */

static const char *mended_name(enum freeze_mended m)
{
	static const char *const names[] = {
		[MENDED_NOTHING] = "nothing", [MENDED_KEPT] = "kept", [MENDED_THAWED] = "thawed",
		[MENDED_BY_OTHERS] = "by others", [MENDED_NOT_OURS] = "not ours",
		[MENDED_WAIT] = "wait", [MENDED_LOST] = "lost",
	};

	return names[m];
}

/* The whole table, written down a second time. Columns: found running, locked, saved, failed,
 * gone. */
static void test_mending_table(void)
{
	static const char *const want[N_FREEZE_STATES][5] = {
		{ "nothing", "not ours", "not ours", "lost", "nothing" },	/* none */
		{ "nothing", "thawed", "kept", "lost", "nothing" },		/* locking */
		{ "nothing", "thawed", "kept", "lost", "nothing" },		/* saving */
		{ "by others", "thawed", "kept", "lost", "nothing" },		/* frozen */
		{ "nothing", "thawed", "thawed", "lost", "nothing" },		/* restoring */
		{ "nothing", "thawed", "thawed", "lost", "nothing" },		/* unlocking */
		{ "by others", "lost", "lost", "lost", "nothing" },		/* lost */
	};
	static const enum freeze_found founds[5] = {
		FOUND_RUNNING, FOUND_LOCKED, FOUND_SAVED, FOUND_FAILED, FOUND_GONE,
	};

	for (int s = 0; s < N_FREEZE_STATES; s++)
		for (int i = 0; i < 5; i++) {
			char name[64];

			snprintf(name, sizeof(name),
				 "the mending of '%s' found in state %d is right",
				 freeze_state_names.names[s], i);
			is_str(mended_name(freeze_mending((enum freeze_state)s, founds[i])),
			       want[s][i], name);
		}
	is_str(mended_name(freeze_mending(FREEZE_SAVING, FOUND_BUSY)), "wait",
	       "the mending waits for a busy process");
}

/* A supervisor dies after any number of records and calls of a freeze and a thaw; the next one
 * mends, and all processes are then alike: running, or saved and recorded as frozen. */
static void test_deaths(void)
{
	for (int calls = 0; calls < 8; calls++) {
		struct freezing f = begin(FOUND_RUNNING, FOUND_RUNNING, FREEZE_NONE);
		enum freeze_mended mended;
		struct err err = { 0 };
		char name[64];

		for (int i = 0; i < PIDS; i++) {	/* the state after so many calls */
			bool first = calls % 4 % 2 > i || calls % 4 >= 2;
			bool second = calls % 4 - 2 > i;

			if (calls < 4)
				fake.states[i] = second ? FOUND_SAVED : first ? FOUND_LOCKED
									      : FOUND_RUNNING;
			else
				fake.states[i] = second ? FOUND_RUNNING : first ? FOUND_LOCKED
										: FOUND_SAVED;
		}
		f.state = calls < 2 ? FREEZE_LOCKING : calls < 4 ? FREEZE_SAVING
			: calls < 6 ? FREEZE_RESTORING : FREEZE_UNLOCKING;
		snprintf(name, sizeof(name), "a death after %d calls in '%s' is mended", calls,
			 freeze_state_names.names[f.state]);
		ok(freeze_mend(&f, &mended, &err) == 0 && all_are(FOUND_RUNNING) &&
		   f.state == FREEZE_NONE, name);
	}
}

static void test_mending(void)
{
	struct freezing f = begin(FOUND_SAVED, FOUND_SAVED, FREEZE_SAVING);
	enum freeze_mended mended;
	struct err err = { 0 };

	ok(freeze_mend(&f, &mended, &err) == 0 && mended == MENDED_KEPT &&
	   f.state == FREEZE_FROZEN && !*fake.log, "processes that were saved in time stay frozen");
	f = begin(FOUND_RUNNING, FOUND_SAVED, FREEZE_FROZEN);
	ok(freeze_mend(&f, &mended, &err) == 0 && mended == MENDED_THAWED && all_are(FOUND_RUNNING),
	   "the other one of two is thawed if somebody thawed one");
	f = begin(FOUND_SAVED, FOUND_SAVED, FREEZE_NONE);
	ok(freeze_mend(&f, &mended, &err) == 0 && mended == MENDED_NOT_OURS && !*fake.log,
	   "processes that somebody else froze are left alone");
	f = begin(FOUND_FAILED, FOUND_SAVED, FREEZE_FROZEN);
	ok(freeze_mend(&f, &mended, &err) == 0 && mended == MENDED_LOST && f.state == FREEZE_LOST,
	   "a process that the driver gave up makes the run lost");
	ok(freeze_mended_text(MENDED_LOST) && !freeze_mended_text(MENDED_NOTHING),
	   "a mending that is worth telling has a text");
}

/* --- the rest --- */

static void test_room(void)
{
	int64_t gib = INT64_C(1) << 30;
	struct err err = { 0 };

	ok(freeze_check_room(4 * gib, 5 * gib, 4 * gib, &err) == 0,
	   "4 GiB go into 5 GiB of free host memory");
	ok(freeze_check_room(4 * gib, 4 * gib + gib / 2, 4 * gib, &err) == -1 &&
	   err.exit_status == EX_TEMPFAIL,
	   "4 GiB do not go into 4.5 GiB, as the driver has buffers");
	is_str(err.text, "4.6 GiB of the host's memory are needed, and 4.5 GiB are free",
	       "the error tells the needed and the free host memory");
	ok(freeze_check_room(4 * gib, 50 * gib, 3 * gib, &err) == -1,
	   "4 GiB do not go over the bound of suspended jobs");
	is_str(err.text, "4.0 GiB would go to the host's memory, and suspended jobs may have "
	       "3.0 GiB more", "the error tells the bound of suspended jobs");
	ok(freeze_check_room(4 * gib, -1, 9 * gib, &err) == -1,
	   "4 GiB do not go into unknown host memory");
	ok(freeze_check_room(-1, 9 * gib, 9 * gib, &err) == -1,
	   "an unknown amount does not go into host memory");
	ok(freeze_check_device(4 * gib, 5 * gib, "gpu:0", &err) == 0,
	   "4 GiB come back into 5 GiB of free device memory");
	ok(freeze_check_device(4 * gib, 4 * gib, "gpu:0", &err) == -1,
	   "4 GiB do not come back into just 4 GiB");
	ok(freeze_check_device(4 * gib, -1, "gpu:0", &err) == -1,
	   "4 GiB do not come back into unknown device memory");
}

int main(void)
{
	test_there_and_back();
	test_ending_process();
	test_failing_calls();
	test_failing_thaw();
	test_records();
	test_mending_table();
	test_deaths();
	test_mending();
	test_room();
	return done();
}
