/* script_options.c - the #POLLUX lines of a script become options of its submission. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "pollux/advice.h"
#include "pollux/file.h"
#include "pollux/paths.h"
#include "pollux/submission.h"
#include "pollux/text.h"
#include "request.h"

#define MOST_LINES 1000		/* comment lines at the head of a script that are read */
#define MOST_BYTES 4096		/* bytes of a line: a file with a longer line is no script */

static const char marker[] = "#POLLUX";

/* --- the script of a command line --- */

static bool is_any_runner(const char *program)
{
	static const char *const runners[] = {
		"python", "bash", "sh", "dash", "zsh", "ksh", "perl", "ruby", "Rscript", "julia",
		"torchrun", "accelerate", "deepspeed", "env", "nice", "uv",
	};

	for (size_t i = 0; i < sizeof(runners) / sizeof(runners[0]); i++)
		if (program_is(program, runners[i]))
			return true;
	return false;
}

const char *script_of_runner(char *const *argv)
{
	double number;

	if (!argv[0] || !is_any_runner(argv[0]))
		return NULL;
	for (char *const *word = argv + 1; *word; word++)
		if (**word != '-' && strchr(*word, '.') && !strpbrk(*word, " \t\n={;") &&
		    !value_parse(*word, &number))
			return *word;
	return NULL;
}

bool is_code(const char *word)
{
	return !strcmp(word, "-c") || !strcmp(word, "-m") || !strcmp(word, "-e");
}

/* Opens the script, a regular file that can be read; NULL: there is none. A pipe is not opened,
 * because the job is to read it. */
static FILE *find_script(const char *directory, char *const *argv, const char **name)
{
	bool is_runner = is_any_runner(argv[0]);
	FILE *file = NULL;

	*name = argv[0];
	if (!is_runner && !strchr(argv[0], '/'))
		return NULL;
	for (char *const *word = argv + is_runner; !file && *word && !is_code(*word); word++) {
		char *path = **word == '-' ? NULL : path_within(directory, *word);

		*name = *word;
		file = path ? file_open_stream(path) : NULL;
		free(path);
		if (!is_runner)
			break;
	}
	return file;
}

/* Goes on to an interpreter or launcher that another program is to run, as conda and xvfb-run
 * do. */
char *script_path(const char *directory, char *const *argv)
{
	char *const *runner = argv;
	char *path, *real;
	const char *name;
	FILE *file;

	if (!argv || !argv[0])
		return NULL;
	if (!strchr(argv[0], '/'))
		while (*runner && !is_code(*runner) && !is_any_runner(*runner))
			runner++;
	file = find_script(directory, *runner && !is_code(*runner) ? runner : argv, &name);
	if (!file)
		return NULL;
	fclose(file);
	path = path_within(directory, name);
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

/* Splits a line as a shell does, but expands nothing. Returns -1 where a quote is open. */
static int split_line(const char *p, struct strings *words)
{
	static const char blanks[] = " \t\n\v\f\r";	/* all that isspace() knows */
	char quote = '\0';

	for (p += strspn(p, blanks); *p && !quote; p += strspn(p, blanks)) {
		struct text word = TEXT_INIT;

		for (; *p && (quote || !isspace((unsigned char)*p)); p++) {
			if (quote ? *p == quote : *p == '\'' || *p == '"') {
				quote = (char)(quote ? '\0' : *p);
				continue;
			}
			p += *p == '\\' && escapes(quote, p[1]);
			text_add_byte(&word, *p, 1);
		}
		strings_add(words, word.data);
		text_release(&word);
	}
	return quote ? -1 : 0;
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

/* What follows the marker in a line of options; NULL: the line is another. In small letters it is
 * followed by an option at once: else it is a comment that begins with the word. */
static const char *options_of(const char *line)
{
	const char *options = line + strlen(marker);

	if (strncasecmp(line, marker, strlen(marker)) != 0 ||
	    (*options && !isspace((unsigned char)*options)))
		return NULL;
	return text_starts_with(line, marker) || options[strspn(options, " \t")] == '-' ? options
											 : NULL;
}

/* Reads the comments and empty lines at the head of the file, and the options among them: lines
 * "#POLLUX OPTIONS". Options that need each other may stand on several lines. */
static int read_head(const struct command *command, FILE *file, const char *name,
		     struct strings *words, struct err *err)
{
	char line[MOST_BYTES];

	for (int number = 1; number <= MOST_LINES && fgets(line, sizeof(line), file); number++) {
		const char *start = line + strspn(line, " \t\r\n");
		const char *options = options_of(line);

		if ((*start && *start != '#') || (!strchr(line, '\n') && !feof(file)))
			return 0;
		if (options && check_line(command, options, words, err) &&
		    !strstr(err->text, "' needs --"))
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
