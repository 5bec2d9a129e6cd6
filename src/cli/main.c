/* main.c - find the command, run it, say once what went wrong. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "commands.h"
#include "pollux/file.h"

#define COMMAND(name) &cmd_##name,
static const struct command *const commands[] = { COMMANDS(COMMAND) };
static const size_t n_commands = sizeof(commands) / sizeof(commands[0]);

/* A file that grows beyond 'ulimit -f' is then an error of write(2). A signal that is handled,
 * unlike one that is ignored, has its usual effect again in the programs that are started. */
static void survive(int signal_number)
{
	(void)signal_number;
}

static void print_commands(FILE *out)
{
	/* the command that each heading stands before */
	static const char *const headings[][2] = {
		{ "submit", "every day" }, { "results", "results" },
		{ "devices", "devices and models" }, { "prune", "upkeep" },
		{ "simulate", "what if" },
	};
	size_t next = 0;

	fputs("usage: pollux COMMAND [OPTION]... [ARGUMENT]...\n\n"
	      "Share this machine's devices among training jobs, by checkpoint and relaunch.\n",
	      out);
	for (size_t i = 0; i < n_commands; i++) {
		if (next < sizeof(headings) / sizeof(headings[0]) &&
		    !strcmp(headings[next][0], commands[i]->name))
			fprintf(out, "\n%s:\n", headings[next++][1]);
		if (!commands[i]->hidden)
			fprintf(out, "  %-9s %s\n", commands[i]->name, commands[i]->summary);
	}
	fputs("\nSee 'pollux COMMAND --help' and pollux(1).\n", out);
}

/* A beginning that only one command has stands for the command; "st" is status. */
static const struct command *find_command(const char *name)
{
	const struct command *begins = NULL;
	int n = 0;

	for (size_t i = 0; i < n_commands; i++) {
		const struct command *command = commands[i];

		if (!strcmp(command->name, name) ||
		    (command->abbreviation && !strcmp(command->abbreviation, name)))
			return command;
		if (*name && !command->hidden && text_starts_with(command->name, name)) {
			begins = command;
			n++;
		}
	}
	return n == 1 ? begins : NULL;
}

/* "'s' could be submit, schedule, status", or the nearest known name. */
static int unknown_command(const char *name, struct err *err)
{
	struct suggestion nearest = suggestion_for(name);
	struct text candidates = TEXT_INIT;

	for (size_t i = 0; i < n_commands; i++) {
		if (commands[i]->hidden)
			continue;
		suggestion_offer(&nearest, commands[i]->name);
		if (*name && text_starts_with(commands[i]->name, name))
			text_addf(&candidates, "%s%s", candidates.length ? ", " : "",
				  commands[i]->name);
	}
	if (candidates.length) {
		err_set(err, EX_USAGE, "'%s' could be %s", name, candidates.data);
		text_release(&candidates);
		return -1;
	}
	suggestion_offer(&nearest, "help");
	if (*name != '-' && peer_word(name))
		return err_set(err, EX_USAGE, "unknown command '%s'; here that is '%s'", name,
			       peer_word(name));
	if (nearest.best)
		return err_set(err, EX_USAGE, "unknown command '%s'; did you mean '%s'?", name,
			       nearest.best);
	return usage_error(NULL, err, "unknown %s '%.60s'", *name == '-' ? "option" : "command",
			   name);
}

/* pollux help [COMMAND [--OPTION | JOB]]. The last word is for completion in shells: the names that
 * an option takes, or the jobs that the command can act on. */
static int help(int argc, char **argv, struct err *err)
{
	const char *what = argc == 3 ? argv[2] : "";
	bool names_option = text_starts_with(what, "--"), names_job = !strcmp(what, "JOB");
	const struct command *command;

	if (argc > 2 && !names_option && !names_job)
		return usage_error(NULL, err, "help takes one command, not %d", argc - 1);
	if (argc < 2 || !strcmp(argv[1], "help")) {
		print_commands(stdout);
		return 0;
	}
	command = find_command(argv[1]);
	if (!command)
		return unknown_command(argv[1], err);
	if (names_option)
		return command_choices(command, what + strlen("--"), stdout) ? 0
			: usage_error(command, err, "unknown option '%.60s'", what);
	if (names_job)
		return command->takes_jobs ? selection_print_candidates(command->job_use, err)
			: usage_error(command, err, "%s takes no jobs", command->name);
	command_help(command, true, stdout);
	return 0;
}

static bool is_one_of(const char *word, const char *a, const char *b, const char *c)
{
	return !strcmp(word, a) || !strcmp(word, b) || !strcmp(word, c);
}

/* Without any word the command is status. */
static int dispatch(int argc, char **argv, struct err *err)
{
	static char name[] = "status", *status[] = { name, NULL };
	const struct command *command;

	if (argc < 1) {
		argc = 1;
		argv = status;
	}
	if (is_one_of(argv[0], "--help", "-h", "help"))
		return help(argc, argv, err);
	if (is_one_of(argv[0], "--version", "-V", "version")) {
		puts("pollux " POLLUX_VERSION);
		return 0;
	}
	command = find_command(argv[0]);
	if (!command)
		return unknown_command(argv[0], err);
	if (!options_ask_help(command, argc, argv))
		return command->change ? change_jobs(command, command->change, argc, argv, err)
				       : command->run(argc, argv, err);
	command_help(command, !strcmp(argv[argc - 1], "all"), stdout);
	return 0;
}

/* "pollux: TEXT" on stderr, and the exit status. An empty text has nothing to say. */
static int report(const struct err *err)
{
	if (err->text[0])
		output_message(err->text);
	return err->exit_status ? err->exit_status : EX_SOFTWARE;
}

int main(int argc, char **argv)
{
	struct err err = { 0 }, written = { 0 };
	int status, unwritten;

	tzset();	/* required by POSIX before localtime_r */
	/* A file opened where a standard stream should be would receive what is printed there: the
	 * store, for one. What is printed on a standard output that was closed is lost, and must
	 * not seem to have arrived: it cannot be written. */
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) == -1 && errno == EBADF &&
		    file_open_null(fd == STDOUT_FILENO ? O_RDONLY : O_RDWR) != fd)
			_exit(EX_OSFILE);
	sigaction(SIGXFSZ, &(struct sigaction){ .sa_handler = survive }, NULL);
	status = dispatch(argc - 1, argv + 1, &err);
	/* Flushed first: if output and errors go to one place, errors come last. */
	unwritten = output_flush(&written);
	/* A command that flushed has the same to say. */
	if (unwritten && status < 0 && !strcmp(err.text, written.text))
		written.text[0] = '\0';
	if (status < 0)
		status = report(&err);
	if (unwritten) {
		unwritten = report(&written);
		status = status ? status : unwritten;
	}
	return status;
}
