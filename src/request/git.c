/* git.c - ask git(1), but only where there is a repository to ask about. */
#include <ctype.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "git.h"
#include "pollux/mem.h"
#include "pollux/text.h"

static bool in_repository(const char *directory)
{
	char *path = xstrdup(directory);
	bool found = false;

	for (;;) {
		char *dot_git = xasprintf("%s/.git", path);
		char *slash = strrchr(path, '/');

		found = access(dot_git, F_OK) == 0;
		free(dot_git);
		if (found || !slash)
			break;
		*slash = '\0';
	}
	free(path);
	return found;
}

static pid_t start_git(const char *directory, int out_fd)
{
	static const char *const words[] = { "--no-optional-locks", "status", "--porcelain=v2",
					     "--branch", "--untracked-files=no" };
	struct strings argv = { 0 };
	posix_spawn_file_actions_t files;
	pid_t pid;
	int rc;

	strings_add(&argv, "git");
	strings_add(&argv, "-C");
	strings_add(&argv, directory);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		strings_add(&argv, words[i]);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, out_fd, STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	rc = posix_spawnp(&pid, "git", &files, NULL, argv.items, environ);
	posix_spawn_file_actions_destroy(&files);
	strings_release(&argv);
	return rc ? -1 : pid;
}

/* "# branch.oid COMMIT" first, other "# " lines, then a line for each file that differs. */
static char *parse_status(FILE *out, bool *dirty)
{
	static const char oid[] = "# branch.oid ";
	char line[4096], *commit = NULL;

	*dirty = false;
	while (fgets(line, sizeof(line), out)) {
		line[strcspn(line, "\n")] = '\0';
		if (text_starts_with(line, oid) && isxdigit((unsigned char)line[sizeof(oid) - 1]))
			commit = xstrdup(line + sizeof(oid) - 1);
		else if (line[0] != '#')
			*dirty = true;
	}
	return commit;
}

char *git_commit_of(const char *directory, bool *dirty)
{
	char *commit = NULL;
	int fds[2], status = -1;
	FILE *out;
	pid_t pid;

	*dirty = false;
	if (!in_repository(directory) || pipe2(fds, O_CLOEXEC))
		return NULL;
	pid = start_git(directory, fds[1]);
	close(fds[1]);
	out = fdopen(fds[0], "r");
	if (out && pid > 0)
		commit = parse_status(out, dirty);
	if (out)
		fclose(out);
	if (pid > 0)
		waitpid(pid, &status, 0);
	if (status != 0) {
		free(commit);
		return NULL;
	}
	return commit;
}
