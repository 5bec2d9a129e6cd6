/* test_slurm_args.c - options for sbatch in a text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/config.h"
#include "pollux/mem.h"
#include "tap.h"

static void test_value(void)
{
	static const struct {
		const char *args, *value;
	} cases[] = {
		{ "", NULL }, { "   ", NULL }, { "--qos=x", NULL },
		{ "--partition=gpu", "gpu" }, { "--partition gpu --qos=x", "gpu" },
		{ "--qos=x -p gpu", "gpu" }, { "-pgpu", "gpu" }, { "-p\tgpu", "gpu" },
		{ "--partition=a,b", "a,b" }, { "--partition=a --partition=b", "b" },
		{ "-p a -p b --partition=c", "c" }, { "--partition=", "" },
		{ "--partitions=gpu", NULL }, { "partition=gpu", NULL }, { "-p", NULL },
		{ "--qos=--partition=gpu", NULL }, { "--part=gpu", "gpu" },
		{ "--part gpu", "gpu" }, { "--pa=gpu", NULL }, { "--partition-x=gpu", NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		autofree char *value = slurm_args_value(cases[i].args, "partition", 'p');

		ok(cases[i].value ? value && !strcmp(value, cases[i].value) : !value,
		   cases[i].args);
	}
}

static void test_without_letter(void)
{
	autofree char *value = slurm_args_value("-p gpu --reservation=mine", "reservation", '\0');

	ok(value && !strcmp(value, "mine"), "an option without a letter is found by its name");
}

static void test_own(void)
{
	static const struct {
		const char *args, *own;
	} cases[] = {
		{ "", NULL }, { "--partition=gpu -A me --qos=high --hold", NULL },
		{ "--mem-per-gpu=32G --cpus-per-gpu=8 -x n7 -c 4", NULL },
		{ "--comment=x", "comment" }, { "--qos=x --comment x", "comment" },
		{ "-J name", "job-name" }, { "-Jname", "job-name" }, { "-a 1-3", "array" },
		{ "--array=1-3", "array" }, { "--requeue", "requeue" }, { "-N2", "nodes" },
		{ "--nodes=2", "nodes" }, { "-w n1", "nodelist" }, { "-d singleton", "dependency" },
		{ "--gres=gpu:2", "gres" }, { "--wrap=true", "wrap" }, { "--commentary", NULL },
		{ "--comm=x", "comment" }, { "-F file", "nodefile" }, { "-M other", "clusters" },
		{ "--", NULL }, { "-", NULL }, { "--mem=1G --nice --exclusive", NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *own = slurm_args_own(cases[i].args);

		ok(cases[i].own ? own && !strcmp(own, cases[i].own) : !own, cases[i].args);
	}
}

int main(void)
{
	test_value();
	test_without_letter();
	test_own();
	return done();
}
