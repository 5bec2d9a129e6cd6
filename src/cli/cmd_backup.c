/* cmd_backup.c - pollux backup: a copy of the store in one file. */
#include <stdio.h>
#include <unistd.h>

#include "commands.h"
#include "pollux/store.h"

static const struct option_spec options[] = { { .name = NULL } };

static int backup(const char *path, struct err *err)
{
	struct session s;
	int rc;

	if (session_open(&s, STORE_READ, err))
		return -1;
	rc = store_backup(&s.store, &s.paths, path, err);
	session_close(&s);
	if (rc == 0 && isatty(STDOUT_FILENO))
		output_sayf(stdout, "The store as it is now is in %s; logs and checkpoints are "
			    "not.", path);
	return rc;
}

static int main_backup(int argc, char **argv, struct err *err)
{
	int first;

	if (options_parse(&cmd_backup, argc, argv, NULL, &first, err))
		return -1;
	if (argc - first != 1)
		return usage_error(&cmd_backup, err, "backup takes one FILE, not %d", argc - first);
	if (!argv[first][0])
		return usage_error(&cmd_backup, err, "the name of the FILE is empty");
	return backup(argv[first], err);
}

const struct command cmd_backup = {
	.name = "backup", .synopsis = "FILE",
	.summary = "copy the store into a file, while jobs and passes go on",
	.example = "pollux backup /backup/pollux.db",
	.options = options, .run = main_backup,
};
