/* self_test_view.c - a line, or an object, for each device that was tested. */
#include "pollux/self_test_view.h"

#include "pollux/report.h"

static double freeze_s(const struct self_tested *t)
{
	return t->test.lock_s + t->test.save_s;
}

static double thaw_s(const struct self_tested *t)
{
	return t->test.restore_s + t->test.unlock_s;
}

static double rate(const struct self_tested *t, double seconds)
{
	return seconds > 0 ? (double)t->test.released_bytes / seconds : 0;
}

void self_test_print(const struct self_test *t, FILE *out)
{
	for (int i = 0; i < t->n; i++) {
		const struct self_tested *d = &t->items[i];

		if (!d->passed) {
			fprintf(out, "%s: not passed: %s\n", d->device->name, d->why.text);
			continue;
		}
		fprintf(out, "%s: %s: %lld MiB to the host's memory in %s (%.2f GB/s), back in "
			"%s (%.2f GB/s)%s%s\n", d->device->name,
			*d->test.weaker ? "a weaker test passed, without cuBLAS" : "passed",
			(long long)(d->test.released_bytes >> 20), format_span(freeze_s(d)).s,
			rate(d, freeze_s(d)) / 1e9, format_span(thaw_s(d)).s,
			rate(d, thaw_s(d)) / 1e9,
			*d->test.weaker ? "; PyTorch may be refused: " : "", d->test.weaker);
	}
}

static void print_times(const struct self_tested *d, struct json *j)
{
	json_text(j, "weaker", d->test.weaker);
	json_integer(j, "bytes", d->test.bytes);
	json_integer(j, "released_bytes", d->test.released_bytes);
	json_number(j, "start_s", d->test.start_s);
	json_number(j, "lock_s", d->test.lock_s);
	json_number(j, "save_s", d->test.save_s);
	json_number(j, "restore_s", d->test.restore_s);
	json_number(j, "unlock_s", d->test.unlock_s);
	json_number(j, "freeze_bytes_per_s", rate(d, freeze_s(d)));
	json_number(j, "thaw_bytes_per_s", rate(d, thaw_s(d)));
}

void self_test_print_json(const struct self_test *t, FILE *out)
{
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	json_text(&j, "driver_version", t->driver);
	json_array(&j, "devices");
	for (int i = 0; i < t->n; i++) {
		const struct self_tested *d = &t->items[i];

		json_object(&j, NULL);
		json_string(&j, "id", d->device->id);
		json_string(&j, "name", d->device->name);
		json_string(&j, "kind", d->device->kind);
		json_bool(&j, "passed", d->passed);
		json_text(&j, "reason", d->passed ? "" : d->why.text);
		if (d->passed)
			print_times(d, &j);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
}
