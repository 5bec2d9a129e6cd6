/* explain_share.c - what the job and others do to each other on one device. */
#include <math.h>

#include "pollux/explain.h"
#include "pollux/report.h"

static bool has_any(const struct explanation *e)
{
	return e->job->declared.share || e->pairs.count > 0;
}

/* Memory is left out: what it allows depends on the jobs. */
static struct share_answer judge_pair(const struct share_pair *p)
{
	struct share_group g = { .n = 2 };

	g.factors[0][1] = p->own;
	g.factors[1][0] = p->other;
	return share_judge(&g);
}

static void add_factor(struct text *t, const char *whose, const struct share_factor *f)
{
	if (f->n_windows > 0 && isfinite(f->relative))
		text_addf(t, "%s steps take %s instead of %s (%.2f of the rate, %lld window%s)",
			  whose, format_span(f->beside_s).s, format_span(f->alone_s).s, f->relative,
			  (long long)f->n_windows, plural(f->n_windows));
	else
		text_addf(t, "%s steps were not measured both alone and there", whose);
}

static void add_verdict(struct text *t, struct share_answer answer)
{
	switch (answer.verdict) {
	case SHARE_TOGETHER:
		text_addf(t, "; together %.2f times what they do by turns: they stay together",
			  answer.sum);
		break;
	case SHARE_APART:
		text_addf(t, "; together %.2f times what they do by turns, %.2f is needed: "
			  "they take turns", answer.sum, SHARE_GAIN);
		break;
	case SHARE_TRY:
		text_addf(t, "; %d windows decide", SHARE_WINDOWS);
		break;
	case SHARE_NO_ROOM:
		break;
	case SHARE_NOT_AGAIN:
		text_add(t, "; one of them ran out of memory there: they take turns");
		break;
	}
}

void explanation_print_share(const struct explanation *e, const struct output *out)
{
	struct text t = TEXT_INIT;

	if (!has_any(e))
		return;
	fputs("\nbeside others on one device\n", out->file);
	output_line(out, "allowed", e->job->declared.share ? "yes, where memory allows it and it "
		    "pays" : "no: it was submitted without --share");
	for (int i = 0; i < e->pairs.count; i++) {
		const struct share_pair *p = &e->pairs.items[i];

		text_addf(&t, "beside '%s': ", p->beside);
		add_factor(&t, "its", &p->own);
		text_add(&t, "; ");
		add_factor(&t, "the other's", &p->other);
		add_verdict(&t, judge_pair(p));
		output_textline(out, "pair", &t);
	}
	text_release(&t);
}

static void print_json_factor(struct json *j, const char *name, const struct share_factor *f)
{
	json_object(j, name);
	json_number(j, "relative_rate", f->relative);
	json_number(j, "alone_s", f->alone_s);
	json_number(j, "beside_s", f->beside_s);
	json_integer(j, "n_windows", f->n_windows);
	json_bool(j, "out_of_memory", f->out_of_memory);
	json_end(j);
}

void explanation_print_json_share(struct json *j, const struct explanation *e)
{
	static const char *const verdicts[] = {
		[SHARE_TOGETHER] = "together", [SHARE_TRY] = "not measured",
		[SHARE_APART] = "by turns", [SHARE_NO_ROOM] = "no room",
		[SHARE_NOT_AGAIN] = "out of memory",
	};

	if (!has_any(e))
		return;
	json_array(j, "beside_others");
	for (int i = 0; i < e->pairs.count; i++) {
		const struct share_pair *p = &e->pairs.items[i];
		struct share_answer answer = judge_pair(p);

		json_object(j, NULL);
		json_string(j, "beside", p->beside);
		print_json_factor(j, "own", &p->own);
		print_json_factor(j, "other", &p->other);
		json_number(j, "sum", answer.sum);
		json_string(j, "verdict", verdicts[answer.verdict]);
		json_end(j);
	}
	json_end(j);
}
