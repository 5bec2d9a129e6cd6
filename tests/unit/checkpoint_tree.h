/* checkpoint_tree.h - files as programs save them, and what is the newest checkpoint among them. */
#ifndef POLLUX_TEST_CHECKPOINT_TREE_H
#define POLLUX_TEST_CHECKPOINT_TREE_H

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/local/checkpoints.h"
#include "pollux/clock.h"
#include "pollux/mem.h"
#include "tap.h"

static char top[] = "/tmp/pollux-checkpoints.XXXXXX";
static char *root;		/* a directory below top for each group of checks */
static int n_roots, now_s;

static char *path_of(const char *name)
{
	return xasprintf("%s/%s", root, name);
}

static void fresh(void)
{
	free(root);
	root = xasprintf("%s/%d", top, n_roots++);
	mkdir(root, 0700);
	now_s = 1000000000;
}

static void date(const char *path, int time_s)
{
	struct timespec times[2] = { { .tv_sec = time_s }, { .tv_sec = time_s } };

	utimensat(AT_FDCWD, path, times, 0);
}

static void make_parents(const char *path)
{
	char *copy = xstrdup(path);

	for (char *p = copy + strlen(root) + 1; (p = strchr(p, '/')); *p++ = '/') {
		*p = '\0';
		mkdir(copy, 0700);
	}
	free(copy);
}

static void put_bytes(const char *name, const void *bytes, size_t n)
{
	char *path = path_of(name);
	int fd;

	make_parents(path);
	fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
	if (fd < 0 || write(fd, bytes, n) != (ssize_t)n)
		abort();
	close(fd);
	date(path, now_s++);
	free(path);
}

/* A file of n bytes, newer than those before. */
static void put(const char *name, size_t n)
{
	char *bytes = xcalloc(n + 1, 1);

	memset(bytes, 'x', n);
	put_bytes(name, bytes, n);
	free(bytes);
}

static void put_text(const char *name, const char *text)
{
	put_bytes(name, text, strlen(text));
}

static void newest_by(struct checkpoint_query *q, const char *want, const char *name)
{
	struct checkpoints found;
	size_t n = strlen(root);

	q->directory = root;
	checkpoints_find(q, &found);
	is_str(!found.newest ? "none" : found.newest[n] ? found.newest + n + 1 : ".", want, name);
	checkpoints_release(&found);
}

static void newest(const char *want, const char *name)
{
	struct checkpoint_query q = { .since_s = -INFINITY };

	newest_by(&q, want, name);
}

#endif
