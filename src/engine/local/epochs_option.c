/* epochs_option.c - see epochs_option.h. */
#include "epochs_option.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
	"epochs", "num_epochs", "n_epochs", "nepochs", "nb_epochs", "max_epochs", "max_epoch",
	"total_epochs", "train_epochs", "num_train_epochs", "n_epoch", "niter_epochs",
};

/* Compares to the end of the name, which '=' or the end of the word ends. '-' is '_'. */
static bool is_name(const char *word, size_t n, const char *name)
{
	if (strlen(name) != n)
		return false;
	for (size_t i = 0; i < n; i++)
		if ((word[i] == '-' ? '_' : tolower((unsigned char)word[i])) != name[i])
			return false;
	return true;
}

/* True for "--max-epochs", "max_epochs=10" and "--trainer.max_epochs"; a word without dashes has to
 * have a value of its own. */
static bool names_epochs(const char *word)
{
	bool dashes = word[0] == '-';
	size_t n;

	word += strspn(word, "-+");
	n = strcspn(word, "=");
	if (!dashes && !word[n])
		return false;
	for (size_t at = n; at > 0; at--)
		if (word[at - 1] == '.') {
			word += at;
			n -= at;
			break;
		}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (is_name(word, n, names[i]))
			return true;
	return false;
}

static double number_of(const char *text)
{
	char *end;
	double value = strtod(text, &end);

	return end > text && !*end && value >= 1 && value < 1e9 ? value : (double)NAN;
}

double epochs_of_command(const struct strings *argv)
{
	double epochs = (double)NAN;

	for (size_t i = 0; i < argv->count; i++) {
		const char *equals = strchr(argv->items[i], '=');
		double value;

		if (!names_epochs(argv->items[i]))
			continue;
		if (equals)
			value = number_of(equals + 1);
		else
			value = number_of(i + 1 < argv->count ? argv->items[i + 1] : "");
		if (!isnan(epochs) && (value < epochs || value > epochs))
			return (double)NAN;
		epochs = isnan(value) ? epochs : value;
	}
	return epochs;
}
