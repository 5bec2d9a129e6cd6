/* earlier_files.c - move another job's log and checkpoints out of a job's way. */
#include "earlier_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/open_file.h"

#define CLAIM_SIZE 128
#define SHORT_ID 8		/* characters of a store's name in the name of a file */

/* The owner of the files, as claimed: "STORE TIME", or "STORE" if an earlier pollux wrote the
 * claim. */
struct claim {
	char bytes[CLAIM_SIZE];
	const char *store;	/* "": nobody has */
	const char *time;	/* "": unknown */
};

static void read_claim(const char *path, struct claim *c)
{
	int fd = file_open(path, O_RDONLY | O_NOFOLLOW, 0);
	ssize_t n = fd >= 0 ? read(fd, c->bytes, CLAIM_SIZE - 1) : 0;
	char *end;

	if (fd >= 0)
		close(fd);
	c->bytes[n > 0 ? n : 0] = '\0';
	end = c->bytes + strspn(c->bytes, "0123456789abcdef");
	c->store = c->bytes;
	c->time = *end == ' ' ? end + 1 : "";
	*end = '\0';
}

/* Renames path, if there is such a file, and says so. whose: the former owner, in words. */
static int move_file(const char *path, const struct claim *owner, const char *whose,
		     struct text *said, struct err *err)
{
	char *base = xasprintf("%s.of-%.*s", path, SHORT_ID,
			       *owner->store ? owner->store : "unknown");
	char *to = xstrdup(base);
	int rc = 0;

	for (int i = 2; access(to, F_OK) == 0; i++) {
		free(to);
		to = xasprintf("%s-%d", base, i);
	}
	if (rename(path, to) == 0)
		text_addf(said, "%s'%s' of %s is now '%s'", said->length ? "; " : "", path, whose,
			  to);
	else if (errno != ENOENT)
		rc = err_set(err, EX_CANTCREAT, "cannot rename '%s', which is of %s: %s", path,
			     whose, strerror(errno));
	free(base);
	free(to);
	return rc;
}

int earlier_files_move(const struct paths *paths, const struct job *job, const char *store_id,
		       struct text *said, struct err *err)
{
	char *log = paths_log(paths, job->id), *checkpoints = paths_checkpoints(paths, job->id);
	char *path = xasprintf("%s/logs/%lld.store", paths->dir, (long long)job->id);
	char *mine = xasprintf("%s %.6f", store_id, job->submit_time_s);
	char *time = strchr(mine, ' ') + 1;
	bool same_store, same_time;
	struct claim owner;
	int rc = 0;

	read_claim(path, &owner);
	same_store = !strcmp(owner.store, store_id);
	same_time = same_store && !strcmp(owner.time, time);
	if (*owner.store ? !same_store || (*owner.time && !same_time) : job->progress.runs <= 1) {
		const char *whose = same_store ? "a lost job of the same number" : "another store";

		rc = move_file(log, &owner, whose, said, err) ||
		     move_file(checkpoints, &owner, whose, said, err) ? -1 : 0;
	}
	if (rc == 0 && !same_time)
		rc = file_replace(path, mine, strlen(mine), err);
	free(log);
	free(checkpoints);
	free(path);
	free(mine);
	return rc;
}
