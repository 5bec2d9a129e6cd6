/* slurm_args.c - see slurm_args.h. */
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "pollux/slurm_args.h"
#include "pollux/text.h"

static const struct {
	const char *name;
	char letter;
} own[] = {
	{ "array", 'a' }, { "chdir", 'D' }, { "clusters", 'M' }, { "comment", '\0' },
	{ "dependency", 'd' }, { "gpus", 'G' }, { "gpus-per-node", '\0' }, { "gres", '\0' },
	{ "job-name", 'J' }, { "nodefile", 'F' }, { "nodelist", 'w' }, { "nodes", 'N' },
	{ "ntasks", 'n' }, { "ntasks-per-node", '\0' }, { "output", 'o' }, { "parsable", '\0' },
	{ "requeue", '\0' }, { "signal", '\0' }, { "test-only", '\0' }, { "wait", 'W' },
	{ "wrap", '\0' },
};

/* sbatch takes the beginning of a name for the name if no other option begins so. */
#define LEAST_BEGINNING 3

/* True if the word is the option. *value is what follows in the word; NULL: nothing does. */
static bool is_option(const char *word, const char *name, char letter, const char **value)
{
	size_t n = strcspn(word, "=");

	*value = NULL;
	if (letter && word[0] == '-' && word[1] == letter) {
		if (word[2])
			*value = word + 2;
		return true;
	}
	if (!text_starts_with(word, "--") || n < 2 + LEAST_BEGINNING ||
	    strncmp(word + 2, name, n - 2) != 0)
		return false;
	if (word[n] == '=')
		*value = word + n + 1;
	return true;
}

char *slurm_args_value(const char *args, const char *name, char letter)
{
	char *copy = xstrdup(args), *rest = copy, *found = NULL;
	bool is_next = false;

	for (const char *word; (word = strsep(&rest, " \t"));) {
		const char *value = NULL;
		bool is_value = is_next;

		if (!*word)
			continue;
		is_next = !is_value && is_option(word, name, letter, &value) && !value;
		if (is_value || value)
			xreplace(&found, is_value ? word : value);
	}
	free(copy);
	return found;
}

static const char *own_name(const char *word)
{
	const char *value;

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (is_option(word, own[i].name, own[i].letter, &value))
			return own[i].name;
	return NULL;
}

const char *slurm_args_own(const char *args)
{
	char *copy = xstrdup(args), *rest = copy;
	const char *name = NULL;

	for (const char *word; !name && (word = strsep(&rest, " \t"));)
		name = own_name(word);
	free(copy);
	return name;
}
