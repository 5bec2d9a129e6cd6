/* test_launch_rule.c - which commands and scripts start processes on the nodes by themselves. */
#include "pollux/mem.h"
#include "pollux/submission.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *told(const char *launcher)
{
	return launcher ? launcher : "none";
}

static void shell(const char *text, const char *want)
{
	char name[256];

	snprintf(name, sizeof(name), "a text for a shell has the launcher: %.200s", text);
	for (char *c = name; *c; c++)
		*c = (char)(*c == '\n' || *c == '#' ? ' ' : *c);
	is_str(told(launcher_in_text(text, true)), want, name);
}

static void code(const char *text, const char *want)
{
	char name[256];

	snprintf(name, sizeof(name), "code in another language has the launcher: %.200s", text);
	for (char *c = name; *c; c++)
		*c = (char)(*c == '\n' || *c == '#' ? ' ' : *c);
	is_str(told(launcher_in_text(text, false)), want, name);
}

static void test_shell(void)
{
	shell("srun -l hostname; sleep 15", "srun");
	shell("srun", "srun");
	shell("  /usr/bin/srun -n 2 a", "srun");
	shell("cd x && srun a", "srun");
	shell("A=1 B=2 srun a", "srun");
	shell("timeout -k 5 2h srun a", "srun");
	shell("if ! srun a; then exit 1; fi", "srun");
	shell("x=$(srun hostname)", "srun");
	shell("LAUNCHER=\"srun --label\"\n$LAUNCHER train", "srun");
	shell("export A=1\nLAUNCHER=srun\n", "srun");
	shell("bash -c 'srun a'", "srun");
	shell("time \\\n  srun \\\n  -n 2 a", "srun");
	shell("srun\\\n -n 2 a", "srun");
	shell("#!/bin/sh\n#SBATCH -N 2\nmpirun -np 4 ./a", "mpirun");
	shell("mpirun.openmpi -np 4 ./a", "mpirun");
	shell("mpiexec.hydra ./a", "mpiexec");
	shell("nohup mpiexec -n 4 ./a &", "mpiexec");
	shell("# srun a\npython train.py # srun", "none");
	shell("#SBATCH --comment=srun\npython train.py", "none");
	shell("echo srun a", "none");
	shell("echo \"srun is not here\"", "none");
	shell("command -v srun || exit", "none");
	shell("which srun", "none");
	shell("module load srun", "none");
	shell("python train.py --launcher srun", "none");
	shell("python train.py --launcher=srun", "none");
	shell("cat srun.log; ./my-srun; srun_all; srunner; xsrun", "none");
	shell("python train.py", "none");
	shell("torchrun --nnodes={nodes} train.py", "none");
	shell("", "none");
}

static void test_accelerate(void)
{
	shell("accelerate launch train.py", "none");
	shell("accelerate launch --num_machines 1 train.py", "none");
	shell("accelerate launch --num_machines=1 train.py", "none");
	shell("accelerate launch --num_machines 2 train.py", "accelerate launch");
	shell("accelerate launch --num_machines=12 train.py", "accelerate launch");
	shell("accelerate launch --num_machines {nodes} train.py", "accelerate launch");
	shell("accelerate launch \\\n  --num-machines \"$NNODES\" \\\n  train.py",
	      "accelerate launch");
	shell("accelerate launch --machine_rank 0 --num_machines 2 a.py", "accelerate launch");
	shell("accelerate launch --num_machines {nodes} --machine_rank {node} a.py", "none");
	shell("accelerate launch --num_machines 2 --machine_rank=$NODE_RANK a.py", "none");
	shell("accelerate launch train.py; other --num_machines 2", "none");
	shell("accelerate config --num_machines 2", "none");
	shell("srun accelerate launch --num_machines 2 --machine_rank $SLURM_NODEID a.py", "srun");
}

static void test_code(void)
{
	code("import subprocess\nsubprocess.run([\"srun\", \"-l\", \"hostname\"])\n", "srun");
	code("os.system('srun -l hostname')", "srun");
	code("cmd = [\n  'mpirun', '-np', '2']", "mpirun");
	code("\"\"\"Usage:\n    srun python train.py\n\"\"\"", "none");
	code("# os.system('srun -l hostname')", "none");
	code("if shutil.which('srun'): pass", "none");
	code("p.add_argument('-l', choices=['srun', 'none'])", "none");
	code("p.add_argument('-l', help='srun is used')", "none");
	code("if launcher == 'srun':", "none");
	code("x = 'srunner a'", "none");
}

static void command(const char *const *words, const char *want, const char *name)
{
	scoped(job_command_release) struct job_command c = { .directory = strdup("/") };

	for (; *words; words++)
		strings_add(&c.argv, *words);
	is_str(told(launcher_of_command(&c)), want, name);
}

#define COMMAND(want, name, ...) command((const char *const[]){ __VA_ARGS__, NULL }, want, name)

static void write_script(const char *path, const char *text, size_t n)
{
	FILE *f = fopen(path, "w");

	if (!f || fwrite(text, 1, n, f) != n || fclose(f))
		perror(path);
}

static void test_included(const char *script)
{
	static const char *const ways[] = { "source", ".", "  bash", "exec sh" };
	char other[] = "/tmp/test_launch_rule.XXXXXX", text[200];
	int fd = mkstemp(other);

	close(fd);
	write_script(other, "#!/bin/bash\nsrun ./a\n", 21);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		int n = snprintf(text, sizeof(text), "#!/bin/bash\nset -e\n%s %s x\n", ways[i],
				 other);

		write_script(script, text, (size_t)n);
		COMMAND("srun", "the launcher of a script that another one reads or runs counts",
			"bash", script);
	}
	for (int i = 0; i < 2; i++) {
		int n = snprintf(text, sizeof(text), "#!/bin/bash\n%s %s\n",
				 i ? "echo bash" : "# .", other);

		write_script(script, text, (size_t)n);
		COMMAND("none", "the launcher of a script that is only named does not count",
			"bash", script);
	}
	fd = snprintf(text, sizeof(text), "#!/bin/bash\n. %s\n", other);
	write_script(other, text, (size_t)fd);
	COMMAND("none", "a script that reads itself has no launcher", "bash", other);
	unlink(other);
}

static void test_commands(void)
{
	char script[] = "/tmp/test_launch_rule.XXXXXX";
	int fd = mkstemp(script);
	static const char binary[] = "#!/bin/sh\nsrun a\n\0\0";

	close(fd);
	COMMAND("srun", "a command that is a launcher has that launcher", "srun", "-l", "hostname");
	COMMAND("srun", "the launcher in a shell's text counts", "bash", "-ec", "a\nsrun b");
	COMMAND("srun", "the launcher in Python's text counts",
		"python3", "-c", "os.system('srun a')");
	COMMAND("none", "the launcher in an argument of a program does not count",
		"python3", "t.py", "srun b");
	COMMAND("none", "the launcher in an option's value does not count",
		"python3", "t.py", "--launcher", "srun");
	write_script(script, "#!/bin/bash\n#SBATCH -n 1\nset -e\nsrun ./a\n", 38);
	COMMAND("srun", "the launcher of a script that is the program counts", script);
	COMMAND("srun", "the launcher of a script that a shell runs counts", "sh", script, "x");
	write_script(script, "set -e\n. env\n  mpirun ./a\n", 26);
	COMMAND("mpirun", "the launcher of a script without a first line counts", "sh", script);
	write_script(script, "#!/usr/bin/env python3\n'''\nsrun x\n'''\n", 38);
	COMMAND("none", "the launcher in a text of a Python script does not count", script);
	write_script(script, binary, sizeof(binary));
	COMMAND("none", "the launcher in a file with a NUL does not count", script);
	test_included(script);
	unlink(script);
	COMMAND("none", "a script that is gone has no launcher", "sh", script);
}

int main(void)
{
	test_shell();
	test_accelerate();
	test_code();
	test_commands();
	return done();
}
