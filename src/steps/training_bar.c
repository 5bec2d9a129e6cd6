/* training_bar.c - which of several progress bars is that of the training: see patterns.h. */
#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "patterns.h"
#include "steps_state.h"

#define FASTER 4.0	/* at least this ratio of counts, as of batches to epochs */
#define TURN 3.0	/* an evaluation between two epochs lasts at most so many of their times */
#define ABANDONED 30.0	/* a bar unseen for this many times enough_s was left before its end */

void bars_init(struct bars *b)
{
	memset(b, 0, sizeof(*b));
	b->expected_total = (double)NAN;
	b->enough_s = STEPS_BAR_LIFE_S;
}

/* --- descriptions --- */

/* Finds the first word at or behind the place. Returns its length; 0: there is none. */
static size_t next_word(const struct sighting *s, size_t *at)
{
	size_t end;

	while (*at < s->description_length && !isalpha((unsigned char)s->description[*at]))
		++*at;
	for (end = *at; end < s->description_length && isalpha((unsigned char)s->description[end]);)
		end++;
	return end - *at;
}

static bool has_word(const struct sighting *s, const char *word)
{
	size_t n;

	for (size_t at = 0; (n = next_word(s, &at)); at += n)
		if (n >= strlen(word) && !strncasecmp(s->description + at, word, strlen(word)))
			return true;
	return false;
}

bool bars_is_other(const struct sighting *s, bool *pauses)
{
	enum other_work work = OTHER_NONE;
	size_t n;

	for (size_t at = 0; (n = next_word(s, &at)); at += n) {
		enum other_work of_word = other_work_of(s->description + at, n, false);

		work = of_word > work ? of_word : work;
	}
	*pauses = work == OTHER_PAUSE;
	return work == OTHER_PAUSE ||
	       (work == OTHER_ASIDE && !has_word(s, "train") && !has_word(s, "epoch"));
}

bool bars_is_of_epoch(const struct sighting *s)
{
	return has_word(s, "epoch") && !isnan(s->epoch);
}

/* --- which is which --- */

/* FNV-1a: G. Fowler, L. C. Noll and K.-P. Vo, RFC 9923. */
static uint64_t hash(uint64_t h, const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		h = (h ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3;
	return h;
}

static uint64_t id_of(const struct sighting *s)
{
	double total = isnan(s->total) ? -1 : s->total;
	uint64_t h = hash(0xcbf29ce484222325, &total, sizeof(total));

	for (size_t i = 0; i < s->description_length; i++)
		if (!isdigit((unsigned char)s->description[i]) &&
		    !isspace((unsigned char)s->description[i]))
			h = hash(h, s->description + i, 1);
	return h ? h : 1;
}

static bool is_taken(const struct bars *b, const struct bar *bar)
{
	return b->taken && bar->id == b->taken;
}

/* Finds the bar with this id. A new bar takes the place of the one that has lived least. */
static struct bar *find_bar(struct bars *b, uint64_t id)
{
	struct bar *least = &b->items[0];

	for (int i = 0; i < BARS_MAX; i++) {
		struct bar *bar = &b->items[i];

		if (bar->id == id)
			return bar;
		if (is_taken(b, least) || (!is_taken(b, bar) && bar->life_s < least->life_s))
			least = bar;
	}
	*least = (struct bar){
		.id = id, .first_arrival_s = (double)NAN, .step = (double)NAN, .born = ++b->n_born,
	};
	return least;
}

/* True for an inner bar, which begins again about as often as the outer bar moves. A bar of
 * evaluations begins again far more seldom. */
static bool is_within(const struct bar *bar, const struct bar *outer)
{
	return bar->counted > FASTER * outer->counted && 2 * (bar->repeated + 1) >= outer->counted;
}

/* True if the taken bar stopped before its end and probably goes on after the other bar, because
 * that bar belongs to an evaluation: it has no description, and began more seldom than the taken
 * bar moved. */
static bool goes_on(const struct bars *b, const struct bar *taken, const struct bar *other)
{
	return !other->described && taken->step < taken->total &&
	       2 * (other->repeated + 1) < taken->counted &&
	       other->life_unseen_s < ABANDONED * b->enough_s;
}

static bool is_at_its_end(const struct bar *bar)
{
	return bar->step >= bar->total;
}

static double turn_s(const struct bar *bar)
{
	return bar->life_s / (bar->repeated + 1);
}

/* True if the two bars may take turns, as those of training and validation do: the first is at its
 * end, and the other, which does not say that it trains, has not gone on (life_s) for far longer
 * than one turn of the first. */
static bool takes_turns(const struct bar *first, const struct bar *other, double life_s)
{
	return is_at_its_end(first) && other->trains <= first->trains &&
	       life_s <= TURN * turn_s(first);
}

/* True if the bar takes turns with one that began earlier. */
static bool is_second_of_turns(const struct bars *b, const struct bar *bar)
{
	for (int i = 0; i < BARS_MAX; i++) {
		const struct bar *other = &b->items[i];

		if (other->id && other->born < bar->born && takes_turns(other, bar, turn_s(bar)))
			return true;
	}
	return false;
}

/* True if the bar is to replace the taken one (NULL: none). */
static bool is_better(const struct bars *b, const struct bar *bar, const struct bar *taken,
		      const struct sighting *s)
{
	if (bar->life_unseen_s > b->enough_s && !taken)
		return !is_second_of_turns(b, bar);
	if (bar->life_unseen_s > b->enough_s)
		return !goes_on(b, taken, bar) && !is_within(taken, bar) &&
		       !takes_turns(taken, bar, bar->life_unseen_s);
	if (!taken)
		return bar->id == b->known || bars_is_of_epoch(s) ||
		       (s->total >= b->expected_total && s->total <= b->expected_total);
	return bar->life_s > b->enough_s && is_within(bar, taken) && isnan(b->expected_total);
}

static bool is_outer(const struct bars *b, const struct bar *outer, const struct bar *taken)
{
	double moved = outer->counted - taken->repeated;

	if (!outer->id || outer->id == taken->id || !(outer->total > 0) || !(taken->total > 0))
		return false;
	if (outer->id == b->known_outer)
		return true;
	return outer->born < taken->born && fabs(moved) <= 1 &&
	       (outer->of_epochs || taken->repeated > 0);
}

const struct bar *bars_outer(const struct bars *b)
{
	const struct bar *taken = NULL, *best = NULL;

	for (int i = 0; i < BARS_MAX; i++)
		if (is_taken(b, &b->items[i]))
			taken = &b->items[i];
	for (int i = 0; taken && i < BARS_MAX; i++) {
		const struct bar *bar = &b->items[i];

		if (is_outer(b, bar, taken) && (!best || bar->of_epochs >= best->of_epochs))
			best = bar;
	}
	return best;
}

void bars_begin_run(struct bars *b)
{
	double expected_total = b->expected_total, enough_s = b->enough_s;
	uint64_t known = b->taken ? b->taken : b->known, known_outer = b->known_outer;
	const struct bar *outer = bars_outer(b);

	if (outer)
		known_outer = outer->id;
	bars_init(b);
	b->expected_total = expected_total;
	b->enough_s = enough_s;
	b->known = known;
	b->known_outer = known_outer;
}

void bars_trust_last(struct bars *b)
{
	if (!b->taken && b->last)
		b->known = b->last;
}

double bars_taken_since(const struct bars *b)
{
	for (int i = 0; i < BARS_MAX; i++)
		if (is_taken(b, &b->items[i]))
			return b->items[i].first_arrival_s;
	return (double)NAN;
}

bool bars_taken_ended(const struct bars *b)
{
	for (int i = 0; i < BARS_MAX; i++)
		if (is_taken(b, &b->items[i]))
			return is_at_its_end(&b->items[i]);
	return false;
}

void bars_see_other(struct bars *b)
{
	for (int i = 0; i < BARS_MAX; i++)
		b->items[i].life_unseen_s = 0;
}

bool bars_take(struct bars *b, const struct sighting *s, bool *changed, int *repeated)
{
	uint64_t id = id_of(s);
	struct bar *bar = find_bar(b, id);
	const struct bar *taken = b->taken ? find_bar(b, b->taken) : NULL;
	double lived =
		s->elapsed_s >= bar->elapsed_s ? s->elapsed_s - bar->elapsed_s : s->elapsed_s;

	*changed = false;
	b->last = id;
	if (isnan(bar->first_arrival_s))
		bar->first_arrival_s = s->arrival_s;
	bar->life_s += lived;
	bar->life_unseen_s += lived;
	if (!isnan(bar->step))
		bar->counted += s->step >= bar->step ? s->step - bar->step : s->step;
	bar->repeated += s->step < bar->step;
	bar->elapsed_s = s->elapsed_s;
	bar->step = s->step;
	bar->total = s->total;
	bar->described = s->description_length > 0;
	bar->trains = has_word(s, "train") || has_word(s, "epoch");
	bar->of_epochs = has_word(s, "epoch") && isnan(s->epoch);
	*repeated = bar->repeated;
	if (id == b->taken) {
		bars_see_other(b);
		return true;
	}
	if (!is_better(b, bar, taken, s))
		return false;
	b->taken = id;
	*changed = true;
	return true;
}
