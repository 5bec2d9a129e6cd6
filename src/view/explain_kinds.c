/* explain_kinds.c - what a job makes of each kind of device, where there are several. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"
#include "pollux/store_measurements.h"

static struct explained_kind *find_kind(struct explanation *e, const char *name)
{
	for (int k = 0; k < e->n_kinds; k++)
		if (!strcmp(e->kinds[k].name, name))
			return &e->kinds[k];
	if (e->n_kinds == SCHED_KINDS)
		return NULL;
	snprintf(e->kinds[e->n_kinds].name, sizeof(e->kinds[0].name), "%s", name);
	return &e->kinds[e->n_kinds++];
}

static int read_goodput(struct session *s, const struct explanation *e, struct explained_kind *k,
			struct err *err)
{
	char *workload = job_knowledge_name(e->job, e->item->run);
	struct throughput_place place = throughput_place_on(1, e->job->declared.min_replicas);
	struct goodput_choice best;
	struct knowledge known;
	struct job_model m;
	int rc = knowledge_load(&s->store, workload, k->name, &known, err);

	free(workload);
	if (rc)
		return -1;
	known.min_efficiency = e->min_efficiency;
	knowledge_of_job(&known, e->job, &m);
	place.tier = k->tier;
	if (m.known && job_model_best_at(&m, place, &best))
		k->goodput = best.goodput;
	k->seen = known.seen;		/* ours to release */
	known.seen = (struct observation_list){ 0 };
	knowledge_release(&known);
	return 0;
}

static const struct explained_kind *slowest(const struct explanation *e)
{
	const struct explained_kind *found = NULL;

	for (int k = 0; k < e->n_kinds; k++)
		if (e->kinds[k].goodput > 0 && !e->kinds[k].expected &&
		    (!found || e->kinds[k].goodput < found->goodput))
			found = &e->kinds[k];
	return found;
}

/* The kinds on which the workload was not measured, as a pass reckons with them. */
static int expect_others(struct session *s, struct explanation *e, struct err *err)
{
	const struct explained_kind *least = slowest(e);
	struct device_measurement_list known = { 0 }, list;
	int rc = least ? store_device_measurements_get(&s->store, least->name, &known, err) : 0;

	for (int k = 0; rc == 0 && least && k < e->n_kinds; k++) {
		struct explained_kind *kind = &e->kinds[k];
		double quotient;

		if (kind->goodput > 0)
			continue;
		rc = store_device_measurements_get(&s->store, kind->name, &list, err);
		if (rc)
			break;
		quotient = device_measurement_quotient(&known, &list);
		kind->ratio = kind_ratio(&kind->seen, &least->seen, 1 / quotient);
		kind->expected = quotient > 0;
		if (kind->expected)
			kind->goodput = least->goodput * quotient;
		device_measurement_list_release(&list);
	}
	device_measurement_list_release(&known);
	return rc;
}

int explanation_read_kinds(struct session *s, struct explanation *e, int slots,
			   const struct device_list *list, struct err *err)
{
	int rc = 0;

	/* Slots whose sizes were not asked for are taken for one kind. */
	for (int i = 0; i < list->count &&
	     (strncmp(list->items[0].id, "cpu:", 4) != 0 || slots >= DEVICE_SLOTS_OF_TWO_SIZES);
	     i++) {
		struct explained_kind *k = list->items[i].usable ? find_kind(e, list->items[i].kind)
								 : NULL;

		if (k)
			k->n_devices++;
	}
	explanation_read_tiers(e, list);
	explanation_read_nodes(e, list);
	if (e->n_kinds < 2)
		e->n_kinds = 0;
	for (int k = 0; rc == 0 && k < e->n_kinds; k++)
		rc = read_goodput(s, e, &e->kinds[k], err);
	return rc ? rc : expect_others(s, e, err);
}

/* The step time on an unmeasured kind, as a pass reckons it, with an interval of 95 %. */
static void print_ratio(const struct explained_kind *k, const struct output *out)
{
	fprintf(out->file, "    a step there takes %.2f (%.2f to %.2f) times as long, by what was "
		"measured\n", k->ratio.value, k->ratio.value * exp(-1.96 * k->ratio.spread),
		k->ratio.value * exp(1.96 * k->ratio.spread));
}

void explanation_release_kinds(struct explanation *e)
{
	for (int k = 0; k < SCHED_KINDS; k++)
		observation_list_release(&e->kinds[k].seen);
}

void explanation_print_kinds(const struct explanation *e, const struct output *out)
{
	const struct explained_kind *least = slowest(e);

	if (e->n_kinds)
		fprintf(out->file, "\nkinds (best sizes on %d device%s; a job's devices are of "
			"one kind)\n", e->job->declared.min_replicas,
			e->job->declared.min_replicas == 1 ? "" : "s");
	for (int i = 0; i < e->n_kinds; i++) {
		const struct explained_kind *k = &e->kinds[i];

		fprintf(out->file, "  %s, %d usable: ", k->name, k->n_devices);
		if (!least || !(k->goodput > 0))
			fputs("not measured\n", out->file);
		else if (k == least)
			fprintf(out->file, "%s/s\n", format_count(k->goodput).s);
		else
			fprintf(out->file, "%s/s%s, %.1fx of %s (%s)\n",
				format_count(k->goodput).s, k->expected ? " expected" : "",
				k->goodput / least->goodput, least->name,
				k->expected ? "speed of the devices" : "measured");
		if (k->expected)
			print_ratio(k, out);
	}
}

void explanation_print_json_kinds(struct json *j, const struct explanation *e)
{
	json_array(j, "kinds");
	for (int k = 0; k < e->n_kinds; k++) {
		json_object(j, NULL);
		json_string(j, "device_kind", e->kinds[k].name);
		json_integer(j, "usable_devices", e->kinds[k].n_devices);
		json_string(j, "tier", configuration_tier_name(e->kinds[k].tier));
		json_number(j, "goodput", e->kinds[k].goodput > 0 ? e->kinds[k].goodput
								  : (double)NAN);
		json_bool(j, "expected", e->kinds[k].expected);
		json_number(j, "step_time_ratio", e->kinds[k].expected ? e->kinds[k].ratio.value
								       : (double)NAN);
		json_number(j, "step_time_ratio_spread", e->kinds[k].expected
			    ? e->kinds[k].ratio.spread : (double)NAN);
		json_end(j);
	}
	json_end(j);
}
