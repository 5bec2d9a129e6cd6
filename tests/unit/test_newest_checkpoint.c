/* test_newest_checkpoint.c - which entry of a directory {newest} names. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/local/newest_checkpoint.h"
#include "pollux/mem.h"
#include "tap.h"

static char root[] = "/tmp/pollux-newest.XXXXXX";
static int now_s = 1000000000;

/* Makes the directory or, without a slash at its end, the file; each is newer than those before. */
static void make(const char *name)
{
	char *path = xasprintf("%s/%s", root, name);
	size_t n = strlen(path);
	struct timespec times[2] = { { .tv_sec = now_s }, { .tv_sec = now_s } };

	if (path[n - 1] == '/')
		mkdir(path, 0700);
	else
		close(open(path, O_CREAT | O_WRONLY, 0600));
	utimensat(AT_FDCWD, path, times, 0);
	now_s++;
	free(path);
}

static void touch(const char *name)
{
	char *path = xasprintf("%s/%s", root, name);
	struct timespec times[2] = { { .tv_sec = now_s }, { .tv_sec = now_s } };

	utimensat(AT_FDCWD, path, times, 0);
	now_s++;
	free(path);
}

static void is_newest(const char *want, const char *name)
{
	char *found = newest_checkpoint(root, NULL);

	is_str(found ? found + strlen(root) + 1 : "none", want, name);
	free(found);
}

static void is_newest_of(const char *glob, const char *want, const char *name)
{
	char *found = newest_checkpoint(root, glob);

	is_str(found ? found + strlen(root) + 1 : "none", want, name);
	free(found);
}

int main(void)
{
	char *remove = NULL;

	if (!mkdtemp(root))
		return 1;
	is_newest("none", "an empty directory has none");
	make("trainer_state.json");
	make("runs/");
	make("notes.txt");
	is_newest("none", "nor has one of other files");
	is_newest_of("*.txt", "notes.txt", "a pattern of the user's finds another name");
	is_newest_of("run?", "runs", "of a directory, too");
	is_newest_of("*.pt", "none", "or nothing");
	make("checkpoint-10/");
	make("checkpoint-10/model");
	make("checkpoint-10/state");
	touch("checkpoint-10");
	make("checkpoint-20/");
	make("checkpoint-20/model");
	make("checkpoint-20/state");
	touch("checkpoint-20");
	is_newest("checkpoint-20", "the one that was written last");
	make("checkpoint-30/");
	make("checkpoint-30/model");
	touch("checkpoint-30");
	is_newest("checkpoint-20", "not one that has fewer files than the one before");
	make("checkpoint-30/state");
	make("checkpoint-30/checkpoint-is-incomplete.txt");
	touch("checkpoint-30");
	is_newest("checkpoint-20", "nor one that says that it is incomplete");
	make("version_0/");
	make("version_0/checkpoints/");
	make("version_0/checkpoints/epoch=2-step=30.ckpt");
	is_newest("version_0/checkpoints/epoch=2-step=30.ckpt", "files further down, too");
	make("ckpt.pt.tmp");
	make(".hidden.pt");
	is_newest("version_0/checkpoints/epoch=2-step=30.ckpt", "nothing temporary or hidden");
	make("ckpt.pt");
	is_newest("ckpt.pt", "a file");
	remove = xasprintf("rm -r %s", root);
	ok(system(remove) == 0, "removed");
	free(remove);
	return done();
}
