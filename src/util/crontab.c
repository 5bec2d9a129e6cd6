/* crontab.c - lines of a crontab, and running crontab(1). */
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pollux/advice.h"
#include "pollux/crontab.h"
#include "pollux/mem.h"
#include "pollux/paths.h"
#include "pollux/proc.h"

#define SCHEDULE "* * * * * "
#define MARK " # pollux"

/* --- the entry --- */

static void add_quoted(struct text *t, const char *s)
{
	struct text quoted = TEXT_INIT;

	text_add_shell_quoted(&quoted, s);
	for (const char *c = quoted.data; *c; c++) {
		if (*c == '%')		/* cron turns a bare % into a newline */
			text_add(t, "\\");
		text_add_bytes(t, c, 1);
	}
	text_release(&quoted);
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
	int n = dir && *dir ? 1 : 3, rc;

	if (n == 1) {
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

enum crontab_change crontab_with(const char *old, struct crontab_entry *e, struct text *new)
{
	enum crontab_change change = CRONTAB_ADDED;
	struct text line = TEXT_INIT;

	while (next_line(&old, &line)) {
		const char *command = own_command(line.data, e);

		if (!command) {
			text_addf(new, "%s\n", line.data);
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
	text_release(&line);
	return change;
}

enum crontab_change crontab_without(const char *old, struct crontab_entry *e, struct text *new)
{
	enum crontab_change change = CRONTAB_SAME;
	struct text line = TEXT_INIT;

	while (next_line(&old, &line)) {
		if (!own_command(line.data, e)) {
			text_addf(new, "%s\n", line.data);
			continue;
		}
		change = CRONTAB_REMOVED;
		text_clear(&e->line);
		text_add(&e->line, line.data);
	}
	text_release(&line);
	return change;
}

/* --- crontab(1) --- */

/* Files in memory for the three streams of crontab(1), so that nobody has to read while another
 * writes. */
enum { IN, OUT, ERR, N_STREAMS };

/* Reads the stream up to the first NUL, which no crontab has. */
static void read_stream(int fd, struct text *out)
{
	char block[4096];
	off_t offset = 0;
	ssize_t n;

	while ((n = pread(fd, block, sizeof(block), offset)) > 0) {
		text_add_bytes(out, block, (size_t)n);
		offset += n;
	}
}

static int spawn(const char *argument, const int *fds, int *status, struct err *err)
{
	char name[] = "crontab", *option = xstrdup(argument);
	char *argv[] = { name, option, NULL };
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int rc;

	posix_spawn_file_actions_init(&actions);
	for (int i = 0; i < N_STREAMS; i++)
		posix_spawn_file_actions_adddup2(&actions, fds[i], i);
	rc = posix_spawnp(&pid, name, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	free(option);
	if (rc == ENOENT)
		return err_set(err, EX_UNAVAILABLE,
			       "crontab(1) is not installed: type '%sapt install cron' (Debian, "
			       "Ubuntu), or see 'pollux cron --help' for other ways",
			       advice_sudo());
	if (rc)
		return err_set(err, EX_UNAVAILABLE, "cannot run crontab(1): %s", strerror(rc));
	while ((rc = waitpid(pid, status, 0)) < 0 && errno == EINTR)
		;
	return rc < 0 ? err_set(err, EX_OSERR, "lost crontab(1): %s", strerror(errno)) : 0;
}

/* Runs crontab(1). *status: its exit; out and errors: its output. -1: it could not be run. */
static int run_crontab(const char *argument, const struct text *input, struct text *out,
		       struct text *errors, int *status, struct err *err)
{
	int fds[N_STREAMS], rc;

	for (int i = 0; i < N_STREAMS; i++)
		fds[i] = memfd_create("crontab", MFD_CLOEXEC);
	if (fds[IN] < 0 || fds[OUT] < 0 || fds[ERR] < 0 ||
	    write(fds[IN], input->data, input->length) != (ssize_t)input->length ||
	    lseek(fds[IN], 0, SEEK_SET) != 0)
		rc = err_set(err, EX_OSERR, "cannot make a file in memory: %s", strerror(errno));
	else
		rc = spawn(argument, fds, status, err);
	if (rc == 0) {
		read_stream(fds[OUT], out);
		read_stream(fds[ERR], errors);
	}
	for (int i = 0; i < N_STREAMS; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	return rc;
}

static int refused(const char *argument, const struct text *errors, struct err *err)
{
	int n = (int)strcspn(errors->data, "\n");

	return err_set(err, EX_UNAVAILABLE, "'crontab %s' failed%s%.*s", argument, n ? ": " : "", n,
		       errors->data);
}

int crontab_read(struct text *lines, struct err *err)
{
	struct text nothing = TEXT_INIT, errors = TEXT_INIT;
	int status = 0;
	int rc = run_crontab("-l", &nothing, lines, &errors, &status, err);

	if (rc == 0 && status) {
		text_clear(lines);
		/* without a crontab, busybox's cron fails to open a file; every other cron says "no
		 * crontab for USER" */
		if (!strstr(errors.data, "no crontab") && !strstr(errors.data, "No such file"))
			rc = refused("-l", &errors, err);
	}
	text_release(&errors);
	return rc;
}

/* Removes the crontab if it would be empty. */
int crontab_write(const struct text *lines, struct err *err)
{
	const char *argument = lines->length ? "-" : "-r";
	struct text out = TEXT_INIT, errors = TEXT_INIT;
	int status = 0;
	int rc = run_crontab(argument, lines, &out, &errors, &status, err);

	if (rc == 0 && status)
		rc = refused(argument, &errors, err);
	text_release(&out);
	text_release(&errors);
	return rc;
}
