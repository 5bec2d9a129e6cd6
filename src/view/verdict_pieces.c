/* verdict_pieces.c - the words in braces of verdict_words.c. */
#include <math.h>
#include <time.h>

#include "parts.h"
#include "pollux/device.h"
#include "pollux/halving.h"
#include "pollux/people.h"
#include "pollux/policy.h"
#include "pollux/share_pair.h"

#define GIB 0x1p30

/* --- numbers --- */

static void add_count(struct text *t, int64_t n, const char *of_one, const char *of_several)
{
	text_add_digits(t, n, 1);
	text_add(t, n == 1 ? of_one : of_several);
}

static void add_n(const struct fact *f, struct text *t)
{
	text_add_digits(t, f->n, 1);
}

static void add_of(const struct fact *f, struct text *t)
{
	text_add_digits(t, f->of, 1);
}

static void add_of_or_none(const struct fact *f, struct text *t)
{
	if (f->of > 0)
		add_of(f, t);
	else
		text_add(t, "none");
}

static void add_cores(const struct fact *f, struct text *t)
{
	add_count(t, f->n, " core", " cores");
}

static void add_cores_taken(const struct fact *f, struct text *t)
{
	text_add_digits(t, f->devices, 1);
}

static void add_cpu_jobs(const struct fact *f, struct text *t)
{
	add_count(t, f->n, " CPU job runs", " CPU jobs run");
}

static void add_one(const struct fact *f, struct text *t)
{
	if (f->n == 1)
		text_add(t, "one");
	else
		add_n(f, t);
}

void add_ordinal(struct text *t, int n)
{
	static const char *const suffix[] = { "th", "st", "nd", "rd" };
	int last = n % 10;

	text_add_digits(t, n, 1);
	text_add(t, suffix[last > 3 || n / 10 % 10 == 1 ? 0 : last]);
}

static void add_nth(const struct fact *f, struct text *t)
{
	add_ordinal(t, f->n);
}

static void add_n_times(const struct fact *f, struct text *t)
{
	add_count(t, f->n, " time", " times");
}

/* "4 to 8" */
static void add_sizes(const struct fact *f, struct text *t)
{
	add_n(f, t);
	if (f->n < f->of)
		text_addf(t, " to %d", f->of);
}

static void add_or_of(const struct fact *f, struct text *t)
{
	if (f->of)
		text_addf(t, " or '-r %d'", f->of);
}

static void add_samples(const struct fact *f, struct text *t)
{
	text_add_digits(t, f->samples, 1);
}

/* --- devices --- */

static void add_devices(const struct fact *f, struct text *t)
{
	add_count(t, f->devices, " device", " devices");
}

static void add_devices_are(const struct fact *f, struct text *t)
{
	add_count(t, f->devices, " device is", " devices are");
}

static void add_range(const struct fact *f, struct text *t)
{
	if (f->n < f->devices)
		text_addf(t, "%d to ", f->n);
	add_devices(f, t);
}

static void add_of_kind(const struct fact *f, struct text *t)
{
	if (f->name)
		text_addf(t, " %s", f->name);
}

static void add_has(const struct fact *f, struct text *t)
{
	add_devices(f, t);
	if (f->name)
		text_addf(t, " of %s", f->name);
	if (f->of)
		text_addf(t, " (%d to %d asked)", f->n, f->of);
}

/* "2 devices on each of 3 nodes" */
static void add_place(const struct fact *f, struct text *t)
{
	add_count(t, f->n, " device", " devices");
	if (f->of > 1)
		text_addf(t, " on each of %d nodes", f->of);
	else
		text_add(t, " on one node");
}

static void add_name(const struct fact *f, struct text *t)
{
	text_add(t, f->name);
}

static void add_kinds(const struct fact *f, struct text *t)
{
	const char *comma = "";

	for (int k = 0; k < SCHED_KINDS; k++)
		if ((unsigned)f->n & 1U << k) {
			text_addf(t, "%s%s", comma, f->kinds[k].name);
			comma = ", ";
		}
}

static void list_devices(const struct fact *f, const bool *in, const char *between, int most,
			 struct text *t)
{
	int count = 0;

	for (int i = 0; i < f->set.of->count; i++)
		if (in[i] && count++ < most)
			text_addf(t, "%s%s", count > 1 ? between : "", f->set.of->items[i].name);
	if (count > most)
		text_addf(t, "%s%d more", between, count - most);
}

static void add_names(const struct fact *f, struct text *t)
{
	list_devices(f, f->set.in, ", ", f->set.of->count, t);
}

#define SET_NAMES 4

static void add_set(const struct fact *f, struct text *t)
{
	list_devices(f, f->set.in, "+", SET_NAMES, t);
}

static void add_other(const struct fact *f, struct text *t)
{
	list_devices(f, f->set.other, "+", SET_NAMES, t);
}

static void add_link(const struct fact *f, struct text *t)
{
	const struct device_backend *backend = device_backend_of(f->set.of->items[0].id);
	const char *const words[] = {
		[DEVICE_LINK_FAST] = backend && backend->words ? backend->words->fast_link
							       : "fast links",
		[DEVICE_LINK_SWITCH] = backend && backend->is_accelerator ? "one switch"
									  : "one cache",
		[DEVICE_LINK_NUMA] = "one NUMA node",
		[DEVICE_LINK_MACHINE] = "one machine",
	};

	text_add(t, words[f->n]);
}

static void add_tier(const struct fact *f, struct text *t)
{
	text_add(t, worst_tier_names.names[f->of]);
}

static void add_kind_options(const struct fact *f, struct text *t)
{
	static const char *const options[] = { "", "--kind", "--not-kind", "--kind or --not-kind" };

	text_add(t, options[f->n]);
}

/* --- jobs --- */

static void add_job(const struct fact *f, struct text *t)
{
	text_add_digits(t, f->job, 1);
}

/* "job 3", "jobs 3 and 5", "jobs 3, 5 and 2 more" */
static void add_jobs(const struct fact *f, struct text *t)
{
	if (f->jobs.n > 0)
		text_add(t, f->jobs.n == 1 ? "job " : "jobs ");
	for (int i = 0; i < f->jobs.n && i < 2; i++) {
		if (i > 0)
			text_add(t, f->jobs.n == 2 ? " and " : ", ");
		text_add_digits(t, f->jobs.first[i], 1);
	}
	if (f->jobs.n > 2)
		text_addf(t, " and %d more", f->jobs.n - 2);
}

/* of a verb */
static void add_s(const struct fact *f, struct text *t)
{
	text_add(t, f->jobs.n > 1 ? "" : "s");
}

static void add_their_slices(const struct fact *f, struct text *t)
{
	text_add(t, f->jobs.n > 1 ? "their slices" : "its slice");
}

static void add_why_kept(const struct fact *f, struct text *t)
{
	static const char *const words[] = {
		[KEPT_BY_WISH] = "",
		[KEPT_SAVED_NOTHING] = "it saved nothing when it was asked to stop",
		[KEPT_NEVER_RESUMED] = "it was never seen to resume (--preempt says that it does)",
		[KEPT_UNSAVED] = "it has saved nothing",
	};

	text_add(t, words[f->why_kept]);
}

static void add_why(const struct fact *f, struct text *t)
{
	text_add(t, f->why);
}

static void add_people(const struct fact *f, struct text *t)
{
	people_describe(f->people, f->n, f->of, t);
}

/* " (gc would be 12 % slower; zero was not measured)" */
static void add_plans(const struct fact *f, struct text *t)
{
	for (int i = 0; i < f->n; i++) {
		text_add(t, i ? "; " : " (");
		verdict_add_fact(&f->plans[i], t);
	}
	if (f->n > 0)
		text_add(t, ")");
}

static void add_rung(const struct fact *f, struct text *t)
{
	const struct halving *h = f->rung.of;
	const struct halving_run *run = f->rung.run;
	double value = run->values[run->rung - 1];

	text_addf(t, "rung %d of %d (%.0f samples): %s %s is ", run->rung, h->n_rungs,
		  h->rungs[run->rung - 1], h->metric, value_format(value, 4).s);
	add_ordinal(t, run->rank);
	text_addf(t, " of %d%s", run->of,
		  isfinite(value) ? "" : ": it has diverged, and goes no further");
}

/* --- times --- */

/* "26s", "4m20s", "2h05m": two digits, so that a model that moves a little leaves a sentence as it
 * is. */
static void add_duration(const struct fact *f, struct text *t)
{
	double x = fmin(fmax(f->seconds, 0), 1e12);
	double unit = x >= 10 ? pow(10, floor(log10(x)) - 1) : 1;
	int64_t seconds = (int64_t)(round(x / unit) * unit);
	static const struct {
		int64_t below, unit, part;
		const char *name, *part_name;
	} units[] = {
		{ 3600, 60, 1, "m", "s" }, { 86400, 3600, 60, "h", "m" },
		{ INT64_MAX, 86400, 3600, "d", "h" },
	};
	size_t i = 0;

	if (seconds < 60) {
		text_add_digits(t, seconds, 1);
		text_add(t, "s");
		return;
	}
	while (seconds >= units[i].below)
		i++;
	text_add_digits(t, seconds / units[i].unit, 1);
	text_add(t, units[i].name);
	text_add_digits(t, seconds % units[i].unit / units[i].part, 2);
	text_add(t, units[i].part_name);
}

static void add_seconds(const struct fact *f, struct text *t)
{
	text_addf(t, "%.15g s", f->seconds);
}

static void add_wait(const struct fact *f, struct text *t)
{
	double x = f->wait.seconds;

	if (x < 60)
		text_addf(t, "%.0f s", fmax(ceil(x), 1));
	else if (x < 3600)
		text_addf(t, "%.0f min", ceil(x / 60));
	else
		text_addf(t, "%.1f h", x / 3600);
}

static void add_service(const struct fact *f, struct text *t)
{
	text_addf(t, "%.2g device-hours", f->seconds / 3600);
}

/* In local time: the words stay the same while the job waits. */
static bool is_time(double seconds, struct tm *tm)
{
	time_t time = (time_t)seconds;

	return localtime_r(&time, tm) != NULL;
}

static void add_clock(const struct fact *f, struct text *t)
{
	struct tm tm;

	if (is_time(f->seconds, &tm))
		text_addf(t, "%02d:%02d", tm.tm_hour, tm.tm_min);
	else
		text_add(t, "its end");
}

static void add_date(const struct fact *f, struct text *t)
{
	struct tm tm;

	if (is_time(f->seconds, &tm))
		text_addf(t, "%04d-%02d-%02d %02d:%02d", tm.tm_year + 1900, tm.tm_mon + 1,
			  tm.tm_mday, tm.tm_hour, tm.tm_min);
	else
		text_add(t, "a later time");
}

/* --- how fast --- */

/* Figures have whole numbers and tenths only, so that a model that moves a little leaves a sentence
 * as it is. */

static void add_times(const struct fact *f, struct text *t)
{
	text_addf(t, "%.1f", f->gain.times);
}

static void add_percent(const struct fact *f, struct text *t)
{
	text_addf(t, "%.0f %%", f->gain.percent);
}

static void add_gain(const struct fact *f, struct text *t)
{
	if (round(f->gain.percent) >= 1)
		text_addf(t, "%.0f %%", round(f->gain.percent));
	else
		text_add(t, "nothing");
}

static void add_slower(const struct fact *f, struct text *t)
{
	text_addf(t, "%.0f %%", f->wait.percent);
}

static void add_too_few_times(const struct fact *f, struct text *t)
{
	text_addf(t, "%.2f times what they do by turns, of which %.2f", f->gain.times, SHARE_GAIN);
}

static void add_slow(const struct fact *f, struct text *t)
{
	text_addf(t, "%.4g samples/s on %d devices, promised %.4g", f->goodput.now, f->n,
		  f->goodput.promised);
}

/* --- memory --- */

static void add_gib(const struct fact *f, struct text *t)
{
	text_addf(t, "%.1f", f->bytes.needs / GIB);
}

static void add_host_memory(const struct fact *f, struct text *t)
{
	const double bytes[] = { f->bytes.needs, f->bytes.of, f->bytes.used };
	static const char *const before[] = { "needs ", " of ", " GiB, " };

	for (int i = 0; i < 3; i++)
		text_addf(t, bytes[i] / GIB < 99.95 ? "%s%.3g" : "%s%.0f", before[i],
			  bytes[i] / GIB);
	text_add(t, " are in use");
}

static void add_memory_free(const struct fact *f, struct text *t)
{
	text_addf(t, "needs %.1f GiB, %.1f are free", f->bytes.needs / GIB, f->bytes.of / GIB);
}

static void add_memory_lack(const struct fact *f, struct text *t)
{
	plan_add_lack(f->bytes.needs, f->bytes.of, t);
}

static void add_tenths(struct text *t, const char *before, int64_t bytes)
{
	long long tenths = (bytes + 53687091) / 107374182;

	text_addf(t, "%s%lld.%lld GiB", before, tenths / 10, tenths % 10);
}

static void add_memory(const struct fact *f, struct text *t)
{
	bool both = f->memory.suspended && f->memory.others;

	if (f->memory.suspended)
		add_tenths(t, "suspended jobs would keep ", f->memory.suspended);
	text_add(t, both ? " there, and " : "");
	if (f->memory.others)
		add_tenths(t, "others have ", f->memory.others);
	text_add(t, both ? "" : " there");
}

static void add_needs(const struct fact *f, struct text *t)
{
	add_tenths(t, "", f->memory.needs);
}

/* --- all --- */

static const struct {
	const char *name;
	void (*add)(const struct fact *f, struct text *t);
} pieces[] = {
	/* those that most waiting jobs have */
	{ "devices", add_devices }, { "nth", add_nth }, { "duration", add_duration },
	{ "job", add_job }, { "n", add_n }, { "of", add_of },

	{ "cores", add_cores }, { "cores_taken", add_cores_taken }, { "cpu_jobs", add_cpu_jobs },
	{ "memory_free", add_memory_free },
	{ "clock", add_clock }, { "devices_are", add_devices_are }, { "date", add_date },
	{ "gain", add_gain }, { "gib", add_gib }, { "has", add_has },
	{ "host_memory", add_host_memory }, { "jobs", add_jobs },
	{ "kind_options", add_kind_options }, { "kinds", add_kinds }, { "link", add_link },
	{ "memory", add_memory }, { "memory_lack", add_memory_lack }, { "n_times", add_n_times },
	{ "needs", add_needs }, { "name", add_name }, { "names", add_names },
	{ "of_kind", add_of_kind }, { "of_or_none", add_of_or_none }, { "one", add_one },
	{ "or_of", add_or_of }, { "other", add_other }, { "people", add_people },
	{ "percent", add_percent }, { "place", add_place }, { "plans", add_plans },
	{ "range", add_range }, { "rung", add_rung }, { "s", add_s }, { "samples", add_samples },
	{ "seconds", add_seconds }, { "service", add_service }, { "set", add_set },
	{ "sizes", add_sizes }, { "slow", add_slow }, { "slower", add_slower },
	{ "their_slices", add_their_slices }, { "tier", add_tier },
	{ "times", add_times }, { "too_few_times", add_too_few_times }, { "wait", add_wait },
	{ "why", add_why }, { "why_kept", add_why_kept },
};

const char *verdict_add_piece(const char *word, const struct fact *fact, struct text *t)
{
	size_t i = 0, n;

	for (;; i++) {
		const char *name = pieces[i].name;

		for (n = 0; name[n] && name[n] == word[n]; n++)
			;
		if (!name[n] && word[n] == '}')
			break;
	}
	pieces[i].add(fact, t);
	return word + n + 1;
}
