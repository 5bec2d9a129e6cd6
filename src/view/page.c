/* page.c - prints the content of the page: a table of jobs, the timeline, running jobs, groups. */
#include <math.h>
#include <string.h>

#include "parts.h"
#include "pollux/text.h"

#define ENDED_SHOWN 30

/* --- texts --- */

void page_add_text(struct text *out, const char *s)
{
	for (size_t n; *s; s += n ? n : 1) {
		n = utf8_length(s);
		if (*s == '\t' || *s == '\n')
			text_add(out, " ");
		else if (n == 0 || utf8_is_control(s, n))
			text_add(out, "\xef\xbf\xbd");	/* the replacement character */
		else if (*s == '&')
			text_add(out, "&amp;");
		else if (*s == '<')
			text_add(out, "&lt;");
		else if (*s == '>')
			text_add(out, "&gt;");
		else if (*s == '"')
			text_add(out, "&quot;");
		else if (*s == '\'')
			text_add(out, "&#39;");
		else
			text_add_bytes(out, s, n);
	}
}

static void add_between(struct text *out, const char *before, const char *s, const char *after)
{
	text_add(out, before);
	page_add_text(out, s);
	text_add(out, after);
}

static void add_cell(struct text *out, const char *class, const char *s)
{
	text_addf(out, "<td class=\"%s\">", class);
	add_between(out, "", s, "</td>");
}

/* Adds a cell with a text that was built for the cell; the text is empty afterwards. */
static void add_built(struct text *out, const char *class, struct text *t)
{
	add_cell(out, class, t->data);
	text_clear(t);
}

static void add_id(struct text *out, int64_t id)
{
	text_addf(out, "<tr><td class=\"n\"><i class=\"%s\"></i>%lld</td>", page_look(id).s,
		  (long long)id);
}

/* --- the table of jobs --- */

static bool has_ended(const struct status_job *item)
{
	return item->state >= SHOWN_DONE;
}

/* When it ended, or is to end. */
static void add_end(struct text *t, const struct page *p, const struct status_job *item)
{
	if (has_ended(item))
		text_add(t, format_time(item->job->end_time_s, p->now_s).s);
	else if (isfinite(item->likely_end_s))
		text_addf(t, "likely %s; %s to %s", format_time(item->likely_end_s, p->now_s).s,
			  format_time(item->end_from_s, p->now_s).s,
			  format_time(item->end_to_s, p->now_s).s);
	else if (isfinite(item->expected_s))
		text_addf(t, "in ~%s", format_duration(item->expected_s).s);
	else if (isfinite(item->eta_s))
		text_addf(t, "in %s", format_duration(item->eta_s).s);
	else
		text_add(t, "-");
}

static void add_job_row(struct text *out, const struct page *p, const struct status_job *item)
{
	double batch_size = has_ended(item) ? p->last_batch[item - p->status.items]
					    : status_batch(item);
	struct text t = TEXT_INIT;

	add_id(out, item->job->id);
	if (item->run)
		text_addf(out, "<td class=\"name\"><a href=\"#job-%lld\">",
			  (long long)item->job->id);
	else
		text_add(out, "<td class=\"name\">");
	status_add_name(&t, &p->status, item->job);
	page_add_text(out, t.data);
	text_clear(&t);
	text_addf(out, "%s</td>", item->run ? "</a>" : "");
	add_cell(out, "", shown_state_name(item->state));
	if (item->run)
		status_add_devices(&t, item->run);
	add_built(out, "", &t);
	status_add_done(&t, item);
	add_built(out, "n", &t);
	if (isfinite(batch_size))
		text_addf(&t, "%.0f", batch_size);
	add_built(out, "n", &t);
	if (has_ended(item) && isfinite(item->job->progress.samples))
		text_add(&t, format_count(item->job->progress.samples).s);
	else if (isfinite(item->throughput_eps))
		text_addf(&t, "%s/s", format_count(item->throughput_eps).s);
	add_built(out, "n", &t);
	add_cell(out, "n", format_duration(item->run_time_s).s);
	add_end(&t, p, item);
	add_built(out, "", &t);
	if (has_ended(item))
		status_add_end(&t, item->job);
	else
		status_add_why(&t, &p->status, item);
	add_built(out, "why", &t);
	text_add(out, "</tr>\n");
	text_release(&t);
}

/* The newest ended jobs come first, and no more than ENDED_SHOWN of them. */
static void add_jobs(struct text *out, const struct page *p, bool ended)
{
	int n = 0, left_out = 0;

	for (int k = 0; k < p->status.jobs.count; k++) {
		int i = ended ? p->status.jobs.count - 1 - k : k;

		if (has_ended(&p->status.items[i]) != ended)
			continue;
		if (ended && n >= ENDED_SHOWN) {
			left_out++;
			continue;
		}
		if (n++ == 0)
			text_addf(out, "<div class=\"wide jobs\"><table><thead><tr>"
				  "<th class=\"n\">job</th><th>name</th><th>state</th>"
				  "<th>devices</th><th class=\"n\">done</th>"
				  "<th class=\"n\">batch</th><th class=\"n\">samples</th>"
				  "<th class=\"n\">ran for</th><th>%s</th><th>%s</th></tr>"
				  "</thead><tbody>\n", ended ? "ended" : "ends",
				  ended ? "how" : "why");
		add_job_row(out, p, &p->status.items[i]);
	}
	text_add(out, n ? "</tbody></table></div>\n" : "<p>None.</p>\n");
	if (left_out)
		text_addf(out, "<p class=\"dim\">and %d more</p>\n", left_out);
}

/* --- running jobs --- */

static const char *title_of(const char *name)
{
	if (!strcmp(name, CURVE_THROUGHPUT))
		return "throughput, samples/s";
	return strcmp(name, CURVE_BATCH_SIZE) ? name : "batch size";
}

static void add_running(struct text *out, const struct page *p, const struct page_job *job)
{
	const struct job *j = job->item->job;
	struct text t = TEXT_INIT;

	text_addf(out, "<section id=\"job-%lld\"><h3>%lld ", (long long)j->id, (long long)j->id);
	status_add_name(&t, &p->status, j);
	add_between(out, "", t.data, "</h3>\n");
	text_clear(&t);
	if (job->item->line) {
		status_add_words(&t, &job->item->line->argv, OUTPUT_CLEAN_BYTES);
		t.data[utf8_clip(t.data, t.length < OUTPUT_CLEAN_BYTES ? t.length
								       : OUTPUT_CLEAN_BYTES)] =
			'\0';
		add_between(out, "<pre>", t.data, "</pre>\n");
		text_clear(&t);
	}
	status_add_why(&t, &p->status, job->item);
	add_between(out, "<p>", t.data, "</p>\n<div class=\"charts\">\n");
	for (int i = 0; i < job->curves.count; i++) {
		const struct chart_line line = { &job->curves.items[i], j->id };

		page_add_chart(out, title_of(line.curve->name), &line, 1);
	}
	text_add(out, "</div></section>\n");
	text_release(&t);
}

/* --- groups --- */

static void add_result_row(struct text *out, const struct results *r, int i)
{
	const struct job *job = &r->jobs.items[i];
	struct text t = TEXT_INIT;

	add_id(out, job->id);
	for (size_t k = 0; k < job->parameters.count; k++)
		text_addf(&t, "%s%s", k ? " " : "", job->parameters.items[k]);
	add_built(out, "name", &t);
	add_cell(out, "", results_state(job));
	for (int c = 0; c < r->n_columns; c++) {
		const struct job_metric *m = result_of(r, i, c);

		if (m)
			text_addf(&t, "%s (%s)", value_format(result_best(&r->columns[c], m), 4).s,
				  value_format(m->last, 4).s);
		add_built(out, "n", &t);
	}
	text_add(out, "</tr>\n");
	text_release(&t);
}

static void add_group_chart(struct text *out, const struct page_group *g, const char *metric)
{
	struct chart_line lines[PAGE_CHART_LINES];
	int n = 0;

	for (int i = 0; i < g->results.jobs.count && n < PAGE_CHART_LINES; i++) {
		const struct curve_list *list = &g->curves[i];
		int k = 0;

		while (k < list->count && strcmp(list->items[k].name, metric) != 0)
			k++;
		if (k < list->count)
			lines[n++] = (struct chart_line){ &list->items[k],
							  g->results.jobs.items[i].id };
	}
	if (n)
		page_add_chart(out, metric, lines, n);
}

static void add_group(struct text *out, const struct page_group *g)
{
	const struct results *r = &g->results;
	struct text name = TEXT_INIT;

	status_add_group_name(&name, g->group.name);
	text_addf(out, "<section id=\"group-%lld\"><h3>group %lld: ", (long long)g->group.id,
		  (long long)g->group.id);
	add_between(out, "", name.data, "</h3>\n<div class=\"charts\">\n");
	text_release(&name);
	for (int c = 0; c < r->n_columns; c++)
		add_group_chart(out, g, r->columns[c].name);
	text_add(out, "</div>\n<div class=\"wide\"><table><thead><tr><th class=\"n\">job</th>"
		 "<th>parameters</th><th>state</th>");
	for (int c = 0; c < r->n_columns; c++)
		add_between(out, "<th class=\"n\">", r->columns[c].name, ": best (last)</th>");
	text_add(out, "</tr></thead><tbody>\n");
	for (int i = 0; i < r->jobs.count; i++)
		add_result_row(out, r, i);
	text_add(out, "</tbody></table></div></section>\n");
}

/* --- the content --- */

static void add_summary(struct text *out, const struct page *p)
{
	const struct status *s = &p->status;

	add_between(out, "<header><h1>", page_host().s, "</h1>");
	text_addf(out, "<p>%d device%s in use", s->n_devices_in_use, plural(s->n_devices_in_use));
	if (s->n_cpu_jobs)
		text_addf(out, ", %d CPU job%s", s->n_cpu_jobs, plural(s->n_cpu_jobs));
	text_addf(out, "; %d running, ", s->n_running);
	if (s->n_suspended)
		text_addf(out, "%d suspended, ", s->n_suspended);
	text_addf(out, "%d waiting, ", s->n_waiting);
	if (s->n_paused)
		text_addf(out, "%d paused, ", s->n_paused);
	if (s->n_held)
		text_addf(out, "%d held, ", s->n_held);
	text_addf(out, "%d ended since %s</p>\n", s->n_ended,
		  format_time(p->since_s, p->now_s).s);
	for (int i = 0; i < 2; i++) {
		const char *words = i ? s->hung_pass.data : s->disk_full.data;

		if (*words)
			add_between(out, "<p><strong>", words, "</strong></p>\n");
	}
	text_addf(out, "<p class=\"dim\">as of %s</p></header>\n",
		  format_time(p->now_s, p->now_s).s);
}

static void begin_section(struct text *out, const char *id, const char *title)
{
	text_addf(out, "<section id=\"%s\"><h2>%s</h2>\n", id, title);
}

void page_print(const struct page *p, struct text *out)
{
	add_summary(out, p);
	text_addf(out, "<nav><a href=\"#queue\">queue</a><a href=\"#devices\">devices</a>"
		  "<a href=\"#running\">running</a>%s<a href=\"#ended\">ended</a></nav>\n",
		  p->n_groups ? "<a href=\"#groups\">groups</a>" : "");
	begin_section(out, "queue", "Queue");
	add_jobs(out, p, false);
	text_add(out, "</section>\n");
	begin_section(out, "devices", "Devices");
	page_add_timeline(out, p);
	text_add(out, "</section>\n");
	begin_section(out, "running", "Running");
	for (int i = 0; i < p->n_jobs; i++)
		add_running(out, p, &p->jobs[i]);
	text_add(out, p->n_jobs ? "</section>\n" : "<p>None.</p></section>\n");
	if (p->n_groups)
		begin_section(out, "groups", "Groups");
	for (int i = 0; i < p->n_groups; i++)
		add_group(out, &p->groups[i]);
	text_add(out, p->n_groups ? "</section>\n" : "");
	begin_section(out, "ended", "Ended");
	add_jobs(out, p, true);
	text_add(out, "</section>\n");
}
