/* devices_table.c - prints the devices for people: a table for each sort, and remarks below. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"
#include "pollux/mem.h"

void devices_add_holder(struct text *t, const struct devices_view *v, int index)
{
	int64_t job_id = devices_holder(v, v->list.items[index].id);
	const struct device_user *user = device_user_worst(&v->users, index);

	if (job_id)
		text_addf(t, "job %lld", (long long)job_id);
	else if (v->lock_holders[index])
		text_add(t, v->lock_holders[index]);
	else if (user && user->info.lives)
		text_addf(t, "pid %lld (%s)", (long long)user->process.pid, user->info.owner);
	else if (user && user->info.hidden)
		text_addf(t, "pid %lld (not visible)", (long long)user->process.pid);
	else if (user && user->process.pid == 0)
		text_add(t, "unknown");
	else if (user)
		text_addf(t, "pid %lld", (long long)user->process.pid);
}

static void add_holder(struct table *t, const struct devices_view *v, int index)
{
	struct text who = TEXT_INIT;

	devices_add_holder(&who, v, index);
	table_text(t, who.length ? who.data : "-");
	text_release(&who);
}

/* --- slots --- */

#define OTHER_COLUMNS 34	/* least width of the columns before KIND */

static void add_slot(struct table *t, const struct devices_view *v, int index, int width)
{
	const struct device *d = &v->list.items[index];

	table_text(t, d->name);
	table_cell(t, "%d", d->cores);
	add_holder(t, v, index);
	table_text(t, d->binding);
	if (d->usable) {
		const char *comma = strrchr(d->kind, ','), *tail = comma ? comma : "";
		int room = width - OTHER_COLUMNS - (int)strlen(tail) - 2;

		/* The kinds of slots differ at their ends, "MODEL, 1 core shared by 2 slots", so
		 * a narrow table clips the model, not the end. */
		if (width == 0 || !comma || comma - d->kind <= room + 2)
			table_text(t, d->kind);
		else
			table_cell(t, "%.*s..%s", room > 0 ? room : 0, d->kind, tail);
		return;
	}
	table_cell(t, "not usable: %s", d->reason);
	table_style(t, STYLE_RED);
}

/* --- GPUs --- */

static void add_gib(struct table *t, int64_t bytes, int64_t unknown)
{
	table_cell_if(t, bytes != unknown, "%.1f", (double)bytes / (1 << 30));
}

static void add_gpu(struct table *t, const struct devices_view *v, int index)
{
	const struct device *d = &v->list.items[index];

	table_text(t, d->name);
	table_text(t, d->usable ? "yes" : "no");
	add_gib(t, d->now.free_bytes, -1);
	add_gib(t, d->memory_bytes, 0);
	table_cell_if(t, !isnan(d->now.utilization), "%.0f %%", 100 * d->now.utilization);
	table_cell_if(t, !isnan(d->now.temperature_c), "%.0f C", d->now.temperature_c);
	add_holder(t, v, index);
	table_text(t, d->kind);
	if (!d->usable)
		table_style(t, STYLE_RED);
}

static void print_gpus(const struct devices_view *v, int n, const struct output *out)
{
	static const struct table_column columns[] = {
		{ .heading = "ID" },
		{ .heading = "USE" },
		{ .heading = "FREE GiB", .right = true },
		{ .heading = "OF", .right = true },
		{ .heading = "UTIL", .right = true },
		{ .heading = "TEMP", .right = true },
		{ .heading = "HELD BY", .flexible = true, .min_width = 12 },
		{ .heading = "KIND", .flexible = true, .min_width = 7 },
	};
	struct table t;

	table_begin(&t, columns);
	for (int i = 0; i < n; i++)
		add_gpu(&t, v, i);
	table_end(&t, out);
}

/* --- remarks --- */

static void print_processes(const struct devices_view *v, int index)
{
	for (int i = 0; i < v->users.count; i++) {
		const struct device_user *u = &v->users.items[i];
		char text[DEVICE_USER_SIZE];

		if (u->process.device != index || u->in_place ||
		    u == device_user_worst(&v->users, index))
			continue;
		output_sayf(stdout, "%s: %s%s", v->list.items[index].name,
			    device_user_describe(u, &v->list, text),
			    u->ignored ? "; ignored" : u->blocks ? "" : "; too little to count");
	}
}

/* Prints the reason once for all GPUs that have it, below the first of them. */
static void print_reason(const struct devices_view *v, int n, int index)
{
	const struct device *items = v->list.items;
	struct text names = TEXT_INIT;
	bool said = false;

	for (int i = 0; i < n; i++) {
		if (items[i].usable || strcmp(items[i].reason, items[index].reason) != 0)
			continue;
		said |= i < index;
		text_addf(&names, "%s%s", names.length ? ", " : "", items[i].name);
	}
	text_add(&names, ":");
	if (!said)
		output_remark(stdout, names.data, 4, items[index].reason);
	text_release(&names);
}

static const struct device_words *words_of(const struct device *d)
{
	return device_backend_of(d->id)->words;
}

static void print_remarks(const struct devices_view *v, int n)
{
	const char *advice = NULL;

	for (int i = 0; i < n; i++) {
		const struct device *d = &v->list.items[i];
		char text[DEVICE_USER_SIZE];
		const struct device_user *u = device_user_worst(&v->users, i);

		if (!d->usable)
			print_reason(v, n, i);
		else if (u)	/* the user's process runs beside our own run */
			output_sayf(stdout, "%s: %s, beside its job", d->name,
				    device_user_describe(u, &v->list, text));
		print_processes(v, i);
		/* a power cap is usual */
		if (d->now.slowed_by && strcmp(d->now.slowed_by, "power cap") != 0)
			output_sayf(stdout, "%s: its clock is slowed by %s", d->name,
				    d->now.slowed_by);
		if (v->failed_tests[i])
			output_sayf(stdout, "%s: did not pass its last self-test: %s", d->name,
				    v->failed_tests[i]);
		if (d->now.forgets_state)
			advice = words_of(d)->forgets_state;
	}
	if (advice)
		puts(advice);
}

static bool links_differ(const struct devices_view *v, int n)
{
	for (int a = 0; a < n; a++)
		for (int b = 0; b < a; b++)
			if (devices_link(&v->list, a, b) != devices_link(&v->list, 1, 0))
				return true;
	return false;
}

static void print_links(const struct devices_view *v, int n, const struct output *out)
{
	const struct device_words *words = n ? words_of(&v->list.items[0]) : NULL;
	const char *const names[] = {
		[DEVICE_LINK_FAST] = words ? words->fast_link : "a fast link",
		[DEVICE_LINK_SWITCH] = "PCIe switches", [DEVICE_LINK_NUMA] = "one NUMA node",
	};

	if (n < 2)
		return;
	if (links_differ(v, n)) {
		struct table_column *columns = xcalloc((size_t)n + 1, sizeof(*columns));
		struct table t;

		columns[0].heading = "LINK";
		for (int i = 0; i < n; i++)
			columns[i + 1].heading = v->list.items[i].name;
		table_init(&t, columns, n + 1);
		for (int a = 0; a < n; a++) {
			table_text(&t, v->list.items[a].name);
			for (int b = 0; b < n; b++)
				table_text(&t, a == b ? "-" : devices_link_name(v, a, b));
		}
		putchar('\n');
		table_end(&t, out);
		free(columns);
	} else if (devices_link(&v->list, 0, 1) != DEVICE_LINK_MACHINE)
		printf("All are joined by %s.\n", names[devices_link(&v->list, 0, 1)]);
}

static void print_containment(const struct devices_view *v, const struct output *out)
{
	struct text t = TEXT_INIT;

	if (v->containment == CONTAINED_BY_SLURM)
		return;
	if (v->containment == CONTAINED_BY_GROUP)
		text_addf(&t, "Each run gets a control group of its own in %s.",
			  v->containment_detail.data);
	else
		text_addf(&t, "Each run gets a guardian process, not a control group: %s.",
			  v->containment_detail.data);
	output_wrapped(out->file, out->width, 0, t.data);
	text_release(&t);
}

void devices_print_table(const struct devices_view *v)
{
	struct output out = output_stdout("auto");
	const struct device_backend *backend;
	int n = 0;
	char text[DEVICES_RUNTIME_SIZE];

	/* GPUs come first */
	while (n < v->list.count && (backend = device_backend_of(v->list.items[n].id)) &&
	       backend->is_accelerator)
		n++;
	if (devices_have_nodes(v)) {
		devices_print_nodes(v, &out);
		return;
	}
	if (n > 0)
		print_gpus(v, n, &out);
	if (n > 0 && n < v->list.count)
		putchar('\n');
	if (n < v->list.count) {
		static const struct table_column columns[] = {
			{ .heading = "ID" },
			{ .heading = "CORES", .right = true },
			{ .heading = "HELD BY" },
			{ .heading = "BOUND TO", .flexible = true },
			{ .heading = "KIND", .flexible = true, .min_width = 7 },
		};
		struct table t;

		table_begin(&t, columns);
		for (int i = n; i < v->list.count; i++)
			add_slot(&t, v, i, out.width);
		table_end(&t, &out);
	}
	print_links(v, n, &out);
	putchar('\n');
	print_remarks(v, n);
	for (size_t i = 0; (backend = device_backend_at(i)); i++) {
		if (!backend->words || !*devices_note(&v->list, backend))
			continue;
		backend->describe_runtime(text, sizeof(text));
		printf("%s: %s\n%s: %s\n", backend->words->driver, devices_note(&v->list, backend),
		       backend->words->runtime, text);
	}
	print_containment(v, &out);
}
