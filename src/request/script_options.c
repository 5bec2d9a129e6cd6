/* script_options.c - the #POLLUX lines of a script become options of its submission. */
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/submission.h"
#include "request.h"

#define MOST_LINES 1000		/* comment lines at the head of a script that are read */
#define MOST_BYTES 4096		/* bytes of a line: a file with a longer line is no script */

static const char marker[] = "#POLLUX";

/* --- the script of a command line --- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool is_runner(const char *program, const char *runner)
{
	const char *name = base_name(program);

	return text_starts_with(name, runner) &&
	       name[strlen(runner) + strspn(name + strlen(runner), "0123456789.")] == '\0';
}

static bool is_any_runner(const char *program)
{
	static const char *const runners[] = {
		"python", "bash", "sh", "dash", "zsh", "ksh", "perl", "ruby", "Rscript", "julia",
		"torchrun", "accelerate", "deepspeed", "env", "nice", "uv",
	};

	for (size_t i = 0; i < sizeof(runners) / sizeof(runners[0]); i++)
		if (is_runner(program, runners[i]))
			return true;
	return false;
}

const char *script_of_runner(char *const *argv)
{
	if (!argv[0] || !is_any_runner(argv[0]))
		return NULL;
	for (char *const *word = argv + 1; *word; word++)
		if (**word != '-' && strchr(*word, '.') && !strpbrk(*word, " \t\n={;"))
			return *word;
	return NULL;
}

bool is_code(const char *word)
{
	return !strcmp(word, "-c") || !strcmp(word, "-m") || !strcmp(word, "-e");
}

static char *below(const char *directory, const char *path)
{
	return directory && *path != '/' ? xasprintf("%s/%s", directory, path) : xstrdup(path);
}

/* Opens a regular file; NULL: it is none, or cannot be read. A pipe is not opened, because the job
 * is to read it. */
static FILE *open_script(const char *directory, const char *name)
{
	char *path = below(directory, name);
	FILE *file = file_open_stream(path);

	free(path);
	return file;
}

static FILE *find_script(const char *directory, char *const *argv, const char **name)
{
	FILE *file = NULL;

	*name = argv[0];
	if (!is_any_runner(argv[0]))
		return strchr(argv[0], '/') ? open_script(directory, argv[0]) : NULL;
	for (char *const *word = argv + 1; !file && *word && !is_code(*word); word++) {
		*name = *word;
		if (**word != '-')
			file = open_script(directory, *word);
	}
	return file;
}

/* Goes on to an interpreter or launcher that another program is to run, as conda and xvfb-run
 * do. */
static char *const *skip_to_runner(char *const *argv)
{
	if (strchr(argv[0], '/'))
		return argv;
	for (char *const *word = argv; *word && !is_code(*word); word++)
		if (is_any_runner(*word))
			return word;
	return argv;
}

char *script_path(const char *directory, char *const *argv)
{
	char *path, *real;
	const char *name;
	FILE *file;

	if (!argv || !argv[0])
		return NULL;
	file = find_script(directory, skip_to_runner(argv), &name);
	if (!file)
		return NULL;
	fclose(file);
	path = below(directory, name);
	real = realpath(path, NULL);
	free(path);
	return real;
}

/* --- words --- */

/* True if a backslash before this character quotes it. */
static bool escapes(char quote, char next)
{
	return next && quote != '\'' && (!quote || strchr("\"\\$`", next));
}

/* Appends the word that begins at p, and moves p behind it. Returns -1 where a quote is open. */
static int take_word(const char **p, struct strings *words)
{
	struct text word = TEXT_INIT;
	char quote = '\0';

	for (; **p && (quote || !isspace((unsigned char)**p)); ++*p) {
		if (quote ? **p == quote : **p == '\'' || **p == '"')
			quote = (char)(quote ? '\0' : **p);
		else if (**p == '\\' && escapes(quote, (*p)[1]))
			text_add_byte(&word, *++*p, 1);
		else
			text_add_byte(&word, **p, 1);
	}
	strings_add(words, word.data);
	text_release(&word);
	return quote ? -1 : 0;
}

static int split_line(const char *line, struct strings *words)
{
	for (;;) {
		line += strspn(line, " \t\r\n");
		if (!*line)
			return 0;
		if (take_word(&line, words))
			return -1;
	}
}

/* --- lines --- */

/* Parses the options alone, with the program's command after them or none. Returns its own status;
 * *first: where the operands begin. */
static int try_parse(const struct command *command, const struct strings *words, int *first,
		     struct err *err)
{
	struct submit_asked o = { .sweep = { .array = NULL } };
	int rc;

	asked_init(&o.job);
	rc = options_parse(command, (int)words->count, words->items, &o, first, err);
	options_release(command, &o);
	return rc;
}

static int check_line(const struct command *command, const char *line, struct strings *words,
		      struct err *err)
{
	struct strings alone = { 0 };
	int first = 0, rc;

	strings_add(&alone, command->name);
	rc = split_line(line, &alone);
	if (rc)
		err_set(err, EX_USAGE, "a quote is not closed");
	for (size_t i = 1; rc == 0 && i < alone.count; i++)
		strings_add(words, alone.items[i]);
	if (rc == 0 && options_ask_help(command, (int)alone.count, alone.items))
		rc = err_set(err, EX_USAGE, "'--help' is for the command line");
	if (rc == 0)
		rc = try_parse(command, &alone, &first, err);
	if (rc == 0 && first < (int)alone.count)
		rc = err_set(err, EX_USAGE, "'%.60s' is not an option: the command stands on the "
			     "command line", alone.items[first]);
	strings_release(&alone);
	return rc;
}

/* Options that need each other may stand on several lines. */
static bool is_need(const struct err *err)
{
	return strstr(err->text, "' needs --");
}

/* "#POLLUX OPTIONS": the options; NULL: another line. */
static const char *options_of(const char *line)
{
	const char *rest = line + strlen(marker);

	return text_starts_with(line, marker) && (!*rest || isspace((unsigned char)*rest)) ? rest
											    : NULL;
}

/* Reads the comments and empty lines at the head of the file, and the options among them. */
static int read_head(const struct command *command, FILE *file, const char *name,
		     struct strings *words, struct err *err)
{
	char line[MOST_BYTES];

	for (int number = 1; number <= MOST_LINES && fgets(line, sizeof(line), file); number++) {
		const char *start = line + strspn(line, " \t\r\n");
		const char *options = options_of(line);

		if (*start && *start != '#')
			return 0;
		if (!strchr(line, '\n') && !feof(file))
			return 0;
		if (options && check_line(command, options, words, err) && !is_need(err))
			return err_prefix(err, "'%s' line %d", name, number);
	}
	return 0;
}

int script_options_add(const struct command *command, int argc, char **argv, struct strings *words,
		       struct err *err)
{
	const char *name;
	struct err ignored;
	struct submit_asked o = { .sweep = { .array = NULL } };
	FILE *file;
	int first, rc;

	*words = (struct strings){ 0 };
	asked_init(&o.job);
	/* Errors are told later, when all options are parsed: an option here may need one in the
	 * script. */
	options_parse(command, argc, argv, &o, &first, &ignored);
	file = first < argc ? find_script(o.job.directory, argv + first, &name) : NULL;
	options_release(command, &o);
	if (!file)
		return 0;
	strings_add(words, argv[0]);
	rc = read_head(command, file, name, words, err);
	fclose(file);
	if (rc || words->count == 1)
		return rc;
	for (int i = 1; i < argc; i++)
		strings_add(words, argv[i]);
	rc = try_parse(command, words, &first, err);
	return rc ? err_prefix(err, "with the %s lines of '%s'", marker, name) : 1;
}
