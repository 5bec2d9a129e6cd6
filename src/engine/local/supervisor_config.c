/* supervisor_config.c - offer a running program another configuration: a file that it looks at. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pollux/file.h"
#include "pollux/store_runs.h"
#include "pollux/text.h"
#include "supervisor.h"

/* False for nonsense that a person wrote into the store by hand. */
static bool is_possible(const struct run *run)
{
	const struct configuration *c = &run->wanted;
	double scale = run->wanted_learning_rate_scale;

	return c->local_batch_size > 0 && c->accumulation_steps > 0 && isfinite(scale) && scale > 0;
}

/* The file is made anew: a file at this path may be incomplete, or made by the program as a
 * trap. */
static int write_file(const char *path, const struct text *t, struct err *err)
{
	int fd, failed;
	ssize_t n;

	unlink(path);
	fd = file_open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	n = fd < 0 ? -1 : write(fd, t->data, t->length);
	failed = fd >= 0 && close(fd);
	if (n == (ssize_t)t->length && !failed)
		return 0;
	return err_set(err, EX_CANTCREAT, "cannot write '%s': %s", path,
		       n >= 0 && !failed ? "the disk is full" : strerror(errno));
}

/* The file is written under another name first, so that the program never sees half of it. */
static int replace_file(const struct supervisor *s, const struct text *t, struct err *err)
{
	char *path = paths_run(s->paths, s->run.id, "config");
	char *new_path = paths_run(s->paths, s->run.id, "config.new");
	int rc = write_file(new_path, t, err);

	if (rc == 0 && rename(new_path, path))
		rc = err_set(err, EX_CANTCREAT, "cannot rename '%s': %s", new_path,
			     strerror(errno));
	free(new_path);
	free(path);
	return rc;
}

void supervisor_remove_config(const struct supervisor *s)
{
	static const char *const suffixes[] = { "config", "config.new" };

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		char *path = paths_run(s->paths, s->run.id, suffixes[i]);

		unlink(path);
		free(path);
	}
}

void supervisor_offer_config(struct supervisor *s)
{
	const struct run *run = &s->run;
	struct text t = TEXT_INIT;
	struct err err;
	double gain;

	if (store_run_read_wanted(&s->store, &s->run, &err)) {
		supervisor_log(s, "%s", err.text);
		return;
	}
	if (s->run.wanted_version <= s->offered_version)
		return;
	if (!is_possible(&s->run)) {
		supervisor_log(s, "the configuration it is wanted to change to is none");
		return;
	}
	if (s->recorder.optimizer[0])	/* reported by this run */
		memcpy(s->job.progress.optimizer, s->recorder.optimizer,
		       sizeof(s->job.progress.optimizer));
	gain = job_lr_gain(&s->job, run->wanted_learning_rate_scale);
	text_addf(&t, "VERSION=%d\nBATCH=%lld\nLOCAL_BATCH=%lld\nACCUM=%d\nLR_SCALE=%.9g\n",
		  run->wanted_version, (long long)configuration_batch_size(&run->wanted),
		  (long long)run->wanted.local_batch_size, run->wanted.accumulation_steps,
		  run->wanted_learning_rate_scale);
	if (isfinite(gain))
		text_addf(&t, "LR_GAIN=%.9g\n", gain);
	if (replace_file(s, &t, &err))
		supervisor_log(s, "%s", err.text);	/* the next look tries again */
	else
		s->offered_version = s->run.wanted_version;
	text_release(&t);
}
