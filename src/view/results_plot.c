/* results_plot.c - a script for gnuplot: the best value of a metric against each parameter that
 * differs between jobs, a frame for each parameter, a point for each job. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"
#include "pollux/mem.h"
#include "pollux/text.h"

#define FRAMES_MAX 4
#define TITLE_MAX 40		/* characters of a name or a value */
/* An axis is logarithmic if the largest value is so many times the smallest: 0.1 is not ten times
 * 0.01 to the last digit. */
#define LOG_RATIO (10 * (1 - 1e-9))
/* Such an axis has a mark for each of so few values, as they were written, else powers of ten:
 * from or up to these as 1e-4. */
#define MARKS_MAX 5
#define SMALL 1e-3
#define LARGE 1e6

/* The values of a parameter among the jobs that have a finite value of the metric. */
struct frame {
	const char **values;		/* owned; borrowed texts, each once, in the order of jobs */
	int n;
	double low, high;		/* of numbers */
	bool is_number, is_logarithmic;
};

/* NULL: the job has no point, as no value of its metric was finite. */
static const struct job_metric *metric_of(const struct results *r, int job)
{
	const struct job_metric *m = result_of(r, job, 0);

	return m && isfinite(result_best(&r->columns[0], m)) ? m : NULL;
}

static int find_value(const struct frame *f, const char *value)
{
	int i = 0;

	while (i < f->n && strcmp(f->values[i], value) != 0)
		i++;
	return i;
}

static void find_scale(struct frame *f)
{
	f->low = INFINITY;
	f->high = -INFINITY;
	f->is_number = true;
	for (int i = 0; i < f->n; i++) {
		double x;

		if (number_parse(f->values[i], &x)) {
			f->is_number = false;
			return;
		}
		f->low = fmin(f->low, x);
		f->high = fmax(f->high, x);
	}
	f->is_logarithmic = f->low > 0 && f->high / f->low >= LOG_RATIO;
}

static struct frame read_frame(const struct results *r, int parameter)
{
	struct frame f = { .n = 0 };

	f.values = xcalloc((size_t)r->jobs.count + 1, sizeof(*f.values));
	for (int i = 0; i < r->jobs.count; i++) {
		const char *value = result_parameter(r, i, parameter);

		if (value && metric_of(r, i) && find_value(&f, value) == f.n)
			f.values[f.n++] = value;
	}
	find_scale(&f);
	return f;
}

/* --- the picture --- */

/* Adds the points of the jobs of a class. Returns how many these are. */
static int add_data(const struct results *r, const struct frame *f, int parameter,
		    enum result_class class, struct text *t)
{
	int n = 0;

	text_addf(t, "$%s%d << END\n", class == RESULT_GOOD ? "runs" : "diverged", parameter);
	for (int i = 0; i < r->jobs.count; i++) {
		const struct job_metric *m = metric_of(r, i);
		const char *value = result_parameter(r, i, parameter);
		double x;

		if (!m || !value || result_class(m) != class)
			continue;
		n++;
		x = find_value(f, value);
		if (f->is_number)
			number_parse(value, &x);
		text_addf(t, "%.9g %.9g\n", x, result_best(&r->columns[0], m));
	}
	text_add(t, "END\n");
	return n;
}

/* Adds the marks of an axis. Values that are not numbers stand side by side in their order. */
static void add_tics(const struct frame *f, struct text *t)
{
	text_add(t, "unset logscale x\nset xrange [*:*]\nset xtics auto\nset format x\n");
	if (f->is_logarithmic && (f->low < SMALL || f->high >= LARGE))
		text_add(t, "set format x '%.0te%T'\n");
	if (f->is_logarithmic)
		text_addf(t, "set logscale x\nset xrange [%.9g:%.9g]\n",
			  f->low * pow(f->low / f->high, 0.04),
			  f->high * pow(f->high / f->low, 0.04));
	if (!f->is_number)
		text_addf(t, "set xrange [-0.5:%d.5]\n", f->n - 1);
	else if (!f->is_logarithmic || f->n > MARKS_MAX)
		return;
	text_add(t, "set xtics (");
	for (int i = 0; i < f->n; i++) {
		double x = i;

		text_add(t, i ? ", '" : "'");
		picture_add_quoted(t, f->values[i], TITLE_MAX);
		if (f->is_number)
			number_parse(f->values[i], &x);
		text_addf(t, "' %.9g", x);
	}
	text_add(t, ")\n");
}

/* Adds a picture for one parameter: a point for each job, a cross for one that has diverged, at its
 * best value before. gnuplot takes no data without a point. */
static void add_frame(const struct results *r, const struct frame *f, int parameter,
		      const int n_points[RESULT_NONE], struct text *t)
{
	static const struct {
		const char *data, *style;
	} looks[RESULT_NONE] = {
		[RESULT_GOOD] = { "runs", "pt 7 ps 0.8 lc rgb '#0b6e99'" },
		[RESULT_DIVERGED] = { "diverged", "pt 2 ps 0.8 lc rgb '#b3261e'" },
	};
	const char *separator = "plot ";

	add_tics(f, t);
	text_add(t, "set xlabel '");
	picture_add_quoted(t, r->parameters.items[parameter], TITLE_MAX);
	text_addf(t, "'\nset ylabel '%s ", r->columns[0].low_is_best ? "lowest" : "highest");
	picture_add_quoted(t, r->columns[0].name, TITLE_MAX);
	text_add(t, "'\n");
	for (int class = 0; class < RESULT_NONE; class++) {
		if (n_points[class] == 0)
			continue;
		text_addf(t, "%s$%s%d using 1:2 with points %s notitle", separator,
			  looks[class].data, parameter, looks[class].style);
		separator = ", ";
	}
	text_add(t, "\n");
}

int results_draw(const struct results *r, const char *path, struct err *err)
{
	struct text data = TEXT_INIT, frames = TEXT_INIT, script = TEXT_INIT;
	int n = 0, rc;

	if (r->n_columns == 0)
		return err_set(err, EX_FAILED, "nothing to draw: no job has a metric yet; "
			       "see 'man pollux-results'");
	for (int p = 0; p < (int)r->parameters.count && n < FRAMES_MAX; p++) {
		struct frame f = read_frame(r, p);

		if (f.n > 1) {
			int n_points[RESULT_NONE];

			for (int class = 0; class < RESULT_NONE; class++)
				n_points[class] = add_data(r, &f, p, (enum result_class)class,
							   &data);
			add_frame(r, &f, p, n_points, &frames);
			n++;
		}
		free(f.values);
	}
	text_add(&script, data.data);
	picture_add_style(&script, picture_format(path));
	text_addf(&script, "set bmargin 4\n"
		  "set offsets graph 0.04, graph 0.04, graph 0.04, graph 0.04\n"
		  "set multiplot layout 1,%d\n", n);
	text_add(&script, frames.data);
	text_add(&script, "unset multiplot\n");
	rc = n ? picture_draw(script.data, path, err)
		: err_set(err, EX_FAILED, "nothing to draw: no parameter differs between jobs that "
			  "have a finite value of metric '%s'", r->columns[0].name);
	text_release(&data);
	text_release(&frames);
	text_release(&script);
	return rc;
}
