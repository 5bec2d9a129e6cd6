/* report_message.c - parse what jobs report. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "pollux/report_message.h"
#include "pollux/steps.h"
#include "pollux/text.h"

/* One table for all keys: where the value goes and what it may be. */
enum value_type {
	VALUE_COUNT, VALUE_ESTIMATE, VALUE_MEASURED, VALUE_POSITIVE, VALUE_PATH, VALUE_TEXT,
	VALUE_LINE, VALUE_FLAG
};

struct key {
	const char *name;
	enum value_type type;
	size_t offset;
};

#define KEY(name, type, field) { name, type, offsetof(struct report_message, field) }
static const struct key keys[] = {
	KEY("STEP", VALUE_COUNT, step),
	KEY("SAMPLES", VALUE_COUNT, samples),
	KEY("STEP_NS", VALUE_COUNT, step_ns),
	KEY("SYNC_NS", VALUE_COUNT, sync_ns),
	KEY("GRAD_SQR", VALUE_ESTIMATE, grad_sqr),
	KEY("GRAD_VAR", VALUE_ESTIMATE, grad_var),
	KEY("LOSS", VALUE_MEASURED, loss),
	KEY("EPOCH", VALUE_POSITIVE, epoch),
	KEY("CHECKPOINT", VALUE_PATH, checkpoint),
	KEY("STATUS", VALUE_TEXT, status),
	KEY("CONFIG", VALUE_COUNT, config),
	KEY("PARAMETERS", VALUE_COUNT, parameters),
	KEY("TOTAL_STEPS", VALUE_COUNT, total_steps),
	KEY("TOTAL_SAMPLES", VALUE_COUNT, total_samples),
	KEY("TOTAL_EPOCHS", VALUE_POSITIVE, total_epochs),
	KEY("ENDS", VALUE_TEXT, ends),
	KEY("OPTIMIZER", VALUE_TEXT, optimizer),
	KEY("RESUMED", VALUE_PATH, resumed),
	KEY("GRAD_SAMPLES", VALUE_COUNT, grad_samples),
	KEY("PEAK_BYTES", VALUE_COUNT, peak_bytes),
	KEY("OUT_OF_MEMORY", VALUE_COUNT, out_of_memory),
	KEY("LIMIT_BYTES", VALUE_COUNT, limit_bytes),
	KEY("RESUMES", VALUE_COUNT, resumes),
	KEY("ENDED", VALUE_COUNT, ended),
	KEY("STAGE", VALUE_COUNT, stage),
	KEY("FRAMEWORK", VALUE_TEXT, framework),
	KEY("HELPER", VALUE_LINE, helper),
	KEY("WAKE", VALUE_FLAG, wake),
};

static const size_t n_keys = sizeof(keys) / sizeof(keys[0]);

#define VALUE_SIZE PATH_MAX	/* the longest value, with its terminator */

const char *report_key_at(size_t i)
{
	return i < n_keys && keys[i].type != VALUE_FLAG ? keys[i].name : NULL;
}

static const struct key *find_key(const char *line, size_t length)
{
	for (size_t i = 0; i < n_keys; i++)
		if (strlen(keys[i].name) == length && !memcmp(keys[i].name, line, length))
			return &keys[i];
	return NULL;
}

#define METRIC "METRIC."

static bool is_metric(const char *line, size_t length)
{
	return length >= strlen(METRIC) && !memcmp(line, METRIC, strlen(METRIC));
}

bool report_key_is_known(const char *key)
{
	const struct key *k = find_key(key, strlen(key));

	return (k && k->type != VALUE_FLAG) ||
	       (is_metric(key, strlen(key)) && metric_is_name(key + strlen(METRIC),
							      strlen(key) - strlen(METRIC)));
}

static bool parse_count(const char *value, int64_t *out)
{
	size_t digits = strspn(value, "0123456789");

	if (digits == 0 || value[digits] || digits > 18)
		return false;
	*out = strtoll(value, NULL, 10);
	return true;
}

static void copy_text(const char *value, char *out)
{
	size_t i;

	for (i = 0; i < REPORT_STATUS_SIZE - 1 && value[i]; i++)
		out[i] = (char)(iscntrl((unsigned char)value[i]) ? '?' : value[i]);
	out[i] = '\0';
}

static bool set_value(const struct key *key, const char *value, struct report_message *m)
{
	char *field = (char *)m + key->offset;
	double number;
	char *end;

	switch (key->type) {
	case VALUE_COUNT:
		return parse_count(value, (int64_t *)(void *)field);
	case VALUE_ESTIMATE:
		/* Unbiased, it may be negative. That of an update that overflowed is not finite: it
		 * is left unknown, and is no mistake of the program's. */
		if (!value_parse(value, &number))
			return false;
		if (isfinite(number))
			*(double *)(void *)field = number;
		return true;
	case VALUE_MEASURED:
		((struct report_value *)(void *)field)->given =
			value_parse(value, &((struct report_value *)(void *)field)->value);
		return ((struct report_value *)(void *)field)->given;
	case VALUE_POSITIVE:
		number = strtod(value, &end);
		if (end == value || *end || !isfinite(number) || number < 0 ||
		    isspace((unsigned char)*value))
			return false;
		*(double *)(void *)field = number;
		return true;
	case VALUE_PATH:
		snprintf(field, VALUE_SIZE, "%s", value);
		return *value != '\0';
	case VALUE_TEXT:
		copy_text(value, field);
		return true;
	case VALUE_LINE:
		((struct report_line *)(void *)field)->given = true;
		copy_text(value, ((struct report_line *)(void *)field)->text);
		return true;
	case VALUE_FLAG:
		*(bool *)(void *)field = !strcmp(value, "1");
		return *(bool *)(void *)field;
	}
	return false;
}

/* The last value of a name counts. Names beyond the most that are kept are passed over. */
static bool add_metric(const char *name, size_t length, const char *value,
		       struct report_message *m)
{
	struct report_metric metric = { .value = NAN };
	int i;

	if (!metric_is_name(name, length) || !value_parse(value, &metric.value))
		return false;
	memcpy(metric.name, name, length);
	for (i = 0; i < m->n_metrics && strcmp(m->metrics[i].name, metric.name) != 0; i++)
		;
	if (i == REPORT_METRICS_MAX)
		return true;
	m->metrics[i] = metric;
	m->n_metrics = i == m->n_metrics ? i + 1 : m->n_metrics;
	return true;
}

enum line_result { LINE_GOOD, LINE_BAD, LINE_UNKNOWN_KEY };

static enum line_result parse_line(const char *line, size_t length, struct report_message *m)
{
	const char *equals = memchr(line, '=', length);
	char value[VALUE_SIZE];
	const struct key *key;
	size_t n, length_of_name;
	bool metric;

	if (!equals || equals == line || memchr(line, '\0', length))
		return LINE_BAD;
	length_of_name = (size_t)(equals - line);
	key = find_key(line, length_of_name);
	metric = is_metric(line, length_of_name);
	if (!key && !metric)
		return LINE_UNKNOWN_KEY;
	n = length - (size_t)(equals + 1 - line);
	if (n >= sizeof(value))
		return LINE_BAD;
	memcpy(value, equals + 1, n);
	value[n] = '\0';
	if (metric)
		return add_metric(line + strlen(METRIC), length_of_name - strlen(METRIC), value, m)
			? LINE_GOOD : LINE_BAD;
	return set_value(key, value, m) ? LINE_GOOD : LINE_BAD;
}

static void set_unknown(struct report_message *m)
{
	m->step = m->samples = m->step_ns = m->sync_ns = m->config = m->parameters = -1;
	m->total_steps = m->total_samples = m->grad_samples = -1;
	m->peak_bytes = m->out_of_memory = m->limit_bytes = m->resumes = m->ended = -1;
	m->stage = -1;
	m->n_metrics = 0;
	m->grad_sqr = m->grad_var = m->epoch = m->total_epochs = NAN;
	m->loss = (struct report_value){ .given = false };
	m->checkpoint[0] = m->resumed[0] = m->status[0] = m->framework[0] = '\0';
	m->ends[0] = m->optimizer[0] = '\0';
	m->helper = (struct report_line){ .given = false };
	m->wake = false;
}

int report_message_parse(const char *bytes, size_t length, struct report_message *m)
{
	const char *p = bytes, *end = bytes + length;
	int malformed = 0, lines = 0;

	set_unknown(m);
	while (p < end) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));
		const char *line_end = newline ? newline : end;

		if (line_end > p) {
			lines++;
			malformed += parse_line(p, (size_t)(line_end - p), m) == LINE_BAD;
		}
		p = line_end + 1;
	}
	return lines ? malformed : 1;
}

void report_message_drop_measurements(struct report_message *m)
{
	m->step_ns = m->sync_ns = m->config = m->parameters = m->grad_samples = -1;
	m->total_steps = m->total_samples = -1;
	m->peak_bytes = m->out_of_memory = m->limit_bytes = m->resumes = -1;
	m->n_metrics = 0;
	m->grad_sqr = m->grad_var = m->total_epochs = NAN;
	m->resumed[0] = m->framework[0] = m->ends[0] = m->optimizer[0] = '\0';
	m->helper = (struct report_line){ .given = false };
}

bool report_line_is_valid(const char *line)
{
	autofree struct report_message *m = malloc(sizeof(*m));
	bool valid = false;

	if (m) {
		set_unknown(m);
		valid = !strchr(line, '\n') && parse_line(line, strlen(line), m) == LINE_GOOD;
	}
	return valid;
}
