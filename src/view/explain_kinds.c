/* explain_kinds.c - what a job makes of each kind of device, where there are several. */
#include <math.h>
#include <string.h>

#include "parts.h"

/* The fewest devices for which the decision offers some kind; else the fewest asked for. */
static int fewest(const struct explanation *e)
{
	int least = e->job->declared.min_replicas;

	for (int r = least; r <= e->n_devices; r++)
		for (int k = 0; k < e->outlook.n_kinds; k++)
			if (outlook_offer(&e->outlook.kinds[k], r) > 0)
				return r;
	return least;
}

/* 0: not known, or the job must not have the kind. */
static double goodput_on(const struct explanation *e, const struct outlook_kind *k)
{
	double offer = k->table && !k->table->assumed ? outlook_offer(k, fewest(e)) : 0;

	return offer > 0 ? offer : 0;
}

/* The kind that the others are compared with: for one to which what is known was moved, that where
 * it was measured; else the slowest measured one. NULL: there is none. */
static const struct outlook_kind *reference(const struct explanation *e,
					    const struct outlook_kind *of)
{
	const struct outlook_kind *found = NULL;

	for (int i = 0; i < e->outlook.n_kinds; i++) {
		const struct outlook_kind *k = &e->outlook.kinds[i];

		if (!(goodput_on(e, k) > 0) || k->expected ||
		    (of->from && strcmp(k->name, of->from) != 0))
			continue;
		if (!found || goodput_on(e, k) < goodput_on(e, found))
			found = k;
	}
	return found;
}

static enum configuration_tier tier_on(const struct explanation *e, const struct outlook_kind *k)
{
	const struct run *run = e->item->run;
	int r = fewest(e);

	if (run && run->devices && run->configuration.replicas == r &&
	    run->configuration.tier != TIER_UNKNOWN && !strcmp(run->devices[0].kind, k->name))
		return run->configuration.tier;
	return r <= e->n_devices ? k->best_tier[r] : TIER_UNKNOWN;
}

void explanation_print_kinds(const struct explanation *e, const struct output *out)
{
	static const char *const words[] = {
		[BAR_NONE] = "not measured", [BAR_NOT_ASKED_FOR] = "not asked for",
		[BAR_TOO_SMALL] = "too little memory",
		[BAR_RUN_STAYS] = "its run stays on its kind",
	};

	if (e->outlook.n_kinds < 2)
		return;
	fprintf(out->file, "\nkinds (best sizes on %d device%s; a job's devices are of one kind)\n",
		fewest(e), plural(fewest(e)));
	for (int i = 0; i < e->outlook.n_kinds; i++) {
		const struct outlook_kind *k = &e->outlook.kinds[i], *least = reference(e, k);
		double goodput = goodput_on(e, k);

		fprintf(out->file, "  %s, %d usable: ", k->name, k->n_devices);
		if (!(goodput > 0))
			fputs(words[k->barred], out->file);
		else
			fprintf(out->file, "%s/s%s", format_count(goodput).s,
				k->expected ? " expected" : "");
		if (goodput > 0 && least && least != k)
			fprintf(out->file, ", %.1fx of %s (%s)", goodput / goodput_on(e, least),
				least->name, k->expected ? "speed of the devices" : "measured");
		fputs("\n", out->file);
		/* an interval of 95 % */
		if (goodput > 0 && k->from)
			fprintf(out->file, "    a step there takes %.2f (%.2f to %.2f) times as "
				"long, by what was measured\n", k->ratio.value,
				k->ratio.value * exp(-1.96 * k->ratio.spread),
				k->ratio.value * exp(1.96 * k->ratio.spread));
	}
}

void explanation_print_json_kinds(struct json *j, const struct explanation *e)
{
	json_array(j, "kinds");
	for (int i = 0; e->outlook.n_kinds > 1 && i < e->outlook.n_kinds; i++) {
		const struct outlook_kind *k = &e->outlook.kinds[i];
		double goodput = goodput_on(e, k);
		bool expected = k->expected && goodput > 0;

		json_object(j, NULL);
		json_string(j, "device_kind", k->name);
		json_integer(j, "usable_devices", k->n_devices);
		json_string(j, "tier", configuration_tier_name(tier_on(e, k)));
		json_number(j, "goodput", goodput > 0 ? goodput : (double)NAN);
		json_bool(j, "expected", expected);
		json_number(j, "step_time_ratio", expected && k->from ? k->ratio.value
								      : (double)NAN);
		json_number(j, "step_time_ratio_spread", expected && k->from ? k->ratio.spread
									     : (double)NAN);
		json_end(j);
	}
	json_end(j);
}
