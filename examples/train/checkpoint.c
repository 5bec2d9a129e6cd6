/* checkpoint.c - write checkpoints that are whole, refuse those that are not. */
#include "checkpoint.h"

#include "die.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>
#include <zlib.h>

static const char magic[8] = "PLXTRAIN";
enum { VERSION = 1 };

struct header {                          /* of 8-byte fields: no padding */
	char magic[8];
	int64_t version;                 /* read in the other byte order: no version */
	int64_t n_layers;
	int64_t width[MAX_LAYERS + 1];
	struct progress progress;
};

static size_t file_size(size_t n_params)
{
	return sizeof(struct header) + 2 * n_params * sizeof(float) + sizeof(uint32_t);
}

static uint32_t crc_of(const void *data, size_t bytes)
{
	return (uint32_t)crc32_z(crc32_z(0, NULL, 0), data, bytes);
}

static void file_name(char *out, size_t size, const char *directory, const char *name)
{
	int n = snprintf(out, size, "%s%s", directory, name);

	if (n < 0 || (size_t)n >= size)
		die(EX_CANTCREAT, "the name of the checkpoint directory is too long");
}

void checkpoint_init(struct checkpoint *c, const char *directory)
{
	file_name(c->directory, sizeof(c->directory), directory, "");
	file_name(c->path, sizeof(c->path), directory, "/checkpoint.bin");
	file_name(c->previous, sizeof(c->previous), directory, "/checkpoint.bin.prev");
	file_name(c->temporary, sizeof(c->temporary), directory, "/checkpoint.bin.tmp");
	c->newest_is_good = false;
	if (mkdir(directory, 0777) < 0 && errno != EEXIST)
		die(EX_CANTCREAT, "cannot create directory '%s': %s", directory,
		    strerror(errno));
	int fd = open(c->temporary, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		die(EX_CANTCREAT, "cannot write in '%s': %s", directory, strerror(errno));
	close(fd);
	unlink(c->temporary);
}

/* Returns a buffer of file_size bytes for the caller to free, or NULL. */
static char *serialise(const struct net *net, const struct progress *progress,
		       const struct weights *weights)
{
	size_t bytes = file_size(net->n_params), vector = net->n_params * sizeof(float);
	struct header header = { .version = VERSION, .n_layers = net->n_layers,
				 .progress = *progress };
	char *data = malloc(bytes), *at = data;

	if (!data)
		return NULL;
	memcpy(header.magic, magic, sizeof(magic));
	for (int l = 0; l <= net->n_layers; l++)
		header.width[l] = net->width[l];
	at = mempcpy(at, &header, sizeof(header));
	at = mempcpy(at, weights->params, vector);
	at = mempcpy(at, weights->velocity, vector);
	uint32_t crc = crc_of(data, bytes - sizeof(crc));
	memcpy(at, &crc, sizeof(crc));
	return data;
}

static int write_all(int fd, const char *data, size_t bytes)
{
	while (bytes > 0) {
		ssize_t n = write(fd, data, bytes);

		if (n < 0 && errno != EINTR)
			return -1;
		if (n > 0) {
			data += n;
			bytes -= (size_t)n;
		}
	}
	return 0;
}

/* Create path with these bytes, on the disk when this returns 0. */
static int write_file(const char *path, const char *data, size_t bytes)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	if (fd < 0)
		return -1;
	int result = write_all(fd, data, bytes);
	if (result == 0)
		result = fsync(fd);
	int saved_errno = errno;
	if (close(fd) < 0 && result == 0)
		return -1;
	errno = saved_errno;
	return result;
}

/* A second name for the newest before the new one takes its first: at every
 * moment path is a whole checkpoint. Where links cannot be made, there is a
 * moment with previous alone, which checkpoint_load() takes as well. */
static int put_in_place(struct checkpoint *c)
{
	if (c->newest_is_good) {
		unlink(c->previous);
		if (link(c->path, c->previous) < 0 && rename(c->path, c->previous) < 0)
			return -1;
	}
	if (rename(c->temporary, c->path) < 0)
		return -1;
	c->newest_is_good = true;
	return 0;
}

/* Make the renaming itself durable. Some file systems cannot: no error. */
static void sync_directory(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0) {
		fsync(fd);
		close(fd);
	}
}

int checkpoint_save(struct checkpoint *c, const struct net *net,
		    const struct progress *progress, const struct weights *weights)
{
	char *data = serialise(net, progress, weights);

	if (!data || write_file(c->temporary, data, file_size(net->n_params)) < 0 ||
	    put_in_place(c) < 0) {
		complain("cannot write checkpoint '%s': %s", c->path, strerror(errno));
		unlink(c->temporary);
		free(data);
		return -1;
	}
	free(data);
	sync_directory(c->directory);
	return 0;
}

/* Read a whole file to a buffer for the caller to free; NULL and errno. */
static char *read_file(const char *path, size_t *bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	char *data = NULL;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &status) == 0 && (data = malloc((size_t)status.st_size + 1))) {
		ssize_t n;

		*bytes = 0;
		while ((n = read(fd, data + *bytes, (size_t)status.st_size - *bytes)) > 0)
			*bytes += (size_t)n;
		if (n < 0) {
			free(data);
			data = NULL;
		}
	}
	int saved_errno = errno;
	close(fd);
	errno = saved_errno;
	return data;
}

/* Why the bytes are no good checkpoint; NULL when they are one. */
static const char *fault(const char *data, size_t bytes, struct header *header)
{
	struct net net;
	int width[MAX_LAYERS + 1];
	uint32_t crc;

	if (bytes < sizeof(*header))
		return "it is too short";
	memcpy(header, data, sizeof(*header));
	if (memcmp(header->magic, magic, sizeof(magic)) != 0)
		return "it is not a checkpoint of this program";
	if (header->version != VERSION)
		return "it was written by another version, or on another kind of machine";
	memcpy(&crc, data + bytes - sizeof(crc), sizeof(crc));
	if (crc != crc_of(data, bytes - sizeof(crc)))
		return "its checksum is wrong";
	if (header->n_layers < 1 || header->n_layers > MAX_LAYERS)
		return "its network is impossible";
	for (int l = 0; l <= header->n_layers; l++)
		width[l] = (int)header->width[l];
	net_init(&net, (int)header->n_layers, width);
	return bytes == file_size(net.n_params) ? NULL : "its length is wrong";
}

static void check_shape(const char *path, const struct header *header,
			const struct net *net)
{
	bool same = header->n_layers == net->n_layers;

	for (int l = 0; same && l <= net->n_layers; l++)
		same = header->width[l] == net->width[l];
	if (!same)
		die(EX_DATAERR, "checkpoint '%s' is of another network: give its --hidden, or "
		    "--fresh to start over", path);
}

/* Returns NULL and fills in progress and weights, or why not. */
static const char *load_file(const char *path, const struct net *net,
			     struct progress *progress, struct weights *weights)
{
	size_t bytes = 0, vector = net->n_params * sizeof(float);
	struct header header;
	char *data = read_file(path, &bytes);

	if (!data)
		return strerror(errno);
	const char *why = fault(data, bytes, &header);
	if (!why) {
		check_shape(path, &header, net);
		*progress = header.progress;
		memcpy(weights->params, data + sizeof(header), vector);
		memcpy(weights->velocity, data + sizeof(header) + vector, vector);
	}
	free(data);
	return why;
}

static bool exists(const char *path)
{
	return access(path, F_OK) == 0 || errno != ENOENT;
}

bool checkpoint_load(struct checkpoint *c, const struct net *net,
		     struct progress *progress, struct weights *weights)
{
	if (!exists(c->path) && !exists(c->previous))
		return false;
	const char *why = load_file(c->path, net, progress, weights);
	c->newest_is_good = !why;
	if (!why)
		return true;
	if (load_file(c->previous, net, progress, weights))
		die(EX_DATAERR, "cannot use checkpoint '%s': %s; nor is there a good previous "
		    "one: give --fresh to start over", c->path, why);
	complain("cannot use checkpoint '%s': %s; going on from the one before it", c->path,
		 why);
	return true;
}
