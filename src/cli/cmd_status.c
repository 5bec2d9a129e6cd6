/* cmd_status.c - pollux status: what has become of the jobs, once or again and again. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "commands.h"
#include "pollux/clock.h"
#include "pollux/mem.h"
#include "pollux/status.h"

#define CSV_COLUMNS "id,name,state,dev,time,done,batch,step_ms,eta,reason"
#define RECENT_S 86400.0	/* ended jobs are shown for a day */
#define WATCH_S "2"
#define LAST_ROWS 4	/* of the log of a job that failed; the last is ours */
#define LOOK_NS 100000000L	/* between looks for changes */

struct status_options {
	bool all, json, summary, csv;
	double watch_s;
	const char *color, *columns, *sort;
	struct selection_options which;
};

static const struct option_spec options[] = {
#define O(field) .offset = offsetof(struct status_options, field)
	{ "all", 'a', OPTION_FLAG, NULL, O(all), 0, 0,
	  "every job; default those that have not ended, or in the last 24 hours" },
	{ "summary", 's', OPTION_FLAG, NULL, O(summary), 0, 0,
	  "what each job took: runs, preemptions, samples, waiting and total time" },
	{ "columns", 'o', OPTION_CHOICES, "NAME,...", O(columns), 0, 0,
	  "a table of these columns, such as id,name,state,wait,command",
	  .choices = status_column_names },
	{ "sort", 0, OPTION_TEXT, "[-]NAME", O(sort), 0, 0,
	  "by this column; with '-' the largest first", .choices = status_column_names },
	{ "csv", 0, OPTION_FLAG, NULL, O(csv), 0, 0,
	  "comma-separated values: a line of names, then a line for each job" },
	{ "json", 'j', OPTION_FLAG, NULL, O(json), 0, 0, "print JSON" },
	{ "watch", 'w', OPTION_DURATION, "[SECONDS]", O(watch_s), 0.1, 86400,
	  "print again every so often (default 2), on a terminal also when something changes, "
	  "until interrupted" },
	OPTION_COLOR(O(color)),
	SELECTION_OPTIONS(offsetof(struct status_options, which)),
	{ .name = NULL },
};

/* The jobs and the view that were asked for. */
struct request {
	const struct status_options *o;
	struct selecting what;
};

/* Of a job that failed, the end of its log. */
static void print_last_words(const struct session *s, const struct job *job, FILE *out)
{
	char *path = paths_log(&s->paths, job->id);

	if (job->state == JOB_FAILED || job->state == JOB_TIMEOUT)
		log_print_last(path, LAST_ROWS, out);
	free(path);
}

static int print_detailed(struct session *s, const struct request *r, const struct status *status,
			  const struct output *out, struct err *err)
{
	int n = status->jobs.count;
	struct status_details *details = xcalloc((size_t)n, sizeof(*details));
	int rc = 0;

	for (int i = 0; rc == 0 && i < n; i++)
		rc = status_details_read(s, status->items[i].job, &details[i], err);
	if (rc == 0 && r->o->json)
		status_print_json(status, details, out->file);
	for (int i = 0; rc == 0 && !r->o->json && i < n; i++) {
		if (i)
			fputc('\n', out->file);
		status_print_job(status, &status->items[i], &details[i], out);
		print_last_words(s, status->items[i].job, out->file);
	}
	for (int i = 0; i < n; i++)
		status_details_release(&details[i]);
	free(details);
	return rc;
}

/* Jobs that are named one by one are shown with all that is known; a set is a table. */
static bool is_detailed(const struct request *r, const struct id_list *ids)
{
	return selection_is_of_numbers(&r->what) || (r->what.n_operands == 1 && ids->count == 1);
}

/* --since alone says from when on ended jobs are shown. */
static bool selects(const struct request *r)
{
	const struct selection_options *which = &r->o->which;

	return r->what.n_operands || which->states || which->name || which->workload;
}

static int print(struct session *s, const struct request *r, const struct id_list *ids,
		 const struct status *status, const struct output *out, struct err *err)
{
	int rc = 0;

	if (!s->store.db && !selects(r) && !r->o->csv && !r->o->json && !r->o->columns)
		output_sayf(out->file, "No store yet at '%s': 'pollux submit' makes one; see "
			    "'pollux --help'.",
			    s->paths.store);
	else if (r->o->csv)
		status_print_csv(status, r->o->columns ? r->o->columns : CSV_COLUMNS, out->file);
	else if (selects(r) && status->jobs.count == 0 && !r->o->json)
		fputs("No such jobs.\n", out->file);
	else if (r->o->columns && !r->o->json)
		status_print_columns(status, r->o->columns, out);
	else if (r->o->summary)
		status_print_summary(status, out);
	else if (ids->count && is_detailed(r, ids))
		rc = print_detailed(s, r, status, out, err);
	else if (r->o->json)
		status_print_json(status, NULL, out->file);
	else
		status_print_table(status, out);
	return rc;
}

/* The table tells when the jobs start that wait, and nothing else of these times. */
static bool tells_ends(const struct request *r, const struct status *status)
{
	bool table = !r->o->columns && !r->o->summary;

	return r->o->json || (table && (status->n_waiting > 0 || status->n_suspended > 0)) ||
	       (table && r->what.n_operands > 0);
}

static int show_jobs(struct session *s, const struct request *r, const struct output *out,
		     struct err *err)
{
	double since_s = isnan(r->o->which.since_s) ? RECENT_S : r->o->which.since_s;
	struct status_query query = {
		.by_ids = selects(r), .lines = r->o->json || r->o->columns,
		.groups = !selects(r) && !r->o->csv && !r->o->json && !r->o->columns &&
			  !r->o->sort && !r->o->summary && !r->o->all,
		.filter = r->o->all ? JOBS_ALL : JOBS_SHOWN,
		.since_wall_s = clock_wall_s() - since_s,
	};
	struct id_list ids = { 0 };
	struct status status;
	int rc = query.by_ids ? selection_read(&r->what, &s->store, &ids, err) : 0;

	if (rc && err->exit_status == EX_NOINPUT && r->what.n_operands == 0)
		/* no such job now: an empty table, which --watch keeps up to date */
		rc = 0;
	query.ids = ids.items;
	query.n_ids = ids.count;
	if (rc == 0 && (rc = status_read(s, &query, &status, err)) == 0) {
		if (r->o->sort)
			status_sort(&status, r->o->sort);
		/* An error here leaves out the expected ends; all the rest is still shown. */
		if (tells_ends(r, &status))
			status_tell_ends(s, &status, &(struct err){ 0 });
		if (query.groups)
			status_arrange(&status);
		rc = print(s, r, &ids, &status, out, err);
		status_release(&status);
	}
	id_list_release(&ids);
	return rc;
}

/* Draws over the last picture: clears the rest of each line, then everything below the last line.
 * Lines beyond the height of the terminal are left out, since they would make it scroll. */
static int draw_status(struct session *s, const struct request *r, const struct output *to,
		       bool first, struct err *err)
{
	struct winsize height = { 0 };
	struct output out = *to;
	char *picture = NULL;
	size_t size;
	int rc, room;

	if (!isatty(STDOUT_FILENO)) {
		if (!first && !r->o->json)
			fputc('\n', stdout);
		rc = show_jobs(s, r, &out, err);
		return rc ? rc : output_flush(err);
	}
	out.file = open_memstream(&picture, &size);
	if (!out.file)
		return err_set(err, EX_OSERR, "out of memory");
	rc = show_jobs(s, r, &out, err);
	fclose(out.file);
	ioctl(STDOUT_FILENO, TIOCGWINSZ, &height);
	room = height.ws_row > 1 ? height.ws_row - 1 : 10000;
	if (rc == 0)
		fputs(first ? "\033[H\033[2J" : "\033[H", stdout);
	for (const char *line = picture; rc == 0 && *line && room > 0; room--) {
		int n = (int)strcspn(line, "\n");

		printf("%.*s\033[K\n", n, line);
		line += n + (line[n] == '\n');
	}
	if (rc == 0)
		fputs("\033[J", stdout);
	free(picture);
	return rc ? rc : output_flush(err);
}

/* Sleeps between looks, on a terminal only until the store changes. In a pipe the clock alone
 * decides, since the reader counts on the pace. */
static int watch_status(struct session *s, const struct request *r, struct output *out,
			struct err *err)
{
	bool terminal = isatty(STDOUT_FILENO);
	struct err ignored;
	int rc = 0;

	interruptions_catch();
	for (bool first = true; rc == 0 && !interrupted; first = false) {
		struct timespec pause = { .tv_nsec = LOOK_NS };
		double end_s, left_s;
		int64_t before = 0, after;

		if (!s->store.db)	/* the store may have come; no error if it has not */
			store_open(&s->store, &s->paths, STORE_READ, &ignored);
		out->width = terminal_width(stdout);
		rc = draw_status(s, r, out, first, err);
		end_s = clock_boot_s() + r->o->watch_s;
		if (rc == 0 && terminal && s->store.db)
			store_data_version(&s->store, &before, &ignored);
		after = before;
		while (rc == 0 && !interrupted && after == before &&
		       (left_s = end_s - clock_boot_s()) > 0) {
			if (left_s < (double)LOOK_NS * 1e-9)
				pause.tv_nsec = (long)(left_s * 1e9);
			nanosleep(&pause, NULL);
			if (terminal && s->store.db &&
			    store_data_version(&s->store, &after, &ignored))
				break;
		}
	}
	return rc;
}

/* True for --watch, also shortened as getopt accepts it, and for -w, also at the end of a word such
 * as -aw: without a time in the word. */
static bool asks_to_watch(const char *word)
{
	return (text_starts_with("--watch", word) && text_starts_with(word, "--wa")) ||
	       (word[0] == '-' && word[1] != '-' && word[strlen(word) - 1] == 'w');
}

/* Returns the words with WATCH_S behind each --watch that has no time. The caller frees the list,
 * not the words. */
static char **with_times(int *argc, char **argv)
{
	static char watch_s[] = WATCH_S;
	char **words = xcalloc(2 * (size_t)*argc + 1, sizeof(char *));
	int n = 0;

	for (int i = 0; i < *argc; i++) {
		words[n++] = argv[i];
		if (asks_to_watch(argv[i]) &&
		    (i + 1 == *argc || !strchr("0123456789.", argv[i + 1][0])))
			words[n++] = watch_s;
	}
	*argc = n;
	return words;
}

static int show_status(int argc, char **argv, struct err *err)
{
	struct status_options o = {
		.watch_s = NAN, .color = "auto", .which = SELECTION_INIT,
	};
	struct request r = { .o = &o, .what = { .command = &cmd_status, .options = &o.which } };
	const char *const *known = status_column_names;
	struct output out;
	struct paged paged;
	struct session s;
	int rc;

	if (selecting_parse(&r.what, argc, argv, &o, err))
		return -1;
	if (o.all && selection_is_given(&r.what))
		return usage_error(&cmd_status, err,
				   "option '--all' and a selection of jobs exclude each other");
	if (o.summary + o.json + (o.csv || o.columns) > 1)
		return usage_error(&cmd_status, err, "options '--summary', '--json' and %s exclude "
				   "each other", o.csv ? "'--csv'" : "'--columns'");
	while (o.sort && *known && strcmp(o.sort + (*o.sort == '-'), *known) != 0)
		known++;
	if (!*known)
		return usage_error(&cmd_status, err, "option '--sort' wants a column, as "
				   "'--columns' names them, not '%.60s'", o.sort);
	if (selection_check(&r.what, err))
		return -1;
	out = output_stdout(o.color);
	/* A missing store is no error: there are no jobs yet. */
	if (paths_init(&s.paths, err))
		return -1;
	if (store_open(&s.store, &s.paths, STORE_READ, err) && err->exit_status != EX_NOINPUT) {
		paths_release(&s.paths);
		return -1;
	}
	warn_of_settings(&s.paths);
	if (isnan(o.watch_s)) {
		paged_begin(&paged, &out);
		rc = show_jobs(&s, &r, &out, err);
		session_close(&s);	/* nobody waits for a store that is read in a pager */
		paged_end(&paged);
		return rc;
	}
	rc = watch_status(&s, &r, &out, err);
	session_close(&s);
	return rc;
}

static int main_status(int argc, char **argv, struct err *err)
{
	char **words = with_times(&argc, argv);
	int rc = show_status(argc, words, err);

	free(words);
	return rc;
}

const struct command cmd_status = {
	.name = "status", .abbreviation = "st",
	.synopsis = "[--all | [SELECTION] [JOB...]] [--columns NAME,...] [--sort [-]NAME]"
		    " [--json | --csv | --summary] [--watch [SECONDS]] [--color WHEN]",
	.summary = "show jobs: where they stand, what they wait for",
	.example = "pollux status\n"
		   "pollux status 17          # everything about one job\n"
		   "pollux status -w\n"
		   "pollux status -o id,name,wait,command --sort -wait --since 7d\n"
		   "pollux status --json | jq '.jobs[] | {id, state, eta_s}'",
	.options = options, .takes_jobs = true, .run = main_status,
};
