/* sim_generate.c - makes up applications and workloads, and writes their files, all or none. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "application.h"
#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/random_numbers.h"
#include "pollux/simulate.h"
#include "pollux/text.h"
#include "pollux/throughput.h"

#define GPUS_MIN 4
#define ERROR 0.02		/* standard deviation of the logarithm of times */
#define NOISE_ERROR 0.05	/* standard deviation of the logarithm of the noise scale */

struct kind {
	const char *name;
	double weight;			/* probability of a job; all add up to 1 */
	struct throughput_params params;
	int64_t initial_batch_size;
	int doublings;			/* validated batch sizes above the initial one */
	int64_t min_local_batch_size;
	int local_doublings;		/* measured local batch sizes above the smallest */
	int epochs;
	double updates;			/* in an epoch, at the initial batch size */
	double noise_scale;		/* at the beginning, samples */
	double growth;			/* factor of the noise scale over the training */
};

/* Three kinds of training: one that scales well, one held back by its links, and one whose
 * gradients stay clear, so that large batches bring little. */
static const struct kind kinds[] = {
	{
		.name = "vision", .weight = 0.5,
		.params = { 0.02, 0.001, 0.008, 0.0004, 0.03, 0.0008, 1.6, { 0 } },
		.initial_batch_size = 64, .doublings = 5,
		.min_local_batch_size = 16, .local_doublings = 4,
		.epochs = 20, .updates = 2600, .noise_scale = 250, .growth = 20,
	},
	{
		.name = "language", .weight = 0.3,
		.params = { 0.05, 0.012, 0.06, 0.002, 0.22, 0.004, 2.5, { 0 } },
		.initial_batch_size = 16, .doublings = 5,
		.min_local_batch_size = 4, .local_doublings = 3,
		.epochs = 8, .updates = 7000, .noise_scale = 120, .growth = 6,
	},
	{
		.name = "ranking", .weight = 0.2,
		.params = { 0.006, 0.00001, 0.004, 0.0005, 0.02, 0.001, 1.2, { 0 } },
		.initial_batch_size = 512, .doublings = 3,
		.min_local_batch_size = 64, .local_doublings = 4,
		.epochs = 12, .updates = 10000, .noise_scale = 300, .growth = 3,
	},
};
#define N_KINDS ((int)(sizeof(kinds) / sizeof(kinds[0])))

/* --- times --- */

static void add_local_sizes(const struct kind *k, const char *head, struct throughput_place place,
			    uint64_t *random, struct text *t)
{
	for (int i = 0; i <= k->local_doublings; i++) {
		double m = ldexp((double)k->min_local_batch_size, i);
		double grad_s = throughput_grad_time(&k->params, m) *
				exp(ERROR * random_normal(random));
		double step_s = throughput_update_time(&k->params, place, m) *
				exp(ERROR * random_normal(random));

		/* A single GPU synchronises too, for a moment. */
		step_s = fmax(step_s, 1.001 * grad_s);
		text_addf(t, "%s%.0f,%.6g,%.6g\n", head, m, step_s, step_s - grad_s);
	}
}

/* One to four nodes with one to `gpus` GPUs each, each placement by its smallest rotation. */
static void add_placements(const struct kind *k, int gpus, uint64_t *random, struct text *t)
{
	text_add(t, "placement,local_bsz,step_time,sync_time\n");
	for (int nodes = 1, n = gpus; nodes <= 4; nodes++, n *= gpus)
		for (int i = 0; i < n; i++) {
			char digits[5] = "", canonical[5], head[8];
			struct throughput_place place = throughput_place_on(nodes, 0);

			for (int node = nodes - 1, rest = i; node >= 0; node--, rest /= gpus) {
				digits[node] = (char)('1' + rest % gpus);
				place.replicas += 1 + rest % gpus;
			}
			placement_canonical(digits, canonical);
			if (strcmp(digits, canonical) != 0)
				continue;
			snprintf(head, sizeof(head), "%s,", digits);
			add_local_sizes(k, head, place, random, t);
		}
}

/* Measures 1, 2, 4, ... GPUs of a node, and all of them. */
static void add_scalability(const struct kind *k, int gpus, uint64_t *random, struct text *t)
{
	static const int wide[] = { 6, 8, 12, 16 };

	text_add(t, "num_nodes,num_replicas,local_bsz,step_time,sync_time\n");
	for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++)
		for (int per_node = 1, next; per_node; per_node = next) {
			struct throughput_place place =
				throughput_place_on(wide[i], wide[i] * per_node);
			char head[32];

			next = per_node == gpus ? 0 : 2 * per_node < gpus ? 2 * per_node : gpus;
			snprintf(head, sizeof(head), "%d,%d,", place.nodes, place.replicas);
			add_local_sizes(k, head, place, random, t);
		}
}

/* --- trainings --- */

/* All batch sizes have the same noise scale, so it is drawn from the same seed. */
static void add_validation(const struct kind *k, int doubling, uint64_t seed, struct text *t)
{
	double m0 = (double)k->initial_batch_size, scale = ldexp(1, doubling), iteration = 0;

	text_add(t, "progress,iteration,metric,grad_sqr,grad_var\n");
	for (int e = 0; e < k->epochs; e++) {
		double part = k->epochs > 1 ? (double)e / (k->epochs - 1) : 0;
		double phi = k->noise_scale * pow(k->growth, part) *
			     exp(NOISE_ERROR * random_normal(&seed));
		double gain = scale * (phi + m0) / (phi + scale * m0), sqr = 1 / (1 + 9 * part);

		iteration += k->updates / gain;
		text_addf(t, "%.10g,%.10g,%.4f,%.6g,%.6g\n", k->updates * (e + 1), round(iteration),
			  1 - exp(-3 * part), sqr, phi * sqr / m0);
	}
}

/* --- a workload --- */

static const struct kind *draw_kind(uint64_t *random)
{
	double left = random_uniform(random);
	int i = 0;

	while (i < N_KINDS - 1 && left >= kinds[i].weight)
		left -= kinds[i++].weight;
	return &kinds[i];
}

static int draw_doublings(uint64_t *random)
{
	static const double below[] = { 0.4, 0.7, 0.9 };
	double x = random_uniform(random);
	int i = 0;

	while (i < 3 && x >= below[i])
		i++;
	return i;
}

static void add_jobs(const struct sim_generation *g, uint64_t *random, struct text *t)
{
	double at_s = 0;

	text_add(t, "name,time,application,num_replicas,batch_size\n");
	for (int i = 0; i < g->n_jobs; i++) {
		const struct kind *k = draw_kind(random);
		int doublings = draw_doublings(random);
		int scale = doublings < k->doublings ? doublings : k->doublings;

		at_s += random_exponential(random, g->seconds / g->n_jobs);
		text_addf(t, "%s-%d,%.0f,%s,%d,%lld\n", k->name, i, floor(at_s), k->name,
			  1 << doublings, (long long)k->initial_batch_size << scale);
	}
}

/* --- files --- */

static int cannot_create(const char *path, struct err *err)
{
	return err_set(err, EX_CANTCREAT, "cannot create '%s': %s", path, strerror(errno));
}

/* Writes a file, frees the path, and clears the text. */
static int write_file(const struct sim_generation *g, char *path, struct text *t, struct err *err)
{
	FILE *f = NULL;
	int rc = 0;

	if (g->stop && *g->stop)
		rc = err_set(err, EX_TEMPFAIL, "stopped before '%s' was made", path);
	else if (!(f = file_make_stream(path)))
		rc = cannot_create(path, err);
	if (f) {
		bool whole = fwrite(t->data, 1, t->length, f) == t->length && fflush(f) == 0 &&
			     fsync(fileno(f)) == 0;

		if (fclose(f) || !whole)
			rc = cannot_create(path, err);
	}
	text_clear(t);
	free(path);
	return rc;
}

static int write_kind(const char *root, const struct sim_generation *g, const struct kind *k,
		      uint64_t *random, struct text *t, struct err *err)
{
	autofree char *directory = xasprintf("%s/profiles/%s", root, k->name);
	int rc = mkdir(directory, 0777) ? cannot_create(directory, err) : 0;
	uint64_t seed;

	add_placements(k, sim_generate_gpus(g), random, t);
	if (rc == 0)
		rc = write_file(g, xasprintf("%s/placements.csv", directory), t, err);
	add_scalability(k, sim_generate_gpus(g), random, t);
	if (rc == 0)
		rc = write_file(g, xasprintf("%s/scalability.csv", directory), t, err);
	seed = random_bits(random);
	for (int i = 0; i <= k->doublings && rc == 0; i++) {
		text_clear(t);
		add_validation(k, i, seed, t);
		rc = write_file(g, xasprintf("%s/validation-%lld.csv", directory,
					  (long long)k->initial_batch_size << i), t, err);
	}
	text_clear(t);
	return rc;
}

static int write_all(const char *root, const struct sim_generation *g, struct text *t,
		     struct err *err)
{
	autofree char *profiles = xasprintf("%s/profiles", root);
	autofree char *workloads = xasprintf("%s/workloads", root);
	uint64_t random = g->seed;
	int rc = mkdir(profiles, 0777) ? cannot_create(profiles, err) : 0;

	for (int i = 0; i < N_KINDS && rc == 0; i++)
		rc = write_kind(root, g, &kinds[i], &random, t, err);
	if (rc == 0 && mkdir(workloads, 0777))
		rc = cannot_create(workloads, err);
	for (int i = 1; i <= g->n_workloads && rc == 0; i++) {
		add_jobs(g, &random, t);
		rc = write_file(g, xasprintf("%s/workload-%d.csv", workloads, i), t, err);
	}
	return rc;
}

/* --- the directory --- */

int sim_generate_gpus(const struct sim_generation *g)
{
	return g->gpus_per_node > GPUS_MIN ? g->gpus_per_node : GPUS_MIN;
}

int sim_generate_applications(void)
{
	return N_KINDS;
}

int sim_generate(const char *directory, const struct sim_generation *g, struct err *err)
{
	autofree char *temporary = xasprintf("%s.XXXXXX", directory);
	struct text t = TEXT_INIT;
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
		rc = write_all(temporary, g, &t, err);
		/* mkdtemp gives access to the owner only */
		chmod(temporary, file_usual_mode(0777));
		if (rc == 0 && rename(temporary, directory))
			rc = cannot_create(directory, err);
		if (rc)
			remove_tree(temporary);
	}
	text_release(&t);
	return rc;
}
