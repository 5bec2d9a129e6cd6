/* cmd_doctor.c - pollux doctor: what is wrong with the store and around it, and what mends it. */
#include <stdio.h>

#include "commands.h"
#include "pollux/store.h"
#include "pollux/view.h"

struct doctor_options {
	bool json, repair;
};

static const struct option_spec options[] = {
#define O(field) .offset = offsetof(struct doctor_options, field)
	{ "json", 'j', OPTION_FLAG, NULL, O(json), 0, 0, "print JSON" },
	{ "repair", 0, OPTION_FLAG, NULL, O(repair), 0, 0,
	  "make a new store of what can be read of a damaged one, which is kept" },
	{ .name = NULL },
#undef O
};

static int show_findings(const struct doctor_options *o, struct err *err)
{
	struct output out = output_stdout("auto");
	struct doctor d;
	int status = -1;

	if (doctor_look(&d, err) == 0) {
		if (o->json)
			doctor_print_json(&d, out.file);
		else
			doctor_print(&d, &out);
		status = doctor_exit_status(&d);
	}
	doctor_release(&d);
	return status;
}

static bool is_sound(struct err *err)
{
	struct strings faults = { 0 };
	struct session s;
	bool sound;

	if (session_open(&s, STORE_READ, err))
		return false;
	sound = store_check(&s.store, &faults, err) == 0 && faults.count == 0;
	strings_release(&faults);
	session_close(&s);
	return sound;
}

static int mend_store(const struct paths *paths, struct err *err)
{
	struct store_repair r = { 0 };
	int status = -1;

	if (store_repair(paths, &r, err) == 0)
		status = doctor_print_repair(&r, stdout) ? EX_FAILED : 0;
	store_repair_release(&r);
	return status;
}

static int repair(struct err *err)
{
	struct paths paths;
	int status = -1;

	if (paths_init(&paths, err))
		return -1;
	if (is_sound(err)) {
		store_repair_remove_files(&paths);
		puts("The store is sound: there is nothing to repair.");
		status = 0;
	} else if (err->exit_status != EX_NOINPUT && err->exit_status != EX_CANTCREAT &&
		   err->exit_status != EX_NOPERM && err->exit_status != EX_TEMPFAIL) {
		/* Errors of merely opening the store are left out: such a store may be sound. */
		status = mend_store(&paths, err);
	}
	paths_release(&paths);
	return status;
}

static int main_doctor(int argc, char **argv, struct err *err)
{
	struct doctor_options o = { .json = false };
	int first;

	if (options_parse(&cmd_doctor, argc, argv, &o, &first, err))
		return -1;
	if (first < argc)
		return usage_error(&cmd_doctor, err, "doctor takes no argument, not '%.60s'",
				   argv[first]);
	if (o.json && o.repair)
		return usage_error(&cmd_doctor, err,
				   "options '--json' and '--repair' exclude each other");
	return o.repair ? repair(err) : show_findings(&o, err);
}

const struct command cmd_doctor = {
	.name = "doctor", .synopsis = "[--json | --repair]",
	.summary = "say what is wrong with the store, passes, files; and what mends it",
	.example = "pollux doctor\n"
		   "pollux doctor --json | jq -r '.findings[].mend'",
	.options = options, .run = main_doctor,
};
