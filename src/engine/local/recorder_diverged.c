/* recorder_diverged.c - whether a training has diverged (--stop-nan): its loss was not finite in so
 * many values in a row. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "recorder.h"

/* A number, or a word in its place, behind "loss", "train_loss", "loss_cls", "'loss': tensor(". */
#define LOSS "(?<!\\w)(?<!best )(?!best|min|lowest)[\\w/.-]*?loss(?!_?scal|less)[\\w/.-]*[\"']?" \
	     "[\\s:=|>]*(?:is\\s+)?[\\[(]*(?:[a-z_.0-9]+\\(\\[?)?"
/* The first one that is not finite, else the first one. */
const char recorder_losses_in_log[] =
	"log_loss=(?i)(?|^.*?" LOSS "([-+]?(?:nan|inf(?:inity)?))\\b"
	"|^.*?" LOSS "([-+]?\\d*\\.?\\d+(?:e[-+]?\\d+)?))";

void recorder_watch_values(struct recorder *r, int limit, const struct strings *expressions)
{
	r->diverged.limit = limit;
	r->diverged.expressions = expressions;
}

static bool is_expression(const struct strings *expressions, const char *name)
{
	size_t length = strlen(name);

	for (size_t i = 0; expressions && i < expressions->count; i++)
		if (!strncmp(expressions->items[i], name, length) &&
		    expressions->items[i][length] == '=')
			return true;
	return false;
}

/* True for a loss of any kind, the metric of --halving, and each --metric. */
static bool is_watched(const struct recorder *r, const char *name)
{
	const struct halving *h = &r->rungs.known.halving;

	return strcasestr(name, "loss") || (h->n_rungs > 0 && !strcmp(name, h->metric)) ||
	       is_expression(r->diverged.expressions, name);
}

void recorder_count_value(struct recorder *r, const struct run *run, struct recorder_metric *m,
			  double value)
{
	struct recorder_diverged *d = &r->diverged;

	m->not_finite = isfinite(value) ? 0 : m->not_finite + 1;
	if (d->limit <= 0 || d->name[0] || m->not_finite < d->limit ||
	    !is_watched(r, m->values.name))
		return;
	memcpy(d->name, m->values.name, sizeof(d->name));
	d->count = m->not_finite;
	d->steps = r->steps;
	d->samples = run->last_samples;
}

bool recorder_has_diverged(const struct recorder *r)
{
	return r->diverged.name[0] != '\0';
}

void recorder_describe_diverged(const struct recorder *r, struct text *t)
{
	const struct recorder_diverged *d = &r->diverged;

	text_addf(t, "%s was not finite in %d report%s", d->name, d->count,
		  d->count == 1 ? "" : "s in a row");
	if (isfinite(d->steps))
		text_addf(t, ", the last at step %.0f", d->steps);
	else if (isfinite(d->samples))
		text_addf(t, ", the last at %.0f samples", d->samples);
}
