/* checkpoint_search.c - the candidates below a directory of checkpoints: see checkpoints.h. */
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/file.h"
#include "pollux/mem.h"
#include "checkpoints.h"

#define OTHERS_MAX 500000
#define CANDIDATES_MAX 200000
/* Time after which the search ends with what it has found. */
#define NAMES_S 120.0
/* A directory with more files than this is looked through only if files came into it. */
#define LARGE 100
#define LINKS_MAX 64
#define POINTER_BYTES 4096

/* What the names of the directories above an entry tell about it. */
enum within { WITHIN_ALL, WITHIN_LOGS };

struct place {
	char *path;			/* owned */
	enum within within;
	int depth;
};

struct search {
	const struct checkpoint_query *query;
	struct candidates *found;
	size_t root_length;		/* of the directory's path, with a slash */
	struct place *places;		/* owned; a queue: from next on they wait */
	int n_places, next;
	int others;
	bool has_better;		/* a candidate that is not only JSON */
	unsigned names;
	double end_boot_s;		/* when other names are no longer looked at */
	double names_end_boot_s;	/* when no name is */
	struct {
		dev_t device;
		ino_t inode;
	} links[LINKS_MAX];		/* directories that links led to */
	int n_links;
};

/* A directory that is being read. */
struct reading {
	const struct place *place;
	bool old;			/* no file came into it since the time asked for */
	int others;			/* of its other names, looked at */
};

static void enqueue(struct search *s, const char *path, enum within within, int depth)
{
	s->places = xgrow(s->places, s->n_places, sizeof(*s->places));
	s->places[s->n_places++] = (struct place){ xstrdup(path), within, depth };
}

static bool is_of_a_start(const struct checkpoint_query *query, const struct contents *c)
{
	for (int i = 0; i < query->n_starts; i++)
		if (c->changed_s >= query->starts[i].from_s &&
		    c->changed_s <= query->starts[i].to_s)
			return true;
	return false;
}

static const char *below(const struct search *s, const char *path)
{
	return strlen(path) < s->root_length ? "" : path + s->root_length;
}

static bool is_refused(const struct search *s, const char *path)
{
	return s->query->refused && strings_have(s->query->refused, path);
}

/* True if the word is the path or name of another entry of the directory path[0..slash]. */
static bool names_another(const char *path, const char *slash, const char *word)
{
	const char *last = base_name(word);
	char *other;
	bool found;

	if (!*last || !strcmp(last, ".") || !strcmp(last, "..") || !strcmp(last, slash + 1))
		return false;
	other = xasprintf("%.*s/%s", (int)(slash - path), path, last);
	found = access(other, F_OK) == 0;
	free(other);
	return found;
}

static bool is_named_as_checkpoint(const char *name, bool json_counts)
{
	enum name_class class = checkpoint_name_class(name);

	return class == NAME_CHECKPOINT || (class == NAME_JSON && json_counts) ||
	       checkpoint_name_of_directory(name);
}

/* A small file that names a checkpoint beside it, as frameworks write for themselves: the name of
 * the last one, or TensorFlow's list. */
static bool is_pointer(const char *path, const struct contents *c)
{
	static const char between[] = " \t\r\n\"',:{}[]=";
	char text[POINTER_BYTES + 1], *rest, *save = NULL;
	const char *slash = strrchr(path, '/');
	bool found, has_number;
	ssize_t n;
	int fd;

	if (c->is_directory || c->bytes > POINTER_BYTES || !slash)
		return false;
	fd = file_open(path, O_RDONLY, 0);
	n = fd >= 0 ? read(fd, text, POINTER_BYTES) : 0;
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	if (!strncmp(text, "model_checkpoint_path:", 22))
		return true;
	rest = xstrdup(text);
	text[strcspn(text, "\r\n")] = '\0';
	found = names_another(path, slash, text);
	/* JSON and the like: a word of the text is the name of a checkpoint. "ck-40.json" may name
	 * "ck-20.json", the one before it. */
	has_number = strpbrk(slash + 1, "0123456789");
	for (char *word = strtok_r(rest, between, &save);
	     !found && word && !checkpoint_name_has_weights(slash + 1);
	     word = strtok_r(NULL, between, &save))
		found = is_named_as_checkpoint(base_name(word), !has_number) &&
			names_another(path, slash, word);
	free(rest);
	return found;
}

static bool has_changed(const struct search *s, const struct contents *c)
{
	if (isinf(s->query->since_s))
		return true;
	return c->bytes > 0 ? c->changed_bytes * 2 >= c->bytes : c->changed_s >= s->query->since_s;
}

/* A file that was saved and is no candidate, for this reason. */
static void pass_over(struct search *s, const char *path, const struct contents *c, const char *why)
{
	struct candidates *found = s->found;

	if (c->bytes == 0 || (found->passed && found->passed_s > c->changed_s))
		return;
	free(found->passed);
	found->passed = xstrdup(path);
	found->why_passed = why;
	found->passed_s = c->changed_s;
}

/* A file that is no candidate, but was saved. */
static void count_other(struct search *s, const char *path, const struct contents *c,
			const char *why)
{
	if (c->bytes == 0 || !has_changed(s, c) || is_refused(s, path))
		return;
	if (s->query->glob)
		why = "it does not match the pattern of --checkpoint-glob";
	else if (is_of_a_start(s->query, c))
		why = "it was written while a run started, before its first step";
	else
		s->found->other_s = fmax(s->found->other_s, c->changed_s);
	pass_over(s, path, c, why);
}

static void add_candidate(struct search *s, const char *path, enum name_class class, bool link)
{
	struct candidates *found = s->found;
	struct candidate c = { .class = class, .link = link };

	if (found->count >= CANDIDATES_MAX || is_refused(s, path) ||
	    !contents_of(path, s->query->since_s, &c.contents) || !has_changed(s, &c.contents))
		return;
	if (class != NAME_CHECKPOINT && is_of_a_start(s->query, &c.contents)) {
		count_other(s, path, &c.contents, NULL);
		return;
	}
	if (!s->query->glob && is_pointer(path, &c.contents)) {
		count_other(s, path, &c.contents, "it names another file");
		return;
	}
	if (!s->query->glob && !c.contents.is_directory && strchr(path, '/')) {
		char *directory = xasprintf("%.*s", (int)(base_name(path) - 1 - path), path);

		c.companion = checkpoint_name_is_companion(directory, base_name(path));
		free(directory);
	}
	s->has_better |= class != NAME_JSON;
	c.path = xstrdup(path);
	checkpoint_order_of(below(s, path), &c.order);
	found->items = xgrow(found->items, found->count, sizeof(*found->items));
	found->items[found->count++] = c;
}

/* A link to a directory elsewhere, as to a larger disk, is followed once. */
static bool leads_elsewhere(struct search *s, const char *path, const struct stat *st)
{
	char *root = realpath(s->query->directory, NULL), *real = realpath(path, NULL);
	size_t n = root ? strlen(root) : 0;
	bool inside = !root || !real || (!strncmp(real, root, n) && strchr("/", real[n])) ||
		      !strncmp(root, real, strlen(real));

	free(root);
	free(real);
	for (int i = 0; i < s->n_links; i++)
		inside |= s->links[i].device == st->st_dev && s->links[i].inode == st->st_ino;
	if (inside || s->n_links == LINKS_MAX)
		return false;
	s->links[s->n_links].device = st->st_dev;
	s->links[s->n_links++].inode = st->st_ino;
	return true;
}

/* True if there is time for one more file without the name of a checkpoint. */
static bool may_look_at_other(struct search *s, struct reading *r)
{
	if (s->others >= OTHERS_MAX || (r->old && r->others >= LARGE) ||
	    ((s->others & 1023) == 1023 && clock_boot_s() > s->end_boot_s)) {
		if (!r->old)
			s->others = OTHERS_MAX;
		return false;
	}
	s->others++;
	r->others++;
	return true;
}

/* Other files count as saved, and no more; JSON may be a checkpoint, too. */
static void look_at_other(struct search *s, struct reading *r, const char *path,
			  enum name_class class, bool link)
{
	struct contents c;

	if (!may_look_at_other(s, r))
		return;
	if (contents_of(path, s->query->since_s, &c))
		count_other(s, path, &c, "its name is not one of a checkpoint");
	/* where there is a candidate of another name, JSON would be taken out again */
	if (class == NAME_JSON && !s->has_better)
		add_candidate(s, path, class, link);
}

/* What a program has not finished does not count as saved. */
static void look_at_unfinished(struct search *s, struct reading *r, const char *path,
			       const struct dirent *e)
{
	struct contents c;

	if (e->d_type == DT_REG && e->d_name[0] != '.' && may_look_at_other(s, r) &&
	    contents_of(path, s->query->since_s, &c) && has_changed(s, &c))
		pass_over(s, path, &c, "its name says that it is unfinished");
}

static void look_at_directory(struct search *s, const struct place *outer, const char *path,
			      const char *name)
{
	const char *glob = s->query->glob;
	enum within within = outer->within;

	if (glob ? checkpoint_glob_matches(glob, below(s, path))
		 : checkpoint_name_of_directory(name)) {
		add_candidate(s, path, NAME_CHECKPOINT, false);
		return;
	}
	if (outer->depth == 0 || code_directory_name(name))
		return;
	if (glob || checkpoint_name_class(name) == NAME_CHECKPOINT)
		within = WITHIN_ALL;
	else if (log_directory_name(name))
		within = WITHIN_LOGS;
	enqueue(s, path, within, outer->depth - 1);
}

static enum name_class class_of_file(const struct search *s, const struct place *place,
				     const char *path, const char *name)
{
	const char *glob = s->query->glob;
	enum name_class class = checkpoint_name_class(name);

	if (glob && checkpoint_glob_matches(glob, below(s, path)))
		return NAME_CHECKPOINT;
	if (class == NAME_NONE)
		return NAME_NONE;
	if (glob)
		return NAME_OTHER;
	return place->within == WITHIN_LOGS && class != NAME_CHECKPOINT ? NAME_NONE : class;
}

static void look_at_entry(struct search *s, struct reading *r, const char *path,
			  const struct dirent *e)
{
	enum name_class class;
	struct stat st;
	unsigned char type = e->d_type;

	if (type == DT_UNKNOWN && lstat(path, &st) == 0)
		type = (unsigned char)IFTODT(st.st_mode);
	if (type == DT_LNK && stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
		if (!leads_elsewhere(s, path, &st))
			return;
		type = DT_DIR;
	}
	if (type == DT_DIR)
		look_at_directory(s, r->place, path, e->d_name);
	if (type != DT_REG && type != DT_LNK)
		return;
	class = class_of_file(s, r->place, path, e->d_name);
	if (class == NAME_CHECKPOINT || class == NAME_MODEL)
		add_candidate(s, path, class, type == DT_LNK);
	else if (class == NAME_JSON || class == NAME_OTHER)
		look_at_other(s, r, path, class, type == DT_LNK);
}

/* True if a name on the path has a mark of what is not finished. */
static bool has_temporary_name(const char *path)
{
	bool found = false;

	for (const char *p = path; !found && *p; p += strspn(p, "/")) {
		size_t n = strcspn(p, "/");
		char *name = xasprintf("%.*s", (int)n, p);

		found = checkpoint_name_is_temporary(name);
		free(name);
		p += n;
	}
	return found;
}

static void read_entry(struct search *s, struct reading *r, const struct dirent *e)
{
	char *path;

	if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
		return;
	path = xasprintf("%s/%s", r->place->path, e->d_name);
	/* a glob means unfinished files only where it has such a mark itself */
	if (checkpoint_name_is_temporary(e->d_name) &&
	    !(s->query->glob && has_temporary_name(s->query->glob)))
		look_at_unfinished(s, r, path, e);
	else
		look_at_entry(s, r, path, e);
	free(path);
}

static void read_place(struct search *s, const struct place *place)
{
	struct reading r = { .place = place };
	bool may_have_config = checkpoint_name_is_last(base_name(place->path)), marked = false;
	DIR *dir = opendir(place->path);
	const struct dirent *e;
	struct stat st;
	int names = 0;

	if (!dir)
		return;
	/* A directory that has files of checkpoints only is one, whatever its name. */
	while (!s->query->glob && !marked && names++ < OTHERS_MAX && (e = readdir(dir)))
		marked = is_mark_of_checkpoint(e->d_name) ||
			 (may_have_config && is_config_of_model(e->d_name));
	rewinddir(dir);
	if (marked) {
		add_candidate(s, place->path, NAME_CHECKPOINT, false);
		closedir(dir);
		return;
	}
	r.old = fstat(dirfd(dir), &st) == 0 && !file_changed_since(&st, s->query->since_s);
	for (;;) {
		if (s->names++ % 256 == 255 && clock_boot_s() > s->names_end_boot_s)
			s->found->cut_short = true;
		e = s->found->cut_short ? NULL : readdir(dir);
		if (!e)
			break;
		read_entry(s, &r, e);
	}
	closedir(dir);
}

/* What a program told is a candidate wherever it lies, and whatever its name. */
static void add_reported(struct search *s)
{
	const struct checkpoint_query *q = s->query;
	struct checkpoint_query all = *q;
	int before = s->found->count;
	const char *slash = q->reported ? strrchr(q->reported, '/') : NULL;

	if (!slash || q->glob)
		return;
	/* a file in a directory that is a candidate stands for the directory */
	for (int i = 0; i < before; i++) {
		struct candidate *c = &s->found->items[i];
		size_t n = strlen(c->path);

		if (strncmp(q->reported, c->path, n) != 0 || !strchr("/", q->reported[n]))
			continue;
		c->reported = true;
		c->class = NAME_CHECKPOINT;
		return;
	}
	if (strncmp(q->reported, q->directory, s->root_length - 1) != 0 ||
	    q->reported[s->root_length - 1] != '/')
		s->root_length = (size_t)(slash + 1 - q->reported);	/* it lies elsewhere */
	if (has_temporary_name(below(s, q->reported)))
		return;
	all.since_s = -INFINITY;
	s->query = &all;
	add_candidate(s, q->reported, NAME_CHECKPOINT, false);
	s->query = q;
	if (s->found->count > before)
		s->found->items[before].reported = true;
}

void candidates_find(const struct checkpoint_query *query, struct candidates *found)
{
	struct search s = {
		.query = query, .found = found, .root_length = strlen(query->directory) + 1,
		.end_boot_s = clock_boot_s() + SEARCH_S,
		.names_end_boot_s = clock_boot_s() + NAMES_S,
	};

	*found = (struct candidates){ .other_s = NAN };
	enqueue(&s, query->directory, WITHIN_ALL, SEARCH_DEPTH);
	while (s.next < s.n_places) {
		struct place place = s.places[s.next++];

		if (!found->cut_short)
			read_place(&s, &place);
		free(place.path);
	}
	free(s.places);
	add_reported(&s);
}

void candidates_release(struct candidates *found)
{
	for (int i = 0; i < found->count; i++) {
		free(found->items[i].path);
		checkpoint_order_release(&found->items[i].order);
	}
	free(found->items);
	free(found->passed);
	*found = (struct candidates){ .other_s = NAN };
}
