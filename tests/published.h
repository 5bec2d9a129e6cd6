/* published.h - the published profiles of six applications, as observations of a fit.
 *
 * They are read from $POLLUX_DATA, or ../shared/data/pollux-osdi21 beside this repository, whose
 * root is $POLLUX_ROOT or the current directory. Their licence keeps them out of it. */
#ifndef PUBLISHED_H
#define PUBLISHED_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/fit.h"

#define PUBLISHED_APPLICATIONS 6
#define PUBLISHED_MAX 2000		/* more than any application has */

static const char *const published_applications[PUBLISHED_APPLICATIONS] = {
	"bert", "cifar10", "deepspeech2", "imagenet", "ncf", "yolov3",
};

struct published {
	int n;
	char placement[PUBLISHED_MAX][8];	/* a digit for each node: its replicas */
	struct observation row[PUBLISHED_MAX];
};

static inline const char *published_root(void)
{
	return getenv("POLLUX_ROOT") ? getenv("POLLUX_ROOT") : ".";
}

static inline FILE *published_open(const char *application)
{
	char path[4096];
	const char *data = getenv("POLLUX_DATA");

	if (data)
		snprintf(path, sizeof(path), "%s/profiles/%s/placements.csv", data, application);
	else
		snprintf(path, sizeof(path),
			 "%s/../shared/data/pollux-osdi21/profiles/%s/placements.csv",
			 published_root(), application);
	return fopen(path, "r");
}

/* A file of tests/reference; its heading is skipped. */
static inline FILE *published_reference(const char *name)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/reference/%s", published_root(), name);
	f = fopen(path, "r");
	if (f)
		while (getc(f) != '\n' && !feof(f))
			;
	return f;
}

static inline struct throughput_place published_place(const char *placement)
{
	struct throughput_place place = { 0 };

	for (; placement[place.nodes]; place.nodes++)
		place.replicas += placement[place.nodes] - '0';
	return place;
}

/* placement,local_bsz,step_time,sync_time of one application; false without the data. */
static inline bool published_read(const char *application, struct published *p)
{
	FILE *f = published_open(application);
	char line[256];

	p->n = 0;
	if (!f)
		return false;
	while (fgets(line, sizeof(line), f) && p->n < PUBLISHED_MAX) {
		struct observation *row = &p->row[p->n];
		struct throughput_place place;
		char *end, *comma = strchr(line, ',');

		if (!comma || comma - line > 7 || line[0] == 'p')
			continue;
		*comma = '\0';
		memcpy(p->placement[p->n], line, (size_t)(comma - line) + 1);
		place = published_place(line);
		row->configuration = configuration_at(place, strtoll(comma + 1, &end, 10), 1);
		row->step_time_s = strtod(end + 1, &end);
		row->sync_time_s = strtod(end + 1, &end);
		row->weight = 1;
		p->n++;
	}
	fclose(f);
	return p->n > 0;
}

/* A line of a file of tests/reference: an application, a word, and up to seven numbers. */
struct published_line {
	int application;		/* index */
	char word[8];
	double number[N_THROUGHPUT_PARAMS];
};

/* False at the end, and for a line that is not as it should be. */
static inline bool published_line_read(FILE *f, struct published_line *l)
{
	char text[512], *rest = text, *part;

	if (!fgets(text, sizeof(text), f) || !(part = strsep(&rest, ",")))
		return false;
	for (l->application = 0; strcmp(part, published_applications[l->application]) != 0;)
		if (++l->application == PUBLISHED_APPLICATIONS)
			return false;
	part = strsep(&rest, ",");
	snprintf(l->word, sizeof(l->word), "%s", part ? part : "");
	for (int i = 0; i < N_THROUGHPUT_PARAMS && (part = strsep(&rest, ",")); i++)
		l->number[i] = strtod(part, NULL);
	return true;
}

/* The random subsets of tests/reference/fit_reference.py, number for number, of a line
 * (application, kind, seed, points, objective). At most PUBLISHED_POINTS. */
#define PUBLISHED_POINTS 30
static inline uint64_t published_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static inline int published_subset(const struct published *all, const struct published_line *line,
				   struct observation *out)
{
	const struct published *p = &all[line->application];
	const char *kind = line->word;
	uint64_t seed = (uint64_t)line->number[0];
	int points = (int)line->number[1], n = 0;
	struct observation rows[PUBLISHED_MAX];

	for (int i = 0; i < p->n; i++)
		if ((strcmp(kind, "node") != 0 || p->row[i].configuration.nodes == 1) &&
		    (strcmp(kind, "pair") != 0 || p->row[i].configuration.replicas <= 2))
			rows[n++] = p->row[i];
	for (int i = 0; i < points && i < n; i++) {
		int j = i + (int)(published_random(&seed) % (uint64_t)(n - i));

		out[i] = rows[j];
		rows[j] = rows[i];
	}
	return points < n ? points : n;
}

#endif
