/* amend.c - changes a declaration, by the table of declared fields. If the option of a row takes a
 * range, the range's second column is in the next row. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/clock.h"
#include "pollux/command.h"
#include "pollux/mem.h"
#include "pollux/report.h"
#include "pollux/submission.h"
#include "pollux/text.h"
#include "request.h"

static const struct field *column_of(int row)
{
	return &declared_fields[row].column.field;
}

/* True if the option of a row before this one sets the column. */
static bool belongs_to_row_before(int row)
{
	return !declared_fields[row].option.name;
}

/* The two ends of a range are of one type. */
static bool has_second_column(int row)
{
	return row + 1 < n_declared_fields && belongs_to_row_before(row + 1) &&
	       column_of(row)->type == column_of(row + 1)->type;
}

static const void *member(int row, const struct declaration *d)
{
	return (const char *)d + column_of(row)->offset;
}

static size_t size_of(enum field_type type)
{
	switch (type) {
	case FIELD_INT: case FIELD_SIGNAL: case FIELD_NAME: return sizeof(int);
	case FIELD_INT64: return sizeof(int64_t);
	case FIELD_BOOL: return sizeof(bool);
	case FIELD_DOUBLE: return sizeof(double);
	case FIELD_TEXT: case FIELD_CHARS: case FIELD_STRINGS: case FIELD_BATCH_SIZE:
	case FIELD_NONE: break;
	}
	return 0;
}

static void take_field(int row, const struct declaration *from, struct declaration *to)
{
	void *target = (char *)to + column_of(row)->offset;
	const char *text;

	if (column_of(row)->type != FIELD_TEXT) {
		memcpy(target, member(row, from), size_of(column_of(row)->type));
		return;
	}
	text = *(char *const *)member(row, from);
	free(*(char **)target);
	*(char **)target = text ? xstrdup(text) : NULL;
}

/* Takes the length of the job, which is declared in samples or in steps. */
int submission_take_length(const struct command *by, const struct asked *o, struct declaration *d,
			   struct err *err)
{
	double samples = o->declared.total_samples, steps = o->declared.total_steps;
	int given = !isnan(samples) + !isnan(steps) + !isnan(o->epochs);

	if (given > 1)
		return usage_error(by, err, "give one of --samples, --steps and --epochs, not %d",
				   given);
	if (given) {
		d->total_steps = steps;
		d->total_samples = isnan(o->epochs) ? samples
						    : o->epochs * (double)o->dataset_size;
	}
	return 0;
}

int amend(const struct command *by, const struct asked *o, struct declaration *d, struct err *err)
{
	for (int row = 0; row < n_declared_fields; row++) {
		if (!(o->given >> row & 1) || !column_of(row)->name || belongs_to_row_before(row) ||
		    declared_fields[row].option.offset !=
			    offsetof(struct asked, declared) + column_of(row)->offset)
			continue;	/* not given, or the option does not set its column */
		take_field(row, &o->declared, d);
		if (has_second_column(row))
			take_field(row + 1, &o->declared, d);
	}
	if (submission_take_length(by, o, d, err) || submission_take_cpu(by, o, d, err))
		return -1;
	/* The rules of taking turns, which several options set. */
	if (o->preempt && o->no_preempt)
		return usage_error(by, err, "give one of --preempt and --no-preempt");
	if (o->preempt || o->no_preempt)
		d->preemption = o->preempt ? PREEMPT_ALWAYS : PREEMPT_NEVER;
	if (o->suspend || o->no_preempt)
		d->suspend = submission_suspend_rule(o);
	if (o->worst_tier)
		d->worst_tier = (enum configuration_tier)
			name_given(&worst_tier_names, o->worst_tier, TIER_UNKNOWN);
	if (o->launch)
		d->launch = (enum launch_rule)name_given(&launch_names, o->launch, LAUNCH_EACH);
	if (o->no_first)
		d->first_rank = 0;
	return submission_check_declared(by, o, d, err);
}

/* --- what differs --- */

static bool is_equal(int row, const struct declaration *a, const struct declaration *b)
{
	const char *x, *y;
	double p, q;

	switch (column_of(row)->type) {
	case FIELD_TEXT:
		x = *(char *const *)member(row, a);
		y = *(char *const *)member(row, b);
		return x == y || (x && y && !strcmp(x, y));
	case FIELD_DOUBLE:
		p = *(const double *)member(row, a);
		q = *(const double *)member(row, b);
		return (isnan(p) && isnan(q)) || !(p < q || p > q || isnan(p) || isnan(q));
	case FIELD_INT: case FIELD_SIGNAL: case FIELD_NAME: case FIELD_INT64: case FIELD_BOOL:
	case FIELD_CHARS: case FIELD_STRINGS: case FIELD_BATCH_SIZE: case FIELD_NONE: break;
	}
	return !memcmp(member(row, a), member(row, b), size_of(column_of(row)->type));
}

bool amend_next(const struct declaration *was, const struct declaration *is, int *row)
{
	while (++*row < n_declared_fields) {
		if (!column_of(*row)->name || belongs_to_row_before(*row))
			continue;
		if (!is_equal(*row, was, is) ||
		    (has_second_column(*row) && !is_equal(*row + 1, was, is)))
			return true;
	}
	return false;
}

static void add_member(struct text *t, int row, const struct declaration *d)
{
	const struct field *f = column_of(row);
	enum option_type type = declared_fields[row].option.type;
	const void *value = member(row, d);
	char name[SIGNAL_NAME_SIZE];
	double x;

	switch (f->type) {
	case FIELD_TEXT:
		text_add_shell_quoted(t, *(char *const *)value ? *(char *const *)value : "none");
		break;
	case FIELD_DOUBLE:
		x = *(const double *)value;
		if (isnan(x))
			text_add(t, "none");
		else if (type == OPTION_DURATION)
			text_add(t, format_duration(x).s);
		else if (type == OPTION_SIZE)
			text_add(t, format_bytes(x).s);
		else if (type == OPTION_AMOUNT)
			text_add(t, format_count(x).s);
		else if (type == OPTION_WHEN)
			text_add(t, format_time(x, clock_wall_s()).s);
		else
			text_addf(t, "%.15g", x);
		break;
	case FIELD_INT:
		if (f->unknown == FIELD_UNKNOWN_ZERO && *(const int *)value == 0)
			text_add(t, "none");
		else
			text_addf(t, "%d", *(const int *)value);
		break;
	case FIELD_INT64: text_addf(t, "%lld", (long long)*(const int64_t *)value); break;
	case FIELD_BOOL: text_add(t, *(const bool *)value ? "yes" : "no"); break;
	case FIELD_NAME: text_add(t, f->names->names[*(const int *)value]); break;
	case FIELD_SIGNAL: text_add(t, signal_name(name, *(const int *)value)); break;
	case FIELD_CHARS: case FIELD_STRINGS: case FIELD_BATCH_SIZE: case FIELD_NONE: break;
	}
}

/* The largest value of a range is added unless the range is one number. */
static void add_value(struct text *t, int row, const struct declaration *d)
{
	const char *column = column_of(row)->name;

	if (!strcmp(column, "first_rank")) {
		text_add(t, d->first_rank ? "yes" : "no");
		return;
	}
	if (!strcmp(column, "min_batch_size") && !d->batch.max) {
		text_add(t, "none");
		return;
	}
	add_member(t, row, d);
	if (!has_second_column(row) ||
	    !memcmp(member(row, d), member(row + 1, d), size_of(column_of(row)->type)))
		return;
	text_add(t, ":");
	if (!strcmp(column, "min_replicas") && !d->max_replicas)
		text_add(t, "all");
	else
		add_member(t, row + 1, d);
}

/* The option is named in words: "stop signal". A column that several options set is named
 * itself. */
void amend_add_change(struct text *t, int row, const struct declaration *was,
		      const struct declaration *is)
{
	const struct option_spec *option = &declared_fields[row].option;
	const char *label = column_of(row)->type == FIELD_NAME ? column_of(row)->name
							       : option->name;

	if (!strcmp(option->name, "no-first"))
		label = "first-in-line";
	for (; *label; label++)
		text_add_bytes(t, strchr("-_", *label) ? " " : label, 1);
	text_add(t, " ");
	add_value(t, row, was);
	text_add(t, " -> ");
	add_value(t, row, is);
}

/* --- lost variables --- */

#define MOST_NAMES_BYTES 400

int add_lacking_variables(struct text *t, const struct strings *env, const struct strings *others)
{
	int n = 0, left_out = 0;

	for (size_t i = 0; i < env->count; i++) {
		char *name = xasprintf("%.*s", (int)strcspn(env->items[i], "="), env->items[i]);

		if (!strings_variable(others, name)) {
			if (t->length > MOST_NAMES_BYTES)
				left_out++;
			else
				text_addf(t, "%s%s", n ? ", " : "", name);
			n++;
		}
		free(name);
	}
	if (left_out)
		text_addf(t, " and %d more", left_out);
	return n;
}
