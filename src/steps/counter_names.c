/* counter_names.c - the names of counters and of their totals: see steps_state.h. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "steps_state.h"

static const struct counter_name names[] = {
	{ .words = " epoch ep ", .of_epoch = true },
	{ .words = " epochs ", .of_epoch = true, .many = true, .whole = true },
	{ .words = " global_step globalstep global_steps global_iter num_updates ",
	  .rank = BY_GLOBAL },
	{ .words = " total_steps total_timesteps ", .whole = true, .rank = BY_GLOBAL },
	{ .words = " update ", .rank = BY_UPDATE },
	{ .words = " updates ", .many = true, .whole = true, .rank = BY_UPDATE },
	{ .words = " step train_step training_step opt_step optimizer_step timestep ",
	  .rank = BY_STEP },
	{ .words = " steps ", .whole = true, .rank = BY_STEP },
	{ .words = " timesteps ", .many = true, .whole = true, .rank = BY_STEP },
	{ .words = " iteration training_iteration iter iter_num itr ", .rank = BY_ITERATION },
	{ .words = " iterations iters ", .whole = true, .rank = BY_ITERATION },
	{ .words = " batch batch_idx minibatch ", .rank = BY_BATCH },
	{ .words = " batches ", .many = true, .whole = true, .rank = BY_BATCH },
};

/* Words before a name, in one word with it ("max_steps") or not: the number is a total. A number
 * of "total" steps is a total or a position. */
static const struct {
	const char *text;
	bool is_sure;
} whole_words[] = { { "total", false }, { "max", true }, { "num", true }, { "n", true } };

#define N_WHOLE_WORDS (sizeof(whole_words) / sizeof(whole_words[0]))

const struct counter_name *counter_name_find(const char *word, size_t n)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t length;

		for (const char *w = names[i].words + 1; *w; w += length + 1) {
			length = strcspn(w, " ");
			if (length == n && !strncasecmp(w, word, n))
				return &names[i];
		}
	}
	return NULL;
}

const struct counter_name *whole_name_find(const char *word, size_t n, bool *is_sure)
{
	for (size_t i = 0; i < N_WHOLE_WORDS; i++) {
		size_t length = strlen(whole_words[i].text);
		bool bar = n > length && word[length] == '_';

		if (n <= length + bar || strncasecmp(word, whole_words[i].text, length) != 0 ||
		    (!bar && !isupper((unsigned char)word[length])))
			continue;
		*is_sure = whole_words[i].is_sure;
		return counter_name_find(word + length + bar, n - length - bar);
	}
	return NULL;
}

bool whole_word_find(const char *word, size_t n, bool *is_sure)
{
	for (size_t i = 0; i < N_WHOLE_WORDS; i++)
		if (strlen(whole_words[i].text) == n &&
		    !strncasecmp(whole_words[i].text, word, n)) {
			*is_sure = whole_words[i].is_sure;
			return true;
		}
	return false;
}
