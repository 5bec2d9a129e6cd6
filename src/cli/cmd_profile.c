/* cmd_profile.c - pollux profile: of devices, of a command, of a command on each kind of device. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "pollux/engine.h"
#include "pollux/pass.h"
#include "pollux/profile.h"
#include "pollux/step_stats.h"
#include "pollux/template.h"
#include "pollux/view.h"

struct profile_options {
	bool json, all_kinds;
	const char *plot, *color;
	struct asked asked;
	double budget_s;
	int64_t points, slots;		/* 0: by the budget; as configured */
	bool devices, quick;
	const char *device;		/* NULL: all that can be used */
};

static volatile sig_atomic_t interruptions, last_signal;
static void count_signal(int signal_number)
{
	interruptions = interruptions + 1;
	last_signal = signal_number;
}

static int count_interruptions(void)
{
	return interruptions;
}

/* --- progress, on a terminal --- */

/* Shows the progress. In a pipe only the stop of the profile is told, because the person who
 * stopped it may have to wait for a minute. */
static void show_progress(const struct profile_progress *p, void *arg)
{
	static bool stop_was_said;
	const struct configuration *c = &p->choice->configuration;
	double step_s = p->observation->step_time_s, half = steady_half_width(p->observation);
	bool stops = p->interrupted && isfinite(p->stops_in_s);
	struct text t = TEXT_INIT;

	(void)arg;
	if (stops) {
		text_addf(&t, "stopping (up to %s); once more leaves that to pollux",
			  format_duration(fmax(p->stops_in_s, 0)).s);
	} else {
		text_addf(&t, "point %d: %d device%s", p->n_points + 1, c->replicas,
			  plural(c->replicas));
		if (configuration_batch_size(c) > 0)
			text_addf(&t, ", batch %lld", (long long)configuration_batch_size(c));
		text_addf(&t, ": %s", isfinite(p->stops_in_s) ? "stops" : !p->launched ? "starts"
			  : step_s > 0 ? format_span(step_s).s : "warms up");
		if (!isfinite(p->stops_in_s) && p->launched && step_s > 0 && isfinite(half))
			text_addf(&t, " +- %.1f %%", 100 * half);
		text_addf(&t, "; %s left", format_duration(fmax(p->left_s, 0)).s);
	}
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K%.*s", terminal_width(stderr) - 1, t.data);
	else if (stops && !stop_was_said)
		output_message(t.data);
	stop_was_said = stops;
	fflush(stderr);
	text_release(&t);
}

/* Opens the store to write, and reads the settings, with the slots that the options say. */
static int profile_open(const struct profile_options *o, struct session *s, struct config *config,
			struct err *err)
{
	if (session_open(s, STORE_WRITE, err))
		return -1;
	if (session_settings(s, config, err)) {
		session_close(s);
		return -1;
	}
	if (o->slots > 0)
		config->slots = (int)o->slots;
	return 0;
}

static int show_report(struct session *s, int64_t job_id, const struct profile_options *o,
		       struct err *err)
{
	struct output out = output_stdout(o->color);
	struct profile_report report;
	int rc = 0;

	if (profile_report_read(s, job_id, &report, err))
		return -1;
	if (o->json)
		profile_report_print_json(&report, stdout);
	else
		profile_report_print(&report, &out);
	if (o->plot)
		rc = explanation_draw(&report.e, o->plot, err);
	profile_report_release(&report);
	return rc;
}

/* Starts a pass for jobs that wait for the devices, as supervisors do at the end of a run. Does
 * nothing on a machine that has never had a pass. */
static void run_pass(struct session *s)
{
	struct pass_result result;
	struct config config;
	struct err ignored;

	if (access(s->paths.schedule_lock, F_OK) || session_settings(s, &config, &ignored))
		return;
	pass_run(&s->paths, &config, verdict_words, PASS_ACT, &result, &ignored);
	pass_result_release(&result);
}

/* Says which templates are missing, and which sizes cannot be tried, because of what was declared:
 * pollux cannot see what the program takes from the environment, and if it takes no sizes from
 * there, all points have one size. */
static void note_templates(const struct declaration *d, const struct strings *argv)
{
	if (!template_mentions(argv, "checkpoint"))
		output_message("note: its command has no {checkpoint}: unless it heeds "
			       "POLLUX_CHECKPOINT_DIR, it writes checkpoints where it always does");
	if (d->batch.size == 0)
		output_message("note: without --batch it is measured at its own size only, and no "
			       "model comes of it");
	else if (d->max_replicas == 1 && d->batch.max == 0 && !d->batch.accumulates)
		output_message("note: without --batch-range, --replicas, {gpus} or {accum} it is "
			       "measured at its own size only");
	if (d->batch.max > 0 && !template_mentions(argv, "batch") &&
	    !template_mentions(argv, "local_batch"))
		output_message("note: its command has no {batch} or {local_batch}: unless it heeds "
			       "POLLUX_BATCH or POLLUX_LOCAL_BATCH, it does the same at every "
			       "size");
	if (d->max_replicas != 1 && !template_mentions(argv, "gpus") &&
	    !template_mentions(argv, "replicas"))
		output_message("note: its command has no {gpus}: unless it heeds POLLUX_REPLICAS, "
			       "it does the same on any number of devices");
}

/* Returns 0; -1; or the status of a program that the signal ended, with the result so far. */
static int profile(const struct profile_options *o, struct session *s, const struct config *config,
		   struct job *job, const struct job_command *command, struct err *err)
{
	struct profile_settings settings = {
		.budget_s = o->budget_s, .max_points = (int)o->points,
		.parameters = o->asked.parameters, .config = *config, .paths = &s->paths,
		.interrupted = count_interruptions, .progress = show_progress,
	};
	struct sigaction action = { .sa_handler = count_signal }, hangup;
	struct profile_end end;
	int rc;

	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, NULL, &hangup);
	if (hangup.sa_handler != SIG_IGN)	/* as it is under nohup(1) */
		sigaction(SIGHUP, &action, NULL);
	rc = profile_run(&s->store, job, command, &settings, &end, err);
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	if (rc) {
		if (job->id)
			run_pass(s);
		return rc;
	}
	rc = show_report(s, job->id, o, err);
	run_pass(s);
	if (end.abandoned)
		output_messagef("the command still runs: its supervisor stops it, in %s at the "
				"latest, and ends job %lld",
				format_duration(job->declared.grace_s +
						engine_for_new_runs()->kill_wait_s).s,
				(long long)job->id);
	if (rc == 0 && last_signal)
		return 128 + last_signal;
	if (rc == 0 && end.cancelled)
		return err_set(err, EX_FAILED, "job %lld was cancelled", (long long)job->id);
	return rc;
}

/* Profiles the command as it would be submitted, except that its checkpoints are the profile's own,
 * on the kinds that the pattern matches; NULL: as --kind says. notes: first says what the command
 * lacks. Sets *job_id to the job of the profile; 0: none was added. Returns the exit status, or -1
 * with *err as main.c wants it. */
static int profile_on_kind(const struct profile_options *o, char **argv, char *kind, bool notes,
			   int64_t *job_id, struct err *err)
{
	struct asked asked = o->asked, defaults;
	struct job_command command = { 0 };
	struct config config;
	struct session s;
	struct job job;
	int rc;

	if (getenv("POLLUX_REPORT_SOCKET"))
		return err_set(err, EX_UNAVAILABLE, "a profile cannot be made from within a job");
	if (asked.declared.min_replicas < 1)
		return usage_error(&cmd_profile, err, "option '--replicas': a profile measures "
				   "devices, one at least");
	/* When a job is scheduled and how long it goes on does not matter here. */
	asked_init(&defaults);
	asked.checkpoint_dir = NULL;
	asked.hold = false;
	asked.declared.retries = defaults.declared.retries;
	asked.declared.weight = defaults.declared.weight;
	asked.declared.time_limit_s = defaults.declared.time_limit_s;
	if (kind)
		asked.declared.kind = kind;
	job_init(&job);
	rc = submission_command(&cmd_profile, &asked, argv, &command, err) ||
	     submission_job(&cmd_profile, &asked, &command, &job, err) ||
	     profile_open(o, &s, &config, err) ? -1 : 0;
	if (rc == 0) {
		/* A total is the work of one run, not of all points together. */
		job.declared.total_samples = (double)NAN;
		if (notes) {
			submit_tell_secrets(&s, &command);
			submit_tell_braces(&asked, &job, &command, NULL, false);
			note_templates(&job.declared, &command.argv);
		}
		if (notes && o->asked.checkpoint_dir)
			output_messagef("note: {checkpoint} and POLLUX_CHECKPOINT_DIR are a "
					"directory in '%s', removed after each point, instead of "
					"--checkpoint-dir", s.paths.dir);
		rc = profile(o, &s, &config, &job, &command, err);
		session_close(&s);
	}
	*job_id = job.id;
	job_command_release(&command);
	job_release(&job);
	return rc;
}

static void say_measuring(const struct device *device, bool exchanges)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "pollux: measuring %s%s ...\n", exchanges ? "exchanges from " : "",
			device->id);
}

/* --- pollux profile --all-kinds: the command on each kind of device in turn --- */

/* Finds the kinds of the usable devices that --kind and --not-kind allow, each once. Slots whose
 * sizes were not asked for count as one kind, so that no kind is named. */
static int read_kinds(const struct profile_options *o, struct strings *names, struct err *err)
{
	struct device_list list;
	struct config config;
	struct session s;
	int rc;

	if (profile_open(o, &s, &config, err))
		return -1;
	rc = engine_devices(&config, false, &list, err);
	for (int i = 0; rc == 0 && i < list.count; i++) {
		const struct device *d = &list.items[i];
		bool is_new = d->usable && declaration_wants_kind(&o->asked.declared, d->kind);

		if (strncmp(d->id, "cpu:", 4) == 0 && config.slots < DEVICE_SLOTS_OF_TWO_SIZES)
			continue;
		for (size_t k = 0; is_new && k < names->count; k++)
			is_new = strcmp(names->items[k], d->kind) != 0;
		if (is_new)
			strings_add(names, d->kind);
	}
	if (rc == 0)
		devices_release(&list);
	session_close(&s);
	return rc;
}

static int show_kinds(const struct profile_options *o, int64_t job_id, struct err *err)
{
	struct output out = output_stdout(o->color);
	struct profile_report report;
	struct session s;
	int rc;

	if (session_open(&s, STORE_READ, err))
		return -1;
	rc = profile_report_read(&s, job_id, &report, err);
	session_close(&s);
	if (rc)
		return -1;
	explanation_print_kinds(&report.e, &out);
	profile_report_release(&report);
	return 0;
}

/* Profiles the command on each kind of device in turn, and prints a table by kind. */
static int profile_each_kind(const struct profile_options *o, char **argv, struct err *err)
{
	struct strings names = { 0 };
	struct err failure = { 0 };
	int64_t job_id = 0, id;
	int rc = read_kinds(o, &names, err);
	bool one = names.count < 2;

	if (rc == 0 && one)
		rc = profile_on_kind(o, argv, NULL, true, &id, err);
	/* A kind on which the command fails does not keep the others from being measured. A status
	 * above 0 is that of a signal, which ends everything. */
	for (size_t i = 0; !one && i < names.count && rc <= 0; i++) {
		const char *name = names.items[i];
		struct text pattern = TEXT_INIT;

		/* a pattern of --kind, in which '|' cannot be quoted: '?' stands for it */
		for (const char *c = name; *c; c++)
			text_addf(&pattern, "%s%c", strchr("*?[\\", *c) ? "\\" : "",
				  *c == '|' ? '?' : *c);
		printf("%s%s\n\n", job_id ? "\n" : "", name);
		fflush(stdout);
		rc = profile_on_kind(o, argv, pattern.data, i == 0, &id, &failure);
		text_release(&pattern);
		if (rc < 0)
			output_messagef("not measured on %s: %s", name, failure.text);
		else
			job_id = id;
	}
	strings_release(&names);
	if (one || rc > 0)
		return rc;
	*err = failure;
	return job_id ? show_kinds(o, job_id, err) : -1;
}

/* --- the command line --- */

static const struct option_spec options[] = {
#define O(field) .offset = offsetof(struct profile_options, field)
	{ "budget", 't', OPTION_DURATION, "TIME", O(budget_s), 1, 1e7,
	  "for all of it, launches too; default 60s" },
	{ "points", 0, OPTION_INT, "N", O(points), 1, 1000,
	  "try at most so many sizes; default as many as the budget lasts for" },
	{ "slots", 's', OPTION_INT, "N", O(slots), 1, CONFIG_MAX_SLOTS,
	  "divide the processor into N slots; default as configured" },
	{ "all-kinds", 0, OPTION_FLAG, NULL, O(all_kinds), 0, 0,
	  "measure on each kind of device in turn, with the budget on each" },
	{ .name = "declared", .type = OPTION_DECLARED, O(asked), .uses = FOR_PROFILE },
	{ "json", 'j', OPTION_FLAG, NULL, O(json), 0, 0, "print JSON" },
	{ "plot", 'p', OPTION_PICTURE, "FILE", O(plot), 0, 0,
	  "also draw goodput against devices and batch size, by gnuplot: FILE.svg or FILE.png" },
	OPTION_COLOR(O(color)),
	{ "devices", 0, OPTION_FLAG, NULL, O(devices), 0, 0,
	  "measure the devices themselves: products, copies, exchanges" },
	{ "device", 0, OPTION_TEXT, "ID", O(device), 0, 0,
	  "this one only; default one of each kind, and exchanges between all" },
	{ "quick", 0, OPTION_FLAG, NULL, O(quick), 0, 0, "fewer sizes, and less time for each" },
	/* The options of submit can be given unchanged; the manual names those without effect. */
	{ .name = "ignored", .type = OPTION_DECLARED, O(asked), .uses = IGNORED_BY_PROFILE },
	{ .name = NULL },
};

/* The options of each of the three things that the command does. A program is measured with all
 * options but those of devices. */
static const char *const of_devices[] = {
	"devices", "device", "quick", "slots", "json", "color", NULL
};
static const char *const of_profiles[] = { "json", "plot", "color", NULL };

static int check_profile_options(int argc, char **argv, struct err *err)
{
	const char *other = options_given_but(&cmd_profile, argc, argv, of_profiles);

	if (other)
		return usage_error(&cmd_profile, err, "the number of a profile takes no --%s",
				   other);
	return 0;
}

/* "profile 5 --json": the number of a profile stands where a command would, and ends no options. */
static int show_profile(struct profile_options *o, int argc, char **argv, struct err *err)
{
	struct session s;
	long long id;
	int first, rc;

	if (options_parse(&cmd_profile, argc, argv, o, &first, err))
		return -1;
	if (first < argc)
		return usage_error(&cmd_profile, err,
				   "profile takes one job or a command, not '%.60s' too",
				   argv[first]);
	if (check_profile_options(argc, argv, err) ||
	    parse_job_id(&cmd_profile, argv[0], &id, err) || session_open(&s, STORE_READ, err))
		return -1;
	rc = show_report(&s, id, o, err);
	session_close(&s);
	return rc;
}

static int profile_devices(const struct profile_options *o, int argc, char **argv, int first,
			   struct err *err)
{
	struct output out = output_stdout(o->color);
	struct session session;
	struct config config;
	struct profile_kinds_settings settings = {
		.session = &session, .config = &config, .quick = o->quick, .device = o->device,
		.progress = say_measuring,
	};
	const char *other = options_given_but(&cmd_profile, first, argv, of_devices);
	struct devices_profile found;
	int rc;

	if (first < argc)
		return usage_error(&cmd_profile, err,
				   "profile --devices takes no argument, not '%.60s'", argv[first]);
	if (other)
		return usage_error(&cmd_profile, err, "profile --devices takes no --%s", other);
	if (profile_open(o, &session, &config, err))
		return -1;
	rc = profile_kinds(&settings, &found, err);
	if (rc == 0 && o->json)
		devices_profile_print_json(&found, stdout);
	else if (rc == 0)
		devices_profile_print(&found, &out);
	devices_profile_release(&found);
	session_close(&session);
	return rc;
}

/* argv[first] is the first operand; what is before it are options. */
static int dispatch(struct profile_options *o, int argc, char **argv, int first, struct err *err)
{
	int64_t job_id;

	if (o->devices)
		return profile_devices(o, argc, argv, first, err);
	if (first < argc && *argv[first] && !argv[first][strspn(argv[first], "0123456789")])
		return check_profile_options(first, argv, err) ? -1
			: show_profile(o, argc - first, argv + first, err);
	if (o->device || o->quick)
		return usage_error(&cmd_profile, err, "option '--%s' needs --devices",
				   o->device ? "device" : "quick");
	if (first == argc)
		return usage_error(&cmd_profile, err,
				   "what is to be measured? give a command, or --devices");
	if (o->all_kinds && (o->json || o->plot))
		return usage_error(&cmd_profile, err, "--all-kinds makes several profiles: '--%s' "
				   "goes with 'pollux profile ID'", o->json ? "json" : "plot");
	if (o->plot && !o->asked.declared.batch.size)
		return usage_error(&cmd_profile, err,
				   "option '--plot' needs --batch: without it no model comes of a "
				   "profile");
	/* now, since the picture is drawn only minutes later */
	if (o->plot && picture_check(o->plot, err))
		return -1;
	return o->all_kinds ? profile_each_kind(o, argv + first, err)
			    : profile_on_kind(o, argv + first, NULL, true, &job_id, err);
}

static int main_profile(int argc, char **argv, struct err *err)
{
	struct profile_options o = {
		.color = "auto", .budget_s = PROFILE_BUDGET_S,
	};
	int first, rc;

	asked_init(&o.asked);
	rc = options_parse(&cmd_profile, argc, argv, &o, &first, err);
	if (rc == 0)
		rc = dispatch(&o, argc, argv, first, err);
	options_release(&cmd_profile, &o);
	return rc;
}

static const char *const headings[] = {
	"budget", "how it is measured",
	"name", "what it is",
	"batch", "batch size and learning rate",
	"replicas", "devices",
	"steps", "how it is started and followed",
	"json", "what is shown",
	"devices", "what devices can do",
	"tier", "options of submit that change nothing here",
	NULL,
};

const struct command cmd_profile = {
	.name = "profile", .synopsis = "[OPTION]... [--] COMMAND [ARGUMENT]... | ID | --devices",
	.summary = "measure a command at several sizes, or what devices can do",
	.example = "pollux profile -b 128 --batch-range 128:4096 -- ./train --batch={batch}\n"
		   "pollux profile 5 --plot goodput.svg    # what profile 5 found out\n"
		   "pollux profile --devices --quick --json",
	.common = "budget points all-kinds batch batch-range max-local-batch replicas kind plan "
		  "env json plot devices quick",
	.headings = headings,
	.options = options, .runs_program = true, .run = main_profile,
};
