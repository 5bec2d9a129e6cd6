/* history_plot.c - draws by gnuplot what the jobs of a store took, and would have taken under other
 * policies: mean and 99th percentile of completion times on the left, device time and makespan on
 * the right. */
#include <math.h>

#include "pollux/history.h"
#include "pollux/report.h"

/* i 0: as it was; else the i-th policy. */
static const struct replay_figures *figures_at(const struct history_report *report, int i)
{
	return i ? &report->results[i - 1].figures : &report->history->figures;
}

static double largest_s(const struct history_report *report, bool of_all)
{
	double largest = 0;

	for (int i = 0; i <= report->n_results; i++) {
		const struct replay_figures *f = figures_at(report, i);

		largest = fmax(largest, of_all ? fmax(f->device_hours * 3600, f->makespan_s)
					       : f->p99_jct_s);
	}
	return largest;
}

static void add_data(const struct history_report *report, double jct_unit_s, double unit_s,
		     struct text *t)
{
	text_add(t, "$policies << END\n");
	for (int i = 0; i <= report->n_results; i++) {
		const struct replay_figures *f = figures_at(report, i);

		text_addf(t, "%.6g %.6g %.6g %.6g\n", f->avg_jct_s / jct_unit_s,
			  f->p99_jct_s / jct_unit_s, f->device_hours * 3600 / unit_s,
			  f->makespan_s / unit_s);
	}
	text_add(t, "END\n");
}

static void add_tics(const struct history_report *report, struct text *t)
{
	text_add(t, "set xtics ('as it was' 0");
	for (int i = 0; i < report->n_results; i++)
		text_addf(t, ", '%s' %d", report->results[i].policy->name, i + 1);
	text_add(t, ") rotate by -30\n");
}

static void add_script(const struct history_report *report, struct text *t)
{
	struct picture_unit jct = picture_time_unit(largest_s(report, false));
	struct picture_unit all = picture_time_unit(largest_s(report, true));

	add_data(report, jct.seconds, all.seconds, t);
	add_tics(report, t);
	text_addf(t, "set multiplot layout 1,2 title '%d jobs of this machine on %d device%s' "
		  "font ',13'\n", report->history->figures.n_jobs,
		  report->history->n_simulated_devices,
		  plural(report->history->n_simulated_devices));
	text_addf(t, "set style data histograms\n"
		  "set style fill solid 0.85 noborder\n"
		  "set yrange [0:*]\n"
		  "set ylabel '%s'\n"
		  "set title 'from submission to end'\n"
		  "plot $policies using 1 lc rgb '#0b6e99' title 'mean', "
		  "'' using 2 lc rgb '#e08a1e' title '99th percentile'\n", jct.name);
	text_addf(t, "set ylabel '%s'\n"
		  "set title 'of all jobs'\n"
		  "plot $policies using 3 lc rgb '#7a9e3a' title 'device time', "
		  "'' using 4 lc rgb '#b3591a' title 'makespan'\n"
		  "unset multiplot\n", all.name);
}

int history_draw(const struct history_report *report, const char *path, struct err *err)
{
	struct text t = TEXT_INIT;
	int rc;

	picture_add_style(&t, picture_format(path));
	add_script(report, &t);
	rc = picture_draw(t.data, path, err);
	text_release(&t);
	return rc;
}
