/* test_cpu_jobs.c - jobs without a device: from a snapshot made by hand to what a pass does. */
#include "snapshot_by_hand.h"

#define STARTS "without a device, on 1 core"

static struct config four;

/* A machine of one slot and four cores, the last two of which have two processors each. */
static struct snapshot machine(int cpu_jobs)
{
	static const char *const cores[] = { "0", "1", "2,4", "3,5" };
	struct snapshot s = snapshot_new(&policy_fifo);

	four = *s.config;
	four.cpu_jobs = cpu_jobs;
	s.config = &four;
	for (int i = 0; i < 4; i++)
		strings_add(&s.cores, cores[i]);
	add_device(&s, "cpu:0", "cpu");
	snprintf(s.devices.items[0].binding, sizeof(s.devices.items[0].binding), "3,5");
	s.host_needs = xcalloc(10, sizeof(*s.host_needs));
	return s;
}

static struct job *add_cpu_job(struct snapshot *s, int64_t id, int cores)
{
	struct job *job = add_job(s, id, 0);

	job->declared.min_replicas = job->declared.max_replicas = 0;
	job->declared.cpu_cores = cores;
	return job;
}

/* A run without a device. */
static void add_cpu_run(struct snapshot *s, struct job *job, const char *processors)
{
	struct run *run = add_run(s, job, 0, 10);

	run->configuration.replicas = 0;
	snprintf(run->cores, sizeof(run->cores), "%s", processors);
	run_make_devices(run);
}

static void test_beside(void)
{
	struct snapshot s = machine(3);
	struct job *job = add_job(&s, 1, 0);

	add_run(&s, job, 0, 10);
	free(job->reason);
	job->reason = xstrdup("1 device to its end: first in, first out");
	add_cpu_job(&s, 2, 1);
	check(&s, "start job 2 on processor 2,4: " STARTS "\n"
	      "[processor 2,4: " STARTS "]\n"
	      "[2 waits or runs: " STARTS "]\n",
	      "a job without a device starts where no run is bound, though every device is taken");
}

static void test_how_many(void)
{
	struct snapshot s = machine(1);

	add_cpu_job(&s, 1, 1);
	add_cpu_job(&s, 2, 1)->declared.weight = 2;
	add_cpu_job(&s, 3, 1)->declared.first_rank = 1;
	check(&s, "start job 3 on processor 3,5: " STARTS "\n"
	      "[processor 3,5: " STARTS "]\n"
	      "[3 waits or runs: " STARTS "]\n"
	      "[2 waits or runs: 1 CPU job runs, cpu_jobs = 1]\n"
	      "[1 waits or runs: 1 CPU job runs, cpu_jobs = 1]\n",
	      "as many start as cpu_jobs says: those put first, then those of more weight");
}

static void test_cores(void)
{
	struct snapshot s = machine(4);

	add_cpu_run(&s, add_cpu_job(&s, 1, 2), "2-5");
	add_cpu_job(&s, 2, 3);
	add_cpu_job(&s, 3, 1);
	add_cpu_job(&s, 4, 5);
	check(&s, "[2 waits or runs: needs 3 cores; CPU jobs have 2 of 4]\n"
	      "[3 waits or runs: after CPU job 2, which waits for cores]\n"
	      "[4 waits or runs: needs 5 cores, and this machine has 4]\n",
	      "a job waits for cores, and is not passed by one that needs fewer");
}

static void test_memory(void)
{
	struct snapshot s = machine(4);
	struct decision *d;

	s.memory = (struct snapshot_memory){ 100LL << 30, 50LL << 30, 0 };
	add_cpu_job(&s, 1, 1);
	add_cpu_job(&s, 2, 1)->declared.weight = 0.5;
	add_cpu_job(&s, 3, 1);
	add_job(&s, 4, 0);
	s.host_needs[3] = 60LL << 30;
	s.host_needs[0] = 95LL << 30;
	s.host_needs[1] = 60LL << 30;
	s.host_needs[2] = 40LL << 30;
	s.policy = &policy_goodput;
	d = pass_decide(&s);
	ok(d->input.memory_bytes < 50.1 * 0x1p30 && d->input.memory_bytes > 49.9 * 0x1p30,
	   "jobs with devices are left the memory that those without one do not need");
	decision_free(d);
	check(&s, "start job 3 on processor 3,5: " STARTS "\n"
	      "[1 waits or runs: waits for host memory: needs 90.0 GiB, 50.0 are free]\n"
	      "[processor 3,5: " STARTS "]\n"
	      "[3 waits or runs: " STARTS "]\n"
	      "[2 waits or runs: waits for host memory: needs 60 of 90 GiB, 40 are in use]\n"
	      "[4 waits or runs: waits for host memory: needs 60 of 90 GiB, 40 are in use]\n",
	      "jobs wait for memory, and one that needs less starts");
}

int main(void)
{
	test_beside();
	test_how_many();
	test_cores();
	test_memory();
	return done();
}
