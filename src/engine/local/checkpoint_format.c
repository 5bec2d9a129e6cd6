/* checkpoint_format.c - files that end before their format says so. A format is known by the first
 * bytes of a file; of others nothing is said. */
#include <endian.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "pollux/file.h"
#include "pollux/mem.h"
#include "checkpoints.h"

#define HEAD_BYTES 512
#define BLOCK_BYTES 4096
#define ZIP_END_BYTES 22
#define ZIP_COMMENT_MAX 65535
#define HEADER_MAX (64 << 20)		/* of safetensors; a longer one is not read */

struct file {
	int fd;
	int64_t bytes;
	unsigned char head[HEAD_BYTES];	/* zeros behind the end */
	size_t head_bytes;
	unsigned char *tail;		/* owned; see read_tail() */
	const char *name;
};

static bool begins(const struct file *f, size_t at, const char *magic, size_t n)
{
	return f->head_bytes >= at + n && !memcmp(f->head + at, magic, n);
}

static bool ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n > m && !strcasecmp(name + n - m, end);
}

static uint64_t little(const unsigned char *p, int bytes)
{
	uint64_t value = 0;

	for (int i = bytes; i-- > 0;)
		value = value << 8 | p[i];
	return value;
}

/* Reads the last n bytes, or fewer. Returns their number; f->tail has them. */
static size_t read_tail(struct file *f, size_t n)
{
	ssize_t got;

	if ((int64_t)n > f->bytes)
		n = (size_t)f->bytes;
	f->tail = xreallocarray(f->tail, n + 1, 1);
	got = pread(f->fd, f->tail, n, f->bytes - (int64_t)n);
	return got > 0 ? (size_t)got : 0;
}

/* torch.save, Lightning, Keras, NumPy's npz: the directory of the archive is at its end. */
static const char *zip_fault(struct file *f)
{
	bool found = false;
	size_t n;

	if (!begins(f, 0, "PK\3\4", 4))
		return NULL;
	n = read_tail(f, ZIP_END_BYTES + ZIP_COMMENT_MAX);
	for (size_t i = n < ZIP_END_BYTES ? 0 : n - ZIP_END_BYTES + 1; !found && i-- > 0;)
		found = !memcmp(f->tail + i, "PK\5\6", 4) &&
			i + ZIP_END_BYTES + little(f->tail + i + 20, 2) == n;
	return found ? NULL : "its archive has no end";
}

/* The end of the last tensor, by "data_offsets":[begin,end]; 0: no tensor. */
static uint64_t tensors_end(const char *header)
{
	uint64_t last = 0;

	for (const char *p = header; (p = strstr(p, "\"data_offsets\""));) {
		p += strcspn(p, "[]");
		p += strcspn(p, ",]");
		if (*p != ',')
			break;
		p += 1 + strspn(p + 1, " ");
		if (strtoull(p, NULL, 10) > last)
			last = strtoull(p, NULL, 10);
	}
	return last;
}

static const char *safetensors_fault(struct file *f)
{
	static const char few[] = "it has fewer bytes than its header says";
	uint64_t header = f->head_bytes >= 8 ? little(f->head, 8) : 0;
	const char *why = NULL;
	char *text;

	if (!ends_with(f->name, ".safetensors") || (header && !begins(f, 8, "{", 1) &&
						    f->bytes > 8))
		return NULL;
	if (f->bytes <= 8 ? header && header < HEADER_MAX : header > (uint64_t)f->bytes - 8)
		return few;
	if (f->bytes > 8 && header == 0)
		return "its header is empty";
	if (f->bytes <= 8 || header > HEADER_MAX)
		return NULL;
	text = xcalloc(header + 1, 1);
	if (pread(f->fd, text, header, 8) == (ssize_t)header &&
	    8 + header + tensors_end(text) > (uint64_t)f->bytes)
		why = few;
	free(text);
	return why;
}

/* The end of file that the superblock names; addresses of 8 bytes, as all systems of today
 * write. */
static const char *hdf5_fault(struct file *f)
{
	int version = f->head[8];
	size_t end_at = version == 0 ? 40 : version == 1 ? 44 : 28;
	size_t size_at = version < 2 ? 13 : 9;

	if (!begins(f, 0, "\x89HDF\r\n\x1a\n", 8) || f->head[size_at] != 8 || version > 3)
		return NULL;
	return little(f->head + end_at, 8) > (uint64_t)f->bytes
		? "it has fewer bytes than its superblock says" : NULL;
}

/* One pickle ends with a dot. torch's older format has more behind it. */
static const char *pickle_fault(struct file *f)
{
	if ((!ends_with(f->name, ".pkl") && !ends_with(f->name, ".pickle")) ||
	    !begins(f, 0, "\x80", 1) || f->head[1] < 2 || f->head[1] > 5 ||
	    begins(f, 2, "\x8a\nl\xfc\x9c", 5))
		return NULL;
	return read_tail(f, 1) == 1 && f->tail[0] == '.' ? NULL : "its pickle has no end";
}

/* "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }" tells the bytes that follow. */
static const char *npy_fault(struct file *f)
{
	size_t begin = f->head[6] == 1 ? 10 : 12;
	uint64_t bytes, header = little(f->head + 8, f->head[6] == 1 ? 2 : 4);
	const char *p, *text = (const char *)f->head + begin;
	char copy[HEAD_BYTES + 1] = "";

	if (!begins(f, 0, "\x93NUMPY", 6) || header > HEAD_BYTES - begin)
		return NULL;
	memcpy(copy, text, f->head_bytes > begin + header ? header : 0);
	p = strstr(copy, "'descr': '");
	if (!p || !strchr("<>|", p[10]) || !strchr("fiubc", p[11]))
		return NULL;
	bytes = strtoull(p + 12, NULL, 10);
	p = strstr(copy, "'shape': (");
	for (p = p ? p + 10 : NULL; p && *p >= '0' && *p <= '9';) {
		char *end;

		bytes *= strtoull(p, &end, 10);
		p = end + strspn(end, "L, ");
	}
	return p && begin + header + bytes > (uint64_t)f->bytes
		? "it has fewer bytes than its header says" : NULL;
}

/* An archive of tar ends with two blocks of zeros. */
static const char *tar_fault(struct file *f)
{
	if (!begins(f, 257, "ustar", 5))
		return NULL;
	return read_tail(f, 1024) == 1024 && !f->tail[0] && !memcmp(f->tail, f->tail + 1, 1023)
		? NULL : "its archive has no end";
}

static bool is_blank_of_json(unsigned char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* The last byte that is no white space, of which there may be any number at the end; -1: none. */
static int last_of_json(const struct file *f)
{
	unsigned char block[BLOCK_BYTES];
	int64_t end = f->bytes;

	while (end > 0) {
		size_t n = end < BLOCK_BYTES ? (size_t)end : BLOCK_BYTES;

		if (pread(f->fd, block, n, end - (int64_t)n) != (ssize_t)n)
			return -1;
		for (size_t i = n; i-- > 0;)
			if (!is_blank_of_json(block[i]))
				return block[i];
		end -= (int64_t)n;
	}
	return -1;
}

/* An object or a list; of other values nothing is said. */
static const char *json_fault(struct file *f)
{
	size_t i = 0;

	if (!ends_with(f->name, ".json"))
		return NULL;
	while (i < f->head_bytes && is_blank_of_json(f->head[i]))
		i++;
	if (i < f->head_bytes && f->head[i] == 0)
		return "its JSON begins with zeros";
	if (!begins(f, i, "{", 1) && !begins(f, i, "[", 1))
		return NULL;
	return last_of_json(f) == (f->head[i] == '{' ? '}' : ']') ? NULL : "its JSON has no end";
}

/* False: it is no regular file, or somebody else's. The caller closes f->fd if that is not -1. */
static bool read_head(const char *path, struct file *f)
{
	struct stat st;
	ssize_t n;

	*f = (struct file){ .name = base_name(path) };
	f->fd = file_open(path, O_RDONLY, 0);
	if (f->fd < 0 || fstat(f->fd, &st) || !S_ISREG(st.st_mode))
		return false;
	f->bytes = st.st_size;
	n = pread(f->fd, f->head, HEAD_BYTES, 0);
	f->head_bytes = n > 0 ? (size_t)n : 0;
	return n > 0;
}

const char *why_file_is_torn(const char *path)
{
	static const char *(*const faults[])(struct file *) = {
		zip_fault, safetensors_fault, hdf5_fault, pickle_fault, npy_fault, tar_fault,
		json_fault,
	};
	const char *why = NULL;
	struct file f;

	if (read_head(path, &f))
		for (size_t i = 0; !why && i < sizeof(faults) / sizeof(faults[0]); i++)
			why = faults[i](&f);
	free(f.tail);
	if (f.fd >= 0)
		close(f.fd);
	return why;
}

bool file_begins_with_zeros(const char *path)
{
	struct file f;
	bool zeros = read_head(path, &f);

	for (size_t i = 0; i < f.head_bytes; i++)
		zeros &= f.head[i] == 0;
	if (f.fd >= 0)
		close(f.fd);
	return zeros;
}
