/* test_pass_nodes.c - decisions on devices of several nodes, from snapshots made by hand. */
#include "snapshot_by_hand.h"

/* Nodes of so many devices each, the first of n1. */
static void add_nodes(struct snapshot *s, int n_nodes, int size)
{
	for (int k = 0; k < n_nodes; k++)
		for (int i = 0; i < size; i++) {
			char id[32];
			struct device *d;

			snprintf(id, sizeof(id), "gpu:n%d:%d", k + 1, i);
			add_device(s, id, "A100");
			d = &s->devices.items[s->devices.count - 1];
			snprintf(d->node, sizeof(d->node), "n%d", k + 1);
		}
}

static struct job *ask(struct snapshot *s, int64_t id, int least, int most)
{
	struct job *job = add_job(s, id, 64);

	job->declared.min_replicas = least;
	job->declared.max_replicas = most;
	return job;
}

/* "1: n1 n1" for the devices of the job; without devices its reason. */
static char *told(const struct snapshot *s, const struct decision *d, int64_t id)
{
	struct text t = TEXT_INIT;

	for (int i = 0; i < d->n_passed_over; i++)
		if (d->passed_over[i].job->id == id)
			text_add(&t, words(&d->passed_over[i].verdict));
	for (int j = 0; j < d->n; j++) {
		if (d->candidates[j].job->id != id)
			continue;
		for (int i = 0; i < s->devices.count; i++)
			if (d->owner[i] == j)
				text_addf(&t, "%s ", s->devices.items[i].node);
		if (!d->choices[j].replicas)
			text_add(&t, said(&d->choices[j]));
		else
			text_addf(&t, "on %d", d->sizes[j].configuration.nodes);
	}
	return text_detach(&t);
}

static void is_told(const struct snapshot *s, const struct decision *d, int64_t id,
		    const char *want, const char *name)
{
	autofree char *got = told(s, d, id);

	is_str(got, want, name);
}

static const struct policy *const every_policy[] = {
	&policy_fifo, &policy_las, &policy_goodput, &policy_pollux,
};

/* Each number asked for, and what a policy may make of it. */
static void test_numbers(void)
{
	static const struct {
		int least, most;
		const char *want;
	} cases[] = {
		{ 1, 1, "n1 on 1" },
		{ 3, 3, "n1 n1 n1 on 1" },
		{ 4, 4, "n1 n1 n1 n1 on 1" },
		{ 5, 5, "asks for 5 devices, which fall evenly on no nodes of 4: 'pollux edit 1 "
			"-r 4' or '-r 8' would do" },
		{ 6, 6, "n1 n1 n1 n2 n2 n2 on 2" },
		{ 8, 8, "n1 n1 n1 n1 n2 n2 n2 n2 on 2" },
		{ 5, 8, "n1 n1 n1 n1 n2 n2 n2 n2 on 2" },
		{ 4, 5, "n1 n1 n1 n1 on 1" },
		{ 9, 9, "n1 n1 n1 n2 n2 n2 n3 n3 n3 on 3" },
		{ 11, 11, "asks for 11 devices, which fall evenly on no nodes of 4: 'pollux edit 1 "
			  "-r 8' or '-r 12' would do" },
	};

	for (size_t p = 0; p < sizeof(every_policy) / sizeof(every_policy[0]); p++)
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			scoped(snapshot_release) struct snapshot s = snapshot_new(every_policy[p]);
			struct decision *d;
			char name[80];

			add_nodes(&s, 3, 4);
			ask(&s, 1, cases[i].least, cases[i].most);
			d = pass_decide(&s);
			snprintf(name, sizeof(name),
				 "%s gives %d to %d devices of 3 nodes of 4 as worked out",
				 every_policy[p]->name, cases[i].least, cases[i].most);
			is_told(&s, d, 1, cases[i].want, name);
			decision_free(d);
		}
}

static void test_too_few(void)
{
	scoped(snapshot_release) struct snapshot s = snapshot_new(&policy_goodput);
	struct decision *d;

	add_nodes(&s, 2, 4);
	ask(&s, 1, 16, 16);
	d = pass_decide(&s);
	is_told(&s, d, 1, "needs 16 devices; 8 can be used here",
		"a job of more devices than there are is told so");
	decision_free(d);
}

/* The same where the model of the workload is known: its table ends with the devices there are. */
static void test_too_few_known(void)
{
	scoped(snapshot_release) struct snapshot s = snapshot_new(&policy_goodput);
	struct decision *d;

	add_nodes(&s, 2, 4);
	ask(&s, 1, 1600, 1600);
	add_workload(&s, "A100", measured(), true);
	d = pass_decide(&s);
	is_told(&s, d, 1, "needs 1600 devices; 8 can be used here",
		"a measured job of more devices than there are is told so");
	decision_free(d);
}

static struct job *promise(struct snapshot *s, int64_t id, int devices)
{
	struct job *job = ask(s, id, devices, devices);
	char guarantee[12];

	snprintf(guarantee, sizeof(guarantee), "%d", devices);
	job->declared.guarantee = xstrdup(guarantee);
	return job;
}

/* Eight devices are enough for 3, 3 and 2, but not on two nodes of four. */
static void test_guarantees(void)
{
	struct snapshot s = snapshot_new(&policy_goodput);
	struct decision *d;

	add_nodes(&s, 2, 4);
	promise(&s, 1, 3);
	promise(&s, 2, 3);
	promise(&s, 3, 2);
	d = pass_decide(&s);
	is_told(&s, d, 1, "n1 n1 n1 on 1", "a guarantee of 3 devices gets one node");
	is_told(&s, d, 2, "n2 n2 n2 on 1", "another guarantee of 3 devices gets the other node");
	is_told(&s, d, 3, "its guarantee needs 2 devices; the nodes have no room for them beside "
		"those that are promised", "no third guarantee is admitted that has no node");
	decision_free(d);
	snapshot_release(&s);
	s = snapshot_new(&policy_goodput);
	add_nodes(&s, 2, 4);
	ask(&s, 1, 3, 3);
	ask(&s, 2, 3, 3);
	promise(&s, 3, 2);
	d = pass_decide(&s);
	is_told(&s, d, 3, "n2 n2 on 1", "a guarantee comes before wider jobs without one");
	is_told(&s, d, 1, "n1 n1 n1 on 1", "the first wider job has room beside the guarantee");
	is_told(&s, d, 2, "waits for room: 3 devices on one node; the devices that other jobs "
		"leave are elsewhere", "the last wider job waits beside the guarantee");
	decision_free(d);
	snapshot_release(&s);
}

/* Jobs that keep their devices hold one of each node; a job of four finds no node. */
static void test_no_room(void)
{
	scoped(snapshot_release) struct snapshot s = snapshot_new(&policy_fifo);
	struct decision *d;

	add_nodes(&s, 2, 4);
	for (int i = 0; i < 2; i++) {
		struct job *job = ask(&s, i + 1, 1, 1);

		job->declared.preemption = PREEMPT_NEVER;
		add_run(&s, job, 4 * i, 10);
	}
	ask(&s, 3, 4, 4);
	ask(&s, 4, 2, 2);
	d = pass_decide(&s);
	is_told(&s, d, 3, "waits for room: 4 devices on one node; the devices that other jobs "
		"leave are elsewhere",
		"a job of a node's size waits if its devices are in two parts");
	is_told(&s, d, 4, "n1 n1 on 1",
		"a smaller job gets devices that the larger one cannot use");
	decision_free(d);
}

/* The same where the small jobs can be relaunched: one of them moves. */
static void test_makes_room(void)
{
	scoped(snapshot_release) struct snapshot s = snapshot_new(&policy_fifo);
	struct decision *d;
	struct actions *p;
	autofree char *text = NULL;

	add_nodes(&s, 2, 4);
	for (int i = 0; i < 2; i++)
		add_run(&s, ask(&s, i + 1, 1, 1), 4 * i, 10);
	ask(&s, 3, 4, 4);
	d = pass_decide(&s);
	is_told(&s, d, 3, "n1 n1 n1 n1 on 1", "a node is cleared for the large job");
	is_told(&s, d, 1, "n2 on 1", "the job on the cleared node moves");
	is_told(&s, d, 2, "n2 on 1", "the job on the other node stays");
	p = actions_of(&s, d, verdict_words);
	text = describe(p);
	ok(strstr(text, "stop job 1 (1 device): makes room on its node; 1 device to its end") !=
	   NULL, "the plan tells that the job makes room on its node");
	actions_free(p);
	decision_free(d);
}

/* A job that takes less gets less. */
static void test_lowered(void)
{
	scoped(snapshot_release) struct snapshot s = snapshot_new(&policy_fifo);
	struct decision *d;
	struct job *job;

	add_nodes(&s, 2, 4);
	for (int i = 0; i < 2; i++) {
		job = ask(&s, i + 1, 1, 1);
		job->declared.preemption = PREEMPT_NEVER;
		add_run(&s, job, 4 * i, 10);
	}
	ask(&s, 3, 2, 4);
	d = pass_decide(&s);
	is_told(&s, d, 3, "n1 n1 on 1", "a job gets two of the four devices that it was to have");
	for (int j = 0; j < d->n; j++)
		if (d->candidates[j].job->id == 3)
			is_str(said(&d->choices[j]), "2 devices: other jobs leave no room for "
			       "4 devices on one node",
			       "the reason tells why a job gets fewer devices");
	decision_free(d);
}

/* The processors of the nodes are not known here: a plan that wants cores is bound to none. */
static void test_cores(void)
{
	scoped(snapshot_release) struct snapshot s = snapshot_new(&policy_fifo);
	struct decision *d;
	struct actions *p;

	add_nodes(&s, 2, 4);
	ask(&s, 1, 2, 2)->declared.plans = xstrdup("dp:cores=4=--dp");
	d = pass_decide(&s);
	p = actions_of(&s, d, verdict_words);
	for (int i = 0; i < p->count; i++)
		if (p->items[i].kind == ACTION_START)
			is_str(p->items[i].new_run->cores, "",
			       "a run on other machines is bound to no processors");
	actions_free(p);
	decision_free(d);
}

/* --- goodput --- */

static struct knowledge on_nodes(int replicas, int nodes, double sync_node_s)
{
	struct knowledge k = measured();

	k.model.max_replicas = replicas;
	k.model.max_nodes = nodes;
	k.model.fit.params.alpha_sync_local = k.model.fit.params.beta_sync_local = 1e-8;
	k.model.fit.params.alpha_sync_node = sync_node_s;
	k.model.fit.params.beta_sync_node = 1e-8;
	return k;
}

static void decide_goodput(struct knowledge k, const char *want, const char *name)
{
	scoped(snapshot_release) struct snapshot s = snapshot_new(&policy_goodput);
	struct job *job = NULL;
	struct decision *d;

	add_nodes(&s, 4, 4);
	job = ask(&s, 1, 1, 16);
	job->declared.batch.max = 4096;
	job->declared.batch.accumulates = true;
	job->declared.noise_scale = 1e6;
	add_workload(&s, "A100", k, true);
	d = pass_decide(&s);
	is_told(&s, d, 1, want, name);
	decision_free(d);
}

static void test_goodput(void)
{
	decide_goodput(on_nodes(4, 1, 1e-8),
		       "n1 n1 n1 n1 n2 n2 n2 n2 on 2",
		       "a job measured on one node gets two nodes at most");
	decide_goodput(on_nodes(8, 2, 1e-8), "n1 n1 n1 n1 n2 n2 n2 n2 n3 n3 n3 n3 n4 n4 n4 n4 on 4",
		       "a job measured on two nodes gets four nodes");
	decide_goodput(on_nodes(8, 2, 10), "n1 n1 n1 n1 on 1",
		       "a job on a slow network gets one node");
	decide_goodput(on_nodes(1, 1, 1e-8), "n1 n1 n1 n1 on 1",
		       "a job measured on one device gets four devices");
}

/* The least number that the nodes allow is tried, however little was measured. */
static void test_goodput_least(void)
{
	static const struct {
		int least, most;
		const char *want;
	} cases[] = {
		{ 5, 8, "n1 n1 n1 n1 n2 n2 n2 n2 on 2" },
		{ 10, 12, "n1 n1 n1 n1 n2 n2 n2 n2 n3 n3 n3 n3 on 3" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		scoped(snapshot_release) struct snapshot s = snapshot_new(&policy_goodput);
		struct decision *d;
		char name[80];

		add_nodes(&s, 4, 4);
		ask(&s, 1, cases[i].least, cases[i].most);
		add_workload(&s, "A100", on_nodes(1, 1, 1e-8), true);
		d = pass_decide(&s);
		snprintf(name, sizeof(name),
			 "a job measured on one device gets the least of %d to %d", cases[i].least,
			 cases[i].most);
		is_told(&s, d, 1, cases[i].want, name);
		decision_free(d);
	}
}

static struct run *add_run_on(struct snapshot *s, struct job *job, int first, int n, int nodes)
{
	struct run *run = add_run(s, job, first, 10000);

	run->configuration = configuration_make(n, 64 / n, 1);
	run->configuration.nodes = nodes;
	run->devices = xreallocarray(run->devices, (size_t)n, sizeof(*run->devices));
	for (int i = 0; i < n; i++)
		run->devices[i] = s->devices.items[first + i];
	return run;
}

/* A job runs on two nodes of four, as the node of eight is taken. Its goodput is that of two nodes:
 * neither a relaunch nor another configuration would gain what one node would. */
static void test_on_more_nodes(bool takes_configs)
{
	scoped(snapshot_release) struct snapshot s = snapshot_new(&policy_goodput);
	struct job *large;
	struct decision *d;
	struct run *run;
	struct actions *p;
	autofree char *text = NULL;

	add_nodes(&s, 3, 4);
	for (int i = 0; i < 4; i++)
		add_device(&s, "gpu:n0", "A100");
	for (int i = 0; i < 16; i++) {
		struct device *at = &s.devices.items[i];

		snprintf(at->id, sizeof(at->id), "gpu:%d", i);
		snprintf(at->node, sizeof(at->node), "n%d", i < 8 ? 1 : i / 4);
	}
	for (int i = 0; i < 2; i++)
		ask(&s, i + 1, 8, 8);
	large = &s.jobs.items[0];
	large->declared.preemption = PREEMPT_NEVER;
	add_run_on(&s, large, 0, 8, 1);
	run = add_run_on(&s, &s.jobs.items[1], 8, 8, 2);
	run->takes_configs = takes_configs;
	s.windows[1] = 1000;
	add_workload(&s, "A100", on_nodes(8, 2, 0.1), true);
	d = pass_decide(&s);
	p = actions_of(&s, d, verdict_words);
	text = describe(p);
	ok(!strstr(text, "[job 2") && !strstr(text, "stop job 2") && !strstr(text, "change"),
	   takes_configs ? "a program on more nodes than the fewest keeps its configuration"
			 : "a run on more nodes than the fewest stays");
	printf("# %s\n", text);
	actions_free(p);
	decision_free(d);
}

/* --- many nodes --- */

static void test_many(void)
{
	scoped(snapshot_release) struct snapshot s = snapshot_new(&policy_goodput);
	struct decision *d;
	int given = 0;

	add_nodes(&s, 1000, 8);
	for (int i = 0; i < 30; i++)
		ask(&s, i + 1, 8, 64);
	add_workload(&s, "A100", on_nodes(16, 2, 1e-8), true);
	d = pass_decide(&s);
	for (int i = 0; i < s.devices.count; i++)
		given += d->owner[i] >= 0;
	ok(given >= 240 && given <= 30 * 64, "30 jobs have their devices on 1,000 nodes");
	printf("# %d devices\n", given);
	decision_free(d);
}

/* A plan whose replicas have three devices, on nodes of four. */
static void test_wide_plan(void)
{
	for (size_t p = 0; p < sizeof(every_policy) / sizeof(every_policy[0]); p++) {
		scoped(snapshot_release) struct snapshot s = snapshot_new(every_policy[p]);
		struct job *job;
		struct decision *d;

		add_nodes(&s, 2, 4);
		job = ask(&s, 1, 1, 4);
		job->declared.plans = xstrdup("tp:width=3=");
		d = pass_decide(&s);
		is_told(&s, d, 1, "n1 n1 n1 on 1", every_policy[p]->name);
		is_int(d->sizes[0].configuration.width, 3,
		       "a plan of wide replicas runs with three devices each");
		decision_free(d);
	}
}

int main(void)
{
	test_numbers();
	test_too_few();
	test_too_few_known();
	test_guarantees();
	test_no_room();
	test_makes_room();
	test_lowered();
	test_cores();
	test_wide_plan();
	test_goodput();
	test_goodput_least();
	test_on_more_nodes(false);
	test_on_more_nodes(true);
	test_many();
	return done();
}
