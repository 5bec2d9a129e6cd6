/* words.c - words that people type and read: the nearest known name, words in braces, names of
 * signals. */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "pollux/text.h"

/* --- the nearest known name by optimal string alignment distance --- */

#define LONGEST 40		/* longer names are not compared */

/* d[i][j]: edits from the first i characters of a to the first j of b; three rows are kept. */
static int distance(const char *a, const char *b)
{
	int rows[3][LONGEST + 1];
	int n = (int)strlen(a), m = (int)strlen(b);

	for (int j = 0; j <= m; j++)
		rows[0][j] = j;
	for (int i = 1; i <= n; i++) {
		int *row = rows[i % 3], *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];

		row[0] = i;
		for (int j = 1; j <= m; j++) {
			int exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
					a[i - 2] == b[j - 1] ? above2[j - 2] + 1 : INT_MAX;
			int changed = above[j - 1] + (a[i - 1] != b[j - 1]);
			int moved = (above[j] < row[j - 1] ? above[j] : row[j - 1]) + 1;

			row[j] = moved < changed ? moved : changed;
			row[j] = row[j] < exchanged ? row[j] : exchanged;
		}
	}
	return rows[n % 3][m];
}

int edit_distance(const char *a, const char *b)
{
	return strlen(a) > LONGEST || strlen(b) > LONGEST ? -1 : distance(a, b);
}

struct suggestion suggestion_for(const char *typed)
{
	return (struct suggestion){ .typed = typed, .distance = INT_MAX };
}

void suggestion_offer(struct suggestion *s, const char *name)
{
	size_t length = strlen(s->typed);
	int limit = length < 6 ? 1 : (int)length / 3;
	int d;

	if (!length || length > LONGEST || strlen(name) > LONGEST)
		return;
	d = distance(s->typed, name);
	if (d > limit && (length < 2 || !text_starts_with(name, s->typed)))
		return;
	if (d < s->distance) {
		s->distance = d;
		s->best = name;
	}
}

/* --- words in braces --- */

static size_t word_length(const char *text)
{
	return strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
}

struct braces braces_in(const char *text)
{
	return (struct braces){ text, text };
}

/* True if {word} or, with n = 2, {{word}} begins here. */
static bool take_word(const char *at, size_t n, struct piece *piece)
{
	size_t length = strncmp(at, "{{", n) ? 0 : word_length(at + n);

	if (length == 0 || strncmp(at + n + length, "}}", n) != 0)
		return false;
	*piece = (struct piece){
		.text = at, .length = length + 2 * n,
		.word = at + n, .word_length = length, .doubled = n == 2,
	};
	return true;
}

bool braces_word_goes_on(const char *text)
{
	return word_length(text) > 0;
}

bool braces_next(struct braces *b, struct piece *piece)
{
	const char *at = b->at;
	bool is_of_shell = at > b->start && at[-1] == '$';

	if (!*at)
		return false;
	if (!take_word(at, 2, piece) && (is_of_shell || !take_word(at, 1, piece)))
		*piece = (struct piece){ .text = at, .length = 1 + strcspn(at + 1, "{") };
	b->at += piece->length;
	return true;
}

bool piece_is(const struct piece *piece, const char *word)
{
	return piece->word && strlen(word) == piece->word_length &&
	       !memcmp(word, piece->word, piece->word_length);
}

void braces_escape(const char *text, bool (*knows)(const char *word, size_t length),
		   struct text *out)
{
	struct braces b = braces_in(text);
	struct piece piece;

	while (braces_next(&b, &piece)) {
		bool known = piece.word && knows(piece.word, piece.word_length);

		text_add(out, known ? "{" : "");
		text_add_bytes(out, piece.text, piece.length);
		text_add(out, known ? "}" : "");
	}
}

bool braces_knows_job(const char *word, size_t length)
{
	return length == strlen("job") && !strncmp(word, "job", length);
}

bool braces_have_job(const char *text)
{
	struct braces b = braces_in(text);
	struct piece piece;

	while (braces_next(&b, &piece))
		if (piece_is(&piece, "job"))
			return true;
	return false;
}

char *braces_put_job(const char *text, int64_t job_id)
{
	struct braces b = braces_in(text);
	struct text out = TEXT_INIT;
	struct piece piece;

	while (braces_next(&b, &piece)) {
		if (!piece_is(&piece, "job"))
			text_add_bytes(&out, piece.text, piece.length);
		else if (piece.doubled)
			text_add(&out, "{job}");
		else
			text_addf(&out, "%lld", (long long)job_id);
	}
	return text_detach(&out);
}

bool braces_name_is(const char *template, int64_t job_id, const char *name)
{
	autofree char *made = braces_put_job(template, job_id);

	return !strcmp(made, name);
}

/* --- names of signals, with the real-time signals, which sigabbrev_np(3) lacks --- */

const char *signal_name(char buf[SIGNAL_NAME_SIZE], int number)
{
	const char *known = sigabbrev_np(number);

	if (known)
		snprintf(buf, SIGNAL_NAME_SIZE, "SIG%s", known);
	else if (number == SIGRTMIN)
		snprintf(buf, SIGNAL_NAME_SIZE, "SIGRTMIN");
	else if (number > SIGRTMIN && number <= SIGRTMAX)
		snprintf(buf, SIGNAL_NAME_SIZE, "SIGRTMIN+%d", number - SIGRTMIN);
	else
		snprintf(buf, SIGNAL_NAME_SIZE, "SIG%d", number);
	return buf;
}
