/* cmd_again.c - pollux again: another job like one that is there. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "pollux/environment.h"
#include "pollux/mem.h"
#include "pollux/secret.h"

struct asked_again {
	struct asked asked;
	struct text_list set;
	bool dry_run;
};

#define AT(member) .offset = offsetof(struct asked_again, member)
static const struct option_spec options[] = {
	{ .name = "declared", .type = OPTION_DECLARED, AT(asked), .uses = FOR_AGAIN },
	{ "dry-run", 0, OPTION_FLAG, NULL, AT(dry_run), .help =
	  "print the command as it would run, and submit nothing" },
	{ "set", 's', OPTION_LIST, "OLD=NEW", AT(set), 0, 0,
	  "replace text in the arguments; may be given several times" },
	{ .name = NULL },
};

struct again {
	const struct asked_again *o;
	char **new_command;		/* behind "--" */
	bool has_command;
	struct job was, is;
	struct job_command was_command, command;
	struct again_group group;
	struct dependency_list after;
	struct text differs;
};

/* The values of credentials are those of this shell, where the store no longer has them. */
static void refill_secrets(struct again *a)
{
	struct text taken = TEXT_INIT, lacking = TEXT_INIT;
	struct strings here = { 0 };

	environment_capture(environ, &here);
	secrets_refill(&a->command.env, &here, &taken, &lacking);
	if (taken.length)
		text_addf(&a->differs, "; %s is this shell's, as it left the store", taken.data);
	if (lacking.length)
		text_addf(&a->differs, "; without %s, which left the store and is not set here",
			  lacking.data);
	text_release(&taken);
	text_release(&lacking);
	strings_release(&here);
}

static int make_command(struct again *a, struct err *err)
{
	const struct asked_again *o = a->o;
	struct job_command *c = &a->command;

	if (again_group_set(&a->group, &cmd_again, &o->asked, &o->set, &c->argv, err))
		return -1;
	if (a->has_command) {
		strings_release(&c->argv);
		for (char **argument = a->new_command; *argument; argument++)
			strings_add(&c->argv, *argument);
		free(c->program);
		c->program = NULL;	/* it is looked for anew */
		a->group.stays = false;
	}
	if (again_set(&cmd_again, &a->group.other_changes, &c->argv, err))
		return -1;
	if (c->env_names_only || c->env.count == 0) {
		struct text lost = TEXT_INIT;
		struct strings here = { 0 };

		environment_capture(environ, &here);
		strings_set_variable(&here, "PWD", c->directory);
		text_add(&a->differs, "; its values of variables are no longer stored, so those of "
			 "this shell are taken");
		if (add_lacking_variables(&lost, &c->env, &here))
			text_addf(&a->differs, ", which lacks %s", lost.data);
		strings_release(&c->env);
		strings_release(&c->env_templates);
		c->env = here;
		text_release(&lost);
	}
	if (!a->group.stays)
		environment_for_group(&a->was, &c->env);
	c->environment_id = 0;
	c->env_names_only = false;
	if (submission_command_again(&cmd_again, &o->asked, c, err))
		return -1;
	refill_secrets(a);
	if (o->asked.directory)
		strings_set_variable(&c->env, "PWD", c->directory);
	return 0;
}

/* Before the job is in the store, which puts its number into the name. */
static void add_differences(struct again *a)
{
	struct text *t = &a->differs;

	again_group_add_differences(t, &a->group, &a->was);
	again_add_differences(t, &a->was_command, &a->command);
	for (size_t i = 0; i < a->o->asked.env.count; i++) {
		text_add(t, "; with ");
		text_add_variable(t, a->o->asked.env.items[i]);
	}
	for (int row = -1; amend_next(&a->was.declared, &a->is.declared, &row);) {
		if (!strcmp(declared_fields[row].option.name, "workload") &&
		    !a->o->asked.declared.workload)
			continue;	/* this column follows from the arguments */
		text_add(t, "; ");
		amend_add_change(t, row, &a->was.declared, &a->is.declared);
	}
}

static void say_differences(const struct again *a)
{
	const struct job_command *was = &a->was_command, *is = &a->command;
	const struct text *differs = &a->differs;
	char who[40] = "would be";

	if (!a->o->dry_run)
		snprintf(who, sizeof(who), "job %lld is", (long long)a->is.id);
	output_sayf(stderr, "pollux: %s as job %lld%s%s", who, (long long)a->was.id,
		    differs->length ? ", but: " : " in everything",
		    differs->length ? differs->data + strlen("; ") : "");
	if (is->checkpoint_dir && was->checkpoint_dir && !is->checkpoint_template &&
	    !strcmp(is->checkpoint_dir, was->checkpoint_dir))
		fprintf(stderr, "pollux: warning: both have the same checkpoint directory; "
			"--checkpoint-dir sets another\n");
}

static int submit_again(struct again *a, const struct selecting *what, struct err *err)
{
	const struct asked *o = &a->o->asked;
	const struct other_job was = { &a->was, &a->was_command };
	const char *template;
	bool stands;
	struct session s;
	int64_t id;
	int rc;

	if (session_open(&s, STORE_READ, err))
		return -1;
	rc = selection_read_one(what, &s.store, JOB_NEWEST, &id, err) ||
	     store_job_get(&s.store, id, &a->was, err) ||
	     store_job_command_get(&s.store, id, &a->was_command, err) ||
	     store_job_command_get(&s.store, id, &a->command, err) ||
	     again_group_read(&a->group, &s.store, &a->was, err) ? -1 : 0;
	session_close(&s);
	if (rc == 0 && a->was.profile)
		rc = err_set(err, EX_FAILED, "job %lld is a profile: 'pollux profile' makes "
			     "another", (long long)id);
	if (rc || make_command(a, err) ||
	    submission_job_again(&cmd_again, o, &was, &a->command, &a->is, err) ||
	    submit_after(&cmd_again, o, &a->after, err))
		return -1;
	again_group_join(&a->group, o, &a->was, &a->is);
	/* A name with {job} gets the new number, unless the job was renamed since. */
	template = a->was_command.name_template;
	stands = template && braces_name_is(template, a->was.id, a->was.declared.name);
	if (!o->declared.name && template &&
	    !(stands && strcmp(a->is.declared.name, a->was.declared.name) == 0)) {
		free(a->command.name_template);
		a->command.name_template = stands && braces_have_job(a->is.declared.name)
			? xstrdup(a->is.declared.name) : NULL;
	}
	add_differences(a);
	submit_tell_braces(o, &a->is, &a->command, NULL, a->o->dry_run);
	if (a->o->dry_run) {
		struct asked typed = *o;

		if (submit_snapshot_tell(&a->is, &a->command, err))
			return -1;
		/* which may stand in the arguments, in braces */
		typed.declared.learning_rate = a->is.declared.learning_rate;
		submit_print_command(&typed, a->command.argv.items, NULL, a->is.declared.plans);
	} else if (submit_add(o, &a->is, &a->command, &a->after, err)) {
		return -1;
	}
	if (!o->quiet)
		say_differences(a);
	return 0;
}

/* Behind "--" stands a new command. */
static int parse_arguments(int argc, char **argv, struct asked_again *o, struct again *a,
			   struct selecting *what, struct err *err)
{
	int dashes = 1, first;

	while (dashes < argc && strcmp(argv[dashes], "--") != 0)
		dashes++;
	a->has_command = dashes < argc;
	if (options_parse(&cmd_again, argc, argv, o, &first, err))
		return -1;
	a->new_command = argv + argc;
	if (a->has_command)
		a->new_command -= argc - dashes - 1;
	what->operands = argv + first;
	what->n_operands = (int)(a->new_command - what->operands);
	if (what->n_operands < 1)
		return usage_error(&cmd_again, err, "which job? give its number");
	if (what->n_operands > 1)
		return usage_error(&cmd_again, err, "one job, not %d; a new command stands behind "
				   "'--'", what->n_operands);
	if (a->has_command && o->set.count)
		return usage_error(&cmd_again, err, "give --set or a new command, not both");
	if (a->has_command && !*a->new_command)
		return usage_error(&cmd_again, err, "no command behind '--'");
	if (a->has_command && **a->new_command == '-')
		return usage_error(&cmd_again, err, "behind '--' stands the whole command, as for "
				   "submit, not '%.60s'; --set changes arguments",
				   *a->new_command);
	return selection_check(what, err);
}

static int main_again(int argc, char **argv, struct err *err)
{
	struct asked_again o = { .set = { 0 } };
	struct selecting what = { .command = &cmd_again };
	struct again a = { .o = &o, .differs = TEXT_INIT };
	int rc;

	asked_init(&o.asked);
	job_init(&a.was);
	job_init(&a.is);
	rc = parse_arguments(argc, argv, &o, &a, &what, err);
	if (rc == 0)
		rc = submit_again(&a, &what, err);
	text_release(&a.differs);
	again_group_release(&a.group);
	dependency_list_release(&a.after);
	job_command_release(&a.command);
	job_command_release(&a.was_command);
	job_release(&a.is);
	job_release(&a.was);
	options_release(&cmd_again, &o);
	return rc;
}

const struct command cmd_again = {
	.name = "again",
	.synopsis = "[OPTION]... [--set OLD=NEW]... JOB [-- COMMAND [ARGUMENT]...]",
	.summary = "submit another job like one that is there",
	.example = "pollux again 7\n"
		   "pollux again 7 --set lr=0.1=lr=0.3 --time-limit 2h\n"
		   "pollux again 7 -- python train.py --lr 0.3",
	.common = "name batch replicas after begin time-limit retries resume-args env chdir "
		  "dry-run set",
	.headings = submit_headings,
	.options = options, .takes_jobs = true, .run = main_again,
};
