/* simulate_files.c - which files pollux simulate reads, and that it writes over none of them. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pollux/command.h"
#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/report.h"
#include "simulate.h"

/* --- which workloads --- */

static bool is_csv(const char *name)
{
	size_t n = strlen(name);

	return n > 4 && *name != '.' && strcmp(name + n - 4, ".csv") == 0;
}

/* "workload-2" before "workload-10". */
static int by_version(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

static int list_directory(const char *directory, struct strings *paths, struct err *err)
{
	DIR *dir = opendir(directory);
	const struct dirent *entry;
	size_t first = paths->count;

	if (!dir)
		return err_set(err, EX_NOINPUT, "cannot read '%s': %s", directory, strerror(errno));
	while ((entry = readdir(dir)))
		if (is_csv(entry->d_name))
			strings_addf(paths, "%s/%s", directory, entry->d_name);
	closedir(dir);
	if (paths->count == first)
		return err_set(err, EX_NOINPUT,
			       "no workload in '%s': a file whose name ends in '.csv'", directory);
	qsort(paths->items + first, paths->count - first, sizeof(*paths->items), by_version);
	return 0;
}

int simulate_list_workloads(const struct text_list *given, struct strings *paths, struct err *err)
{
	for (size_t i = 0; i < given->count; i++) {
		struct stat st;

		if (stat(given->items[i], &st) || !S_ISDIR(st.st_mode))
			strings_add(paths, given->items[i]);
		else if (list_directory(given->items[i], paths, err))
			return -1;
	}
	return 0;
}

/* --- what is written --- */

struct written_file {
	const char *option, *path;
};

static int check_input(const struct written_file *o, const char *input, struct err *err)
{
	if (!file_same(o->path, input))
		return 0;
	return usage_error(&cmd_simulate, err, "option '--%s' would overwrite '%s', which is read",
			   o->option, input);
}

/* Checks all files in the directories of the applications, whether they are read or not. */
static int check_profiles(const struct written_file *o, const char *directory, int depth,
			  struct err *err)
{
	DIR *dir = opendir(directory);
	const struct dirent *entry;
	int rc = 0;

	while (dir && rc == 0 && (entry = readdir(dir))) {
		char *path = xasprintf("%s/%s", directory, entry->d_name);

		if (depth == 0)
			rc = check_input(o, path, err);
		else if (*entry->d_name != '.')
			rc = check_profiles(o, path, depth - 1, err);
		free(path);
	}
	if (dir)
		closedir(dir);
	return rc;
}

static int check_output(const struct written_file *o, const char *profiles,
			const struct strings *workloads, struct err *err)
{
	for (size_t i = 0; i < workloads->count; i++)
		if (check_input(o, workloads->items[i], err))
			return -1;
	return profiles ? check_profiles(o, profiles, 1, err) : 0;
}

static int check_others(const struct written_file *outputs, int i, struct err *err)
{
	for (int k = 0; k < i; k++)
		if (outputs[k].path && file_same(outputs[k].path, outputs[i].path))
			return usage_error(&cmd_simulate, err,
					   "options '--%s' and '--%s' would write to one file, "
					   "'%s'",
					   outputs[k].option, outputs[i].option, outputs[i].path);
	return 0;
}

int simulate_check_outputs(const struct simulate_outputs *o, const char *profiles,
			   const struct strings *workloads, struct err *err)
{
	const struct written_file outputs[] = {
		{ "jobs-csv", o->jobs_csv },
		{ "timeline-csv", o->timeline_csv },
		{ "ends-csv", o->ends_csv },
		{ "plot", o->plot },
	};

	for (int i = 0; i < (int)(sizeof(outputs) / sizeof(outputs[0])); i++)
		if (outputs[i].path &&
		    (check_output(&outputs[i], profiles, workloads, err) ||
		     check_others(outputs, i, err) || file_check(outputs[i].path, err)))
			return -1;
	return o->plot ? picture_check(o->plot, err) : 0;
}
