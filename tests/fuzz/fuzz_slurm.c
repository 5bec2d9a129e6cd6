/* fuzz_slurm.c - what Slurm prints, and a run's journal, is understood or left out; nothing
 * outside of it is read, and names stay names. */
#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/config.h"
#include "../../src/engine/slurm/slurm.h"
#include "../../src/store/journal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_name(const char *name)
{
	assert(*name);
	for (; *name; name++)
		assert(isalnum((unsigned char)*name) || strchr("._-", *name));
}

static void check_text(const char *text)
{
	for (; *text; text++)
		assert((unsigned char)*text >= ' ' && *text != 127);
}

static void check_slurm(const char *line)
{
	char name[DEVICE_NODE_SIZE], type[16];
	struct slurm_node node;
	struct slurm_job job;
	struct slurm_names names = { .rest = line };
	int n = 0;

	if (slurm_parse_node(line, &node)) {
		check_name(node.name);
		check_text(node.state);
		check_text(node.address);
		assert(node.gpus > 0 && node.gpus <= 1000 && strlen(node.name) < 48);
	}
	if (slurm_parse_job(line, &job)) {
		assert(job.id > 0 && (!job.store[0] || strlen(job.store) == 32));
		check_text(job.state);
		check_text(job.reason);
		check_text(job.nodes);
	}
	assert(slurm_parse_gpus(line, strlen(line), type, sizeof(type)) >= 0);
	while (n++ < 1000 && slurm_next_node(&names, name, sizeof(name)))
		assert(strlen(name) < sizeof(name));
	assert(slurm_parse_submitted(line) >= 0);
	free(slurm_parse_reserved(line, name, sizeof(name)));
	check_text(name);
	free(slurm_args_value(line, "partition", 'p'));
	slurm_args_own(line);
}

/* True for a configuration whose batch size is a number. */
static bool is_small(const struct configuration *c)
{
	const int most = 1 << 10;

	return abs(c->replicas) < most && abs(c->accumulation_steps) < most &&
	       abs(c->width) < most && llabs(c->local_batch_size) < most;
}

/* What is read from a record, and written, is read as the same. */
static void check_fields(const struct record *r, const struct record_format *format)
{
	struct told told = { .time_s = 0 }, again = { .time_s = 0 };
	struct text first = TEXT_INIT, second = TEXT_INIT;
	struct record written;
	bool good = journal_read(r, format, &told);

	if (good && is_small(&told.run.configuration) &&
	    is_small(&told.observation.configuration) &&
	    is_small(&told.gradient.window.configuration)) {
		journal_add(&first, format, &told);
		assert(journal_find(first.data, first.length, &written) == JOURNAL_WHOLE);
		assert(written.size == first.length && record_format_of(&written) == format);
		assert(journal_read(&written, format, &again));
		journal_add(&second, format, &again);
		assert(!strcmp(first.data, second.data));
	}
	journal_release(format, &told);
	journal_release(format, &again);
	text_release(&first);
	text_release(&second);
}

/* The bytes as they are, and as the fields of a record of each kind. */
static void check_journal(const char *bytes, size_t n)
{
	struct record r;

	if (journal_find(bytes, n, &r) == JOURNAL_WHOLE) {
		assert(r.size <= n && r.kind_length + r.fields_length < r.size);
		record_format_of(&r);
	}
	r = (struct record){ .kind = "", .fields = bytes, .fields_length = n };
	for (int i = 0; i < N_RECORD_KINDS; i++)
		check_fields(&r, &record_formats[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *line = malloc(size + 1);

	memcpy(line, data, size);
	line[size] = '\0';
	check_slurm(line);
	free(line);
	line = malloc(size ? size : 1);
	memcpy(line, data, size);
	check_journal(line, size);
	free(line);
	return 0;
}
