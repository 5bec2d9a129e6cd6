/* peer_words.c - the names that other programs for queues have for what pollux does: task-spooler,
 * gflow, Slurm, Grid Engine, docker. */
#include <string.h>

#include "pollux/command.h"

/* The words of others, then the word here. */
static const struct {
	const char *words, *here;
} peers[] = {
	{ "ls list ps queue squeue qstat jobs info show", "status" },
	{ "top watch", "status --watch" },
	{ "add enqueue queue-add sbatch qsub start", "submit" },
	{ "srun shell", "run" },
	{ "kill stop rm remove delete del scancel qdel abort", "cancel" },
	{ "pause suspend", "hold" },
	{ "resume unpause continue", "release" },
	{ "logs cat tail output", "log" },
	{ "retry redo rerun restart", "requeue" },
	{ "clean cleanup", "clear" },
	{ "purge", "prune" },
	{ "urgent next", "first" },
	{ "sacct stats", "history" },
	{ "--gpus --gpu --num-gpus --ngpus --gres --gpus-per-node --ntasks --devices",
	  "--replicas" },
	{ "--priority --nice", "--weight" },
	{ "--dependency --depend --depends-on --depends", "--after" },
	{ "--cwd --workdir --work-dir --working-dir --directory", "--chdir" },
	{ "--name-template --job-name --label", "--name" },
	{ "--time --timeout --walltime --max-time", "--time-limit" },
	{ "--export --environment", "--env" },
	{ "--requeue --max-retries", "--retries" },
	{ "--vram --gpu-mem", "--gpu-memory" },
	{ "--start-time --start --delay", "--begin" },
	{ "--max-concurrent --concurrency", "--max-running" },
	{ "--follow-output --interval", "--watch" },
};

const char *peer_word(const char *word)
{
	size_t n = strcspn(word, "=");

	for (size_t i = 0; n > 0 && i < sizeof(peers) / sizeof(peers[0]); i++)
		for (const char *s = peers[i].words; s; s = strchr(s, ' ')) {
			s += *s == ' ';
			if (!strncmp(s, word, n) && (s[n] == ' ' || !s[n]))
				return peers[i].here;
		}
	return NULL;
}
