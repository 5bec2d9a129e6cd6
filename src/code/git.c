/* git.c - see code.h. */
#include "pollux/code.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pollux/mem.h"
#include "pollux/proc.h"

bool git_is_near(const char *directory)
{
	char *path = xstrdup(directory), *slash = path;
	bool found = false;

	while (!found && slash) {
		char *dot_git = xasprintf("%s/.git", path);

		found = access(dot_git, F_OK) == 0;
		free(dot_git);
		slash = strrchr(path, '/');
		if (slash)
			*slash = '\0';
	}
	free(path);
	return found;
}

/* --- what git is given --- */

static void make_variables(const struct git *git, struct strings *env)
{
	char *const *variable = git->variables ? git->variables : environ;

	for (; *variable; variable++)
		if (!text_starts_with(*variable, "GIT_") ||
		    text_starts_with(*variable, "GIT_CONFIG_") ||
		    text_starts_with(*variable, "GIT_EXEC_PATH="))
			strings_add(env, *variable);
	for (size_t i = 0; git->more && i < git->more->count; i++)
		strings_add(env, git->more->items[i]);
	strings_set_variable(env, "LC_ALL", "C");
	strings_set_variable(env, "GIT_OPTIONAL_LOCKS", "0");
	strings_set_variable(env, "GIT_TERMINAL_PROMPT", "0");
	strings_set_variable(env, "GIT_NO_LAZY_FETCH", "1");
	strings_set_variable(env, "GIT_LITERAL_PATHSPECS", "1");
}

int git_run_words(const struct git *git, const struct strings *words, struct text *out,
		  struct err *err)
{
	static const char *const first[] = {
		"git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null",
		"-c", "gc.auto=0", "-c", "maintenance.auto=false", "-C",
	};
	struct strings env = { 0 }, argv = { 0 };
	struct question q = {
		.until_boot_s = git->until_boot_s, .answer = out, .complaint = TEXT_INIT,
	};
	const char *line;
	int rc;

	make_variables(git, &env);
	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
		strings_add(&argv, first[i]);
	strings_add(&argv, git->directory);
	for (size_t i = 0; i < words->count; i++)
		strings_add(&argv, words->items[i]);
	q.argv = argv.items;
	q.env = env.items;
	rc = question_ask(&q, err);
	if (rc > 0 && WIFEXITED(rc) && WEXITSTATUS(rc) == QUESTION_NO_PROGRAM) {
		err_set(err, EX_UNAVAILABLE, "there is no git in PATH");
	} else if (rc > 0) {
		/* the last line that begins as git's errors do, else the first */
		line = strstr(q.complaint.data, "fatal: ");
		line = line ? line : strstr(q.complaint.data, "error: ");
		line = line ? line + strlen("fatal: ") : q.complaint.data;
		err_set(err, EX_FAILED, "git: %.*s", (int)strcspn(line, "\n"),
			*line ? line : "it failed without a word");
	}
	strings_release(&argv);
	strings_release(&env);
	text_release(&q.complaint);
	return rc ? -1 : 0;
}

int git_run_list(const struct git *git, struct text *out, struct err *err,
		 const char *const *list)
{
	struct strings words = { 0 };
	int rc;

	for (; *list; list++)
		strings_add(&words, *list);
	rc = git_run_words(git, &words, out, err);
	strings_release(&words);
	return rc;
}
