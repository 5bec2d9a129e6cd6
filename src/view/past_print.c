/* past_print.c - sums of past jobs as a table, as CSV and as JSON. */
#include <math.h>

#include "parts.h"

static double mean(double sum, int n)
{
	return n > 0 ? sum / n : (double)NAN;
}

/* --- table --- */

static const char *const headings[N_PAST_KEYS] = { "DAY", "NAME", "WORKLOAD", "GROUP", "USER" };

static void add_row(struct table *t, const char *key, const struct past_row *r)
{
	double gain = past_gain(r);

	table_text(t, key);
	table_cell(t, "%d", r->jobs);
	table_positive(t, r->ended[JOB_DONE]);
	table_positive(t, r->ended[JOB_FAILED] + r->ended[JOB_TIMEOUT]);
	table_positive(t, r->ended[JOB_CANCELLED]);
	table_duration(t, r->device_s);
	table_duration(t, mean(r->waited_s, r->started));
	table_duration(t, mean(r->completion_s, r->ended[JOB_DONE]));
	table_duration(t, r->lost_device_s > 0 ? r->lost_device_s : (double)NAN);
	table_text(t, format_energy(past_energy_j(r)).s);
	table_positive(t, r->adapted);
	table_cell_if(t, isfinite(gain), "%.2fx", gain);
}

void past_print_table(const struct past *p, const struct output *out)
{
	struct table_column columns[] = {
		{ .heading = headings[p->period.by], .flexible = p->period.by != PAST_DAY,
		  .min_width = 10, .room = p->period.by == PAST_DAY ? 0 : 16 },
		{ .heading = "JOBS", .right = true },
		{ .heading = "DONE", .right = true },
		{ .heading = "FAILED", .right = true },
		{ .heading = "CANCELLED", .right = true, .leave_out = 1 },
		{ .heading = "DEVICE TIME", .right = true },
		{ .heading = "WAITED", .right = true },
		{ .heading = "TOOK", .right = true },
		{ .heading = "LOST", .right = true, .leave_out = 3 },
		{ .heading = "ENERGY", .right = true, .leave_out = 4 },
		{ .heading = "ADAPTED", .right = true, .leave_out = 5 },
		{ .heading = "GAIN", .right = true, .leave_out = 2 },
	};
	struct table t;

	if (p->n == 0) {
		fputs("No job ran then.\n", out->file);
		return;
	}
	table_begin(&t, columns);
	for (int i = 0; i < p->n; i++)
		add_row(&t, p->rows[i].key, &p->rows[i]);
	add_row(&t, "all", &p->total);
	table_style(&t, STYLE_BOLD);
	table_end(&t, out);
}

/* --- CSV --- */

static void add_line(struct text *t, const struct past_row *r)
{
	const double numbers[] = {
		r->device_s, mean(r->waited_s, r->started),
		mean(r->completion_s, r->ended[JOB_DONE]), r->lost_device_s, past_gain(r),
		past_energy_j(r), past_utilization(r),
		r->used_device_bytes > 0 ? (double)r->used_device_bytes : (double)NAN,
	};

	csv_add(t, r->key);
	text_addf(t, ",%d,%d,%d,%d,%d", r->jobs, r->ended[JOB_DONE], r->ended[JOB_FAILED],
		  r->ended[JOB_TIMEOUT], r->ended[JOB_CANCELLED]);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		text_add(t, ",");
		csv_add_number(t, numbers[i]);
	}
	text_addf(t, ",%d\n", r->adapted);
}

void past_print_csv(const struct past *p, FILE *out)
{
	struct text t = TEXT_INIT;

	text_addf(&t, "%s,jobs,done,failed,timeout,cancelled,device_s,mean_wait_s,"
		  "mean_completion_s,lost_device_s,gain,energy_j,mean_utilization,"
		  "used_device_memory_bytes,adapted\n",
		  past_key_names[p->period.by]);
	for (int i = 0; i < p->n; i++)
		add_line(&t, &p->rows[i]);
	fwrite(t.data, 1, t.length, out);
	text_release(&t);
}

/* --- JSON --- */

static void print_row(struct json *j, const char *key, const struct past_row *r)
{
	json_object(j, key);
	if (r->key)
		json_string(j, "key", r->key);
	json_integer(j, "jobs", r->jobs);
	for (int state = 0; state < N_JOB_STATES; state++)
		if (job_has_ended((enum job_state)state))
			json_integer(j, job_state_name((enum job_state)state), r->ended[state]);
	json_number(j, "device_s", r->device_s);
	json_number(j, "mean_wait_s", mean(r->waited_s, r->started));
	json_number(j, "mean_completion_s", mean(r->completion_s, r->ended[JOB_DONE]));
	json_number(j, "lost_device_s", r->lost_device_s);
	json_number(j, "gain", past_gain(r));
	json_number(j, "energy_j", past_energy_j(r));
	json_number(j, "mean_utilization", past_utilization(r));
	json_positive(j, "used_device_memory_bytes", r->used_device_bytes);
	json_integer(j, "adapted", r->adapted);
	json_end(j);
}

void past_print_json(const struct past *p, FILE *out)
{
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	json_number(&j, "since_s", p->period.since_s);
	json_number(&j, "now_s", p->period.now_s);
	json_string(&j, "by", past_key_names[p->period.by]);
	json_array(&j, "rows");
	for (int i = 0; i < p->n; i++)
		print_row(&j, NULL, &p->rows[i]);
	json_end(&j);
	print_row(&j, "total", &p->total);
	json_end(&j);
}

/* Draws by gnuplot what jobs took: device time by row on the left, with the part whose work was
 * lost; mean times of waiting and to the end on the right. */

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
	text_addf(&t, "set multiplot layout 1,2 title 'jobs by %s' font ',13'\n",
		  past_key_names[p->period.by]);
	text_addf(&t, "set style data histograms\n"
		  "set style fill solid 0.85 noborder\n"
		  "set boxwidth 0.8 relative\n"
		  "set yrange [0:*]\n"
		  "set ylabel '%s'\n"
		  "set title 'device time'\n"
		  "set style histogram rowstacked\n"
		  "plot $rows using 1 lc rgb '#0b6e99' title 'kept', "
		  "'' using 2 lc rgb '#c0203a' title 'lost'\n", d.device.name);
	text_addf(&t, "set ylabel '%s'\n"
		  "set title 'mean of a job'\n"
		  "set style histogram clustered\n"
		  "plot $rows using 3 lc rgb '#e08a1e' title 'waited', "
		  "'' using 4 lc rgb '#7a9e3a' title 'from submission to end'\n"
		  "unset multiplot\n", d.mean.name);
	rc = picture_draw(t.data, path, err);
	text_release(&t);
	return rc;
}
