/* cmd_doctor.c - pollux doctor: what is wrong with the store and around it, and what mends it. */
#include "commands.h"
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
};

static int repair(struct err *err)
{
	struct store_repair r = { 0 };
	struct strings faults = { 0 };
	struct paths paths;
	struct session s;
	bool is_sound = false;
	int status = -1;

	if (paths_init(&paths, err))
		return -1;
	if (session_open(&s, STORE_READ, err) == 0) {
		is_sound = store_check(&s.store, &faults, err) == 0 && faults.count == 0;
		strings_release(&faults);
		session_close(&s);
	}
	if (is_sound) {
		store_repair_remove_files(&paths);
		puts("The store is sound: there is nothing to repair.");
		status = 0;
	} else if (err->exit_status != EX_NOINPUT && err->exit_status != EX_CANTCREAT &&
		   err->exit_status != EX_NOPERM && err->exit_status != EX_TEMPFAIL) {
		/* Errors of merely opening the store are left out: such a store may be sound. */
		if (store_repair(&paths, &r, err) == 0)
			status = doctor_print_repair(&r, stdout) ? EX_FAILED : 0;
		store_repair_release(&r);
	}
	paths_release(&paths);
	return status;
}

static int main_doctor(int argc, char **argv, struct err *err)
{
	struct doctor_options o = { .json = false };
	struct output out;
	struct doctor d;
	int first, status = -1;

	if (options_parse(&cmd_doctor, argc, argv, &o, &first, err))
		return -1;
	if (first < argc)
		return usage_error(&cmd_doctor, err, "doctor takes no argument, not '%.60s'",
				   argv[first]);
	if (o.json && o.repair)
		return usage_error(&cmd_doctor, err,
				   "options '--json' and '--repair' exclude each other");
	if (o.repair)
		return repair(err);
	out = output_stdout("auto");
	if (doctor_look(&d, err) == 0) {
		if (o.json)
			doctor_print_json(&d, out.file);
		else
			doctor_print(&d, &out);
		status = doctor_exit_status(&d);
	}
	doctor_release(&d);
	return status;
}

const struct command cmd_doctor = {
	.name = "doctor", .synopsis = "[--json | --repair]",
	.summary = "say what is wrong with the store, passes, files; and what mends it",
	.example = "pollux doctor\n"
		   "pollux doctor --json | jq -r '.findings[].mend'",
	.options = options, .run = main_doctor,
};
