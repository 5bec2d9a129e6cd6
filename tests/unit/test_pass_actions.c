/* test_pass_actions.c - from a snapshot made by hand to the actions that a pass prints and
 * carries out: nothing here reads a store, a clock or a machine. */
#include "snapshot_by_hand.h"

#define TO_ITS_END "1 device to its end: first in, first out"

static void test_nothing(void)
{
	struct snapshot s = snapshot_new(&policy_fifo);

	check(&s, "", "no jobs need no actions");
}

static void test_starts(void)
{
	struct snapshot s = snapshot_new(&policy_fifo);

	add_device(&s, "cpu:0", "cpu");
	add_job(&s, 1, 64);
	add_job(&s, 2, 0);
	check(&s, "start job 1 on cpu:0: " TO_ITS_END "\n"
	      "[cpu:0: " TO_ITS_END "; batch 64 = 1 * 64 * 1, learning rate * 1]\n"
	      "[1 waits or runs: " TO_ITS_END "]\n"
	      "[2 waits or runs: 1st in line, first in first out; needs 1 device]\n",
	      "the first job starts, the second one is told why it waits");
}

static void test_passed_over(void)
{
	struct dependency after[] = {
		{ .job_id = 1, .after_id = 7, .rule = AFTER_OK, .after_state = JOB_FAILED },
		{ .job_id = 2, .after_id = 8, .after_state = JOB_RUNNING },
		{ .job_id = 4, .after_id = 8, .after_state = JOB_RUNNING,
		  .after_set_aside = true },
	};
	struct snapshot s = snapshot_new(&policy_fifo);

	add_device(&s, "cpu:0", "cpu");
	add_job(&s, 1, 0);
	add_job(&s, 2, 0);
	add_job(&s, 3, 0)->progress.failures = 1;
	s.jobs.items[2].declared.retries = 2;
	s.setbacks[2] = (struct setback){
		.n = 1, .kind = SETBACK_FAILED, .end_boot_s = NOW_BOOT_S - 4,
	};
	add_job(&s, 4, 0);
	s.dependencies.items = xcalloc(3, sizeof(*after));
	s.dependencies.count = 3;
	memcpy(s.dependencies.items, after, sizeof(after));
	check(&s, "job 1: cancelled: job 7, which was to succeed first, has failed\n"
	      "[2 waits or runs: after job 8, which is running]\n"
	      "[3 waits or runs: failed 1 time; retry 1 of 2 after a pause of 10 s]\n"
	      "[4 waits or runs: after job 8, which is suspended]\n",
	      "a job that can never run is cancelled, and others wait");
}

static void test_same_reason(void)
{
	struct snapshot s = snapshot_new(&policy_fifo);
	struct job *job;

	add_device(&s, "cpu:0", "cpu");
	job = add_job(&s, 1, 0);
	add_run(&s, job, 0, 10);
	free(job->reason);
	job->reason = xstrdup(TO_ITS_END);
	check(&s, "", "a reason that has not changed is not written again");
}

/* A version that did not know kinds assigned such runs. */
static void test_two_kinds(void)
{
	struct snapshot s = snapshot_new(&policy_fifo);
	struct run *run;
	struct job *job;

	add_device(&s, "gpu:0", "a");
	add_device(&s, "gpu:1", "b");
	job = add_job(&s, 1, 0);
	job->declared.min_replicas = job->declared.max_replicas = 2;
	run = add_run(&s, job, 0, 10);
	run->state = RUN_ASSIGNED;
	run->configuration.replicas = 2;
	run->devices = xreallocarray(run->devices, 2, sizeof(*run->devices));
	run->devices[1] = s.devices.items[1];
	check(&s, "stop job 1 (2 devices): needs 2 devices of one kind; no kind here has more "
	      "than 1\n[1 waits or runs: needs 2 devices of one kind; no kind here has more than "
	      "1]\n",
	      "a run that was assigned devices of two kinds is called off");
}

static void test_unattended(void)
{
	struct snapshot s = snapshot_new(&policy_fifo);
	struct job *job;

	add_device(&s, "cpu:0", "cpu");
	job = add_job(&s, 1, 0);
	add_run(&s, job, 0, 10);
	s.answers[0] = ENGINE_UNATTENDED;
	free(job->reason);
	job->reason = xstrdup(TO_ITS_END);
	check(&s, "job 1: the supervisor of run 1 is gone; stopping what is left of it\n",
	      "a run that lost its supervisor is stopped");
}

/* Its end decides whether the job pauses, or has failed. */
static void test_orphan(void)
{
	struct snapshot s = snapshot_new(&policy_fifo);
	struct run *run;

	add_device(&s, "cpu:0", "cpu");
	add_device(&s, "cpu:1", "cpu");
	run = add_run(&s, add_job(&s, 1, 0), 0, 10);
	run->state = RUN_STOPPING;
	run->stop_reason = STOP_ORPHAN;
	run->stop_boot_s = NOW_BOOT_S - 1;
	check(&s, "", "a job whose run lost its supervisor has no other before that has ended");
}

/* --- sizes --- */

/* The workload was measured on the old kind. On the new kind, where the job is to start, 40
 * samples ran out of memory and 32 fitted. */
static struct snapshot two_kinds(void)
{
	struct snapshot s = snapshot_new(&policy_goodput);
	struct knowledge bounded = knowledge_of_nothing();
	struct job *job;

	add_device(&s, "gpu:old", "old");
	add_device(&s, "gpu:new", "new");
	s.devices.items[0].usable = false;
	job = add_job(&s, 1, 64);
	job->declared.batch.accumulates = true;
	add_workload(&s, "old", measured(), true);
	bounded.memory.ran_out = xcalloc(1, sizeof(struct observation));
	bounded.memory.fitted = xcalloc(1, sizeof(struct observation));
	bounded.memory.ran_out[0] = (struct observation){
		.run_id = 9, .configuration = configuration_make(1, 40, 1),
	};
	bounded.memory.fitted[0] = (struct observation){
		.run_id = 8, .configuration = configuration_make(1, 32, 1), .n_windows = 10,
	};
	bounded.memory.n_ran_out = bounded.memory.n_fitted = 1;
	add_workload(&s, "new", bounded, false);
	return s;
}

/* One pass of 64 would take 16.4 ms, 3902 samples a second; two of 32 take 26.4 ms. */
static void test_sizes_that_fit(void)
{
	scoped(snapshot_release) struct snapshot s = two_kinds();
	struct decision *d = pass_decide(&s);
	struct actions *p = actions_of(&s, d, verdict_words);
	const struct action *a = p->count > 0 ? &p->items[0] : NULL;
	scoped(text_release) struct text event = TEXT_INIT;

	ok(a && a->kind == ACTION_START, "a job starts where its own sizes do not fit");
	if (!a || a->kind != ACTION_START)
		exit(1);
	action_describe(a, &event);
	is_int(a->new_run->configuration.local_batch_size, 32,
	       "the job starts with the local batch that fits there");
	is_int(a->new_run->configuration.accumulation_steps, 2, "the job starts with two passes");
	near(a->sizes.goodput, 64 / 0.0264, 1e-6, "the job starts with the goodput of these sizes");
	ok(strstr(event.data, "batch 64 = 1 * 32 * 2, learning rate * 1; goodput 2424/s") != NULL,
	   "the history tells the goodput of the sizes that fit");
	printf("# %s\n", event.data);
	actions_free(p);
	decision_free(d);
}

/* The kind that the job gets was measured too, and is twice as fast. */
static void test_model_of_the_kind(void)
{
	scoped(snapshot_release) struct snapshot s = two_kinds();
	struct knowledge fast = measured();
	struct decision *d;

	fast.model.fit.params.alpha_grad /= 2;
	fast.model.fit.params.beta_grad /= 2;
	knowledge_release(&s.workloads.items[1].k);
	s.workloads.items[1].k = fast;
	s.workloads.items[1].measured = true;
	d = pass_decide(&s);
	near(d->sizes[0].goodput, 64 / 0.0082, 1e-6,
	     "goodput is by the model of the devices assigned");
	decision_free(d);
}

/* Runs at 16 samples a pass, though 64 were measured to be much better. */
static struct snapshot runs_badly(void)
{
	struct snapshot s = snapshot_new(&policy_goodput);
	struct run *run;

	add_device(&s, "cpu:0", "cpu");
	run = add_run(&s, add_job(&s, 1, 64), 0, 700);
	run->configuration = configuration_make(1, 16, 4);
	run->takes_configs = true;
	add_workload(&s, "cpu", measured(), true);
	return s;
}

/* The kind of the first action; -1: there is none. */
static int first_action(const struct snapshot *s)
{
	struct decision *d = pass_decide(s);
	struct actions *p = actions_of(s, d, verdict_words);
	int kind = p->count > 0 ? (int)p->items[0].kind : -1;

	actions_free(p);
	decision_free(d);
	return kind;
}

/* Gradients of job 1 at its beginning: 30 updates, tr(Sigma) 100, |G|^2 1 with this spread. */
static void add_noise(struct snapshot *s, double deviation)
{
	struct knowledge *k = &s->workloads.items[0].k;

	k->windows = xcalloc(1, sizeof(*k->windows));
	k->n_windows = 1;
	k->windows[0] = (struct noise_window){
		.job_id = 1, .n = 30, .batch_size = 64, .first_samples = 0, .last_samples = 640,
		.mean_sqr = 1, .m2_sqr = 30 * deviation * deviation, .mean_var = 100, .m2_var = 30,
		.cross = 0,
	};
	k->noise_is_measured = true;
}

/* At 64 samples a pass the goodput is 1.6 times that of 16 in four passes, and with this noise 5 %
 * below that of 100. */
static void test_change_early(void)
{
	scoped(snapshot_release) struct snapshot s = runs_badly();

	s.windows[0] = 1;
	ok(first_action(&s) != ACTION_CHANGE,
	   "no change is made for a large gain after one window");
	s.windows[0] = 2;
	is_int(first_action(&s), ACTION_CHANGE, "a change is made after two windows that agree");
	s.runs.items[0].configuration = configuration_make(1, 64, 1);
	s.jobs.items[0].declared.batch.max = 4096;
	s.jobs.items[0].progress.total_epochs = 10;
	s.workloads.items[0].k.model.max_local_batch_size = 1024;
	add_noise(&s, 0.5);
	ok(first_action(&s) != ACTION_CHANGE, "no change is made for a small gain");
	s.windows[0] = POOL_WINDOWS;
	ok(first_action(&s) != ACTION_CHANGE,
	   "no change to a larger batch is made after more windows");
}

/* What the run of a job whose batch may grow is offered of its own device, where there is another
 * kind as well, or not. */
static double offered_growing(bool two)
{
	scoped(snapshot_release) struct snapshot s = snapshot_new(&policy_goodput);
	struct job *job = add_job(&s, 1, 64);
	struct decision *d;
	double goodput;

	add_device(&s, "gpu:0", "a");
	if (two)
		add_device(&s, "gpu:1", "b");
	job->declared.batch.max = 4096;
	job->progress.total_epochs = 10;
	add_run(&s, job, 0, 5000);
	add_workload(&s, "a", measured(), true);
	s.workloads.items[0].k.model.max_local_batch_size = 1024;
	add_noise(&s, 0.1);
	s.workloads.items[0].k.windows[0].mean_var = 1e5;	/* the noise lets it grow further */
	s.workloads.items[0].k.windows[0].m2_var = 3e4;
	d = pass_decide(&s);
	goodput = offers_at(&d->sched_jobs[0], d->sched_jobs[0].kind, 0, 1).goodput;
	decision_free(d);
	return goodput;
}

/* A relaunch takes one step of growth at the most. */
static void test_growth_by_kind(void)
{
	near(offered_growing(true), offered_growing(false), 1e-9,
	     "a batch grows as far on a device of several kinds as on one of the only kind");
}

/* Runs at 1024 samples, which are too many for a noise scale of 100. */
static void test_change_back(double deviation, bool changes, const char *name)
{
	scoped(snapshot_release) struct snapshot s = runs_badly();
	struct job *job = &s.jobs.items[0];

	job->declared.batch.max = 4096;
	job->progress.total_epochs = 10;
	s.workloads.items[0].k.model.max_local_batch_size = 1024;
	s.runs.items[0].configuration = configuration_make(1, 1024, 1);
	s.windows[0] = POOL_WINDOWS;
	add_noise(&s, deviation);
	ok((first_action(&s) == ACTION_CHANGE) == changes, name);
}

/* A newcomer of a workload that another job is measured for does not end that job's slice, nor the
 * turn of a job that had its own. */
static void test_measured_elsewhere(void)
{
	scoped(snapshot_release) struct snapshot s = snapshot_new(&policy_goodput);
	struct decision *d;

	add_device(&s, "cpu:0", "cpu");
	add_job(&s, 1, 64);
	add_job(&s, 2, 64);
	free(add_job(&s, 3, 64)->declared.workload);
	s.jobs.items[2].declared.workload = xstrdup("other");
	add_run(&s, &s.jobs.items[0], 0, 100);
	d = pass_decide(&s);
	ok(!d->sched_jobs[0].measured_elsewhere,
	   "a job that is measured itself is not measured elsewhere");
	ok(d->sched_jobs[1].measured_elsewhere,
	   "a waiting job of a measured workload is measured elsewhere");
	ok(!d->sched_jobs[2].measured_elsewhere,
	   "a job of another workload is not measured elsewhere");
	decision_free(d);
	add_workload(&s, "cpu", measured(), true);
	d = pass_decide(&s);
	ok(!d->sched_jobs[1].measured_elsewhere,
	   "a waiting job of a known workload is not measured elsewhere");
	decision_free(d);
}

static void test_change(void)
{
	scoped(snapshot_release) struct snapshot s = runs_badly();
	struct decision *d;
	struct actions *p;

	d = pass_decide(&s);
	p = actions_of(&s, d, verdict_words);
	ok(p->count == 0 || p->items[0].kind == ACTION_REASON,
	   "no change is made before the present sizes are measured");
	actions_free(p);
	decision_free(d);
	s.windows[0] = POOL_WINDOWS;
	d = pass_decide(&s);
	p = actions_of(&s, d, verdict_words);
	is_int(p->count > 0 ? (int)p->items[0].kind : -1, ACTION_CHANGE,
	       "a run is changed in place after its sizes are measured");
	is_int(p->items[0].sizes.configuration.local_batch_size, 64,
	       "a run is changed to the sizes of most goodput");
	actions_free(p);
	decision_free(d);
}

/* --- suspension --- */

#define MIB (1LL << 20)

/* A machine with 1000 MiB, of which suspended runs may keep 500; two jobs that save nothing, of
 * which the first had its slice. */
static const struct config with_memory = { .slice_s = 600, .suspend_memory = 0.5 };

static struct snapshot takes_turns(void)
{
	struct snapshot s = snapshot_new(&policy_las);
	struct run *run;

	s.config = &with_memory;
	s.suspends = true;
	s.memory = (struct snapshot_memory){
		.total_bytes = 1000 * MIB, .available_bytes = 600 * MIB,
	};
	add_device(&s, "cpu:0", "cpu");
	add_job(&s, 1, 0)->declared.preemption = PREEMPT_SAVED;
	add_job(&s, 2, 0)->declared.preemption = PREEMPT_SAVED;
	run = add_run(&s, &s.jobs.items[0], 0, 700);
	run->suspension = SUSPENSION_NONE;
	run->peak_memory_bytes = 400 * MIB;
	return s;
}

/* The actions, by kind and job: "suspend 1, start 2". */
static void check_turns(struct snapshot *s, const char *want, const char *name)
{
	static const char *const words[] = {
		[ACTION_STOP] = "stop", [ACTION_START] = "start", [ACTION_SUSPEND] = "suspend",
		[ACTION_RESUME] = "resume", [ACTION_ADOPT] = NULL,
	};
	struct decision *d = pass_decide(s);
	struct actions *p = actions_of(s, d, verdict_words);
	scoped(text_release) struct text got = TEXT_INIT;

	for (int i = 0; i < p->count; i++)
		if (words[p->items[i].kind])
			text_addf(&got, "%s%s %lld", got.length ? ", " : "",
				  words[p->items[i].kind], (long long)p->items[i].job_id);
	is_str(got.length ? got.data : "", want, name);
	actions_free(p);
	decision_free(d);
	snapshot_release(s);
}

/* A stop of the first run would lose what it did. */
static void loses(struct snapshot *s)
{
	s->loses = xcalloc((size_t)s->runs.count, sizeof(*s->loses));
	s->loses[0] = true;
}

static void test_suspend(void)
{
	struct snapshot s = takes_turns();

	check_turns(&s, "suspend 1, start 2",
		    "a job that saves nothing is suspended for the next one");
	s = takes_turns();
	s.jobs.items[0].declared.suspend = SUSPEND_NEVER;
	check_turns(&s, "", "a job that is never to be suspended keeps its turn");
	s = takes_turns();
	s.runs.items[0].suspension = SUSPENSION_CANNOT;
	check_turns(&s, "", "a job whose engine cannot suspend keeps its turn");
	s = takes_turns();
	s.jobs.items[0].declared.preemption = PREEMPT_ALWAYS;
	check_turns(&s, "stop 1, start 2", "a job that resumes from a checkpoint is stopped");
	s = takes_turns();
	s.jobs.items[0].declared.preemption = PREEMPT_ALWAYS;
	s.jobs.items[0].declared.suspend = SUSPEND_ALWAYS;
	check_turns(&s, "suspend 1, start 2", "a job that is always to be suspended is suspended");
	s = takes_turns();
	s.jobs.items[0].declared.preemption = PREEMPT_ALWAYS;
	loses(&s);
	check_turns(&s, "suspend 1, start 2", "a job that a stop would cost its work is suspended");
	s = takes_turns();
	s.jobs.items[0].declared.preemption = PREEMPT_ALWAYS;
	s.runs.items[0].peak_memory_bytes = 501 * MIB;
	loses(&s);
	check_turns(&s, "stop 1, start 2", "a job is stopped where memory does not suffice");
	s = takes_turns();
	s.runs.items[0].peak_memory_bytes = 501 * MIB;
	check_turns(&s, "", "a job keeps its turn if suspended runs may not keep as much");
	s = takes_turns();
	s.memory.largest_waiting_bytes = 601 * MIB;
	check_turns(&s, "", "a job keeps its turn if the next would not fit beside it");
	s = takes_turns();
	s.runs.items[0].resumed_boot_s = NOW_BOOT_S - 599;
	check_turns(&s, "", "a job's slice begins when it comes back");
	s = takes_turns();
	s.runs.items[0].suspension = SUSPENSION_ASKED;
	check_turns(&s, "start 2", "only other jobs are decided on while a job leaves");
	s = takes_turns();
	s.runs.items[0].suspension = SUSPENSION_DONE;
	job_release(&s.jobs.items[--s.jobs.count]);
	check_turns(&s, "resume 1", "a suspended job comes back to a free device");
	s = takes_turns();
	s.runs.items[0].suspension = SUSPENSION_DONE;
	s.jobs.items[0].held = true;
	check_turns(&s, "start 2", "a job that a person holds suspended does not come back");
}

/* What the policy is told of the first run, which has saved so long ago (0: never). */
static struct sched_job told(enum suspend_rule suspend, double saved_s)
{
	struct snapshot s = takes_turns();
	struct sched_job job;
	struct decision *d;

	s.policy = &policy_goodput;
	s.jobs.items[0].declared.preemption = PREEMPT_ALWAYS;
	s.jobs.items[0].declared.suspend = suspend;
	if (saved_s > 0)
		s.runs.items[0].checkpoint_boot_s = NOW_BOOT_S - saved_s;
	loses(&s);
	d = pass_decide(&s);
	job = d->sched_jobs[0];
	decision_free(d);
	snapshot_release(&s);
	return job;
}

static void test_loses(void)
{
	near(told(SUSPEND_AUTO, 0).unsaved_s, 699, 1e-9, "work since the first step is unsaved");
	near(told(SUSPEND_AUTO, 40).unsaved_s, 40, 1e-9,
	     "work since the last checkpoint is unsaved");
	near(told(SUSPEND_AUTO, 40).restart_s, 0.1, 1e-9, "a turn suspends the run");
	near(told(SUSPEND_AUTO, 40).relaunch_s, 30, 1e-9,
	     "a change other than a turn relaunches the run");
	near(told(SUSPEND_NEVER, 40).restart_s, 30, 1e-9,
	     "a turn that may not suspend relaunches the run");
	near(told(SUSPEND_NEVER, 40).relaunch_s, 0, 1e-9,
	     "a run that every turn relaunches has no other restart");
}

/* What the policy is told of a job that never leaves its device, by the state of its run. */
static bool told_preemptible(enum run_state state)
{
	scoped(snapshot_release) struct snapshot s = takes_turns();
	struct decision *d;
	bool is;

	s.jobs.items[0].declared.preemption = PREEMPT_NEVER;
	s.jobs.items[0].declared.suspend = SUSPEND_NEVER;
	s.runs.items[0].state = state;
	if (state == RUN_ASSIGNED)
		s.runs.items[0].launch_boot_s = UNKNOWN;
	d = pass_decide(&s);
	is = d->sched_jobs[0].preemptible;
	decision_free(d);
	return is;
}

static void test_assigned(void)
{
	ok(!told_preemptible(RUN_RUNNING), "a run that may not be stopped keeps its device");
	ok(told_preemptible(RUN_ASSIGNED), "a run may be called off before its launch");
}

/* The beginning of the slice of a run launched 700 s ago, whose first step took so long. */
static double slice_began(const char *framework, double first_step_s)
{
	scoped(snapshot_release) struct snapshot s = takes_turns();
	struct decision *d;
	double began_s;

	snprintf(s.runs.items[0].framework, sizeof(s.runs.items[0].framework), "%s", framework);
	s.runs.items[0].first_step_s = first_step_s;
	d = pass_decide(&s);
	began_s = d->sched_jobs[0].launched_s - (NOW_BOOT_S - 700);
	decision_free(d);
	return began_s;
}

static void test_slice(void)
{
	near(slice_began("", 5), 0, 1e-9, "a slice begins with the launch");
	near(slice_began("torch", 5), 5, 1e-9,
	     "a slice begins with the first step that the helper sees");
	near(slice_began("torch", UNKNOWN), 600, 1e-9,
	     "a slice begins a slice after the launch if no step was seen");
}

/* A run that turns only suspend, at sizes that are worth a relaunch. */
static void test_relaunch(void)
{
	struct snapshot s = runs_badly();

	s.suspends = true;
	s.config = &with_memory;
	s.memory = (struct snapshot_memory){
		.total_bytes = 1000 * MIB, .available_bytes = 600 * MIB,
	};
	s.runs.items[0].takes_configs = false;
	s.runs.items[0].suspension = SUSPENSION_NONE;
	loses(&s);
	s.runs.items[0].checkpoint_boot_s = NOW_BOOT_S;
	check_turns(&s, "stop 1, start 1", "a run at bad sizes is relaunched, not suspended");
	s = runs_badly();
	s.runs.items[0].takes_configs = false;
	loses(&s);
	check_turns(&s, "", "a run at bad sizes stays while it has more to lose than gain");
}

/* The first is suspended since 650 s, after 50 s of work; the second runs, or not. */
static struct snapshot is_suspended_now(double age_s)
{
	struct snapshot s = takes_turns();
	struct run *run = &s.runs.items[0];

	run->suspension = SUSPENSION_DONE;
	run->suspended_boot_s = NOW_BOOT_S - 650;
	run->kept_memory_bytes = 400 * MIB;
	if (age_s > 0) {
		run = add_run(&s, &s.jobs.items[1], 0, age_s);
		run->suspension = SUSPENSION_NONE;
		run->peak_memory_bytes = 50 * MIB;
	}
	return s;
}

static void test_resume(void)
{
	struct snapshot s = is_suspended_now(0);
	struct decision *d;

	job_release(&s.jobs.items[--s.jobs.count]);
	check_turns(&s, "resume 1", "a suspended job comes back to a free device");
	s = is_suspended_now(599);
	check_turns(&s, "", "a suspended job does not come back within another's slice");
	s = is_suspended_now(649);
	d = pass_decide(&s);
	near(d->sched_jobs[0].attained_service_device_s, 50, 1e-9,
	     "the time for which a job was suspended is no service");
	ok(d->sched_jobs[0].replicas == 0, "a suspended job has no device");
	decision_free(d);
	check_turns(&s, "resume 1, suspend 2", "a suspended job and a running one change places");
	s = is_suspended_now(649);
	s.runs.items[1].peak_memory_bytes = 101 * MIB;
	check_turns(&s, "", "two jobs do not change places if both would keep too much");
	s = is_suspended_now(649);
	s.jobs.items[0].declared.min_replicas = s.jobs.items[0].declared.max_replicas = 2;
	check_turns(&s, "resume 1, suspend 2", "it comes back as it was, whatever it declares");
	s = is_suspended_now(649);
	s.jobs.items[0].declared.preemption = PREEMPT_ALWAYS;
	s.jobs.items[0].declared.suspend = SUSPEND_ALWAYS;
	s.jobs.items[0].declared.max_replicas = 2;
	d = pass_decide(&s);
	ok(d->sched_jobs[0].min_replicas == 1 && d->sched_jobs[0].max_replicas == 1,
	   "a suspended job comes back on as many devices as its run has");
	decision_free(d);
	snapshot_release(&s);
	s = is_suspended_now(0);
	job_release(&s.jobs.items[--s.jobs.count]);
	s.runs.items[0].stop_reason = STOP_CANCEL;
	check_turns(&s, "", "a suspended job that is being cancelled does not come back");
	s = is_suspended_now(649);
	s.runs.items[0].suspension = SUSPENSION_RESUMING;
	s.runs.items[1].suspension = SUSPENSION_ASKED;
	check_turns(&s, "", "a job that waits for its device keeps it");
}

int main(void)
{
	test_nothing();
	test_starts();
	test_passed_over();
	test_same_reason();
	test_two_kinds();
	test_unattended();
	test_orphan();
	test_sizes_that_fit();
	test_model_of_the_kind();
	test_change();
	test_change_early();
	test_growth_by_kind();
	test_change_back(0.5, true, "a batch shrinks where the noise scale is known well");
	test_change_back(4, false, "a batch does not shrink where the noise may be large");
	test_measured_elsewhere();
	test_suspend();
	test_loses();
	test_assigned();
	test_slice();
	test_relaunch();
	test_resume();
	return done();
}
