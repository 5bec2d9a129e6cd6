/* suggest.c - the nearest known name by optimal string alignment distance. Insertions, deletions,
 * substitutions and exchanges of neighbours cost one each. */
#include <limits.h>
#include <string.h>

#include "pollux/suggest.h"
#include "pollux/text.h"

/* Longer input gets no suggestion, and longer names are not suggested. */
#define LONGEST 40

static int min2(int a, int b)
{
	return a < b ? a : b;
}

/* d[i][j]: edits from the first i characters of a to the first j of b; three rows are kept. */
static int distance(const char *a, const char *b)
{
	int rows[3][LONGEST + 1];
	int n = (int)strlen(a), m = (int)strlen(b);

	for (int j = 0; j <= m; j++)
		rows[0][j] = j;
	for (int i = 1; i <= n; i++) {
		int *row = rows[i % 3], *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];

		row[0] = i;
		for (int j = 1; j <= m; j++) {
			row[j] = min2(above[j], row[j - 1]) + 1;
			row[j] = min2(row[j], above[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = min2(row[j], above2[j - 2] + 1);
		}
	}
	return rows[n % 3][m];
}

int edit_distance(const char *a, const char *b)
{
	return strlen(a) > LONGEST || strlen(b) > LONGEST ? -1 : distance(a, b);
}

struct suggestion suggestion_for(const char *typed)
{
	return (struct suggestion){ .typed = typed, .distance = INT_MAX };
}

void suggestion_offer(struct suggestion *s, const char *name)
{
	size_t length = strlen(s->typed);
	int limit = length < 6 ? 1 : (int)length / 3;
	int d;

	if (!length || length > LONGEST || strlen(name) > LONGEST)
		return;
	d = distance(s->typed, name);
	if (d > limit && (length < 2 || !text_starts_with(name, s->typed)))
		return;
	if (d < s->distance) {
		s->distance = d;
		s->best = name;
	}
}
