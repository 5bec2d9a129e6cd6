/* bars.c - see bars.h. */
#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "bars.h"

#define FASTER 4.0	/* at least this ratio of counts, as of batches to epochs */

void bars_init(struct bars *b)
{
	memset(b, 0, sizeof(*b));
	b->expected_total = (double)NAN;
	b->enough_s = STEPS_BAR_LIFE_S;
}

/* --- descriptions --- */

struct word {
	const char *text;	/* the beginning of a word of the description */
	bool pauses;
};

static const struct word others[] = {
	{ "map", false }, { "download", false }, { "loading", false }, { "tokeniz", false },
	{ "generating", false }, { "filter", false }, { "preprocess", false }, { "casting", false },
	{ "creating", false }, { "fetch", false }, { "extract", false }, { "upload", false },
	{ "grouping", false }, { "packing", false }, { "evaluat", true }, { "eval", true },
	{ "valid", true }, { "val", true }, { "test", true }, { "sanity", true },
	{ "predict", true }, { "saving", true },
};

static bool has_word(const struct sighting *s, const char *word)
{
	size_t n = strlen(word);

	for (size_t i = 0; i + n <= s->description_length; i++)
		if ((i == 0 || !isalpha((unsigned char)s->description[i - 1])) &&
		    !strncasecmp(s->description + i, word, n))
			return true;
	return false;
}

bool bars_is_other(const struct sighting *s, bool *pauses)
{
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (has_word(s, others[i].text)) {
			*pauses = others[i].pauses;
			return true;
		}
	return false;
}

bool bars_is_of_epoch(const struct sighting *s)
{
	return has_word(s, "epoch");
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

/* The bar with this id. A new bar takes the place of the one that lived least. */
static struct bar *find(struct bars *b, uint64_t id)
{
	struct bar *least = &b->items[0];

	for (int i = 0; i < BARS_MAX; i++) {
		struct bar *bar = &b->items[i];

		if (bar->id == id)
			return bar;
		if (is_taken(b, least) || (!is_taken(b, bar) && bar->life_s < least->life_s))
			least = bar;
	}
	*least = (struct bar){ .id = id, .first_arrival_s = (double)NAN };
	return least;
}

static void count(struct bar *bar, const struct sighting *s)
{
	double lived =
		s->elapsed_s >= bar->elapsed_s ? s->elapsed_s - bar->elapsed_s : s->elapsed_s;

	if (isnan(bar->first_arrival_s))
		bar->first_arrival_s = s->arrival_s;
	bar->life_s += lived;
	bar->life_unseen_s += lived;
	bar->counted += s->step >= bar->step ? s->step - bar->step : s->step;
	bar->repeated += s->step < bar->step;
	bar->elapsed_s = s->elapsed_s;
	bar->step = s->step;
}

/* True for an inner bar, which begins again about as often as the outer bar moves. A bar of
 * evaluations begins again far more seldom. */
static bool is_within(const struct bar *bar, const struct bar *outer)
{
	return bar->counted > FASTER * outer->counted && 2 * (bar->repeated + 1) >= outer->counted;
}

/* True if the bar is to replace the taken one (NULL: none). */
static bool is_better(const struct bars *b, const struct bar *bar, const struct bar *taken,
		      const struct sighting *s)
{
	if (bar->life_unseen_s > b->enough_s)
		return true;
	if (!taken)
		return s->total >= b->expected_total && s->total <= b->expected_total;
	return bar->life_s > b->enough_s && is_within(bar, taken) && isnan(b->expected_total);
}

double bars_taken_since(const struct bars *b)
{
	for (int i = 0; i < BARS_MAX; i++)
		if (is_taken(b, &b->items[i]))
			return b->items[i].first_arrival_s;
	return (double)NAN;
}

void bars_see_other(struct bars *b)
{
	for (int i = 0; i < BARS_MAX; i++)
		b->items[i].life_unseen_s = 0;
}

bool bars_take(struct bars *b, const struct sighting *s, bool *changed, int *repeated)
{
	uint64_t id = id_of(s);
	struct bar *bar = find(b, id);
	const struct bar *taken = b->taken ? find(b, b->taken) : NULL;

	*changed = false;
	count(bar, s);
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
