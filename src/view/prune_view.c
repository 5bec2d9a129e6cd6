/* prune_view.c - a row for each job that was pruned, and a line that adds up. */
#include "pollux/prune_view.h"

#include "pollux/report.h"

static const struct table_column columns[] = {
	{ .heading = "ID", .right = true },
	{ .heading = "NAME", .room = 12 },
	{ .heading = "STATE" },
	{ .heading = "ENDED", .right = true },
	{ .heading = "LOG", .right = true },
	{ .heading = "CHECKPOINTS", .right = true },
	{ .heading = "RECORD" },
};

static void add_bytes(struct table *t, double bytes)
{
	table_text(t, bytes > 0 ? format_bytes(bytes).s : "-");
}

void prune_print_jobs(const struct prune_result *r, double now_s, struct output *out)
{
	struct table t;

	if (r->count == 0)
		return;
	table_begin(&t, columns);
	for (int i = 0; i < r->count; i++) {
		const struct pruned *p = &r->items[i];

		table_cell(&t, "%lld", (long long)p->job.id);
		table_text(&t, p->job.name);
		table_text(&t, job_state_name(p->job.state));
		table_cell(&t, "%s ago", format_duration(now_s - p->job.end_time_s).s);
		add_bytes(&t, p->log_bytes);
		add_bytes(&t, p->checkpoint_bytes);
		table_text(&t, p->record ? "removed" : "stays");
	}
	table_end(&t, out);
}

void prune_print_total(const struct prune_result *r, bool dry_run, FILE *out)
{
	struct text t = TEXT_INIT;

	text_addf(&t, "%d job%s: %s of logs and checkpoints and %d record%s %s", r->count,
		  plural(r->count), format_bytes(r->bytes).s, r->records, plural(r->records),
		  dry_run ? "would be removed" : "removed");
	if (r->records_kept > 0)
		text_addf(&t, "; %d record%s %s: models rest on %s", r->records_kept,
			  plural(r->records_kept), r->records_kept == 1 ? "stays" : "stay",
			  r->records_kept == 1 ? "it" : "them");
	if (r->snapshots > 0)
		text_addf(&t, "; %d snapshot%s of code %s", r->snapshots, plural(r->snapshots),
			  dry_run ? "would be needed by a job less" : "removed");
	output_wrapped(out, terminal_width(out), 0, t.data);
	text_release(&t);
	for (size_t i = 0; i < r->kept_files.count; i++) {
		fputs("kept, for a run made it in a snapshot of code, which stays until you have "
		      "moved what is yours: ", out);
		output_clean(out, r->kept_files.items[i]);
		fputc('\n', out);
	}
}
