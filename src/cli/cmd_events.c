/* cmd_events.c - pollux events: what happened to the jobs, and what happens next. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "commands.h"
#include "pollux/clock.h"
#include "pollux/mem.h"
#include "pollux/status.h"

#define LOOK_MS 200	/* between looks for changes */
#define LINES 50

struct events_options {
	bool follow, json;
	int64_t lines;		/* -1: not given */
	double since_s;
	struct selection_options which;
};

static const struct option_spec options[] = {
#define O(field) .offset = offsetof(struct events_options, field)
	{ "follow", 'f', OPTION_FLAG, NULL, O(follow), 0, 0,
	  "go on with what happens, until interrupted" },
	{ "lines", 'n', OPTION_INT, "N", O(lines), 0, 1e9,
	  "begin with the last N events; default 50, and with --since all" },
	{ "since", 0, OPTION_DURATION, "TIME", O(since_s), 0, 1e9,
	  "only events of this time: 2h, 7d" },
	{ "json", 'j', OPTION_FLAG, NULL, O(json), 0, 0, "print JSON, an object on each line" },
	SELECT_STATE(offsetof(struct events_options, which)),
	SELECT_NAMES(offsetof(struct events_options, which)),
	{ .name = NULL },
};

struct reader {
	const struct events_options *o;
	struct selecting what;
	struct session s;
	int64_t version;	/* of the data that was read last; -1: none was */
	double looked_s;	/* wall clock: when that was */
	struct text jobs;	/* ",3,17,": that were selected so far */
	struct event_query next;
};

/* A number alone is not looked up by selection_read(). */
static int check_numbers(struct store *s, const struct id_list *ids, struct err *err)
{
	bool has;

	for (int i = 0; i < ids->count; i++) {
		if (store_has_job(s, ids->items[i], &has, err))
			return -1;
		if (!has)
			return err_set(err, EX_NOINPUT, "no such job: %lld",
				       (long long)ids->items[i]);
	}
	return 0;
}

/* Adds the jobs that match. While events are followed, jobs that come later and match are added,
 * and those that match no longer stay. */
static int add_jobs(struct reader *r, struct err *err)
{
	bool first = r->jobs.length == 0;
	struct id_list ids;
	char number[24];
	int rc;

	if (!selection_is_given(&r->what) || (!first && selection_is_spelt_out(&r->what)))
		return 0;
	rc = selection_read(&r->what, &r->s.store, &ids, err);
	if (rc == 0 && first)
		rc = check_numbers(&r->s.store, &ids, err);
	for (int i = 0; rc == 0 && i < ids.count; i++) {
		snprintf(number, sizeof(number), ",%lld,", (long long)ids.items[i]);
		if (r->jobs.length == 0 || !strstr(r->jobs.data, number))
			text_add(&r->jobs, number + (r->jobs.length > 0));
	}
	id_list_release(&ids);
	r->next.jobs = r->jobs.length ? r->jobs.data : NULL;
	return first || err->exit_status != EX_NOINPUT ? rc : 0;
}

static void print_event(const struct event *e, bool as_json)
{
	time_t at = (time_t)e->time_s;
	char when[32] = "-", job[32] = "-";
	struct json j;
	struct tm tm;

	if (as_json) {
		json_init(&j, stdout);
		j.one_line = true;
		status_print_json_event(&j, e);
		return;
	}
	if (localtime_r(&at, &tm))
		strftime(when, sizeof(when), "%F %T", &tm);
	if (e->job_id)
		snprintf(job, sizeof(job), "job %lld", (long long)e->job_id);
	output_sayf(stdout, "%s  %-7s  %-9s  %s", when, job, e->kind, e->text);
}

static int print_new(struct reader *r, struct err *err)
{
	double now_s = clock_wall_s();
	struct event_list list;

	if (store_last_event(&r->s.store, &r->next.last, err) || add_jobs(r, err) ||
	    store_events_select(&r->s.store, &r->next, &list, err))
		return -1;
	for (int i = 0; i < list.count; i++)
		print_event(&list.items[i], r->o->json);
	event_list_release(&list);
	r->looked_s = now_s;
	r->next.after = r->next.last;
	r->next.since_wall_s = NAN;
	r->next.newest = -1;
	return output_flush(err);
}

/* The version is read before the events: what comes in between is looked at again. */
static int look(struct reader *r, struct err *err)
{
	struct store *s = &r->s.store;
	int64_t now;

	/* Numbers of events in a store that takes the place of this one need not go on: its events
	 * from now on are new. */
	if (s->db && !store_is_there(s)) {
		store_close(s);
		r->next.after = 0;
		r->next.since_wall_s = r->looked_s;
	}
	if (!s->db) {
		r->version = -1;
		if (store_open(s, &r->s.paths, STORE_READ, err))
			return r->o->follow && err->exit_status == EX_NOINPUT ? 0 : -1;
	}
	if (store_data_version(s, &now, err) || (now != r->version && print_new(r, err)))
		return -1;
	r->version = now;
	return 0;
}

static int read_events(struct reader *r, struct err *err)
{
	struct pollfd out = { .fd = STDOUT_FILENO };
	bool told = false;

	if (!r->o->follow)
		return look(r, err);
	interruptions_catch();
	while (!interrupted) {
		int rc = look(r, err);

		/* a store that is locked: the next look tries again */
		if (rc && err->exit_status != EX_TEMPFAIL)
			return -1;
		if (rc && !told)
			output_messagef("%s; '--follow' goes on", err->text);
		told = rc;
		if (poll(&out, 1, LOOK_MS) > 0)
			break;		/* nobody reads any more */
	}
	return 0;
}

static int main_events(int argc, char **argv, struct err *err)
{
	struct events_options o = { .lines = -1, .since_s = NAN, .which = SELECTION_INIT };
	struct reader r = {
		.o = &o, .what = { .command = &cmd_events, .options = &o.which }, .version = -1,
		.jobs = TEXT_INIT,
	};
	int rc;

	if (selecting_parse(&r.what, argc, argv, &o, err) || selection_check(&r.what, err) ||
	    paths_init(&r.s.paths, err))
		return -1;
	r.looked_s = clock_wall_s();
	r.next.since_wall_s = r.looked_s - o.since_s;
	r.next.newest = o.lines >= 0 || !isnan(o.since_s) ? o.lines : LINES;
	rc = read_events(&r, err);
	text_release(&r.jobs);
	session_close(&r.s);
	return rc;
}

const struct command cmd_events = {
	.name = "events", .synopsis = "[--follow] [--json] [OPTION]... [JOB...]",
	.summary = "what happened to jobs, and what happens next",
	.example = "pollux events --since 1d 'lr*'\n"
		   "pollux events --follow --json | jq -r 'select(.kind == \"ended\") | .job_id'",
	.options = options, .takes_jobs = true, .run = main_events,
};
