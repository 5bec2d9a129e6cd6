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
	is_str(list_of(&runs[0]), "-", "without wishes nothing is bound");
	runs[0].wanted = 6;
	cores_share(slots, 4, runs, 2);
	is_str(list_of(&runs[0]), "0,1,2,3", "a run gets those of idle slots, and of no others");
	is_str(list_of(&runs[1]), "-", "another run keeps its slot");
	runs[0].wanted = 3;
	cores_share(slots, 4, runs, 2);
	is_str(list_of(&runs[0]), "0,1,2", "no more than it wants");
	runs[1].wanted = 1;
	runs[0].wanted = 6;
	cores_share(slots, 4, runs, 2);
	is_str(list_of(&runs[1]), "4", "a run that wants less");
	is_str(list_of(&runs[0]), "0,1,2,3,5", "leaves the rest to others");
	runs[1].wanted = 4;
	cores_share(slots, 4, runs, 2);
	is_str(list_of(&runs[0]), "0,1,2", "two runs that want more");
	is_str(list_of(&runs[1]), "3,4,5", "take in turn");
	runs[1].now = span(2, 2);
	cores_share(slots, 4, runs, 2);
	is_str(list_of(&runs[1]), "2,4,5", "what a run has now it keeps");
	slots[1].run = 1;
	runs[1].wanted = 0;
	runs[0].now = span(0, 3);
	cores_share(slots, 4, runs, 2);
	is_str(list_of(&runs[0]), "0,1", "unless a run comes to the device");
	is_str(list_of(&runs[1]), "-", "whose processors they are");
}

static void test_gpus(void)
{
	struct cores_device gpus[3] = {
		{ span(0, 11), 0 }, { span(0, 11), 1 }, { span(0, 11), CORES_IDLE },
	};
	struct cores_run runs[2] = { { .wanted = 8 }, { .wanted = 0 } };

	cores_share(gpus, 3, runs, 2);
	is_str(list_of(&runs[0]), "0,2,3,5,6,8,9,11", "GPUs with the same processors have shares");
	is_str(list_of(&runs[1]), "1,4,7,10", "other runs are kept off those that are given");
	gpus[2].run = 1;
	cores_share(gpus, 3, runs, 2);
	is_str(list_of(&runs[0]), "0,3,6,9", "shares of GPUs that have runs are not taken");
}

static void test_shared_slots(void)
{
	struct cores_device slots[2] = { { span(0, 0), 0 }, { span(0, 0), 1 } };
	struct cores_run runs[2] = { { .wanted = 2 }, { .wanted = 0 } };

	cores_share(slots, 2, runs, 2);
	is_str(list_of(&runs[0]), "-", "a processor that two slots share is given to neither");
	is_str(list_of(&runs[1]), "-", "and stays with both");
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
	is_str(list_of(&runs[0]), "0,7", "the other one what is left");
	runs[0].part = 0.9;
	cores_share(devices, 3, runs, 2);
	is_str(list_of(&runs[0]), "0,2,4,6", "runs that gain as much");
	is_str(list_of(&runs[1]), "1,3,5,7", "have as many");
	runs[0].part = 0;
	runs[0].base = 0;
	runs[1].part = 0.2;
	cores_share(devices, 3, runs, 2);
	/* Of the known run 1 to 2 gain 0.11, 2 to 3 0.04; of the other 5 to 6 gain 0.18. */
	is_str(list_of(&runs[0]), "0,2,3,4,5,6", "a run of which nothing is known is taken");
	is_str(list_of(&runs[1]), "1,7", "for one whose whole step is computed by them");
}

/* Two runs share device 1; of the processors near both devices, two are given to run 0. */
static void test_guests(void)
{
	struct cores_device devices[2] = { { span(0, 3), 0 }, { span(0, 3), 1 } };
	struct cores_run runs[3] = { { .wanted = 2 }, { .wanted = 0 }, { .wanted = 0 } };

	runs[2].near = span(0, 3);
	cores_share(devices, 2, runs, 3);
	is_str(list_of(&runs[0]), "0,2", "a run takes those at home at its device");
	is_str(list_of(&runs[1]), "1,3", "the run of another one is kept off them");
	is_str(list_of(&runs[2]), "1,3", "and so is its guest");
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
