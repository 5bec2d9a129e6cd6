/* test_crowded.c - runs that wait for devices which others have taken: which ones lose them. */
/* link: -Wl,--wrap=engine_of */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pass/snapshot.h"
#include "pollux/clock.h"
#include "pollux/mem.h"
#include "tap.h"

#define N_DEVICES 12		/* four on each of the nodes a, b and c */

const struct engine *__wrap_engine_of(const struct run *run);

static const char *crowded;	/* the names of the nodes on which others have too many */

static bool is_crowded(const struct engine_context *at, const struct run *run, const char *node)
{
	(void)at;
	(void)run;
	return strstr(crowded, node) != NULL;
}

const struct engine *__wrap_engine_of(const struct run *run)
{
	static const struct engine engine = { .name = "test", .crowded_out = is_crowded };

	(void)run;
	return &engine;
}

static void add_device(struct device *d, char node, int k)
{
	*d = (struct device){ .usable = true };
	snprintf(d->node, sizeof(d->node), "%c", node);
	snprintf(d->id, sizeof(d->id), "test:%c:%d", node, k);
	snprintf(d->kind, sizeof(d->kind), "kind");
}

/* A run that has waited for two minutes for devices "a0 a1 b0". */
static struct run make_run(const char *devices)
{
	struct run run = { .state = RUN_ASSIGNED, .stop_reason = STOP_NONE,
			   .assigned_boot_s = clock_boot_s() - 120 };
	int n = ((int)strlen(devices) + 1) / 3;

	run.configuration.replicas = n;
	run.devices = xcalloc((size_t)n, sizeof(*run.devices));
	for (int i = 0; i < n; i++, devices += 3)
		add_device(&run.devices[i], devices[0], devices[1] - '0');
	return run;
}

/* The devices that cannot be used any more, "a0 a1"; the caller frees the text. */
static char *left(struct run *runs, int n, const char *unusable)
{
	struct device devices[N_DEVICES];
	bool elsewhere[N_DEVICES] = { false };
	struct snapshot s = { .runs = { .items = runs, .count = n }, .elsewhere = elsewhere };
	struct text t = TEXT_INIT;

	s.devices.items = devices;
	s.devices.count = N_DEVICES;
	for (int d = 0; d < N_DEVICES; d++) {
		char name[4] = { (char)('a' + d / 4), (char)('0' + d % 4) };

		add_device(&devices[d], name[0], d % 4);
		devices[d].usable = !strstr(unusable, name);
	}
	pass_leave_crowded(&(struct engine_context){ .paths = NULL }, &s);
	for (int d = 0; d < N_DEVICES; d++)
		if (elsewhere[d])
			text_addf(&t, "%s%c%d", t.length ? " " : "", 'a' + d / 4, d % 4);
	return text_detach(&t);
}

static void check(const char *what, struct run *runs, int n, const char *unusable,
		  const char *wanted)
{
	autofree char *got = left(runs, n, unusable);

	ok(!strcmp(got, wanted), what);
	if (strcmp(got, wanted) != 0)
		printf("# want '%s', got '%s'\n", wanted, got);
}

static void test_room(void)
{
	static const struct {
		const char *what, *run, *crowded, *unusable, *left;
	} cases[] = {
		{ "a crowded run leaves its node if there is room on another",
		  "a0 a1", "a", "", "a0 a1" },
		{ "a run stays where others take nothing", "a0 a1", "", "", "" },
		{ "a crowded run stays if no other node has room",
		  "a0 a1", "a", "a2 a3 b0 b1 b2 c0 c1 c3", "" },
		{ "a crowded run leaves if its own node has room for all of it", "a0 a1", "a",
		  "b0 b1 b2 b3 c0 c1 c2 c3", "a0 a1" },
		{ "a run leaves the crowded one of its two nodes",
		  "a0 a1 b0 b1", "a", "b2 b3 c2 c3", "a0 a1" },
		{ "a run stays on two crowded nodes if there is room for one",
		  "a0 a1 b0 b1", "ab", "a2 a3 b2 b3 c2 c3", "" },
		{ "a run leaves two crowded nodes if one has room for all",
		  "a0 a1 b0 b1", "ab", "a2 a3 b2 b3", "a0 a1 b0 b1" },
		{ "a crowded run stays if nothing is free",
		  "a0 a1", "a", "a2 a3 b0 b1 b2 b3 c0 c1 c2 c3", "" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct run run = make_run(cases[i].run);

		crowded = cases[i].crowded;
		check(cases[i].what, &run, 1, cases[i].unusable, cases[i].left);
		free(run.devices);
	}
}

static void test_which(void)
{
	struct run runs[2] = { make_run("a0 a1"), make_run("b0 b1") };

	crowded = "ab";
	check("one run leaves its node in a pass", runs, 2, "", "a0 a1");
	runs[0].assigned_boot_s = clock_boot_s() - 30;
	check("a run that was assigned lately does not leave", runs, 2, "", "b0 b1");
	runs[0].assigned_boot_s -= 100;
	runs[0].state = RUN_RUNNING;
	check("a run that runs does not leave", runs, 2, "", "b0 b1");
	runs[0].state = RUN_ASSIGNED;
	runs[0].stop_reason = STOP_PREEMPT;
	check("a run that is to stop does not leave", runs, 2, "", "b0 b1");
	runs[1].stop_reason = STOP_CANCEL;
	check("no run leaves if all are to stop", runs, 2, "", "");
	free(runs[0].devices);
	free(runs[1].devices);
}

int main(void)
{
	test_room();
	test_which();
	return done();
}
