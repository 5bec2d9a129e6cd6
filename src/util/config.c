/* config.c - settings from the file and the environment, by the table of settings.c. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pollux/config.h"
#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/paths.h"
#include "pollux/text.h"

#define LONGEST_LINE 1024

/* The line of a file from which a setting comes, for messages. */
struct source {
	const char *path;
	int line;
	bool leniently;		/* wrong lines are skipped */
	struct origin *origins;	/* by setting: what is read is noted there; NULL: nowhere */
};

/* A setting as it is written, and its line in the file. */
struct origin {
	char *value;		/* owned */
	int line;
};

static char *trim(char *s)
{
	char *end = s + strlen(s);

	while (end > s && isspace((unsigned char)end[-1]))
		*--end = '\0';
	while (isspace((unsigned char)*s))
		s++;
	return s;
}

static int set_named(struct config *c, const char *name, const char *value, const struct source *at,
		     struct err *err)
{
	struct suggestion nearest = suggestion_for(name);
	scoped(text_release) struct text names = TEXT_INIT;	/* "slots, slice and policy" */

	for (const struct setting *s = config_settings; s->name; s++) {
		if (!strcmp(s->name, name) && s->set(s, c, value) == 0) {
			if (at->origins) {
				xreplace(&at->origins[s - config_settings].value, value);
				at->origins[s - config_settings].line = at->line;
			}
			return 0;
		}
		if (!strcmp(s->name, name))
			return err_set(err, EX_CONFIG,
				       "bad setting '%s' in '%s' line %d: '%.60s' is not %s", name,
				       at->path, at->line, value, s->wanted);
		suggestion_offer(&nearest, s->name);
	}
	if (nearest.best)
		return err_set(err, EX_CONFIG,
			       "unknown setting '%.60s' in '%s' line %d; did you mean '%s'?", name,
			       at->path, at->line, nearest.best);
	for (const struct setting *s = config_settings; s->name; s++)
		text_addf(&names, "%s%s", s == config_settings ? "" : s[1].name ? ", " : " and ",
			  s->name);
	/* longer than each of them */
	err_set(err, EX_CONFIG, "unknown setting '%.24s' in '%s' line %d; there are %s", name,
		at->path, at->line, names.data);
	return -1;
}

static int read_lines(struct config *c, FILE *file, struct source *at, struct err *err)
{
	char buffer[LONGEST_LINE];

	while (fgets(buffer, sizeof(buffer), file)) {
		char *line, *equals;
		int rc;
		c->bad_line = ++at->line;
		/* A whole line ends in a newline, or the file ends. A NUL, too, ends a text. */
		if (!strchr(buffer, '\n') && !(feof(file) && strlen(buffer) < LONGEST_LINE - 1))
			return err_set(err, EX_CONFIG,
				       "cannot read '%s' line %d: too long, or not text", at->path,
				       at->line);
		buffer[strcspn(buffer, "#")] = '\0';
		line = trim(buffer);
		if (!*line)
			continue;
		equals = strchr(line, '=');
		if (equals) {
			*equals = '\0';
			rc = set_named(c, trim(line), trim(equals + 1), at, err);
		} else {
			rc = err_set(err, EX_CONFIG,
				     "cannot read '%s' line %d: '%.60s' is not 'name = value'",
				     at->path, at->line, line);
		}
		if (rc && !at->leniently)
			return -1;
	}
	c->bad_line = 0;
	if (ferror(file))
		return err_set(err, EX_CONFIG, "cannot read '%s': %s", at->path, strerror(errno));
	return 0;
}

/* Opens without waiting for a writer, as a FIFO has none. A file that is not there says nothing. */
static int read_file(struct config *c, const char *path, bool leniently, struct origin *origins,
		     struct err *err)
{
	struct source at = { .path = path, .leniently = leniently, .origins = origins };
	int fd = file_open_settings(path), rc = -1;
	FILE *file = NULL;
	struct stat st;

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	if (fd < 0 || fstat(fd, &st))
		return err_set(err, EX_CONFIG, "cannot open '%s': %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode) && !S_ISCHR(st.st_mode))
		err_set(err, EX_CONFIG, "cannot read '%s': it is %s", path, S_ISDIR(st.st_mode)
			? "a directory" : S_ISFIFO(st.st_mode) ? "a FIFO" : "no file of text");
	else if (!(file = fdopen(fd, "r")))
		err_set(err, EX_OSERR, "cannot open '%s': %s", path, strerror(errno));
	else
		rc = read_lines(c, file, &at, err);
	if (file)
		fclose(file);
	else
		close(fd);
	return rc;
}

static int read_environment(struct config *c, struct err *err)
{
	for (const struct setting *s = config_settings; s->name; s++) {
		const char *value = getenv(s->variable);

		if (!value || !*value || s->set(s, c, value) == 0)
			continue;
		c->bad_variable = s->variable;
		return err_set(err, EX_CONFIG,
			       "bad variable '%s' in the environment: '%.60s' is not %s",
			       s->variable, value, s->wanted);
	}
	return 0;
}

int config_load(struct config *c, const char *path, struct err *err)
{
	config_init(c);
	if (read_file(c, path, false, NULL, err))
		return -1;
	return read_environment(c, err);
}

/* Which settings of one member hold: the greater. A line comes before later ones, and before
 * variables, which come in the order of the table. 0: the setting is not set. */
static int reading_order(const struct origin *origins, int i)
{
	const char *variable = getenv(config_settings[i].variable);

	return variable && *variable ? INT_MAX / 2 + i : origins[i].line;
}

/* The setting has two names, and what the other one says holds. */
static bool is_overruled(const struct origin *origins, int i)
{
	size_t offset = config_settings[i].offset;

	for (int k = 0; config_settings[k].name; k++)
		if (offset && config_settings[k].offset == offset &&
		    reading_order(origins, k) > reading_order(origins, i))
			return true;
	return false;
}

int config_tell(const char *path, void (*tell)(const struct setting *s, const char *value,
					       int line, void *arg), void *arg, struct err *err)
{
	autofree struct origin *origins = NULL;
	struct config c;
	int n = 0, rc;

	while (config_settings[n].name)
		n++;
	origins = xcalloc((size_t)n, sizeof(*origins));
	config_init(&c);
	rc = read_file(&c, path, false, origins, err) || read_environment(&c, err) ? -1 : 0;
	for (int i = 0; i < n; i++) {
		const struct setting *s = &config_settings[i];
		const char *variable = getenv(s->variable), *value = origins[i].value;

		if (rc == 0 && is_overruled(origins, i))
			tell(s, NULL, CONFIG_BY_DEFAULT, arg);
		else if (rc == 0 && variable && *variable)
			tell(s, variable, CONFIG_BY_VARIABLE, arg);
		else if (rc == 0)
			tell(s, value ? value : s->by_default, origins[i].line, arg);
		free(origins[i].value);
	}
	return rc;
}

void config_load_leniently(struct config *c, const char *path)
{
	struct err ignored;

	config_init(c);
	read_file(c, path, true, NULL, &ignored);
	read_environment(c, &ignored);
}

bool config_load_own(struct config *c)
{
	scoped(paths_release) struct paths paths = { 0 };
	struct err ignored;

	if (paths_init(&paths, &ignored))
		return false;
	return config_load(c, paths.config, &ignored) == 0;
}

/* --- options for sbatch --- */

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
	autofree char *copy = xstrdup(args);
	char *rest = copy, *found = NULL;
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
	return found;
}

const char *slurm_args_own(const char *args)
{
	autofree char *copy = xstrdup(args);
	char *rest = copy;
	const char *name = NULL, *value;

	for (const char *word; !name && (word = strsep(&rest, " \t"));)
		for (size_t i = 0; !name && i < sizeof(own) / sizeof(own[0]); i++)
			if (is_option(word, own[i].name, own[i].letter, &value))
				name = own[i].name;
	return name;
}
