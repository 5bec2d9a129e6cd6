/* doctor_view.c - what 'pollux doctor' and 'pollux prune' print. */
#include <string.h>

#include "pollux/report.h"
#include "pollux/view.h"

/* --- findings as text and as JSON --- */

#define INDENT 14	/* where output_line begins values */

static const char *const marks[] = {
	[FINDING_LOOK] = "", [FINDING_STOPS] = "NO JOB STARTS: ", [FINDING_DAMAGE] = "DAMAGED: ",
};

void doctor_print(const struct doctor *d, const struct output *out)
{
	for (int i = 0; i < d->n_sections; i++) {
		const struct doctor_section *s = &d->sections[i];
		const char *name = s->name;
		struct text line = TEXT_INIT;

		if (s->n_findings == 0) {
			text_add(&line, "all is well");
			if (s->state.length)
				text_addf(&line, ": %s", s->state.data);
			output_textline(out, name, &line);
		}
		for (int k = 0; k < d->count; k++) {
			const struct finding *f = &d->items[k];

			if (strcmp(f->section, s->name) != 0)
				continue;
			text_addf(&line, "%s%s", marks[f->severity], f->text);
			output_textline(out, name, &line);
			if (f->mend)
				output_sayf(out->file, "%*smend: %s", INDENT, "", f->mend);
			name = "";
		}
		text_release(&line);
	}
}

void doctor_print_json(const struct doctor *d, FILE *out)
{
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	json_integer(&j, "exit_status", doctor_exit_status(d));
	json_array(&j, "findings");
	for (int i = 0; i < d->count; i++) {
		json_object(&j, NULL);
		json_string(&j, "section", d->items[i].section);
		json_string(&j, "severity", finding_severity_name(d->items[i].severity));
		json_string(&j, "text", d->items[i].text);
		json_string(&j, "mend", d->items[i].mend);
		json_end(&j);
	}
	json_end(&j);
	json_array(&j, "sections");
	for (int i = 0; i < d->n_sections; i++) {
		json_object(&j, NULL);
		json_string(&j, "name", d->sections[i].name);
		json_integer(&j, "findings", d->sections[i].n_findings);
		json_text(&j, "state", d->sections[i].state.data);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
}

/* --- repair --- */

static bool print_table_lost(const struct repaired_table *t, FILE *out)
{
	if (t->unread == 0 && t->orphans == 0)
		return false;
	fprintf(out, "  %-20s %lld rows", t->name, (long long)(t->copied - t->orphans));
	if (t->unread > 0)
		fprintf(out, ", %lld could not be read", (long long)t->unread);
	else if (t->unread < 0)
		fprintf(out, ", others could not be read");
	if (t->orphans > 0)
		fprintf(out, ", %lld dropped with what they belong to", (long long)t->orphans);
	fputc('\n', out);
	return true;
}

bool doctor_print_repair(const struct store_repair *r, FILE *out)
{
	bool lost = false;
	long long rows = 0;

	for (int i = 0; i < r->count; i++) {
		lost = print_table_lost(&r->items[i], out) || lost;
		rows += r->items[i].copied - r->items[i].orphans;
	}
	if (r->identity == IDENTITY_FROM_LOGS)
		fputs("  the store's name was lost, and is taken from the files in 'logs'\n", out);
	if (r->identity == IDENTITY_NEW)
		fputs("  the store's name was lost, and no file tells it: the store has a new one. "
		      "Logs and\n  checkpoints of its jobs count as another store's: they are "
		      "renamed, and not used\n", out);
	fprintf(out, "The new store has %lld rows; %s. The damaged store is kept:\n", rows,
		lost ? "the lines above say what was lost" : "nothing was lost");
	output_sayf(out, "%s", r->kept);
	return lost;
}

/* --- a row for each job that was pruned, and a line that adds up --- */

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
