/* test_slurm_parse.c - what Slurm's commands print, and what follows for a run. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/engine/slurm/slurm.h"
#include "tap.h"

static void test_nodes(void)
{
	struct slurm_node n;

	ok(slurm_parse_node("NodeName=n1 Arch=x86_64 CPUAlloc=0 CPUTot=64 Gres=gpu:a100:8(S:0-1) "
			    "GresUsed=gpu:a100:3(IDX:0-2) NodeAddr=10.0.0.1 RealMemory=512000 "
			    "State=MIXED Partitions=gpu", &n), "a node with GPUs is read");
	ok(!strcmp(n.name, "n1") && !strcmp(n.address, "10.0.0.1") && !strcmp(n.type, "a100"),
	   "a node's name, address and type are read");
	ok(!strcmp(n.partitions, "gpu") && !n.reserved, "a node's partition is read");
	ok(n.gpus == 8 && n.used == 3 && n.cores == 64 && n.up,
	   "a node's numbers of GPUs and cores are read");
	ok(slurm_parse_node("NodeName=n2 Gres=gpu:4 State=IDLE+RESERVED Partitions=main,gpu", &n) &&
	   n.up && n.reserved && !strcmp(n.partitions, "main,gpu"),
	   "a reserved node is up, and in its partitions");
	ok(slurm_parse_node("NodeName=n2 Gres=gpu:4 State=IDLE+MAINT+RESERVED", &n) && !n.up,
	   "a node in a reservation for maintenance is not up");
	ok(slurm_parse_node("NodeName=n2 Gres=gpu:4 GresUsed=gpu:0 State=IDLE+DRAIN", &n) &&
	   !n.up && n.used == 0 && !n.type[0], "a drained node is not up");
	ok(slurm_parse_node("NodeName=n2 Gres=gpu:4 State=DOWN*", &n) && !n.up && n.used == -1,
	   "a node that is down is not up");
	ok(slurm_parse_node("NodeName=n2 Gres=gpu:4 State=IDLE*", &n) && !n.up,
	   "a node that does not answer is not up");
	ok(!slurm_parse_node("NodeName=login Gres=(null) State=IDLE", &n),
	   "a node without GPUs is left out");
	ok(!slurm_parse_node("NodeName=a/b Gres=gpu:4 State=IDLE", &n),
	   "a node whose name has a slash is left out");
	ok(!slurm_parse_node("", &n), "an empty line is no node");
}

/* As 'scontrol -d -o show node' of Slurm 22.05.8 printed them for CLOUD nodes. */
static void test_states(void)
{
	static const struct {
		const char *state;
		enum { OUT, UP, SILENT } is;
	} cases[] = {
		{ "IDLE", UP }, { "IDLE+PLANNED", UP }, { "ALLOCATED+COMPLETING", UP },
		{ "IDLE+CLOUD+POWERED_DOWN", UP },
		{ "IDLE+CLOUD+NOT_RESPONDING+POWERING_UP", UP },
		{ "MIXED+CLOUD+NOT_RESPONDING+POWERING_UP", UP },
		{ "IDLE+CLOUD+DRAIN+POWERED_DOWN", OUT },
		{ "DOWN+CLOUD+POWERED_DOWN+NOT_RESPONDING", OUT },
		{ "IDLE+CLOUD+POWER_DOWN+NOT_RESPONDING+POWERING_UP", OUT },
		{ "IDLE+CLOUD+POWER_UP+POWERING_DOWN", OUT },
		{ "IDLE+NOT_RESPONDING", SILENT }, { "MIXED*", SILENT }, { "IDLE+DRAIN*", OUT },
		{ "UNKNOWN", SILENT }, { "UNKNOWN+DRAIN", OUT },
		{ "IDLE+REBOOT_ISSUED", OUT }, { "", OUT }, { "FUTURE", OUT },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char line[200];
		struct slurm_node n;

		snprintf(line, sizeof(line), "NodeName=c1 Gres=gpu:8 State=%s CPUTot=1",
			 cases[i].state);
		ok(slurm_parse_node(line, &n) && n.up == (cases[i].is == UP) &&
		   n.silent == (cases[i].is == SILENT), cases[i].state);
	}
}

/* As 'scontrol -o show reservation' of Slurm 22.05.8 printed it. */
static void test_reserved(void)
{
	static const struct {
		const char *line, *nodes, *name;
	} cases[] = {
		{ "ReservationName=mine StartTime=2026-11-28T03:39:16 Nodes=n[2-3] NodeCnt=2",
		  "n[2-3]", "mine" },
		{ "ReservationName=mine Nodes=(null) NodeCnt=0", "", "mine" }, { "", "", "" },
		{ "ReservationName=Nodes=n1", "", "" },
		{ "No reservations in the system", "", "" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char name[16], *nodes = slurm_parse_reserved(cases[i].line, name, sizeof(name));

		ok(!strcmp(nodes, cases[i].nodes) && !strcmp(name, cases[i].name), cases[i].line);
		free(nodes);
	}
}

static void test_gpus(void)
{
	static const struct {
		const char *text, *type;
		int n;
	} cases[] = {
		{ "gpu:4", "", 4 }, { "gpu", "", 1 }, { "gpu:a100", "a100", 1 },
		{ "gpu:a100:8,shard:16", "a100", 8 }, { "gres:gpu:tiny:2", "tiny", 2 },
		{ "gres/gpu:3", "", 3 }, { "shard:3", "", 0 }, { "gpus:3", "", 0 },
		{ "gpu:a:2(S:0,1),gpu:b:2", "a", 4 }, { "(null)", "", 0 }, { "", "", 0 },
		{ "gpu:99999999999999999999", "", 0 }, { "N/A", "", 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char type[16];
		int n = slurm_parse_gpus(cases[i].text, strlen(cases[i].text), type, sizeof(type));

		ok(n == cases[i].n && !strcmp(type, cases[i].type), cases[i].text);
	}
}

#define STORE "0123456789abcdef0123456789abcdef"

static void test_jobs(void)
{
	struct slurm_job j;

	ok(slurm_parse_job("7|RUNNING|n[1-2]|gres:gpu:tiny:4|2026-11-24T05:00:00|None|"
			   "pollux-01234567-3|" STORE ":3:9", &j),
	   "a job with the store in its comment is read");
	ok(j.id == 7 && j.job_id == 3 && j.run_id == 9 && !strcmp(j.store, STORE) &&
	   !strcmp(j.nodes, "n[1-2]") && j.gpus == 4, "the fields of a job are read");
	ok(slurm_parse_job("8|PENDING||gres:gpu:1|N/A|Resources|x|", &j) && !j.store[0] &&
	   !j.start[0] && !strcmp(j.reason, "Resources"),
	   "a job of somebody else that waits is read");
	ok(slurm_parse_job("8|PENDING||N/A|N/A|None|a|b|" STORE ":1:1", &j) && !j.store[0],
	   "a name with the separator is no comment");
	ok(slurm_parse_job("8|RUNNING||N/A|N/A|None|a|" STORE ":-1:1", &j) && !j.store[0],
	   "a comment with numbers below 0 is none");
	ok(!slurm_parse_job("|||||", &j), "a line without a number is no job");
	ok(!slurm_parse_job("error", &j), "another text is no job");
}

static void check_list(const char *list, const char *want)
{
	scoped(text_release) struct text all = TEXT_INIT;
	char name[DEVICE_NODE_SIZE];
	struct slurm_names names = { .rest = list };

	while (all.length < 300 && slurm_next_node(&names, name, sizeof(name)))
		text_addf(&all, "%s ", name);
	is_str(all.data, want, list);
}

static void test_lists(void)
{
	check_list("n1", "n1 ");
	check_list("n1,login", "n1 login ");
	check_list("n[1-3,7],x", "n1 n2 n3 n7 x ");
	check_list("a[008-010]", "a008 a009 a010 ");
	check_list("", "");
	check_list("n[1-", "");
	check_list("n[3-1]", "");
	check_list("n[1]x", "");
	check_list("n[1,3-4],m[7]", "n1 n3 n4 m7 ");
	check_list("n[1;2],m", "n1 m ");
	check_list("n[3-1],m", "m ");
	check_list("n[1]x,m[2-3]", "m2 m3 ");
	check_list("rack[1-2]n[3,4],m", "m ");
	check_list("a b,,m,", "m ");
	check_list("n[],m[1", "");
	check_list("n[202611290001-202611290002],m", "n202611290001 n202611290002 m ");
	check_list("n[1234567890123456],m", "m ");
	ok(slurm_parse_submitted("123\n") == 123 && slurm_parse_submitted("5;c\n") == 5 &&
	   slurm_parse_submitted("sbatch: x") == 0, "the number is read from what sbatch prints");
}

static void test_judge(void)
{
	static const struct {
		const char *name;
		struct slurm_facts f;
		enum engine_answer want;
	} cases[] = {
		{ "a run for which nothing was asked is unattended",
		  { .nodes = 1 }, ENGINE_UNATTENDED },
		{ "a run that waits in Slurm is alive",
		  { .launched = true, .nodes = 1, .slurm = SLURM_KNOWN },
		  ENGINE_ALIVE },
		{ "a run that Slurm lost is unattended",
		  { .launched = true, .nodes = 1, .slurm = SLURM_GONE },
		  ENGINE_UNATTENDED },
		{ "a run is unknown while no controller answers",
		  { .launched = true, .nodes = 1 }, ENGINE_UNKNOWN },
		{ "a run that was called off is gone",
		  { .launched = true, .claimed = true, .by_pass = true },
		  ENGINE_GONE },
		{ "a run in its lease that Slurm knows is alive",
		  { .launched = true, .claimed = true, .nodes = 2, .lease_age_s = 1,
			       .lease_s = 10, .slurm = SLURM_KNOWN }, ENGINE_ALIVE },
		{ "a run in its lease is alive, though Slurm lost it",
		  { .launched = true, .claimed = true, .nodes = 2, .lease_age_s = 1, .lease_s = 10,
					       .slurm = SLURM_GONE }, ENGINE_ALIVE },
		{ "a run whose lease was over long ago is gone",
		  { .launched = true, .claimed = true, .nodes = 2, .lease_age_s = 16,
			       .lease_s = 10, .slurm = SLURM_KNOWN }, ENGINE_GONE },
		{ "a run whose lease was over within the margin is alive",
		  { .launched = true, .claimed = true, .nodes = 2,
					 .lease_age_s = 14, .lease_s = 10 }, ENGINE_ALIVE },
		{ "a run whose programs all ended is gone",
		  { .launched = true, .claimed = true, .nodes = 2, .ends = 2,
					  .lease_age_s = 1, .lease_s = 10, .slurm = SLURM_GONE },
		  ENGINE_GONE },
		{ "a run whose programs ended is alive while Slurm knows it",
		  { .launched = true, .claimed = true, .nodes = 2,
						.ends = 2, .lease_age_s = 1, .lease_s = 10,
						.slurm = SLURM_KNOWN }, ENGINE_ALIVE },
		{ "a run of which one program is left is alive",
		  { .launched = true, .claimed = true, .nodes = 2, .ends = 1,
					   .lease_age_s = 1, .lease_s = 10, .slurm = SLURM_GONE },
		  ENGINE_ALIVE },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ok(slurm_judge(&cases[i].f) == cases[i].want, cases[i].name);
}

static void test_handle(void)
{
	struct run run = { .handle = (char[]){ "slurm job=12 dir=/a job=7/run/3" } };
	struct slurm_handle h = slurm_handle_of(&run);

	ok(h.job == 12 && !strcmp(h.dir, "/a job=7/run/3"),
	   "the handle of a run tells its job and its directory");
	run.handle = NULL;
	h = slurm_handle_of(&run);
	ok(h.job == 0 && !h.dir[0], "a run without a handle has no job in Slurm");
}

int main(void)
{
	test_nodes();
	test_states();
	test_reserved();
	test_gpus();
	test_jobs();
	test_lists();
	test_judge();
	test_handle();
	return done();
}
