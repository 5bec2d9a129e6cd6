/* test_stop_order.c - who gets the stop signal, and when. */
#include <string.h>

#include "engine/local/stop_order.h"
#include "tap.h"

#define ASKED_S 1000.0
#define GRACE_S 60.0

/* A run is written as processes, a letter each: the number of its parent, what it does about the
 * signal ('h' handles, 'b' blocks, 'i' ignores, '.' dies). */
static void begin(struct stop_order *o, struct stop_process *items, const char *const *run)
{
	stop_order_begin(o, 100, ASKED_S, GRACE_S);
	o->items = items;
	for (int i = 0; run[i]; i++) {
		const char heed = run[i][1];

		items[i] = (struct stop_process){
			.pid = 100 + i, .start_ticks = 1, .told_boot_s = NAN,
			.parent = run[i][0] == '-' ? -1 : run[i][0] - '0',
			.heed = heed == 'h' ? PROC_HANDLES : heed == 'b' ? PROC_BLOCKS
			      : heed == 'i' ? PROC_IGNORES : PROC_HEEDS_NOT,
		};
		o->count = i + 1;
	}
}

/* Tells as the order says; returns the numbers of those that were told: "02". */
static const char *told_at(struct stop_order *o, double now)
{
	static char text[16];
	bool tell[16];
	int n = 0;

	stop_order_next(o, now, tell);
	for (int i = 0; i < o->count; i++) {
		if (!tell[i])
			continue;
		o->items[i].told_boot_s = now;
		text[n++] = (char)('0' + i);
	}
	text[n] = '\0';
	return text;
}

static void prints_to(struct stop_order *o, int writer, int reader, int64_t pipe)
{
	o->items[writer].streams.prints[0] = pipe;
	for (int i = 0; i < PROC_READS; i++)
		if (o->items[reader].streams.reads[i] == 0) {
			o->items[reader].streams.reads[i] = pipe;
			return;
		}
}

#define RUN(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void test_one_program(void)
{
	struct stop_process items[16];
	struct stop_order o;

	begin(&o, items, RUN("-h", "0h", "0."));
	is_str(told_at(&o, ASKED_S), "0", "a program with workers is told alone");
	is_str(told_at(&o, ASKED_S + 59), "",
	       "the workers of a program are not told while it saves");
	items[0].gone = true;
	is_str(told_at(&o, ASKED_S + 59), "1",
	       "a worker with the handler is told at half of the grace");
	items[1].gone = true;
	is_str(told_at(&o, ASKED_S + 59), "2",
	       "the other workers are told when nothing is left that saves");

	begin(&o, items, RUN("-.", "0."));
	is_str(told_at(&o, ASKED_S), "0", "of a run without handlers the first process is told");
	items[0].gone = true;
	is_str(told_at(&o, ASKED_S), "1",
	       "the rest of a run without handlers is told after the first");

	begin(&o, items, RUN("-i", "0."));
	is_str(told_at(&o, ASKED_S), "0", "a first process that ignores the signal is told once");
	is_str(told_at(&o, ASKED_S + 50), "",
	       "the others are left alone while the first process lives");
}

static void test_launchers(void)
{
	struct stop_process items[16];
	struct stop_order o;

	begin(&o, items, RUN("-.", "0h", "1.", "0."));
	is_str(told_at(&o, ASKED_S), "01", "the program of a shell is told with the shell");
	items[0].gone = true;
	is_str(told_at(&o, ASKED_S + 50), "", "a loader and a tee beside a program are not told");
	items[1].gone = true;
	is_str(told_at(&o, ASKED_S + 50), "23",
	       "a loader and a tee are told when the program has saved");

	begin(&o, items, RUN("-.", "0.", "1b"));
	is_str(told_at(&o, ASKED_S), "012", "a program that waits for its signals counts");

	begin(&o, items, RUN("-.", "0h"));
	prints_to(&o, 1, 0, 77);
	is_str(told_at(&o, ASKED_S), "1", "a launcher that reads what its program prints waits");
	items[1].gone = true;
	is_str(told_at(&o, ASKED_S + 5), "0",
	       "a launcher that reads is told when its program is gone");

	begin(&o, items, RUN("-.", "0h", "0."));
	prints_to(&o, 1, 2, 77);
	prints_to(&o, 2, 0, 78);
	is_str(told_at(&o, ASKED_S), "1", "a launcher that reads through a tee waits");

	begin(&o, items, RUN("-.", "0h", "0.", "2h"));
	prints_to(&o, 1, 2, 77);
	items[2].streams.prints[PROC_STANDARD] = items[3].streams.reads[0] = 78;
	is_str(told_at(&o, ASKED_S), "01", "a gzip with a handler that a tee writes to waits");
	items[0].gone = items[1].gone = true;
	items[1].gone_boot_s = ASKED_S + 1;
	is_str(told_at(&o, ASKED_S + 2), "",
	       "a tee and a gzip wait until both have read what was printed");
	is_str(told_at(&o, ASKED_S + 4), "23", "a tee and a gzip are told if they do not end then");

	begin(&o, items, RUN("-.", "0h", "0h"));
	items[1].streams.prints[PROC_STANDARD] = items[2].streams.reads[0] = 78;
	is_str(told_at(&o, ASKED_S), "012", "pipes beside the output of a program order nothing");

	begin(&o, items, RUN("-.", "0h", "0h"));
	is_str(told_at(&o, ASKED_S), "012", "two programs side by side are told at once");
	begin(&o, items, RUN("-.", "0h", "0h"));
	prints_to(&o, 1, 2, 77);
	is_str(told_at(&o, ASKED_S), "01",
	       "a program that reads what another one prints is not told");
	items[1].gone = items[0].gone = true;
	is_str(told_at(&o, ASKED_S + 1), "2",
	       "a program that reads is told when the other one is gone");

	begin(&o, items, RUN("-.", "0h", "0h"));
	prints_to(&o, 1, 2, 77);
	prints_to(&o, 2, 1, 78);
	is_str(told_at(&o, ASKED_S), "012", "two programs that read from each other do not wait");

	begin(&o, items, RUN("-.", "0.", "1h"));
	items[1].leads_terminal = true;
	is_str(told_at(&o, ASKED_S), "02", "a shell with the terminal of the program waits");
	items[0].gone = items[2].gone = true;
	is_str(told_at(&o, ASKED_S + 5), "1",
	       "a shell with the terminal is told when the program is gone");

	begin(&o, items, RUN("-.", "0h", "-h"));
	items[1].is_srun = true;
	is_str(told_at(&o, ASKED_S), "02", "srun, which would kill its tasks, waits for them");
	items[0].gone = items[2].gone = true;
	is_str(told_at(&o, ASKED_S + 5), "1", "srun is told when its tasks are gone");
	begin(&o, items, RUN("-h", "0h", "-h"));
	items[0].is_srun = items[1].is_srun = true;
	is_str(told_at(&o, ASKED_S), "2",
	       "srun waits as the first process, and with a child of its own");
	items[2].gone = true;
	is_str(told_at(&o, ASKED_S + 5), "0",
	       "srun is told after its tasks as the first process, too");
	begin(&o, items, RUN("-h"));
	items[0].is_srun = true;
	is_str(told_at(&o, ASKED_S), "0", "srun does not wait for tasks elsewhere");

	begin(&o, items, RUN("-h", "0h"));
	prints_to(&o, 1, 0, -77);
	items[0].has_terminal = true;
	is_str(told_at(&o, ASKED_S), "1", "an emulator of the program's terminal waits");
	items[1].gone = true;
	items[0].has_terminal = false;
	is_str(told_at(&o, ASKED_S + 5), "0",
	       "an emulator of a terminal is told when the program is gone");

	begin(&o, items, RUN("-h", "0h"));
	prints_to(&o, 1, 0, 77);
	is_str(told_at(&o, ASKED_S), "0", "a launcher with a handler is told alone");
}

static void test_servers(void)
{
	struct stop_process items[16];
	struct stop_order o;

	begin(&o, items, RUN("-.", "0h", "0h", "2h"));
	items[1].cpu_s = 1;
	items[2].cpu_s = 0.1;
	items[3].cpu_s = 600;
	is_str(told_at(&o, ASKED_S), "02", "a server that works little beside a program waits");
	items[0].gone = items[2].gone = items[3].gone = true;
	is_str(told_at(&o, ASKED_S), "1", "a server that waits is told when the program is gone");

	begin(&o, items, RUN("-h", "0h"));
	items[0].cpu_s = 600;
	items[1].cpu_s = 1;
	o.shows_steps = true;
	told_at(&o, ASKED_S);
	items[0].gone = true;
	is_str(told_at(&o, ASKED_S + 3), "1", "a server that a program left is told at once");
}

static void see_steps(struct stop_order *o, double first_s, double last_s)
{
	stop_order_see_step(o, first_s);
	stop_order_see_step(o, last_s);
}

static void test_passing_on(void)
{
	struct stop_process items[16];
	struct stop_order o;

	/* a script that has passed the signal on, and has ended */
	begin(&o, items, RUN("-h", "0h"));
	o.shows_steps = true;
	is_str(told_at(&o, ASKED_S), "0", "a script with a trap is told alone");
	items[0].gone = true;
	see_steps(&o, ASKED_S + 0.1, ASKED_S + 20);
	is_str(told_at(&o, ASKED_S + 59), "",
	       "a script's program that ends its step is not told again");
	see_steps(&o, ASKED_S + 20, ASKED_S + 21);
	is_str(told_at(&o, ASKED_S + 21), "1", "a program that goes on with its steps is told");

	/* a shell whose trap runs when its program has ended */
	begin(&o, items, RUN("-h", "0h"));
	items[0].waits_for_child = true;
	o.shows_steps = true;
	told_at(&o, ASKED_S);
	see_steps(&o, ASKED_S + 14, ASKED_S + 16);
	is_str(told_at(&o, ASKED_S + 16), "",
	       "a program that goes on is not told before a quarter of the grace");
	see_steps(&o, ASKED_S + 16, ASKED_S + 17);
	is_str(told_at(&o, ASKED_S + 17), "1",
	       "a program that goes on is told after a quarter of the grace");

	begin(&o, items, RUN("-h", "0h"));
	o.shows_steps = true;
	told_at(&o, ASKED_S);
	see_steps(&o, ASKED_S + 30, ASKED_S + 31);
	is_str(told_at(&o, ASKED_S + 31), "", "a launcher at work looks after its programs");
	items[0].cpu_s = 2;
	items[1].cpu_s = 600;
	is_str(told_at(&o, ASKED_S + 31), "", "a launcher that does little has half of the grace");
	see_steps(&o, ASKED_S + 31, ASKED_S + 32);
	is_str(told_at(&o, ASKED_S + 32), "1",
	       "a program that goes on is told after half of the grace");
	begin(&o, items, RUN("-h", "0h"));
	items[0].cpu_s = 2;
	items[1].cpu_s = 600;
	told_at(&o, ASKED_S);
	is_str(told_at(&o, ASKED_S + 59), "",
	       "a program without steps is not told: it may have the signal");

	/* a launcher that signals its child alone, a shell */
	begin(&o, items, RUN("-h", "0.", "1h", "2."));
	o.shows_steps = true;
	told_at(&o, ASKED_S);
	items[1].gone = true;
	is_str(told_at(&o, ASKED_S + 1), "",
	       "a program below a shell that ended is not told at once");
	see_steps(&o, ASKED_S + 16, ASKED_S + 17);
	is_str(told_at(&o, ASKED_S + 17), "2",
	       "a program below a shell that ended is told if it goes on");

	/* without steps */
	begin(&o, items, RUN("-h", "0h"));
	items[0].waits_for_child = true;
	told_at(&o, ASKED_S);
	{
		bool tell[16];

		near(stop_order_next(&o, ASKED_S + 1, tell), ASKED_S + 30, 1e-9,
		     "without steps the time to look again is half of the grace");
	}
	is_str(told_at(&o, ASKED_S + 29), "",
	       "a program without steps is not told before half of the grace");
	is_str(told_at(&o, ASKED_S + 30), "1",
	       "a program without steps is told at half of the grace");

	/* launcher in launcher */
	begin(&o, items, RUN("-h", "0h", "1h"));
	items[0].waits_for_child = items[1].waits_for_child = true;
	told_at(&o, ASKED_S);
	is_str(told_at(&o, ASKED_S + 30), "1",
	       "the outermost of two launchers' programs is told first");
	is_str(told_at(&o, ASKED_S + 44), "",
	       "a launcher has half of the rest to pass the signal on");
	is_str(told_at(&o, ASKED_S + 45), "2",
	       "the innermost program is told after half of the rest");
}

static void test_taking_over(void)
{
	struct stop_process items[16];
	struct stop_order o;

	begin(&o, items, RUN("-h", "-."));
	o.leader = 0;
	o.is_taken_over = true;
	is_str(told_at(&o, ASKED_S + 59), "",
	       "a program that may have been told is not told again");
	see_steps(&o, ASKED_S + 58, ASKED_S + 59);
	is_str(told_at(&o, ASKED_S + 59), "0",
	       "a program that may have been told is told if it goes on");

	begin(&o, items, RUN("-.", "0."));
	o.is_taken_over = true;
	is_str(told_at(&o, ASKED_S), "0",
	       "a program that cannot save is told though it may have been");

	begin(&o, items, RUN("-.", "-h"));
	o.leader = 0;
	is_str(told_at(&o, ASKED_S), "1",
	       "a program that would save is told where nobody was told");
	ok(stop_order_was_heeded(&o), "a signal that a program handles counts as heeded");
	begin(&o, items, RUN("-.", "0i"));
	ok(!stop_order_was_heeded(&o),
	   "a signal that all processes ignore does not count as heeded");
}

int main(void)
{
	test_one_program();
	test_launchers();
	test_servers();
	test_passing_on();
	test_taking_over();
	return done();
}
