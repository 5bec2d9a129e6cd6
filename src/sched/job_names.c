/* job_names.c - see job_names.h. */
#include <stdlib.h>

#include "job_names.h"

static int compare_ids(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

struct job_names job_names_of(int64_t *ids, int n)
{
	struct job_names names = { .n = 0 };

	qsort(ids, (size_t)n, sizeof(*ids), compare_ids);
	for (int i = 0; i < n; i++) {
		if (i > 0 && ids[i] == ids[i - 1])
			continue;
		if (names.n < 2)
			names.first[names.n] = ids[i];
		names.n++;
	}
	return names;
}

struct job_names job_names_join(struct job_names a, struct job_names b)
{
	int64_t ids[4];
	struct job_names both;
	int n = 0;

	for (int i = 0; i < a.n && i < 2; i++)
		ids[n++] = a.first[i];
	for (int i = 0; i < b.n && i < 2; i++)
		ids[n++] = b.first[i];
	both = job_names_of(ids, n);
	both.n = a.n + b.n;
	return both;
}
