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
#include "pollux/paths.h"

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

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n > m && !strcmp(s + n - m, end);
}

static bool is_placeholder(const char *path)
{
	for (size_t i = 0; i < sizeof(placeholders) / sizeof(placeholders[0]); i++)
		if (!strcmp(path_name(path), placeholders[i]))
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
		free(path);
	}
	text_release(&out);
	return 0;
}

/* --- links --- */

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

/* Links what git does not track, but for Python's compiled modules: they are made for one
 * directory's sources and must not be shared. Tells of untracked directories that are not ignored:
 * they may be code. */
static int link_others(const struct git *git, const char *top, const char *copy,
		       struct text *remarks, struct err *err)
{
	struct text out = TEXT_INIT;
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
		char *path = xasprintf("%s/%s", git->directory, p);

		if (ends_with(p, "/") && has_source(path, 1))
			remark(remarks, "untracked directory", p);
		free(path);
	}
	text_release(&out);
	return rc;
}

/* Links the highest directory above the placeholder whose files are all placeholders. */
static int link_kept_place(const struct strings *paths, const char *path, const char *top,
			   const char *copy, struct err *err)
{
	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		char *directory = xasprintf("%.*s", (int)(slash - path), path), *there;
		size_t n = strlen(directory);
		bool keeps = true;
		int rc = 0;

		for (size_t i = 0; i < paths->count; i++)
			keeps = keeps && (strncmp(paths->items[i], directory, n) != 0 ||
					  paths->items[i][n] != '/' ||
					  is_placeholder(paths->items[i]));
		if (keeps) {
			there = xasprintf("%s/%s", copy, directory);
			remove_tree(there);
			rc = link_one(top, copy, directory, err);
			free(there);
		}
		free(directory);
		if (keeps)
			return rc;
	}
	return 0;
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

		if (path && text_starts_with(p, "160000 ")) {
			char *there = xasprintf("%s/%s", copy, path + 1);

			rmdir(there);		/* git makes an empty directory for a submodule */
			free(there);
			remark(remarks, "submodule", path + 1);
			rc = link_one(top, copy, path + 1, err);
		}
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
	return link_tracked(git, top, copy, remarks, err) ||
	       link_others(git, top, copy, remarks, err) ? -1 : 0;
}

void snapshot_link_siblings(const char *top, const char *dir)
{
	char *parent = xasprintf("%.*s", (int)(path_name(top) - top), top);
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
