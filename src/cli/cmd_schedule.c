/* cmd_schedule.c - pollux schedule: one pass, or one every few seconds. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "commands.h"
#include "pollux/clock.h"
#include "pollux/mem.h"
#include "pollux/pass.h"
#include "pollux/pass_files.h"
#include "pollux/policy.h"
#include "pollux/view.h"

/* --- passes of others --- */

/* What passes of other processes do while 'pollux schedule --watch -v' looks on: those of
 * supervisors, mostly. Passes write an event for each thing that they do. */
struct others {
	bool began;
	int64_t told;		/* the last event that was looked at */
	struct strings own;	/* what the watcher's own last pass did */
};

/* The kinds of events that passes write, as a pass prints them: "start job 3 on cpu:0: ...". */
static const struct {
	const char *kind, *verb, *joint;
} kinds[] = {
	{ "assigned", "start", " on" }, { "resume", "resume", " on" }, { "stop", "stop", ":" },
	{ "suspend", "suspend", ":" }, { "change", "change", "" },
};

static void print_event(const struct others *o, const struct event *e)
{
	size_t k = 0, n_kinds = sizeof(kinds) / sizeof(kinds[0]), n;
	bool is_own = false;
	char *action;

	while (k < n_kinds && strcmp(e->kind, kinds[k].kind) != 0)
		k++;
	if (k == n_kinds)
		return;
	action = xasprintf("%s job %lld", kinds[k].verb, (long long)e->job_id);
	n = strlen(action);
	for (size_t i = 0; i < o->own.count; i++)
		is_own |= !strncmp(o->own.items[i], action, n) && strchr(" :", o->own.items[i][n]);
	if (!is_own)
		output_sayf(stdout, "another pass: %s%s %s", action, kinds[k].joint, e->text);
	free(action);
}

/* Prints what passes did from the last call up to event `seen`, but for what the watcher's own pass
 * did. The first call prints nothing. */
static void others_print(struct others *o, struct store *store, int64_t seen)
{
	struct event_query query = {
		.after = o->told, .last = seen, .since_wall_s = NAN, .newest = -1,
	};
	struct event_list list;
	struct err ignored;

	if (o->began && store->db && seen > o->told &&
	    store_events_select(store, &query, &list, &ignored) == 0) {
		for (int i = 0; i < list.count; i++)
			print_event(o, &list.items[i]);
		event_list_release(&list);
	}
	o->began = true;
	o->told = seen;
}

/* --- pollux schedule: one pass, or one every few seconds --- */

struct schedule_options {
	bool dry_run, verbose;
	double watch_s, slice_s;
	int64_t slots;
	const char *policy;
	bool is_later;		/* started by another command or by a supervisor */
	bool is_regular;	/* started by a timer, neither by a person nor by another command */
};

static const struct option_spec options[] = {
#define O(field) .offset = offsetof(struct schedule_options, field)
	{ "dry-run", 'n', OPTION_FLAG, NULL, O(dry_run), 0, 0,
	  "print what would be done, do nothing" },
	{ "verbose", 'v', OPTION_FLAG, NULL, O(verbose), 0, 0, "print what is done" },
	{ "watch", 'w', OPTION_DURATION, "SECONDS", O(watch_s), 0.1, 86400,
	  "a pass every so often, and when something changes, until interrupted" },
	{ "slots", 's', OPTION_INT, "N", O(slots), 1, CONFIG_MAX_SLOTS,
	  "divide the processor into N slots; default as configured" },
	{ "slice", 0, OPTION_DURATION, "TIME", O(slice_s), 0.1, 1e7,
	  "a job keeps its devices at least this long; default as configured" },
	{ "policy", 'p', OPTION_TEXT, "NAME", O(policy), 0, 0,
	  "one of" POLICY_LIVE_NAMES "; default as configured" },
	{ .name = NULL },
};

/* Removes what ended jobs left and nobody needs any more. */
static int clean_up(const struct schedule_options *o, const struct paths *paths,
		    const struct config *config, struct err *err)
{
	struct prune_result pruned;
	struct store store;
	struct forgotten_values n = { 0 };
	int rc;

	if (o->dry_run || access(paths->store, F_OK))
		return 0;
	if (store_open(&store, paths, STORE_WRITE, err))
		return -1;
	rc = on_end_start(&store, config, err);
	if (rc == 0 && !isnan(config->prune_after_s)) {
		rc = prune_daily(&store, paths, config->prune_after_s, clock_wall_s(), &pruned,
				 err);
		if (rc == 0 && pruned.was_time && o->verbose)
			prune_print_total(&pruned, false, stdout);
		prune_result_release(&pruned);
	}
	if (rc == 0)
		rc = environments_forget(&store, config->keep_environment == KEEP_ALL,
					 clock_wall_s(), &n, err);
	if (rc == 0 && n.with_secrets && o->verbose)
		printf("forgot the credentials in %d environment%s of ended jobs\n",
		       n.with_secrets, plural(n.with_secrets));
	if (rc == 0 && n.whole && o->verbose)
		printf("forgot the values of %d environment%s of ended jobs\n", n.whole,
		       plural(n.whole));
	store_close(&store);
	return rc;
}

/* actions: NULL; or receives what the pass did. */
static int one_pass(const struct schedule_options *o, const struct paths *paths,
		    const struct config *config, struct strings *actions, struct err *err)
{
	struct pass_result result;
	double next_s;
	bool busy;
	int rc;

	if (o->is_regular && !o->dry_run)
		regular_pass_note(paths);
	rc = pass_run(paths, config, verdict_words, o->dry_run ? PASS_DRY_RUN : PASS_ACT,
		      &result, err);

	if (rc == 0 && (o->dry_run || o->verbose))
		for (size_t i = 0; i < result.actions.count; i++)
			output_sayf(stdout, "%s", result.actions.items[i]);
	if (rc == 0 && o->verbose && result.busy && isnan(o->watch_s))
		puts("another pass is at work");
	/* A store that is locked just now is cleaned up another time. */
	if (rc == 0 && !result.busy && clean_up(o, paths, config, err) &&
	    err->exit_status != EX_TEMPFAIL)
		rc = -1;
	if (actions)
		strings_release(actions);
	for (size_t i = 0; actions && i < result.actions.count; i++)
		strings_add(actions, result.actions.items[i]);
	next_s = result.next_s;
	busy = result.busy;
	pass_result_release(&result);
	if (rc == 0 && !busy && o->is_later && config->submit_pass)
		next_pass_await(paths, next_s);
	return rc ? rc : output_flush(err);
}

/* The last thing that happened to a job; 0 while there is no store. */
static int64_t last_event(struct store *store, const struct paths *paths)
{
	struct err ignored;
	int64_t id = 0;

	if (!store->db && access(paths->store, F_OK) == 0)
		store_open(store, paths, STORE_READ, &ignored);
	if (store->db)
		store_last_event(store, &id, &ignored);
	return id;
}

static int watch_store(const struct schedule_options *o, const struct paths *paths,
		       struct config *config, struct err *err)
{
	const struct timespec pause = { .tv_nsec = 100000000 };
	char wrong[sizeof(err->text)] = "";
	struct store store = { 0 };
	struct others others = { 0 };
	struct config fresh;
	struct err bad;
	bool told = false;
	int rc = 0;

	interruptions_catch();
	while (rc == 0 && !interrupted) {
		/* Read before the pass, so that no event during the pass is missed. */
		int64_t seen = last_event(&store, paths);
		double end_s;
		bool may_pass;

		if (o->verbose)
			others_print(&others, &store, seen);
		rc = one_pass(o, paths, config, &others.own, err);
		/* An error that may pass, such as a locked store or a full disk, is told once, and
		 * the next pass tries again. */
		may_pass = rc && err->text[0] && (err->exit_status == EX_TEMPFAIL ||
						  err->exit_status == EX_IOERR);
		if (may_pass && !told)
			output_sayf(stderr, "pollux: %s", err->text);
		told = may_pass;
		if (rc && !may_pass)
			break;
		rc = 0;
		/* to the next pass, or until something happens to a job: one is submitted, ends, is
		 * cancelled */
		end_s = clock_boot_s() + o->watch_s;
		do
			nanosleep(&pause, NULL);
		while (!interrupted && clock_boot_s() < end_s &&
		       last_event(&store, paths) == seen);
		/* The configuration may have changed, as for each pass of cron. An error is told
		 * once, and the last good settings stay. */
		if (config_load(&fresh, paths->config, &bad) == 0) {
			*config = fresh;
			wrong[0] = '\0';
		} else if (strcmp(wrong, bad.text) != 0) {
			output_sayf(stderr, "pollux: %s; the settings stay as they were", bad.text);
			snprintf(wrong, sizeof(wrong), "%s", bad.text);
		}
	}
	strings_release(&others.own);
	store_close(&store);
	return rc;
}

/* Sets the settings of this command in the environment, so that passes which supervisors start when
 * jobs end have them, too. */
static void set_overrides(const struct schedule_options *o)
{
	char text[32];

	if (o->slots) {
		snprintf(text, sizeof(text), "%lld", (long long)o->slots);
		setenv("POLLUX_SLOTS", text, 1);
	}
	if (!isnan(o->slice_s)) {
		snprintf(text, sizeof(text), "%.17g", o->slice_s);
		setenv("POLLUX_SLICE", text, 1);
	}
	if (o->policy)
		setenv("POLLUX_POLICY", o->policy, 1);
}

static int schedule(const struct schedule_options *o, struct err *err)
{
	struct config config;
	struct paths paths;
	struct err why;
	int rc;

	/* Supervisors started here would be among the job's processes, and end with it. */
	if (getenv("POLLUX_REPORT_SOCKET") && !o->dry_run)
		return err_set(err, EX_UNAVAILABLE, "a pass cannot be run from within a job");
	if (o->policy && !policy_find_live(o->policy, &why))
		return usage_error(&cmd_schedule, err, "%s", why.text);
	/* by which supervisors are started and processes of jobs are found */
	if (access("/proc/self/exe", X_OK))
		return err_set(err, EX_OSFILE, "cannot use '/proc/self/exe': %s; pollux needs "
			       "/proc", strerror(errno));
	set_overrides(o);
	if (paths_init(&paths, err))
		return -1;
	if (!o->dry_run && paths_check_owner(&paths, err)) {
		paths_release(&paths);
		return -1;
	}
	rc = config_load(&config, paths.config, err);
	/* cron mails what its passes print, each minute. */
	if (rc == 0 && (o->slots || isatty(STDERR_FILENO)))
		warn_of_slots(config.slots);
	if (rc == 0)
		rc = isnan(o->watch_s) ? one_pass(o, &paths, &config, NULL, err)
				       : watch_store(o, &paths, &config, err);
	if (rc && o->is_later)
		failed_pass_note(&paths, err->text);
	else if (rc == 0 && !o->dry_run)
		failed_pass_forget(&paths);
	paths_release(&paths);
	return rc;
}

static int main_schedule(int argc, char **argv, struct err *err)
{
	struct schedule_options o = { .watch_s = NAN, .slice_s = NAN };
	int first;

	if (options_parse(&cmd_schedule, argc, argv, &o, &first, err))
		return -1;
	if (first < argc)
		return usage_error(&cmd_schedule, err, "schedule takes no argument, not '%.60s'",
				   argv[first]);
	o.is_later = getenv(LATER_PASS);
	o.is_regular = !o.is_later && (!isnan(o.watch_s) || !isatty(STDIN_FILENO));
	unsetenv(LATER_PASS);
	return schedule(&o, err);
}

const struct command cmd_schedule = {
	.name = "schedule", .synopsis = "[--dry-run] [--watch SECONDS] [OPTION]...",
	.summary = "one scheduling pass: start, stop and requeue jobs as is best now",
	.example = "pollux schedule                # what cron runs each minute\n"
		   "pollux schedule --dry-run      # what would it do?\n"
		   "pollux schedule --watch 10 -v  # in the foreground",
	.options = options, .run = main_schedule,
};
