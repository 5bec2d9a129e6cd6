/* metric_names.c - see metric_names.h. */
#include "metric_names.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* Words have a blank on both sides of each. */
static const char metrics[] =
	" loss acc accuracy f1 auc auroc ppl perplexity bleu iou miou dice mae mse rmse wer cer nll"
	" psnr ssim reward ";
static const char means[] = " avg average mean ";
static const char stops[] =
	" best lowest highest prev previous previously old last target goal"
	" threshold improved improvement improve reduced decreased increased patience baseline"
	" namespace config configuration args arguments hparams hyperparameters settings ";
/* Words with which a name is of a setting, a count, a time or another best value. */
static const char doubts[] =
	" best lowest highest min max prev previous old last target goal threshold patience"
	" baseline delta scale scaler weight weights coef coeff coefficient lambda factor ratio"
	" rate lr fn func function type mode name smoothing window interval freq frequency every"
	" step steps iter iters iteration iterations epoch epochs time times sec secs second"
	" seconds ms runtime duration eta speed throughput samples sample per path file dir id"
	" idx index num n count counts size sizes batch batches split seed clip limit start end"
	" begin offset decay beta gamma alpha margin temperature dropout drop mem memory gpu"
	" workers worker device std var variance accum accumulate accumulation accelerator access"
	" account accept accepted accepts enabled only set sets data dataset ds loader ";

static const struct {
	const char *words, *section;
} sections[] = {
	{ " train training trn ", "train" },
	{ " val valid validation ", "val" },
	{ " eval evaluation evaluate evaluating ", "eval" },
	{ " test testing ", "test" },
	{ " dev ", "dev" },
};

static bool is_among(const char *word, size_t n, const char *words)
{
	size_t length;

	for (const char *w = words + 1; *w; w += length + 1) {
		length = strcspn(w, " ");
		if (length == n && !strncasecmp(w, word, n))
			return true;
	}
	return false;
}

const char *metric_section(const char *word, size_t n)
{
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		if (is_among(word, n, sections[i].words))
			return sections[i].section;
	return NULL;
}

bool metric_word_stops(const char *word, size_t n)
{
	return is_among(word, n, stops);
}

bool metric_word_is_mean(const char *word, size_t n)
{
	return is_among(word, n, means);
}

/* True for "top5" and "acc1" as for "f1". */
static bool is_metric(const char *part, size_t n)
{
	if (is_among(part, n, metrics))
		return true;
	while (n > 0 && isdigit((unsigned char)part[n - 1]))
		n--;
	return is_among(part, n, metrics);
}

/* What the parts of a name say, between bars, points and the like. */
struct parts {
	bool has_metric, has_section;
	bool begins_evaluation;		/* the first one is "val" or "eval" */
	int n, others;			/* others: words that say nothing */
};

/* False: the name is in doubt. */
static bool take_part(struct parts *p, const char *part, size_t n)
{
	const char *section = metric_section(part, n);

	/* Lightning's "train_loss_epoch" is a loss, "eval_steps" a setting. */
	if (p->has_metric && is_among(part, n, " step epoch "))
		return true;
	if (is_among(part, n, doubts))
		return false;
	if (section) {
		p->has_section = true;
		p->begins_evaluation |= p->n == 0 && is_among(section, strlen(section),
							      " val eval ");
	} else if (is_metric(part, n)) {
		p->has_metric = true;
	} else {
		p->others += !is_among(part, n, means) && !isdigit((unsigned char)*part);
	}
	p->n++;
	return true;
}

static bool read_parts(struct parts *p, const char *name, size_t n)
{
	static const char joints[] = "_./@+-";

	for (size_t begin = 0, end; begin < n; begin = end + 1) {
		for (end = begin; end < n && !strchr(joints, name[end]);)
			end++;
		if (end > begin && !take_part(p, name + begin, end - begin))
			return false;
	}
	return p->has_metric || (p->begins_evaluation && p->others > 0);
}

bool metric_name_read(const char *name, size_t n, const char *section, struct metric_name *of,
		      char out[METRIC_NAME_SIZE])
{
	struct parts p = { .n = 0 };
	size_t before;

	if (!read_parts(&p, name, n))
		return false;
	*of = (struct metric_name){ .is_common = p.others == 0, .has_section = p.has_section };
	before = *section && !p.has_section ? strlen(section) + 1 : 0;
	if (before + n >= METRIC_NAME_SIZE)
		return false;
	if (before > 0) {
		memcpy(out, section, before - 1);
		out[before - 1] = '_';
	}
	memcpy(out + before, name, n);
	out[before + n] = '\0';
	if (!metric_is_name(out, before + n))
		return false;
	for (char *c = out; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	return true;
}
