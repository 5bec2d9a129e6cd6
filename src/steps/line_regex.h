/* line_regex.h - a regular expression on a line of a log, by PCRE2; private to src/steps.
 *
 * Expressions and lines come from anyone, so a match has limits, after which the line counts as not
 * matched: LINE_REGEX_TRIES attempts over all the places where a match may begin, and
 * LINE_REGEX_HEAP_KIB of memory. Bytes are compared, not characters of any encoding. */
#ifndef POLLUX_STEPS_LINE_REGEX_H
#define POLLUX_STEPS_LINE_REGEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pollux/err.h"

#define LINE_REGEX_GROUPS 10		/* the whole match is group 0 */
#define LINE_REGEX_LENGTH_MAX 1000	/* bytes of an expression */
#define LINE_REGEX_TRIES 8000000
#define LINE_REGEX_DEPTH 20000
#define LINE_REGEX_HEAP_KIB 4096

struct line_regex;
/* Memory for matching, which any number of expressions may share. */
struct line_matcher;

struct span {
	const char *text;	/* NULL: the group took no part */
	size_t n;
};

/* NULL with EX_USAGE for text that is no expression. */
struct line_regex *line_regex_new(const char *text, bool any_case, struct err *err);
void line_regex_free(struct line_regex *regex);
/* The number of groups, without group 0. */
int line_regex_groups(const struct line_regex *regex);

struct line_matcher *line_matcher_new(void);
void line_matcher_free(struct line_matcher *matcher);
/* The number of lines that reached a limit. */
int64_t line_matcher_given_up(const struct line_matcher *matcher);

/* Groups point into the line. */
bool line_regex_match(const struct line_regex *regex, struct line_matcher *matcher,
		      const char *line, size_t n, struct span groups[LINE_REGEX_GROUPS]);

#endif
