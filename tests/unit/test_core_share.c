/* test_core_share.c - which processors runs are bound to, where plans want more cores. */
#include "pollux/core_share.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

static struct core_set span(int first, int last)
{
	struct core_set s = { { 0 } };

	for (int p = first; p <= last; p++)
		core_set_add(&s, p);
	return s;
}

static const char *list_of(const struct cores_run *r)
{
	static char text[4][80];
	static int next;
	char *t = text[next++ % 4];

	strcpy(t, r->bound ? "" : "-");
	for (int p = 0; p < CORES_MAX; p++)
		if (r->bound && core_set_has(&r->given, p))
			sprintf(t + strlen(t), "%s%d", *t ? "," : "", p);
	return t;
}

static void test_slots(void)
{
	struct cores_device slots[4] = {
		{ span(0, 1), 0 }, { span(2, 3), CORES_IDLE }, { span(4, 5), 1 },
		{ span(6, 7), CORES_KEPT },
	};
	struct cores_run runs[2] = { { .wanted = 0 }, { .wanted = 0 } };

	cores_share(slots, 4, runs, 2);
	is_str(list_of(&runs[0]), "-", "no run is bound without wishes");
	runs[0].wanted = 6;
	cores_share(slots, 4, runs, 2);
	is_str(list_of(&runs[0]), "0,1,2,3",
	       "a run gets the processors of idle slots, and of no others");
	is_str(list_of(&runs[1]), "-", "a run without wishes keeps its slot");
	runs[0].wanted = 3;
	cores_share(slots, 4, runs, 2);
	is_str(list_of(&runs[0]), "0,1,2", "a run gets no more processors than it wants");
	runs[1].wanted = 1;
	runs[0].wanted = 6;
	cores_share(slots, 4, runs, 2);
	is_str(list_of(&runs[1]), "4", "a run that wants less than its slot gets only that");
	is_str(list_of(&runs[0]), "0,1,2,3,5",
	       "a run gets the processors that another run does not want");
	runs[1].wanted = 4;
	cores_share(slots, 4, runs, 2);
	is_str(list_of(&runs[0]), "0,1,2",
	       "the first of two runs that want more takes three of six");
	is_str(list_of(&runs[1]), "3,4,5",
	       "the second of two runs that want more takes three of six");
	runs[1].now = span(2, 2);
	cores_share(slots, 4, runs, 2);
	is_str(list_of(&runs[1]), "2,4,5", "a run keeps the processors that it has now");
	slots[1].run = 1;
	runs[1].wanted = 0;
	runs[0].now = span(0, 3);
	cores_share(slots, 4, runs, 2);
	is_str(list_of(&runs[0]), "0,1",
	       "a run loses the processors of a device to which a run comes");
	is_str(list_of(&runs[1]), "-", "a run that comes to a device is not bound");
}

static void test_gpus(void)
{
	struct cores_device gpus[3] = {
		{ span(0, 11), 0 }, { span(0, 11), 1 }, { span(0, 11), CORES_IDLE },
	};
	struct cores_run runs[2] = { { .wanted = 8 }, { .wanted = 0 } };

	cores_share(gpus, 3, runs, 2);
	is_str(list_of(&runs[0]), "0,2,3,5,6,8,9,11",
	       "a run gets the shares of idle GPUs with the same processors");
	is_str(list_of(&runs[1]), "1,4,7,10",
	       "a run without wishes is kept off processors that are given");
	gpus[2].run = 1;
	cores_share(gpus, 3, runs, 2);
	is_str(list_of(&runs[0]), "0,3,6,9", "the share of a GPU that has a run is not taken");
}

static void test_shared_slots(void)
{
	struct cores_device slots[2] = { { span(0, 0), 0 }, { span(0, 0), 1 } };
	struct cores_run runs[2] = { { .wanted = 2 }, { .wanted = 0 } };

	cores_share(slots, 2, runs, 2);
	is_str(list_of(&runs[0]), "-", "a processor that two slots share is given to neither");
	is_str(list_of(&runs[1]), "-",
	       "a run without wishes keeps a processor that two slots share");
}

/* Processors 2 to 7 are free. Run 0 has 0, run 1 has 1; both want six. */
static void test_gain(void)
{
	struct cores_device devices[3] = {
		{ span(0, 0), 0 }, { span(1, 1), 1 }, { span(2, 7), CORES_IDLE },
	};
	struct cores_run runs[2] = {
		{ .wanted = 6, .part = 0.1, .base = 1 }, { .wanted = 6, .part = 0.9, .base = 1 },
	};

	cores_share(devices, 3, runs, 2);
	/* Of 1 s, 0.9 s fall with cores: 5 to 6 gain 0.11; 0.1 s: 1 to 2 gain 0.05. */
	is_str(list_of(&runs[1]), "1,2,3,4,5,6", "the run that gains most takes all that it wants");
	is_str(list_of(&runs[0]), "0,7",
	       "the run that gains less gets the processors that are left");
	runs[0].part = 0.9;
	cores_share(devices, 3, runs, 2);
	is_str(list_of(&runs[0]), "0,2,4,6", "the first of two runs that gain as much gets half");
	is_str(list_of(&runs[1]), "1,3,5,7", "the second of two runs that gain as much gets half");
	runs[0].part = 0;
	runs[0].base = 0;
	runs[1].part = 0.2;
	cores_share(devices, 3, runs, 2);
	/* Of the known run 1 to 2 gain 0.11, 2 to 3 0.04; of the other 5 to 6 gain 0.18. */
	is_str(list_of(&runs[0]), "0,2,3,4,5,6",
	       "a run of unknown gain counts as computed by processors alone");
	is_str(list_of(&runs[1]), "1,7", "a run of known small gain gets what is left");
}

/* Two runs share device 1; of the processors near both devices, two are given to run 0. */
static void test_guests(void)
{
	struct cores_device devices[2] = { { span(0, 3), 0 }, { span(0, 3), 1 } };
	struct cores_run runs[3] = { { .wanted = 2 }, { .wanted = 0 }, { .wanted = 0 } };

	runs[2].near = span(0, 3);
	cores_share(devices, 2, runs, 3);
	is_str(list_of(&runs[0]), "0,2", "a run takes the processors at home at its device");
	is_str(list_of(&runs[1]), "1,3",
	       "the run of another device is kept off processors that are given");
	is_str(list_of(&runs[2]), "1,3",
	       "a guest of both devices is kept off processors that are given");
}

int main(void)
{
	test_slots();
	test_gpus();
	test_shared_slots();
	test_gain();
	test_guests();
	return done();
}
