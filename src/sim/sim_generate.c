/* sim_generate.c - writes made-up files, all or none. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "generate.h"
#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/open_file.h"
#include "pollux/remove_tree.h"
#include "pollux/random_numbers.h"

#define GPUS_MIN 4

static int cannot_create(const char *path, struct err *err)
{
	return err_set(err, EX_CANTCREAT, "cannot create '%s': %s", path, strerror(errno));
}

static int make_directory(const char *path, struct err *err)
{
	return mkdir(path, 0777) ? cannot_create(path, err) : 0;
}

static int write_text(const char *path, const struct text *t, struct err *err)
{
	FILE *f = file_make_stream(path);
	bool whole;

	if (!f)
		return cannot_create(path, err);
	whole = fwrite(t->data, 1, t->length, f) == t->length && fflush(f) == 0 &&
		fsync(fileno(f)) == 0;
	return fclose(f) || !whole ? cannot_create(path, err) : 0;
}

/* Writes a file, frees the path, and clears the text. */
static int write_file(const struct sim_generation *g, char *path, struct text *t, struct err *err)
{
	int rc = g->stop && *g->stop
			 ? err_set(err, EX_TEMPFAIL, "stopped before '%s' was made", path)
			 : write_text(path, t, err);

	text_clear(t);
	free(path);
	return rc;
}

/* --- contents --- */

static int write_kind(const char *profiles, const struct sim_generation *g, const struct kind *k,
		      uint64_t *random, struct text *t, struct err *err)
{
	char *directory = xasprintf("%s/%s", profiles, k->name);
	int rc = make_directory(directory, err);
	uint64_t seed;

	generate_placements(k, sim_generate_gpus(g), random, t);
	if (rc == 0)
		rc = write_file(g, xasprintf("%s/placements.csv", directory), t, err);
	generate_scalability(k, sim_generate_gpus(g), random, t);
	if (rc == 0)
		rc = write_file(g, xasprintf("%s/scalability.csv", directory), t, err);
	seed = random_bits(random);
	for (int i = 0; i <= k->doublings && rc == 0; i++) {
		text_clear(t);
		generate_validation(k, i, seed, t);
		rc = write_file(g, xasprintf("%s/validation-%lld.csv", directory,
					  (long long)k->initial_batch_size << i), t, err);
	}
	text_clear(t);
	free(directory);
	return rc;
}

static int write_profiles(const char *directory, const struct sim_generation *g, uint64_t *random,
			  struct text *t, struct err *err)
{
	char *profiles = xasprintf("%s/profiles", directory);
	int rc = make_directory(profiles, err);

	for (int i = 0; i < n_kinds && rc == 0; i++)
		rc = write_kind(profiles, g, &kinds[i], random, t, err);
	free(profiles);
	return rc;
}

static int write_workloads(const char *directory, const struct sim_generation *g, uint64_t *random,
			   struct text *t, struct err *err)
{
	char *workloads = xasprintf("%s/workloads", directory);
	int rc = make_directory(workloads, err);

	for (int i = 1; i <= g->n_workloads && rc == 0; i++) {
		generate_jobs(g, random, t);
		rc = write_file(g, xasprintf("%s/workload-%d.csv", workloads, i), t, err);
	}
	free(workloads);
	return rc;
}

/* --- the directory --- */

int sim_generate_gpus(const struct sim_generation *g)
{
	return g->gpus_per_node > GPUS_MIN ? g->gpus_per_node : GPUS_MIN;
}

int sim_generate_applications(void)
{
	return n_kinds;
}

int sim_generate(const char *directory, const struct sim_generation *g, struct err *err)
{
	char *temporary = xasprintf("%s.XXXXXX", directory);
	struct text t = TEXT_INIT;
	uint64_t random = g->seed;
	struct stat st;
	int rc;

	if (file_check_links(directory, err)) {
		rc = -1;
	} else if (lstat(directory, &st) == 0) {
		errno = EEXIST;
		rc = cannot_create(directory, err);
	} else if (!mkdtemp(temporary)) {
		rc = cannot_create(directory, err);
	} else {
		rc = write_profiles(temporary, g, &random, &t, err);
		if (rc == 0)
			rc = write_workloads(temporary, g, &random, &t, err);
		/* mkdtemp gives access to the owner only */
		chmod(temporary, file_usual_mode(0777));
		if (rc == 0 && rename(temporary, directory))
			rc = cannot_create(directory, err);
		if (rc)
			remove_tree(temporary);
	}
	text_release(&t);
	free(temporary);
	return rc;
}
