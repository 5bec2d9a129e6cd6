/* selection.c - from operands and options to jobs, by one table of forms. */
#include <stdlib.h>
#include <string.h>

#include "pollux/clock.h"
#include "pollux/command.h"
#include "pollux/mem.h"
#include "pollux/store_jobs.h"
#include "pollux/text.h"

const char *const state_choices[] = {
	"queued", "held", "running", "done", "failed", "cancelled", "timeout", "paused",
	"active", "ended", NULL,
};

/* --- the forms of an operand --- */

enum { NOT_THIS_FORM = 1 };

static int read_newest(const struct selecting *what, const char *text, struct job_query *q,
		       struct err *err)
{
	(void)what;
	(void)err;
	q->newest = true;
	return strcmp(text, "@") ? NOT_THIS_FORM : 0;
}

static int read_number(const struct selecting *what, const char *text, struct job_query *q,
		       struct err *err)
{
	long long id;

	if (*text && strspn(text + (*text == '-'), "0123456789") != strlen(text) - (*text == '-'))
		return NOT_THIS_FORM;
	if (parse_job_id(what->command, text, &id, err))
		return -1;
	q->first_id = q->last_id = id;
	return 0;
}

static int read_range(const struct selecting *what, const char *text, struct job_query *q,
		      struct err *err)
{
	size_t n = strspn(text, "0123456789");
	const char *last = text + n + 1;
	char *first;
	int rc;

	if (n == 0 || text[n] != '-' || !*last || last[strspn(last, "0123456789")])
		return NOT_THIS_FORM;
	first = strndup(text, n);
	rc = number_parse_int(first, &q->first_id) || number_parse_int(last, &q->last_id) ||
	     q->first_id < 1 || q->first_id > q->last_id;
	free(first);
	return rc ? usage_error(what->command, err, "'%.60s' is not a range of job numbers: "
				"smaller-larger", text) : 0;
}

static int read_group(const struct selecting *what, const char *text, struct job_query *q,
		      struct err *err)
{
	static const char prefix[] = "group:";
	const char *number = text + strlen(prefix);

	if (!text_starts_with(text, prefix))
		return NOT_THIS_FORM;
	if (number_parse_int(number, &q->group_id) || q->group_id < 1)
		return usage_error(what->command, err, "'%.60s' is not the number of a group",
				   number);
	return 0;
}

static int read_name(const struct selecting *what, const char *text, struct job_query *q,
		     struct err *err)
{
	(void)what;
	(void)err;
	q->called = text;
	return 0;
}

/* The first form that fits is that of the operand. */
static const struct form {
	/* 0, NOT_THIS_FORM, or -1 with EX_USAGE */
	int (*read)(const struct selecting *what, const char *text, struct job_query *q,
		    struct err *err);
	bool number;		/* the operand names one job, whatever its state */
	/* a person who types the operand knows which jobs it means, and how many */
	bool spelt_out;
} forms[] = {
	{ .read = read_newest, .number = true, .spelt_out = true },	/* @ */
	{ .read = read_number, .number = true, .spelt_out = true },	/* 17 */
	{ .read = read_range, .spelt_out = true },			/* 15-20 */
	{ .read = read_group },					/* group:7 */
	{ .read = read_name },					/* lr-0.1, 'lr*' */
};

/* NULL: *err is set. */
static const struct form *form_of(const struct selecting *what, const char *text,
				  struct job_query *q, struct err *err)
{
	for (const struct form *form = forms;; form++) {
		int rc;

		*q = (struct job_query){ .since_wall_s = NAN };
		rc = form->read(what, text, q, err);
		if (rc != NOT_THIS_FORM)
			return rc ? NULL : form;
	}
}

bool selection_is_of_groups(const struct selecting *what, struct id_list *groups)
{
	for (int i = 0; i < what->n_operands; i++) {
		struct job_query q = { .since_wall_s = NAN };
		struct err ignored;

		if (read_group(what, what->operands[i], &q, &ignored))
			return false;
		id_list_add(groups, q.group_id);
	}
	return what->n_operands > 0;
}

static bool all_are(const struct selecting *what, bool numbers)
{
	struct job_query q;
	struct err ignored;
	bool all = what->n_operands > 0;

	for (int i = 0; all && i < what->n_operands; i++) {
		const struct form *form = form_of(what, what->operands[i], &q, &ignored);

		all = form && (numbers ? form->number : form->spelt_out);
	}
	return all;
}

bool selection_is_spelt_out(const struct selecting *what)
{
	return all_are(what, false);
}

bool selection_is_of_numbers(const struct selecting *what)
{
	return all_are(what, true);
}

/* --- the options --- */

static bool narrows(const struct selecting *what)
{
	const struct selection_options *o = what->options;

	return o && (o->states || o->name || o->workload || !isnan(o->since_s));
}

bool selection_is_given(const struct selecting *what)
{
	return what->n_operands > 0 || narrows(what);
}

int selection_check(const struct selecting *what, struct err *err)
{
	struct job_query q;

	for (int i = 0; i < what->n_operands; i++)
		if (!form_of(what, what->operands[i], &q, err))
			return -1;
	return 0;
}

/* --- from the store --- */

/* asked: as it was typed; n: jobs that match, of which none is fit for the use */
static void none_is_fit(const struct command *command, const char *asked, int n, struct err *err)
{
	static const char *const wanted[N_JOB_USES] = {
		[USE_ANY] = "there",
		[USE_CANCEL] = "queued, held or running", [USE_HOLD] = "queued or running",
		[USE_RELEASE] = "held", [USE_REQUEUE] = "running or ended",
		[USE_CLEAR] = "ended, and in sight",
		[USE_EDIT] = "queued, held or running", [USE_FIRST] = "queued or held",
	};
	bool is_first = command->job_use == USE_FIRST;	/* whose name is no verb */

	err_set(err, EX_FAILED, "%s%s: %d job%s match%s %s, none is %s",
		is_first ? "no job to put first" : "nothing to ", is_first ? "" : command->name, n,
		plural(n), n == 1 ? "es" : "", asked, wanted[command->job_use]);
}

/* operand NULL: none was given; without_use: jobs that match, but are not fit for the use */
static int nothing_matches(const struct selecting *what, const char *operand, int without_use,
			   struct err *err)
{
	const struct selection_options *o = what->options;
	size_t digits = operand ? strspn(operand, "0123456789") : 0;
	struct text asked = TEXT_INIT;		/* as it was typed */
	const char *start, *hint = "";

	if (operand)
		text_addf(&asked, "'%.60s'", operand);
	if (o && o->states)
		text_addf(&asked, " --state %.60s", o->states);
	if (o && o->name)
		text_addf(&asked, " --name '%.60s'", o->name);
	if (o && o->workload)
		text_addf(&asked, " --workload '%.60s'", o->workload);
	if (o && !isnan(o->since_s))
		text_addf(&asked, " --since %.0fs", o->since_s);
	start = asked.data + (*asked.data == ' ');
	if (operand && (!strcmp(operand, "all") || !strcmp(operand, "*")))
		hint = "; all jobs that have not ended are --state active";
	else if (digits > 0 && !strcmp(operand + digits, "-"))
		hint = "; a range has two ends, such as 28-40";
	if (without_use)
		none_is_fit(what->command, start, without_use, err);
	else if (*start)
		err_set(err, EX_NOINPUT, "no job matches %s%s", start, hint);
	else
		err_set(err, EX_NOINPUT, "there are no jobs");
	text_release(&asked);
	return -1;
}

static int select_jobs(const struct selecting *what, struct store *s, struct job_query *q,
		       struct id_list *ids, struct err *err)
{
	const struct selection_options *o = what->options;
	char *names = o && o->states ? xstrdup(o->states) : NULL;
	char *rest = names, *word;
	struct text states = TEXT_INIT;		/* ",queued,running," */
	int rc;

	while ((word = strsep(&rest, ",")))
		text_addf(&states, "%s%s,", states.length ? "" : ",",
			  !strcmp(word, "active") ? "queued,held,running"
			  : !strcmp(word, "ended") ? "done,failed,cancelled,timeout" : word);
	if (o) {
		q->states = names ? states.data : NULL;
		q->name = o->name;
		q->workload = o->workload;
		q->since_wall_s = clock_wall_s() - o->since_s;
	}
	rc = store_jobs_select(s, q, ids, err);
	text_release(&states);
	free(names);
	return rc;
}

/* Reads the jobs of an operand; operand NULL: all jobs that the options let through. */
static int read_operand(const struct selecting *what, struct store *s, const char *operand,
			struct id_list *found, struct err *err)
{
	struct job_query q = { .since_wall_s = NAN };
	const struct form *form = NULL;
	struct id_list all;
	int rc;

	*found = (struct id_list){ 0 };
	if (operand && !(form = form_of(what, operand, &q, err)))
		return -1;
	if (form && form->number && q.first_id && !narrows(what)) {
		id_list_add(found, q.first_id);
		return 0;
	}
	q.use = form && form->number ? USE_ANY : what->command->job_use;
	if (select_jobs(what, s, &q, found, err))
		return -1;
	if (found->count)
		return 0;
	q.use = USE_ANY;
	if (select_jobs(what, s, &q, &all, err))
		return -1;
	rc = nothing_matches(what, operand, all.count, err);
	id_list_release(&all);
	return rc;
}

int selection_read(const struct selecting *what, struct store *s, struct id_list *ids,
		   struct err *err)
{
	struct id_list found;

	*ids = (struct id_list){ 0 };
	if (what->n_operands == 0)
		return read_operand(what, s, NULL, ids, err);
	for (int i = 0; i < what->n_operands; i++) {
		int rc = read_operand(what, s, what->operands[i], &found, err);
		int before = ids->count;	/* the ids of one operand differ from each other */

		for (int k = 0; k < found.count; k++) {
			int j = 0;

			while (j < before && ids->items[j] != found.items[k])
				j++;
			if (j == before)
				id_list_add(ids, found.items[k]);
		}
		id_list_release(&found);
		if (rc) {
			id_list_release(ids);
			return -1;
		}
	}
	return 0;
}
