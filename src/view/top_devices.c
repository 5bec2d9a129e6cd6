/* top_devices.c - the devices at the top of the screen of 'pollux top'. */
#include <math.h>
#include <string.h>

#include "parts.h"
#include "pollux/mem.h"
#include "top_parts.h"

#define GIB 1073741824.0
#define CELL_LEAST 38		/* columns of a device beside others */
#define MEMORY_TEXT 10		/* "1510/2015G" */
#define PER_CENT 5		/* " 100%" */

/* Where the parts of a device stand in its columns. */
struct form {
	int name, bar, memory_bar, memory_text, holder;	/* widths; 0: left out */
};

static int name_width(const struct top *t)
{
	int width = (int)strlen("DEVICE");

	for (int i = 0; i < t->n_devices; i++) {
		int n = (int)strlen(t->devices[i].name);

		width = n > width ? n : width;
	}
	return width;
}

static struct form form_of(const struct top *t, int width)
{
	struct form f = { .name = name_width(t) };
	bool narrow = width < 2 * CELL_LEAST;
	int rest;

	f.memory_text = narrow ? 0 : MEMORY_TEXT;
	f.holder = narrow ? width / 3 : width * 3 / 10;
	rest = width - f.name - PER_CENT - f.holder - (narrow ? 4 : 9 + f.memory_text);
	f.bar = rest > 4 ? rest / 2 : 0;
	f.memory_bar = f.bar;
	return f;
}

static const struct job *job_of(const struct status *status, int64_t id)
{
	for (int i = 0; i < status->jobs.count; i++)
		if (status->jobs.items[i].id == id)
			return &status->jobs.items[i];
	return NULL;
}

/* "3 mnist, 7 eval": the jobs that have it, or who else has it; "": nobody. */
static void add_holders(const struct top *t, const struct top_device *d, struct text *who)
{
	const struct run_list *runs = &t->status.runs;

	for (int r = 0; r < runs->count; r++)
		for (int k = 0; k < run_held(&runs->items[r]); k++) {
			const struct job *job = job_of(&t->status, runs->items[r].job_id);

			if (strcmp(runs->items[r].devices[k].id, d->id) != 0)
				continue;
			text_addf(who, "%s%lld%s%s", who->length ? ", " : "",
				  (long long)runs->items[r].job_id, job ? " " : "",
				  job ? job->declared.name : "");
		}
	if (!who->length)
		text_add(who, d->holder);
}

static void put_memory(const struct top_device *d, const struct form *f, struct canvas *g, int row,
		       int column)
{
	double share = d->used_bytes / d->memory_bytes, used = d->used_bytes / GIB;

	if (!isfinite(share))
		return;
	canvas_bar(g, row, column, f->memory_bar, share > 0.95 ? STYLE_YELLOW : STYLE_PLAIN, share);
	if (f->memory_text)
		canvas_putf(g, row, column + f->memory_bar + 1, f->memory_text, STYLE_PLAIN,
			  "%.*f/%.0fG", used < 9.95, used, d->memory_bytes / GIB);
}

static void put_device(const struct top *t, const struct top_device *d, const struct form *f,
		       struct canvas *g, int row, int column)
{
	int gap = f->memory_text ? 2 : 1;
	scoped(text_release) struct text who = TEXT_INIT;

	canvas_put(g, row, column, f->name, STYLE_PLAIN, d->name);
	column += f->name + gap;
	canvas_bar(g, row, column, f->bar, STYLE_GREEN, d->use);
	column += f->bar;
	if (isfinite(d->use)) {
		scoped(text_release) struct text per_cent = TEXT_INIT;

		text_addf(&per_cent, "%.0f%%", 100 * d->use);
		canvas_put_right(g, row, column, PER_CENT, STYLE_PLAIN, per_cent.data);
	}
	column += PER_CENT + gap;
	put_memory(d, f, g, row, column);
	column += f->memory_bar + (f->memory_text ? f->memory_text + 1 : 0) + gap;
	if (d != &t->host)
		add_holders(t, d, &who);
	if (who.length)
		canvas_put(g, row, column, f->holder, STYLE_PLAIN, who.data);
	else if (d != &t->host)
		canvas_put(g, row, column, f->holder, STYLE_DIM, "free");
}

static void put_heading(const struct form *f, struct canvas *g, int row, int column)
{
	int gap = f->memory_text ? 2 : 1, at = column + f->name + gap;
	int memory = at + f->bar + PER_CENT + gap;
	int holder = memory + f->memory_bar + (f->memory_text ? f->memory_text + 1 : 0) + gap;

	canvas_put(g, row, column, f->name, STYLE_BOLD, "DEVICE");
	canvas_put(g, row, at, f->bar + PER_CENT, STYLE_BOLD, "USE");
	canvas_put(g, row, memory, f->memory_bar + f->memory_text, STYLE_BOLD,
		 f->memory_text ? "MEMORY" : "MEM");
	canvas_put(g, row, holder, f->holder, STYLE_BOLD, "HELD BY");
}

int top_put_devices(const struct top *t, struct canvas *g, int row, int rows)
{
	int n = t->n_devices + 1, most = (g->columns - 1) / (CELL_LEAST + 1), columns = 1, used;
	struct form f;
	int width;

	if (t->n_devices == 0 || rows < 2 || most < 1)
		return 0;
	while (columns < most && columns * (rows - 1) < n)
		columns++;
	width = (g->columns - 1) / columns - 1;
	f = form_of(t, width);
	used = (n + columns - 1) / columns;
	used = used < rows - 1 ? used : rows - 1;
	for (int i = 0; i < n && i < used * columns; i++) {
		int column = 1 + i / used * (width + 1), at = row + 1 + i % used;

		if (i % used == 0)
			put_heading(&f, g, row, column);
		if (i == used * columns - 1 && i < n - 1)
			canvas_putf(g, at, column, width, STYLE_DIM, "%d more", n - i);
		else
			put_device(t, i < n - 1 ? &t->devices[i] : &t->host, &f, g, at, column);
	}
	return used + 1;
}
