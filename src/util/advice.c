/* advice.c - see advice.h. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "pollux/advice.h"
#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/paths.h"
#include "pollux/proc.h"

#define SECOND_LOOK_MS 300

const char *advice_sudo(void)
{
	return geteuid() ? "sudo " : "";
}

/* --- processes --- */

void advice_add_kill(struct text *t, const char *signal, pid_t pid)
{
	bool is_of_another = kill(pid, 0) && errno == EPERM;

	text_addf(t, "%skill -%s %d", is_of_another ? "sudo " : "", signal, (int)pid);
}

pid_t advice_debugger(pid_t pid)
{
	char debugger[16];

	if (proc_state(pid) != 't' ||
	    !proc_find_line(pid, "status", "TracerPid:", debugger, sizeof(debugger)))
		return 0;
	return (pid_t)strtol(debugger, NULL, 10);
}

void advice_add_continue(struct text *t, pid_t pid)
{
	pid_t debugger = advice_debugger(pid);

	if (debugger) {
		text_addf(t, "its debugger, process %d,", (int)debugger);
		return;
	}
	text_add(t, "'");
	advice_add_kill(t, "CONT", pid);
	text_add(t, "'");
}

bool advice_stays_stopped(pid_t pid)
{
	int64_t start = proc_start_ticks(pid);
	char state = proc_state(pid);

	if (state != 'T' && state != 't')
		return false;
	poll(NULL, 0, SECOND_LOOK_MS);
	state = proc_state(pid);
	return (state == 'T' || state == 't') && proc_start_ticks(pid) == start;
}

/* --- files --- */

void advice_add_edit(struct text *t, const char *command, const char *path)
{
	struct stat st;
	bool is_link = lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
	autofree char *file = is_link ? realpath(path, NULL) : NULL;

	if (stat(path, &st) == 0 && st.st_uid != geteuid())
		text_add(t, advice_sudo());
	text_addf(t, "%s ", command);
	text_add_shell_quoted(t, file ? file : path);
}

void advice_add_private(struct text *t, const char *directory)
{
	autofree char *store = xasprintf("%s/pollux.db", directory);
	autofree char *below = xasprintf("%s/pollux", strcmp(directory, "/") != 0 ? directory : "");
	struct stat st;
	bool sticky = stat(directory, &st) == 0 && (st.st_mode & S_ISVTX);
	DIR *dir = opendir(directory);
	int n = 0;

	while (dir && readdir(dir) && n < 3)
		n++;
	if (dir)
		closedir(dir);
	/* The directory of a store, or an empty one ("." and ".."), is nobody else's. */
	if (!sticky && (access(store, F_OK) == 0 || (dir && n < 3))) {
		text_add(t, "chmod 700 ");
		text_add_shell_quoted(t, directory);
	} else {
		text_add(t, "export POLLUX_DIR=");
		text_add_shell_quoted(t, below);
	}
}

/* --- why the kernel does not run a file as a program --- */

#define KERNEL_BYTES 255	/* of the "#!" line that the kernel reads */
#define HEAD_BYTES 4097		/* of a file, with a NUL */

static const char byte_order_mark[] = "\xef\xbb\xbf";

static ssize_t read_head(const char *path, char head[HEAD_BYTES])
{
	autofree char *real = realpath(path, NULL);

	return real ? file_read_head(real, 0, head, HEAD_BYTES) : -1;
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
	if (!(st.st_mode & 0111)) {
		bool is_other = st.st_uid != geteuid();

		text_addf(why, "it has no execute bit, which %schmod +x ",
			  is_other ? "its owner or root sets by " : "");
		text_add_shell_quoted(why, path);
		text_add(why, is_other ? "" : " sets");
	} else if (statvfs(path, &fs) == 0 && (fs.f_flag & ST_NOEXEC)) {
		text_add(why, "its file system is mounted noexec; its interpreter can run it, as "
			 "in: bash SCRIPT");
	} else {
		return false;
	}
	return true;
}

/* A file without "#!" that has no NUL is text: shells run it as a script, the kernel does not. */
static bool lacks_interpreter(const char *path, const char *head, size_t length, struct text *why)
{
	/* what runs a script, by the ending of its name */
	static const char *const interpreters[][2] = {
		{ ".py", "python3" }, { ".pl", "perl" }, { ".R", "Rscript" }, { ".jl", "julia" },
		{ ".lua", "lua" }, { ".rb", "ruby" }, { ".js", "node" }, { ".bash", "bash" },
	};
	const char *text = head + strspn(head, " \t\r\n"), *dot = strrchr(path, '.');
	const char *name = "sh";

	if (text_starts_with(head, "\xff\xfe") || text_starts_with(head, "\xfe\xff")) {
		text_add(why, "it is text in UTF-16, which no interpreter here reads");
		return true;
	}
	if (strlen(head) < length || text_starts_with(head, "#!"))
		return false;
	if (text_starts_with(head, byte_order_mark)) {
		add_edit(why, "it begins with a byte order mark, before which there must be no "
			 "other byte than '#!'; ", "sed -i '1s/^\\xEF\\xBB\\xBF//'", path,
			 " takes it away");
		return true;
	}
	if (text_starts_with(text, "#!")) {
		text_add(why, "its '#!' line is not the first thing in it: blanks or empty lines "
			 "before it must go");
		return true;
	}
	for (size_t i = 0; dot && i < sizeof(interpreters) / sizeof(*interpreters); i++)
		if (!strcmp(dot, interpreters[i][0]))
			name = interpreters[i][1];
	text_addf(why, "%sbegin it with #!%s%s, or run: %s ",
		  length ? "it has no '#!' line to name its interpreter; " : "it is empty; ",
		  strcmp(name, "sh") ? "/usr/bin/env " : "/bin/", name, name);
	text_add_shell_quoted(why, path);
	return true;
}

/* --- its interpreter --- */

bool program_is(const char *program, const char *name)
{
	const char *own = path_name(program);

	return text_starts_with(own, name) &&
	       own[strlen(name) + strspn(own + strlen(name), "0123456789.")] == '\0';
}

bool program_is_shell(const char *program)
{
	static const char *const shells[] = { "sh", "bash", "dash", "zsh", "ksh" };

	for (size_t i = 0; i < sizeof(shells) / sizeof(*shells); i++)
		if (program_is(program, shells[i]))
			return true;
	return false;
}

/* env finds the first word that is neither an option nor a variable. */
static bool env_lacks(char *arguments, const char *search_path, struct text *why)
{
	char *blank = strpbrk(arguments, " \t"), *save = NULL, *word, *found = NULL;

	/* without -S the kernel gives env all of the line as one word */
	if (*arguments != '-' && blank && blank[strspn(blank, " \t")]) {
		text_addf(why, "its '#!' line has env look for a program named '%s'; begin it with "
			  "#!/usr/bin/env -S %s", arguments, arguments);
		return true;
	}
	word = strtok_r(arguments, " \t", &save);
	while (word && (*word == '-' || strchr(word, '=')))
		word = strtok_r(NULL, " \t", &save);
	if (!word || !search_path || (strchr(word, '/') && access(word, X_OK) == 0))
		return false;
	found = path_search(search_path, word, ".");
	if (!found)
		text_addf(why, "its '#!' line has env look for '%s', which is nowhere in PATH",
			  word);
	free(found);
	return !found;
}

/* line: the interpreter and its arguments, without "#!" */
static bool lacks_file(char *line, const char *search_path, struct text *why)
{
	char *arguments = line + strcspn(line, " \t");

	if (*arguments)
		*arguments++ = '\0';
	arguments += strspn(arguments, " \t");
	if (!strcmp(path_name(line), "env"))
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

static bool has_bad_line(const char *path, const char *head, const char *search_path,
			 struct text *why)
{
	const char *start = head + 2 + strspn(head + 2, " \t");
	autofree char *line = xasprintf("%.*s", (int)strcspn(start, "\n"), start);
	autofree char *program = xasprintf("%.*s", (int)strcspn(line, " \t\r"), line);
	const char *cr = strchr(line, '\r'), *blank = strpbrk(line, " \t");
	bool is_bad = true;

	/* Some interpreters take a CR behind arguments; a shell, env and the kernel do not. */
	if (cr && (!blank || blank > cr || program_is_shell(program) || strstr(program, "/env")))
		add_edit(why, "its lines end in CR LF, as on Windows, so that its interpreter is "
			 "not found; ", PROGRAM_FILE_NO_CR, path, " mends that");
	else if (strcspn(head, "\n") > KERNEL_BYTES &&
		 strcspn(head + 2, " \t\n") > KERNEL_BYTES - 2)
		text_addf(why, "its '#!' line has more than the %d bytes that the kernel reads",
			  KERNEL_BYTES);
	else
		is_bad = lacks_file(line, search_path, why);
	return is_bad;
}

/* Adds the reason and what mends it. False: nothing is wrong, or nothing that is seen here.
 * by_shell: a shell runs a file that names no interpreter. */
static bool has_fault(const char *path, const char *search_path, bool by_shell, struct text *why)
{
	char head[HEAD_BYTES];
	ssize_t length;

	if (lacks_bit(path, why))
		return true;
	length = read_head(path, head);
	if (length < 0)
		return false;
	if (text_starts_with(head, "#!"))
		return has_bad_line(path, head, search_path, why);
	return !by_shell && lacks_interpreter(path, head, (size_t)length, why);
}

bool program_file_is_dos(const char *path)
{
	char head[HEAD_BYTES];
	size_t end;

	if (read_head(path, head) < 0)
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
		"chrt", "numactl", "prlimit", "time", "xvfb-run", NULL,
	};

	return text_is_among(path_name(word), starters);
}

/* Returns the program that is started, if it is given by a path; NULL. Variables may stand before
 * it; of those, PATH is noted. A word without '/' may be no program: an option, a time, a number of
 * CPUs, a signal. Behind an option, "time -o FILE", a path may be the option's value. */
static const char *started_by(char *const *argv, const char **search_path)
{
	bool starts = argv[0] && is_starter(argv[0]);

	for (char *const *word = argv + 1; starts && *word; word++) {
		const char *w = *word, *before = word[-1];

		if (text_starts_with(w, "PATH="))
			*search_path = w + strlen("PATH=");
		if (strchr(w, '=') ||
		    (!strchr(w, '/') && (*w == '-' || isdigit((unsigned char)*w) ||
					 !strpbrk(w, "abcdefghijklmnopqrstuvwxyz"))))
			continue;
		if (strchr(w, '/') && !is_starter(w))
			return *before == '-' && !strchr(before, '=') &&
			       (before[1] == '-' || strlen(before) == 2) ? NULL : w;
		starts = is_starter(w);
	}
	return NULL;
}

bool program_file_fault(const char *program, char *const *argv, const char *directory,
			const char *search_path, struct text *words)
{
	const char *started = started_by(argv, &search_path);
	autofree char *path = started ? path_within(directory, started) : xstrdup(program);
	scoped(text_release) struct text why = TEXT_INIT;
	bool is_bad = has_fault(path, search_path, started != NULL, &why);

	if (is_bad)
		text_addf(words, "cannot execute '%s': %s", path, why.data);
	return is_bad;
}

void program_file_cannot(const char *path, const char *search_path, int error, struct text *out)
{
	scoped(text_release) struct text why = TEXT_INIT;
	bool known = has_fault(path, search_path, false, &why);

	text_addf(out, "cannot execute '%s': %s", path, known ? why.data : strerror(error));
}
