/* parts_left.c - see parts_left.h. */
#include "parts_left.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "pollux/open_file.h"

#define MOST_BYTES (64 << 20)	/* of a log that are read */
#define LINE_BYTES 512		/* of a line: the words stand at its beginning */

static const struct part_word {
	const char *text;
	bool alone;		/* also counts without a total */
} words[] = {
	{ "fold", true }, { "trial", true }, { "stage", false }, { "phase", false },
	{ "seed", false }, { "task", false }, { "run", false }, { "round", false },
	{ "split", false }, { "part", false }, { "experiment", false },
};

/* "1/5", "1 of 5". text: behind the word. */
static bool read_count(const char *text, const struct part_word *word, bool *left)
{
	char *end;
	long number, total;

	text += strspn(text, " \t:#=[(-");
	if (!isdigit((unsigned char)*text))
		return false;
	number = strtol(text, &end, 10);
	end += strspn(end, " ");
	if (*end == '/')
		end++;
	else if (!strncasecmp(end, "of ", 3))
		end += 3;
	else if (word->alone)
		return *left = true;
	else
		return false;
	total = strtol(end, NULL, 10);
	*left = number < total;
	return total > 0;
}

static bool read_word(const char *line, const struct part_word *word, bool *left)
{
	size_t length = strlen(word->text);

	for (const char *at = line; (at = strcasestr(at, word->text)); at += length)
		if ((at == line || !isalnum((unsigned char)at[-1])) &&
		    read_count(at + length, word, left))
			return true;
	return false;
}

static void read_line(const char *line, bool *left)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (read_word(line, &words[i], left))
			return;
}

static bool read_lines(FILE *log)
{
	char line[LINE_BYTES];
	bool left = false, begins = true;

	while (fgets(line, sizeof(line), log)) {
		if (begins)
			read_line(line, &left);
		begins = strchr(line, '\n');
	}
	return left;
}

bool parts_are_left(const char *path, int64_t offset)
{
	FILE *log = file_open_stream(path);
	struct stat st;
	bool left;

	if (!log)
		return false;
	if (fstat(fileno(log), &st) == 0 && st.st_size - MOST_BYTES > offset)
		offset = st.st_size - MOST_BYTES;
	left = fseeko(log, offset, SEEK_SET) == 0 && read_lines(log);
	fclose(log);
	return left;
}
