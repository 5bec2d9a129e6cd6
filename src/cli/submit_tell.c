/* submit_tell.c - what people are told of a submission, and submissions with --snapshot. */
#include <math.h>
#include <string.h>

#include "commands.h"
#include "pollux/clock.h"
#include "pollux/execution_plan.h"
#include "pollux/mem.h"
#include "pollux/secret.h"
#include "pollux/template.h"

/* --- the commands that a submission would run, as lines for a shell --- */

struct printed {
	struct text line;
	const char *learning_rate;	/* that {lr} stands for; NULL: the braces stay */
	const char *plan;		/* words that {plan} stands for; NULL: the braces stay */
};

/* Adds a word to the line; its first bytes, up to quoted_from, stay as they are. */
static void add_text(struct printed *p, const char *text, size_t quoted_from)
{
	struct braces b = braces_in(text + quoted_from);
	struct text word = TEXT_INIT;
	struct piece piece;

	while (braces_next(&b, &piece)) {
		bool known = piece.word && template_knows(piece.word, piece.word_length);

		if (known && piece.doubled)
			text_add_bytes(&word, piece.text + 1, piece.length - 2);
		else if (piece_is(&piece, "lr") && p->learning_rate)
			text_add(&word, p->learning_rate);
		else if (piece_is(&piece, "plan") && p->plan)
			text_add(&word, p->plan);
		else
			text_add_bytes(&word, piece.text, piece.length);
	}
	text_add(&p->line, p->line.length ? " " : "");
	text_add_bytes(&p->line, text, quoted_from);
	text_add_shell_quoted(&p->line, word.data);
	text_release(&word);
}

static void add_hidden(struct printed *p, const char *variable)
{
	text_add(&p->line, p->line.length ? " " : "");
	text_add_variable(&p->line, variable);
}

/* Adds the words of the plan as arguments of their own. */
static void add_plan(struct printed *p)
{
	for (const char *c = p->plan + strspn(p->plan, " \t"); *c; c += strspn(c, " \t")) {
		size_t length = strcspn(c, " \t");
		struct text word = TEXT_INIT;

		text_add_bytes(&word, c, length);
		add_text(p, word.data, 0);
		text_release(&word);
		c += length;
	}
}

/* plan NULL: the command has no plans. */
static void print_line(const struct asked *o, char *const *argv, const char *learning_rate,
		       const struct execution_plan *plan)
{
	struct printed p = {
		.line = TEXT_INIT, .learning_rate = learning_rate,
		.plan = plan ? plan->args : NULL,
	};
	bool has_plan = false;

	for (size_t i = 0; i < o->env.count; i++) {
		const char *variable = o->env.items[i];

		if (variable_is_secret(variable))
			add_hidden(&p, variable);
		else
			add_text(&p, variable, strcspn(variable, "=") + 1);
	}
	if (plan)
		text_addf(&p.line, "%sPOLLUX_PLAN=%s", p.line.length ? " " : "", plan->name);
	for (size_t i = 0; argv[i]; i++) {
		has_plan |= template_text_mentions(argv[i], "plan");
		if (p.plan && !strcmp(argv[i], "{plan}"))
			add_plan(&p);
		else
			add_text(&p, argv[i], 0);
	}
	if (p.plan && !has_plan)
		add_plan(&p);
	puts(p.line.data);
	text_release(&p.line);
}

void submit_print_command(const struct asked *o, char *const *argv, const char *typed_rate,
			  const char *plans)
{
	double rate = o->declared.learning_rate;
	struct execution_plans declared;
	struct err ignored;
	char number[40];

	snprintf(number, sizeof(number), "%.9g", rate);
	if (!typed_rate && !isnan(rate))
		typed_rate = number;
	if (execution_plans_parse(plans, &declared, &ignored) || declared.count == 0) {
		print_line(o, argv, typed_rate, NULL);
		return;
	}
	for (int i = 0; i < declared.count; i++)
		print_line(o, argv, typed_rate, &declared.items[i]);
	execution_plans_release(&declared);
}

void submit_tell_braces(const struct asked *o, const struct job *job,
			const struct job_command *command, const struct strings *parameters,
			bool dry_run)
{
	struct braced b = { &job->declared, command, o->declared.name, &o->env, parameters };
	struct text replaced = TEXT_INIT;
	struct strings doubts = { 0 };

	braces_add_doubts(&b, &doubts);
	for (size_t i = 0; i < doubts.count; i++)
		output_messagef("warning: %s", doubts.items[i]);
	if (dry_run)
		braces_add_replaced(&b, &replaced);
	if (replaced.length)
		output_messagef("replaced at launch: %s", replaced.data);
	strings_release(&doubts);
	text_release(&replaced);
}

void submit_tell_launch(const struct asked *o, const struct job *job,
			const struct job_command *command)
{
	const char *launcher;

	if (o->launch || job->declared.launch != LAUNCH_FIRST || job->declared.max_replicas == 1)
		return;
	launcher = launcher_of_command(command);
	if (launcher)
		output_messagef("its command calls %s: on several nodes it is started on the first "
				"alone, and the others are kept for what %s starts; --launch each "
				"starts it on each", launcher, launcher);
}

/* --- snapshots --- */

static const char *place_of_code(const struct job_command *command)
{
	return command->repository ? command->repository : command->directory;
}

int submit_snapshot(const struct paths *paths, const struct job *job, struct job_command *command,
		    struct code_snapshot *s, struct err *err)
{
	*s = (struct code_snapshot){ .lock = -1, .remarks = TEXT_INIT };
	if (!job->declared.snapshot)
		return 0;
	if (snapshot_make(paths, place_of_code(command), s, err))
		return -1;
	xreplace(&command->snapshot_dir, s->dir);
	xreplace(&command->repository, s->top);
	if (s->remarks.length)
		output_messagef("warning: the snapshot has links to these, whose files it uses as "
				"they are when it runs: %s", s->remarks.data);
	return 0;
}

void submit_snapshot_end(struct code_snapshot *s, int rc)
{
	if (rc)
		snapshot_drop(s);
	else
		snapshot_keep(s);
}

int submit_snapshot_tell(const struct job *job, const struct job_command *command,
			 struct err *err)
{
	struct git git = { .directory = place_of_code(command),
			   .until_boot_s = clock_boot_s() + SNAPSHOT_LIMIT_S };
	struct code_repository r;

	if (!job->declared.snapshot)
		return 0;
	if (code_repository_find(&git, &r, err))
		return err_prefix(err, "no snapshot of the code can be made");
	output_messagef("a snapshot of '%s' would be made, at commit %.6s%s", r.top,
			r.head.commit,
			command->git_dirty ? " with its uncommitted changes" : "");
	code_repository_release(&r);
	return 0;
}
