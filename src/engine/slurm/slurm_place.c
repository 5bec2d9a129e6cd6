/* slurm_place.c - which nodes the options for sbatch let jobs run on: those of a partition, and of
 * a reservation. */
#include <stdlib.h>
#include <string.h>

#include "pollux/clock.h"
#include "pollux/config.h"
#include "pollux/mem.h"
#include "pollux/paths.h"
#include "slurm.h"

#define KEPT_S 60.0

static struct {
	char *partitions;	/* owned; "main,gpu"; NULL: any */
	char *reservations;	/* owned; "mine,ours"; NULL: there is none */
	char *reserved;		/* owned; the nodes of the reservations, "n[1-2],n7" */
	bool found;		/* Slurm knows all of the reservations */
	double until_s;
} place = { .until_s = -1 };

/* True if two lists of names, with commas between, have a name in common. */
static bool lists_meet(const char *a, const char *b)
{
	for (size_t n; *a; a += n + (a[n] == ',')) {
		n = strcspn(a, ",");
		for (const char *p = b; n > 0 && *p; p += strcspn(p, ","), p += *p == ',')
			if (strcspn(p, ",") == n && !strncmp(p, a, n))
				return true;
	}
	return false;
}

/* sinfo marks the default partition with a '*'. */
static int find_default(struct err *err)
{
	struct text answer = TEXT_INIT;
	int rc = slurm_ask("sinfo -h -o %P", &answer, err);
	char *rest = answer.data;

	for (char *line; rc == 0 && !place.partitions && (line = strsep(&rest, "\n"));) {
		size_t n = strlen(line);

		if (n > 1 && line[n - 1] == '*')
			place.partitions = xasprintf("%.*s", (int)(n - 1), line);
	}
	text_release(&answer);
	return rc;
}

static int count_names(const char *list)
{
	int n = 1;

	for (; *list; list++)
		n += *list == ',';
	return n;
}

static int find_reserved(struct err *err)
{
	struct text answer = TEXT_INIT, nodes = TEXT_INIT;
	int rc = slurm_ask("scontrol -o show reservation", &answer, err);
	char *rest = answer.data;
	int n_found = 0;

	for (char *line; rc == 0 && (line = strsep(&rest, "\n"));) {
		char name[SLURM_NAME_SIZE], *of = slurm_parse_reserved(line, name, sizeof(name));

		if (name[0] && lists_meet(name, place.reservations)) {
			n_found++;
			text_addf(&nodes, "%s%s", nodes.length ? "," : "", of);
		}
		free(of);
	}
	text_release(&answer);
	place.reserved = text_detach(&nodes);
	place.found = n_found >= count_names(place.reservations);
	return rc;
}

/* Reservations end. The nodes are listed nevertheless, with the reason why no job can start. */
const char *slurm_place_reason(void)
{
	return place.reservations && !place.found
		? "slurm_args has a reservation that Slurm does not know" : NULL;
}

int slurm_place_read(struct err *err)
{
	struct config config = { .slurm_args = "" };
	struct paths paths;
	int rc = 0;

	if (clock_boot_s() < place.until_s)
		return 0;
	if (paths_init(&paths, err))
		return -1;
	config_load_leniently(&config, paths.config);
	paths_release(&paths);
	free(place.partitions);
	free(place.reservations);
	free(place.reserved);
	place.reserved = NULL;
	place.found = false;
	place.partitions = slurm_args_value(config.slurm_args, "partition", 'p');
	place.reservations = slurm_args_value(config.slurm_args, "reservation", '\0');
	if (!place.partitions)
		rc = find_default(err);
	if (rc == 0 && place.reservations)
		rc = find_reserved(err);
	if (rc == 0)
		place.until_s = clock_boot_s() + KEPT_S;
	return rc;
}

static bool is_reserved(const struct slurm_node *node)
{
	char name[DEVICE_NODE_SIZE];
	size_t state = 0;

	while (slurm_next_node(place.reserved, &state, name, sizeof(name)))
		if (!strcmp(name, node->name))
			return true;
	return false;
}

bool slurm_place_has(const struct slurm_node *node)
{
	return (!place.partitions || lists_meet(place.partitions, node->partitions)) &&
	       (!place.reservations || !place.found || is_reserved(node));
}

bool slurm_place_takes(const struct slurm_node *node)
{
	return node->up && slurm_place_has(node) && !slurm_place_reason() &&
	       (!node->reserved || place.reservations);
}
