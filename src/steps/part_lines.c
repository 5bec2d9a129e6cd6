/* part_lines.c - lines that count the trainings of a program: see steps.h. */
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "pollux/steps.h"

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
static bool read_count(const char *text, const struct part_word *word, double *part, bool *left)
{
	char *end;
	long number, total;

	text += strspn(text, " \t:#=[(-");
	if (!isdigit((unsigned char)*text))
		return false;
	number = strtol(text, &end, 10);
	end += strspn(end, " ");
	if (*end == '/')
		total = strtol(end + 1, NULL, 10);
	else if (!strncasecmp(end, "of ", 3))
		total = strtol(end + 3, NULL, 10);
	else
		total = word->alone ? LONG_MAX : 0;	/* nobody knows how many */
	if (total <= 0)		/* as in the path "fold-2/model.pt" */
		return false;
	*part = (double)number;
	*left = number < total;
	return true;
}

/* True if the line has the word with a count. */
static bool read_word(const char *line, const struct part_word *word, double *part, bool *left)
{
	size_t length = strlen(word->text);

	for (const char *at = line; (at = strcasestr(at, word->text)); at += length)
		if ((at == line || !isalnum((unsigned char)at[-1])) &&
		    read_count(at + length, word, part, left))
			return true;
	return false;
}

bool steps_part(const char *line, size_t n, double *part, bool *left)
{
	char text[LINE_BYTES];

	n = n < sizeof(text) ? n : sizeof(text) - 1;
	memcpy(text, line, n);
	text[n] = '\0';
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (read_word(text, &words[i], part, left))
			return true;
	return false;
}
