/* front_wait.c - 'pollux run' waits for its devices, and says for what. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "front.h"
#include "pollux/clock.h"
#include "pollux/mem.h"
#include "pollux/pass_files.h"
#include "pollux/report.h"
#include "pollux/store_jobs.h"
#include "pollux/store_runs.h"
#include "submit_pass.h"

#define LOOK_S 0.1
#define PASS_EACH_S 60.0	/* seconds between passes, as cron's */
#define PASS_REST_S 5.0

void front_show(struct front *t, const char *line)
{
	bool same = line && t->shown && !strcmp(line, t->shown);

	if (t->quiet || same || (!line && !t->shown))
		return;
	if (isatty(STDERR_FILENO)) {
		char *part = xasprintf("%.*s", terminal_width(stderr) - 1, line ? line : "");

		fputs("\r\033[K", stderr);
		output_clean(stderr, part);
		free(part);
	} else if (line) {
		output_message(line);
	}
	fflush(stderr);
	free(t->shown);
	t->shown = line ? xstrdup(line) : NULL;
}

static void show_reason(struct front *t, const struct job *job)
{
	double now_s = clock_wall_s();
	struct text line = TEXT_INIT;

	text_addf(&line, "job %lld waits", (long long)job->id);
	if (job->next_start_s > now_s)
		text_addf(&line, ", at most until %s",
			  format_time(job->next_start_s, now_s).s);
	text_addf(&line, ": %s", *job->reason ? job->reason : "no pass has looked at it yet");
	front_show(t, line.data);
	text_release(&line);
}

/* Says why no pass looks at the job, if the one that began then, by the wall clock, failed. */
static void show_failure(struct front *t, double begun_s)
{
	struct text line = TEXT_INIT;
	char why[400];
	double time_s;

	if (failed_pass_read(&t->s.paths, why, sizeof(why), &time_s) && time_s >= floor(begun_s)) {
		text_addf(&line, "job %lld waits: the last pass failed: %s",
			  (long long)t->job_id, why);
		front_show(t, line.data);
	}
	text_release(&line);
}

/* The run that this process is to begin; 0: none. */
static int find_run(struct front *t, int64_t *run_id, struct err *err)
{
	struct run_list runs;

	*run_id = 0;
	if (store_runs_of_job(&t->s.store, t->job_id, &runs, err))
		return -1;
	for (int i = 0; i < runs.count; i++)
		if (runs.items[i].state == RUN_ASSIGNED && runs.items[i].stop_reason == STOP_NONE)
			*run_id = runs.items[i].id;
	run_list_release(&runs);
	return 0;
}

struct look {
	int64_t run_id;
	bool has_ended;
	double next_start_s;
};

static int look_at_job(struct front *t, struct look *l, struct err *err)
{
	struct job job;

	if (find_run(t, &l->run_id, err) || store_job_get(&t->s.store, t->job_id, &job, err))
		return -1;
	l->has_ended = job_has_ended(job.state);
	l->next_start_s = job.next_start_s;
	if (!l->run_id && job.state == JOB_QUEUED && *job.reason)
		show_reason(t, &job);
	job_release(&job);
	return 0;
}

/* True if a pass is due: each minute, and when devices are expected, because a person waits. */
static bool is_pass_due(const struct look *l, double now_s, double last_s)
{
	if (now_s < last_s + PASS_REST_S)
		return false;
	return now_s >= last_s + PASS_EACH_S ||
	       (l->next_start_s <= now_s && l->next_start_s > last_s);
}

/* Makes a pass. It runs in a child, in which SQLite must not find the store of this process
 * open. */
static int make_pass(struct front *t, bool quiet, struct err *err)
{
	store_close(&t->s.store);
	submit_pass_run(quiet);
	return store_open(&t->s.store, &t->s.paths, STORE_WRITE, err);
}

int front_wait(struct front *t, int64_t *run_id, int *signal_number, struct err *err)
{
	struct look l = { .next_start_s = NAN };
	double last_s = clock_wall_s();
	int64_t version = -1, now;

	if (make_pass(t, t->quiet, err))
		return -1;
	for (;;) {
		if (store_data_version(&t->s.store, &now, err) ||
		    (now != version && look_at_job(t, &l, err)))
			return -1;
		version = now;
		*run_id = l.run_id;
		*signal_number = front_signal(true);
		if (*signal_number || l.run_id || l.has_ended)
			return 0;
		show_failure(t, last_s);
		if (is_pass_due(&l, clock_wall_s(), last_s)) {
			if (make_pass(t, true, err))
				return -1;
			last_s = clock_wall_s();
			version = -1;
		}
		front_nap(NULL, 0, LOOK_S);
	}
}
