/* secret.c - which variables look like credentials. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "pollux/mem.h"
#include "pollux/secret.h"

/* --- names --- */

/* "*": a word that ends so counts, too (PGPASSWORD). "tokens" is missing: MAX_TOKENS is a number of
 * them. */
static const char *const words[] = {
	"key", "keys", "*apikey", "*apikeys", "*token", "*secret", "*secrets", "*password",
	"*passwords", "*passwd", "*passphrase", "*credential", "*credentials",
};

static bool is_secret_word(const char *word, size_t length)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		bool ends = *words[i] == '*';
		size_t n = strlen(words[i]) - ends;

		if ((ends ? n <= length : n == length) &&
		    !strncasecmp(word + length - n, words[i] + ends, n))
			return true;
	}
	return false;
}

/* Words end at what is no letter, and between a small and a capital letter. GIT_CONFIG_KEY_0 is the
 * name of a setting, without which git(1) refuses to work. */
bool variable_is_secret(const char *variable)
{
	const char *end = variable + strcspn(variable, "="), *word = variable;

	if (text_starts_with(variable, "GIT_CONFIG_KEY_"))
		return false;
	for (const char *c = variable; c <= end; c++) {
		bool is_letter = c < end && isalpha((unsigned char)*c);
		bool begins = is_letter && c > word && isupper((unsigned char)*c) &&
			      islower((unsigned char)c[-1]);

		if (is_letter && !begins)
			continue;
		if (is_secret_word(word, (size_t)(c - word)))
			return true;
		word = begins ? c : c + 1;
	}
	return false;
}

void text_add_variable(struct text *t, const char *variable)
{
	bool hides = variable_is_secret(variable) && strchr(variable, '=');

	if (hides)
		text_addf(t, "%.*s=***", (int)strcspn(variable, "="), variable);
	else
		text_add(t, variable);
}

/* --- lists of variables --- */

static void add_name(struct text *names, const char *variable)
{
	text_addf(names, "%s%.*s", names->length ? ", " : "", (int)strcspn(variable, "="),
		  variable);
}

int secrets_add_names(struct text *t, const struct strings *env, bool with_values)
{
	struct text names = TEXT_INIT;
	int n = 0;

	for (size_t i = 0; i < env->count; i++) {
		if (!variable_is_secret(env->items[i]) ||
		    with_values != (strchr(env->items[i], '=') != NULL))
			continue;
		add_name(&names, env->items[i]);
		n++;
	}
	text_add(t, n ? names.data : "");
	text_release(&names);
	return n;
}

void secrets_refill(struct strings *env, const struct strings *others, struct text *taken,
		    struct text *lacking)
{
	struct strings full = { 0 };

	for (size_t i = 0; i < env->count; i++) {
		const char *variable = env->items[i], *value;

		if (strchr(variable, '=')) {
			strings_add(&full, variable);
			continue;
		}
		if (strings_variable(env, variable))
			continue;
		value = strings_variable(others, variable);
		add_name(value ? taken : lacking, variable);
		if (value)
			strings_addf(&full, "%s=%s", variable, value);
	}
	strings_release(env);
	*env = full;
}
