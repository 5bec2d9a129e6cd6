/* simulations.c - reads the files, then simulates with a thread for each core. The simulations
 * share only data that they do not change. */
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pollux/mem.h"
#include "pollux/simulations.h"

#define BAR 40			/* characters */
#define CLEAR_LINE "\r\033[K"
#define REDRAW_NS 100000000L

/* --- reading --- */

static int read_profiles(struct simulations *s, const char *directory, struct err *err)
{
	const struct sim_options *o = s->policies;
	const char *kinds[SCHED_KINDS];

	for (int k = 0; k < o->n_kinds; k++)
		kinds[k] = o->kinds[k].name;
	return sim_profiles_read(&s->profiles, directory, kinds, o->n_kinds, err) ||
	       (s->restart_table &&
		sim_profiles_read_table(&s->profiles, s->restart_table, true, err)) ||
	       (s->slowdown_table &&
		sim_profiles_read_table(&s->profiles, s->slowdown_table, false, err)) ? -1 : 0;
}

static int read_files(struct simulations *s, const char *directory, const struct strings *paths,
		      struct err *err)
{
	const struct sim_options *o = s->policies;
	int rc = o->racks ? sim_racks_read(&s->racks, s->tiers, s->links, s->models, err)
		: o->plans ? sim_plans_read(&s->plans, directory, o->gpus_per_node,
					    o->nodes * o->gpus_per_node, err)
		: read_profiles(s, directory, err);

	s->files = xcalloc(paths->count, sizeof(*s->files));
	for (size_t i = 0; i < paths->count && rc == 0; i++) {
		struct sim_workload *w = &s->files[s->n_files];
		const char *path = paths->items[i];

		rc = o->racks ? sim_racks_workload(&s->racks, path, w, err)
			: o->plans ? sim_plans_workload(&s->plans, path, w, err)
			: sim_workload_read(w, path, &s->profiles, err);
		s->n_files += rc == 0;
	}
	return rc;
}

/* Makes the list of runs. */
static void list_runs(struct simulations *s)
{
	int draws = s->draws ? s->draws : 1;

	s->n = s->n_files * draws;
	s->n_runs = s->n * s->n_policies;
	s->workloads = xcalloc((size_t)s->n, sizeof(*s->workloads));
	s->results = xcalloc((size_t)s->n_runs, sizeof(*s->results));
	for (int i = 0; i < s->n; i++)
		if (s->draws)
			sim_workload_draw(&s->files[i / draws], s->policies->seed, i % draws + 1,
					  &s->workloads[i]);
		else
			s->workloads[i] = s->files[i];
}

static int run_one(struct simulations *s, int i, const struct sim_progress *progress,
		   struct err *err)
{
	const struct sim_options *o = &s->policies[i / s->n];
	const struct sim_workload *w = &s->workloads[i % s->n];
	struct sim_result *r = &s->results[i];

	return o->racks ? sim_racks_run(o, &s->racks, w, progress, r, err)
		: o->plans ? sim_plans_run(o, &s->plans, w, progress, r, err)
		: simulate(o, &s->profiles, w, progress, r, err);
}

/* --- side by side --- */

struct team {
	struct simulations *s;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	int next;		/* the first run that no thread has taken */
	int working;		/* threads */
	int done, total;	/* jobs */
	int failed;		/* the first run that failed; n_runs: none */
	struct err err;		/* the error of that run */
};

struct worker {
	struct team *team;
	pthread_t thread;
	int done;		/* jobs of the present run that team->done includes */
};

static void tell_team(void *data, int done)
{
	struct worker *w = data;

	pthread_mutex_lock(&w->team->mutex);
	w->team->done += done - w->done;
	pthread_mutex_unlock(&w->team->mutex);
	w->done = done;
}

/* Takes the next run; -1: all are taken, or one has failed. */
static int take_run(struct team *team)
{
	int i = -1;

	pthread_mutex_lock(&team->mutex);
	if (team->next < team->s->n_runs && team->failed == team->s->n_runs)
		i = team->next++;
	pthread_mutex_unlock(&team->mutex);
	return i;
}

static void work_all(struct worker *w)
{
	struct simulations *s = w->team->s;
	struct sim_progress progress = { tell_team, w };
	struct err err;
	int i;

	while ((i = take_run(w->team)) >= 0) {
		w->done = 0;
		if (run_one(s, i, &progress, &err)) {
			pthread_mutex_lock(&w->team->mutex);
			if (i < w->team->failed) {
				w->team->failed = i;
				w->team->err = err;
			}
			pthread_mutex_unlock(&w->team->mutex);
		}
	}
}

static void *run_worker(void *data)
{
	struct worker *w = data;

	work_all(w);
	pthread_mutex_lock(&w->team->mutex);
	w->team->working--;
	pthread_cond_signal(&w->team->changed);
	pthread_mutex_unlock(&w->team->mutex);
	return NULL;
}

/* Clears the bar; the program then ends by the signal. */
static void clear_bar(int signal_number)
{
	ssize_t n = write(STDERR_FILENO, CLEAR_LINE, sizeof(CLEAR_LINE) - 1);

	(void)n;
	raise(signal_number);
}

void simulate_catch(void (*handler)(int signal_number), int flags)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags }, before;

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
}

/* Draws the bar until all workers have ended. */
static void watch_workers(struct team *team)
{
	const char *term = getenv("TERM");
	/* a terminal that can clear a line */
	bool bar = isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;

	if (bar)
		simulate_catch(clear_bar, (int)SA_RESETHAND);
	pthread_mutex_lock(&team->mutex);
	while (team->working > 0) {
		struct timespec until;

		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += REDRAW_NS;
		until.tv_sec += until.tv_nsec / 1000000000L;
		until.tv_nsec %= 1000000000L;
		if (bar) {
			double part = (double)team->done / team->total;

			fprintf(stderr, "\r%3.0f%% [%-*.*s] %d of %d jobs", floor(100 * part), BAR,
				(int)(BAR * part), "########################################",
				team->done, team->total);
		}
		pthread_cond_timedwait(&team->changed, &team->mutex, &until);
	}
	pthread_mutex_unlock(&team->mutex);
	if (bar)
		fputs(CLEAR_LINE, stderr);
}

static int count_cores(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	return sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0 ? CPU_COUNT(&set)
										   : 1;
}

int simulations_run(struct simulations *s, const char *directory, const struct strings *workloads,
		    struct err *err)
{
	struct team team = {
		.s = s, .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER,
	};
	struct worker *workers;
	int n, started = 0;

	if (read_files(s, directory, workloads, err))
		return -1;
	list_runs(s);
	team.failed = s->n_runs;
	for (int i = 0; i < s->n_runs; i++)
		team.total += s->workloads[i % s->n].n_jobs;
	n = count_cores() < s->n_runs ? count_cores() : s->n_runs;
	workers = xcalloc((size_t)n, sizeof(*workers));
	team.working = n;
	for (int i = 0; i < n; i++) {
		workers[i].team = &team;
		if (pthread_create(&workers[started].thread, NULL, run_worker, &workers[started]))
			break;
		started++;
	}
	pthread_mutex_lock(&team.mutex);
	team.working -= n - started;
	pthread_mutex_unlock(&team.mutex);
	if (started)
		watch_workers(&team);
	else	/* no thread can be started */
		work_all(&workers[0]);
	for (int i = 0; i < started; i++)
		pthread_join(workers[i].thread, NULL);
	free(workers);
	if (team.failed == s->n_runs)
		return 0;
	*err = team.err;
	return -1;
}

void simulations_release(struct simulations *s)
{
	for (int i = 0; i < s->n_runs; i++)
		sim_result_release(&s->results[i]);
	for (int i = 0; s->draws && i < s->n; i++)
		free(s->workloads[i].jobs);
	for (int i = 0; i < s->n_files; i++)
		sim_workload_release(&s->files[i]);
	free(s->policies);
	free(s->files);
	free(s->results);
	free(s->workloads);
	sim_profiles_release(&s->profiles);
	sim_plans_release(&s->plans);
	sim_racks_release(&s->racks);
}
