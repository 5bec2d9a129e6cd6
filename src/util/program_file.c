/* program_file.c - see advice.h. */
#include "pollux/advice.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "pollux/advice.h"
#include "pollux/file.h"
#include "pollux/mem.h"

#define KERNEL_BYTES 255	/* of the "#!" line that the kernel reads */
#define HEAD_BYTES 4096

static const char byte_order_mark[] = "\xef\xbb\xbf";

/* The beginning of a regular file, ended by NUL. False: it cannot be read, or is no such file. */
static bool read_head(const char *path, char *head, size_t *length)
{
	int fd = file_open(path, O_RDONLY, 0);
	ssize_t n = fd < 0 ? -1 : read(fd, head, HEAD_BYTES);

	if (fd >= 0)
		close(fd);
	*length = n > 0 ? (size_t)n : 0;
	head[*length] = '\0';
	return n >= 0;
}

static void add_mend(struct text *why, const char *before, const char *path, const char *after)
{
	text_add(why, before);
	text_add_shell_quoted(why, path);
	text_add(why, after);
}

static void add_edit(struct text *why, const char *before, const char *edit, const char *path,
		     const char *after)
{
	text_add(why, before);
	advice_add_edit(why, edit, path);
	text_add(why, after);
}

/* --- no program --- */

static bool lacks_bit(const char *path, struct text *why)
{
	struct statvfs fs;
	struct stat st;

	if (stat(path, &st) || !S_ISREG(st.st_mode) || access(path, X_OK) == 0)
		return false;
	if (!(st.st_mode & 0111) && st.st_uid != geteuid())
		add_mend(why, "it has no execute bit, which its owner or root sets by chmod +x ",
			 path, "");
	else if (!(st.st_mode & 0111))
		add_mend(why, "it has no execute bit, which chmod +x ", path, " sets");
	else if (statvfs(path, &fs) == 0 && (fs.f_flag & ST_NOEXEC))
		text_add(why, "its file system is mounted noexec; its interpreter can run it, as "
			 "in: bash SCRIPT");
	else
		return false;
	return true;
}

/* What runs a script, by the ending of its name. */
static const char *interpreter_of(const char *path)
{
	static const char *const list[][2] = {
		{ ".py", "python3" }, { ".pl", "perl" }, { ".R", "Rscript" }, { ".jl", "julia" },
		{ ".lua", "lua" }, { ".rb", "ruby" }, { ".js", "node" }, { ".bash", "bash" },
	};
	const char *dot = strrchr(path, '.');

	for (size_t i = 0; dot && i < sizeof(list) / sizeof(*list); i++)
		if (!strcmp(dot, list[i][0]))
			return list[i][1];
	return "sh";
}

/* "begin it with #!/bin/sh, or run: sh PATH" */
static void add_interpreter(struct text *why, const char *path)
{
	const char *name = interpreter_of(path);

	text_addf(why, "begin it with #!%s%s, or run: %s ",
		  strcmp(name, "sh") ? "/usr/bin/env " : "/bin/", name, name);
	text_add_shell_quoted(why, path);
}

/* A file without "#!" that has no NUL is text: shells run it as a script, the kernel does not. */
static bool lacks_interpreter(const char *path, const char *head, size_t length, struct text *why)
{
	const char *text = head + strspn(head, " \t\r\n");

	if (text_starts_with(head, "\xff\xfe") || text_starts_with(head, "\xfe\xff")) {
		text_add(why, "it is text in UTF-16, which no interpreter here reads");
		return true;
	}
	if (strlen(head) < length || text_starts_with(head, "#!"))
		return false;
	if (text_starts_with(head, byte_order_mark))
		add_edit(why, "it begins with a byte order mark, before which there must be no "
			 "other byte than '#!'; ", "sed -i '1s/^\\xEF\\xBB\\xBF//'", path,
			 " takes it away");
	else if (text_starts_with(text, "#!"))
		text_add(why, "its '#!' line is not the first thing in it: blanks or empty lines "
			 "before it must go");
	else {
		text_add(why, length ? "it has no '#!' line to name its interpreter; "
				     : "it is empty; ");
		add_interpreter(why, path);
	}
	return true;
}

/* --- its interpreter --- */

static bool is_shell(const char *interpreter)
{
	static const char *const shells[] = { "sh", "bash", "dash", "zsh", "ksh" };
	const char *slash = strrchr(interpreter, '/');

	for (size_t i = 0; i < sizeof(shells) / sizeof(*shells); i++)
		if (!strcmp(slash ? slash + 1 : interpreter, shells[i]))
			return true;
	return false;
}

static bool is_in_path(const char *name, const char *search_path)
{
	char *list = xstrdup(search_path), *save = NULL;
	bool found = strchr(name, '/') && access(name, X_OK) == 0;

	for (char *part = strtok_r(list, ":", &save); part && !found;
	     part = strtok_r(NULL, ":", &save)) {
		char *candidate = xasprintf("%s/%s", part, name);

		found = access(candidate, X_OK) == 0;
		free(candidate);
	}
	free(list);
	return found;
}

/* env finds the first word that is neither an option nor a variable. */
static bool env_lacks(char *arguments, const char *search_path, struct text *why)
{
	char *blank = strpbrk(arguments, " \t"), *save = NULL, *word;

	/* without -S the kernel gives env all of the line as one word */
	if (*arguments != '-' && blank && blank[strspn(blank, " \t")]) {
		text_addf(why, "its '#!' line has env look for a program named '%s'; begin it with "
			  "#!/usr/bin/env -S %s", arguments, arguments);
		return true;
	}
	word = strtok_r(arguments, " \t", &save);
	while (word && (*word == '-' || strchr(word, '=')))
		word = strtok_r(NULL, " \t", &save);
	if (!word || !search_path || is_in_path(word, search_path))
		return false;
	text_addf(why, "its '#!' line has env look for '%s', which is nowhere in PATH", word);
	return true;
}

/* line: the interpreter and its arguments, without "#!" */
static bool lacks_file(char *line, const char *search_path, struct text *why)
{
	char *arguments = line + strcspn(line, " \t");
	const char *slash;

	if (*arguments)
		*arguments++ = '\0';
	arguments += strspn(arguments, " \t");
	slash = strrchr(line, '/');
	if (!strcmp(slash ? slash + 1 : line, "env"))
		return env_lacks(arguments, search_path, why);
	if (*line && access(line, X_OK) == 0)
		return false;
	if (*line)
		text_addf(why, "its '#!' line names the interpreter '%s', which is not there",
			  line);
	else
		text_add(why, "its '#!' line names no interpreter");
	return true;
}

/* Some interpreters take a CR behind their arguments; a shell, env and the kernel do not. */
static bool minds_cr(char *line)
{
	char *cr = strchr(line, '\r'), *blank = strpbrk(line, " \t");
	char *program;
	bool minds;

	if (!cr)
		return false;
	program = xasprintf("%.*s", (int)strcspn(line, " \t\r"), line);
	minds = !blank || blank > cr || is_shell(program) || strstr(program, "/env");
	free(program);
	return minds;
}

static bool has_bad_line(const char *path, const char *head, const char *search_path,
			 struct text *why)
{
	const char *start = head + 2 + strspn(head + 2, " \t");
	size_t length = strcspn(start, "\n");
	char *line = xasprintf("%.*s", (int)length, start);
	bool is_bad = true;

	if (minds_cr(line))
		add_edit(why, "its lines end in CR LF, as on Windows, so that its interpreter is "
			 "not found; ", PROGRAM_FILE_NO_CR, path, " mends that");
	else if (strcspn(head, "\n") > KERNEL_BYTES &&
		 strcspn(head + 2, " \t\n") > KERNEL_BYTES - 2)
		text_addf(why, "its '#!' line has more than the %d bytes that the kernel reads",
			  KERNEL_BYTES);
	else
		is_bad = lacks_file(line, search_path, why);
	free(line);
	return is_bad;
}

/* Adds the reason and what mends it. False: nothing is wrong, or nothing that is seen here.
 * by_shell: a shell runs a file that names no interpreter. */
static bool has_fault(const char *path, const char *search_path, bool by_shell, struct text *why)
{
	char head[HEAD_BYTES + 1];
	size_t length;

	if (lacks_bit(path, why))
		return true;
	if (!read_head(path, head, &length))
		return false;
	if (text_starts_with(head, "#!"))
		return has_bad_line(path, head, search_path, why);
	return !by_shell && lacks_interpreter(path, head, length, why);
}

bool program_file_is_dos(const char *path)
{
	char head[HEAD_BYTES + 1];
	size_t length, end;

	if (!read_head(path, head, &length))
		return false;
	end = strcspn(head, "\n");
	return end > 0 && head[end] == '\n' && head[end - 1] == '\r';
}

/* --- programs that start another one --- */

/* These execute the rest of their command line. They give a file without "#!" to a shell. */
static bool is_starter(const char *word)
{
	static const char *const starters[] = {
		"env", "nice", "nohup", "timeout", "setsid", "stdbuf", "ionice", "taskset",
		"chrt", "numactl", "prlimit", "time", "xvfb-run",
	};
	const char *slash = strrchr(word, '/');

	for (size_t i = 0; i < sizeof(starters) / sizeof(*starters); i++)
		if (!strcmp(slash ? slash + 1 : word, starters[i]))
			return true;
	return false;
}

/* True if a word without '/' names no program: an option, a time, a number of CPUs, a signal. */
static bool is_no_program(const char *word)
{
	static const char lower[] = "abcdefghijklmnopqrstuvwxyz";

	return *word == '-' || isdigit((unsigned char)*word) || !strpbrk(word, lower);
}

/* True if the next word may be the value of this option: "time -o FILE", "time --output FILE". */
static bool may_take_value(const char *word)
{
	return *word == '-' && !strchr(word, '=') && (word[1] == '-' || strlen(word) == 2);
}

/* Returns the program that is started, if it is given by a path; NULL. Variables may stand before
 * it; of those, PATH is noted. */
static const char *started_by(char *const *argv, const char **search_path)
{
	bool starts = argv[0] && is_starter(argv[0]);

	for (char *const *word = argv + 1; starts && *word; word++) {
		if (text_starts_with(*word, "PATH="))
			*search_path = *word + strlen("PATH=");
		if (strchr(*word, '=') || (!strchr(*word, '/') && is_no_program(*word)))
			continue;
		if (strchr(*word, '/') && !is_starter(*word))
			return may_take_value(word[-1]) ? NULL : *word;
		starts = is_starter(*word);
	}
	return NULL;
}

bool program_file_fault(const char *program, char *const *argv, const char *directory,
			const char *search_path, struct text *words)
{
	const char *started = started_by(argv, &search_path);
	char *path = !started || *started == '/' ? xstrdup(started ? started : program)
						 : xasprintf("%s/%s", directory, started);
	struct text why = TEXT_INIT;
	bool is_bad = has_fault(path, search_path, started != NULL, &why);

	if (is_bad)
		text_addf(words, "cannot execute '%s': %s", path, why.data);
	text_release(&why);
	free(path);
	return is_bad;
}

void program_file_cannot(const char *path, const char *search_path, int error, struct text *out)
{
	struct text why = TEXT_INIT;
	bool known = has_fault(path, search_path, false, &why);

	text_addf(out, "cannot execute '%s': %s", path, known ? why.data : strerror(error));
	text_release(&why);
}
