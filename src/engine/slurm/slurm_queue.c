/* slurm_queue.c - Slurm's jobs and nodes. What was asked for is kept for a moment, so that a pass
 * asks once; a controller that does not answer is not asked again at once. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/clock.h"
#include "pollux/mem.h"
#include "slurm.h"
#include "slurm_command.h"

#define KEPT_S 2.0
#define SILENT_S 20.0		/* for which a controller that gave no answer is left alone */

static struct slurm_queue queue;
static struct slurm_nodes nodes;
static double queue_until_s = -1, nodes_until_s = -1, silent_until_s = -1;
static struct err silence;

int slurm_ask(const char *words, struct text *answer, struct err *err)
{
	struct strings argv = { 0 };
	char *copy = xstrdup(words), *rest = copy;
	int rc;

	if (clock_boot_s() < silent_until_s) {
		*err = silence;
		free(copy);
		return -1;
	}
	for (const char *word; (word = strsep(&rest, " "));)
		strings_add(&argv, word);
	rc = slurm_command(&argv, SLURM_LIMIT_S, answer, err);
	if (rc && err->exit_status == EX_TEMPFAIL) {
		silence = *err;
		silent_until_s = clock_boot_s() + SILENT_S;
	}
	strings_release(&argv);
	free(copy);
	return rc;
}

/* The next line of the text, which is cut up. */
static char *next_line(char **text)
{
	char *line = *text, *end;

	if (!line || !*line)
		return NULL;
	end = strchr(line, '\n');
	*text = end ? end + 1 : line + strlen(line);
	if (end)
		*end = '\0';
	return line;
}

const struct slurm_queue *slurm_queue(void)
{
	struct text answer = TEXT_INIT;
	char *rest, *line;

	if (clock_boot_s() < queue_until_s)
		return &queue;
	free(queue.jobs);
	queue = (struct slurm_queue){ .known = false };
	queue.known = slurm_ask("squeue -h -r --me -o " SLURM_QUEUE_FORMAT, &answer,
				&queue.err) == 0;
	rest = answer.data;
	while (queue.known && (line = next_line(&rest))) {
		queue.jobs = xgrow(queue.jobs, queue.n, sizeof(*queue.jobs));
		if (slurm_parse_job(line, &queue.jobs[queue.n]))
			queue.n++;
	}
	text_release(&answer);
	queue_until_s = clock_boot_s() + KEPT_S;
	return &queue;
}

const struct slurm_nodes *slurm_nodes(void)
{
	struct text answer = TEXT_INIT;
	char *rest, *line;

	if (clock_boot_s() < nodes_until_s)
		return &nodes;
	free(nodes.items);
	nodes = (struct slurm_nodes){ .known = false };
	nodes.known = slurm_ask("scontrol -d -o show nodes", &answer, &nodes.err) == 0;
	rest = answer.data;
	while (nodes.known && (line = next_line(&rest))) {
		nodes.items = xgrow(nodes.items, nodes.n, sizeof(*nodes.items));
		if (slurm_parse_node(line, &nodes.items[nodes.n]))
			nodes.n++;
	}
	text_release(&answer);
	nodes_until_s = clock_boot_s() + KEPT_S;
	return &nodes;
}

void slurm_renew_queue(void)
{
	if (queue_until_s <= nodes_until_s)
		queue_until_s = -1;
}

void slurm_forget(void)
{
	queue_until_s = nodes_until_s = -1;
}

/* True for a job that Slurm still has, or may start. */
static bool is_live(const struct slurm_job *job)
{
	static const char *const live[] = {
		"PENDING", "RUNNING", "COMPLETING", "CONFIGURING", "SUSPENDED", "STOPPED",
		"SIGNALING", "STAGE_OUT", "RESIZING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED",
		"SPECIAL_EXIT", "RESV_DEL_HOLD",
	};

	for (size_t i = 0; i < sizeof(live) / sizeof(live[0]); i++)
		if (!strcmp(job->state, live[i]))
			return true;
	return false;
}

void slurm_job_name(const char *store_id, int64_t job_id, char *name, size_t size)
{
	snprintf(name, size, "pollux-%.8s-%lld", store_id, (long long)job_id);
}

const struct slurm_job *slurm_job_of(const struct slurm_queue *q, const char *store_id,
				     const struct run *run)
{
	char name[SLURM_NAME_SIZE];

	slurm_job_name(store_id, run->job_id, name, sizeof(name));
	for (int i = 0; i < q->n; i++)
		if (q->jobs[i].run_id == run->id && q->jobs[i].job_id == run->job_id &&
		    !strcmp(q->jobs[i].store, store_id) && !strcmp(q->jobs[i].name, name) &&
		    is_live(&q->jobs[i]))
			return &q->jobs[i];
	return NULL;
}

const struct slurm_job *slurm_queued_job(const struct engine_context *at, const struct run *run)
{
	const struct slurm_queue *q = slurm_queue();
	const struct slurm_job *job;
	struct err ignored;
	char *store_id = NULL;

	if (!q->known || store_identity(at->store, &store_id, &ignored))
		return NULL;
	job = slurm_job_of(q, store_id, run);
	free(store_id);
	return job;
}

static bool is_on(const struct slurm_job *job, const char *node)
{
	char name[DEVICE_NODE_SIZE];
	size_t state = 0;

	while (slurm_next_node(job->nodes, &state, name, sizeof(name)))
		if (!strcmp(name, node))
			return true;
	return false;
}

int slurm_own_gpus(const struct slurm_queue *q, const char *store_id, const char *node)
{
	int own = 0;

	for (int i = 0; i < q->n; i++)
		if ((store_id ? !strcmp(q->jobs[i].store, store_id)
			      : q->jobs[i].store[0] != '\0') && is_live(&q->jobs[i]) &&
		    strcmp(q->jobs[i].state, "PENDING") != 0 && is_on(&q->jobs[i], node))
			own += q->jobs[i].gpus;
	return own;
}
