/* slurm_ask.c - commands of Slurm, run for a limited time, and what they say of its jobs and
 * nodes. That is kept for a moment, so that a pass asks once; a controller that does not answer is
 * not asked again at once. */
#include <sys/wait.h>

#include "pollux/secret.h"
#include "slurm.h"

/* --- a command --- */

static void set_failure(const char *name, int status, struct text *said, struct err *err)
{
	bool no_controller = strstr(said->data, "Unable to contact slurm controller") ||
			     strstr(said->data, "Connection refused") ||
			     strstr(said->data, "timed out");
	char *end = said->data + said->length;
	const char *line;

	/* the last line that says something */
	while (end > said->data && (unsigned char)end[-1] <= ' ')
		*--end = '\0';
	for (char *c = said->data; *c; c++)
		if ((unsigned char)*c < ' ' && *c != '\n')
			*c = '?';
	line = strrchr(said->data, '\n');
	line = line ? line + 1 : said->data;
	if (no_controller)
		err_set(err, EX_TEMPFAIL, SLURM_SILENT " %s: %.200s", name, line);
	else if (*line)
		err_set(err, EX_UNAVAILABLE, "%s of Slurm failed: %.300s", name, line);
	else if (WIFSIGNALED(status))
		err_set(err, EX_UNAVAILABLE, "%s of Slurm was killed by signal %d", name,
			WTERMSIG(status));
	else
		err_set(err, EX_UNAVAILABLE, "%s of Slurm failed with status %d", name,
			WEXITSTATUS(status));
}

int slurm_command(struct strings *argv, double limit_s, struct text *out, struct err *err)
{
	const char *name = argv->items[0];
	scoped(strings_release) struct strings env = { 0 };
	struct question q = {
		.argv = argv->items, .until_boot_s = clock_boot_s() + limit_s,
		.answer = out, .complaint = TEXT_INIT,
	};
	int status;

	/* A pass may run inside of a job of Slurm: what that job asked for is not for others. Slurm
	 * keeps the environment of sbatch: credentials of the shell are not for its files. */
	for (char **v = environ; *v; v++)
		if (!variable_is_secret(*v) &&
		    ((!text_starts_with(*v, "SLURM_") && !text_starts_with(*v, "SBATCH_")) ||
		     text_starts_with(*v, "SLURM_CONF=")))
			strings_add(&env, *v);
	q.env = env.items;
	status = question_ask(&q, err);
	if (status > 0)
		set_failure(name, status, &q.complaint, err);
	else if (status < 0 && err->exit_status == EX_TEMPFAIL)
		err_set(err, EX_TEMPFAIL, SLURM_SILENT ": %s took more than %g s", name, limit_s);
	text_release(&q.complaint);
	strings_release(argv);
	return status ? -1 : 0;
}

/* --- jobs and nodes --- */

#define KEPT_S 2.0
#define SILENT_S 20.0		/* for which a controller that gave no answer is left alone */

static struct slurm_queue queue;
static struct slurm_nodes nodes;
static double queue_until_s = -1, nodes_until_s = -1, silent_until_s = -1;
static struct err silence;

void slurm_add_words(const char *words, struct strings *argv)
{
	char *copy = xstrdup(words), *rest = copy;

	for (const char *word; (word = strsep(&rest, " \t"));)
		if (*word)
			strings_add(argv, word);
	free(copy);
}

int slurm_ask(const char *words, struct text *answer, struct err *err)
{
	struct strings argv = { 0 };
	int rc;

	if (clock_boot_s() < silent_until_s) {
		*err = silence;
		return -1;
	}
	slurm_add_words(words, &argv);
	rc = slurm_command(&argv, SLURM_LIMIT_S, answer, err);
	if (rc && err->exit_status == EX_TEMPFAIL) {
		silence = *err;
		silent_until_s = clock_boot_s() + SILENT_S;
	}
	return rc;
}

const struct slurm_queue *slurm_queue(void)
{
	scoped(text_release) struct text answer = TEXT_INIT;
	char *rest, *line;

	if (clock_boot_s() < queue_until_s)
		return &queue;
	free(queue.jobs);
	queue = (struct slurm_queue){ .known = false };
	queue.known = slurm_ask("squeue -h -r --me -o " SLURM_QUEUE_FORMAT, &answer,
				&queue.err) == 0;
	rest = answer.data;
	while (queue.known && (line = strsep(&rest, "\n"))) {
		queue.jobs = xgrow(queue.jobs, queue.n, sizeof(*queue.jobs));
		if (slurm_parse_job(line, &queue.jobs[queue.n]))
			queue.n++;
	}
	queue_until_s = clock_boot_s() + KEPT_S;
	return &queue;
}

const struct slurm_nodes *slurm_nodes(void)
{
	scoped(text_release) struct text answer = TEXT_INIT;
	char *rest, *line;

	if (clock_boot_s() < nodes_until_s)
		return &nodes;
	free(nodes.items);
	nodes = (struct slurm_nodes){ .known = false };
	nodes.known = slurm_ask("scontrol -d -o show nodes", &answer, &nodes.err) == 0;
	rest = answer.data;
	while (nodes.known && (line = strsep(&rest, "\n"))) {
		nodes.items = xgrow(nodes.items, nodes.n, sizeof(*nodes.items));
		if (slurm_parse_node(line, &nodes.items[nodes.n]))
			nodes.n++;
	}
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

void slurm_job_name(const char *store_id, int64_t job_id, char name[SLURM_NAME_SIZE])
{
	snprintf(name, SLURM_NAME_SIZE, "pollux-%.8s-%lld", store_id, (long long)job_id);
}

const char *slurm_store_id(const struct engine_context *at, struct err *err)
{
	static char *id;
	static unsigned of;

	if (!id || of != at->store->opened) {
		free(id);
		id = NULL;
		of = at->store->opened;
		if (store_identity(at->store, &id, err))
			return NULL;
	}
	return id;
}

const struct slurm_job *slurm_queued_job(const struct engine_context *at, const struct run *run)
{
	const struct slurm_queue *q = slurm_queue();
	struct err ignored;
	const char *store_id = slurm_store_id(at, &ignored);
	char name[SLURM_NAME_SIZE];

	if (!store_id)
		return NULL;
	slurm_job_name(store_id, run->job_id, name);
	for (int i = 0; i < q->n; i++)
		if (q->jobs[i].run_id == run->id && q->jobs[i].job_id == run->job_id &&
		    !strcmp(q->jobs[i].store, store_id) && !strcmp(q->jobs[i].name, name) &&
		    is_live(&q->jobs[i]))
			return &q->jobs[i];
	return NULL;
}

int slurm_own_gpus(const char *store_id, const char *node)
{
	const struct slurm_queue *q = slurm_queue();
	int own = 0;

	for (int i = 0; i < q->n; i++) {
		const struct slurm_job *job = &q->jobs[i];

		if ((store_id ? !strcmp(job->store, store_id) : job->store[0] != '\0') &&
		    is_live(job) && strcmp(job->state, "PENDING") != 0 &&
		    slurm_list_has(job->nodes, node))
			own += job->gpus;
	}
	return own;
}
