/* slurm_parse.h - what Slurm's commands print, as structs; private to src/engine/slurm.
 *
 * The text comes from other people's jobs, too: whatever stands there, nothing outside the text is
 * read, and a line that is not understood is left out. */
#ifndef POLLUX_SLURM_PARSE_H
#define POLLUX_SLURM_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pollux/device.h"

/* A node with GPUs. */
struct slurm_node {
	char name[DEVICE_NODE_SIZE];
	char address[DEVICE_NODE_SIZE];
	char type[64];			/* of its GPUs; "": none is given */
	int gpus, used;			/* used by anybody's jobs; -1: not told */
	int cores;
	int64_t memory_bytes;		/* of the machine */
	bool up;			/* jobs can start there */
	bool silent;			/* it is in use, but Slurm has not heard of it lately */
	bool reserved;			/* in a reservation, whose jobs alone can start there */
	char partitions[1024];		/* "main,gpu" */
	char state[96];			/* Slurm's word for it: "IDLE+DRAIN" */
};

/* Reads a line of 'scontrol -d -o show nodes'. False: no node, or none with GPUs. */
bool slurm_parse_node(const char *line, struct slurm_node *node);

/* A job of this user in 'squeue -o SLURM_QUEUE_FORMAT'. */
#define SLURM_QUEUE_FORMAT "%i|%T|%N|%D|%b|%S|%r|%j|%k"
struct slurm_job {
	int64_t id;
	char state[32];			/* "PENDING", "RUNNING", "COMPLETING" ... */
	char nodes[4096];		/* "n[1-2]"; "": none yet, or more than fit */
	char start[32];			/* when Slurm expects to start it; "": not known */
	char reason[80];		/* why it waits, or "None" */
	int n_nodes, gpus;		/* GPUs on each node */
	char name[80];
	/* the comment "STORE:JOB:RUN"; store "": the comment is another one */
	char store[40];
	int64_t job_id, run_id;
};

bool slurm_parse_job(const char *line, struct slurm_job *job);

/* The number of GPUs in a list of generic resources, and their type, the first if there are
 * several: "gpu:a100:4(S:0-1),shard:8". type may be NULL. */
int slurm_parse_gpus(const char *gres, size_t n, char *type, size_t size);

/* Takes the next name from a list of nodes: "n[1-3,7],login". False: the list has ended, or is
 * malformed. *state is 0 at the beginning. */
bool slurm_next_node(const char *list, size_t *state, char *name, size_t size);

/* The nodes in a line of 'scontrol -o show reservation', "n[1-2]", for the caller to free; "":
 * there are none. name: of the reservation; "": the line is none. */
char *slurm_parse_reserved(const char *line, char *name, size_t size);

/* The number in what 'sbatch --parsable' prints: "123" or "123;cluster"; 0: there is none. */
int64_t slurm_parse_submitted(const char *text);

#endif
