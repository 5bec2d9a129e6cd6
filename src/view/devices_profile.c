/* devices_profile.c - prints the measurements of each kind of device in two tables, or as JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "pollux/report.h"
#include "pollux/view.h"

#define WIDTHS_MAX 4		/* of products that are shown side by side */

/* --- numbers --- */

/* "12.3", or "12.3*" if the measurement never became steady. */
static void cell_rate(struct table *t, const struct device_measurement *m, double rate)
{
	int decimals = rate >= 100 ? 0 : rate >= 10 ? 1 : rate >= 0.1 ? 2 : 4;

	table_cell(t, "%.*f%s", decimals, rate, m->steady ? "" : "*");
}

static void cell_spread(struct table *t, const struct device_measurement *m)
{
	table_cell(t, "%.0f%%", 100 * m->time_sd_s / m->time_s);
}

/* "64K": powers of two. */
static void cell_bytes(struct table *t, int64_t bytes)
{
	static const char units[] = "BKMGT";
	int u = 0;

	for (; bytes >= 1024 && bytes % 1024 == 0 && u < 4; u++)
		bytes /= 1024;
	table_cell_if(t, bytes > 0, "%lld%c", (long long)bytes, units[u]);
}

/* --- products --- */

struct products {
	const struct measure_result *result;
	int64_t widths[WIDTHS_MAX];
	int n_widths;
	double unit;			/* FLOP/s: 1e9 or 1e12 */
};

static const struct device_measurement *product_of(const struct products *p, const char *variant,
						   int64_t m, int64_t width)
{
	for (int i = 0; i < p->result->list.count; i++) {
		const struct device_measurement *x = &p->result->list.items[i];

		if (x->what == MEASURED_PRODUCT && x->m == m && x->n == width &&
		    !strcmp(x->variant, variant))
			return x;
	}
	return NULL;
}

/* True if measurement i is a product, and the first one of its row in the table. */
static bool begins_row(const struct measure_result *r, int i)
{
	const struct device_measurement *m = &r->list.items[i];

	for (int j = 0; j < i; j++)
		if (r->list.items[j].what == MEASURED_PRODUCT && r->list.items[j].m == m->m &&
		    !strcmp(r->list.items[j].variant, m->variant))
			return false;
	return m->what == MEASURED_PRODUCT;
}

static void add_row(struct table *t, const struct products *p,
		    const struct device_measurement *first)
{
	double best = 0, peak = measure_peak_of(p->result, first->variant);

	table_text(t, first->variant);
	table_cell(t, "%lld", (long long)first->m);
	for (int w = 0; w < p->n_widths; w++) {
		const struct device_measurement *m =
			product_of(p, first->variant, first->m, p->widths[w]);

		if (!m) {
			table_text(t, "-");
			table_text(t, "");
			continue;
		}
		best = fmax(best, device_measurement_flops(m));
		cell_rate(t, m, device_measurement_flops(m) / p->unit);
		cell_spread(t, m);
	}
	table_cell_if(t, peak > 0, "%.0f%%", peak > 0 ? 100 * best / peak : (double)NAN);
}

static void print_products(const struct measure_result *r, const struct output *out)
{
	struct table_column columns[3 + 2 * WIDTHS_MAX] = { { .heading = "TYPE" },
							    { .heading = "M", .right = true } };
	struct products p = { .result = r };
	char *headings[WIDTHS_MAX];
	struct table t;
	int c = 2;
	double most = 0;

	for (int i = 0; i < p.result->list.count; i++) {
		const struct device_measurement *m = &p.result->list.items[i];
		int w = 0;

		if (m->what != MEASURED_PRODUCT)
			continue;
		most = fmax(most, device_measurement_flops(m));
		while (w < p.n_widths && p.widths[w] != m->n)
			w++;
		if (w == p.n_widths && w < WIDTHS_MAX)
			p.widths[p.n_widths++] = m->n;
	}
	p.unit = most >= 1e12 ? 1e12 : 1e9;
	if (p.n_widths == 0)
		return;
	for (int w = 0; w < p.n_widths; w++) {
		headings[w] = xasprintf("W=%lld", (long long)p.widths[w]);
		columns[c++] = (struct table_column){ .heading = headings[w], .right = true };
		columns[c++] = (struct table_column){ .heading = "+-", .right = true };
	}
	columns[c++] = (struct table_column){ .heading = "OF PEAK", .right = true };
	fprintf(out->file, "\nproducts of matrices, M x W by W x W, %cFLOP/s\n",
		p.unit > 1e9 ? 'T' : 'G');
	table_init(&t, columns, c);
	for (int i = 0; i < r->list.count; i++)
		if (begins_row(r, i))
			add_row(&t, &p, &r->list.items[i]);
	table_end(&t, out);
	for (int w = 0; w < p.n_widths; w++)
		free(headings[w]);
	if (r->peak_basis[0])
		fprintf(out->file, "peak: %s\n", r->peak_basis);
}

/* --- all others --- */

static void print_others(const struct measure_result *r, const struct output *out)
{
	static const struct table_column columns[] = {
		{ .heading = "WHAT" },
		{ .heading = "HOW" },
		{ .heading = "DEVICES", .right = true },
		{ .heading = "SIZE", .right = true },
		{ .heading = "TIME", .right = true },
		{ .heading = "+-", .right = true },
		{ .heading = "GB/S", .right = true },
	};
	struct table t;
	int n = 0;

	table_begin(&t, columns);
	for (int i = 0; i < r->list.count; i++)
		if (r->list.items[i].what != MEASURED_PRODUCT) {
			const struct device_measurement *m = &r->list.items[i];
			double bytes_per_s = device_measurement_bytes_per_s(m);

			table_text(&t, measured_names.names[m->what]);
			table_text(&t, m->variant[0] ? m->variant : "-");
			table_cell(&t, "%d", m->devices);
			cell_bytes(&t, m->bytes);
			table_cell(&t, "%s%s", format_span(m->time_s).s, m->steady ? "" : "*");
			cell_spread(&t, m);
			if (bytes_per_s > 0)
				cell_rate(&t, m, bytes_per_s / 1e9);
			else
				table_text(&t, "-");
			n++;
		}
	if (n > 0) {
		fputs("\ncopies and exchanges\n", out->file);
		table_print(&t, out);
	}
	table_release(&t);
}

/* --- words --- */

static bool any_unsteady(const struct measure_result *r)
{
	for (int i = 0; i < r->list.count; i++)
		if (!r->list.items[i].steady)
			return true;
	return false;
}

static void print_kind(const struct profiled_kind *kind, const struct output *out)
{
	const struct measure_result *r = &kind->result;

	fprintf(out->file, "%s (%s)\n", kind->device->kind, kind->device->id);
	print_products(r, out);
	print_others(r, out);
	if (any_unsteady(r) || r->notes.count > 0)
		fputc('\n', out->file);
	if (any_unsteady(r))
		output_remark(out->file, "*", 2,
			      "not steady: when time was up, the mean was not known within 2 % (95 "
			      "% confidence)");
	for (size_t i = 0; i < r->notes.count; i++)
		output_remark(out->file, "-", 2, r->notes.items[i]);
}

void devices_profile_print(const struct devices_profile *p, const struct output *out)
{
	for (int i = 0; i < p->n_kinds; i++) {
		if (i > 0)
			fputc('\n', out->file);
		print_kind(&p->kinds[i], out);
	}
	for (size_t i = 0; i < p->left_out.count; i++) {
		fputc('\n', out->file);
		output_remark(out->file, "not measured:", 2, p->left_out.items[i]);
	}
}

/* --- pollux profile --devices --json --- */

/* The schema is in pollux-profile(1). */

#define SCHEMA_VERSION 1

static void print_measurement(struct json *j, const struct measure_result *r,
			      const struct device_measurement *m)
{
	double flops = device_measurement_flops(m), bytes_per_s = device_measurement_bytes_per_s(m);
	bool product = m->what == MEASURED_PRODUCT;

	json_object(j, NULL);
	json_string(j, "what", measured_names.names[m->what]);
	json_text(j, "variant", m->variant);
	json_integer(j, "devices", m->devices);
	json_positive(j, "m", m->m);
	json_positive(j, "n", m->n);
	json_positive(j, "k", m->k);
	json_positive(j, "bytes", m->bytes);
	json_number(j, "time_s", m->time_s);
	json_number(j, "time_sd_s", m->time_sd_s);
	json_integer(j, "repetitions", m->repetitions);
	json_bool(j, "steady", m->steady);
	json_number(j, "flops", flops);
	json_number(j, "bytes_per_s", bytes_per_s);
	json_number(j, "peak_ratio",
		    product			 ? flops / measure_peak_of(r, m->variant)
		    : m->what == MEASURED_MEMORY ? bytes_per_s / measure_peak_of(r, "memory")
						 : (double)NAN);
	json_end(j);
}

static void print_json_kind(struct json *j, const struct profiled_kind *kind)
{
	const struct measure_result *r = &kind->result;

	json_object(j, NULL);
	json_string(j, "device_kind", kind->device->kind);
	json_string(j, "device_id", kind->device->id);
	json_array(j, "measurements");
	for (int i = 0; i < r->list.count; i++)
		print_measurement(j, r, &r->list.items[i]);
	json_end(j);
	json_array(j, "peaks");
	for (int i = 0; i < r->n_peaks; i++) {
		json_object(j, NULL);
		json_string(j, "variant", r->peaks[i].variant);
		json_number(j, "per_s", r->peaks[i].per_s);
		json_end(j);
	}
	json_end(j);
	json_text(j, "peak_basis", r->peak_basis);
	json_strings(j, "notes", &r->notes);
	json_end(j);
}

void devices_profile_print_json(const struct devices_profile *p, FILE *out)
{
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	json_integer(&j, "schema_version", SCHEMA_VERSION);
	json_number(&j, "time_s", p->time_s);
	json_bool(&j, "quick", p->quick);
	json_array(&j, "kinds");
	for (int i = 0; i < p->n_kinds; i++)
		print_json_kind(&j, &p->kinds[i]);
	json_end(&j);
	json_strings(&j, "left_out", &p->left_out);
	json_end(&j);
}
