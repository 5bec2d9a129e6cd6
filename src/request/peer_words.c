/* peer_words.c - the names that other programs for queues have for what pollux does: task-spooler,
 * gflow, Slurm, Grid Engine, docker. */
#include <string.h>

#include "pollux/command.h"

/* The words of others, then the word here. */
static const struct peer {
	const char *words, *here;
} peers[] = {
	{ "ls list ps queue squeue qstat jobs info show", "status" },
	{ "watch", "status --watch" },
	{ "add enqueue queue-add sbatch qsub start", "submit" },
	{ "srun shell", "run" },
	{ "kill stop rm remove delete del scancel qdel abort", "cancel" },
	{ "pause suspend", "hold" },
	{ "resume unpause continue", "release" },
	{ "logs cat tail output", "log" },
	{ "retry redo rerun restart", "requeue" },
	{ "clean cleanup", "clear" },
	{ "purge", "prune" },
	{ "urgent next bump", "first" },
	{ "update modify", "edit" },
	{ "compare", "results" },
	{ "plot", "results --plot" },
	{ "sacct stats", "history" },
	{ "--gpus --gpu --num-gpus --ngpus --gres --gpus-per-node --ntasks --devices -g -G",
	  "--replicas" },
	{ "--priority --nice", "--weight" },
	{ "--dependency --depend --depends-on --depends -d -D -W", "--after" },
	{ "--cwd --workdir --work-dir --working-dir --directory", "--chdir" },
	{ "--name-template --job-name --label -J -L -N", "--name" },
	{ "--time --timeout --walltime --max-time --limit", "--time-limit" },
	{ "--export --environment", "--env" },
	{ "--requeue --max-retries --retry --attempts", "--retries" },
	{ "--vram --gpu-mem", "--gpu-memory" },
	{ "--csv --param-file --sweep", "--params" },
	{ "--mem --ram --host-memory", "--memory" },
	{ "--start-time --start --delay", "--begin" },
	{ "--max-concurrent --concurrency", "--max-running" },
	{ "--follow-output --interval", "--watch" },
};

/* What options of others for a submission do, and how that is done here without one. */
static const struct peer ways[] = {
	{ "--output --error --stdout --stderr --log --logfile --log-file -o",
	  "what it prints is in its log, 'pollux log'; sh -c 'COMMAND >FILE' writes a file" },
	{ "--input --stdin -i", "sh -c 'COMMAND <FILE' reads a file" },
	{ "--first --urgent --now", "'pollux first JOB' puts it first once it is submitted" },
	{ "--mail --email --mail-user --mail-type --webhook --notify -m -M",
	  "--on-end 'COMMAND' runs a command when it has ended" },
	{ "--wait --block",
	  "'pollux wait JOB' waits for it; 'pollux run' stays in the terminal" },
	{ "--cpus --cores --cpus-per-task --cpus-per-gpu -c",
	  "a job has the cores that belong to its devices" },
	{ "--wrap", "sh -c 'COMMANDS' is a command" },
};

static const char *find(const struct peer *list, size_t n_list, const char *word)
{
	size_t n = strcspn(word, "=");

	for (size_t i = 0; n > 0 && i < n_list; i++)
		for (const char *s = list[i].words; s; s = strchr(s, ' ')) {
			s += *s == ' ';
			if (!strncmp(s, word, n) && (s[n] == ' ' || !s[n]))
				return list[i].here;
		}
	return NULL;
}

const char *peer_word(const char *word)
{
	return find(peers, sizeof(peers) / sizeof(peers[0]), word);
}

const char *peer_way(const char *option)
{
	return find(ways, sizeof(ways) / sizeof(ways[0]), option);
}
