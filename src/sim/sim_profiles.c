/* sim_profiles.c - reads a directory of applications. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "application.h"
#include "pollux/mem.h"
#include "pollux/sim_profiles.h"
#include "pollux/text.h"

/* kind: the end of the names, such as "-t4"; "": none. */
static int list_names(const char *directory, const char *kind, struct strings *names,
		      struct err *err)
{
	DIR *dir = opendir(directory);
	const struct dirent *entry;

	if (!dir)
		return err_set(err, EX_NOINPUT, "cannot read '%s': %s", directory, strerror(errno));
	while ((entry = readdir(dir))) {
		char *path = xasprintf("%s/%s/placements%s.csv", directory, entry->d_name, kind);

		if (*entry->d_name != '.' && access(path, F_OK) == 0)
			strings_add(names, entry->d_name);
		free(path);
	}
	closedir(dir);
	if (!names->count)
		return err_set(err, EX_NOINPUT,
			       "no application in '%s': a directory of each, with a "
			       "'placements%s.csv'",
			       directory, kind);
	return 0;
}

static int by_string(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* kinds: the ends of the names of files. */
static int read_applications(struct sim_profiles *p, const char *directory, char *const *kinds,
			     int n_kinds, struct err *err)
{
	struct strings names;
	int rc;

	*p = (struct sim_profiles){ .directory = xstrdup(directory), .n_kinds = n_kinds };
	strings_init(&names);
	rc = list_names(directory, kinds[0], &names, err);
	if (rc == 0) {
		qsort(names.items, names.count, sizeof(*names.items), by_string);
		p->items = xcalloc(names.count, sizeof(*p->items));
	}
	for (size_t i = 0; i < names.count && rc == 0; i++) {
		rc = application_read(&p->items[p->count], directory, names.items[i], kinds,
				      n_kinds, err);
		p->count += rc == 0;
	}
	strings_release(&names);
	if (rc)
		sim_profiles_release(p);
	return rc;
}

int sim_profiles_read(struct sim_profiles *p, const char *directory, struct err *err)
{
	char none[] = "", *const kinds[] = { none };

	return read_applications(p, directory, kinds, 1, err);
}

int sim_profiles_read_kinds(struct sim_profiles *p, const char *directory,
			    const char *const *kinds, int n_kinds, struct err *err)
{
	char **suffixes = xcalloc((size_t)n_kinds, sizeof(*suffixes));
	int rc;

	for (int k = 0; k < n_kinds; k++)
		suffixes[k] = xasprintf("-%s", kinds[k]);
	rc = read_applications(p, directory, suffixes, n_kinds, err);
	if (rc == 0)
		sim_profiles_set_published(p);
	for (int k = 0; k < n_kinds; k++)
		free(suffixes[k]);
	free(suffixes);
	return rc;
}

void sim_profiles_release(struct sim_profiles *p)
{
	for (int i = 0; i < p->count; i++)
		application_release(&p->items[i]);
	free(p->items);
	free(p->directory);
	*p = (struct sim_profiles){ 0 };
}

const struct application *sim_profiles_find(const struct sim_profiles *p, const char *name)
{
	for (int i = 0; i < p->count; i++)
		if (strcmp(p->items[i].name, name) == 0)
			return &p->items[i];
	return NULL;
}
