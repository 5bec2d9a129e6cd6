/* sweep.c - one 'pollux submit' for many runs: the options of each run of a sweep. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "pollux/report.h"
#include "pollux/submission.h"
#include "pollux/template.h"
#include "pollux/text.h"
#include "request.h"

/* --- put the values of parameters into texts --- */

/* The value of the parameter that the piece names; NULL: it names none. */
static const char *value_of(const struct strings *parameters, const struct piece *piece)
{
	for (size_t i = 0; piece->word && i < parameters->count; i++)
		if (!strncmp(parameters->items[i], piece->word, piece->word_length) &&
		    parameters->items[i][piece->word_length] == '=')
			return parameters->items[i] + piece->word_length + 1;
	return NULL;
}

static bool knows_nothing(const char *word, size_t length)
{
	(void)word;
	(void)length;
	return false;
}

void sweep_put(const char *text, enum sweep_text kind, const struct strings *parameters,
	       struct text *out)
{
	bool (*knows)(const char *, size_t) = kind == SWEEP_TEMPLATE ? template_knows
		: kind == SWEEP_WITH_JOB ? braces_knows_job : knows_nothing;
	struct braces b = braces_in(text);
	struct text literal = TEXT_INIT;	/* in which nothing is put in later */
	struct piece piece;

	while (braces_next(&b, &piece)) {
		const char *value = value_of(parameters, &piece);

		if (piece.word && knows(piece.word, piece.word_length)) {
			braces_escape(literal.data, knows, out);
			text_clear(&literal);
			text_add_bytes(out, piece.text, piece.length);
		} else if (value && piece.doubled) {
			text_add_bytes(&literal, piece.text + 1, piece.length - 2);
		} else if (value) {
			text_add(&literal, value);
		} else {
			text_add_bytes(&literal, piece.text, piece.length);
		}
	}
	braces_escape(literal.data, knows, out);
	text_release(&literal);
}

/* True if the text has {NAME}, or POLLUX_PARAM_NAME as in a shell's script. */
static bool sweep_uses(const char *text, const char *name)
{
	char *variable = xasprintf("POLLUX_PARAM_%s", name);
	const char *found = strstr(text, variable);
	bool uses = found && !braces_word_goes_on(found + strlen(variable));
	struct braces b = braces_in(text);
	struct piece piece;

	while (!uses && braces_next(&b, &piece))
		uses = !piece.doubled && piece_is(&piece, name);
	free(variable);
	return uses;
}

/* --- a run --- */

static char *put_values(const char *text, enum sweep_text kind, const struct strings *values)
{
	struct text out = TEXT_INIT;

	if (!text)
		return NULL;
	sweep_put(text, kind, values, &out);
	return text_detach(&out);
}

const char *sweep_run_learning_rate(const struct sweep_run *run)
{
	for (size_t i = 0; i < run->parameters.count; i++)
		if (text_starts_with(run->parameters.items[i], "lr="))
			return run->parameters.items[i] + strlen("lr=");
	return NULL;
}

/* The parameters of run i, and {index}: the second one, where --array gives it. */
static void list_values(const struct sweep *s, int i, struct strings *values)
{
	axes_values(&s->axes, i, values);
	strings_addf(values, "index=%d", i);
}

char *sweep_run_text(const struct sweep *s, int i, const char *text)
{
	struct strings values = { 0 };
	char *made;

	list_values(s, i, &values);
	made = put_values(text, SWEEP_PLAIN, &values);
	strings_release(&values);
	return made;
}

void sweep_run_init(const struct sweep *s, int i, struct sweep_run *run)
{
	const struct asked *o = s->asked;
	struct declaration *d = &run->asked.declared;
	struct strings values = { 0 };
	const char *typed_rate;
	char *text;

	*run = (struct sweep_run){ .asked = *o };
	axes_values(&s->axes, i, &run->parameters);
	list_values(s, i, &values);
	for (char *const *argument = s->argv; *argument; argument++) {
		text = put_values(*argument, SWEEP_TEMPLATE, &values);
		strings_add(&run->argv, text);
		free(text);
	}
	declaration_copy(d, &o->declared);
	free(d->name);
	free(d->workload);
	d->name = put_values(o->declared.name, SWEEP_WITH_JOB, &values);
	d->workload = put_values(o->declared.workload, SWEEP_PLAIN, &values);
	run->checkpoint_dir = put_values(o->checkpoint_dir, SWEEP_WITH_JOB, &values);
	run->asked.checkpoint_dir = run->checkpoint_dir;
	run->resume_args = put_values(o->resume_args, SWEEP_TEMPLATE, &values);
	run->asked.resume_args = run->resume_args;
	for (size_t k = 0; k < o->env.count; k++) {
		text = put_values(o->env.items[k], SWEEP_TEMPLATE, &values);
		strings_add(&run->env, text);
		free(text);
	}
	run->asked.env.items = (const char **)(void *)run->env.items;
	typed_rate = sweep_run_learning_rate(run);
	if (typed_rate)
		number_parse(typed_rate, &d->learning_rate);
	strings_release(&values);
}

void sweep_run_release(struct sweep_run *run)
{
	declaration_release(&run->asked.declared);
	strings_release(&run->argv);
	strings_release(&run->parameters);
	strings_release(&run->env);
	free(run->checkpoint_dir);
	free(run->resume_args);
	*run = (struct sweep_run){ .env = { 0 } };
}

/* --- what is wrong with a sweep --- */

int sweep_check_learning_rate(const struct command *by, const char *value, struct err *err)
{
	double rate;

	if (number_parse(value, &rate) || !(rate >= 1e-12 && rate <= 1e12))	/* as of --lr */
		return usage_error(by, err, "parameter 'lr': '%.60s' is not a number from 1e-12 to "
				   "1e+12", value);
	return 0;
}

static bool is_used(const struct sweep *s, const char *name)
{
	const struct asked *o = s->asked;
	const char *const texts[] = {
		o->resume_args, o->declared.name, o->declared.workload, o->checkpoint_dir,
	};

	for (char *const *argument = s->argv; *argument; argument++)
		if (sweep_uses(*argument, name))
			return true;
	for (size_t i = 0; i < o->env.count; i++)
		if (sweep_uses(o->env.items[i], name))
			return true;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (texts[i] && sweep_uses(texts[i], name))
			return true;
	return false;
}

/* Checks that the axis is used. An index need not be in a text, since a program may read
 * POLLUX_INDEX. A file may have columns for people, which are warned of. */
static int check_use(const struct sweep *s, const struct axis *axis, struct err *err)
{
	struct text unused = TEXT_INIT;
	const char *name = NULL;
	size_t n = 0;

	for (size_t i = 0; i < axis->names.count; i++) {
		const char *of_column = axis->names.items[i];

		if (!strcmp(of_column, "index") || is_used(s, of_column))
			continue;
		name = name ? name : of_column;
		text_addf(&unused, "%s'%.60s'", n++ ? ", " : "", of_column);
	}
	if (n > 0 && n == axis->names.count)
		usage_error(s->by, err, "parameter '%s' is used nowhere: put {%s} into the "
			    "command, or --env %s={%s}", name, name, name, name);
	else if (n > 0)
		output_messagef("warning: column%s %s of '%s' %s used nowhere: {%s} in the command "
				"or --env %s={%s} uses %s", plural((long long)n), unused.data,
				axis->how, n == 1 ? "is" : "are", name, name, name,
				n == 1 ? "it" : "the first");
	text_release(&unused);
	return n > 0 && n == axis->names.count ? -1 : 0;
}

/* Checks the parameter of a column. */
static int check_parameter(const struct sweep *s, const struct axis *axis, size_t column,
			   struct err *err)
{
	const char *name = axis->names.items[column];

	if (strcmp(name, "lr") != 0)
		return 0;
	if (!isnan(s->asked->declared.learning_rate))
		return usage_error(s->by, err, "give one of --lr and parameter 'lr'");
	for (int i = 0; i < axis->n; i++)
		if (sweep_check_learning_rate(s->by, axis->values.items[(size_t)i *
					      axis->names.count + column], err))
			return -1;
	return 0;
}

int sweep_init(struct sweep *s, const struct command *by, const struct asked *asked,
	       const struct sweep_asked *o, char **argv, struct err *err)
{
	int rc;

	*s = (struct sweep){ .by = by, .asked = asked, .argv = argv };
	rc = axes_parse(by, o, &s->axes, err);
	for (int a = 0; rc == 0 && a < s->axes.count; a++) {
		rc = check_use(s, &s->axes.items[a], err);
		for (size_t i = 0; rc == 0 && i < s->axes.items[a].names.count; i++)
			rc = check_parameter(s, &s->axes.items[a], i, err);
	}
	return rc;
}

void sweep_release(struct sweep *s)
{
	axes_release(&s->axes);
}

void sweep_varied(const struct sweep *s, struct strings *out)
{
	for (int a = 0; a < s->axes.count; a++)
		for (size_t i = 0; i < s->axes.items[a].names.count; i++)
			strings_addf(out, "%s=%s", s->axes.items[a].names.items[i],
				     s->axes.items[a].how);
}

#define NAME_BYTES 80	/* size of a name that is made of parameters */

/* A value may be any text: a long name is cut, and control characters are left out. */
char *sweep_run_name(const char *of_group, const struct strings *parameters)
{
	struct text name = TEXT_INIT;

	text_add(&name, of_group);
	for (size_t i = 0; i < parameters->count; i++) {
		text_add(&name, " ");
		for (const char *s = parameters->items[i]; *s;) {
			size_t n = utf8_length(s);

			if (n && !utf8_is_control(s, n))
				text_add_bytes(&name, s, n);
			s += n ? n : 1;
		}
	}
	name.data[utf8_clip(name.data, name.length < NAME_BYTES ? name.length : NAME_BYTES)] = '\0';
	return text_detach(&name);
}
