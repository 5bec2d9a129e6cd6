/* launch_rule.c - see submission.h. */
#include "pollux/submission.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/advice.h"
#include "pollux/config.h"
#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/paths.h"
#include "pollux/text.h"
#include "request.h"

#define SCRIPT_BYTES 262144	/* of a script that are read */
#define INCLUDED_DEPTH 3	/* of scripts that a script reads or runs */

static const struct launcher {
	const char *name;
	const char *word;		/* that must follow; NULL: any */
	const char *told;
	bool with_machines;		/* counts only with several --num_machines */
} launchers[] = {
	{ "srun", NULL, "srun", false },
	{ "mpirun", NULL, "mpirun", false },
	{ "mpiexec", NULL, "mpiexec", false },
	{ "orterun", NULL, "mpirun", false },
	{ "accelerate", "launch", "accelerate launch", true },
	{ "accelerate-launch", NULL, "accelerate launch", true },
};

/* Words before which a command may stand, beside NAME=VALUE, options and numbers. */
static const char *const before_commands[] = {
	"if", "then", "else", "elif", "while", "until", "do", "!", "{", "time", "exec", "eval",
	"env", "nohup", "nice", "ionice", "command", "timeout", "setsid", "sudo", "stdbuf",
	"numactl", "taskset",
};

/* --- the words of a command --- */

static bool ends_word(char c)
{
	return !c || isspace((unsigned char)c) || strchr(";&|()\"'`<>", c);
}

/* Moves over blanks and continued lines. */
static const char *skip_blanks(const char *p)
{
	for (;; p++) {
		if (*p == '\\' && p[1] == '\n')
			p++;
		else if (*p != ' ' && *p != '\t')
			return p;
	}
}

/* The value of an option of the command that goes on at p, after '=' or a blank and without a
 * quote; NULL: the command does not have it. */
static const char *option_value(const char *p, const char *name, const char *other_name)
{
	for (; *p && !strchr("\n;&|", *p); p = skip_blanks(p + strcspn(p, " \t\n;&|"))) {
		size_t n = strlen(text_starts_with(p, name) ? name : other_name);

		if (!text_starts_with(p, name) && !text_starts_with(p, other_name))
			continue;
		if (p[n] != '=' && !isspace((unsigned char)p[n]))
			continue;
		p = p[n] == '=' ? p + n + 1 : skip_blanks(p + n);
		return p + strspn(p, "\"'");
	}
	return NULL;
}

/* True if the command is for several machines and is the same on each: a rank that is put in for
 * each machine makes it one that is started on all. */
static bool has_machines(const char *p)
{
	const char *machines = option_value(p, "--num_machines", "--num-machines");
	const char *rank = option_value(p, "--machine_rank", "--machine-rank");

	return machines && (*machines != '1' || isdigit((unsigned char)machines[1])) &&
	       (!rank || !strchr("{$`", *rank));
}

/* The launcher whose name begins at p; a directory is not part of it. */
static const struct launcher *launcher_at(const char *p)
{
	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++) {
		const struct launcher *l = &launchers[i];
		const char *end = p + strlen(l->name);

		if (!text_starts_with(p, l->name))
			continue;
		while (*end == '.' || (end > p + strlen(l->name) && isalnum((unsigned char)*end)))
			end++;		/* mpirun.openmpi, mpiexec.hydra */
		if (!ends_word(*end) && !(*end == '\\' && end[1] == '\n'))
			continue;
		if (l->word && !text_starts_with(skip_blanks(end), l->word))
			continue;
		if (l->with_machines && !has_machines(end))
			continue;
		return l;
	}
	return NULL;
}

/* --- shells --- */

/* True if words alone that stand before a command are from begin to end. */
static bool only_prefixes(const char *begin, const char *end)
{
	for (const char *p = begin; p < end;) {
		size_t n = strcspn(p, " \t\n");
		bool is_prefix = n == 0 || isdigit((unsigned char)*p) || memchr(p, '=', n) ||
				 (*p == '\\' && n == 1) ||
				 (*p == '-' && !text_starts_with(p, "-v ") &&
				  !text_starts_with(p, "-V "));

		for (size_t i = 0; i < sizeof(before_commands) / sizeof(*before_commands); i++)
			is_prefix = is_prefix || (strlen(before_commands[i]) == n &&
						  text_starts_with(p, before_commands[i]));
		if (!is_prefix)
			return false;
		p += n + strspn(p + n, " \t\n");
	}
	return true;
}

/* The beginning of the word that p is in. */
static const char *word_begin(const char *text, const char *p)
{
	while (p > text && !ends_word(p[-1]) && p[-1] != '=' && p[-1] != '{')
		p--;
	return p;
}

/* True if the word is one that a shell runs: the first of a command, or of a quoted command or
 * value, which another command may run. */
static bool is_run(const char *text, const char *word)
{
	const char *command = word;

	/* Back to an operator, or the beginning of a line that does not continue another one. */
	while (command > text && !strchr(";&|(`{", command[-1]) &&
	       !(command[-1] == '\n' && !(command - 1 > text && command[-2] == '\\')))
		command--;
	command += strspn(command, " \t");
	if (word > text && strchr("\"'", word[-1]))
		return !text_starts_with(command, "echo ") && !text_starts_with(command, "printf ");
	if (word > text && word[-1] == '=')	/* LAUNCHER=srun, not --launcher=srun */
		return *command != '-' && word_begin(text, word - 1) == command;
	return only_prefixes(command, word);
}

/* The end of a comment that begins at p; p: none does. */
static const char *skip_comment(const char *text, const char *p)
{
	if (*p == '#' && (p == text || isspace((unsigned char)p[-1])))
		return p + strcspn(p, "\n");
	return p;
}

static bool line_has(const char *text, const char *p, const char *what)
{
	const char *begin = p;
	size_t n = strlen(what);

	while (begin > text && begin[-1] != '\n')
		begin--;
	return memmem(begin, (size_t)(p - begin), what, n) != NULL;
}

/* True if the string at p, behind its quote, may be a command: "srun -n 2 ...", or the first
 * element of a list or argument. */
static bool is_command_string(const char *text, const char *p)
{
	const char *before = p - 1;

	if (line_has(text, p, "which(") || line_has(text, p, "choices") ||
	    line_has(text, p, "print(") || line_has(text, p, "help="))
		return false;
	if (p[strcspn(p, " \"'\n")] == ' ')
		return true;
	while (before > text && strchr(" \t\n", before[-1]))
		before--;
	return before > text && strchr("([", before[-1]);
}

const char *launcher_in_text(const char *text, bool is_shell)
{
	for (const char *p = text; *p; p++) {
		const struct launcher *l;

		p = skip_comment(text, p);
		if (!*p)
			break;
		if (p > text && is_shell && !ends_word(p[-1]) && !strchr("/={", p[-1]))
			continue;
		if (!is_shell && (p == text || !strchr("\"'", p[-1])))
			continue;
		l = launcher_at(p);
		if (l && is_shell ? is_run(text, word_begin(text, p))
				  : l && is_command_string(text, p))
			return l->told;
	}
	return NULL;
}

/* --- commands --- */

/* The words as one line. A word that a shell would have to quote stands for itself alone. */
static const char *launcher_in_words(const struct strings *argv)
{
	struct text line = TEXT_INIT;
	const char *found = NULL;
	bool shell = false;

	for (size_t i = 0; i < argv->count && !found; i++) {
		const char *word = argv->items[i], *before = i ? argv->items[i - 1] : "";
		size_t n = strlen(before);

		/* behind "-c", "-lc", "-ec" */
		if (n >= 2 && before[0] == '-' && before[1] != '-' && before[n - 1] == 'c')
			found = launcher_in_text(word, shell);
		shell = shell || program_is_shell(word);
		text_addf(&line, "%s%s", i ? " " : "",
			  strpbrk(word, " \t\n;&|()'\"`#") ? "x" : word);
	}
	if (!found && line.length)
		found = launcher_in_text(line.data, true);
	text_release(&line);
	return found;
}

static bool is_shell_script(const char *path, const char *text, const struct strings *argv)
{
	static const char *const others[] = { ".py", ".pl", ".jl", ".R", NULL };
	const char *end = strrchr(path_name(path), '.');

	if (text_starts_with(text, "#!"))
		return strchr(text, '\n') && memmem(text, strcspn(text, "\n"), "sh", 2);
	if (end && text_is_among(end, others))
		return false;
	for (size_t i = 0; i < argv->count; i++)
		if (program_is_shell(argv->items[i]))
			return true;
	return false;
}

/* The script that a line of a shell's script has read or run, where the line names it in plain
 * words; "": none. */
static void included_script(const char *line, char path[PATH_MAX])
{
	static const char *const words[] = {
		". ", "source ", "sh ", "bash ", "exec sh ", "exec bash ",
	};
	size_t n = 0;

	line += strspn(line, " \t");
	for (size_t i = 0; n == 0 && i < sizeof(words) / sizeof(words[0]); i++)
		if (text_starts_with(line, words[i]))
			n = strlen(words[i]);
	line += n + strspn(line + n, " \t");
	n = n ? strcspn(line, " \t\n;&|#<>()$`\"'*?[") : 0;
	n = n < PATH_MAX && (!line[n] || strchr(" \t\n;&|", line[n])) ? n : 0;
	memcpy(path, line, n);
	path[n] = '\0';
}

/* A file with a NUL is a program in the language of the processor. depth: of scripts that may be
 * read by others */
static const char *launcher_in_script(const char *directory, const char *path,
				      const struct strings *argv, int depth)
{
	char *text = xmalloc(SCRIPT_BYTES + 1);
	char *file = path_within(directory, path), *real = realpath(file, NULL);
	ssize_t n = real ? file_read_head(real, 0, text, SCRIPT_BYTES + 1) : -1;
	const char *found = NULL;

	if (n > 0 && strlen(text) == (size_t)n) {
		bool shell = is_shell_script(path, text, argv);
		const char *line = shell && depth > 0 ? text : NULL;
		char included[PATH_MAX];

		for (found = launcher_in_text(text, shell); line && !found;
		     line = strchr(line, '\n')) {
			line += *line == '\n';
			included_script(line, included);
			if (*included && *included != '-')
				found = launcher_in_script(directory, included, argv, depth - 1);
		}
	}
	free(real);
	free(file);
	free(text);
	return found;
}

const char *launcher_of_command(const struct job_command *c)
{
	const char *found = c->argv.count ? launcher_in_words(&c->argv) : NULL;
	char *path = found || !c->argv.count ? NULL : script_path(c->directory, c->argv.items);

	if (path)
		found = launcher_in_script(c->directory, path, &c->argv, INCLUDED_DEPTH);
	free(path);
	return found;
}

/* Slurm alone has several nodes. */
enum launch_rule launch_by_command(const struct job_command *c)
{
	struct config config;

	return config_load_own(&config) && config.slurm && launcher_of_command(c) ? LAUNCH_FIRST
										  : LAUNCH_EACH;
}
