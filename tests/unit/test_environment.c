/* test_environment.c - what of the submitter's environment a job keeps, and what a launch adds. */
#include "pollux/environment.h"
#include "pollux/mem.h"
#include "tap.h"

static struct strings env;

static const char *value_of(const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < env.count; i++)
		if (!strncmp(env.items[i], name, n) && env.items[i][n] == '=')
			return env.items[i] + n + 1;
	return NULL;
}

static int count_of(const char *name)
{
	size_t n = strlen(name);
	int count = 0;

	for (size_t i = 0; i < env.count; i++)
		count += !strncmp(env.items[i], name, n) && env.items[i][n] == '=';
	return count;
}

static void is_kept(const char *variable)
{
	char *variables[] = { strdup(variable), NULL };

	strings_release(&env);
	environment_capture(variables, &env);
	is_int((long long)env.count, 1, variable);
	is_str(env.count ? env.items[0] : NULL, variable, "is kept as it is");
	free(variables[0]);
}

static void is_dropped(const char *variable)
{
	char *variables[] = { strdup(variable), NULL };

	strings_release(&env);
	environment_capture(variables, &env);
	is_int((long long)env.count, 0, variable);
	free(variables[0]);
}

static void test_capture(void)
{
	static const char *const kept[] = {
		"PATH=/usr/bin", "HOME=/root", "USER=me", "LANG=C.UTF-8", "PYTHONPATH=a:b",
		"EMPTY=",
		"LD_LIBRARY_PATH=/x", "OMP_NUM_THREADS=8", "CUDA_HOME=/usr/local/cuda",
		"NCCL_DEBUG=INFO", "WANDB_API_KEY=k", "VIRTUAL_ENV=/v", "TWO=a\nb", "EQ=a=b",
		/* that only begin like a dropped one */
		"TERMINAL=x", "RANKING=1", "RANKS=1", "WORLD_SIZES=2", "MASTERS=1", "SLURMISH=1",
		"COLUMNS_WANTED=1", "MY_RANK=0", "POLLUXDIR=/x", "PMIXTURE=1", "_PYTHON=1",
	};
	static const char *const dropped[] = {
		"TERM=xterm", "TERM_PROGRAM=x", "COLUMNS=80", "LINES=24", "TMUX=1",
		"SSH_TTY=/dev/pts/1",
		"SSH_AUTH_SOCK=/tmp/x", "XDG_SESSION_ID=1", "DBUS_SESSION_BUS_ADDRESS=x", "SHLVL=2",
		"OLDPWD=/", "_=/usr/bin/env", "RANK=0", "LOCAL_RANK=1", "WORLD_SIZE=8",
		"LOCAL_WORLD_SIZE=8", "MASTER_ADDR=h", "MASTER_PORT=1", "TORCHELASTIC_RUN_ID=x",
		"SLURM_JOB_ID=5", "SLURM_PROCID=", "OMPI_COMM_WORLD_RANK=0", "PMI_RANK=0",
		"PMIX_ID=x", "CUDA_VISIBLE_DEVICES=0", "CUDA_DEVICE_ORDER=PCI_BUS_ID",
		"POLLUX_JOB_ID=3", "POLLUX_RUN=1", "POLLUX_REPORT_SOCKET=/x", "POLLUX_REPLICAS=4",
		"POLLUX_CHECKPOINT_DIR=/x", "MAKEFLAGS=-j4", "MAKELEVEL=1",
	};

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		is_kept(kept[i]);
	for (size_t i = 0; i < sizeof(dropped) / sizeof(dropped[0]); i++)
		is_dropped(dropped[i]);
}

static void launch(const struct job *job, const struct run *run)
{
	struct template_values values = { .checkpoint_dir = "/c d", .port = 29500 };
	struct run_places places = {
		.report_socket = "/s/1.sock", .config_file = "/s/1.config", .store_dir = "/store",
	};

	strings_release(&env);
	strings_add(&env, "OMP_NUM_THREADS=64");	/* as the submitter had them */
	strings_add(&env, "PYTHONUNBUFFERED=0");
	strings_add(&env, "OTHER=1");
	environment_for_run(job, run, &values, &places, &env);
}

static void test_launch(void)
{
	struct device devices[2] = {
		{ .id = "cpu:0", .cores = 4, .binding = "0-3", .usable = true },
		{ .id = "cpu:1", .cores = 3, .binding = "4-6", .usable = true },
	};
	struct job job;
	struct run run;

	job_init(&job);
	run_init(&run);
	job.id = 17;
	job.declared.stop_signal = 10;
	job.declared.grace_s = 90;
	run.number = 3;
	run.configuration.replicas = 2;
	run.devices = devices;
	run.configuration.accumulation_steps = 1;
	launch(&job, &run);
	is_str(value_of("POLLUX_JOB_ID"), "17", "the job");
	is_str(value_of("POLLUX_RUN"), "3", "the run");
	is_str(value_of("POLLUX_REPLICAS"), "2", "the replicas");
	is_str(value_of("POLLUX_LR_SCALE"), "1", "the factor on the learning rate");
	is_str(value_of("POLLUX_STOP_SIGNAL"), "10", "the stop signal");
	is_str(value_of("POLLUX_CHECKPOINT_DIR"), "/c d", "the checkpoint directory");
	is_str(value_of("POLLUX_REPORT_SOCKET"), "/s/1.sock", "the socket");
	is_str(value_of("POLLUX_CONFIG_FILE"), "/s/1.config",
	       "where another configuration would be");
	is_str(value_of("POLLUX_DIR"), "/store", "the store, for what it submits");
	is_str(value_of("POLLUX_BATCH"), NULL, "no batch was declared, so none is given");
	is_str(value_of("POLLUX_LOCAL_BATCH"), NULL, "nor a local one");
	is_str(value_of("POLLUX_ACCUM"), NULL, "nor passes");
	is_str(value_of("MASTER_PORT"), "29500", "a port of its own");
	is_str(value_of("PYTHONUNBUFFERED"), "1", "Python prints at once");
	is_str(value_of("TORCH_ELASTIC_SHUTDOWN_TIMEOUT"), "90", "torchrun waits for the grace");
	ok(value_of("TORCHELASTIC_SIGNALS_TO_HANDLE") != NULL, "and hands signals on");
	is_str(value_of("OMP_NUM_THREADS"), "3",
	       "threads for the smallest slot, not the submitter's");
	is_int(count_of("OMP_NUM_THREADS"), 1, "said once");
	is_str(value_of("OTHER"), "1", "the rest stays");

	run.configuration.local_batch_size = 128;
	run.configuration.accumulation_steps = 6;
	run.learning_rate_scale = 1.75;
	launch(&job, &run);
	is_str(value_of("POLLUX_BATCH"), "1536", "a declared batch");
	is_str(value_of("POLLUX_LOCAL_BATCH"), "128", "what each replica takes of it");
	is_str(value_of("POLLUX_ACCUM"), "6", "in so many passes");
	is_str(value_of("POLLUX_LR_SCALE"), "1.75", "at this factor");
	for (size_t i = 0; i < env.count; i++)
		ok(strncmp(env.items[i], "SLURM_", 6) != 0, "never a variable of SLURM's");
	run.devices = NULL;	/* not its own */
	run_release(&run);
	job_release(&job);
}

/* A run on two nodes, as the second node has it. */
static void on_second_node(int replicas)
{
	struct template_values values = {
		.checkpoint_dir = "/c", .port = 29500, .nodes = { 2, "n7" },
	};
	struct run_places places = { "/s", "/c", "/d" };
	struct strings argv = { 0 }, all = { 0 }, out = { 0 };
	struct device devices[8] = { { .id = "slurm:n7:0", .node = "n7" } };
	struct job job;
	struct run run;

	job_init(&job);
	run_init(&run);
	run.devices = devices;
	run.configuration.replicas = replicas;
	run.configuration.nodes = 2;
	environment_for_run(&job, &run, &values, &places, &all);
	strings_add(&argv, "{node}");
	strings_release(&env);
	node_command(&argv, all.items, 1, 2, &out, &env);
	is_str(out.items[0], "1", "the command of the second node");
	strings_release(&argv);
	strings_release(&all);
	strings_release(&out);
	run.devices = NULL;	/* not its own */
	run_release(&run);
	job_release(&job);
}

static void test_nodes(void)
{
	on_second_node(8);
	is_str(value_of("MASTER_ADDR"), "n7", "the first node");
	is_str(value_of("MASTER_PORT"), "29500", "its port");
	is_str(value_of("NNODES"), "2", "the nodes");
	is_str(value_of("NODE_RANK"), "1", "this one");
	is_str(value_of("PET_NNODES"), "2", "the same for torchrun");
	is_str(value_of("PET_NODE_RANK"), "1", "  the node");
	is_str(value_of("PET_NPROC_PER_NODE"), "4", "  processes on each");
	is_str(value_of("PET_MASTER_ADDR"), "n7", "  the first node");
	is_str(value_of("RANK"), NULL, "ranks are the launcher's where a node has several devices");
	is_str(value_of("WORLD_SIZE"), NULL, "  and their number");

	on_second_node(2);
	is_str(value_of("RANK"), "1", "one device on each node: a process is a rank");
	is_str(value_of("WORLD_SIZE"), "2", "  of so many");
	is_str(value_of("LOCAL_RANK"), "0", "  alone on its node");
	is_int(count_of("RANK"), 1, "  said once");
}

int main(void)
{
	test_nodes();
	test_capture();
	test_launch();
	strings_release(&env);
	return done();
}
