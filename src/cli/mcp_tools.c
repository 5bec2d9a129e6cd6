/* mcp_tools.c - the tools of 'pollux mcp': what each runs, and what it answers. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands.h"
#include "mcp.h"
#include "pollux/clock.h"
#include "pollux/mem.h"
#include "pollux/proc.h"

#define CALL_S 60.0	/* for a command; one that waits for the store's lock gives up sooner */
#define WAIT_MOST_S 50.0	/* clients give up after a minute */

/* --- a command of this program, in a process of its own --- */

struct said {
	int status;		/* exit status; -1: it did not end in time, or by a signal */
	struct text out, complaint;
};

static void said_release(struct said *s)
{
	text_release(&s->out);
	text_release(&s->complaint);
}

/* yields: ends as if its time were over when there is another message to read. */
static void run_command(const struct strings *argv, double at_most_s, bool yields, struct said *s)
{
	struct question q;
	struct err err;
	int status;

	*s = (struct said){ .status = -1, .out = TEXT_INIT, .complaint = TEXT_INIT };
	q = (struct question){
		.argv = argv->items, .env = environ, .answer = &s->out, .complaint = TEXT_INIT,
		.until_boot_s = clock_boot_s() + at_most_s, .yields = yields,
	};
	status = question_ask(&q, &err);
	if (status >= 0 && WIFEXITED(status))
		s->status = WEXITSTATUS(status);
	s->complaint = q.complaint;
	if (s->status < 0)
		text_addf(&s->complaint, "%s\n", status < 0 ? err.text : "it was killed");
}

/* --- results --- */

static struct json_tree *result_of_text(const char *text, bool is_error)
{
	struct json_tree *result = json_object_new_object(), *item = json_object_new_object();
	struct json_tree *content = json_object_new_array();

	mcp_set_text(item, "type", "text");
	mcp_set_text(item, "text", text);
	json_object_array_add(content, item);
	mcp_set(result, "content", content);
	mcp_set(result, "isError", json_object_new_boolean(is_error));
	return result;
}

/* Takes the object. */
static struct json_tree *result_of(const struct mcp_tool *tool, struct json_tree *object)
{
	char *text = mcp_shorten(object, tool->less);
	struct json_tree *result = result_of_text(text, false);

	free(text);
	json_object_put(object);
	return result;
}

/* What to do next, by the exit status. */
static struct json_tree *error_of(const struct mcp_tool *tool, int status, const char *complaint)
{
	struct text t = TEXT_INIT;
	struct json_tree *result;

	text_add(&t, *complaint ? complaint : "the command failed and said nothing\n");
	if (status == EX_USAGE || strstr(complaint, "--"))
		text_add(&t, "Options are arguments of this tool: --dry-run is \"dry_run\": "
			 "true.\n");
	if (status == EX_NOINPUT && tool->operands != MCP_COMMAND)
		text_add(&t, "Call status to see which jobs there are.\n");
	else if (status == EX_TEMPFAIL || status < 0)
		text_add(&t, "Call status to see how the jobs are now, and try again.\n");
	else if (status == EX_FAILED)
		text_add(&t, "Call status to see how the jobs are now.\n");
	result = result_of_text(t.data, true);
	text_release(&t);
	return result;
}

static struct json_tree *error_of_arguments(const struct text *wrong)
{
	struct text t = TEXT_INIT;
	struct json_tree *result;

	text_addf(&t, "%s; tools/list has what it takes", wrong->data);
	result = result_of_text(t.data, true);
	text_release(&t);
	return result;
}

/* --- jobs --- */

/* Of jobs without details, or of all, keeps what tells one from the other and where they stand. */
static void keep_what_lists_need(struct json_tree *object, bool always)
{
	static const char *const keys[] = {
		"id", "name", "state", "reason", "group_id", "parameters", "devices", "batch_size",
		"steps", "epoch", "loss", "done_ratio", "eta_s", "likely_start_time_s",
		"likely_end_time_s", "submit_time_s", "end_time_s", "run_time_s", "exit_code",
		"term_signal", "failures", "stuck", "gpu_remark", "status_text", NULL,
	};
	struct json_tree *jobs = mcp_get(object, "jobs");

	for (size_t i = 0; i < mcp_length(jobs); i++) {
		struct json_tree *job = json_object_array_get_idx(jobs, i);
		struct json_tree *kept = json_object_new_object();

		for (size_t k = 0; keys[k]; k++)
			mcp_set(kept, keys[k], json_object_get(mcp_get(job, keys[k])));
		if (mcp_get(job, "state") && (always || !mcp_get(job, "details")))
			json_object_array_put_idx(jobs, i, kept);
		else
			json_object_put(kept);
	}
}

/* The JSON that a command prints, an object; NULL: *error is the result. */
static struct json_tree *object_of(const struct mcp_tool *tool, const struct strings *argv,
				   struct json_tree **error)
{
	struct json_tree *object;
	const char *why;
	struct said s;

	run_command(argv, CALL_S, false, &s);
	object = s.status == 0 ? mcp_parse(s.out.data, s.out.length, &why) : NULL;
	if (!object)
		*error = error_of(tool, s.status, s.complaint.data);
	said_release(&s);
	return object;
}

/* The status of these jobs, or of the operand in their place, in short. */
static struct json_tree *status_of(const struct mcp_tool *tool, struct json_tree *arguments,
				   const char *operand, struct json_tree **error)
{
	struct strings argv = { 0 };
	struct text ignored = TEXT_INIT;
	struct json_tree *object;

	strings_add(&argv, "/proc/self/exe");
	strings_add(&argv, "status");
	strings_add(&argv, "--json");
	if (operand) {
		strings_add(&argv, "--");
		strings_add(&argv, operand);
	} else {
		mcp_add_jobs(arguments, &argv, &ignored);
	}
	object = object_of(tool, &argv, error);
	if (object)
		keep_what_lists_need(object, true);
	strings_release(&argv);
	text_release(&ignored);
	return object;
}

static void add_notes(struct json_tree *object, const struct said *s)
{
	if (s->complaint.length)
		mcp_set(object, "notes", mcp_text(s->complaint.data, s->complaint.length));
}

static char *first_line(const struct text *t)
{
	return xasprintf("%.*s", (int)strcspn(t->data, "\n"), t->data);
}

/* --- what the tools answer --- */

static struct json_tree *answer_json(const struct mcp_tool *tool, struct json_tree *arguments,
				     const struct strings *argv)
{
	struct json_tree *error = NULL, *object = object_of(tool, argv, &error);

	(void)arguments;
	if (!object)
		return error;
	keep_what_lists_need(object, false);
	return result_of(tool, object);
}

static struct json_tree *answer_log(const struct mcp_tool *tool, struct json_tree *arguments,
				    const struct strings *argv)
{
	struct json_tree *object = json_object_new_object();
	struct said s;

	(void)arguments;
	run_command(argv, CALL_S, false, &s);
	if (s.status) {
		json_object_put(object);
		object = error_of(tool, s.status, s.complaint.data);
	} else {
		mcp_set(object, "log", mcp_text(s.out.data, s.out.length));
		add_notes(object, &s);
		object = result_of(tool, object);
	}
	said_release(&s);
	return object;
}

/* Runs a command that changes jobs, and tells how they are then. A submission prints the job or
 * the group that it made, a dry run what it would do. */
static struct json_tree *answer_change(const struct mcp_tool *tool, struct json_tree *arguments,
				       const struct strings *argv)
{
	bool is_dry = json_object_get_boolean(mcp_get(arguments, "dry_run"));
	struct json_tree *object = NULL, *error = NULL;
	struct said s;

	run_command(argv, CALL_S, false, &s);
	if (s.status) {
		error = error_of(tool, s.status, s.complaint.data);
	} else if (is_dry) {
		object = json_object_new_object();
		mcp_set(object, "would_do", mcp_text(s.out.data, s.out.length));
	} else {
		char *made = first_line(&s.out);

		object = status_of(tool, arguments, *made ? made : NULL, &error);
		if (object && *made)
			mcp_set_text(object, "submitted", made);
		free(made);
	}
	if (object)
		add_notes(object, &s);
	said_release(&s);
	return object ? result_of(tool, object) : error;
}

/* status: that of wait, for which a job that is paused for good has ended, too. */
static bool all_have_ended(struct json_tree *object, int status)
{
	static const char *const states[] = {
		"done", "failed", "cancelled", "timeout", "paused", NULL,
	};
	struct json_tree *jobs = mcp_get(object, "jobs");

	for (size_t i = 0; i < mcp_length(jobs); i++) {
		const char *state = mcp_string(mcp_get(json_object_array_get_idx(jobs, i),
						       "state"));

		if (!state || !text_is_among(state, states) ||
		    (!strcmp(state, "paused") && (status < 0 || status == EX_TEMPFAIL)))
			return false;
	}
	return true;
}

/* The jobs are asked how they ended: wait exits as a job did, with any status. Only pollux says
 * what is wrong with an option. */
static struct json_tree *answer_wait(const struct mcp_tool *tool, struct json_tree *arguments,
				     const struct strings *argv)
{
	struct json_tree *error = NULL, *object = NULL;
	struct said s;
	char *first;

	run_command(argv, mcp_line_waits() ? 0 : WAIT_MOST_S, true, &s);
	if (s.status == EX_USAGE && strstr(s.complaint.data, "option '--"))
		error = error_of(tool, s.status, s.complaint.data);
	else
		object = status_of(tool, arguments, NULL, &error);
	first = first_line(&s.out);
	if (object && *first)
		mcp_set_text(object, "first", first);
	free(first);
	if (object) {
		bool ended = all_have_ended(object, s.status);

		mcp_set(object, "all_ended", json_object_new_boolean(ended));
		if (!ended)
			mcp_set_text(object, "next", "call wait again, or do other things first");
	}
	said_release(&s);
	return object ? result_of(tool, object) : error;
}

/* --- the table --- */

static const struct mcp_tool tools[] = {
	{ .name = "submit", .title = "Submit a job",
	  .description = "Put a command into the queue; it starts when devices are free. Returns "
		"at once with the job's number. A sweep by param is a group of jobs. dry_run shows "
		"the commands as they would run, and submits nothing. Other options of 'pollux "
		"submit' are taken by their long names.",
	  .command = &cmd_submit, .operands = MCP_COMMAND, .any_option = true,
	  .offered = "name chdir batch batch-range replicas kind gpu-memory after begin hold "
		"time-limit retries checkpoint-dir resume-args env metric param max-running "
		"dry-run",
	  .less = "call status with single jobs of the group", .answer = answer_change },
	{ .name = "status", .title = "Jobs and their states",
	  .description = "What runs, what waits and why, when it likely starts and ends, what has "
		"ended. Without arguments: jobs that have not ended, and those of the last day. "
		"One job by its number: all that is known, with runs, metrics and events.",
	  .command = &cmd_status, .operands = MCP_JOBS, .always = "--json", .reads_only = true,
	  .offered = "all state name workload since",
	  .less = "give jobs, or narrow by state, name, workload or since",
	  .answer = answer_json },
	{ .name = "explain", .title = "Why a job has these devices",
	  .description = "What the scheduler knows of one job: its measured speed, expected speed "
		"on other numbers of devices and batch sizes, and why the last pass decided so.",
	  .command = &cmd_explain, .operands = MCP_THESE_JOBS, .always = "--json",
	  .reads_only = true, .offered = "",
	  .less = "status has the short form", .answer = answer_json },
	{ .name = "log", .title = "What a job printed",
	  .description = "The last lines of one job's output, without progress bars; default 40 "
		"lines.",
	  .command = &cmd_log, .operands = MCP_THESE_JOBS, .always = "--plain",
	  .reads_only = true, .offered = "lines", .bounded_by = "lines", .bound = "40",
	  .less = "ask for fewer lines; the path of the whole log is in status of the job",
	  .answer = answer_log },
	{ .name = "results", .title = "Metrics of jobs",
	  .description = "The parameters and metrics of jobs side by side, such as the runs of a "
		"sweep; with metric, the best first.",
	  .command = &cmd_results, .operands = MCP_JOBS, .always = "--json", .reads_only = true,
	  .offered = "metric state name workload since",
	  .less = "give one metric, which sorts the best first, or fewer jobs",
	  .answer = answer_json },
	{ .name = "wait", .title = "Wait for the end of jobs",
	  .description = "Wait until jobs have ended, or with any until the first has, and say how "
		"they are then; at most 30 s, or the given time up to 50 s: call again to wait "
		"longer. Ends early when another message comes.",
	  .command = &cmd_wait, .operands = MCP_THESE_JOBS, .reads_only = true,
	  .offered = "any timeout", .bounded_by = "timeout", .bound = "30",
	  .less = "give fewer jobs", .answer = answer_wait },
	{ .name = "cancel", .title = "Cancel jobs",
	  .description = "End jobs for good; running ones may save first. Several jobs by name or "
		"group need yes. dry_run shows which they are.",
	  .command = &cmd_cancel, .operands = MCP_THESE_JOBS, .destroys = true,
	  .offered = "force yes dry-run", .less = "give fewer jobs", .answer = answer_change },
	{ .name = "hold", .title = "Hold jobs",
	  .description = "Keep jobs from running until they are released; running ones save and "
		"stop, or are suspended. force stops those, too, that would lose work.",
	  .command = &cmd_hold, .operands = MCP_THESE_JOBS, .destroys = true,
	  .offered = "force yes dry-run", .less = "give fewer jobs", .answer = answer_change },
	{ .name = "release", .title = "Release held jobs",
	  .description = "Let held jobs wait for devices again.",
	  .command = &cmd_release, .operands = MCP_THESE_JOBS,
	  .offered = "yes dry-run", .less = "give fewer jobs", .answer = answer_change },
};
static const size_t n_tools = sizeof(tools) / sizeof(tools[0]);

static struct json_tree *describe(const struct mcp_tool *tool)
{
	struct json_tree *t = json_object_new_object(), *hints = json_object_new_object();

	mcp_set_text(t, "name", tool->name);
	mcp_set_text(t, "title", tool->title);
	mcp_set_text(t, "description", tool->description);
	mcp_set(t, "inputSchema", mcp_schema(tool));
	mcp_set_text(hints, "title", tool->title);
	mcp_set(hints, "readOnlyHint", json_object_new_boolean(tool->reads_only));
	if (!tool->reads_only)
		mcp_set(hints, "destructiveHint", json_object_new_boolean(tool->destroys));
	mcp_set(hints, "openWorldHint", json_object_new_boolean(false));
	mcp_set(t, "annotations", hints);
	return t;
}

struct json_tree *mcp_tools_list(void)
{
	struct json_tree *list = json_object_new_array();

	for (size_t i = 0; i < n_tools; i++)
		json_object_array_add(list, describe(&tools[i]));
	return list;
}

struct json_tree *mcp_tools_call(const char *name, struct json_tree *arguments)
{
	const struct mcp_tool *tool = NULL;
	struct strings argv = { 0 };
	struct text wrong = TEXT_INIT;
	struct json_tree *result;

	for (size_t i = 0; i < n_tools; i++)
		if (!strcmp(tools[i].name, name))
			tool = &tools[i];
	if (!tool)
		return NULL;
	if (tool->bounded_by && !mcp_get(arguments, tool->bounded_by))
		mcp_set(arguments, tool->bounded_by, json_object_new_string(tool->bound));
	result = mcp_command_line(tool, arguments, &argv, &wrong)
		? tool->answer(tool, arguments, &argv) : error_of_arguments(&wrong);
	strings_release(&argv);
	text_release(&wrong);
	return result;
}
