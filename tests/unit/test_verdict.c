/* test_verdict.c - the words of verdicts: every kind of fact has some, and what does not fit into
 * 191 bytes gives way. */
#include <stdio.h>
#include <string.h>

#include "pollux/device.h"
#include "pollux/halving.h"
#include "pollux/people.h"
#include "tap.h"
#include "words.h"

static const char *one(struct fact fact)
{
	struct verdict v = verdict_of(fact);

	return words(&v);
}

/* A fact that has something for each member; those that a kind has are known by the kind alone. */
static struct fact full(enum fact_kind kind)
{
	static const struct fact plan = { FACT_PLAN_UNFIT, .name = "gc" };
	static const struct sched_kind kinds[SCHED_KINDS] = { { .name = "T4" }, { .name = "P4" } };
	static const bool in[2] = { true, true };
	static struct device_list list;
	static struct people people;
	static struct halving halving = { .metric = "loss", .n_rungs = 1, .rungs = { 10 } };
	static struct halving_run run = { .rung = 1, .rank = 1, .of = 2 };
	struct fact fact = {
		kind, .devices = 2, .n = 1, .of = 2, .name = "NAME",
		.jobs = { .n = 2, .first = { 3, 5 } },
	};

	if (!list.count)
		for (int i = 0; i < 2; i++)
			snprintf(devices_append(&list)->name, DEVICE_NAME_SIZE, "gpu:%d", i);
	switch ((int)kind) {
	case FACT_KINDS_TOO_SMALL:
		fact.kinds = kinds;
		break;
	case FACT_PLAN:
		fact.plans = &plan;
		break;
	case FACT_PEOPLE:
		fact.people = &people;
		break;
	case FACT_PROFILE_HAS:
	case FACT_WAITS_FOR_LINKS:
	case FACT_WAITS_FOR_SET:
	case FACT_MOVES:
		fact.set.of = &list;
		fact.set.in = fact.set.other = in;
		break;
	case FACT_PAUSED:
		fact.rung.of = &halving;
		fact.rung.run = &run;
		break;
	case FACT_KEEPS:
	case FACT_STARTS_TO_KEEP:
		fact.why_kept = KEPT_UNSAVED;
		break;
	default:
		fact.why = "WHY";
	}
	return fact;
}

static void test_every_kind(void)
{
	int without = 0, unknown = 0, alike = 0;

	for (int kind = 0; kind < FACT_KINDS; kind++) {
		struct fact fact = full((enum fact_kind)kind);
		const char *said = one(fact);

		if (!*said) {
			printf("# kind %d has no words\n", kind);
			without++;
		}
		if (strchr(said, '{') || strchr(said, '}') || strstr(said, "  ")) {
			printf("# kind %d: %s\n", kind, said);
			unknown++;
		}
	}
	for (int kind = 1; kind < FACT_KINDS; kind++)
		alike += !strcmp(one(full((enum fact_kind)kind)),
				 one(full((enum fact_kind)(kind - 1))));
	is_int(without, 0, "every kind of fact has words");
	is_int(unknown, 0, "every word in braces is replaced, and by something");
	is_int(alike, 0, "no kind of fact has the words of its neighbour");
}

static void test_clauses(void)
{
	struct verdict v = verdict_of((struct fact){ FACT_IN_LINE, .n = 22 });

	verdict_add(&v, (struct fact){ FACT_BEHIND, .job = 7 });
	verdict_add(&v, (struct fact){ FACT_NEEDS, .devices = 1 });
	verdict_say(&v, FACT_GATHERS);
	is_str(words(&v), "22nd in line, after job 7; needs 1 device: gathers devices as "
	       "slices end", "each clause is joined in its own way");
	is_str(one((struct fact){ FACT_WAITS_FOR_SLICES, .jobs = { 4, { 3, 5 } } }),
	       "waits for jobs 3, 5 and 2 more to end their slices", "two of four jobs are named");
	is_str(one((struct fact){ FACT_WAITS_FOR_SLICES, .jobs = { 1, { 3 } } }),
	       "waits for job 3 to end its slice", "one job is one");
	is_str(one((struct fact){ FACT_HAS, .devices = 1, .n = 1, .of = 4, .name = "T4" }),
	       "1 device of T4 (1 to 4 asked)", "devices have their kind and what was asked for");
	is_str(one((struct fact){ FACT_PROFILE_HAS, .job = 11, .set = full(FACT_MOVES).set }),
	       "profile 11 has gpu:0, gpu:1", "devices are listed by their names");
	is_str(one((struct fact){ FACT_PLAN, .name = "dp", .n = 2, .plans = (const struct fact[]){
			{ FACT_PLAN_SLOWER, .name = "gc", .gain.percent = 12 },
			{ FACT_PLAN_NOT_MEASURED, .name = "zero" } } }),
	       "plan dp (gc would be 12 % slower; zero was not measured)",
	       "what keeps from the other plans is in brackets");
}

/* What no other test meets. */
static void test_rare(void)
{
	static const struct {
		struct fact fact;
		const char *want;
	} cases[] = {
		{ { FACT_CANNOT_LEAVE, .job = 3, .name = "gpu:0" }, "cannot leave job 3 on gpu:0" },
		{ { FACT_LEAVES_WITH, .job = 3, .name = "gpu:0" }, "leaves gpu:0 with job 3" },
		{ { .kind = FACT_RAN_OUT_BESIDE }, "the two ran out of memory beside each other" },
		{ { .kind = FACT_GOES_ON_AS_UNFIT },
		  "goes on: no other job fits beside its memory" },
		{ { .kind = FACT_DEVICE_FREE }, "another device is free" },
		{ { .kind = FACT_GOES_ON_ALONE },
		  "goes on there once other programs have left it" },
		{ { .kind = FACT_GOES_ON_ALL_USABLE }, "goes on there once each GPU can be used" },
		{ { .kind = FACT_RUNG_NO_POSITION }, "passes its rungs: without --batch its "
		  "position in samples is not known" },
		{ { FACT_RUNG_UNSAVED, .n = 1, .of = 3 }, "goes on beyond rung 1 of 3: it has "
		  "saved nothing to be paused with" },
		{ { FACT_RUNG_NO_METRIC, .n = 2, .of = 3, .name = "loss" },
		  "goes on beyond rung 2 of 3: it reported no loss there" },
		{ { FACT_GUARANTEE_LOST, .n = 2 }, "guarantee not kept (an error of pollux): it "
		  "would lose its 2 devices" },
		{ { FACT_GUARANTEE_SLOW, .n = 2, .goodput = { 120.5, 200 } }, "guarantee not kept "
		  "(an error of pollux): 120.5 samples/s on 2 devices, promised 200" },
		{ { FACT_PLAN_CANNOT_READ, .name = "gc" }, "gc cannot read its checkpoints" },
		{ { FACT_GROUP_BEHIND, .n = 1, .of = 2 },
		  "its group may run 2 at a time, and others of it come first" },
		{ { FACT_UNTIL_PUT_FIRST, .job = 3, .n = 2 },
		  "until job 3, put first, can have 2" },
		{ { FACT_SECOND_QUEUE, .seconds = TIRESIAS_QUEUE_DEVICE_S },
		  "in the second queue, after 16 device-hours" },
		{ { .kind = FACT_BY_SERVICE }, "what remains is not known: by service had" },
		{ { .kind = FACT_EARLIER_HAVE_ALL }, "earlier jobs have all" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		is_str(one(cases[i].fact), cases[i].want, cases[i].want);
}

static void test_names(void)
{
	int64_t ids[] = { 9, 3, 9, 5, 3, 7 }, others[] = { 4, 4 };
	struct fact fact = { FACT_RUN_MEANWHILE, .jobs = job_names_of(ids, 6) };
	struct job_names four = job_names_of(others, 2);

	is_str(one(fact), "jobs 3, 5 and 2 more run meanwhile", "a job is named and counted once");
	fact.jobs = job_names_join(fact.jobs, four);
	is_str(one(fact), "jobs 3, 4 and 3 more run meanwhile",
	       "of two lists the smallest ids are named, and all jobs are counted");
	fact.jobs = four;
	is_str(one(fact), "job 4 runs meanwhile", "a job that was given twice is one");
}

static void test_durations(void)
{
	static const struct {
		double s;
		const char *want;
	} cases[] = {
		{ 0, "0s" }, { 59.4, "59s" }, { 61, "1m01s" }, { 264, "4m20s" }, { 3599, "1h00m" },
		{ 86399, "23h53m" }, { 87000, "1d00h" }, { 1e6, "11d13h" }, { -1, "0s" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		is_str(one((struct fact){ FACT_WAITED, .seconds = cases[i].s }) +
		       strlen("waited over "), cases[i].want,
		       "a duration has two digits and the units that they need");
	is_str(one((struct fact){ FACT_FOR_A_SLICE, .seconds = 1728000 }),
	       "for a slice of 1728000 s", "a slice of 20 days is told in full");
	is_str(one((struct fact){ FACT_FOR_A_SLICE, .seconds = 0.3 }), "for a slice of 0.3 s",
	       "a slice has the digits that it was set with");
}

/* "DEVICE: aaa", of so many bytes. */
static struct fact long_fact(char *why, size_t bytes)
{
	memset(why, 'a', bytes - strlen("g: "));
	why[bytes - strlen("g: ")] = '\0';
	return (struct fact){ FACT_DEVICE_OUT, .name = "g", .why = why };
}

static void test_room(void)
{
	char first[400], second[400];
	/* of 17 bytes */
	struct verdict v = verdict_of((struct fact){ .kind = FACT_OTHERS_FIRST });

	verdict_put_first(&v, long_fact(first, 172));
	is_int((int)strlen(words(&v)), 191, "191 bytes have room for a remark and the sentence");
	v = verdict_of((struct fact){ .kind = FACT_OTHERS_FIRST });
	verdict_put_first(&v, long_fact(first, 173));
	is_int((int)strlen(words(&v)), 173, "the sentence goes where it does not fit");
	verdict_put_first(&v, long_fact(second, 10));
	is_int((int)strlen(words(&v)), 185, "a remark before stays with the one that is left");
	verdict_put_first(&v, long_fact(second, 300));
	is_int((int)strlen(words(&v)), 191, "a remark is cut, and all that follows it goes");
	is_str(words(&v) + 186, "aa...", "what is cut says so");
	v = verdict_of((struct fact){ FACT_NOT_STARTED, .seconds = 10, .why = first });
	memset(first, 'a', 300);
	first[300] = '\0';
	is_int((int)strlen(words(&v)), 300 + (int)strlen("could not be started; tried again after "
							  "10 s: "),
	       "why a job was not in question is told in full");
}

/* A profile has so many devices that their names do not fit. */
static void test_cut(void)
{
	static struct device_list list;
	static bool in[100];
	struct verdict v = verdict_of((struct fact){ FACT_NEEDS, .devices = 2 });
	char accents[400] = "";

	for (int i = 0; i < 100; i++) {
		snprintf(devices_append(&list)->name, DEVICE_NAME_SIZE, "cpu:%d", i);
		in[i] = true;
	}
	verdict_add(&v, (struct fact){ FACT_PROFILE_HAS, .job = 11,
				       .set = { .of = &list, .in = in } });
	is_int((int)strlen(words(&v)), 191, "a list of devices is cut");
	is_str(words(&v) + 174, "cpu:19, cpu:20...", "a list that is cut says so");
	for (int i = 0; i < 150; i++)
		strcat(accents, "\u00e9");
	is_str(one((struct fact){ FACT_DEVICE_OUT, .name = "g", .why = accents }) + 185,
	       "\u00e9...", "a cut is between two characters");
	is_str(one((struct fact){ FACT_DEVICE_OUT, .name = "gp", .why = accents }) + 186,
	       "\u00e9...", "so is a cut one byte further");
}

static void test_overflow(void)
{
	struct verdict v = verdict_of((struct fact){ .kind = FACT_OTHERS_FIRST });

	for (int i = 0; i < 2 * VERDICT_FACTS; i++)
		verdict_say(&v, FACT_PUT_FIRST);
	for (int i = 0; i < 2 * VERDICT_FACTS; i++)
		verdict_put_first(&v, (struct fact){ FACT_IN_LINE, .n = i });
	ok(!strncmp(words(&v), "17th in line; 16th in line", 26),
	   "a verdict that is full loses its end");
}

int main(void)
{
	test_every_kind();
	test_clauses();
	test_rare();
	test_names();
	test_durations();
	test_room();
	test_cut();
	test_overflow();
	return done();
}
