/* fuzz_slurm.c - what Slurm prints, and a run's journal, is understood or left out; nothing
 * outside of it is read, and names stay names. */
#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/engine/slurm/slurm_parse.h"
#include "../../src/store/journal.h"
#include "pollux/config.h"

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
	size_t state = 0;
	int n = 0;

	if (slurm_parse_node(line, &node)) {
		check_name(node.name);
		check_text(node.state);
		check_text(node.address);
		assert(node.gpus > 0 && node.gpus <= 1000 && strlen(node.name) < 48);
		assert(node.memory_bytes >= 0);
	}
	if (slurm_parse_job(line, &job)) {
		assert(job.id > 0 && (!job.store[0] || strlen(job.store) == 32));
		check_text(job.state);
		check_text(job.reason);
		check_text(job.nodes);
	}
	assert(slurm_parse_gpus(line, strlen(line), type, sizeof(type)) >= 0);
	while (n++ < 1000 && slurm_next_node(line, &state, name, sizeof(name)))
		assert(strlen(name) < sizeof(name));
	assert(slurm_parse_submitted(line) >= 0);
	free(slurm_parse_reserved(line, name, sizeof(name)));
	check_text(name);
	free(slurm_args_value(line, "partition", 'p'));
	slurm_args_own(line);
}

static void check_items(const char *p, const char *end)
{
	struct journal_item item;
	struct journal_value v;

	while (journal_item(&p, end, &item) == 1)
		for (int i = 0; item.sql && i < item.n_values; i++)
			if (journal_value(&item.values, end, &v) != 1)
				break;
			else
				assert(v.bytes == NULL || v.bytes + v.n <= end);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *line = malloc(size + 1);
	const char *items;
	size_t n_items, whole;

	memcpy(line, data, size);
	line[size] = '\0';
	check_slurm(line);
	free(line);
	line = malloc(size ? size : 1);
	memcpy(line, data, size);
	if (journal_record(line, size, &items, &n_items, &whole) == JOURNAL_WHOLE) {
		assert(whole <= size && n_items < whole);
		check_items(items, items + n_items);
	}
	check_items(line, line + size);
	free(line);
	return 0;
}
