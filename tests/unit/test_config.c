/* test_config.c - settings: defaults, the file, the environment, and what is refused where. */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pollux/config.h"
#include "pollux/mem.h"
#include "tap.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static char directory[] = "/tmp/test_config.XXXXXX";
static char *path;
static struct config config;
static struct err err;

static void write_file(const char *bytes, size_t n)
{
	FILE *file = fopen(path, "w");

	if (!file || fwrite(bytes, 1, n, file) != n || fclose(file))
		exit(1);
}

static int load(const char *text)
{
	err = (struct err){ 0 };
	write_file(text, strlen(text));
	return config_load(&config, path, &err);
}

static void test_defaults(void)
{
	is_int(config_load(&config, "/nonexistent/config", &err), 0, "a missing file is no error");
	is_int(config.slots, CONFIG_SLOTS_AUTO, "slots are chosen automatically by default");
	near(config.slice_s, 600, 0, "slice is 600 s by default");
	is_str(config.policy, "goodput", "policy is goodput by default");
	is_int(load(""), 0, "an empty file is no error");
	near(config.slice_s, 600, 0, "an empty file leaves the default slice");
}

static void test_file(void)
{
	is_int(load("# settings\n"
		    "\n"
		    "  slots=2   # two\n"
		    "slice\t=\t1.5m\r\n"
		    "policy = fifo"), 0,
	       "comments, blanks, CRLF and a missing last newline are read");
	is_int(config.slots, 2, "slots is read beside a comment");
	near(config.slice_s, 90, 0, "slice is read with tabs, a unit and CRLF");
	is_str(config.policy, "fifo", "policy is read without a last newline");
	is_int(load("slots = 2\nslots = 1024\n"), 0, "a setting that is there twice is no error");
	is_int(config.slots, 1024, "the last one of two equal settings counts");
	is_int(load("policy = las\n"), 0, "policy las is no error");
	is_str(config.policy, "las", "policy las is taken");
}

#define GPUS_WANTED "all, not display, or GPUs by number or UUID (such as 0,2 or GPU-5a1e...)"

static const struct refusal {
	const char *text, *message;	/* %s: the path */
} refusals[] = {
	{ "slots = x\n",
	  "bad setting 'slots' in '%s' line 1: 'x' is not a whole number from 0 to 1024 "
			 "(0: one per physical core), or two sizes such as 2x1,1x2" },
	{ "\n\nslots = -1\n",
	  "bad setting 'slots' in '%s' line 3: '-1' is not a whole number from 0 to "
			      "1024 (0: one per physical core), or two sizes such as 2x1,1x2" },
	{ "slots = 1025\n",
	  "bad setting 'slots' in '%s' line 1: '1025' is not a whole number from 0 to "
			    "1024 (0: one per physical core), or two sizes such as 2x1,1x2" },
	{ "slots = 2 3\n",
	  "bad setting 'slots' in '%s' line 1: '2 3' is not a whole number from 0 to "
			   "1024 (0: one per physical core), or two sizes such as 2x1,1x2" },
	{ "slots =\n",
	  "bad setting 'slots' in '%s' line 1: '' is not a whole number from 0 to 1024 "
		       "(0: one per physical core), or two sizes such as 2x1,1x2" },
	{ "slice = 0\n", "bad setting 'slice' in '%s' line 1: '0' is not a time above 0 "
			 "(such as 90s, 10m or 1h)" },
	{ "slice = nan\n", "bad setting 'slice' in '%s' line 1: 'nan' is not a time above 0 "
			   "(such as 90s, 10m or 1h)" },
	{ "keep_environment = 1\n",
	  "bad setting 'keep_environment' in '%s' line 1: '1' is not no, yes or no-secrets" },
	{ "torch = onion\n", "bad setting 'torch' in '%s' line 1: 'onion' is not yes or no" },
	{ "suspend_memory = 50\n",
	  "bad setting 'suspend_memory' in '%s' line 1: '50' is not a part of the machine's memory "
	  "from 0% to 100%" },
	{ "policy = a b\n",
	  "bad setting 'policy' in '%s' line 1: 'a b' is not one of goodput pollux las fifo" },
	{ "policy = \n",
	  "bad setting 'policy' in '%s' line 1: '' is not one of goodput pollux las fifo" },
	{ "policy = foo\n",
	  "bad setting 'policy' in '%s' line 1: 'foo' is not one of goodput pollux las fifo" },
	{ "policy = fif\n",
	  "bad setting 'policy' in '%s' line 1: 'fif' is not one of goodput pollux las fifo" },
	{ "policy = srtf\n",
	  "bad setting 'policy' in '%s' line 1: 'srtf' is not one of goodput pollux las fifo" },
	{ "slot = 2\n", "unknown setting 'slot' in '%s' line 1; did you mean 'slots'?" },
	{ "colour = red\n",
	  "unknown setting 'colour' in '%s' line 1; there are slots, gpus, cuda_devices, "
	  "slice, policy, torch, helper, "
	  "suspend_memory, keep_environment, on_end, on_failure, submit_pass, "
	  "interactive_limit, share, max_share, cpu_jobs, prune_after, log_limit, "
	  "shared_dir, "
	  "shared_weight, guaranteed_devices, engine, slurm_args, slurm_dir, slurm_lease, "
	  "locality_wait and min_efficiency" },
	{ "log_limit = 1\n", "bad setting 'log_limit' in '%s' line 1: '1' is not an amount from 1M "
	  "to 1000T (such as 512M or 1G), or no" },
	{ "= 2\n", "unknown setting '' in '%s' line 1; there are slots, gpus, cuda_devices, "
	  "slice, policy, torch, helper, "
		   "suspend_memory, keep_environment, on_end, on_failure, submit_pass, "
	  "interactive_limit, share, max_share, cpu_jobs, prune_after, log_limit, "
	  "shared_dir, "
	  "shared_weight, guaranteed_devices, engine, slurm_args, slurm_dir, slurm_lease, "
	  "locality_wait and min_efficiency" },
	{ "gpus =\n", "bad setting 'gpus' in '%s' line 1: '' is not " GPUS_WANTED },
	{ "gpus = ,\n", "bad setting 'gpus' in '%s' line 1: ',' is not " GPUS_WANTED },
	{ "gpus = all,1\n", "bad setting 'gpus' in '%s' line 1: 'all,1' is not " GPUS_WANTED },
	{ "gpus = -1\n", "bad setting 'gpus' in '%s' line 1: '-1' is not " GPUS_WANTED },
	{ "gpus = 0 MIG-5a1e\n",
	  "bad setting 'gpus' in '%s' line 1: '0 MIG-5a1e' is not " GPUS_WANTED },
	{ "gpus = GPU-5a1g\n",
	  "bad setting 'gpus' in '%s' line 1: 'GPU-5a1g' is not " GPUS_WANTED },
	{ "cuda_devices = number\n",
	  "bad setting 'cuda_devices' in '%s' line 1: 'number' is not uuid or index" },
	{ "slots 2\n", "cannot read '%s' line 1: 'slots 2' is not 'name = value'" },
	{ "a\033[1m\n", "cannot read '%s' line 1: 'a\\033[1m' is not 'name = value'" },
};

static void test_refused(void)
{
	for (size_t i = 0; i < COUNT(refusals); i++) {
		const struct refusal *r = &refusals[i];
		const char *gap = strstr(r->message, "%s");
		char *want =
			xasprintf("%.*s%s%s", (int)(gap - r->message), r->message, path, gap + 2);

		ok(load(r->text) == -1 && err.exit_status == EX_CONFIG,
		   "a bad line is refused with EX_CONFIG");
		is_str(err.text, want,
		       "a bad line is named with its number and what would be right");
		free(want);
	}
}

static void test_no_text(void)
{
	char bytes[5000] = { 0 };
	char *want = xasprintf("cannot read '%s' line 1: too long, or not text", path);

	err = (struct err){ 0 };
	write_file(bytes, sizeof(bytes));
	is_int(config_load(&config, path, &err), -1, "a file of zeros is refused");
	is_str(err.text, want, "a file of zeros is said to be no text");
	memset(bytes, '#', sizeof(bytes));
	write_file(bytes, sizeof(bytes));
	is_int(config_load(&config, path, &err), -1, "a line of 5000 characters is refused");
	is_str(err.text, want, "a line of 5000 characters is said to be too long");
	free(want);
	is_int(config_load(&config, directory, &err), -1,
	       "a directory in place of the file is refused");
	ok(strstr(err.text, "it is a directory") != NULL,
	   "the error says that the file is a directory");
	remove(path);
	is_int(mkfifo(path, 0600), 0, "the test makes a FIFO");
	is_int(config_load(&config, path, &err), -1,
	       "a FIFO in place of the file is refused without waiting");
	ok(strstr(err.text, "it is a FIFO") != NULL, "the error says that the file is a FIFO");
	remove(path);
}

static void test_environment(void)
{
	setenv("POLLUX_SLOTS", "7", 1);
	setenv("POLLUX_SLICE", "1h", 1);
	is_int(load("slots = 2\nslice = 5\npolicy = fifo\n"), 0,
	       "settings in the environment and a file are read together");
	is_int(config.slots, 7, "slots in the environment wins over the file");
	near(config.slice_s, 3600, 0, "slice in the environment wins over the file");
	is_str(config.policy, "fifo", "a setting that the environment lacks comes from the file");
	setenv("POLLUX_POLICY", "las", 1);
	is_int(load("policy = fifo\n"), 0,
	       "policy in the environment and a file are read together");
	is_str(config.policy, "las", "policy in the environment wins over the file");
	setenv("POLLUX_SLOTS", "", 1);
	is_int(load("slots = 2\n"), 0, "an empty variable is no error");
	is_int(config.slots, 2, "an empty variable counts as unset");
	setenv("POLLUX_SLOTS", "many", 1);
	ok(load("") == -1 && err.exit_status == EX_CONFIG,
	   "a bad variable is refused with EX_CONFIG");
	is_str(err.text,
	       "bad variable 'POLLUX_SLOTS' in the environment: 'many' is not a whole number "
	       "from 0 to 1024 (0: one per physical core), or two sizes such as 2x1,1x2",
	       "a bad variable is named with what would be right");
}

int main(void)
{
	unsetenv("POLLUX_SLOTS");
	unsetenv("POLLUX_SLICE");
	unsetenv("POLLUX_POLICY");
	if (!mkdtemp(directory))
		return 1;
	path = xasprintf("%s/config", directory);
	test_defaults();
	test_file();
	test_refused();
	test_no_text();
	test_environment();
	unlink(path);
	rmdir(directory);
	free(path);
	return done();
}
