/* slurm_devices.c - the GPUs of Slurm's nodes as devices: on which nodes the options for sbatch let
 * jobs run, which GPUs can be had, and who has the others. */
#include "pollux/device_users.h"
#include "slurm.h"

/* --- a partition, and reservations --- */

#define OPTIONS_KEPT_S 60.0
#define RUNS_KEPT_S 0.2

static struct {
	char *partitions;	/* owned; "main,gpu"; NULL: any */
	char *reservations;	/* owned; "mine,ours"; NULL: there is none */
	char *reserved;		/* owned; the nodes of the reservations, "n[1-2],n7" */
	bool found;		/* Slurm knows all of the reservations */
	double until_s;
} place = { .until_s = -1 };

static int find_reserved(struct err *err)
{
	scoped(text_release) struct text answer = TEXT_INIT;
	struct text nodes = TEXT_INIT;
	int rc = slurm_ask("scontrol -o show reservation", &answer, err);
	char *rest = answer.data;
	int n_found = 0, n_asked = 1;

	for (char *line; rc == 0 && (line = strsep(&rest, "\n"));) {
		char name[SLURM_NAME_SIZE], *of = slurm_parse_reserved(line, name, sizeof(name));

		if (name[0] && slurm_lists_meet(name, place.reservations)) {
			n_found++;
			text_addf(&nodes, "%s%s", nodes.length ? "," : "", of);
		}
		free(of);
	}
	place.reserved = text_detach(&nodes);
	for (const char *c = place.reservations; *c; c++)
		n_asked += *c == ',';
	place.found = n_found >= n_asked;
	return rc;
}

/* Why no job can start on any node; NULL: that is not so. Reservations end: their nodes are listed
 * nevertheless. */
static const char *place_reason(void)
{
	return place.reservations && !place.found
		? "slurm_args has a reservation that Slurm does not know" : NULL;
}

int slurm_place_read(struct err *err)
{
	struct config config = { .slurm_args = "" };
	scoped(text_release) struct text answer = TEXT_INIT;
	struct paths paths;
	char *rest;
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
		rc = slurm_ask("sinfo -h -o %P", &answer, err);
	rest = answer.data;
	for (char *line; rc == 0 && !place.partitions && (line = strsep(&rest, "\n"));) {
		size_t n = strlen(line);

		if (n > 1 && line[n - 1] == '*')	/* so sinfo marks the default */
			place.partitions = xasprintf("%.*s", (int)(n - 1), line);
	}
	if (rc == 0 && place.reservations)
		rc = find_reserved(err);
	if (rc == 0)
		place.until_s = clock_boot_s() + OPTIONS_KEPT_S;
	return rc;
}

/* True if the node is of the partition, and of the reservation if there is one. */
static bool place_has(const struct slurm_node *node)
{
	return (!place.partitions || slurm_lists_meet(place.partitions, node->partitions)) &&
	       (!place.reservations || !place.found || slurm_list_has(place.reserved, node->name));
}

bool slurm_place_takes(const struct slurm_node *node)
{
	return node->up && place_has(node) && !place_reason() &&
	       (!node->reserved || place.reservations);
}

/* --- the GPUs --- */

static void add_gpu(const struct slurm_node *node, int k, bool usable, struct device_list *list)
{
	struct device *d = devices_append(list);

	snprintf(d->id, sizeof(d->id), "slurm:%.48s:%u", node->name, (unsigned)k % 1000);
	snprintf(d->node, sizeof(d->node), "%s", node->name);
	snprintf(d->name, sizeof(d->name), "%.11s:%u", node->name, (unsigned)k % 1000);
	snprintf(d->kind, sizeof(d->kind), "%s", node->type[0] ? node->type : "gpu");
	d->cores = node->gpus > 0 && node->cores > node->gpus ? node->cores / node->gpus : 1;
	d->usable = usable;
	/* A node that does not answer may be back in a moment, and a queue that is not known may
	 * have jobs on any node. */
	d->keeps_runs = !usable && (node->silent || !slurm_queue()->known);
	if (!usable && place_reason())
		snprintf(d->reason, sizeof(d->reason), "%s", place_reason());
	else if (!usable)
		snprintf(d->reason, sizeof(d->reason), "Slurm says that the node is %s",
			 node->state);
}

int slurm_list(const struct device_settings *settings, struct device_list *list, struct err *err)
{
	const struct slurm_nodes *nodes = slurm_nodes();

	(void)settings;
	*list = (struct device_list){ 0 };
	if (!nodes->known) {
		*err = nodes->err;
		return -1;
	}
	if (slurm_place_read(err))
		return -1;
	for (int i = 0; i < nodes->n; i++) {
		const struct slurm_node *node = &nodes->items[i];
		bool usable = slurm_place_takes(node);

		/* A node that Slurm has taken out of use keeps the jobs that it has: their runs are
		 * not stopped for that. New runs do not go to its free GPUs: slurm_other_user(). */
		if (!usable && slurm_queue()->known && node->used != 0 &&
		    slurm_own_gpus(NULL, node->name) == 0)
			slurm_renew_queue();	/* a job may have begun there since */
		if (!usable)
			usable = slurm_own_gpus(NULL, node->name) > 0;
		if (!place_has(node) && !usable && slurm_queue()->known)
			continue;
		for (int k = 0; k < node->gpus; k++)
			add_gpu(node, k, usable, list);
	}
	return 0;
}

/* --- who has a GPU --- */

/* Devices are mostly asked for in the order of their nodes: the search begins at the last one. */
static const struct slurm_node *find_node(const char *name)
{
	const struct slurm_nodes *nodes = slurm_nodes();
	static int last;

	for (int i = 0; i < nodes->n; i++) {
		int at = (last + i) % nodes->n;

		if (!strcmp(nodes->items[at].name, name)) {
			last = at;
			return &nodes->items[at];
		}
	}
	return NULL;
}

/* A later pass of this process opens the store anew, often at the same address. */
const struct run_list *slurm_active_runs(struct store *store)
{
	static struct run_list runs;
	static unsigned of;
	static double until_s;
	struct err ignored;

	if (store && of == store->opened && clock_boot_s() < until_s)
		return &runs;
	run_list_release(&runs);
	if (store && store_runs_active(store, &runs, &ignored))
		runs = (struct run_list){ 0 };
	of = store ? store->opened : 0;
	until_s = clock_boot_s() + RUNS_KEPT_S;
	return &runs;
}

/* GPUs of the node that jobs of Slurm have which are not this store's: of other people, or of
 * another store of the same person. */
static int count_others(const struct engine_context *at, const struct slurm_node *node)
{
	struct err ignored;
	const char *store_id = node->used > 0 && at->store ? slurm_store_id(at, &ignored) : NULL;
	int own;

	if (!store_id)
		return node->used;
	own = slurm_own_gpus(store_id, node->name);
	return node->used > own ? node->used - own : 0;
}

/* The number of a GPU on its node; -1: the node has no such GPU. */
static long number_of(const struct device *device, const struct slurm_node *node)
{
	const char *colon = strrchr(device->id, ':');
	long k = colon ? strtol(colon + 1, NULL, 10) : -1;

	return k < node->gpus ? k : -1;
}

/* Marks the GPUs of the node that active runs hold. */
static int mark_held(const struct engine_context *at, const struct slurm_node *node, bool *held)
{
	const struct run_list *runs = slurm_active_runs(at->store);
	int n = 0;

	for (int r = 0; r < runs->count; r++)
		for (int i = 0; i < run_held(&runs->items[r]); i++) {
			const struct device *d = &runs->items[r].devices[i];
			long k = number_of(d, node);

			if (strcmp(d->node, node->name) != 0 || k < 0)
				continue;
			n += !held[k];
			held[k] = true;
		}
	return n;
}

/* Slurm tells how many GPUs of a node others have; GPUs of one node are alike. So the others have
 * the last ones of those that no run here holds. */
const char *slurm_other_user(const struct engine_context *at, const struct device *device)
{
	const struct slurm_node *node = find_node(device->node);
	const char *user = NULL;
	long k = node ? number_of(device, node) : -1;
	int others = node ? count_others(at, node) : 0, n_free, rank = 0;
	autofree bool *held = NULL;

	if (node && !slurm_place_takes(node))
		return "Slurm, which takes no job for the node now,";
	if (others <= 0 || k < 0)
		return NULL;
	held = xcalloc((size_t)node->gpus, sizeof(*held));
	n_free = node->gpus - mark_held(at, node, held) - others;
	for (long i = 0; i < k; i++)
		rank += !held[i];
	if (!held[k] && rank >= n_free)
		user = DEVICE_LOCK_OTHER;
	return user;
}

static bool waits_without_room(const struct engine_context *at, const struct run *run,
			       const struct slurm_node *node)
{
	const struct slurm_job *job = slurm_queued_job(at, run);
	autofree bool *held = xcalloc((size_t)node->gpus + 1, sizeof(*held));
	int n = mark_held(at, node, held);

	return job && !strcmp(job->state, "PENDING") && n + count_others(at, node) > node->gpus;
}

/* Slurm may have given a GPU to somebody else after a pass had seen that it was free. The queue
 * must be the later of the two answers: a run that has just started has GPUs of the node itself. */
bool slurm_crowded_out(const struct engine_context *at, const struct run *run, const char *name)
{
	const struct slurm_node *node = find_node(name);

	if (!node || !waits_without_room(at, run, node))
		return false;
	slurm_renew_queue();
	return waits_without_room(at, run, node);
}
