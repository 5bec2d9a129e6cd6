/* status_ends.c - the times between which jobs will end: fills the input of ends.h from the store.
 *
 * A running job has the rate and the remaining work from which its time to the end is computed; a
 * waiting job has those of its workload. The number of devices is that of the last decision. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/clock.h"
#include "pollux/ends.h"
#include "pollux/goodput_table.h"
#include "pollux/mem.h"
#include "pollux/status.h"
#include "pollux/workloads.h"

#define RECENT_S 86400.0	/* jobs that ended in this time show how often jobs come */
#define ENDED 1000

struct players {
	struct status all;
	struct dependency_list dependencies;
	struct workload_list workloads;
	struct knowledge nothing;
	const char *kind;		/* of the devices of the first run; NULL: nothing runs */
	int n_devices;
	struct node_sizes nodes;	/* of the last pass; n < 2: the devices are on one */
	int *node_devices;		/* owned; of these */
	struct sched_job *told;	/* one for each job that runs or may run, as in the arrays below */
	struct goodput_table **tables;
	const struct status_job **items;
	struct job_ends *ends;
	bool *wanted;
	int n;
	double ended_device_s[ENDED];
	int n_ended;
};

/* --- reading --- */

/* True if the job may start only after another that has not ended. */
static bool waits_for_others(const struct players *p, int64_t job_id)
{
	for (int i = 0; i < p->dependencies.count; i++)
		if (p->dependencies.items[i].job_id == job_id &&
		    !job_has_ended(p->dependencies.items[i].after_state))
			return true;
	return false;
}

static bool plays(const struct players *p, const struct status_job *item)
{
	return !item->job->profile && !waits_for_others(p, item->job->id) &&
	       !(item->job->declared.begin_s > p->all.now_wall_s) &&
	       (item->state == SHOWN_QUEUED || item->state == SHOWN_STARTING ||
		item->state == SHOWN_RUNNING || item->state == SHOWN_SUSPENDED);
}

/* The devices of the last decision that changed something. */
static int read_devices(struct session *s, struct players *p, struct err *err)
{
	for (int i = 0; i < p->all.runs.count && !p->kind; i++)
		if (p->all.runs.items[i].devices)
			p->kind = p->all.runs.items[i].devices[0].kind;
	for (int i = 0; i < p->all.jobs.count && !p->n_devices; i++) {
		struct decision_row decision;

		if (!plays(p, &p->all.items[i]))
			continue;
		if (store_decision_of_job(&s->store, p->all.items[i].job->id, &decision, err))
			return -1;
		p->n_devices = decision.policy ? decision.n_devices : 0;
		decision_row_release(&decision);
	}
	return 0;
}

/* Nodes of another pass than the one that decided last tell nothing. */
static int read_nodes(struct session *s, struct players *p, struct err *err)
{
	char *text = NULL;

	if (store_setting_get(&s->store, NODES_SETTING, &text, err))
		return -1;
	if (text)
		p->node_devices = node_sizes_parse(text, &p->nodes);
	if (!p->node_devices || node_sizes_total(&p->nodes) != p->n_devices)
		p->nodes.n = 0;
	free(text);
	return 0;
}

/* The kind that the job runs on, or else the one that it is most likely to have. */
static const char *kind_of(const struct players *p, const struct status_job *item)
{
	return item->run && item->run->devices ? item->run->devices[0].kind : p->kind;
}

static int add_workload(struct session *s, struct players *p, const char *name, const char *kind,
			struct err *err)
{
	struct workload *w;

	if (workloads_find(&p->workloads, name, kind))
		return 0;
	p->workloads.items = xgrow(p->workloads.items, p->workloads.count, sizeof(*w));
	w = &p->workloads.items[p->workloads.count];
	*w = (struct workload){ .measured = true };
	snprintf(w->kind, sizeof(w->kind), "%s", kind);
	if (knowledge_load(&s->store, name, kind, &w->k, err))
		return -1;
	w->k.min_efficiency = p->workloads.min_efficiency;
	w->name = xstrdup(name);
	p->workloads.count++;
	return 0;
}

/* A workload without a model on the job's kind is known by another kind: what remains of a job and
 * its rate are then both by that one. */
static int read_workload(struct session *s, struct players *p, const struct status_job *item,
			 const char *name, struct err *err)
{
	const char *wanted = kind_of(p, item);
	char *kind;
	int rc;

	if (store_model_kind(&s->store, name, wanted, &kind, err))
		return -1;
	if (!kind && wanted)
		kind = xstrdup(wanted);
	rc = kind ? add_workload(s, p, name, kind, err) : 0;
	free(kind);
	return rc;
}

static int read_workloads(struct session *s, struct players *p, struct err *err)
{
	int rc = 0;

	for (int i = 0; rc == 0 && i < p->all.jobs.count; i++) {
		const struct status_job *item = &p->all.items[i];
		char *name = plays(p, item) ? job_knowledge_name(item->job, item->run) : NULL;

		if (name)
			rc = read_workload(s, p, item, name, err);
		free(name);
	}
	return rc;
}

static int read_all(struct session *s, struct players *p, struct err *err)
{
	struct status_query query = {
		.filter = JOBS_RECENT, .since_wall_s = clock_wall_s() - RECENT_S,
	};

	if (status_read(s, &query, &p->all, err) ||
	    store_dependencies_list(&s->store, &p->dependencies, err) || read_devices(s, p, err) ||
	    read_nodes(s, p, err))
		return -1;
	p->n_ended = store_ended_services(&s->store, p->ended_device_s, ENDED, err);
	return p->n_ended < 0 || read_workloads(s, p, err) ? -1 : 0;
}

static void players_release(struct players *p)
{
	for (int i = 0; i < p->n; i++)
		goodput_table_free(p->tables[i]);
	free(p->told);
	free(p->tables);
	free(p->items);
	free(p->ends);
	free(p->wanted);
	free(p->node_devices);
	dependency_list_release(&p->dependencies);
	workload_list_release(&p->workloads);
	status_release(&p->all);
}

/* --- telling --- */

static int held_by(const struct status_job *item)
{
	return item->run && item->state != SHOWN_SUSPENDED ? item->run->configuration.replicas : 0;
}

static double remaining_samples(const struct status_job *item, const struct job_model *m,
				const struct goodput_table *table, int n_devices)
{
	int held = held_by(item);

	if (held && held <= n_devices && isfinite(item->eta_s))
		return item->eta_s * table->goodput[held];
	return goodput_table_remaining(table, m, n_devices);
}

static struct goodput_table *make_table(const struct players *p, const struct job_model *m)
{
	if (!m->known)
		return goodput_table_assumed(p->n_devices);
	return node_sizes_matter(&p->nodes) ? goodput_table_on(m, p->n_devices, &p->nodes)
					    : goodput_table_of(m, p->n_devices);
}

/* On several nodes a job may have some numbers of devices only, and the one that it has. */
static void keep_to_nodes(const struct players *p, struct sched_job *job, double *goodput)
{
	enum node_rule rule;
	int least;

	if (!node_sizes_matter(&p->nodes))
		return;
	rule = node_sizes_rule(&p->nodes, job->min_replicas, job->max_replicas);
	least = node_sizes_least(&p->nodes, job->min_replicas, job->max_replicas);
	for (int r = 1; r <= p->n_devices; r++)
		if (r != job->replicas && !node_sizes_allow(&p->nodes, rule, r))
			goodput[r] = (double)NAN;
	if (least > 0 && job->replicas == 0)
		job->min_replicas = least;
}

static struct sched_job tell_player(struct players *p, const struct status_job *item,
				    struct goodput_table **table)
{
	const struct job *job = item->job;
	const struct declaration *declared = &job->declared;
	char *name = job_knowledge_name(job, item->run);
	struct workload *w = workloads_measured(&p->workloads, name, kind_of(p, item));
	int most = declared->max_replicas ? declared->max_replicas : p->n_devices;
	struct sched_job told;
	struct job_model m;

	free(name);
	knowledge_of_job(w ? &w->k : &p->nothing, job, &m);
	*table = make_table(p, &m);
	told = (struct sched_job){
		.id = job->id, .min_replicas = declared->min_replicas,
		.max_replicas = most < p->n_devices ? most : p->n_devices,
		.weight = declared->weight,
		.preemptible = !item->run || job_may_be_preempted(job, item->run),
		.replicas = held_by(item),
		.attained_service_device_s = item->attained_service_device_s,
		.launched_s = item->run ? item->run->launch_boot_s : (double)NAN,
		.restart_s = m.restart_s, .offers = { offers_of(p->n_devices, (*table)->goodput) },
		.goodput_now = (double)NAN,
		.remaining_samples = remaining_samples(item, &m, *table, p->n_devices),
		.adapts = declared->batch.max > declared->batch.size,
		.tells_its_work = job_total_samples(job) > 0 || job_total_steps(job) > 0,
	};
	keep_to_nodes(p, &told, (*table)->goodput);
	return told;
}

static bool is_shown(const struct status *status, int64_t id)
{
	for (int i = 0; i < status->jobs.count; i++)
		if (status->jobs.items[i].id == id)
			return true;
	return false;
}

static void tell_all(struct players *p, const struct status *status)
{
	size_t n = (size_t)p->all.jobs.count;

	p->told = xcalloc(n, sizeof(*p->told));
	p->tables = xcalloc(n, sizeof(struct goodput_table *));
	p->items = xcalloc(n, sizeof(struct status_job *));
	p->ends = xcalloc(n, sizeof(*p->ends));
	p->wanted = xcalloc(n, sizeof(*p->wanted));
	for (size_t i = 0; i < n; i++) {
		const struct status_job *item = &p->all.items[i];

		if (!plays(p, item))
			continue;
		p->items[p->n] = item;
		p->told[p->n] = tell_player(p, item, &p->tables[p->n]);
		p->wanted[p->n++] = is_shown(status, item->job->id);
	}
}

static struct ends_stream stream_of(const struct players *p)
{
	double *submitted_s = xcalloc((size_t)p->all.jobs.count, sizeof(*submitted_s));
	struct ends_stream stream;
	int n = 0;

	for (int i = 0; i < p->all.jobs.count; i++)
		if (!p->all.jobs.items[i].profile)
			submitted_s[n++] = p->all.jobs.items[i].submit_time_s;
	stream = ends_stream_of(submitted_s, n, p->all.now_wall_s);
	free(submitted_s);
	return stream;
}

static void keep_ends(const struct players *p, struct status *status)
{
	for (int i = 0; i < status->jobs.count; i++)
		for (int k = 0; k < p->n; k++) {
			struct status_job *item = &status->items[i];

			if (p->items[k]->job->id != item->job->id)
				continue;
			item->end_from_s = status->now_wall_s + p->ends[k].from_s;
			item->end_to_s = status->now_wall_s + p->ends[k].to_s;
			item->length_is_known = !isnan(p->told[k].remaining_samples);
		}
}

int status_tell_ends(struct session *s, struct status *status, struct err *err)
{
	struct config config;
	struct players p = { .nothing = knowledge_of_nothing() };
	int rc;

	if (!s->store.db || !status->jobs.count)
		return 0;
	if (session_settings(s, &config, err))
		return -1;
	p.workloads.min_efficiency = config.min_efficiency;
	rc = read_all(s, &p, err);
	if (rc == 0 && p.n_devices) {
		struct ends_stream stream;
		struct sched_input in;

		tell_all(&p, status);
		in = (struct sched_input){
			.jobs = p.told, .n_jobs = p.n, SCHED_ONE_KIND(p.n_devices, 0),
			.now_s = status->now_boot_s, .slice_s = config.slice_s,
			.ended_device_s = p.ended_device_s, .n_ended = p.n_ended,
		};
		stream = stream_of(&p);
		ends_of(&in, &stream, p.wanted, p.ends);
		keep_ends(&p, status);
	}
	players_release(&p);
	return rc;
}
