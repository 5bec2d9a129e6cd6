/* log_words.c - what the end of a log says of its run: see run_log.h. */
#include <ctype.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/steps.h"
#include "pollux/text.h"
#include "run_log.h"

size_t log_tail(const char *path, int64_t offset, char *buffer, size_t most)
{
	int fd = file_open(path, O_RDONLY, 0);
	struct stat st;
	ssize_t n = -1;

	if (fd < 0)
		return 0;
	if (fstat(fd, &st) == 0) {
		if (offset > st.st_size)	/* the log was begun anew */
			offset = 0;
		if (st.st_size - (off_t)most > offset)
			offset = st.st_size - (off_t)most;
		n = pread(fd, buffer, most, offset);
	}
	close(fd);
	return n > 0 ? (size_t)n : 0;
}

/* --- its last line --- */

#define TAIL_BYTES 8192

static bool ends_line(char c)
{
	return c == '\n' || c == '\r';
}

static bool is_blank(char c)
{
	return ends_line(c) || c == ' ' || c == '\t' || c == '\0';
}

/* What PyTorch adds to each of CUDA's errors. */
static const char *const added[] = {
	"CUDA kernel errors might be asynchronously reported",
	"For debugging consider passing CUDA_LAUNCH_BLOCKING",
	"Compile with `TORCH_USE_CUDA_DSA`",
	"Device-side assertion tracking was not enabled",
	"Search for `cuda",
	"GPU device may be out of range",
};

/* True if the line, perhaps after a launcher's "[rank0]: ", says nothing of its own. */
static bool is_added(const char *line, size_t n)
{
	for (size_t i = 0; i < sizeof(added) / sizeof(added[0]); i++) {
		const char *at = memmem(line, n, added[i], strlen(added[i]));

		if (at && (at == line || (*line == '[' && at[-1] == ' ')))
			return true;
	}
	return false;
}

/* Moves *begin and *end to the last line that is not blank before *end; *begin == *end: none. */
static void find_line(const char *buffer, size_t *begin, size_t *end)
{
	while (*end > 0 && is_blank(buffer[*end - 1]))
		--*end;
	for (*begin = *end; *begin > 0 && !ends_line(buffer[*begin - 1]);)
		--*begin;
	while (*begin < *end && is_blank(buffer[*begin]))
		++*begin;
}

char *last_words(const char *path, int64_t offset)
{
	char *buffer = xcalloc(TAIL_BYTES + 4, 1);	/* + 4: utf8_length looks ahead */
	size_t end = log_tail(path, offset, buffer, TAIL_BYTES), begin;
	char *line = NULL;

	find_line(buffer, &begin, &end);
	while (end > begin && is_added(buffer + begin, end - begin)) {
		end = begin;
		find_line(buffer, &begin, &end);
	}
	end = begin + utf8_clip(buffer + begin, end - begin < LAST_WORDS_SIZE
						? end - begin : LAST_WORDS_SIZE - 1);
	if (end > begin)
		line = xasprintf("%.*s", (int)(end - begin), buffer + begin);
	free(buffer);
	return line;
}

/* --- the epochs that a command asks for --- */

static const char *const names[] = {
	"epochs", "num_epochs", "n_epochs", "nepochs", "nb_epochs", "max_epochs", "max_epoch",
	"total_epochs", "train_epochs", "num_train_epochs", "n_epoch", "niter_epochs",
};

/* True for "--max-epochs", "max_epochs=10" and "--trainer.max_epochs"; a word without dashes has to
 * have a value of its own. */
static bool names_epochs(const char *word)
{
	bool dashes = word[0] == '-';
	size_t n, k;

	word += strspn(word, "-+");
	n = strcspn(word, "=");
	if (!dashes && !word[n])
		return false;
	for (size_t at = n; at > 0; at--)
		if (word[at - 1] == '.') {
			word += at;
			n -= at;
			break;
		}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		for (k = 0; k < n; k++)
			if ((word[k] == '-' ? '_' : tolower((unsigned char)word[k])) != names[i][k])
				break;
		if (k == n && !names[i][n])
			return true;
	}
	return false;
}

static double number_of(const char *text)
{
	char *end;
	double value = strtod(text, &end);

	return end > text && !*end && value >= 1 && value < 1e9 ? value : (double)NAN;
}

double epochs_of_command(const struct strings *argv)
{
	double epochs = (double)NAN;

	for (size_t i = 0; i < argv->count; i++) {
		const char *equals = strchr(argv->items[i], '=');
		double value;

		if (!names_epochs(argv->items[i]))
			continue;
		if (equals)
			value = number_of(equals + 1);
		else
			value = number_of(i + 1 < argv->count ? argv->items[i + 1] : "");
		if (!isnan(epochs) && (value < epochs || value > epochs))
			return (double)NAN;
		epochs = isnan(value) ? epochs : value;
	}
	return epochs;
}

/* --- sentences that say that nothing is left --- */

/* Parts of sentences, in any case. Programs that go on and exit with 0 need none. */
static const char *const sentences[] = {
	"nothing to resume",			/* YOLOv5 to YOLOv9, Ultralytics */
	"no training would occur",		/* Composer, LLM Foundry */
	"should be greater than initial step",	/* kohya's sd-scripts */
	"restored a checkpoint with current_epoch=",	/* Lightning: it is beyond max_epochs */
	/* scripts of people */
	"nothing left to train",
	"nothing left to do",
	"nothing more to train",
	"training is already complete",
	"training is already finished",
	"training is already done",
	"training already complete",
	"training already finished",
	"training already done",
	"training has already been completed",
	"training has already finished",
	"already finished training",
	"already fully trained",
	"already been trained for",
	"already trained for",
	"already at max_",
	"already reached max",
	"no more epochs to",
	"no more steps to",
	"no epochs left",
	"no steps left",
	"greater than or equal to total epochs",
	"greater than or equal to max epochs",
};

char *nothing_left_words(const char *path, int64_t offset)
{
	char *buffer = xcalloc(TAIL_BYTES + 4, 1);	/* + 4: utf8_clip looks ahead */
	size_t n = log_tail(path, offset, buffer, TAIL_BYTES);
	const char *at = NULL;
	char *line = NULL;

	for (size_t i = 0; i < n; i++)
		if (buffer[i] == '\0')
			buffer[i] = ' ';
	for (size_t i = 0; !at && i < sizeof(sentences) / sizeof(sentences[0]); i++)
		at = strcasestr(buffer, sentences[i]);
	if (at) {
		while (at > buffer && !ends_line(at[-1]))
			at--;
		at += strspn(at, " \t");
		n = strcspn(at, "\r\n");
		n = utf8_clip(at, n < LAST_WORDS_SIZE ? n : LAST_WORDS_SIZE - 1);
		line = xasprintf("%.*s", (int)n, at);
	}
	free(buffer);
	return line;
}

/* --- one training of several --- */

#define MOST_BYTES (64 << 20)	/* of a log that are read */
#define LINE_BYTES 512		/* of a line: the words stand at its beginning */

bool parts_are_left(const char *path, int64_t offset)
{
	FILE *log = file_open_stream(path);
	char line[LINE_BYTES];
	bool left = false, begins = true, read;
	double part;
	struct stat st;

	if (!log)
		return false;
	if (fstat(fileno(log), &st) == 0 && st.st_size - MOST_BYTES > offset)
		offset = st.st_size - MOST_BYTES;
	read = fseeko(log, offset, SEEK_SET) == 0;
	while (read && fgets(line, sizeof(line), log)) {
		if (begins)
			steps_part(line, strlen(line), &part, &left);
		begins = strchr(line, '\n');
	}
	fclose(log);
	return left;
}
