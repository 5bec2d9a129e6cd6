/* shared_checkpoints.c - see submission.h. */
#include "pollux/submission.h"

#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "pollux/store_jobs.h"
#include "pollux/text.h"

/* --- paths --- */

/* The path without links, "." and "..", as far as its directories are there. The caller frees. */
static char *plain_path(const char *path)
{
	char *there = xstrdup(path), *slash = there + strlen(there), *real;
	struct text t = TEXT_INIT;
	const char *rest;

	while (!(real = realpath(*there ? there : "/", NULL)) && *there) {
		slash = strrchr(there, '/');
		slash = slash ? slash : there;
		*slash = '\0';
	}
	text_add(&t, real && strcmp(real, "/") != 0 ? real : "");
	rest = path + (slash - there);
	for (size_t n; *(rest += strspn(rest, "/")); rest += n) {	/* what is not there */
		n = strcspn(rest, "/");
		if (n == 2 && !strncmp(rest, "..", n)) {
			const char *last = strrchr(t.data, '/');

			t.length = last ? (size_t)(last - t.data) : 0;
			t.data[t.length] = '\0';
		} else if (n > 1 || *rest != '.') {
			text_add(&t, "/");
			text_add_bytes(&t, rest, n);
		}
	}
	free(real);
	free(there);
	return text_detach(&t);
}

/* --- pairs --- */

/* Compares paths so that what lies within a directory comes right behind it. */
static int compare_directories(const void *x, const void *y)
{
	const struct job_directory *first = x, *second = y;
	const char *a = first->path, *b = second->path;

	while (*a && *a == *b) {
		a++;
		b++;
	}
	if (*a == *b)
		return (first->job_id > second->job_id) - (first->job_id < second->job_id);
	if (!*a || !*b)
		return *a ? 1 : -1;
	if (*a == '/' || *b == '/')
		return *a == '/' ? -1 : 1;
	return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
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
		return err_set(err, EX_FAILED, "job %lld, which %s, has the same checkpoint "
			       "directory, '%s': the two would resume from each other; give "
			       "another one, wait by --after %lld, or give --force", id,
			       job_state_clause(other->state, other->set_aside), new->path, id);
	return err_set(err, EX_FAILED, "job %lld, which %s, has the checkpoint directory '%s', "
		       "and one lies in the other, '%s': one job would resume from the other; give "
		       "another one, wait by --after %lld, or give --force", id,
		       job_state_clause(other->state, other->set_aside), other->path, new->path,
		       id);
}

/* outer: its directory has the other one in it, or is the same. */
static int check_pair(struct check *c, const struct job_directory *outer,
		      const struct job_directory *inner, struct err *err)
{
	const struct job_directory *new = is_new(c, inner) ? inner : outer;
	const struct job_directory *other = new == inner ? outer : inner;

	/* Globs that differ keep apart what the two save. */
	if (!is_new(c, new) || (outer->glob && (strcmp(outer->path, inner->path) != 0 ||
				(inner->glob && strcmp(outer->glob, inner->glob) != 0))))
		return 0;
	if (c->in_turn_of != new->job_id) {
		id_list_release(&c->in_turn);
		c->in_turn_of = new->job_id;
		if (store_jobs_in_turn_with(c->s, new->job_id, &c->in_turn, err))
			return -1;
	}
	if (c->in_turn.count > 0 && bsearch(&other->job_id, c->in_turn.items,
					    (size_t)c->in_turn.count, sizeof(other->job_id), by_id))
		return 0;
	return refuse(c, new, other, err);
}

int shared_checkpoints_check(struct store *s, int64_t first_id, int64_t last_id, struct err *err)
{
	struct check c = { .s = s, .first_id = first_id, .last_id = last_id };
	struct job_directory_list all;
	bool has_new = false;
	int rc = 0;

	if (store_checkpoint_dirs_in_use(s, &all, err))
		return -1;
	for (int i = 0; i < all.count; i++)
		has_new = has_new || is_new(&c, &all.items[i]);
	for (int i = 0; has_new && i < all.count; i++) {
		char *path = plain_path(all.items[i].path);

		free(all.items[i].path);
		all.items[i].path = path;
	}
	if (has_new)
		qsort(all.items, (size_t)all.count, sizeof(*all.items), compare_directories);
	for (int i = 0; rc == 0 && has_new && i < all.count; i++) {
		size_t n = strlen(all.items[i].path);

		for (int k = i + 1; rc == 0 && k < all.count &&
		     !strncmp(all.items[k].path, all.items[i].path, n) &&
		     strchr("/", all.items[k].path[n]); k++)
			rc = check_pair(&c, &all.items[i], &all.items[k], err);
	}
	job_directory_list_release(&all);
	id_list_release(&c.in_turn);
	return rc;
}
