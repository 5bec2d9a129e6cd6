/* slurm_ask.c - commands of Slurm, run for a limited time, and what they say of its jobs and nodes.
 * That is kept for a moment, so that a pass asks once; a controller that does not answer is not asked
 * again at once. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/proc.h"
#include "slurm.h"

/* --- a command --- */

#define MOST_BYTES (64 << 20)
#define MOST_COMPLAINT 4000

/* A pass may run inside of a job of Slurm: what that job asked for is not for others. */
static void drop_variables(void)
{
	for (int i = 0; environ[i];) {
		const char *v = environ[i];
		char name[64];
		size_t n = strcspn(v, "=");

		if ((text_starts_with(v, "SLURM_") || text_starts_with(v, "SBATCH_")) &&
		    !text_starts_with(v, "SLURM_CONF=") && n < sizeof(name)) {
			snprintf(name, sizeof(name), "%.*s", (int)n, v);
			unsetenv(name);
		} else {
			i++;
		}
	}
}

static _Noreturn void become(const struct strings *argv, int out, int complaint, pid_t parent)
{
	int null = file_open_null(O_RDONLY);
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (!proc_dies_with(parent, SIGKILL))
		_exit(127);
	dup2(null, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(complaint, STDERR_FILENO);
	close_range(STDERR_FILENO + 1, ~0U, 0);
	drop_variables();
	execvp(argv->items[0], argv->items);
	dprintf(STDERR_FILENO, "cannot execute '%s': %s\n", argv->items[0], strerror(errno));
	_exit(127);
}

/* Reads what is there. False: the end. */
static bool take_output(int fd, struct text *t, size_t most)
{
	char bytes[16384];
	ssize_t n = read(fd, bytes, sizeof(bytes));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return true;
	if (n > 0 && t->length < most)
		text_add_bytes(t, bytes, (size_t)n);
	return n > 0;
}

/* Reads until both have ended, or the time is over. */
static void read_both(int out, int complaint, double until_s, struct text *t, struct text *said)
{
	struct pollfd fds[2] = { { .fd = out, .events = POLLIN },
				 { .fd = complaint, .events = POLLIN } };

	while (fds[0].fd >= 0 || fds[1].fd >= 0) {
		double left_s = until_s - clock_boot_s();

		if (left_s <= 0)
			return;
		if (poll(fds, 2, (int)ceil(left_s * 1e3)) < 0 && errno != EINTR)
			return;
		if (fds[0].fd >= 0 && fds[0].revents && !take_output(out, t, MOST_BYTES))
			fds[0].fd = -1;
		if (fds[1].fd >= 0 && fds[1].revents &&
		    !take_output(complaint, said, MOST_COMPLAINT))
			fds[1].fd = -1;
	}
}

/* The last line that says something. */
static const char *last_line(struct text *said)
{
	char *end = said->data + said->length, *line;

	while (end > said->data && (unsigned char)end[-1] <= ' ')
		*--end = '\0';
	for (char *c = said->data; *c; c++)
		if ((unsigned char)*c < ' ' && *c != '\n')
			*c = '?';
	line = strrchr(said->data, '\n');
	return line ? line + 1 : said->data;
}

static bool is_about_controller(const char *said)
{
	return strstr(said, "Unable to contact slurm controller") ||
	       strstr(said, "Connection refused") || strstr(said, "timed out");
}

static int set_failure(const char *name, int status, struct text *said, struct err *err)
{
	bool controller = is_about_controller(said->data);
	const char *line = last_line(said);

	if (controller)
		return err_set(err, EX_TEMPFAIL, SLURM_SILENT " %s: %.200s",
			       name, line);
	if (*line)
		return err_set(err, EX_UNAVAILABLE, "%s of Slurm failed: %.300s", name, line);
	if (WIFSIGNALED(status))
		return err_set(err, EX_UNAVAILABLE, "%s of Slurm was killed by signal %d", name,
			       WTERMSIG(status));
	return err_set(err, EX_UNAVAILABLE, "%s of Slurm failed with status %d", name,
		       WEXITSTATUS(status));
}

/* A command that has closed its output may still not end. */
static bool ends_in_time(pid_t pid, double until_s, int *status)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	pid_t found;

	while ((found = waitpid(pid, status, WNOHANG)) == 0 && clock_boot_s() < until_s)
		nanosleep(&pause, NULL);
	return found != 0;
}

/* A process that waits for a dead disk or network does not die of SIGKILL either. The pass goes on
 * without its end, and takes that at a later command. */
#define KILLED_WAIT_S 1.0
static pid_t undead[16];
static size_t n_undead;

static void take_undead(void)
{
	size_t left = 0;
	int status;

	for (size_t i = 0; i < n_undead; i++)
		if (waitpid(undead[i], &status, WNOHANG) == 0)
			undead[left++] = undead[i];
	n_undead = left;
}

static void kill_now(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	if (!ends_in_time(pid, clock_boot_s() + KILLED_WAIT_S, &status) &&
	    n_undead < sizeof(undead) / sizeof(undead[0]))
		undead[n_undead++] = pid;
}

static int finish_command(const char *name, pid_t pid, double until_s, double limit_s,
			  struct text *said, struct err *err)
{
	int status = 0;
	bool in_time = ends_in_time(pid, until_s, &status);

	if (!in_time) {
		kill_now(pid);
		return err_set(err, EX_TEMPFAIL, SLURM_SILENT ": %s took more than %g s", name,
			       limit_s);
	}
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : set_failure(name, status, said,
									       err);
}

int slurm_command(const struct strings *argv, double limit_s, struct text *out, struct err *err)
{
	struct text said = TEXT_INIT;
	double until_s = clock_boot_s() + limit_s;
	int answer[2], complaint[2], rc;
	pid_t parent = getpid(), pid;

	take_undead();
	if (pipe2(answer, O_CLOEXEC))
		return err_set(err, EX_OSERR, "cannot make a pipe: %s", strerror(errno));
	if (pipe2(complaint, O_CLOEXEC)) {
		close(answer[0]);
		close(answer[1]);
		return err_set(err, EX_OSERR, "cannot make a pipe: %s", strerror(errno));
	}
	pid = fork();
	if (pid == 0)
		become(argv, answer[1], complaint[1], parent);
	close(answer[1]);
	close(complaint[1]);
	if (pid < 0) {
		rc = err_set(err, EX_OSERR, "cannot fork: %s", strerror(errno));
	} else {
		read_both(answer[0], complaint[0], until_s, out, &said);
		rc = finish_command(argv->items[0], pid, until_s, limit_s, &said, err);
	}
	close(answer[0]);
	close(complaint[0]);
	text_release(&said);
	return rc;
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
	strings_release(&argv);
	return rc;
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
	while (queue.known && (line = strsep(&rest, "\n"))) {
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
	while (nodes.known && (line = strsep(&rest, "\n"))) {
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
	slurm_job_name(store_id, run->job_id, name, sizeof(name));
	for (int i = 0; i < q->n; i++)
		if (q->jobs[i].run_id == run->id && q->jobs[i].job_id == run->job_id &&
		    !strcmp(q->jobs[i].store, store_id) && !strcmp(q->jobs[i].name, name) &&
		    is_live(&q->jobs[i]))
			return &q->jobs[i];
	return NULL;
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
