/* code_snapshot.c - how a snapshot is made, and how it goes. */
#include "pollux/code.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/file.h"
#include "pollux/lock.h"
#include "pollux/mem.h"
#include "pollux/paths.h"
#include "snapshot_links.h"

#define MARK ".pollux"
#define WORDS_AT_ONCE 200
#define UNMARKED_S 600.0	/* a directory without a mark may be just being made for so long */
#define FIRST_ANSWER_S 10.0	/* where the repository is: a git that is slower hangs */
#define OPEN_DIRECTORIES 16

/* --- making --- */

struct making {
	struct git git;
	struct strings variables;
	struct code_repository repository;
	char *outer, *index, *mark;
	char id[CODE_ID_SIZE];			/* the commit */
};

/* The id that git printed. */
static void take_id(struct text *out, char *id)
{
	size_t n = strcspn(out->data, "\n");

	n = n < CODE_ID_SIZE ? n : CODE_ID_SIZE - 1;
	memcpy(id, out->data, n);
	id[n] = '\0';
	text_clear(out);
}

static int make_directory(const struct paths *paths, struct making *m, struct code_snapshot *s,
			  struct err *err)
{
	const char *name = path_name(m->repository.top);
	autofree char *all = xasprintf("%s/snapshots", paths->dir);
	int rc = paths_create(paths, err) || paths_make_directory(all, err) ? -1 : 0;

	if (rc == 0) {
		m->outer = xasprintf("%s/XXXXXX", all);
		if (!mkdtemp(m->outer))
			rc = err_set(err, EX_CANTCREAT, "cannot make '%s': %s", m->outer,
				     strerror(errno));
	}
	if (rc)
		return -1;
	m->mark = xasprintf("%s/" MARK, m->outer);
	m->index = xasprintf("%s/.index", m->outer);
	s->dir = xasprintf("%s/%s", m->outer, *name ? name : "root");
	s->lock = lock_take(m->mark, err);
	if (s->lock == LOCK_HELD)
		return err_set(err, EX_TEMPFAIL, "'%s' is locked", m->mark);
	return s->lock < 0 ? -1 : 0;
}

static int add_sources(struct making *m, struct err *err)
{
	scoped(strings_release) struct strings files = { 0 };
	int rc = snapshot_sources(&m->git, &files, err);

	for (size_t i = 0; rc == 0 && i < files.count;) {
		scoped(strings_release) struct strings words = { 0 };

		strings_add(&words, "update-index");
		strings_add(&words, "--add");
		strings_add(&words, "--");
		for (int n = 0; n < WORDS_AT_ONCE && i < files.count; n++)
			strings_add(&words, files.items[i++]);
		rc = git_run_words(&m->git, &words, NULL, err);
	}
	return rc;
}

static int write_mark(const struct making *m, const struct code_snapshot *s, struct err *err)
{
	if (file_write_all(s->lock, m->repository.top, strlen(m->repository.top)) == 0)
		return 0;
	return err_set(err, EX_IOERR, "cannot write '%s': %s", m->mark, strerror(errno));
}

/* Makes a commit of the files as they are, which no branch has, and checks it out. The worktree is
 * locked so that "git worktree prune" leaves it alone where the store's disk is not mounted. It has
 * an index of its own. */
static int fill(struct making *m, struct code_snapshot *s, struct err *err)
{
	static const char *const who[] = { "AUTHOR", "COMMITTER" };
	scoped(text_release) struct text out = TEXT_INIT;
	int rc;

	strings_addf(&m->variables, "GIT_INDEX_FILE=%s", m->index);
	for (size_t i = 0; i < sizeof(who) / sizeof(who[0]); i++) {
		strings_addf(&m->variables, "GIT_%s_NAME=pollux", who[i]);
		strings_addf(&m->variables, "GIT_%s_EMAIL=pollux@localhost", who[i]);
	}
	m->git.until_boot_s = clock_boot_s() + SNAPSHOT_LIMIT_S;
	m->git.directory = m->repository.top;
	m->git.more = &m->variables;
	rc = code_copy_index(&m->repository, m->index, err) ||
	     git_run(&m->git, NULL, err, "add", "-u") || add_sources(m, err) ||
	     git_run(&m->git, &out, err, "write-tree") ? -1 : 0;
	if (rc == 0) {
		char tree[CODE_ID_SIZE];

		take_id(&out, tree);
		rc = git_run(&m->git, &out, err, "commit-tree", "--no-gpg-sign", "-p",
			     m->repository.head.commit, "-m", "snapshot for a job of pollux", tree);
	}
	if (rc == 0) {
		struct git plain = m->git;

		plain.more = NULL;
		take_id(&out, m->id);
		rc = git_run(&plain, NULL, err, "worktree", "add", "--quiet", "--detach", "--lock",
			     s->dir, m->id);
	}
	if (rc || snapshot_link(&m->git, m->repository.top, s->dir, &s->remarks, err))
		return -1;
	snapshot_link_siblings(m->repository.top, m->outer);
	unlink(m->index);
	return write_mark(m, s, err);
}

int snapshot_make(const struct paths *paths, const char *directory, struct code_snapshot *s,
		  struct err *err)
{
	struct making m = {
		.git = { .directory = directory,
			 .until_boot_s = clock_boot_s() + FIRST_ANSWER_S },
	};
	int rc;

	*s = (struct code_snapshot){ .lock = -1, .remarks = TEXT_INIT };
	rc = code_repository_find(&m.git, &m.repository, err) ||
	     make_directory(paths, &m, s, err) || fill(&m, s, err) ? -1 : 0;
	if (rc == 0)
		s->top = xstrdup(m.repository.top);
	if (rc && m.outer) {
		write_mark(&m, s, &(struct err){ 0 });
		snapshot_drop(s);
		remove_tree(m.outer);
	}
	strings_release(&m.variables);
	code_repository_release(&m.repository);
	free(m.outer);
	free(m.index);
	free(m.mark);
	return rc ? err_prefix(err, "no snapshot of the code can be made") : 0;
}

void snapshot_keep(struct code_snapshot *s)
{
	if (s->lock >= 0)
		lock_drop(s->lock);
	free(s->dir);
	free(s->top);
	text_release(&s->remarks);
	*s = (struct code_snapshot){ .lock = -1, .remarks = TEXT_INIT };
}

/* --- files of runs --- */

static struct {
	struct timespec made;
	char *own;			/* the first that was found; owned by the caller */
} walk;					/* of the present walk; there are no threads */

/* A file that changed after the snapshot was made is a run's, unless Python compiled it. */
static int look_for_own(const char *path, const struct stat *st, int type, struct FTW *where)
{
	const char *name = path + where->base, *end = strrchr(name, '.');
	const struct timespec *changed = &st->st_ctim, *made = &walk.made;

	if (type == FTW_D && !strcmp(name, "__pycache__"))
		return FTW_SKIP_SUBTREE;
	if (type != FTW_F || changed->tv_sec < made->tv_sec ||
	    (changed->tv_sec == made->tv_sec && changed->tv_nsec <= made->tv_nsec) ||
	    !strcmp(name, MARK) || (end && !strcmp(end, ".pyc")))
		return FTW_CONTINUE;
	walk.own = xstrdup(path);
	return FTW_STOP;
}

static char *outer_of(const char *dir)
{
	return xasprintf("%.*s", (int)(strrchr(dir, '/') - dir), dir);
}

int snapshot_own_files(const char *dir, char **own)
{
	autofree char *outer = outer_of(dir), *mark = xasprintf("%s/" MARK, outer);
	struct stat st;
	int rc = 0;

	*own = NULL;
	if (stat(mark, &st) == 0) {
		walk.made = st.st_mtim;
		walk.own = NULL;
		rc = nftw(outer, look_for_own, OPEN_DIRECTORIES,
			  FTW_PHYS | FTW_MOUNT | FTW_ACTIONRETVAL);
		*own = walk.own;
	} else if (errno != ENOENT) {
		rc = -1;
	}
	return *own ? 1 : rc < 0 ? -1 : 0;
}

/* --- removing --- */

/* The mark names the repository, whose other worktrees are not pollux's, so that "git worktree
 * prune" will not do. */
static void remove_all(const char *dir)
{
	char *outer = outer_of(dir), *mark = xasprintf("%s/" MARK, outer), top[4096];
	struct git git = { .directory = top, .until_boot_s = clock_boot_s() + SNAPSHOT_LIMIT_S };
	struct err ignored;

	remove_tree(dir);
	if (file_read_head(mark, 0, top, sizeof(top)) > 0 && access(top, F_OK) == 0)
		git_run(&git, NULL, &ignored, "worktree", "remove", "--force", "--force", dir);
	remove_tree(outer);
	free(mark);
	free(outer);
}

int snapshot_remove(const char *dir, char **own)
{
	int rc = snapshot_own_files(dir, own);

	if (rc == 0)
		remove_all(dir);
	return rc;
}

void snapshot_drop(struct code_snapshot *s)
{
	if (s->dir)
		remove_all(s->dir);
	snapshot_keep(s);
}

/* Returns the directory of the copy in the outer one: the only one that is no link. NULL: the
 * snapshot is being made. The caller frees. */
static char *copy_in(const char *outer)
{
	char *mark = xasprintf("%s/" MARK, outer), *copy = NULL;
	struct stat st;
	bool being_made = access(mark, F_OK) == 0 ? lock_look(mark) != LOCK_IS_FREE
		: stat(outer, &st) == 0 && clock_wall_s() - (double)st.st_mtim.tv_sec < UNMARKED_S;
	scoped(close_dir) DIR *dir = being_made ? NULL : opendir(outer);
	const struct dirent *entry;

	free(mark);
	while (dir && !copy && (entry = readdir(dir))) {
		autofree char *dot_git = xasprintf("%s/%s/.git", outer, entry->d_name);
		autofree char *path = xasprintf("%s/%s", outer, entry->d_name);

		if (entry->d_name[0] != '.' && lstat(path, &st) == 0 && S_ISDIR(st.st_mode) &&
		    lstat(dot_git, &st) == 0)
			copy = xstrdup(path);
	}
	return copy || being_made ? copy : xasprintf("%s/gone", outer);
}

void snapshots_each(const struct paths *paths, void (*visit)(const char *dir, void *arg),
		    void *arg)
{
	autofree char *all = xasprintf("%s/snapshots", paths->dir);
	scoped(close_dir) DIR *dir = opendir(all);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		autofree char *outer = xasprintf("%s/%s", all, entry->d_name);
		autofree char *copy = entry->d_name[0] == '.' ? NULL : copy_in(outer);

		if (copy)
			visit(copy, arg);
	}
}
