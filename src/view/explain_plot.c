/* explain_plot.c - a script for gnuplot: draws goodput against devices on the left and against
 * batch size on the right, both with the measured points and the job's present point, on the right
 * also the batch sizes that ran out of memory or failed. Where one number of devices or one batch
 * size is possible, the other half is drawn alone. While the noise scale is unknown, so is the
 * worth of a larger batch. Then only throughput is drawn, and the title says why. */
#include <math.h>
#include <string.h>

#include "parts.h"

#define SIZES 64		/* points of the curves over batch sizes */
#define TITLE_MAX 60		/* characters of a name */

/* --- pieces --- */

static void begin_data(struct text *t, const char *name)
{
	text_addf(t, "$%s << END\n", name);
}

/* A block without a line is an error to gnuplot. */
static void end_data(struct text *t)
{
	text_add(t, "NaN NaN NaN NaN\nEND\n");
}

static bool is_curve(const struct explanation *e, int r)
{
	return e->best[r].goodput > 0 && !explanation_obstacle(e, r);
}

/* True if goodput and efficiency are known; else they are assumptions, which tables show as '-'. */
static bool knows_goodput(const struct explanation *e)
{
	for (int r = 1; r <= e->n_devices; r++)
		if (is_curve(e, r) && explanation_assumes(e, &e->best[r]))
			return false;
	for (int i = 0; i < e->n_batches; i++)
		if (explanation_assumes(e, &e->batches[i]))
			return false;
	return true;
}

/* --- data --- */

/* Throughput, goodput and efficiency of a batch that need not divide by the replicas, by the
 * smallest number of passes; nothing for a batch that does not fit. */
static void add_size(const struct explanation *e, double batch_size, struct text *t)
{
	struct goodput_model g = job_model_on(&e->model, e->replicas);
	struct throughput_place place = throughput_place_on(1, e->replicas);
	double share = batch_size / e->replicas, passes = 1, rate, goodput;

	if (e->replicas == 1 && batch_size > (double)g.batch.size && !g.noise_is_measured)
		passes = 2;
	if (g.batch.max_local > 0)
		passes = fmax(passes, ceil(share / (double)g.batch.max_local - 1e-9));
	if (g.batch.max_local < 0 || (passes > 1 && !g.batch.accumulates))
		return;
	rate = place.replicas * share / goodput_step_time(&g, place, share / passes, passes);
	goodput = goodput_of(&g, place, share / passes, passes);
	text_addf(t, "%.9g %.9g %.9g %.9g\n", batch_size, rate, goodput, 100 * goodput / rate);
}

/* Measured samples per second: by devices, and by batch size for the curve's number of devices.
 * Returns how many have that number. */
static int add_measured(const struct explanation *e, struct text *t)
{
	int n = 0;

	begin_data(t, "measured");
	for (int i = 0; i < e->knowledge->seen.count; i++) {
		const struct observation *seen = &e->knowledge->seen.items[i];
		double batch_size = (double)configuration_batch_size(&seen->configuration);
		double rate = batch_size / seen->step_time_s;
		int replicas = seen->configuration.replicas;

		text_addf(t, "%d %.9g %.9g", replicas, rate, batch_size);
		text_addf(t, replicas == e->replicas ? " %.9g\n" : " NaN\n", rate);
		n += replicas == e->replicas;
	}
	end_data(t);
	return n;
}

/* The samples of a pass of the i-th trial that ran out of memory or failed; 0: the trial had
 * another number of devices than the curve. */
static int64_t failed_size(const struct explanation *e, int i)
{
	const struct memory_bounds *m = &e->knowledge->memory;
	const struct observation *trial = i < m->n_ran_out
		? &m->ran_out[i] : &e->knowledge->failed.failed[i - m->n_ran_out];

	return trial->configuration.replicas == e->replicas
		? trial->configuration.local_batch_size * e->replicas : 0;
}

static int n_failed(const struct explanation *e)
{
	return e->knowledge->memory.n_ran_out + e->knowledge->failed.n_failed;
}

static int64_t largest_failed(const struct explanation *e)
{
	int64_t largest = 0;

	for (int i = 0; i < n_failed(e); i++)
		if (failed_size(e, i) > largest)
			largest = failed_size(e, i);
	return largest;
}

/* --- the picture --- */

static int count_curves(const struct explanation *e)
{
	int n = 0;

	for (int r = 1; r <= e->n_devices; r++)
		n += is_curve(e, r);
	return n;
}

static void add_left(const struct explanation *e, struct text *t)
{
	text_addf(t, "set title 'best sizes for each number of devices'\n"
		  "set xlabel 'devices'\n"
		  "set ylabel 'samples/s'\n"
		  "set xrange [0.5:%d.5]\n"
		  "set yrange [0:*]\n", e->n_devices);
	text_add(t, e->n_devices <= 16 ? "set xtics 1\n" : "set xtics auto\n");
	text_add(t, "plot $devices using 1:2 with linespoints ls 2 title 'throughput', ");
	if (knows_goodput(e))
		text_addf(t,
			  "$devices using 1:3 with linespoints ls 1 title 'goodput, at batch "
			  "%lld', ", (long long)e->job->declared.batch.size);
	text_add(t, "$measured using 1:2 with points ls 4 title 'measured throughput'");
	text_add(t, e->now.goodput > 0 ? ", $now using 1:2 with points ls 5 title 'now'\n" : "\n");
}

static void add_right(const struct explanation *e, bool is_measured, struct text *t)
{
	double low = (double)configuration_batch_size(&e->batches[0].configuration);
	double high = (double)configuration_batch_size(&e->batches[e->n_batches - 1].configuration);

	high = fmax(high, (double)largest_failed(e));
	text_addf(t,
		  "set title 'batch sizes on %d device%s'\n"
		  "set xlabel 'batch size, samples'\n"
		  "set logscale x 2\n"
		  "set xtics auto\n"
		  "set xrange [%.9g:%.9g]\n",
		  e->replicas, plural(e->replicas), low / 1.15, high * 1.15);
	if (knows_goodput(e))
		text_add(t, "set border 11\n"		/* an axis at the right edge */
			 "set y2label 'efficiency, %'\n"
			 "set y2range [0:105]\n"
			 "set y2tics 20 nomirror out scale 0.6 tc rgb '#333333'\n"
			 "set format y2 '%.0f'\n");
	text_add(t, "set yrange [0:*]\n"
		 "set ylabel 'samples/s'\n"
		 "plot $sizes using 1:2 with lines ls 2 title 'throughput'");
	if (knows_goodput(e))
		text_add(t, ", $sizes using 1:3 with lines ls 1 title 'goodput', $sizes using 1:4 "
			 "axes x1y2 with lines ls 3 title 'efficiency'");
	if (is_measured)
		text_add(t, ", $measured using 3:4 with points ls 4 title 'measured throughput'");
	if (largest_failed(e) > 0)
		text_add(t, ", $failed using 1:2 with points ls 6 title 'does not work'");
	text_add(t, e->now.goodput > 0 ? ", $now using 3:2 with points ls 5 title 'now'\n" : "\n");
}

static void plot_script(const struct explanation *e, const char *format, struct text *t)
{
	double low = (double)configuration_batch_size(&e->batches[0].configuration);
	double high = (double)configuration_batch_size(&e->batches[e->n_batches - 1].configuration);
	bool has_sizes, has_devices, is_measured;
	size_t before;

	begin_data(t, "devices");
	for (int r = 1; r <= e->n_devices; r++)
		if (is_curve(e, r))
			text_addf(t, "%d %.9g %.9g\n", r, e->best[r].throughput,
				  e->best[r].goodput);
	end_data(t);
	begin_data(t, "sizes");
	before = t->length;
	for (int i = 0; i < SIZES; i++)
		add_size(e, low * pow(high / low, i / (SIZES - 1.0)), t);
	has_sizes = high > low && t->length > before;
	has_devices = !has_sizes || count_curves(e) > 1;
	end_data(t);
	is_measured = add_measured(e, t) > 0;
	begin_data(t, "failed");
	for (int i = 0; i < n_failed(e); i++)
		if (failed_size(e, i) > 0)
			text_addf(t, "%lld 0\n", (long long)failed_size(e, i));
	end_data(t);
	begin_data(t, "now");
	if (e->now.goodput > 0)
		text_addf(t, "%d %.9g %lld\n", e->replicas,
			  knows_goodput(e) ? e->now.goodput : e->now.throughput,
			  (long long)configuration_batch_size(&e->now.configuration));
	end_data(t);
	picture_add_style(t, format);
	text_add(t,
		 "set style line 1 lc rgb '#0b6e99' lw 2.2 pt 7 ps 0.7\n"	/* goodput */
		 "set style line 2 lc rgb '#e08a1e' lw 1.8 pt 5 ps 0.6\n"	/* throughput */
		 "set style line 3 lc rgb '#7a9e3a' lw 1.6 dt 2\n"		/* efficiency */
		 "set style line 4 lc rgb '#b3591a' pt 2 ps 1.1 lw 1.6\n"	/* measured */
		 "set style line 5 lc rgb '#c0203a' pt 6 ps 2.2 lw 2\n"		/* now */
		 "set style line 6 lc rgb '#c0203a' pt 2 ps 1.4 lw 2\n"		/* failed */
		 "set format y '%.1s%c'\n");
	text_addf(t, "set multiplot layout 1,%d title 'job %lld, ", has_sizes + has_devices,
		  (long long)e->job->id);
	picture_add_quoted(t, e->job->declared.name, TITLE_MAX);
	text_add(t, ", on ");
	picture_add_quoted(t, e->device_kind, TITLE_MAX);
	if (!knows_goodput(e))
		text_add(t, "; noise scale unknown: no goodput or efficiency");
	text_add(t, "' font ',13'\n");
	if (has_devices)
		add_left(e, t);
	if (has_sizes)
		add_right(e, is_measured, t);
	text_add(t, "unset multiplot\n");
}

int explanation_draw(const struct explanation *e, const char *path, struct err *err)
{
	struct text text = TEXT_INIT;
	int rc;

	if (explanation_missing(e, &text) || e->least == 0) {
		rc = err_set(err, EX_FAILED, "nothing to draw of job %lld: %s",
			     (long long)e->job->id,
			     text.length ? text.data : "there is no number of devices for it here");
	} else {
		plot_script(e, picture_format(path), &text);
		rc = picture_draw(text.data, path, err);
	}
	text_release(&text);
	return rc;
}
