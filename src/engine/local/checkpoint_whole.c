/* checkpoint_whole.c - whether a file or directory was written to its end: see checkpoints.h. The
 * commit markers of frameworks are here. */
#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/file.h"
#include "pollux/mem.h"
#include "checkpoints.h"

#define DEPTH 8
#define ENTRIES_MAX 100000
#define TENTH 10
/* The kernel dates files by a clock that is late by one of its ticks. */
#define TICK_S 0.02

/* What frameworks write last. */
enum mark {
	MARK_TRAINER, MARK_DCP, MARK_ORBAX, MARK_LATEST, MARK_TENSORFLOW, MARKERS,
	/* signs that a marker has to come */
	SIGN_TRAINER = MARKERS, SIGN_DCP, SIGN_ORBAX, SIGN_DEEPSPEED, SIGN_TENSORFLOW,
	SIGN_ACCELERATE, SIGN_INCOMPLETE,
};

#define BIT(mark) (1U << (mark))
/* Orbax marks the parts of a checkpoint, too. */
#define ONLY_AT_TOP (BIT(MARK_ORBAX) | BIT(SIGN_ORBAX))

/* A name may tell several things. */
static const struct {
	const char *pattern;
	unsigned marks;
	bool only_checkpoints;		/* have such a file */
} entries[] = {
	{ "trainer_state.json", BIT(MARK_TRAINER), false },
	{ "training_args.bin", BIT(SIGN_TRAINER), false },
	{ "optimizer.pt", BIT(SIGN_TRAINER), false },
	{ "scheduler.pt", BIT(SIGN_TRAINER), false },
	{ "rng_state*.pth", BIT(SIGN_TRAINER), false },
	{ ".metadata", BIT(MARK_DCP), false },
	{ "*.distcp", BIT(SIGN_DCP), true },
	{ "commit_success.txt", BIT(MARK_ORBAX), false },
	{ "_CHECKPOINT_METADATA", BIT(SIGN_ORBAX), true },
	{ "*_model_states.pt", BIT(SIGN_DEEPSPEED), true },
	{ "*_optim_states.pt", BIT(SIGN_DEEPSPEED), true },
	{ "latest", BIT(MARK_LATEST), false },
	{ "*.data-[0-9]*-of-[0-9]*", BIT(SIGN_TENSORFLOW), false },
	{ "*.index", BIT(MARK_TENSORFLOW), false },
	{ "random_states_*.pkl", BIT(SIGN_ACCELERATE), true },
	{ "*incomplete*", BIT(SIGN_INCOMPLETE), false },
};

/* Where a sign is, the marker has to be. */
static const struct {
	enum mark sign, marker;
	const char *name_of_directory;	/* only there; NULL: everywhere */
	const char *missing;
} rules[] = {
	{ SIGN_TRAINER, MARK_TRAINER, "checkpoint-[0-9]*", "trainer_state.json is missing" },
	{ SIGN_DCP, MARK_DCP, NULL, ".metadata is missing" },
	{ SIGN_TENSORFLOW, MARK_TENSORFLOW, NULL, "its index is missing" },
};

/* What one checkpoint has and a later one of the same shape lacks. */
static const struct {
	enum mark mark;
	const char *name;
} kept_marks[] = {
	{ MARK_TRAINER, "trainer_state.json" }, { MARK_DCP, ".metadata" },
	{ MARK_ORBAX, "commit_success.txt" }, { SIGN_ORBAX, "_CHECKPOINT_METADATA" },
	{ MARK_TENSORFLOW, "its index" },
};

static double seconds(struct timespec t)
{
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* When a file last changed, by the wall clock. A copy or an archive may have set the time of its
 * bytes back: the time of its inode counts then. */
static double file_changed_s(const struct stat *st)
{
	double bytes_s = seconds(st->st_mtim), inode_s = seconds(st->st_ctim);

	/* a time in the future was set, or is of a clock that was set back */
	return bytes_s > inode_s && bytes_s <= clock_wall_s() ? bytes_s : inode_s;
}

bool file_changed_since(const struct stat *st, double since_s)
{
	bool whole_seconds = st->st_ctim.tv_nsec == 0 && st->st_mtim.tv_nsec == 0;

	return file_changed_s(st) >= since_s - (whole_seconds ? 1 : TICK_S);
}

static bool is_after(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec > b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec > b->tv_nsec);
}

static unsigned marks_of(const char *name)
{
	unsigned marks = 0;

	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		if (!fnmatch(entries[i].pattern, name, 0))
			marks |= entries[i].marks;
	return marks;
}

bool is_mark_of_checkpoint(const char *entry)
{
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		if (entries[i].only_checkpoints && !fnmatch(entries[i].pattern, entry, 0))
			return true;
	return false;
}

bool is_config_of_model(const char *entry)
{
	return !strcmp(entry, "config.json") || !strcmp(entry, "config.cfg") ||
	       !strcmp(entry, "adapter_config.json");
}

static void add_file(struct contents *c, const struct stat *st, double since_s)
{
	double changed_s = file_changed_s(st);

	c->bytes += st->st_size;
	if (file_changed_since(st, since_s))
		c->changed_bytes += st->st_size;
	if (is_after(&st->st_mtim, &c->written))
		c->written = st->st_mtim;
	if (c->files++ == 0 || is_after(&c->begun, &st->st_mtim))
		c->begun = st->st_mtim;
	if (changed_s > c->changed_s)
		c->changed_s = changed_s;
}

/* A walk over what is below a directory. */
struct walk {
	struct contents *c;
	double since_s;
	int left;			/* entries that may still be looked at */
	const char *why;		/* a fault of a file; NULL */
	char *at;			/* owned; the file with that fault */
	bool looks_into_files;
	int parts, parts_wanted;	/* "-00001-of-00003": seen, and the number of all */
};

static void see_file(struct walk *w, const char *path, const char *name, const struct stat *st)
{
	const char *of = strstr(name, "-of-");

	add_file(w->c, st, w->since_s);
	if (of && !fnmatch("*-[0-9][0-9][0-9][0-9][0-9]-of-[0-9][0-9][0-9][0-9][0-9]*", name, 0)) {
		int wanted = (int)strtol(of + 4, NULL, 10);

		w->parts++;
		if (wanted > w->parts_wanted)
			w->parts_wanted = wanted;
	}
	if (!w->looks_into_files || w->why)
		return;
	w->why = st->st_size == 0 && checkpoint_name_has_weights(name) ? "it is empty"
								       : why_file_is_torn(path);
	if (w->why)
		w->at = xstrdup(name);
}

static void walk(struct walk *w, const char *directory, int depth)
{
	DIR *dir = opendir(directory);
	const struct dirent *e;

	while (dir && w->left > 0 && (e = readdir(dir))) {
		char *path;
		struct stat st;

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		w->left--;
		w->c->entries += depth == DEPTH && e->d_name[0] != '.';
		w->c->has_ranks |= depth == DEPTH && checkpoint_order_has_ranks(e->d_name);
		w->c->marks |= depth == DEPTH ? marks_of(e->d_name)
					      : marks_of(e->d_name) & ~ONLY_AT_TOP;
		w->c->has_unfinished |= checkpoint_name_is_unfinished(e->d_name);
		path = xasprintf("%s/%s", directory, e->d_name);
		if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
			see_file(w, path, e->d_name, &st);
		else if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && depth > 0)
			walk(w, path, depth - 1);
		free(path);
	}
	if (dir)
		closedir(dir);
}

bool contents_of(const char *path, double since_s, struct contents *c)
{
	struct walk w = { .c = c, .since_s = since_s, .left = ENTRIES_MAX };
	struct stat st;

	*c = (struct contents){ .entries = 0 };
	if (stat(path, &st))
		return false;
	c->is_directory = S_ISDIR(st.st_mode);
	if (c->is_directory)
		walk(&w, path, DEPTH);
	else if (S_ISREG(st.st_mode))
		add_file(c, &st, since_s);
	return c->is_directory || S_ISREG(st.st_mode);
}

/* --- whole or not --- */

/* True if the directory's number is larger than that of the one which the word names. */
static bool is_beyond(const char *name, const char *word)
{
	struct checkpoint_order mine, told;
	bool beyond;

	checkpoint_order_of(name, &mine);
	checkpoint_order_of(word, &told);
	/* Megatron names the number alone */
	beyond = strcmp(name, word) != 0 && (mine.n == 0 || told.n == 0 ||
					     checkpoint_order_compare(&mine, &told) > 0);
	checkpoint_order_release(&mine);
	checkpoint_order_release(&told);
	return beyond;
}

/* DeepSpeed and Megatron write the name of a checkpoint beside it when the checkpoint is whole. */
static char *pointer_fault(const char *path, unsigned marks, bool *proves)
{
	char *why = NULL, word[256] = "";
	bool deepspeed = marks & BIT(SIGN_DEEPSPEED) && !(marks & BIT(MARK_LATEST));
	bool megatron = !fnmatch("iter_[0-9]*", base_name(path), 0);
	const char *pointer = deepspeed ? "latest" : "latest_checkpointed_iteration.txt";

	if (deepspeed || megatron) {
		char *beside = xasprintf("%.*s%s", (int)(base_name(path) - path), path, pointer);

		file_find_line(beside, "", word, sizeof(word));
		free(beside);
	}
	word[strcspn(word, " \t\r")] = '\0';
	*proves = *word && !is_beyond(base_name(path), word);
	if (*word && !*proves)
		why = xasprintf("'%s' still names %s", pointer, word);
	else if (!*word && deepspeed)
		why = xstrdup("'latest' does not name it");
	return why;
}

static char *former_fault(const char *path, const struct contents *c, const char *former_path,
			  const struct contents *former, bool proved)
{
	const char *name = base_name(former_path);
	const struct dirent *e;
	int before = 0, left = ENTRIES_MAX;
	DIR *dir;

	if (c->bytes < former->bytes / TENTH)
		return xasprintf("it has less than a tenth of the bytes of %s", name);
	if (!c->is_directory && file_begins_with_zeros(path) &&
	    !file_begins_with_zeros(former_path))
		return xasprintf("it begins with zeros, unlike %s", name);
	for (size_t i = 0; i < sizeof(kept_marks) / sizeof(kept_marks[0]); i++)
		if (former->marks & ~c->marks & BIT(kept_marks[i].mark))
			return xasprintf("%s is missing, which %s has", kept_marks[i].name, name);
	if (proved || !c->is_directory || c->entries >= former->entries)
		return NULL;
	/* Files that came into the former one after the save of this one had begun do not count: an
	 * evaluation writes into an older checkpoint. */
	dir = opendir(former_path);
	while (dir && left-- > 0 && (e = readdir(dir))) {
		struct stat st;

		if (e->d_name[0] != '.' && fstatat(dirfd(dir), e->d_name, &st, 0) == 0)
			before += !S_ISREG(st.st_mode) || !is_after(&st.st_mtim, &c->begun);
	}
	if (dir)
		closedir(dir);
	return c->entries < before ? xasprintf("it has fewer entries than %s", name) : NULL;
}

/* A directory without a marker is as whole as its files. Where there is one, a file may still have
 * lost its end, as by a loss of power. */
static char *inner_fault(const char *path, bool proved)
{
	struct contents again = { .entries = 0 };
	struct walk w = { .c = &again, .left = ENTRIES_MAX, .looks_into_files = true };
	char *why = NULL;

	walk(&w, path, DEPTH);
	if (w.why)
		why = xasprintf("%s: %s", w.at, w.why);
	else if (w.parts < w.parts_wanted && !proved)
		why = xasprintf("it has %d of %d parts", w.parts, w.parts_wanted);
	else if (again.has_unfinished && !proved)
		why = xstrdup("a file in it is named as unfinished");
	free(w.at);
	return why;
}

/* *proved: a marker shows that all was written. */
static char *directory_fault(const char *path, const struct contents *c, bool *proved)
{
	char *why;

	if (c->marks & BIT(SIGN_INCOMPLETE))
		return xstrdup("a file in it says that it is incomplete");
	why = pointer_fault(path, c->marks, proved);
	for (size_t i = 0; !why && i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (!(c->marks & BIT(rules[i].sign)) ||
		    (rules[i].name_of_directory &&
		     fnmatch(rules[i].name_of_directory, base_name(path), 0)))
			continue;
		if (!(c->marks & BIT(rules[i].marker)))
			return xstrdup(rules[i].missing);
		*proved = true;
	}
	if (c->marks & (BIT(MARK_ORBAX) | BIT(MARK_TRAINER)))
		*proved = true;
	return why ? why : inner_fault(path, *proved);
}

static char *file_fault(const char *path)
{
	const char *part = strstr(base_name(path), ".data-"), *torn;
	char *index = part ? xasprintf("%.*s.index", (int)(part - path), path) : NULL;
	/* TensorFlow writes the index after the parts */
	bool lacks_index = index && strstr(part, "-of-") && access(index, F_OK) != 0;

	free(index);
	torn = lacks_index ? "its index is missing" : why_file_is_torn(path);
	return torn ? xstrdup(torn) : NULL;
}

char *why_not_whole(const char *path, const struct contents *c, const char *former_path,
		    const struct contents *former)
{
	/* NeMo makes a file of this name before it saves, and removes it afterwards. */
	char *beside = xasprintf("%s-unfinished", path), *why;
	bool proved = false, is_marked = access(beside, F_OK) == 0;

	free(beside);
	if (is_marked)
		return xstrdup("a file beside it says that it is unfinished");
	if (c->bytes == 0)
		return xstrdup(c->is_directory ? "it has no bytes" : "it is empty");
	why = c->is_directory ? directory_fault(path, c, &proved) : file_fault(path);
	return why || !former || former->is_directory != c->is_directory
		? why : former_fault(path, c, former_path, former, proved);
}
