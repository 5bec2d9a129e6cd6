/* code_state.c - runs git, and tells the state of a repository; see code.h. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/code.h"
#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/paths.h"
#include "pollux/proc.h"

#define SHORT_DIGITS 6
#define NAMED_FILES 3
#define DAY_S 86400.0

/* --- the repository --- */

static bool take_id(char **lines, char *id)
{
	const char *line = strsep(lines, "\n");
	size_t n = line ? strspn(line, "0123456789abcdef") : 0;

	if (n < 40 || n >= CODE_ID_SIZE - 1 || line[n])
		return false;
	memcpy(id, line, n + 1);
	return true;
}

/* The names do not have line feeds, or the ids would not follow. git's words about a commit that is
 * not there yet name HEAD, which tells a person little. */
int code_repository_find(const struct git *git, struct code_repository *r, struct err *err)
{
	scoped(text_release) struct text out = TEXT_INIT;
	struct err ignored;
	char *lines;
	int rc;

	*r = (struct code_repository){ .top = NULL };
	rc = git_run(git, &out, err, "rev-parse", "--show-toplevel", "--git-path", "index",
		     "--git-path", "objects", "HEAD", "HEAD^{tree}");
	lines = out.data;
	if (rc == 0) {
		const char *top = strsep(&lines, "\n"), *index = strsep(&lines, "\n");
		const char *objects = strsep(&lines, "\n");

		r->top = xstrdup(top && *top == '/' ? top : "");
		r->index = path_within(git->directory, index ? index : "");
		r->objects = path_within(git->directory, objects ? objects : "");
		if (!*r->top || !take_id(&lines, r->head.commit) || !take_id(&lines, r->head.tree))
			rc = err_set(err, EX_FAILED, "git says nothing of use about '%s'",
				     git->directory);
	} else if (err->exit_status == EX_FAILED && !git_is_near(git->directory)) {
		err_set(err, EX_NOINPUT, "'%s' is in no git repository", git->directory);
	} else if (err->exit_status == EX_FAILED &&
		   git_run(git, NULL, &ignored, "rev-parse", "--show-toplevel") == 0 &&
		   git_run(git, NULL, &ignored, "rev-parse", "-q", "--verify", "HEAD") != 0) {
		err_set(err, EX_NOINPUT, "the git repository of '%s' has no commit yet",
			git->directory);
	}
	if (rc)
		code_repository_release(r);
	return rc;
}

void code_repository_release(struct code_repository *r)
{
	free(r->top);
	free(r->index);
	free(r->objects);
	*r = (struct code_repository){ .top = NULL };
}

/* --- a copy of the index --- */

/* git looks into a file whose time is not before that of the index. */
int code_copy_index(const struct code_repository *r, const char *path, struct err *err)
{
	int from = file_open(r->index, O_RDONLY, 0), to;
	char bytes[65536];
	ssize_t n = -1;
	struct stat st;

	if (from < 0 && errno == ENOENT)
		return 0;
	to = from < 0 ? -1 : file_open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	while (to >= 0 && (n = read(from, bytes, sizeof(bytes))) > 0 &&
	       file_write_all(to, bytes, (size_t)n) == 0)
		;
	if (n == 0 && (fstat(from, &st) ||
		       futimens(to, (const struct timespec[]){ st.st_mtim, st.st_mtim })))
		n = -1;
	if (n != 0)
		err_set(err, EX_IOERR, "cannot copy '%s' to '%s': %s", r->index, path,
			strerror(errno));
	if (to >= 0)
		close(to);
	if (from >= 0)
		close(from);
	return n ? -1 : 0;
}

/* --- the state --- */

/* A directory for one question, and where trees go, which are kept to be compared. The contents of
 * files go with the directory: a job may write into large files that git tracks. */
struct place {
	char *dir, *index, *blobs, *objects;
	struct strings variables;
};

/* Objects are kept only in a directory of the store that is there and the user's own. */
static int make_place(const struct code_asking *asking, struct place *p, struct err *err)
{
	const char *tmp = getenv("TMPDIR");
	struct stat st;
	bool is_own = asking->dir && stat(asking->dir, &st) == 0 && S_ISDIR(st.st_mode) &&
		      st.st_uid == geteuid();
	char *kept = is_own ? xasprintf("%s/code", asking->dir) : NULL;

	*p = (struct place){ .dir = NULL };
	if (kept && mkdir(kept, 0700) && errno != EEXIST) {
		free(kept);
		kept = NULL;
	}
	p->dir = xasprintf("%s/pollux-code.XXXXXX", kept ? kept : tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(p->dir)) {
		err_set(err, EX_CANTCREAT, "cannot make '%s': %s", p->dir, strerror(errno));
		free(kept);
		free(p->dir);
		p->dir = NULL;
		return -1;
	}
	p->index = xasprintf("%s/index", p->dir);
	p->blobs = xasprintf("%s/blobs", p->dir);
	p->objects = xasprintf("%s/objects", kept ? kept : p->dir);
	free(kept);
	if (mkdir(p->blobs, 0700) == 0 && (mkdir(p->objects, 0700) == 0 || errno == EEXIST))
		return 0;
	return err_set(err, EX_CANTCREAT, "cannot make '%s': %s", p->objects, strerror(errno));
}

static void leave_place(struct place *p)
{
	if (p->dir)
		remove_tree(p->dir);
	free(p->dir);
	free(p->index);
	free(p->blobs);
	free(p->objects);
	strings_release(&p->variables);
}

/* Has git work in the place: over its index, with new objects there. git reads a list of
 * directories for the others; one in quotes may have a colon. */
static void enter_place(struct place *p, struct git *git, const struct code_repository *r)
{
	scoped(text_release) struct text t = TEXT_INIT;

	for (const char *c = r->objects; *c; c++) {
		if (*c == '"' || *c == '\\')
			text_add(&t, "\\");
		text_add_bytes(&t, c, 1);
	}
	strings_addf(&p->variables, "GIT_INDEX_FILE=%s", p->index);
	strings_addf(&p->variables, "GIT_OBJECT_DIRECTORY=%s", p->objects);
	strings_addf(&p->variables, "GIT_ALTERNATE_OBJECT_DIRECTORIES=\"%s\"", t.data);
	git->directory = r->top;
	git->more = &p->variables;
}

/* git knows of a submodule only which commit it is at. Where its files differ from that commit, the
 * tree of the files stands in the place of the commit. What cannot be told of it is left out. */
static void add_submodule(const struct git *git, const struct code_asking *asking, const char *path)
{
	autofree char *directory = xasprintf("%s/%s", git->directory, path);
	autofree char *dot_git = xasprintf("%s/.git", directory);
	struct code_asking rest = *asking;
	struct code_state state;
	struct err ignored;

	rest.limit_s = git->until_boot_s - clock_boot_s();
	if (access(dot_git, F_OK) == 0 &&
	    code_state_read(directory, &rest, &state, NULL, &ignored) == 0 &&
	    strchr(state.commit, '+')) {
		autofree char *entry = xasprintf("160000,%s,%s", state.tree, path);

		git_run(git, NULL, &ignored, "update-index", "--cacheinfo", entry);
	}
}

/* Only submodules are left to differ from the index: ":160000 ...", and their path. */
static int add_submodules(const struct git *git, const struct code_asking *asking, struct err *err)
{
	autofree char *list = xasprintf("%s/.gitmodules", git->directory);
	scoped(text_release) struct text out = TEXT_INIT;
	int rc = access(list, F_OK) == 0 ? git_run(git, &out, err, "diff-files", "--raw", "-z",
						   "--ignore-submodules=untracked") : 0;

	for (const char *p = out.data; rc == 0 && p < out.data + out.length; p += strlen(p) + 1) {
		bool is_submodule = text_starts_with(p, ":160000 ");

		p += strlen(p) + 1;
		if (is_submodule && p < out.data + out.length)
			add_submodule(git, asking, p);
	}
	return rc;
}

static int read_tree(struct git *git, const struct code_repository *r,
		     const struct code_asking *asking, struct place *p, struct code_state *state,
		     struct err *err)
{
	scoped(text_release) struct text out = TEXT_INIT;
	char *lines;
	int rc;

	enter_place(p, git, r);
	strings_set_variable(&p->variables, "GIT_OBJECT_DIRECTORY", p->blobs);
	rc = code_copy_index(r, p->index, err) || git_run(git, NULL, err, "add", "-u") ||
	     add_submodules(git, asking, err) ? -1 : 0;
	strings_set_variable(&p->variables, "GIT_OBJECT_DIRECTORY", p->objects);
	if (rc == 0)
		rc = git_run(git, &out, err, "write-tree", "--missing-ok");
	lines = out.data;
	if (rc == 0 && !take_id(&lines, state->tree))
		rc = err_set(err, EX_FAILED, "git says nothing of use about '%s'", r->top);
	if (rc)
		return -1;
	snprintf(state->commit, sizeof(state->commit), "%.64s%s", r->head.commit,
		 strcmp(state->tree, r->head.tree) != 0 ? "+" : "");
	return 0;
}

int code_state_read(const char *directory, const struct code_asking *asking,
		    struct code_state *state, char **top, struct err *err)
{
	struct git git = {
		.directory = directory, .variables = asking->variables,
		.until_boot_s = clock_boot_s() + asking->limit_s,
	};
	scoped(code_repository_release) struct code_repository r = { 0 };
	struct place place;
	int rc;

	*state = (struct code_state){ "", "" };
	if (code_repository_find(&git, &r, err))
		return -1;
	rc = make_place(asking, &place, err) ||
	     read_tree(&git, &r, asking, &place, state, err) ? -1 : 0;
	leave_place(&place);
	if (rc)
		*state = (struct code_state){ "", "" };
	else if (top)
		*top = xstrdup(r.top);
	return rc;
}

/* --- what differs --- */

bool code_differs(const struct code_state *from, const struct code_state *to)
{
	return from->tree[0] && to->tree[0] && strcmp(from->tree, to->tree) != 0;
}

void code_add_difference(const char *directory, const struct code_asking *asking,
			 const struct code_state *from, const struct code_state *to,
			 struct text *t)
{
	struct git git = {
		.directory = directory, .variables = asking->variables,
		.until_boot_s = clock_boot_s() + asking->limit_s,
	};
	scoped(text_release) struct text out = TEXT_INIT, names = TEXT_INIT;
	struct code_repository r;
	struct place place = { .dir = NULL };
	struct err ignored;
	long long n = 0;
	char *lines;
	int rc = code_repository_find(&git, &r, &ignored) || make_place(asking, &place, &ignored);

	if (rc == 0) {
		enter_place(&place, &git, &r);
		rc = git_run(&git, &out, &ignored, "diff-tree", "-r", "--no-renames",
			     "--name-only", from->tree, to->tree);
	}
	leave_place(&place);
	code_repository_release(&r);
	text_addf(t, "%.*s%s -> %.*s%s", SHORT_DIGITS, from->commit,
		  strchr(from->commit, '+') ? "+" : "", SHORT_DIGITS, to->commit,
		  strchr(to->commit, '+') ? "+" : "");
	lines = out.data;
	for (const char *name; (name = strsep(&lines, "\n")) && *name;)
		if (n++ < NAMED_FILES)
			text_addf(&names, "%s %s", n > 1 ? "," : ":", name);
	if (rc)
		text_add(t, ", files not known");
	else
		text_addf(t, ", %lld file%s%s%s", n, plural(n), names.data,
			  n > NAMED_FILES ? ", ..." : "");
}

/* --- old objects --- */

static double forget_before_s;		/* of the present walk; there are no threads */

static int forget_entry(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)where;
	if (type == FTW_F && (double)st->st_mtim.tv_sec < forget_before_s)
		unlink(path);
	return 0;
}

void code_forget_old(const char *dir, double now_s)
{
	autofree char *kept = xasprintf("%s/code", dir);

	forget_before_s = now_s - CODE_KEPT_DAYS * DAY_S;
	nftw(kept, forget_entry, 16, FTW_PHYS | FTW_MOUNT);
}

/* --- git --- */

bool git_is_near(const char *directory)
{
	autofree char *path = xstrdup(directory);
	char *slash = path;
	bool found = false;

	while (!found && slash) {
		autofree char *dot_git = xasprintf("%s/.git", path);

		found = access(dot_git, F_OK) == 0;
		slash = strrchr(path, '/');
		if (slash)
			*slash = '\0';
	}
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
	scoped(strings_release) struct strings env = { 0 }, argv = { 0 };
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
	text_release(&q.complaint);
	return rc ? -1 : 0;
}

int git_run_list(const struct git *git, struct text *out, struct err *err,
		 const char *const *list)
{
	scoped(strings_release) struct strings words = { 0 };

	for (; *list; list++)
		strings_add(&words, *list);
	return git_run_words(git, &words, out, err);
}
