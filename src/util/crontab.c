/* crontab.c - lines of a crontab, and running crontab(1). */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pollux/advice.h"
#include "pollux/clock.h"
#include "pollux/crontab.h"
#include "pollux/mem.h"
#include "pollux/paths.h"
#include "pollux/proc.h"

#define SCHEDULE "* * * * * "
#define MARK " # pollux"

/* --- the entry --- */

static void add_quoted(struct text *t, const char *s)
{
	scoped(text_release) struct text quoted = TEXT_INIT;

	text_add_shell_quoted(&quoted, s);
	for (const char *c = quoted.data; *c; c++) {
		if (*c == '%')		/* cron turns a bare % into a newline */
			text_add(t, "\\");
		text_add_bytes(t, c, 1);
	}
}

void crontab_entry_release(struct crontab_entry *e)
{
	text_release(&e->variables);
	text_release(&e->command);
	text_release(&e->line);
}

int crontab_entry_init_own(struct crontab_entry *e, struct err *err)
{
	/* Variables that the line has to set, because cron starts programs with a nearly empty
	 * environment: POLLUX_DIR alone, if it is set, made absolute. */
	static const char *const kept[] = { "POLLUX_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME" };
	const char *dir = getenv("POLLUX_DIR");
	struct paths paths;
	char program[PATH_MAX];
	int n = dir && *dir ? 1 : 3;

	if (n == 1) {
		int rc;

		if (paths_init(&paths, err))
			return -1;
		rc = setenv("POLLUX_DIR", paths.dir, 1);
		paths_release(&paths);
		if (rc)
			return err_set(err, EX_OSERR, "cannot set POLLUX_DIR: %s",
				       strerror(errno));
	}
	if (proc_program(program, sizeof(program), err))
		return -1;
	text_init(&e->variables);
	text_init(&e->command);
	text_init(&e->line);
	for (int i = 0; i < n; i++) {
		const char *value = getenv(kept[i]);

		if (!value || !*value)
			continue;
		text_addf(&e->variables, "%s=", kept[i]);
		add_quoted(&e->variables, value);
		text_add(&e->variables, " ");
	}
	text_add(&e->command, e->variables.data);
	add_quoted(&e->command, program);
	text_add(&e->command, " schedule" MARK);
	text_addf(&e->line, SCHEDULE "%s", e->command.data);
	if (!strchr(e->line.data, '\n'))
		return 0;
	crontab_entry_release(e);
	return err_set(err, EX_CONFIG, "a path with a newline cannot stand in a crontab");
}

/* --- lines --- */

/* Returns the command of a line, behind "@hourly" or five fields, if the line is pollux's own for
 * the entry's store; else NULL. */
static const char *own_command(const char *line, const struct crontab_entry *e)
{
	const char *p = line + strspn(line, " \t");
	size_t n = strlen(line), end = strlen(MARK);

	if (*p == '#' || n < end || strcmp(line + n - end, MARK) != 0)
		return NULL;
	for (int fields = *p == '@' ? 1 : 5; fields > 0 && *p; fields--) {
		p += strcspn(p, " \t");
		p += strspn(p, " \t");
	}
	return text_starts_with(p, e->variables.data) && p[e->variables.length] &&
	       strchr("/'", p[e->variables.length]) ? p : NULL;
}

/* Reads the next line of *p; false at the end. */
static bool next_line(const char **p, struct text *line)
{
	size_t n = strcspn(*p, "\n");

	text_clear(line);
	if (!**p)
		return false;
	text_add_bytes(line, *p, n);
	*p += n + ((*p)[n] == '\n');
	return true;
}

enum crontab_change crontab_change(const char *old, struct crontab_entry *e, bool with,
				   struct text *new)
{
	enum crontab_change change = with ? CRONTAB_ADDED : CRONTAB_SAME;
	scoped(text_release) struct text line = TEXT_INIT;

	while (next_line(&old, &line)) {
		const char *command = own_command(line.data, e);

		if (!command) {
			text_addf(new, "%s\n", line.data);
		} else if (!with) {
			change = CRONTAB_REMOVED;
			text_clear(&e->line);
			text_add(&e->line, line.data);
		} else if (change == CRONTAB_ADDED) {
			/* The present schedule, which the user may have changed, stays. */
			change = strcmp(command, e->command.data) ? CRONTAB_UPDATED : CRONTAB_SAME;
			text_clear(&e->line);
			text_add_bytes(&e->line, line.data, (size_t)(command - line.data));
			text_add(&e->line, e->command.data);
			text_addf(new, "%s\n", e->line.data);
		} else {
			change = CRONTAB_UPDATED;	/* a second line of pollux's is removed */
		}
	}
	if (change == CRONTAB_ADDED)
		text_addf(new, "%s\n", e->line.data);
	return change;
}

/* --- crontab(1) --- */

#define LIMIT_S 10.0		/* where users come from a network, and that does not answer */

/* Runs crontab(1). out and complaint: its output. Returns its status; -1: it could not be run. */
static int run_crontab(const char *argument, const struct text *input, struct text *out,
		       struct text *complaint, struct err *err)
{
	static const char cannot[] = "cannot execute 'crontab': ";
	char name[] = "crontab", *option = xstrdup(argument);
	char *argv[] = { name, option, NULL };
	struct question q = {
		.argv = argv, .env = environ, .until_boot_s = clock_boot_s() + LIMIT_S,
		.answer = out, .complaint = TEXT_INIT, .input = input,
	};
	int status = question_ask(&q, err);

	free(option);
	*complaint = q.complaint;
	/* crontab(1) may be a script that ends with this status itself */
	if (status < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != QUESTION_NO_PROGRAM ||
	    !text_starts_with(complaint->data, cannot))
		return status;
	if (strstr(complaint->data, strerror(ENOENT)))
		return err_set(err, EX_UNAVAILABLE,
			       "crontab(1) is not installed: type '%sapt install cron' (Debian, "
			       "Ubuntu), or see 'pollux cron --help' for other ways",
			       advice_sudo());
	return err_set(err, EX_UNAVAILABLE, "cannot run crontab(1): %.*s",
		       (int)strcspn(complaint->data + strlen(cannot), "\n"),
		       complaint->data + strlen(cannot));
}

static int refused(const char *argument, const struct text *complaint, struct err *err)
{
	int n = (int)strcspn(complaint->data, "\n");

	return err_set(err, EX_UNAVAILABLE, "'crontab %s' failed%s%.*s", argument, n ? ": " : "", n,
		       complaint->data);
}

/* Removes the crontab if it would be empty. */
int crontab_write(const struct text *lines, struct err *err)
{
	const char *argument = lines->length ? "-" : "-r";
	scoped(text_release) struct text complaint = { 0 };
	int rc = run_crontab(argument, lines, NULL, &complaint, err);

	if (rc > 0)
		rc = refused(argument, &complaint, err);
	return rc;
}

int crontab_read(struct text *lines, struct err *err)
{
	scoped(text_release) struct text complaint = { 0 };
	int rc = run_crontab("-l", NULL, lines, &complaint, err);

	if (rc > 0) {
		text_clear(lines);
		/* without a crontab, busybox's cron fails to open a file; every other cron says "no
		 * crontab for USER" */
		rc = strstr(complaint.data, "no crontab") ||
		     strstr(complaint.data, "No such file") ? 0 : refused("-l", &complaint, err);
	}
	return rc;
}
