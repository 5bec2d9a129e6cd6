/* data.c - reading IDX files and ordering their samples.
 *
 * An IDX file (Y. LeCun's MNIST page): two zero bytes, a type (8 = unsigned
 * byte), the number of dimensions, a big-endian 32-bit size for each, the data. */
#include "data.h"

#include "die.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <zlib.h>

enum { MAX_SIDE = 1024, MAX_PATH = 4096 };

struct idx {
	gzFile file;
	char path[MAX_PATH];
	uint32_t size[3];
};

/* Plain or compressed: gzread() takes both. */
static void idx_open(struct idx *idx, const char *directory, const char *name,
		     const char *kind)
{
	static const char *const suffixes[] = { "", ".gz" };

	for (int i = 0; i < 2; i++) {
		int n = snprintf(idx->path, sizeof(idx->path), "%s/%s-%s%s", directory, name,
				 kind, suffixes[i]);
		if (n < 0 || n >= MAX_PATH)
			die(EX_NOINPUT, "the name of the data directory is too long");
		idx->file = gzopen(idx->path, "rbe");
		if (idx->file)
			return;
		if (errno != ENOENT && errno != ENOTDIR)
			break;
	}
	die(EX_NOINPUT, "cannot open '%s': %s (Fashion-MNIST is the Debian package "
	    "dataset-fashion-mnist, or directory data/fashion of the GitHub repository "
	    "zalandoresearch/fashion-mnist: give its place by --data DIR)",
	    idx->path, strerror(errno));
}

static void idx_read(struct idx *idx, void *out, size_t bytes)
{
	uint8_t *p = out;

	while (bytes > 0) {
		unsigned part = bytes < (1u << 30) ? (unsigned)bytes : 1u << 30;
		int n = gzread(idx->file, p, part);

		if (n <= 0)
			die(EX_DATAERR, "'%s' is damaged: %s", idx->path,
			    n < 0 || gzdirect(idx->file) == 0 ? "it does not decompress" :
			    "it is shorter than it says");
		p += n;
		bytes -= (size_t)n;
	}
}

static uint32_t big_endian(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void idx_read_header(struct idx *idx, unsigned dimensions)
{
	uint8_t header[4 + 4 * 3];

	idx_read(idx, header, 4);
	if (big_endian(header) != (0x0800u | dimensions))
		die(EX_DATAERR, "'%s' is not an IDX file of bytes in %u dimensions",
		    idx->path, dimensions);
	idx_read(idx, header + 4, (size_t)4 * dimensions);
	for (size_t i = 0; i < dimensions; i++)
		idx->size[i] = big_endian(header + 4 + 4 * i);
	if (idx->size[0] == 0 || idx->size[0] > INT32_MAX)
		die(EX_DATAERR, "'%s' says that it holds %u samples", idx->path, idx->size[0]);
}

static int at_most(uint32_t n, int limit)
{
	return limit > 0 && (uint32_t)limit < n ? limit : (int)n;
}

static void load_images(struct dataset *data, const char *directory, const char *name,
			int limit)
{
	struct idx idx;

	idx_open(&idx, directory, name, "images-idx3-ubyte");
	idx_read_header(&idx, 3);
	if (idx.size[1] == 0 || idx.size[1] > MAX_SIDE || idx.size[2] == 0 ||
	    idx.size[2] > MAX_SIDE)
		die(EX_DATAERR, "'%s' says that its images are %u x %u", idx.path, idx.size[1],
		    idx.size[2]);
	data->n_samples = at_most(idx.size[0], limit);
	data->n_inputs = (int)(idx.size[1] * idx.size[2]);
	size_t bytes = (size_t)data->n_samples * (size_t)data->n_inputs;
	data->pixels = allocate(bytes, 1);
	idx_read(&idx, data->pixels, bytes);
	gzclose(idx.file);
}

static void load_labels(struct dataset *data, const char *directory, const char *name,
			int limit)
{
	struct idx idx;

	idx_open(&idx, directory, name, "labels-idx1-ubyte");
	idx_read_header(&idx, 1);
	if (at_most(idx.size[0], limit) != data->n_samples)
		die(EX_DATAERR, "'%s' holds %u labels, its images are %d", idx.path,
		    idx.size[0], data->n_samples);
	data->labels = allocate((size_t)data->n_samples, 1);
	idx_read(&idx, data->labels, (size_t)data->n_samples);
	gzclose(idx.file);
	data->n_classes = 0;
	for (int i = 0; i < data->n_samples; i++)
		if (data->labels[i] >= data->n_classes)
			data->n_classes = data->labels[i] + 1;
}

void dataset_load(struct dataset *data, const char *directory, const char *name, int limit)
{
	load_images(data, directory, name, limit);
	load_labels(data, directory, name, limit);
}

void dataset_release(struct dataset *data)
{
	free(data->pixels);
	free(data->labels);
}

/* x = (pixel / 255 - mean) / deviation, with the mean and standard deviation of
 * the training images of Fashion-MNIST (0.2860 and 0.3530). */
const float dataset_scale = 1.0f / (255.0f * 0.3530f);
const float dataset_offset = -0.2860f / 0.3530f;

static void normalise(const uint8_t *restrict pixels, float *restrict inputs, int n)
{
	const float scale = dataset_scale, offset = dataset_offset;
	enum { BLOCK = 16 };             /* a fixed count, which -O2 vectorises */
	int i = 0;

	for (; i + BLOCK <= n; i += BLOCK)
		for (int k = 0; k < BLOCK; k++)
			inputs[i + k] = (float)pixels[i + k] * scale + offset;
	for (; i < n; i++)
		inputs[i] = (float)pixels[i] * scale + offset;
}

void dataset_gather(const struct dataset *data, const int *samples, int count,
		    float *inputs, uint8_t *labels)
{
	for (int i = 0; i < count; i++) {
		size_t sample = (size_t)samples[i], width = (size_t)data->n_inputs;

		normalise(data->pixels + sample * width, inputs + (size_t)i * width,
			  data->n_inputs);
		labels[i] = data->labels[sample];
	}
}

uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9E3779B97F4A7C15u;

	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
	return z ^ (z >> 31);
}

void order_init(struct order *order, int n, uint64_t seed)
{
	*order = (struct order){ .n = n, .seed = seed, .epoch = -1 };
	order->permutation = allocate((size_t)n, sizeof(int));
}

void order_release(struct order *order)
{
	free(order->permutation);
}

/* Fisher-Yates. The 32-bit multiply picks with a bias below n / 2^32. */
static void shuffle(struct order *order, int64_t epoch)
{
	uint64_t state = order->seed;

	state = random_next(&state) ^ (uint64_t)epoch;
	for (int i = 0; i < order->n; i++)
		order->permutation[i] = i;
	for (int i = order->n - 1; i > 0; i--) {
		uint64_t range = (uint64_t)i + 1;
		int j = (int)((random_next(&state) >> 32) * range >> 32);
		int other = order->permutation[j];

		order->permutation[j] = order->permutation[i];
		order->permutation[i] = other;
	}
	order->epoch = epoch;
}

void order_fill(struct order *order, int64_t first, int count, int *samples)
{
	int64_t epoch = first / order->n;
	int at = (int)(first % order->n);

	for (int i = 0; i < count; i++) {
		if (order->epoch != epoch)
			shuffle(order, epoch);
		samples[i] = order->permutation[at];
		if (++at == order->n) {
			at = 0;
			epoch++;
		}
	}
}
