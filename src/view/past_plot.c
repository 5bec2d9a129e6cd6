/* past_plot.c - draws by gnuplot what jobs took: device time by row on the left, with the part
 * whose work was lost; mean times of waiting and to the end on the right. */
#include <math.h>

#include "pollux/past.h"
#include "pollux/report.h"

#define ROWS_MAX 40		/* that are drawn: the last days, or those of most device time */
#define CHARACTERS_MAX 24	/* of a name */

struct drawn_rows {
	const struct past_row *rows;
	int n;
	struct picture_unit device, mean;
};

static double mean_s(double sum_s, int n)
{
	return n > 0 ? sum_s / n : 0;
}

static struct drawn_rows rows_of(const struct past *p)
{
	int first = p->period.by == PAST_DAY && p->n > ROWS_MAX ? p->n - ROWS_MAX : 0;
	struct drawn_rows d = { &p->rows[first], p->n < ROWS_MAX ? p->n : ROWS_MAX, { 0 }, { 0 } };
	double device_s = 0, longest_s = 0;

	for (int i = 0; i < d.n; i++) {
		const struct past_row *r = &d.rows[i];

		device_s = fmax(device_s, r->device_s);
		longest_s = fmax(longest_s, fmax(mean_s(r->waited_s, r->started),
						 mean_s(r->completion_s, r->ended[JOB_DONE])));
	}
	d.device = picture_time_unit(device_s);
	d.mean = picture_time_unit(longest_s);
	return d;
}

static void add_data(const struct drawn_rows *d, struct text *t)
{
	text_add(t, "$rows << END\n");
	for (int i = 0; i < d->n; i++) {
		const struct past_row *r = &d->rows[i];

		text_addf(t, "%.6g %.6g %.6g %.6g\n",
			  (r->device_s - r->lost_device_s) / d->device.seconds,
			  r->lost_device_s / d->device.seconds,
			  mean_s(r->waited_s, r->started) / d->mean.seconds,
			  mean_s(r->completion_s, r->ended[JOB_DONE]) / d->mean.seconds);
	}
	text_add(t, "END\nset xtics (");
	for (int i = 0; i < d->n; i++) {
		text_add(t, i ? ", '" : "'");
		picture_add_quoted(t, d->rows[i].key, CHARACTERS_MAX);
		text_addf(t, "' %d", i);
	}
	text_add(t, ") rotate by -45 noenhanced\n");
}

static void add_frames(const struct past *p, const struct drawn_rows *d, struct text *t)
{
	text_addf(t, "set multiplot layout 1,2 title 'jobs by %s' font ',13'\n",
		  past_key_names[p->period.by]);
	text_addf(t, "set style data histograms\n"
		  "set style fill solid 0.85 noborder\n"
		  "set boxwidth 0.8 relative\n"
		  "set yrange [0:*]\n"
		  "set ylabel '%s'\n"
		  "set title 'device time'\n"
		  "set style histogram rowstacked\n"
		  "plot $rows using 1 lc rgb '#0b6e99' title 'kept', "
		  "'' using 2 lc rgb '#c0203a' title 'lost'\n", d->device.name);
	text_addf(t, "set ylabel '%s'\n"
		  "set title 'mean of a job'\n"
		  "set style histogram clustered\n"
		  "plot $rows using 3 lc rgb '#e08a1e' title 'waited', "
		  "'' using 4 lc rgb '#7a9e3a' title 'from submission to end'\n"
		  "unset multiplot\n", d->mean.name);
}

int past_draw(const struct past *p, const char *path, struct err *err)
{
	struct text t = TEXT_INIT;
	struct drawn_rows d;
	int rc;

	if (p->n == 0)
		return err_set(err, EX_FAILED, "nothing to draw: no job ran then");
	d = rows_of(p);
	picture_add_style(&t, picture_format(path));
	add_data(&d, &t);
	add_frames(p, &d, &t);
	rc = picture_draw(t.data, path, err);
	text_release(&t);
	return rc;
}
