/* fuzz_report_message.c - no datagram can do more than be counted as malformed. */
#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/report_message.h"
#include "engine/local/recorder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text, size_t size)
{
	assert(memchr(text, '\0', size));
}

static int count_lines(const char *bytes, size_t size)
{
	int n = 1;

	for (size_t i = 0; i < size; i++)
		n += bytes[i] == '\n';
	return n;
}

static void check_message(const char *bytes, size_t size)
{
	static struct report_message m;
	int malformed = report_message_parse(bytes, size, &m);

	assert(malformed >= 0 && malformed <= count_lines(bytes, size));
	assert(m.step >= -1 && m.samples >= -1 && m.step_ns >= -1 && m.sync_ns >= -1);
	assert(!isinf(m.grad_sqr) && !isinf(m.grad_var) && !isinf(m.epoch));
	assert(isnan(m.epoch) || m.epoch >= 0);
	check_text(m.checkpoint, sizeof(m.checkpoint));
	check_text(m.status, sizeof(m.status));
	for (const char *p = m.status; *p; p++)
		assert(!iscntrl((unsigned char)*p));
}

/* The same bytes as several messages, separated by two newlines, to one recorder: what it makes of
 * them stays a number. */
static void check_recorder(const char *bytes, size_t size)
{
	static struct recorder r;
	const char *p = bytes, *end = bytes + size;
	struct run run;

	recorder_init(&r);
	run_init(&run);
	run.launch_boot_s = 1;
	double now = 1;

	while (p < end) {
		const char *stop = memmem(p, (size_t)(end - p), "\n\n", 2);
		size_t n = (size_t)((stop ? stop : end) - p);

		recorder_add(&r, NULL, &run, p, n, now);
		now += 0.5;
		p += n + 2;
		if (!stop)
			break;
	}
	step_stats_close_window(&r.stats);
	assert(!isinf(run.last_samples) && !isinf(run.first_samples));
	assert(isnan(run.last_samples) || run.last_samples >= 0);
	assert(isnan(run.first_step_s) || run.first_step_s >= 0);
	assert(isfinite(r.gradient.sum_grad_sqr) && isfinite(r.gradient.sum_grad_var));
	assert(r.gradient.m2_grad_sqr >= 0 && r.gradient.m2_grad_var >= 0);
	run_release(&run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *exact = malloc(size ? size : 1);	/* so that a byte too far is seen */
	char *line;

	if (!exact)
		return 0;
	memcpy(exact, data, size);
	check_message(exact, size);
	check_recorder(exact, size);
	line = strndup(exact, size);
	if (line)
		report_line_is_valid(line);
	free(line);
	free(exact);
	return 0;
}
