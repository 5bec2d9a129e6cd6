/* slurm_place.c - which nodes the options for sbatch let jobs run on: those of a partition, and of
 * a reservation. */
#include <stdlib.h>
#include <string.h>

#include "pollux/clock.h"
#include "pollux/config.h"
#include "pollux/mem.h"
#include "pollux/paths.h"
#include "pollux/slurm_args.h"
#include "slurm.h"

#define KEPT_S 60.0

static struct {
	char *partitions;	/* owned; "main,gpu"; NULL: any */
	char *reserved;		/* owned; the nodes of the reservation; NULL: there is none */
	double until_s;
} place = { .until_s = -1 };

/* The option, or the variable that sbatch reads where there is no such option. */
static char *asked_for(const char *args, const char *name, char letter, const char *variable)
{
	char *value = slurm_args_value(args, name, letter);
	const char *usual = getenv(variable);

	return value || !usual || !*usual ? value : xstrdup(usual);
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

static int find_reserved(const char *name, struct err *err)
{
	char *question = xasprintf("scontrol -o show reservation %s", name);
	struct text answer = TEXT_INIT;
	int rc = slurm_ask(question, &answer, err);

	if (rc == 0)
		place.reserved = slurm_parse_reserved(answer.data);
	else if (err->exit_status != EX_TEMPFAIL)
		err_set(err, EX_CONFIG, "slurm_args: Slurm knows no reservation '%s'", name);
	text_release(&answer);
	free(question);
	return rc;
}

int slurm_place_read(struct err *err)
{
	struct config config = { .slurm_args = "" };
	struct paths paths;
	char *reservation;
	int rc = 0;

	if (clock_boot_s() < place.until_s)
		return 0;
	if (paths_init(&paths, err))
		return -1;
	config_load_leniently(&config, paths.config);
	paths_release(&paths);
	free(place.partitions);
	free(place.reserved);
	place.reserved = NULL;
	place.partitions = asked_for(config.slurm_args, "partition", 'p', "SBATCH_PARTITION");
	reservation = asked_for(config.slurm_args, "reservation", '\0', "SBATCH_RESERVATION");
	if (!place.partitions)
		rc = find_default(err);
	if (rc == 0 && reservation)
		rc = find_reserved(reservation, err);
	free(reservation);
	if (rc == 0)
		place.until_s = clock_boot_s() + KEPT_S;
	return rc;
}

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
	       (!place.reserved || is_reserved(node));
}

bool slurm_place_takes(const struct slurm_node *node)
{
	return node->up && slurm_place_has(node) && (!node->reserved || place.reserved);
}
