/* test_top.c - the screen of 'pollux top', composed from jobs and devices made by hand. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "pollux/mem.h"
#include "pollux/top.h"
#include "tap.h"

#define JOBS 30

/* Jobs 1 and 2 run, on cpu:0 and cpu:1; the others wait. */
static void make(struct top *t)
{
	struct status *s = &t->status;

	*t = (struct top)TOP_INIT;
	s->now_wall_s = 1e9;
	s->now_boot_s = 1000;
	s->ever_scheduled = s->passes_come = true;
	s->jobs = (struct job_list){ xcalloc(JOBS, sizeof(struct job)), JOBS };
	s->items = xcalloc(JOBS, sizeof(*s->items));
	s->runs = (struct run_list){ xcalloc(2, sizeof(struct run)), 2 };
	for (int i = 0; i < JOBS; i++) {
		struct job *job = &s->jobs.items[i];
		struct run *run = i < 2 ? &s->runs.items[i] : NULL;

		job_init(job);
		job->id = i + 1;
		job->declared.name = xasprintf("train-%d", i + 1);
		job->state = run ? JOB_RUNNING : JOB_QUEUED;
		xreplace(&job->reason, run ? "1 device" : "in line; needs 1 device");
		xreplace(&job->progress.status_text, "");
		s->items[i] = (struct status_job){
			.job = job, .run = run, .state = run ? SHOWN_RUNNING : SHOWN_QUEUED,
			.run_time_s = run ? 75 : (double)NAN,
			.done_ratio = run ? 0.42 : (double)NAN,
			.throughput_eps = NAN, .silent_s = NAN, .eta_s = run ? 100 : (double)NAN,
			.likely_start_s = NAN, .likely_end_s = NAN, .expected_s = NAN,
		};
		if (!run)
			continue;
		run_init(run);
		run->job_id = job->id;
		run->state = RUN_RUNNING;
		run->step_time_s = 0.0123;
		run->configuration.replicas = 1;
		run->devices = xcalloc(1, sizeof(*run->devices));
		snprintf(run->devices[0].id, sizeof(run->devices[0].id), "cpu:%d", i);
	}
	s->n_running = s->n_devices_in_use = 2;
	s->n_waiting = JOBS - 2;
	t->devices = xcalloc(3, sizeof(*t->devices));
	t->n_devices = 3;
	for (int i = 0; i < 3; i++) {
		struct top_device *d = &t->devices[i];

		*d = (struct top_device){ .use = 0.5 * i, .memory_bytes = NAN, .used_bytes = NAN };
		snprintf(d->id, sizeof(d->id), "cpu:%d", i);
		snprintf(d->name, sizeof(d->name), "cpu:%d", i);
	}
	strcpy(t->host.name, "host");
	t->host.memory_bytes = 16.0 * (1 << 30);
	t->host.used_bytes = 4.0 * (1 << 30);
}

static struct canvas compose(struct top *t, int rows, int columns, bool utf8)
{
	struct canvas g;

	canvas_init(&g, rows, columns, utf8);
	top_compose(t, &g);
	return g;
}

/* The first row that has the text; -1: none. */
static int row_with(const struct canvas *g, const char *s)
{
	int found = -1;

	for (int row = g->rows - 1; row >= 0; row--) {
		struct text t = TEXT_INIT;

		canvas_add_row(g, row, &t);
		if (strstr(t.data, s))
			found = row;
		text_release(&t);
	}
	return found;
}

static bool has(struct top *t, int rows, int columns, const char *s)
{
	struct canvas g = compose(t, rows, columns, false);
	bool found = row_with(&g, s) >= 0;

	canvas_release(&g);
	return found;
}

static void test_rows(void)
{
	struct top t;

	make(&t);
	ok(has(&t, 24, 80, " 2 devices in use; 2 running, 28 waiting"), "the summary of status");
	ok(has(&t, 24, 80, "cpu:1 ") && has(&t, 24, 80, " 50% ") && has(&t, 24, 80, " 2 train-2"),
	   "a device, its use and who has it");
	ok(has(&t, 24, 80, "###......... 4.0/16G"), "a bar of memory");
	ok(has(&t, 24, 80, ">  1  train-1           running      42%   1m15s    1   1m40s  1 "
		"device"),
	   "a row of a job that runs");
	ok(has(&t, 24, 80, "   3  train-3           queued         -  in line; needs 1 device"),
	   "a row of a job that waits");
	ok(has(&t, 24, 80, " job 1: train-1, running on cpu:0 "), "the chosen job has a pane");
	ok(has(&t, 24, 80, "12.3ms/step"), "with its step time");
	ok(has(&t, 40, 120, " 12.3  1 device"), "a wide screen has step times in the rows");
	ok(has(&t, 24, 80, "1-8 of 30"), "it says which rows are shown");
	ok(has(&t, 10, 80, "larger terminal"), "a small terminal is told so");
	top_release(&t);
}

static void test_choice(void)
{
	struct top t;
	struct status_row row;
	int n;

	make(&t);
	top_move(&t, 10);
	ok(has(&t, 24, 80, "> 11  train-11"), "the row ten below is in sight");
	ok(!has(&t, 24, 80, "   1  train-1 "), "and the first one is not");
	top_move(&t, 1000);
	ok(has(&t, 24, 80, "> 30  train-30"), "there is an end");
	top_move(&t, -1000);
	ok(has(&t, 24, 80, ">  1  train-1 "), "and a beginning");
	strcpy(t.filter, "TRAIN-2");
	top_find_row(&t, &row, &n);
	is_int(n, 11, "a filter lets rows through in any case");
	is_int(row.item->job->id, 2, "and the choice goes to one of them");
	ok(has(&t, 24, 80, "1-8 of 11") &&
	   has(&t, 24, 80, "only rows with 'TRAIN-2'"), "the filter is told");
	strcpy(t.filter, "none such");
	ok(has(&t, 24, 80, "No job has 'none such'."), "nothing passes");
	t.filter[0] = '\0';
	t.chosen = 77;
	t.at = 4;
	top_find_row(&t, &row, &n);
	is_int(row.item->job->id, 5, "where the chosen job has gone its place is chosen");
	top_release(&t);
}

/* At each size everything that is put stays within the canvas, and columns stay where they are. */
static void test_sizes(void)
{
	struct top t;
	int state_at = -1, moved = 0;

	make(&t);
	xreplace(&t.status.jobs.items[0].declared.name, "\033]0;x\a\xf0\x9f\x98\x80 \xe2\x80\xae");
	for (int rows = 1; rows < 60; rows += 3)
		for (int columns = 1; columns < 200; columns += 7)
			for (int mode = TOP_JOBS; mode <= TOP_HELP; mode++) {
				struct canvas g;

				t.mode = (enum top_mode)mode;
				g = compose(&t, rows, columns, columns % 2);
				canvas_release(&g);
			}
	t.mode = TOP_JOBS;
	for (int i = 0; i < 3; i++) {
		struct text line = TEXT_INIT;
		struct canvas g;
		int at;

		t.status.items[0].eta_s = i * 100000;
		xreplace(&t.status.jobs.items[0].declared.name, i ? "x" : "a very long name");
		g = compose(&t, 24, 80, true);
		canvas_add_row(&g, row_with(&g, "running "), &line);
		at = (int)(strstr(line.data, "running ") - line.data);
		moved += state_at >= 0 && at != state_at;
		state_at = at;
		text_release(&line);
		canvas_release(&g);
	}
	is_int(moved, 0, "columns do not depend on the jobs");
	top_release(&t);
}

static void test_pane(void)
{
	struct curve_point points[] = { { 1, 10, 0.5 }, { 2, 20, 0.25 }, { 3, 30, 0.75 } };
	struct top t;

	make(&t);
	t.job.id = 1;
	t.job.curves = (struct curve_list){ xcalloc(2, sizeof(struct curve)), 2 };
	for (int i = 0; i < 2; i++) {
		struct curve *c = &t.job.curves.items[i];

		*c = (struct curve){ .points = xcalloc(3, sizeof(*points)), .n = 3 };
		strcpy(c->name, i ? "val_acc" : "loss");
		memcpy(c->points, points, sizeof(points));
	}
	strings_add(&t.job.log, "epoch 1 \033[31mred");
	strings_add(&t.job.log, "epoch 2");
	ok(has(&t, 24, 80, "val_acc 0.75 (m: 1 more)"), "the curve of a validation comes first");
	ok(has(&t, 24, 80, "| epoch 2"), "the log stands beside it");
	ok(has(&t, 24, 80, "epoch 1 \\033[31mred"), "as text");
	t.curve = 1;
	ok(has(&t, 24, 80, " loss 0.75"), "another curve");
	t.mode = TOP_LOG;
	ok(has(&t, 24, 80, "log of job 1: train-1"), "the log alone");
	t.mode = TOP_HELP;
	ok(has(&t, 24, 80, "cancel it, after a question"), "help");
	t.mode = TOP_JOBS;
	t.says = "Cancel job 1? [y/N]";
	t.is_question = true;
	{
		struct canvas g = compose(&t, 24, 80, false);

		is_int(g.cursor_row, 23, "an answer is typed in the last row");
		is_int(g.cursor_column, 21, "behind the question");
		canvas_release(&g);
	}
	top_release(&t);
}

int main(void)
{
	test_rows();
	test_choice();
	test_sizes();
	test_pane();
	return done();
}
