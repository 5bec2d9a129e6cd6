/* snapshot_links.c - what a snapshot has by links, which untracked files it has as copies, and how
 * a command gets into it. */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pollux/code.h"
#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/paths.h"
#include "snapshot_links.h"

#define MOST_SOURCE_BYTES (1 << 20)		/* of an untracked file */
#define MOST_SOURCES_BYTES (32 << 20)		/* of all of them */
#define MOST_SOURCES 1000
#define MOST_SIBLINGS 4096

/* What people write by hand and a program reads. Not here: what programs write, such as .json, .csv
 * and .log. Those stay links, so that a program adds to the original. */
static const char *const source_ends[] = {
	".py", ".pyi", ".pyx", ".pxd", ".ipynb", ".sh", ".bash", ".zsh", ".pl", ".rb", ".lua",
	".jl", ".r", ".R", ".m", ".c", ".h", ".cc", ".hh", ".cpp", ".hpp", ".cxx", ".cu", ".cuh",
	".rs", ".go", ".f90", ".js", ".ts", ".java", ".scala", ".yaml", ".yml", ".toml", ".cfg",
	".ini", ".gin", ".jsonnet", ".mk",
};

/* Names of files by which people keep a directory in git. */
static const char *const placeholders[] = {
	".gitkeep", ".gitignore", ".gitattributes", ".keep", ".keepme", ".placeholder", ".empty",
	NULL,
};

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n > m && !strcmp(s + n - m, end);
}

/* --- untracked sources --- */

int snapshot_sources(const struct git *git, struct strings *files, struct err *err)
{
	scoped(text_release) struct text out = TEXT_INIT;
	double bytes = 0;

	if (git_run(git, &out, err, "ls-files", "-z", "--others", "--exclude-standard",
		    "--directory"))
		return -1;
	for (const char *p = out.data; p < out.data + out.length; p += strlen(p) + 1) {
		autofree char *path = xasprintf("%s/%s", git->directory, p);
		bool is_source = false;
		struct stat st;

		for (size_t i = 0; i < sizeof(source_ends) / sizeof(source_ends[0]); i++)
			is_source = is_source || ends_with(p, source_ends[i]);
		if (is_source && lstat(path, &st) == 0 && S_ISREG(st.st_mode) &&
		    st.st_size <= MOST_SOURCE_BYTES && files->count < MOST_SOURCES &&
		    bytes + (double)st.st_size <= MOST_SOURCES_BYTES) {
			bytes += (double)st.st_size;
			strings_add(files, p);
		}
	}
	return 0;
}

/* --- links --- */

static int link_one(const char *top, const char *copy, const char *path, struct err *err)
{
	autofree char *from = xasprintf("%s/%s", top, path), *to = xasprintf("%s/%s", copy, path);
	struct stat st;
	int rc = 0;

	if (lstat(to, &st) != 0 && symlink(from, to) && errno != ENOENT)
		rc = err_set(err, EX_CANTCREAT, "cannot make the link '%s': %s", to,
			     strerror(errno));
	return rc;
}

/* A directory of untracked files, with a source at its top or one level below. */
static bool has_source(const char *path, int depth)
{
	scoped(close_dir) DIR *dir = opendir(path);
	const struct dirent *entry;
	bool found = false;

	for (int n = 0; dir && !found && n < MOST_SOURCES && (entry = readdir(dir)); n++) {
		autofree char *below = xasprintf("%s/%s", path, entry->d_name);

		if (entry->d_type == DT_DIR && entry->d_name[0] != '.' && depth > 0)
			found = has_source(below, depth - 1);
		else if (entry->d_type == DT_REG)
			found = ends_with(entry->d_name, ".py");
	}
	return found;
}

static void remark(struct text *t, const char *what, const char *path)
{
	text_addf(t, "%s%s '%s'", t->length ? ", " : "", what, path);
}

/* Links what git does not track, but for Python's compiled modules: they are made for one
 * directory's sources and must not be shared. Tells of untracked directories that are not ignored:
 * they may be code. */
static int link_others(const struct git *git, const char *top, const char *copy,
		       struct text *remarks, struct err *err)
{
	scoped(text_release) struct text out = TEXT_INIT;
	int rc = git_run(git, &out, err, "ls-files", "-z", "--others", "--directory");

	for (char *p = out.data; rc == 0 && p < out.data + out.length;) {
		size_t n = strlen(p);

		if (n > 0 && p[n - 1] == '/')
			p[n - 1] = '\0';
		if (strcmp(path_name(p), "__pycache__") != 0 && !ends_with(p, ".pyc"))
			rc = link_one(top, copy, p, err);
		p += n + 1;
	}
	text_clear(&out);
	if (rc == 0)
		rc = git_run(git, &out, err, "ls-files", "-z", "--others", "--exclude-standard",
			     "--directory", "--no-empty-directory");
	for (const char *p = out.data; rc == 0 && p < out.data + out.length; p += strlen(p) + 1) {
		autofree char *path = xasprintf("%s/%s", git->directory, p);

		if (ends_with(p, "/") && has_source(path, 1))
			remark(remarks, "untracked directory", p);
	}
	return rc;
}

/* Links the highest directory above the placeholder whose files are all placeholders. */
static int link_kept_place(const struct strings *paths, const char *path, const char *top,
			   const char *copy, struct err *err)
{
	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		autofree char *directory = xasprintf("%.*s", (int)(slash - path), path);
		size_t n = strlen(directory);
		bool keeps = true;

		for (size_t i = 0; i < paths->count; i++)
			keeps = keeps && (strncmp(paths->items[i], directory, n) != 0 ||
					  paths->items[i][n] != '/' ||
					  text_is_among(path_name(paths->items[i]), placeholders));
		if (keeps) {
			autofree char *there = xasprintf("%s/%s", copy, directory);

			remove_tree(there);
			return link_one(top, copy, directory, err);
		}
	}
	return 0;
}

/* A line of git ls-files --stage: "MODE ID STAGE\tPATH". */
static int link_tracked(const struct git *git, const char *top, const char *copy,
			struct text *remarks, struct err *err)
{
	scoped(strings_release) struct strings paths = { 0 };
	scoped(text_release) struct text out = TEXT_INIT;
	int rc = git_run(git, &out, err, "ls-files", "-z", "--stage");

	for (const char *p = out.data; rc == 0 && p < out.data + out.length; p += strlen(p) + 1) {
		const char *path = strchr(p, '\t');

		if (path && text_starts_with(p, "160000 ")) {
			autofree char *there = xasprintf("%s/%s", copy, path + 1);

			rmdir(there);		/* git makes an empty directory for a submodule */
			remark(remarks, "submodule", path + 1);
			rc = link_one(top, copy, path + 1, err);
		}
		if (path)
			strings_add(&paths, path + 1);
	}
	for (size_t i = 0; rc == 0 && i < paths.count; i++)
		if (text_is_among(path_name(paths.items[i]), placeholders))
			rc = link_kept_place(&paths, paths.items[i], top, copy, err);
	return rc;
}

int snapshot_link(const struct git *git, const char *top, const char *copy, struct text *remarks,
		  struct err *err)
{
	return link_tracked(git, top, copy, remarks, err) ||
	       link_others(git, top, copy, remarks, err) ? -1 : 0;
}

void snapshot_link_siblings(const char *top, const char *dir)
{
	autofree char *parent = xasprintf("%.*s", (int)(path_name(top) - top), top);
	scoped(close_dir) DIR *siblings = opendir(parent);
	const struct dirent *entry;

	for (int n = 0; siblings && n < MOST_SIBLINGS && (entry = readdir(siblings)); n++) {
		autofree char *from = NULL, *to = NULL;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
		    !strcmp(entry->d_name, ".git") || !strcmp(entry->d_name, ".pollux"))
			continue;
		from = xasprintf("%s%s", parent, entry->d_name);
		to = xasprintf("%s/%s", dir, entry->d_name);
		if (symlink(from, to) && errno != EEXIST)
			n = MOST_SIBLINGS;
	}
}

/* --- a command's paths in the repository become paths in the snapshot --- */

#define NOT_EXECUTABLE 126	/* as of a command: a relaunch would not help */

struct entrance {
	const char *dir, *repository;
	char *directory;		/* owned; where the command runs, without links */
	bool inside;			/* that is in the repository */
};

/* Returns what follows the repository's path: "", or "/..."; NULL: it is not in the repository. */
static const char *in_repository(const char *repository, const char *path)
{
	size_t n = strlen(repository);

	return !strncmp(path, repository, n) && (path[n] == '/' || !path[n]) ? path + n : NULL;
}

/* Returns the path in the snapshot if it has a file (or a directory) there of its own, not by a
 * link; NULL. The caller frees. */
static char *in_snapshot(const struct entrance *e, const char *path, mode_t type)
{
	autofree char *own = NULL;
	char *real = realpath(path, NULL), *there = NULL;
	/* of a file that is not in the repository any more, the path as it is */
	const char *rest = in_repository(e->repository, real ? real : path);
	struct stat st;

	if (rest) {
		there = xasprintf("%s%s", e->dir, rest);
		own = realpath(there, NULL);
	}
	if (!own || strcmp(own, there) != 0 || lstat(there, &st) ||
	    (st.st_mode & S_IFMT) != type) {
		free(there);
		there = NULL;
	}
	free(real);
	return there;
}

/* A relative path is left alone where the command runs in the snapshot and the path stays there:
 * it means the same there. */
static void enter_argument(const struct entrance *e, char **argument)
{
	const char *equals = strchr(*argument, '=');
	const char *path = (*argument)[0] == '-' && equals ? equals + 1 : *argument;
	autofree char *full = NULL, *there = NULL;
	char *new;

	if (!*path || (path[0] != '/' && e->inside && !text_starts_with(path, "../")))
		return;
	full = path_within(e->directory, path);
	there = in_snapshot(e, full, S_IFREG);
	if (!there)
		return;
	new = xasprintf("%.*s%s", (int)(path - *argument), *argument, there);
	free(*argument);
	*argument = new;
}

static void enter_python_path(const struct entrance *e, struct strings *env)
{
	static const char name[] = "PYTHONPATH=";
	scoped(text_release) struct text t = TEXT_INIT;
	char *list, *rest;
	size_t i = 0;

	while (i < env->count && !text_starts_with(env->items[i], name))
		i++;
	if (i == env->count)
		return;
	rest = list = xstrdup(env->items[i] + strlen(name));
	for (const char *part; (part = strsep(&rest, ":"));) {
		char *there = *part == '/' ? in_snapshot(e, part, S_IFDIR) : NULL;

		text_addf(&t, "%s%s", part == list ? "" : ":", there ? there : part);
		free(there);
	}
	strings_set_variable(env, "PYTHONPATH", t.data);
	free(list);
}

static int enter_directory(struct entrance *e, const struct snapshot_command *c, struct err *err)
{
	const char *rest;
	autofree char *there = NULL;
	struct stat st;

	e->directory = realpath(*c->directory, NULL);
	rest = e->directory ? in_repository(e->repository, e->directory) : NULL;
	e->inside = rest != NULL;
	if (!rest)
		return 0;
	there = xasprintf("%s%s", e->dir, rest);
	if (stat(there, &st) || !S_ISDIR(st.st_mode)) {
		err_set(err, NOT_EXECUTABLE, "the snapshot of the code has no directory '%s'",
			there);
		return -1;
	}
	xreplace(c->directory, there);
	strings_set_variable(c->env, "PWD", there);
	return 0;
}

int snapshot_enter(const char *dir, const char *repository, const struct snapshot_command *c,
		   struct err *err)
{
	struct entrance e = { .repository = repository };
	autofree char *program = NULL;
	char *real = realpath(dir, NULL);
	struct stat st;
	int rc;

	e.dir = real;
	if (!real || stat(real, &st) || !S_ISDIR(st.st_mode)) {
		free(real);
		return err_set(err, NOT_EXECUTABLE, "the snapshot of the code, '%s', is not there",
			       dir);
	}
	program = in_snapshot(&e, *c->program, S_IFREG);
	rc = enter_directory(&e, c, err);
	if (rc == 0) {
		for (size_t i = 0; i < c->argv->count; i++)
			enter_argument(&e, &c->argv->items[i]);
		enter_python_path(&e, c->env);
		xreplace(c->program, program);
	}
	free(e.directory);
	free(real);
	return rc;
}
