/* slurm_clean.c - the directories of runs that have ended. */
#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/config.h"
#include "pollux/file.h"
#include "pollux/mem.h"
#include "slurm.h"

/* For the lease of a run whose file launch cannot be read: a pass was killed before that was
 * written, or while the directory was being removed. */
#define UNKNOWN_LEASE_S 86400.0

/* Programs of a node that is cut off may still live until their lease is over. The time of the
 * directory is read before the probe is made there, which changes that time. */
static bool is_quiet(const char *dir)
{
	struct text launch = TEXT_INIT;
	double touched = slurm_file_time_s(dir, "lease"), made = slurm_file_time_s(dir, ".");
	double lease_s = NAN;

	if (slurm_read(dir, "launch", 0, &launch))
		lease_s = slurm_number(launch.data, "lease_s", NAN);
	text_release(&launch);
	if (isnan(touched))
		touched = slurm_file_time_s(dir, "launch");
	if (isnan(lease_s)) {
		lease_s = UNKNOWN_LEASE_S;
		touched = fmax(touched, made);
	}
	return slurm_touch(dir, "probe") - touched > lease_s + slurm_margin_s(lease_s);
}

static bool is_among(const struct run_list *runs, int64_t id)
{
	for (int i = 0; i < runs->count; i++)
		if (runs->items[i].id == id)
			return true;
	return false;
}

static void clean_in(const char *base, const struct run_list *active)
{
	char *name = xasprintf("%s/run", base);
	DIR *dir = opendir(name);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		size_t digits = strspn(entry->d_name, "0123456789");
		char *run;

		if (digits == 0 || digits > 15 || entry->d_name[digits] ||
		    is_among(active, strtoll(entry->d_name, NULL, 10)))
			continue;
		run = xasprintf("%s/%s", name, entry->d_name);
		if (is_quiet(run))
			remove_tree(run);
		free(run);
	}
	if (dir)
		closedir(dir);
	free(name);
}

void slurm_clean(const struct engine_context *at, const struct run_list *active)
{
	struct config config;
	struct err ignored;
	char *store_id = NULL, *base;

	config_load_leniently(&config, at->paths->config);
	if (!config.slurm || store_identity(at->store, &store_id, &ignored))
		return;
	base = slurm_base(at->paths, config.slurm_dir, store_id);
	clean_in(base, active);
	free(base);
	free(store_id);
}
