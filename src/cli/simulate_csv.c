/* simulate_csv.c - jobs and decisions of simulations as comma-separated values (RFC 4180). What is written
 * lies beside the file until it is complete. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pollux/mem.h"
#include "simulations.h"

static mode_t usual_mode(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

/* Written, on the disk, closed. */
static int fill(int fd, const struct text *t)
{
	size_t done = 0;
	int rc = 0;

	while (done < t->length && rc == 0) {
		ssize_t n = write(fd, t->data + done, t->length - done);

		if (n < 0 && errno != EINTR)
			rc = -1;
		done += n > 0 ? (size_t)n : 0;
	}
	if (rc == 0 && (fchmod(fd, usual_mode()) || fsync(fd)))
		rc = -1;
	if (close(fd))
		rc = -1;
	return rc;
}

static int save(const struct text *t, const char *path, struct err *err)
{
	char *temporary = xasprintf("%s.XXXXXX", path);
	int fd = mkostemp(temporary, O_CLOEXEC), rc = 0;

	if (fd < 0 || fill(fd, t) || rename(temporary, path)) {
		rc = err_set(err, EX_CANTCREAT, "cannot write '%s': %s", path, strerror(errno));
		if (fd >= 0)
			unlink(temporary);
	}
	free(temporary);
	return rc;
}

/* Names of files and jobs may hold anything. */
static void add_text(struct text *t, const char *s)
{
	if (!strpbrk(s, ",\"\r\n")) {
		text_add(t, s);
		return;
	}
	text_add(t, "\"");
	for (; *s; s++)
		text_addf(t, *s == '"' ? "%c\"" : "%c", *s);
	text_add(t, "\"");
}

int simulations_write_jobs(const struct simulations *s, const char *path, struct err *err)
{
	struct text t = TEXT_INIT;
	int rc;

	text_add(&t, "name,submit,start,finish,restarts,workload\n");
	for (int w = 0; w < s->n; w++)
		for (int i = 0; i < s->workloads[w].n_jobs; i++) {
			const struct sim_job_result *job = &s->results[w].jobs[i];

			add_text(&t, job->name);
			text_addf(&t, ",%.15g,%.15g,%.15g,%d,", job->submit_s, job->start_s,
				  job->finish_s, job->restarts);
			add_text(&t, s->workloads[w].name);
			text_add(&t, "\n");
		}
	rc = save(&t, path, err);
	text_release(&t);
	return rc;
}

int simulations_write_timeline(const struct simulations *s, const char *path, struct err *err)
{
	struct text t = TEXT_INIT;
	int rc;

	text_add(&t, "time,running,waiting,gpus,restarts,workload\n");
	for (int w = 0; w < s->n; w++)
		for (int i = 0; i < s->results[w].n_rounds; i++) {
			const struct sim_round *r = &s->results[w].rounds[i];

			text_addf(&t, "%.15g,%d,%d,%d,%d,", r->time_s, r->running, r->waiting, r->gpus,
				  r->restarts);
			add_text(&t, s->workloads[w].name);
			text_add(&t, "\n");
		}
	rc = save(&t, path, err);
	text_release(&t);
	return rc;
}
