/* shared_checkpoints.c - see submission.h. */
#include "pollux/submission.h"

#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "pollux/store_jobs.h"
#include "pollux/text.h"

/* --- paths --- */

/* Appends the components of a path that is not there. */
static void add_components(struct text *t, const char *rest)
{
	while (*(rest += strspn(rest, "/"))) {
		size_t n = strcspn(rest, "/");
		char *slash = strrchr(t->data, '/');

		if (n == 2 && !strncmp(rest, "..", n)) {
			t->length = slash ? (size_t)(slash - t->data) : 0;
			t->data[t->length] = '\0';
		} else if (n > 1 || *rest != '.') {
			text_add(t, "/");
			text_add_bytes(t, rest, n);
		}
		rest += n;
	}
}

/* The path without links, "." and "..", as far as its directories are there. The caller frees. */
static char *shared_checkpoints_path(const char *path)
{
	char *there = xstrdup(path), *slash = there + strlen(there), *real;
	struct text t = TEXT_INIT;

	while (!(real = realpath(*there ? there : "/", NULL)) && *there) {
		slash = strrchr(there, '/');
		slash = slash ? slash : there;
		*slash = '\0';
	}
	text_add(&t, real && strcmp(real, "/") != 0 ? real : "");
	add_components(&t, path + (slash - there));
	free(real);
	free(there);
	return text_detach(&t);
}

/* --- pairs --- */

/* Compares paths so that what lies within a directory comes right behind it. */
static int compare_paths(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	if (*a == *b)
		return 0;
	if (!*a || !*b)
		return *a ? 1 : -1;
	if (*a == '/' || *b == '/')
		return *a == '/' ? -1 : 1;
	return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
}

static int compare_directories(const void *x, const void *y)
{
	const struct job_directory *a = x, *b = y;
	int order = compare_paths(a->path, b->path);

	return order ? order : (a->job_id > b->job_id) - (a->job_id < b->job_id);
}

static bool is_within(const char *path, const char *directory)
{
	size_t n = strlen(directory);

	return !strncmp(path, directory, n) && (!path[n] || path[n] == '/');
}

/* True if what one job saves is no checkpoint of the other one. outer: its directory has the other
 * one in it, or is the same. */
static bool are_kept_apart(const struct job_directory *outer, const struct job_directory *inner)
{
	bool same_place = !strcmp(outer->path, inner->path);

	if (!outer->glob)
		return false;
	return !same_place || (inner->glob && strcmp(outer->glob, inner->glob) != 0);
}

struct check {
	struct store *s;
	int64_t first_id, last_id;
	int64_t in_turn_of;		/* whose list is the next member; 0: of none yet */
	struct id_list in_turn;
};

static bool is_new(const struct check *c, const struct job_directory *d)
{
	return d->job_id >= c->first_id && d->job_id <= c->last_id;
}

static int by_id(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int are_in_turn(struct check *c, int64_t id, int64_t other, bool *are, struct err *err)
{
	if (c->in_turn_of != id) {
		id_list_release(&c->in_turn);
		c->in_turn_of = id;
		if (store_jobs_in_turn_with(c->s, id, &c->in_turn, err))
			return -1;
	}
	*are = c->in_turn.count > 0 &&
	       bsearch(&other, c->in_turn.items, (size_t)c->in_turn.count, sizeof(other), by_id);
	return 0;
}

static int refuse(const struct check *c, const struct job_directory *new,
		  const struct job_directory *other, struct err *err)
{
	bool same = !strcmp(new->path, other->path);
	long long a = new->job_id - c->first_id, b = other->job_id - c->first_id;
	long long id = other->job_id;

	if (is_new(c, other) && same)
		return err_set(err, EX_USAGE, "runs %lld and %lld have the same checkpoint "
			       "directory, '%s': they would resume from each other; put {job} or "
			       "what differs into it, or give --force", a < b ? a : b,
			       a < b ? b : a, new->path);
	if (is_new(c, other))
		return err_set(err, EX_USAGE, "of the checkpoint directories of runs %lld and "
			       "%lld, '%s' and '%s', one lies in the other: one run would resume "
			       "from the other; --force submits all the same", a, b, new->path,
			       other->path);
	if (same)
		return err_set(err, EX_FAILED, "job %lld, which is %s, has the same checkpoint "
			       "directory, '%s': the two would resume from each other; give "
			       "another one, wait by --after %lld, or give --force", id,
			       job_state_name(other->state), new->path, id);
	return err_set(err, EX_FAILED, "job %lld, which is %s, has the checkpoint directory '%s', "
		       "and one lies in the other, '%s': one job would resume from the other; give "
		       "another one, wait by --after %lld, or give --force", id,
		       job_state_name(other->state), other->path, new->path, id);
}

static int check_pair(struct check *c, const struct job_directory *outer,
		      const struct job_directory *inner, struct err *err)
{
	const struct job_directory *new = is_new(c, inner) ? inner : outer;
	const struct job_directory *other = new == inner ? outer : inner;
	bool in_turn;

	if (!is_new(c, new) || are_kept_apart(outer, inner))
		return 0;
	if (are_in_turn(c, new->job_id, other->job_id, &in_turn, err))
		return -1;
	return in_turn ? 0 : refuse(c, new, other, err);
}

static int check_all(struct check *c, struct job_directory_list *all, struct err *err)
{
	int rc = 0;

	for (int i = 0; i < all->count; i++) {
		char *path = shared_checkpoints_path(all->items[i].path);

		free(all->items[i].path);
		all->items[i].path = path;
	}
	qsort(all->items, (size_t)all->count, sizeof(*all->items), compare_directories);
	for (int i = 0; rc == 0 && i < all->count; i++)
		for (int k = i + 1; rc == 0 && k < all->count &&
		     is_within(all->items[k].path, all->items[i].path); k++)
			rc = check_pair(c, &all->items[i], &all->items[k], err);
	return rc;
}

int shared_checkpoints_check(struct store *s, int64_t first_id, int64_t last_id, struct err *err)
{
	struct check c = { .s = s, .first_id = first_id, .last_id = last_id };
	struct job_directory_list all;
	bool has_new = false;
	int rc;

	if (store_checkpoint_dirs_in_use(s, &all, err))
		return -1;
	for (int i = 0; i < all.count; i++)
		has_new = has_new || is_new(&c, &all.items[i]);
	rc = has_new && all.count > 1 ? check_all(&c, &all, err) : 0;
	job_directory_list_release(&all);
	id_list_release(&c.in_turn);
	return rc;
}
