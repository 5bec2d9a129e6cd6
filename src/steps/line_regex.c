/* line_regex.c - see patterns.h. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "patterns.h"
#include "pollux/mem.h"

struct line_regex {
	pcre2_code *code;
	bool anchored;		/* it can begin at the beginning of a line only */
	int n_groups;
};

struct line_matcher {
	pcre2_match_data *data;
	pcre2_match_context *limits;
	int64_t n_given_up;
};

/* A dollar is the end of the line, and a dot any byte, as in POSIX. An expression cannot turn on
 * UTF-8, since a log need not be valid UTF-8. */
#define OPTIONS (PCRE2_DOLLAR_ENDONLY | PCRE2_DOTALL | PCRE2_NEVER_UTF | PCRE2_NEVER_UCP)

struct line_regex *line_regex_new(const char *text, bool any_case, struct err *err)
{
	struct line_regex *regex;
	pcre2_code *code;
	PCRE2_SIZE at;
	PCRE2_UCHAR why[128];
	uint32_t options = 0, n_groups = 0;
	int rc;

	if (strlen(text) > LINE_REGEX_LENGTH_MAX) {
		err_set(err, EX_USAGE, "'%.200s...' is longer than %d bytes", text,
			LINE_REGEX_LENGTH_MAX);
		return NULL;
	}
	code = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED,
			     OPTIONS | (any_case ? PCRE2_CASELESS : 0), &rc, &at, NULL);
	if (!code) {
		pcre2_get_error_message(rc, why, sizeof(why));
		err_set(err, EX_USAGE, "'%.200s' is no regular expression: %s, at offset %zu", text,
			(const char *)why, at);
		return NULL;
	}
	pcre2_pattern_info(code, PCRE2_INFO_ALLOPTIONS, &options);
	pcre2_pattern_info(code, PCRE2_INFO_CAPTURECOUNT, &n_groups);
	regex = xcalloc(1, sizeof(*regex));
	*regex = (struct line_regex){
		.code = code, .anchored = (options & PCRE2_ANCHORED) != 0,
		.n_groups = (int)n_groups,
	};
	return regex;
}

void line_regex_free(struct line_regex *regex)
{
	if (regex)
		pcre2_code_free(regex->code);
	free(regex);
}

int line_regex_groups(const struct line_regex *regex)
{
	return regex->n_groups;
}

static void *allocate_bytes(size_t bytes, void *unused)
{
	(void)unused;
	return xmalloc(bytes);
}

static void release_bytes(void *memory, void *unused)
{
	(void)unused;
	free(memory);
}

struct line_matcher *line_matcher_new(void)
{
	struct line_matcher *matcher = xcalloc(1, sizeof(*matcher));
	pcre2_general_context *memory = pcre2_general_context_create(allocate_bytes, release_bytes,
								     NULL);

	matcher->data = pcre2_match_data_create(LINE_REGEX_GROUPS, memory);
	matcher->limits = pcre2_match_context_create(memory);
	pcre2_general_context_free(memory);
	pcre2_set_depth_limit(matcher->limits, LINE_REGEX_DEPTH);
	pcre2_set_heap_limit(matcher->limits, LINE_REGEX_HEAP_KIB);
	return matcher;
}

void line_matcher_free(struct line_matcher *matcher)
{
	if (!matcher)
		return;
	pcre2_match_data_free(matcher->data);
	pcre2_match_context_free(matcher->limits);
	free(matcher);
}

int64_t line_matcher_given_up(const struct line_matcher *matcher)
{
	return matcher->n_given_up;
}

bool line_regex_match(const struct line_regex *regex, struct line_matcher *matcher,
		      const char *line, size_t n, struct span groups[LINE_REGEX_GROUPS])
{
	const PCRE2_SIZE *at = pcre2_get_ovector_pointer(matcher->data);
	size_t n_begins = regex->anchored ? 1 : n + 1;
	int rc;

	/* PCRE2 counts anew for each place where a match may begin. */
	pcre2_set_match_limit(matcher->limits, (uint32_t)(LINE_REGEX_TRIES / n_begins));
	rc = pcre2_match(regex->code, (PCRE2_SPTR)line, n, 0, 0, matcher->data, matcher->limits);
	if (rc < 0) {
		matcher->n_given_up += rc != PCRE2_ERROR_NOMATCH;
		return false;
	}
	/* 0: it has more groups than there is room for. */
	for (size_t i = 0; i < LINE_REGEX_GROUPS; i++) {
		bool took_part = (rc == 0 || i < (size_t)rc) && at[2 * i] != PCRE2_UNSET;

		groups[i] = took_part ? (struct span){ line + at[2 * i], at[2 * i + 1] - at[2 * i] }
				      : (struct span){ NULL, 0 };
	}
	return true;
}
