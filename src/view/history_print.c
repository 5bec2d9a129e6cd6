/* history_print.c - prints real and simulated figures side by side, for people and for programs. */
#include <math.h>

#include "pollux/report.h"
#include "pollux/simulations.h"

/* --- people --- */

static const struct table_column columns[] = {
	{ .heading = "POLICY" }, { .heading = "DEVICES", .right = true },
	{ .heading = "JOBS", .right = true }, { .heading = "MEAN", .right = true },
	{ .heading = "MEDIAN", .right = true }, { .heading = "P99", .right = true },
	{ .heading = "MAKESPAN", .right = true }, { .heading = "RESTARTS", .right = true },
	{ .heading = "DEVICE-H", .right = true },
};

static void add_row(struct table *t, const char *name, int n_devices, int n_jobs,
		    const struct sim_figures *f)
{
	table_text(t, name);
	table_positive(t, n_devices);
	table_cell(t, "%d", n_jobs);
	table_span(t, f->avg_jct_s);
	table_span(t, f->median_jct_s);
	table_span(t, f->p99_jct_s);
	table_span(t, f->makespan_s);
	table_cell(t, "%.0f", f->restarts);
	table_cell(t, "%.3g", f->gpu_hours);
}

static const char *const bases[N_HISTORY_BASES] = {
	[HISTORY_TIME] = "By the time that their runs took, on as many devices as they had",
	[HISTORY_ENDED_BADLY] = "Left out, as they failed, were cancelled, timed out or are held",
	[HISTORY_LENGTH_UNKNOWN] = "Left out, as nobody can tell how long they have to go",
	[HISTORY_TOO_LARGE] = "Left out, as they need more devices than are simulated",
	[HISTORY_NO_DEVICE] = "Left out, as they have no device",
};

void history_print(const struct history_report *r, const struct output *out)
{
	struct table t;
	const struct history_result *c = &r->check;
	double was_s = r->history->figures.avg_jct_s, change = c->figures.avg_jct_s / was_s - 1;

	fprintf(out->file, "Devices: %s.\n", r->history->device_kind);
	fprintf(out->file, "By the measured model of their workload there: %d of %d job%s.\n",
		r->history->count[HISTORY_MODEL], r->history->n, plural(r->history->n));
	for (int b = HISTORY_TIME; b < N_HISTORY_BASES; b++)
		if (r->history->count[b])
			fprintf(out->file, "%s: %d.\n", bases[b], r->history->count[b]);
	if (r->history->count[HISTORY_MODEL])
		fputs("In simulation the models are known from the start.\n", out->file);
	if (r->history->n_active)
		fprintf(out->file, "Simulated, but in no figure, as they have not ended: %d.\n",
			r->history->n_active);
	fputc('\n', out->file);
	table_begin(&t, columns);
	add_row(&t, "what it was", 0, r->history->n_done, &r->history->figures);
	table_style(&t, STYLE_BOLD);
	for (int i = 0; i < r->n_results; i++)
		add_row(&t, r->results[i].policy->name, r->results[i].n_devices,
			r->history->n_done, &r->results[i].figures);
	table_end(&t, out);
	fprintf(out->file,
		"\nHow far to trust it: %s on %d device%s, as now, simulated, comes to a mean of\n"
		"%s where it was %s",
		c->policy->name, c->n_devices, plural(c->n_devices),
		format_span(c->figures.avg_jct_s).s, format_span(was_s).s);
	if (isfinite(change))
		fprintf(out->file, ", %.0f%% %s", 100 * fabs(change), change < 0 ? "less" : "more");
	if (isfinite(c->median_error))
		fprintf(out->file, "; half of the jobs are within %.0f%%\nof their own times",
			100 * c->median_error);
	fputs(".\n", out->file);
}

/* --- programs --- */

static void json_figures(struct json *j, int n_jobs, const struct sim_figures *f)
{
	json_integer(j, "jobs", n_jobs);
	json_number(j, "avg_jct_s", f->avg_jct_s);
	json_number(j, "median_jct_s", f->median_jct_s);
	json_number(j, "p99_jct_s", f->p99_jct_s);
	json_number(j, "makespan_s", f->makespan_s);
	json_number(j, "restarts", f->restarts);
	json_number(j, "device_hours", f->gpu_hours);
}

static void json_result(struct json *j, const char *key, int n_jobs,
			const struct history_result *r)
{
	json_object(j, key);
	json_string(j, "policy", r->policy->name);
	json_integer(j, "devices", r->n_devices);
	json_figures(j, n_jobs, &r->figures);
	json_number(j, "median_error", r->median_error);
	json_end(j);
}

void history_print_json(const struct history_report *r, FILE *out)
{
	const struct history *h = r->history;
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	json_integer(&j, "schema_version", 1);
	json_string(&j, "device_kind", h->device_kind);
	json_number(&j, "interval_s", r->interval_s);
	json_number(&j, "slice_s", h->simulated_slice_s);
	json_bool(&j, "submit_pass", h->config.submit_pass);
	json_object(&j, "jobs");
	json_integer(&j, "simulated", h->n);
	json_integer(&j, "modelled", h->count[HISTORY_MODEL]);
	json_integer(&j, "timed", h->count[HISTORY_TIME]);
	json_integer(&j, "not_ended", h->n_active);
	json_object(&j, "left_out");
	json_integer(&j, "ended_badly", h->count[HISTORY_ENDED_BADLY]);
	json_integer(&j, "length_unknown", h->count[HISTORY_LENGTH_UNKNOWN]);
	json_integer(&j, "too_large", h->count[HISTORY_TOO_LARGE]);
	json_integer(&j, "no_device", h->count[HISTORY_NO_DEVICE]);
	json_end(&j);
	json_end(&j);
	json_object(&j, "was");
	json_figures(&j, h->n_done, &h->figures);
	json_end(&j);
	json_result(&j, "check", h->n_done, &r->check);
	json_array(&j, "results");
	for (int i = 0; i < r->n_results; i++)
		json_result(&j, NULL, h->n_done, &r->results[i]);
	json_end(&j);
	json_end(&j);
}

/* Draws by gnuplot what the jobs of a store took, and would have taken under other policies: mean
 * and 99th percentile of completion times on the left, device time and makespan on the right. */

/* i 0: as it was; else the i-th policy. */
static const struct sim_figures *figures_at(const struct history_report *report, int i)
{
	return i ? &report->results[i - 1].figures : &report->history->figures;
}

static double largest_s(const struct history_report *report, bool of_all)
{
	double largest = 0;

	for (int i = 0; i <= report->n_results; i++) {
		const struct sim_figures *f = figures_at(report, i);

		largest = fmax(largest, of_all ? fmax(f->gpu_hours * 3600, f->makespan_s)
					       : f->p99_jct_s);
	}
	return largest;
}

int history_draw(const struct history_report *report, const char *path, struct err *err)
{
	struct text t = TEXT_INIT;
	int rc;
	struct picture_unit jct = picture_time_unit(largest_s(report, false));
	struct picture_unit all = picture_time_unit(largest_s(report, true));

	picture_add_style(&t, picture_format(path));
	text_add(&t, "$policies << END\n");
	for (int i = 0; i <= report->n_results; i++) {
		const struct sim_figures *f = figures_at(report, i);

		text_addf(&t, "%.6g %.6g %.6g %.6g\n", f->avg_jct_s / jct.seconds,
			  f->p99_jct_s / jct.seconds, f->gpu_hours * 3600 / all.seconds,
			  f->makespan_s / all.seconds);
	}
	text_add(&t, "END\n");
	text_add(&t, "set xtics ('as it was' 0");
	for (int i = 0; i < report->n_results; i++)
		text_addf(&t, ", '%s' %d", report->results[i].policy->name, i + 1);
	text_add(&t, ") rotate by -30\n");
	text_addf(&t, "set multiplot layout 1,2 title '%d jobs of this machine on %d device%s' "
		  "font ',13'\n", report->history->n_done,
		  report->history->n_simulated_devices,
		  plural(report->history->n_simulated_devices));
	text_addf(&t, "set style data histograms\n"
		  "set style fill solid 0.85 noborder\n"
		  "set yrange [0:*]\n"
		  "set ylabel '%s'\n"
		  "set title 'from submission to end'\n"
		  "plot $policies using 1 lc rgb '#0b6e99' title 'mean', "
		  "'' using 2 lc rgb '#e08a1e' title '99th percentile'\n", jct.name);
	text_addf(&t, "set ylabel '%s'\n"
		  "set title 'of all jobs'\n"
		  "plot $policies using 3 lc rgb '#7a9e3a' title 'device time', "
		  "'' using 4 lc rgb '#b3591a' title 'makespan'\n"
		  "unset multiplot\n", all.name);
	rc = picture_draw(t.data, path, err);
	text_release(&t);
	return rc;
}
