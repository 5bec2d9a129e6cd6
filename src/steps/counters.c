/* counters.c - see patterns.h. */
#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "patterns.h"
#include "steps_state.h"

#define GAP_MAX 24		/* bytes between a name and its number: a table's column */
#define PAIR_GAP_MAX 8		/* bytes between the epoch and a pair without a name */
#define DIGITS_MAX 15

/* A line, and the place in it up to which it was read. */
struct reader {
	const char *line;
	size_t n, at;
	const char *previous;		/* the word before */
	size_t previous_length;
	uint64_t letters;		/* hash of the letters so far */
	size_t epoch_end;		/* behind the epoch's numbers; 0: no epoch yet */
	enum counter_rank rank;			/* of the step that was found */
	bool other_work;		/* a word of other work was read */
	/* the first number that may be a total of steps: it counts as a step if the line has no
	 * other, unless the rank is NO_STEP; whole.n NaN: none */
	struct counter whole;
	enum counter_rank whole_rank;
	bool whole_is_sure;
	uint64_t whole_letters;
	double whole_epochs;
	struct counters *out;
};

static char char_at(const struct reader *r, size_t at)
{
	return (char)(at < r->n ? r->line[at] : '\0');
}

static bool is_digit_at(const struct reader *r, size_t at)
{
	return isdigit((unsigned char)char_at(r, at));
}

static bool is_letter(char c)
{
	return isalpha((unsigned char)c) || c == '_';
}

/* --- numbers --- */

static size_t skip_blanks(const struct reader *r, size_t at)
{
	while (char_at(r, at) == ' ' || char_at(r, at) == '\t')
		at++;
	return at;
}

/* True for ",000" within "12,000" and "1,234,000", but not within "[1,100]". */
static bool is_thousands(const struct reader *r, size_t at, size_t begin)
{
	return char_at(r, at) == ',' && at > begin && at - begin <= 7 && is_digit_at(r, at + 1) &&
	       is_digit_at(r, at + 2) && is_digit_at(r, at + 3) && !is_digit_at(r, at + 4) &&
	       (begin == 0 || r->line[begin - 1] != '[');
}

/* Reads a whole number. Returns the place behind it; 0: none begins here. */
static size_t read_count(const struct reader *r, size_t at, double *value)
{
	size_t begin = at;
	double scale = 1;

	for (*value = 0; is_digit_at(r, at) && at - begin < DIGITS_MAX; at++) {
		*value = 10 * *value + (r->line[at] - '0');
		at += is_thousands(r, at + 1, begin);
	}
	if (at == begin || is_digit_at(r, at))
		return 0;
	if (char_at(r, at) == 'k' || char_at(r, at) == 'K')
		scale = 1e3;
	else if (char_at(r, at) == 'M')
		scale = 1e6;
	at += scale > 1;
	*value *= scale;
	if (is_letter(char_at(r, at)) || char_at(r, at) == '%' ||
	    (char_at(r, at) == '-' && is_letter(char_at(r, at + 1))))
		return 0;
	if (char_at(r, at) == '.' && (is_digit_at(r, at + 1) || is_letter(char_at(r, at + 1))))
		return 0;	/* a decimal number, or the name of a file */
	return at;
}

static bool has_word_at(const struct reader *r, size_t at, const char *word)
{
	size_t n = strlen(word);

	return at + n <= r->n && !strncasecmp(r->line + at, word, n) &&
	       !is_letter(char_at(r, at + n));
}

/* Passes over "/", "of" and "out of" between a count and its total. Returns 0 for anything else. */
static size_t skip_slash(const struct reader *r, size_t at)
{
	at = skip_blanks(r, at);
	if (char_at(r, at) == '/')
		return skip_blanks(r, at + 1);
	if (has_word_at(r, at, "of"))
		return skip_blanks(r, at + 2);
	if (has_word_at(r, at, "out of"))
		return skip_blanks(r, at + 6);
	return 0;
}

/* Reads "3/10", "3 of 10" or "3". Returns the place behind it; 0: no number begins here. */
static size_t read_counter(const struct reader *r, size_t at, struct counter *c)
{
	size_t end = read_count(r, at, &c->n), slash, total_end;

	c->total = (double)NAN;
	if (!end)
		return 0;
	if (char_at(r, end) == '-' && at > 0 && r->line[at - 1] == '[' && is_digit_at(r, end + 1))
		return read_count(r, end + 1, &c->n);	/* "[450-500]" */
	slash = skip_slash(r, end);
	total_end = slash ? read_count(r, slash, &c->total) : 0;
	if (total_end && c->total > 0 && c->n <= c->total)
		return total_end;
	c->total = (double)NAN;
	return slash && char_at(r, slash - 1) == '/' && !total_end ? 0 : end;
}

/* --- names --- */

/* Returns the place of the number that belongs to a name which ends here; 0: none. */
static size_t find_number(const struct reader *r, size_t at)
{
	static const char between[] = " \t:=#[(|>'\"";
	size_t end = at;

	while (end < r->n && end - at < GAP_MAX && strchr(between, r->line[end]))
		end++;
	if (end == at && char_at(r, at) == '-')
		end++;		/* "epoch-3" */
	return end > at && is_digit_at(r, end) ? end : 0;
}

/* True if the word before is one of these, which bars separate. */
static bool previous_is(const struct reader *r, const char *words)
{
	for (size_t n; *words; words += n + (words[n] == '|')) {
		n = strcspn(words, "|");
		if (r->previous_length == n && !strncasecmp(r->previous, words, n))
			return true;
	}
	return false;
}

/* True for "s/step", "steps per epoch" and "every step": not what counts. */
static bool is_measure(const struct reader *r, size_t begin, const struct counter_name *name)
{
	char before = (char)(begin > 0 ? r->line[begin - 1] : ' ');

	return before == '/' || before == '.' || previous_is(r, "per|every") ||
	       (name->rank != BY_GLOBAL && previous_is(r, "warmup|accumulation"));
}

/* True if the word before says that the name's number is a total. */
static bool is_whole(const struct reader *r, const struct counter_name *name, bool *is_sure)
{
	return name->rank != BY_GLOBAL && r->previous &&
	       whole_word_find(r->previous, r->previous_length, is_sure);
}

static void take_epoch(struct reader *r, const struct counter *c, size_t end)
{
	r->out->is_other |= r->other_work && !r->epoch_end;
	if (r->epoch_end || r->other_work)
		return;
	r->out->epoch = *c;
	r->out->epoch_in_brackets = char_at(r, end) == ']';
	r->out->step_is_first = r->rank != NO_STEP;
	/* "end of epoch 3", "finished epoch 3" */
	r->out->epoch_is_over = previous_is(r, "of|finished|completed|after");
	r->epoch_end = end;
}

/* rank: as which the number counts if the line has no other step. */
static void take_whole(struct reader *r, const struct counter_name *name, const struct counter *c,
		       enum counter_rank rank, bool is_sure)
{
	if (r->other_work) {
		r->out->is_other |= rank != NO_STEP;
		return;
	}
	if (name->of_epoch && isnan(r->whole_epochs))
		r->whole_epochs = c->n;
	if (name->of_epoch || !isnan(r->whole.n))
		return;
	r->whole = *c;
	r->whole_rank = rank;
	r->whole_is_sure = is_sure;
	r->whole_letters = r->letters;
}

static void take_step(struct reader *r, const struct counter *c, enum counter_rank rank)
{
	r->out->is_other |= r->other_work;
	if (rank <= r->rank || r->other_work)
		return;
	r->rank = rank;
	r->out->step = *c;
	r->out->is_global = rank == BY_GLOBAL;
	r->out->is_of_epoch = rank <= BY_BATCH;
	r->out->label = r->letters;
}

/* Takes the counter of a name. Returns the place behind its number; 0: there is none. */
static size_t take_named(struct reader *r, const struct counter_name *name, size_t begin,
			 size_t end)
{
	size_t number = find_number(r, end), behind;
	enum counter_rank rank = previous_is(r, "global") && name->rank ? BY_GLOBAL : name->rank;
	bool is_sure = name->of_epoch;
	struct counter c;

	if (!number || is_measure(r, begin, name))
		return 0;
	behind = read_counter(r, number, &c);
	/* "batch 128 = 2 x 64" is a batch size */
	if (!behind || (rank == BY_BATCH && char_at(r, skip_blanks(r, behind)) == '='))
		return 0;
	if (isnan(c.total) && is_whole(r, name, &is_sure))
		take_whole(r, name, &c, NO_STEP, is_sure);
	else if (isnan(c.total) && name->whole && rank == name->rank)
		take_whole(r, name, &c, name->many ? NO_STEP : rank, is_sure);
	else if (name->of_epoch)
		take_epoch(r, &c, behind);
	else
		take_step(r, &c, rank);
	return behind;
}

/* --- a line --- */

/* True if the word stands alone: not within a path, a file name or another name. */
static bool stands_alone(const struct reader *r, size_t begin, size_t end)
{
	static const char joints[] = "/.-_";
	char before = (char)(begin > 0 ? r->line[begin - 1] : ' '), behind = char_at(r, end);

	return !strchr(joints, before) && !isdigit((unsigned char)before) &&
	       (!behind || !strchr("/._", behind) || is_letter(before) ||
		(behind == '.' && char_at(r, end + 1) == ' '));
}

/* True for "val_step" and "eval_iter": the first part of the name says it. */
static bool is_other_work(const struct reader *r, size_t begin, size_t end)
{
	const char *word = r->line + begin, *bar = memchr(word, '_', end - begin);
	size_t n = bar ? (size_t)(bar - word) : end - begin;

	if (!stands_alone(r, begin, end))
		return false;
	if (bar && !counter_name_find(bar + 1, end - begin - n - 1))
		return false;
	return other_work_of(word, n, true) != OTHER_NONE;
}

/* "1epoch:" and "50batch:", as ESPnet prints them. */
static void take_joined(struct reader *r, size_t begin, size_t end)
{
	const struct counter_name *name = counter_name_find(r->line + begin, end - begin);
	size_t number = begin;
	struct counter c = { .total = (double)NAN };

	while (number > 0 && is_digit_at(r, number - 1))
		number--;
	if (!name || number == begin || char_at(r, end) != ':' || begin - number > DIGITS_MAX)
		return;
	for (c.n = 0; number < begin; number++)
		c.n = 10 * c.n + (r->line[number] - '0');
	if (name->of_epoch)
		take_epoch(r, &c, end);
	else
		take_step(r, &c, name->rank);
}

/* Reads the word at the place, and the counter that it names. Returns false at a word of other
 * work. */
static bool read_word(struct reader *r)
{
	size_t begin = r->at, end = begin, behind = 0, number;
	const struct counter_name *name;
	bool is_sure;
	struct counter c;

	while (is_letter(char_at(r, end)))
		end++;
	r->at = end;
	if (is_other_work(r, begin, end))
		return false;
	if (begin > 0 && (isdigit((unsigned char)r->line[begin - 1]))) {
		take_joined(r, begin, end);
		return true;	/* "1e-05", "20ms" */
	}
	for (size_t i = begin; i < end; i++)	/* FNV-1a, RFC 9923 */
		r->letters = (r->letters ^ (uint64_t)tolower((unsigned char)r->line[i])) *
			     0x100000001b3;
	name = counter_name_find(r->line + begin, end - begin);
	if (name) {
		behind = take_named(r, name, begin, end);
	} else if ((name = whole_name_find(r->line + begin, end - begin, &is_sure))) {
		number = find_number(r, end);
		behind = number ? read_counter(r, number, &c) : 0;
		if (behind && isnan(c.total))
			take_whole(r, name, &c, NO_STEP, is_sure);
	}
	r->previous = r->line + begin;
	r->previous_length = end - begin;
	if (behind)
		r->at = behind;
	return true;
}

/* Takes a pair of numbers shortly behind the epoch: "Epoch: [0][  10/5005]". */
static void read_number(struct reader *r)
{
	size_t begin = r->at, end, gap = r->epoch_end && begin >= r->epoch_end
						 ? begin - r->epoch_end : PAIR_GAP_MAX + 1;
	struct counter c;

	end = read_counter(r, begin, &c);
	if (end && gap <= PAIR_GAP_MAX && !isnan(c.total) &&
	    (begin < 1 || r->line[begin - 1] != '.')) {
		take_step(r, &c, BY_PAIR);
		r->at = end;
		return;
	}
	while (is_digit_at(r, r->at) || (char_at(r, r->at) == '.' && is_digit_at(r, r->at + 1)))
		r->at++;
}

/* Sets epoch_is_over if a number or a word such as "done" stands behind the epoch. */
static void look_behind(struct reader *r)
{
	static const char *const words[] = { "done", "finished", "completed", "complete", "took",
					     "ended", "end", "over" };

	for (size_t at = r->epoch_end; at < r->n && !r->out->epoch_is_over; at++) {
		bool begins = at == 0 || !is_letter(r->line[at - 1]);

		for (size_t i = 0; begins && i < sizeof(words) / sizeof(words[0]); i++)
			r->out->epoch_is_over |= has_word_at(r, at, words[i]);
		r->out->epoch_is_over |= char_at(r, at) == '.' && at > r->epoch_end &&
					 is_digit_at(r, at - 1) && is_digit_at(r, at + 1);
	}
}

/* Decides what the numbers are that may be totals. */
static void settle_wholes(struct reader *r)
{
	struct counters *out = r->out;

	if (isnan(out->epoch.total) && out->epoch.n <= r->whole_epochs) {
		out->epoch.total = r->whole_epochs;
		out->epoch_in_brackets = true;	/* a number of epochs, not that of the last */
	}
	if (r->rank != NO_STEP) {
		out->whole = isnan(out->step.total) ? r->whole.n : (double)NAN;
		out->whole_is_sure = r->whole_is_sure;
	} else if (r->whole_rank != NO_STEP) {
		r->rank = r->whole_rank;
		out->step = r->whole;
		out->is_global = r->rank == BY_GLOBAL;
		out->label = r->whole_letters;
	}
}

bool counters_find(const char *line, size_t n, struct counters *out)
{
	static const struct counter none = { (double)NAN, (double)NAN };
	struct reader r = {
		.line = line, .n = n, .letters = 0xcbf29ce484222325, .out = out,
		.whole = none, .whole_epochs = (double)NAN,
	};

	*out = (struct counters){ .epoch = none, .step = none, .whole = (double)NAN };
	while (r.at < r.n && !(r.other_work && (r.rank != NO_STEP || r.whole_rank != NO_STEP))) {
		if (is_letter(line[r.at]))
			r.other_work |= !read_word(&r);
		else if (is_digit_at(&r, r.at))
			read_number(&r);
		else
			r.at++;
	}
	settle_wholes(&r);
	if (r.epoch_end && r.rank == NO_STEP && !out->is_other)
		look_behind(&r);
	return r.epoch_end || r.rank != NO_STEP || out->is_other;
}

bool counters_has_other_work(const char *line, size_t n)
{
	struct reader r = { .line = line, .n = n };

	while (r.at < n) {
		size_t begin = r.at;

		while (is_letter(char_at(&r, r.at)))
			r.at++;
		if (r.at > begin && is_other_work(&r, begin, r.at))
			return true;
		r.at += r.at == begin;
	}
	return false;
}
