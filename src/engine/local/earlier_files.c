/* earlier_files.c - move another store's log and checkpoints out of a job's way. */
#include "earlier_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pollux/file.h"
#include "pollux/mem.h"

#define ID_SIZE 64
#define SHORT_ID 8		/* characters of a store's name in the name of a file */

/* The store that has claimed the files; "" if none has. */
static void read_claim(const char *path, char id[ID_SIZE])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	ssize_t n = fd >= 0 ? read(fd, id, ID_SIZE - 1) : 0;

	if (fd >= 0)
		close(fd);
	id[n > 0 ? n : 0] = '\0';
	id[strspn(id, "0123456789abcdef")] = '\0';
}

/* Renames path, if there is such a file, and tells of it. */
static int move(const char *path, const char *owner, struct text *said, struct err *err)
{
	char *base = xasprintf("%s.of-%.*s", path, SHORT_ID, *owner ? owner : "unknown");
	char *to = xstrdup(base);
	int rc = 0;

	for (int i = 2; access(to, F_OK) == 0; i++) {
		free(to);
		to = xasprintf("%s-%d", base, i);
	}
	if (rename(path, to) == 0)
		text_addf(said, "%s'%s' of another store is now '%s'", said->length ? "; " : "",
			  path, to);
	else if (errno != ENOENT)
		rc = err_set(err, EX_CANTCREAT, "cannot rename '%s', which is another store's: %s",
			     path, strerror(errno));
	free(base);
	free(to);
	return rc;
}

int earlier_files_move(const struct paths *paths, int64_t job_id, const char *store_id,
		       bool is_first, struct text *said, struct err *err)
{
	char *log = paths_log(paths, job_id), *checkpoints = paths_checkpoints(paths, job_id);
	char *claim = xasprintf("%s/logs/%lld.store", paths->dir, (long long)job_id);
	char owner[ID_SIZE];
	int rc = 0;

	read_claim(claim, owner);
	if (*owner ? strcmp(owner, store_id) != 0 : is_first)
		rc = move(log, owner, said, err) || move(checkpoints, owner, said, err) ? -1 : 0;
	if (rc == 0 && strcmp(owner, store_id) != 0)
		rc = file_replace(claim, store_id, strlen(store_id), err);
	free(log);
	free(checkpoints);
	free(claim);
	return rc;
}
