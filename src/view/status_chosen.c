/* status_chosen.c - the table of columns that a person can choose, and a job's value in each. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"
#include "pollux/mem.h"
#include "pollux/text.h"

/* How a value is shown in a table; CSV has the number. */
enum kind { INTEGER, COUNT, NUMBER, LOSS, DURATION, TIME, SHARE, TEXT };

struct seen {
	const struct status *status;
	const struct status_job *item;
	const struct job *job;
};

/* Name, heading, kind and value. The value of a number (N) is an expression; that of a text (T) is
 * a statement that adds the text to *t. s is the struct seen. */
#define COLUMNS(N, T) \
	N(id, "ID", INTEGER, (double)s->job->id) \
	T(name, "NAME", text_add(t, s->job->declared.name)) \
	T(state, "STATE", text_add(t, shown_state_name(s->item->state))) \
	T(reason, "REASON", status_add_why(t, s->status, s->item)) \
	N(dev, "DEV", INTEGER, s->item->run ? run_held(s->item->run) : (double)NAN) \
	T(devices, "DEVICES", add_devices(t, s->item)) \
	N(time, "TIME", DURATION, s->item->run_time_s) \
	N(wait, "WAITED", DURATION, status_waited_s(s->status, s->item)) \
	N(total, "TOTAL", DURATION, status_total_s(s->status, s->item)) \
	N(done, "DONE", SHARE, s->item->done_ratio) \
	N(eta, "ETA", DURATION, s->item->eta_s) \
	N(limit, "LIMIT", DURATION, s->job->declared.time_limit_s) \
	N(submitted, "SUBMITTED", TIME, s->job->submit_time_s) \
	N(started, "STARTED", TIME, s->job->start_time_s) \
	N(ended, "ENDED", TIME, s->job->end_time_s) \
	N(batch, "BATCH", INTEGER, status_batch(s->item)) \
	N(step_ms, "MS/STEP", NUMBER, \
	  s->item->run ? s->item->run->step_time_s * 1e3 : (double)NAN) \
	N(rate, "SAMPLES/S", COUNT, s->item->throughput_eps) \
	N(samples, "SAMPLES", COUNT, s->job->progress.samples) \
	N(steps, "STEPS", COUNT, s->job->progress.steps) \
	N(epoch, "EPOCH", NUMBER, s->job->progress.epoch) \
	N(loss, "LOSS", LOSS, loss_key(s->job)) \
	N(runs, "RUNS", INTEGER, s->job->progress.runs) \
	N(preempted, "PREEMPTED", INTEGER, s->job->progress.preemptions) \
	N(exit, "EXIT", INTEGER, known(s->job->progress.exit_code)) \
	N(signal, "SIGNAL", INTEGER, known(s->job->progress.term_signal)) \
	N(weight, "WEIGHT", NUMBER, s->job->declared.weight) \
	N(service, "DEVICE-TIME", DURATION, s->item->attained_service_device_s) \
	T(workload, "WORKLOAD", text_add(t, s->job->declared.workload)) \
	N(group, "GROUP", INTEGER, s->job->group_id ? (double)s->job->group_id : (double)NAN) \
	T(parameters, "PARAMETERS", status_add_words(t, &s->job->parameters, SIZE_MAX)) \
	T(status, "STATUS", text_add(t, s->job->progress.status_text)) \
	T(command, "COMMAND", add_command(t, s->item)) \
	T(directory, "DIRECTORY", text_add(t, s->item->line ? s->item->line->directory : ""))

static double known(int n)
{
	return n < 0 ? (double)NAN : n;
}

/* The key by which losses are sorted: infinity for all that are not finite; NaN: there is none. */
static double loss_key(const struct job *job)
{
	double loss;

	if (!progress_loss(&job->progress, &loss))
		return (double)NAN;
	return isfinite(loss) ? loss : (double)INFINITY;
}

static void add_devices(struct text *t, const struct status_job *item)
{
	if (item->run)
		status_add_devices(t, item->run);
}

static void add_command(struct text *t, const struct status_job *item)
{
	if (item->line)
		status_add_words(t, &item->line->argv, SIZE_MAX);
}

#define NUMBER_OF(name, heading, kind, value) \
	static double number_##name(const struct seen *s) { return (double)(value); }
#define TEXT_OF(name, heading, statement) \
	static void text_##name(const struct seen *s, struct text *t) { statement; }
COLUMNS(NUMBER_OF, TEXT_OF)

static const struct status_column {
	const char *name, *heading;
	enum kind kind;
	double (*number)(const struct seen *s);			/* NULL for a text */
	void (*text)(const struct seen *s, struct text *t);	/* NULL for a number */
} columns[] = {
#define NUMBER_ROW(name, heading, kind, value) { #name, heading, kind, number_##name, NULL },
#define TEXT_ROW(name, heading, statement) { #name, heading, TEXT, NULL, text_##name },
	COLUMNS(NUMBER_ROW, TEXT_ROW)
};
#define N_COLUMNS ((int)(sizeof(columns) / sizeof(columns[0])))

const char *const status_column_names[] = {
#define NUMBER_NAME(name, heading, kind, value) #name,
#define TEXT_NAME(name, heading, statement) #name,
	COLUMNS(NUMBER_NAME, TEXT_NAME)
	NULL,
};

/* The column of this name, which may end at a comma; NULL: there is none. */
static const struct status_column *column_of(const char *name)
{
	size_t n = strcspn(name, ",");

	for (int i = 0; i < N_COLUMNS; i++)
		if (strlen(columns[i].name) == n && !strncmp(columns[i].name, name, n))
			return &columns[i];
	return NULL;
}

static struct seen see(const struct status *status, int i)
{
	return (struct seen){ status, &status->items[i], status->items[i].job };
}

/* --- order --- */

struct sorted {
	struct status_job item;
	double number;
	struct text text;
	int place, sign;
};

/* The order of jobs whichever way they are sorted: those with a value, those whose value is not
 * finite, those without one. */
static int class_of(const struct sorted *x)
{
	return isnan(x->number) || !x->text.length ? 2 : isinf(x->number) ? 1 : 0;
}

static int compare_sorted(const void *a, const void *b)
{
	const struct sorted *x = a, *y = b;
	int class = class_of(x), order = class - class_of(y);

	if (order == 0 && class == 0)
		order = x->sign * ((x->number > y->number) - (x->number < y->number));
	if (order == 0 && class == 0)
		order = strcmp(x->text.data, y->text.data) > 0 ? x->sign
			: strcmp(x->text.data, y->text.data) < 0 ? -x->sign : 0;
	return order ? order : x->place - y->place;
}

bool status_sort(struct status *status, const char *key)
{
	const struct status_column *column = column_of(key + (*key == '-'));
	int n = status->jobs.count;
	struct sorted *all;

	if (!column || strchr(key, ','))
		return false;
	all = xcalloc((size_t)n, sizeof(*all));
	for (int i = 0; i < n; i++) {
		struct seen s = see(status, i);
		struct sorted *x = &all[i];

		all[i] = (struct sorted){
			.item = status->items[i], .place = i, .sign = *key == '-' ? -1 : 1,
		};
		/* the member that the column does not have is the same for all jobs */
		text_init(&x->text);
		if (column->number) {
			x->number = column->number(&s);
			text_add(&x->text, "-");
		} else {
			column->text(&s, &x->text);
		}
	}
	qsort(all, (size_t)n, sizeof(*all), compare_sorted);
	for (int i = 0; i < n; i++) {
		status->items[i] = all[i].item;
		text_release(&all[i].text);
	}
	free(all);
	return true;
}

/* --- what is shown --- */

static void add_number(struct text *t, const struct status_column *column, const struct seen *s)
{
	double x = column->number(s), loss;

	if (column->kind == LOSS && progress_loss(&s->job->progress, &loss)) {
		text_add(t, isfinite(loss) ? format_number(loss).s : value_format(loss, 5).s);
		return;
	}
	if (isnan(x)) {
		text_add(t, "-");
		return;
	}
	switch (column->kind) {
	case SHARE:
		if (x > 1)
			text_add(t, "over");
		else
			text_addf(t, "%.0f%%", floor(x * 100));
		break;
	case INTEGER: text_addf(t, "%.0f", x); break;
	case COUNT: text_add(t, format_count(x).s); break;
	case DURATION: text_add(t, format_duration(x).s); break;
	case TIME: text_add(t, format_time(x, s->status->now_wall_s).s); break;
	case NUMBER: case LOSS: case TEXT: text_add(t, format_number(x).s); break;
	}
}

/* Looks up the columns of the names; *n: their number. The caller frees the array. */
static struct status_column *chosen(const char *names, int *n)
{
	struct status_column *list = NULL;

	*n = 0;
	do {
		const struct status_column *column = column_of(names);

		list = xgrow(list, *n, sizeof(*list));
		if (column)	/* always, because the names were checked */
			list[(*n)++] = *column;
		names += strcspn(names, ",");
	} while (*names++ == ',');
	return list;
}

void status_print_columns(const struct status *status, const char *names, const struct output *out)
{
	struct status_column *list;
	struct table_column *layout;
	struct table t;
	int n;

	list = chosen(names, &n);
	layout = xcalloc((size_t)n, sizeof(*layout));
	for (int c = 0; c < n; c++)
		layout[c] = (struct table_column){
			.heading = list[c].heading, .right = list[c].number,
			.room = list[c].number || list[c].text == text_state ? 0 : 8,
			.most = list[c].text == text_name ? OUTPUT_CLEAN_BYTES : 0,
		};
	table_init(&t, layout, n);
	for (int i = 0; i < status->jobs.count; i++) {
		struct seen s = see(status, i);

		for (int c = 0; c < n; c++) {
			const struct status_column *column = &list[c];
			struct text text = TEXT_INIT;

			if (column->number)
				add_number(&text, column, &s);
			else
				column->text(&s, &text);
			table_text(&t, text.length ? text.data : "-");
			text_release(&text);
		}
	}
	table_end(&t, out);
	free(layout);
	free(list);
}

void status_print_csv(const struct status *status, const char *names, FILE *out)
{
	struct status_column *list;
	struct text line = TEXT_INIT, value = TEXT_INIT;
	int n;

	list = chosen(names, &n);
	for (int i = -1; i < status->jobs.count; i++) {
		text_clear(&line);
		for (int c = 0; c < n; c++) {
			struct seen s = { 0 };

			if (i >= 0)
				s = see(status, i);

			text_add(&line, c ? "," : "");
			text_clear(&value);
			if (i < 0)
				csv_add(&line, list[c].name);
			else if (list[c].number)
				csv_add_number(&line, list[c].number(&s));
			else
				list[c].text(&s, &value);
			if (value.length)
				csv_add(&line, value.data);
		}
		fprintf(out, "%s\n", line.data);
	}
	text_release(&line);
	text_release(&value);
	free(list);
}
