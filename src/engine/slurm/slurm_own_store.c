/* slurm_own_store.c - see slurm_own_store.h. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/store_journal.h"
#include "slurm.h"
#include "slurm_own_store.h"

static int link_to(const char *base, const char *dir, const char *part, struct err *err)
{
	char *there = xasprintf("%s/%s", base, part), *here = xasprintf("%s/%s", dir, part);
	int rc = symlink(there, here);

	if (rc)
		err_set(err, EX_CANTCREAT, "cannot make '%s': %s", here, strerror(errno));
	free(there);
	free(here);
	return rc;
}

/* Other people's pollux sees these devices by Slurm. */
static int write_config(const struct slurm_own_store *o, struct err *err)
{
	double limit = slurm_number(o->launch, "log_limit", 0);
	struct text t = TEXT_INIT;
	int rc;

	text_add(&t, "shared_dir = no\nengine = local\n");
	if (limit > 0)
		text_addf(&t, "log_limit = %.0fM\n", ceil(limit / 0x1p20));
	else
		text_add(&t, "log_limit = no\n");
	rc = slurm_write(o->own, "config", t.data, t.length, err);
	text_release(&t);
	return rc;
}

static int fill_store(const struct slurm_own_store *o, const struct paths *paths,
		      struct err *err)
{
	int64_t job_id = (int64_t)slurm_number(o->launch, "job", 0);
	char *checkpoints = xasprintf("%s/checkpoints/%lld", o->base, (long long)job_id);
	char *before = slurm_value(o->launch, "before");
	struct text rows = TEXT_INIT;
	struct store store;
	int rc;

	if (!slurm_read(o->run_dir, "rows", 0, &rows))
		rc = err_set(err, EX_NOINPUT, "cannot read '%s/rows'", o->run_dir);
	else
		rc = store_open_rows(&store, paths, rows.data, rows.length, err);
	if (rc == 0) {
		rc = (before && store_job_position_is_old(&store, job_id, err)) ||
		     store_command_place(&store, job_id, checkpoints, err) ? -1 : 0;
		store_close(&store);
	}
	text_release(&rows);
	free(before);
	free(checkpoints);
	return rc;
}

static int open_journal(const struct slurm_own_store *o, struct err *err)
{
	char *path = xasprintf("%s/journal", o->run_dir);
	int fd = file_open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0600);

	if (fd < 0)
		err_set(err, EX_CANTCREAT, "cannot open '%s': %s", path, strerror(errno));
	free(path);
	if (fd >= 0)
		store_journal_to(fd);
	return fd < 0 ? -1 : 0;
}

int slurm_own_store(const struct slurm_own_store *o, struct paths *paths, struct err *err)
{
	int rc = o->base ? 0 : err_set(err, EX_DATAERR, "'%s/launch' is not complete", o->run_dir);

	setenv("POLLUX_DIR", o->own, 1);
	for (size_t i = 0; i < 3; i++) {
		static const char *const parts[] = { "logs", "checkpoints", "code" };

		if (rc == 0)
			rc = link_to(o->base, o->own, parts[i], err);
	}
	if (rc == 0)
		rc = write_config(o, err) || paths_init(paths, err) ||
		     fill_store(o, paths, err) || open_journal(o, err) ? -1 : 0;
	return rc;
}
