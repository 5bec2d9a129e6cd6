/* nothing_left.c - see nothing_left.h. */
#include "nothing_left.h"

#include <stdlib.h>
#include <string.h>

#include "last_words.h"
#include "log_tail.h"
#include "pollux/mem.h"
#include "pollux/utf8.h"

#define TAIL_BYTES 8192

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

/* Returns where a sentence begins; NULL: there is none. text is terminated. */
static const char *find_sentence(const char *text)
{
	for (size_t i = 0; i < sizeof(sentences) / sizeof(sentences[0]); i++) {
		const char *found = strcasestr(text, sentences[i]);

		if (found)
			return found;
	}
	return NULL;
}

static char *line_around(const char *begin, const char *at)
{
	size_t n;

	while (at > begin && !strchr("\r\n", at[-1]))
		at--;
	at += strspn(at, " \t");
	n = strcspn(at, "\r\n");
	n = utf8_clip(at, n < LAST_WORDS_SIZE ? n : LAST_WORDS_SIZE - 1);
	return xasprintf("%.*s", (int)n, at);
}

char *nothing_left_words(const char *path, int64_t offset)
{
	char *buffer = xcalloc(TAIL_BYTES + 4, 1);	/* + 4: utf8_clip looks ahead */
	size_t n = log_tail(path, offset, buffer, TAIL_BYTES);
	const char *found;
	char *line;

	for (size_t i = 0; i < n; i++)
		if (buffer[i] == '\0')
			buffer[i] = ' ';
	found = find_sentence(buffer);
	line = found ? line_around(buffer, found) : NULL;
	free(buffer);
	return line;
}
