/* snapshot_links.c - what a snapshot has by links, and which untracked files it has as copies. */
#include "snapshot_links.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pollux/file.h"
#include "pollux/mem.h"

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
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n > m && !strcmp(s + n - m, end);
}

static bool is_source(const char *path)
{
	for (size_t i = 0; i < sizeof(source_ends) / sizeof(source_ends[0]); i++)
		if (ends_with(path, source_ends[i]))
			return true;
	return false;
}

static bool is_placeholder(const char *path)
{
	for (size_t i = 0; i < sizeof(placeholders) / sizeof(placeholders[0]); i++)
		if (!strcmp(base_name(path), placeholders[i]))
			return true;
	return false;
}

/* --- untracked sources --- */

int snapshot_sources(const struct git *git, struct strings *files, struct err *err)
{
	struct text out = TEXT_INIT;
	double bytes = 0;

	if (git_run(git, &out, err, "ls-files", "-z", "--others", "--exclude-standard",
		    "--directory")) {
		text_release(&out);
		return -1;
	}
	for (const char *p = out.data; p < out.data + out.length; p += strlen(p) + 1) {
		char *path = xasprintf("%s/%s", git->directory, p);
		struct stat st;

		if (is_source(p) && lstat(path, &st) == 0 && S_ISREG(st.st_mode) &&
		    st.st_size <= MOST_SOURCE_BYTES && files->count < MOST_SOURCES &&
		    bytes + (double)st.st_size <= MOST_SOURCES_BYTES) {
			bytes += (double)st.st_size;
			strings_add(files, p);
		}
		free(path);
	}
	text_release(&out);
	return 0;
}

/* --- links --- */

/* Python's compiled modules are made for one directory's sources: they must not be shared. */
static bool is_cache(const char *path)
{
	return !strcmp(base_name(path), "__pycache__") || ends_with(path, ".pyc");
}

static int link_one(const char *top, const char *copy, const char *path, struct err *err)
{
	char *from = xasprintf("%s/%s", top, path), *to = xasprintf("%s/%s", copy, path);
	struct stat st;
	int rc = 0;

	if (lstat(to, &st) != 0 && symlink(from, to) && errno != ENOENT)
		rc = err_set(err, EX_CANTCREAT, "cannot make the link '%s': %s", to,
			     strerror(errno));
	free(from);
	free(to);
	return rc;
}

/* A directory of untracked files, with a source at its top or one level below. */
static bool has_source(const char *path, int depth)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	bool found = false;

	for (int n = 0; dir && !found && n < MOST_SOURCES && (entry = readdir(dir)); n++) {
		char *below = xasprintf("%s/%s", path, entry->d_name);

		if (entry->d_type == DT_DIR && entry->d_name[0] != '.' && depth > 0)
			found = has_source(below, depth - 1);
		else if (entry->d_type == DT_REG)
			found = ends_with(entry->d_name, ".py");
		free(below);
	}
	if (dir)
		closedir(dir);
	return found;
}

static void remark(struct text *t, const char *what, const char *path)
{
	text_addf(t, "%s%s '%s'", t->length ? ", " : "", what, path);
}

/* Tells of untracked directories that are not ignored: they may be code. */
static int tell_directories(const struct git *git, struct text *remarks, struct err *err)
{
	struct text out = TEXT_INIT;
	int rc = git_run(git, &out, err, "ls-files", "-z", "--others", "--exclude-standard",
			 "--directory", "--no-empty-directory");

	for (const char *p = out.data; rc == 0 && p < out.data + out.length; p += strlen(p) + 1) {
		char *path = xasprintf("%s/%s", git->directory, p);

		if (ends_with(p, "/") && has_source(path, 1))
			remark(remarks, "untracked directory", p);
		free(path);
	}
	text_release(&out);
	return rc;
}

static int link_others(const struct git *git, const char *top, const char *copy, struct err *err)
{
	struct text out = TEXT_INIT;
	int rc = git_run(git, &out, err, "ls-files", "-z", "--others", "--directory");
	char *p = out.data;

	while (rc == 0 && p < out.data + out.length) {
		size_t n = strlen(p);

		if (n > 0 && p[n - 1] == '/')
			p[n - 1] = '\0';
		if (!is_cache(p))
			rc = link_one(top, copy, p, err);
		p += n + 1;
	}
	text_release(&out);
	return rc;
}

/* git makes an empty directory for a submodule. */
static int link_submodule(const char *top, const char *copy, const char *path,
			  struct text *remarks, struct err *err)
{
	char *there = xasprintf("%s/%s", copy, path);

	rmdir(there);
	free(there);
	remark(remarks, "submodule", path);
	return link_one(top, copy, path, err);
}

/* True if all files of the list below the directory (n bytes of a path) are placeholders. */
static bool only_keeps_place(const struct strings *paths, const char *path, size_t n)
{
	for (size_t i = 0; i < paths->count; i++)
		if (!strncmp(paths->items[i], path, n) && paths->items[i][n] == '/' &&
		    !is_placeholder(paths->items[i]))
			return false;
	return true;
}

/* Links the highest directory above the placeholder that only keeps its place. */
static int link_kept_place(const struct strings *paths, const char *path, const char *top,
			   const char *copy, struct err *err)
{
	char *directory = NULL, *there;
	int rc;

	for (const char *slash = strchr(path, '/'); !directory && slash;
	     slash = strchr(slash + 1, '/'))
		if (only_keeps_place(paths, path, (size_t)(slash - path)))
			directory = xasprintf("%.*s", (int)(slash - path), path);
	if (!directory)
		return 0;
	there = xasprintf("%s/%s", copy, directory);
	remove_tree(there);
	rc = link_one(top, copy, directory, err);
	free(there);
	free(directory);
	return rc;
}

/* A line of git ls-files --stage: "MODE ID STAGE\tPATH". */
static int link_tracked(const struct git *git, const char *top, const char *copy,
			struct text *remarks, struct err *err)
{
	struct strings paths = { 0 };
	struct text out = TEXT_INIT;
	int rc = git_run(git, &out, err, "ls-files", "-z", "--stage");

	for (const char *p = out.data; rc == 0 && p < out.data + out.length; p += strlen(p) + 1) {
		const char *path = strchr(p, '\t');

		if (path && text_starts_with(p, "160000 "))
			rc = link_submodule(top, copy, path + 1, remarks, err);
		if (path)
			strings_add(&paths, path + 1);
	}
	for (size_t i = 0; rc == 0 && i < paths.count; i++)
		if (is_placeholder(paths.items[i]))
			rc = link_kept_place(&paths, paths.items[i], top, copy, err);
	strings_release(&paths);
	text_release(&out);
	return rc;
}

int snapshot_link(const struct git *git, const char *top, const char *copy, struct text *remarks,
		  struct err *err)
{
	return link_tracked(git, top, copy, remarks, err) || link_others(git, top, copy, err) ||
	       tell_directories(git, remarks, err) ? -1 : 0;
}

void snapshot_link_siblings(const char *top, const char *dir)
{
	char *parent = xasprintf("%.*s", (int)(base_name(top) - top), top);
	DIR *siblings = opendir(parent);
	const struct dirent *entry;

	for (int n = 0; siblings && n < MOST_SIBLINGS && (entry = readdir(siblings)); n++) {
		char *from, *to;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
		    !strcmp(entry->d_name, ".git") || !strcmp(entry->d_name, ".pollux"))
			continue;
		from = xasprintf("%s%s", parent, entry->d_name);
		to = xasprintf("%s/%s", dir, entry->d_name);
		if (symlink(from, to) && errno != EEXIST)
			n = MOST_SIBLINGS;
		free(from);
		free(to);
	}
	if (siblings)
		closedir(siblings);
	free(parent);
}
