/* cmd_backup.c - pollux backup: a copy of the store in one file. */
#include <unistd.h>

#include "commands.h"

static int main_backup(int argc, char **argv, struct err *err)
{
	struct session s;
	const char *path;
	int first, rc;

	if (options_parse(&cmd_backup, argc, argv, NULL, &first, err))
		return -1;
	if (argc - first != 1)
		return usage_error(&cmd_backup, err, "backup takes one FILE, not %d", argc - first);
	path = argv[first];
	if (!*path)
		return usage_error(&cmd_backup, err, "the name of the FILE is empty");
	if (session_open(&s, STORE_READ, err))
		return -1;
	rc = store_backup(&s.store, &s.paths, path, err);
	session_close(&s);
	if (rc == 0 && isatty(STDOUT_FILENO))
		output_sayf(stdout, "The store as it is now is in %s; logs and checkpoints are "
			    "not.", path);
	return rc;
}

const struct command cmd_backup = {
	.name = "backup", .synopsis = "FILE",
	.summary = "copy the store into a file, while jobs and passes go on",
	.example = "pollux backup /backup/pollux.db",
	.run = main_backup,
};
