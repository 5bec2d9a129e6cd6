/* measured.c - simulates a workload of measured applications: how jobs run under each policy, which
 * nodes they get, what is known of them at the start. */
#include <math.h>
#include <search.h>
#include <stdlib.h>

#include "measured.h"
#include "pollux/assign.h"
#include "pollux/ends.h"
#include "pollux/mem.h"
#include "pollux/random_numbers.h"

const struct sim_options SIM_OPTIONS_DEFAULT = {
	.nodes = 16, .gpus_per_node = 4, .interval_s = 60, .restart_s = 30, .slice_s = 600,
};

void sim_options_set_knowledge(struct sim_options *o, const struct policy *policy)
{
	bool all = policy == &policy_optimus || policy == &policy_srtf;

	o->knowledge = all ? SIM_KNOWLEDGE_FULL : SIM_KNOWLEDGE_NONE;
	o->lengths = all ? SIM_LENGTHS_KNOWN : SIM_LENGTHS_UNKNOWN;
}

static struct manner manner_of(const struct policy *policy)
{
	bool optimus = policy == &policy_optimus, tiresias = policy == &policy_tiresias;
	bool owners = tiresias || policy == &policy_srtf || !policy->models_goodput;

	return (struct manner){
		.owners_replicas = owners, .owners_batch = owners || optimus,
		.published_nodes = tiresias || optimus, .live = policy == &policy_goodput,
	};
}

/* --- nodes as in the published simulator, for tiresias and optimus --- */

struct rank {
	double key;		/* the smallest comes first */
	int index;
};

static int by_rank(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	if (x->key < y->key || x->key > y->key)
		return x->key < y->key ? -1 : 1;
	return x->index - y->index;
}

/* Under tiresias the order is that of the queues; otherwise jobs with fewest GPUs come first. */
static struct rank *rank_jobs(const struct sim *s, const struct sched_choice *choices)
{
	struct rank *ranks = xcalloc((size_t)s->n_active, sizeof(*ranks));

	for (int i = 0; i < s->n_active; i++) {
		double demoted_s = s->active[i]->demoted_s;

		ranks[i] = (struct rank){ .index = i, .key = choices[i].replicas };
		if (measured_of(s)->manner.owners_replicas)
			ranks[i].key = isnan(demoted_s) ? -1 : demoted_s;
	}
	qsort(ranks, (size_t)s->n_active, sizeof(*ranks), by_rank);
	return ranks;
}

/* Takes GPUs, again and again from the node with most free ones; among equals, the lowest. */
static void take_gpus(int *free_gpus, int n_nodes, int gpus, struct placement *taken)
{
	while (gpus > 0) {
		int best = 0, n;

		for (int node = 1; node < n_nodes; node++)
			if (free_gpus[node] > free_gpus[best])
				best = node;
		n = free_gpus[best] < gpus ? free_gpus[best] : gpus;
		if (n <= 0)
			return;
		placement_add(taken, best, n);
		free_gpus[best] -= n;
		gpus -= n;
	}
}

static void place_as_published(const struct sim *s, const struct sched_choice *choices,
			       struct placement *placements)
{
	autofree int *free_gpus = xcalloc((size_t)s->n_nodes, sizeof(*free_gpus));
	autofree struct rank *ranks = rank_jobs(s, choices);

	for (int node = 0; node < s->n_nodes; node++)
		free_gpus[node] = s->kinds[0].gpus_per_node;
	for (int i = 0; i < s->n_active; i++) {
		const struct placement *held = &s->active[i]->placement;

		if (held->replicas != choices[i].replicas)
			continue;
		for (int k = 0; k < held->n; k++) {
			placement_add(&placements[i], held->nodes[k], held->gpus[k]);
			free_gpus[held->nodes[k]] -= held->gpus[k];
		}
	}
	for (int i = 0; i < s->n_active; i++) {
		int job = ranks[i].index;

		if (!placements[job].n)
			take_gpus(free_gpus, s->n_nodes, choices[job].replicas, &placements[job]);
	}
}

/* --- after a decision --- */

/* Marks distributed jobs that share a node with another distributed job. */
static void find_interference(const struct sim *s)
{
	autofree int *distributed = xcalloc((size_t)s->n_nodes, sizeof(*distributed));

	for (int i = 0; i < s->n_active; i++)
		for (int k = 0; s->active[i]->placement.n > 1 && k < s->active[i]->placement.n; k++)
			distributed[s->active[i]->placement.nodes[k]]++;
	for (int i = 0; i < s->n_active; i++) {
		const struct placement *p = &s->active[i]->placement;
		struct training *t = s->active[i]->own;

		t->interfered = false;
		for (int k = 0; p->n > 1 && k < p->n; k++)
			t->interfered |= distributed[p->nodes[k]] > 1;
	}
}

/* True if the job has done the part of its work at which its end is to be told next. */
static bool is_due(struct sim_job *job)
{
	struct training *t = job->own;
	int before = t->n_ends;

	if (!job->ends) {
		job->ends = xcalloc(SIM_ENDS, sizeof(*job->ends));
		for (int k = 0; k < SIM_ENDS; k++)
			job->ends[k].time_s = (double)NAN;
	}
	/* The first end is told at once, the others at 5 %, 15 %, ... of the work. */
	while (t->n_ends < SIM_ENDS && t->progress >= job_end(job) *
	       (t->n_ends ? (t->n_ends - 0.5) / (SIM_ENDS - 1) : 0))
		t->n_ends++;
	return t->n_ends > before;
}

/* Tells, by ends.h, the ends of the jobs that have got so far, to be compared with when they did
 * end. */
static int tell_ends(struct sim *s)
{
	size_t n = (size_t)s->n_active;
	autofree bool *due = xcalloc(n, sizeof(*due));
	bool any = false;
	autofree struct sched_job *told = xcalloc(n, sizeof(*told));
	autofree struct job_ends *ends = xcalloc(n, sizeof(*ends));
	int rc = 0;

	for (size_t i = 0; i < n; i++)
		any |= due[i] = is_due(s->active[i]);
	for (size_t i = 0; any && rc == 0 && i < n; i++)
		rc = sim_tell(s, s->active[i], &told[i]);
	if (any && rc == 0) {
		struct sched_input in = sim_input(s, told);
		double newest[ENDS_NEWEST];
		struct ends_stream stream;
		int n_newest = 0;

		for (int i = s->n_submitted - 1; i >= 0 && n_newest < ENDS_NEWEST; i--)
			newest[n_newest++] = s->workload->jobs[i].submit_s;
		stream = ends_stream_of(newest, n_newest, s->now_s);
		ends_of(&in, &stream, due, ends);
		for (size_t i = 0; i < n; i++) {
			const struct training *t = s->active[i]->own;

			if (due[i])
				s->active[i]->ends[t->n_ends - 1] = (struct sim_end){
					.part = t->progress / job_end(s->active[i]),
					.time_s = s->now_s, .from_s = s->now_s + ends[i].from_s,
					.middle_s = s->now_s + ends[i].middle_s,
					.to_s = s->now_s + ends[i].to_s,
					.start_from_s = s->now_s + ends[i].start_from_s,
					.start_middle_s = s->now_s + ends[i].start_middle_s,
					.start_to_s = s->now_s + ends[i].start_to_s,
				};
		}
	}
	return rc;
}

static int after_decision(struct sim *s)
{
	find_interference(s);
	return s->options->ends ? tell_ends(s) : 0;
}

/* --- before the first decision --- */

static void add_kind(struct sim *s, const char *name, int nodes, int gpus_per_node)
{
	int k = s->n_kinds, n_gpus = nodes * gpus_per_node;
	struct measured *m = s->own;

	sim_add_kind(s, name, nodes, gpus_per_node);
	m->places[k] = xcalloc((size_t)n_gpus, sizeof(*m->places[k]));
	for (int r = 1; r <= n_gpus; r++)
		if (place_is_regular(n_gpus, gpus_per_node, r))
			m->places[k][m->n_places[k]++] = place_packed(r, gpus_per_node);
}

static void add_agents(const struct sim *s, const struct sim_profiles *profiles)
{
	const struct sim_options *o = s->options;
	struct measured *m = s->own;
	bool own = o->knowledge == SIM_KNOWLEDGE_NONE;

	if (!o->policy->models_goodput ||
	    (m->manner.owners_batch && o->knowledge == SIM_KNOWLEDGE_FULL))
		return;
	m->n_agents = (own ? s->workload->n_jobs : profiles->count) * s->n_kinds;
	m->agents = xcalloc((size_t)m->n_agents, sizeof(*m->agents));
	for (int i = 0; i < m->n_agents; i++) {
		int kind = i % s->n_kinds;

		agent_init(&m->agents[i],
			   application_on(own ? s->jobs[i / s->n_kinds].spec->application
					      : &profiles->items[i / s->n_kinds], kind));
		if (m->manner.live) {
			m->agents[i].places = m->places[kind];
			m->agents[i].n_places = m->n_places[kind];
		}
	}
	for (int i = 0; i < s->workload->n_jobs; i++) {
		int index = own ? i : (int)(s->jobs[i].spec->application - profiles->items);
		struct agent *agent = &m->agents[(size_t)index * (size_t)s->n_kinds];

		((struct training *)s->jobs[i].own)->agent = agent;
		for (int k = 0; o->knowledge == SIM_KNOWLEDGE_FULL && k < s->n_kinds; k++)
			if (!agent[k].version)
				agent_learn_all(&agent[k]);
	}
}

/* Sets the lengths of the jobs. Factors are drawn by a job's place in the workload and the
 * workload's name. */
static int set_lengths(struct sim *s, const struct sim_profiles *profiles)
{
	struct measured *m = s->own;
	double spread = s->options->length_spread, owner_s;
	uint64_t random = s->options->seed;

	random_add_name(&random, s->workload->name);
	for (int i = 0; i < s->workload->n_jobs; i++) {
		struct training *t = s->jobs[i].own;

		t->length = exp(spread * random_normal(&random) - spread * spread / 2);
		t->past = &m->pasts[s->workload->jobs[i].application - profiles->items];
		if (isnan(s->workload->jobs[i].duration_s))
			continue;
		if (training_at_owners_size(s, &s->jobs[i], &owner_s))
			return -1;
		t->length *= s->workload->jobs[i].duration_s / owner_s;
	}
	return 0;
}

static int check_workload(const struct sim *s)
{
	bool owners = measured_of(s)->manner.owners_replicas;
	int most = 0;

	for (int k = 0; k < s->n_kinds; k++)
		most = s->kinds[k].n_gpus > most ? s->kinds[k].n_gpus : most;
	for (int i = 0; owners && i < s->workload->n_jobs; i++) {
		const struct sim_workload_job *job = &s->workload->jobs[i];

		if (job->replicas > most)
			return err_set(s->err, EX_UNAVAILABLE,
				       "job '%s' of '%s' asks for %d GPUs; there are %d%s",
				       job->name, s->workload->name, job->replicas, most,
				       s->n_kinds > 1 ? " of one kind" : "");
	}
	/* Fails before the simulation begins if the profiles lack GPUs of one node that a policy
	 * may give the job. */
	for (int i = 0; i < s->workload->n_jobs * s->n_kinds; i++) {
		const struct sim_workload_job *job = &s->workload->jobs[i / s->n_kinds];
		const struct gpu_kind *kind = &s->kinds[i % s->n_kinds];
		const struct application *a = application_on(job->application, i % s->n_kinds);
		int wanted = owners ? job->replicas : a->max_replicas, covered;

		wanted = wanted < kind->gpus_per_node ? wanted : kind->gpus_per_node;
		wanted = wanted < kind->n_gpus ? wanted : kind->n_gpus;
		covered = application_most_on_node(a, wanted);
		if (covered < wanted)
			return err_set(s->err, EX_DATAERR,
				       "nodes of %d GPUs: of one node, '%s/placements%s.csv' "
				       "covers %d", kind->gpus_per_node, a->directory, a->kind,
				       covered);
	}
	return 0;
}

int simulate(const struct sim_options *o, const struct sim_profiles *profiles,
	     const struct sim_workload *workload, const struct sim_progress *progress,
	     struct sim_result *result, struct err *err)
{
	struct measured m = { .manner = manner_of(o->policy) };
	struct world world = {
		.own_size = sizeof(struct training),
		.event = training_event, .run = training_run, .tell = training_tell,
		.place = m.manner.published_nodes && o->n_kinds < 2 ? place_as_published : NULL,
		.launch = training_launch, .ended = training_ended, .decided = after_decision,
		.alone = training_alone,
	};
	struct sim s;
	int rc;

	sim_init(&s, &world, o, workload, err);
	s.own = &m;
	s.any_number = m.manner.owners_batch || !o->policy->models_goodput;
	s.stops_at_events = s.decides_on_arrival = s.decides_on_end = o->events;
	m.pasts = xcalloc((size_t)profiles->count, sizeof(*m.pasts));
	if (!o->n_kinds)
		add_kind(&s, NULL, o->nodes, o->gpus_per_node);
	for (int k = 0; k < o->n_kinds; k++)
		add_kind(&s, o->kinds[k].name, o->kinds[k].nodes, o->kinds[k].gpus_per_node);
	add_agents(&s, profiles);
	*result = (struct sim_result){ 0 };
	rc = check_workload(&s) || set_lengths(&s, profiles) ? -1 : 0;
	if (rc == 0)
		rc = sim_run(&s, progress, result);
	for (int i = 0; i < m.n_agents; i++)
		agent_release(&m.agents[i]);
	for (int k = 0; k < SCHED_KINDS; k++) {
		for (int i = 0; i < workload->n_jobs; i++)
			free(((struct training *)s.jobs[i].own)->tables[k].goodput);
		free(m.places[k]);
	}
	sim_release(&s);
	free(m.agents);
	free(m.pasts);
	tdestroy(m.fits, free);
	return rc;
}
