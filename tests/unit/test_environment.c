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
	is_str(env.count ? env.items[0] : NULL, variable, "a variable that is kept has its value");
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
	scoped(job_release) struct job job = { 0 };
	scoped(run_release) struct run run = { 0 };

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
	is_str(value_of("POLLUX_JOB_ID"), "17", "a run gets the number of its job");
	is_str(value_of("POLLUX_RUN"), "3", "a run gets its own number");
	is_str(value_of("POLLUX_REPLICAS"), "2", "a run gets the number of its replicas");
	is_str(value_of("POLLUX_LR_SCALE"), "1", "a run gets the factor on the learning rate");
	is_str(value_of("POLLUX_STOP_SIGNAL"), "10", "a run gets the stop signal");
	is_str(value_of("POLLUX_CHECKPOINT_DIR"), "/c d", "a run gets the checkpoint directory");
	is_str(value_of("POLLUX_REPORT_SOCKET"), "/s/1.sock", "a run gets the socket for reports");
	is_str(value_of("POLLUX_CONFIG_FILE"), "/s/1.config",
	       "a run gets the path of the next configuration");
	is_str(value_of("POLLUX_DIR"), "/store", "a run gets the store for what it submits");
	is_str(value_of("POLLUX_BATCH"), NULL, "a run without a declared batch gets no batch");
	is_str(value_of("POLLUX_LOCAL_BATCH"), NULL,
	       "a run without a declared batch gets no local batch");
	is_str(value_of("POLLUX_ACCUM"), NULL, "a run without a declared batch gets no passes");
	is_str(value_of("MASTER_PORT"), "29500", "a run gets a port of its own");
	is_str(value_of("PYTHONUNBUFFERED"), "1", "a run makes Python print at once");
	is_str(value_of("TORCH_ELASTIC_SHUTDOWN_TIMEOUT"), "90",
	       "a run makes torchrun wait for the grace");
	ok(value_of("TORCHELASTIC_SIGNALS_TO_HANDLE") != NULL,
	   "a run makes torchrun hand signals on");
	is_str(value_of("OMP_NUM_THREADS"), "3",
	       "a run gets the threads of its smallest slot, not the submitter's");
	is_int(count_of("OMP_NUM_THREADS"), 1, "a run gets its threads once");
	is_str(value_of("OTHER"), "1", "a run gets the other variables of the submitter");

	run.configuration.local_batch_size = 128;
	run.configuration.accumulation_steps = 6;
	run.learning_rate_scale = 1.75;
	launch(&job, &run);
	is_str(value_of("POLLUX_BATCH"), "1536", "a run gets its declared batch");
	is_str(value_of("POLLUX_LOCAL_BATCH"), "128", "a run gets the local batch of each replica");
	is_str(value_of("POLLUX_ACCUM"), "6", "a run gets its number of passes");
	is_str(value_of("POLLUX_LR_SCALE"), "1.75", "a run gets the factor for its batch");
	for (size_t i = 0; i < env.count; i++)
		ok(strncmp(env.items[i], "SLURM_", 6) != 0, "a run gets no variable of SLURM");
	run.devices = NULL;	/* not its own */
}

/* A run on two nodes, as the second node has it. */
static void on_second_node(int replicas)
{
	struct template_values values = {
		.checkpoint_dir = "/c", .port = 29500, .nodes = { 2, "n7" },
	};
	struct run_places places = { "/s", "/c", "/d" };
	scoped(strings_release) struct strings argv = { 0 }, all = { 0 }, out = { 0 };
	struct device devices[8] = { { .id = "slurm:n7:0", .node = "n7" } };
	scoped(job_release) struct job job = { 0 };
	scoped(run_release) struct run run = { 0 };

	job_init(&job);
	run_init(&run);
	run.devices = devices;
	run.configuration.replicas = replicas;
	run.configuration.nodes = 2;
	environment_for_run(&job, &run, &values, &places, &all);
	strings_add(&argv, "{node}");
	strings_release(&env);
	node_command(&argv, all.items, 1, 2, &out, &env);
	is_str(out.items[0], "1", "the command of the second node names that node");
	run.devices = NULL;	/* not its own */
}

static void test_nodes(void)
{
	on_second_node(8);
	is_str(value_of("MASTER_ADDR"), "n7", "a node gets the address of the first node");
	is_str(value_of("MASTER_PORT"), "29500", "a node gets the port of the first node");
	is_str(value_of("NNODES"), "2", "a node gets the number of nodes");
	is_str(value_of("NODE_RANK"), "1", "a node gets its own number");
	is_str(value_of("PET_NNODES"), "2", "torchrun gets the number of nodes");
	is_str(value_of("PET_NODE_RANK"), "1", "torchrun gets the number of the node");
	is_str(value_of("PET_NPROC_PER_NODE"), "4",
	       "torchrun gets the number of processes on each node");
	is_str(value_of("PET_MASTER_ADDR"), "n7", "torchrun gets the address of the first node");
	is_str(value_of("RANK"), NULL, "a node of several devices gets no rank");
	is_str(value_of("WORLD_SIZE"), NULL, "a node of several devices gets no number of ranks");

	on_second_node(2);
	is_str(value_of("RANK"), "1", "a node of one device gets its rank");
	is_str(value_of("WORLD_SIZE"), "2", "a node of one device gets the number of ranks");
	is_str(value_of("LOCAL_RANK"), "0", "a node of one device gets local rank 0");
	is_int(count_of("RANK"), 1, "a node of one device gets its rank once");
}

int main(void)
{
	test_nodes();
	test_capture();
	test_launch();
	strings_release(&env);
	return done();
}
