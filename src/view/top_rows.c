/* top_rows.c - which rows of jobs 'pollux top' has, and which of them is chosen. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"
#include "pollux/mem.h"
#include "pollux/top.h"

int64_t top_key(const struct status_row *row)
{
	return row->group ? -row->group->id : row->item->job->id;
}

/* True if what the row says of its job has the filter's text: number, name, state. */
static bool passes(const struct top *t, const struct status_row *row)
{
	scoped(text_release) struct text said = TEXT_INIT;
	bool found;

	if (!t->filter[0])
		return true;
	if (row->group) {
		text_addf(&said, "group:%lld ", (long long)row->group->id);
		status_add_group_name(&said, row->group->name);
		text_addf(&said, " %s", status_group_state(row->group));
	} else {
		text_addf(&said, "%lld ", (long long)row->item->job->id);
		status_add_name(&said, &t->status, row->item->job);
		text_addf(&said, " %s", shown_state_name(row->item->state));
	}
	found = strcasestr(said.data, t->filter) != NULL;
	return found;
}

struct status_row *top_rows(const struct top *t, int *n)
{
	struct status_row *rows = status_rows(&t->status, n);
	int kept = 0;

	for (int i = 0; i < *n; i++)
		if (passes(t, &rows[i]))
			rows[kept++] = rows[i];
	*n = kept;
	return rows;
}

bool top_find_row(struct top *t, struct status_row *row, int *n)
{
	autofree struct status_row *rows = top_rows(t, n);
	int at = -1;

	for (int i = 0; i < *n && at < 0; i++)
		if (top_key(&rows[i]) == t->chosen)
			at = i;
	if (at < 0)
		at = !t->chosen ? 0 : t->at < *n ? t->at : *n - 1;
	if (*n > 0) {
		t->at = at;
		*row = rows[at];
		t->chosen = top_key(row);
	}
	return *n > 0;
}

void top_move(struct top *t, int by)
{
	struct status_row row, *rows;
	int n;

	if (!top_find_row(t, &row, &n))
		return;
	rows = top_rows(t, &n);
	t->at = t->at + by < 0 ? 0 : t->at + by >= n ? n - 1 : t->at + by;
	t->chosen = top_key(&rows[t->at]);
	free(rows);
}
