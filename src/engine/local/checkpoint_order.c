/* checkpoint_order.c - the order of checkpoints by the numbers in their names: see
 * checkpoints.h. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/text.h"
#include "checkpoints.h"

#define LABEL_SIZE 24
#define TOKENS_MAX 32

/* What a number tells. */
enum meaning { COUNTS_EPOCHS, COUNTS_STEPS, ORDERS, IS_METRIC, TELLS_APART, IS_RANK };

/* By the word beside the number. */
static const struct {
	enum meaning meaning;
	const char *words;
} labels[] = {
	{ COUNTS_EPOCHS, " epoch epochs ep e " },
	{ COUNTS_STEPS, " step steps globalstep iter iters iteration iterations it ba batch "
			"update updates samples tokens " },
	{ IS_METRIC, " loss acc accuracy f ppl perplexity bleu rouge wer cer auc map miou iou psnr "
		     "ssim mse mae rmse score metric reward lr bs seed dim lambda temp temperature "
		     "fid dice " },
	{ TELLS_APART, " of part seed fold run trial exp stage phase attempt version " },
	{ IS_RANK, " rank ranks shard mp tp pp dp gpu node worker proc process " },
};

struct number {
	const char *begin, *end;	/* end: after its unit */
	uint64_t value;
	enum meaning meaning;
};

static bool is_listed(const char *word, const char *list)
{
	char blank[LABEL_SIZE + 2];

	snprintf(blank, sizeof(blank), " %.*s ", LABEL_SIZE - 1, word);
	return *word && strstr(list, blank);
}

static enum meaning meaning_of(const char *word)
{
	for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++)
		if (is_listed(word, labels[i].words))
			return labels[i].meaning;
	return ORDERS;
}

/* The letters before p, over the separators between. */
static void label_before(const char *path, const char *p, char label[LABEL_SIZE])
{
	const char *end, *begin;
	size_t n;

	while (p > path && strchr("_-= ", p[-1]))
		p--;
	end = p;
	while (p > path && isalpha((unsigned char)p[-1]))
		p--;
	begin = p;
	n = (size_t)(end - begin);
	if (n >= LABEL_SIZE || (p > path && isdigit((unsigned char)p[-1])))
		n = 0;		/* too long, or the exponent in "1e-4" */
	for (size_t i = 0; i < n; i++)
		label[i] = (char)tolower((unsigned char)begin[i]);
	label[n] = '\0';
}

/* The letters behind p: "100000_steps". */
static void label_after(const char *p, char label[LABEL_SIZE])
{
	size_t n = 0;

	p += strspn(p, "_-");
	while (n < LABEL_SIZE - 1 && isalpha((unsigned char)p[n])) {
		label[n] = (char)tolower((unsigned char)p[n]);
		n++;
	}
	label[isalpha((unsigned char)p[n]) ? 0 : n] = '\0';
}

/* "10k", "2M", "1e6" */
static const char *take_unit(const char *p, uint64_t *value)
{
	uint64_t unit = *p == 'k' || *p == 'K' ? 1000 : *p == 'M' ? 1000000 : 0;

	if ((*p == 'e' || *p == 'E') && isdigit((unsigned char)p[1]) &&
	    !isalnum((unsigned char)p[2])) {
		for (int n = p[1] - '0'; n > 0 && *value <= UINT64_MAX / 10; n--)
			*value *= 10;
		return p + 2;
	}
	if (!unit || isalnum((unsigned char)p[1]) || *value > UINT64_MAX / unit)
		return p;
	*value *= unit;
	return p + 1;
}

static bool is_followed_by_digit(const char *dot)
{
	return *dot == '.' && isdigit((unsigned char)dot[1]);
}

/* True for "0.85", not for a version "1.2.3" or a date. */
static bool has_fraction(const char *path, const struct number *t)
{
	const char *p = t->end + 1;

	if (!is_followed_by_digit(t->end) ||
	    (t->begin > path + 1 && t->begin[-1] == '.' && isdigit((unsigned char)t->begin[-2])))
		return false;
	while (isdigit((unsigned char)*p))
		p++;
	return !is_followed_by_digit(p);
}

static enum meaning meaning_by_words(const char *path, const struct number *t)
{
	char label[LABEL_SIZE] = "";
	enum meaning meaning;

	label_before(path, t->begin, label);
	/* the digits of ".h5" */
	if (*label && !*t->end && isalpha((unsigned char)t->begin[-1]) &&
	    is_listed(label, " h hdf pt mp bz "))
		return TELLS_APART;
	if (*t->end == '/' && (t->begin == path || t->begin[-1] == '/'))
		return COUNTS_EPOCHS;
	meaning = meaning_of(label);
	if (meaning != ORDERS)
		return meaning;
	label_after(t->end, label);
	meaning = meaning_of(label);
	if (meaning == COUNTS_EPOCHS || meaning == COUNTS_STEPS)
		return meaning;
	if (!strncmp(t->end, "-of-", 4))
		return TELLS_APART;
	return has_fraction(path, t) ? IS_METRIC : ORDERS;
}

/* Of fractions "9" is more than "85". */
static uint64_t in_billionths(const struct number *t)
{
	uint64_t value = 0;

	for (int i = 0; i < 9; i++) {
		bool is_digit = t->begin + i < t->end && isdigit((unsigned char)t->begin[i]);

		value = value * 10 + (is_digit ? (uint64_t)(t->begin[i] - '0') : 0);
	}
	return value;
}

static int find_numbers(const char *path, struct number *list)
{
	int n = 0;

	for (const char *p = path; *p && n < TOKENS_MAX;) {
		struct number *t = &list[n], *before = t - (n > 0);
		char *end;

		if (!isdigit((unsigned char)*p)) {
			p++;
			continue;
		}
		t->begin = p;
		t->value = strtoull(p, &end, 10);
		p = t->end = take_unit(end, &t->value);
		if (n++ == 0 || t->begin != before->end + 1 || t->begin[-1] != '.') {
			t->meaning = meaning_by_words(path, t);
			/* numbers of the directories above, as in "version_0/last.ckpt", tell runs
			 * apart */
			if ((t->meaning == ORDERS || t->meaning == IS_METRIC) &&
			    strchr(t->end, '/'))
				t->meaning = TELLS_APART;
			continue;
		}
		t->meaning = before->meaning;
		if (has_fraction(path, before))
			t->value = in_billionths(t);
	}
	return n;
}

static void add_numbers(struct checkpoint_order *o, const struct number *list, int n,
			enum meaning meaning)
{
	for (int i = 0; i < n && o->n < ORDER_NUMBERS; i++)
		if (list[i].meaning == meaning)
			o->numbers[o->n++] = list[i].value;
}

/* The path with "#" for each number but those of the meanings a and b. The caller frees. */
static char *stem_without(const char *path, const struct number *list, int n, enum meaning a,
			  enum meaning b)
{
	struct text stem = TEXT_INIT;
	const char *p = path;

	for (int i = 0; i < n; i++) {
		if (list[i].meaning == a || list[i].meaning == b)
			continue;
		text_add_bytes(&stem, p, (size_t)(list[i].begin - p));
		text_add(&stem, "#");
		p = list[i].end;
	}
	text_add(&stem, p);
	return text_detach(&stem);
}

static bool has_number(const struct number *list, int n, enum meaning a, enum meaning b)
{
	for (int i = 0; i < n; i++)
		if (list[i].meaning == a || list[i].meaning == b)
			return true;
	return false;
}

void checkpoint_order_of(const char *path, struct checkpoint_order *o)
{
	struct number list[TOKENS_MAX];
	int n = find_numbers(path, list);

	o->n = 0;
	add_numbers(o, list, n, COUNTS_EPOCHS);
	add_numbers(o, list, n, COUNTS_STEPS);
	o->counts = o->n > 0;
	if (o->n == 0)
		add_numbers(o, list, n, ORDERS);
	o->stem = stem_without(path, list, n, TELLS_APART, IS_RANK);
	o->group = has_number(list, n, IS_RANK, IS_RANK)
		? stem_without(path, list, n, TELLS_APART, TELLS_APART) : NULL;
}

void checkpoint_order_release(struct checkpoint_order *o)
{
	free(o->stem);
	free(o->group);
	o->stem = o->group = NULL;
}

int checkpoint_order_compare(const struct checkpoint_order *a, const struct checkpoint_order *b)
{
	for (int i = 0; i < a->n && i < b->n; i++)
		if (a->numbers[i] != b->numbers[i])
			return a->numbers[i] > b->numbers[i] ? 1 : -1;
	return (a->n > b->n) - (a->n < b->n);
}

bool checkpoint_order_counts(const char *name)
{
	struct number list[TOKENS_MAX];
	int n = find_numbers(name, list);

	return has_number(list, n, COUNTS_EPOCHS, COUNTS_STEPS);
}

bool checkpoint_order_has_ranks(const char *name)
{
	struct number list[TOKENS_MAX];
	int n = find_numbers(name, list);

	return has_number(list, n, IS_RANK, IS_RANK);
}
