/* kind_tables.c - the tables of the artifact of Jayaram Subramanya et al., "Sia", SOSP 2023, and
 * tables of files. */
#include <string.h>

#include "application.h"
#include "csv.h"

/* As in the artifact, the restarts that the policy is told are not the real ones. */
static const struct entry {
	const char *name;
	double restart_s, told_restart_s, slowdown;
} entries[] = {
	{ "cifar10", 50, 30, 1.8 },
	{ "deepspeech2", 25, 25, 1.2 },
	{ "bert", 120, 120, 1.2 },
	{ "yolov3", 80, 45, 1.2 },
	{ "imagenet", 250, 250, 1.2 },
	{ "ncf", 15, 30, 1.5 },
};

void sim_profiles_set_published(struct sim_profiles *p)
{
	for (int i = 0; i < p->count; i++)
		for (size_t k = 0; k < sizeof(entries) / sizeof(entries[0]); k++) {
			struct application *a = &p->items[i];

			if (strcmp(a->name, entries[k].name) != 0)
				continue;
			a->restart_s = entries[k].restart_s;
			a->told_restart_s = entries[k].told_restart_s;
			a->slowdown = entries[k].slowdown;
		}
}

static void set_restart(struct application *a, double seconds)
{
	a->restart_s = a->told_restart_s = seconds;
}

static void set_slowdown(struct application *a, double factor)
{
	a->slowdown = factor;
}

static int set_row(struct sim_profiles *p, const struct csv *c, int row, struct csv_range range,
		   void (*set)(struct application *a, double value), struct err *err)
{
	const char *name = csv_cell(c, row, 0);
	const struct application *found = sim_profiles_find(p, name);
	double value;

	if (!found)
		return csv_complain(c, row, err, "the profiles have no application '%.60s'", name);
	if (csv_number(c, row, 1, range, &value, err))
		return -1;
	set(&p->items[sim_profiles_index(p, found)], value);
	return 0;
}

static int read_table(struct sim_profiles *p, const char *path, const char *column,
		      struct csv_range range, void (*set)(struct application *a, double value),
		      struct err *err)
{
	const char *const columns[] = { "application", column };
	struct csv c;
	int rc = 0;

	if (csv_read(&c, path, columns, 2, err))
		return -1;
	for (int row = 0; row < c.n_rows && rc == 0; row++)
		rc = set_row(p, &c, row, range, set, err);
	csv_release(&c);
	return rc;
}

int sim_profiles_read_restarts(struct sim_profiles *p, const char *path, struct err *err)
{
	return read_table(p, path, "seconds", (struct csv_range){ 0, 86400 }, set_restart, err);
}

int sim_profiles_read_slowdowns(struct sim_profiles *p, const char *path, struct err *err)
{
	return read_table(p, path, "factor", (struct csv_range){ 0.01, 1000 }, set_slowdown, err);
}
