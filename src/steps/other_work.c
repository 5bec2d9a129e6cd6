/* other_work.c - see other_work.h. */
#include "other_work.h"

#include <string.h>
#include <strings.h>

struct word {
	const char *text;
	bool whole;		/* false: words that begin so count, too */
	bool in_lines;
	enum other_work work;
};

static const struct word words[] = {
	{ "val", true, true, OTHER_PAUSE },
	{ "valid", false, true, OTHER_PAUSE },
	{ "vali", true, true, OTHER_PAUSE },
	{ "eval", false, true, OTHER_PAUSE },
	{ "test", true, true, OTHER_PAUSE },
	{ "testing", true, true, OTHER_PAUSE },
	{ "dev", true, true, OTHER_PAUSE },
	{ "infer", false, true, OTHER_PAUSE },
	{ "predict", false, true, OTHER_PAUSE },
	{ "sanity", false, true, OTHER_PAUSE },
	{ "benchmark", false, true, OTHER_PAUSE },
	{ "calibrat", false, true, OTHER_PAUSE },
	{ "saving", true, false, OTHER_PAUSE },
	{ "scoring", true, false, OTHER_PAUSE },
	{ "sampling", true, false, OTHER_PAUSE },
	{ "decoding", true, false, OTHER_PAUSE },
	{ "tests", true, false, OTHER_PAUSE },
	{ "download", false, true, OTHER_ASIDE },
	{ "loading", true, true, OTHER_ASIDE },
	{ "tokeniz", false, true, OTHER_ASIDE },
	{ "preprocess", false, true, OTHER_ASIDE },
	{ "extract", false, true, OTHER_ASIDE },
	{ "caching", true, true, OTHER_ASIDE },
	{ "scanning", true, true, OTHER_ASIDE },
	{ "map", true, false, OTHER_ASIDE },
	{ "mapping", true, false, OTHER_ASIDE },
	{ "generating", true, false, OTHER_ASIDE },
	{ "filter", false, false, OTHER_ASIDE },
	{ "casting", true, false, OTHER_ASIDE },
	{ "creating", true, false, OTHER_ASIDE },
	{ "fetch", false, false, OTHER_ASIDE },
	{ "upload", false, false, OTHER_ASIDE },
	{ "grouping", true, false, OTHER_ASIDE },
	{ "packing", true, false, OTHER_ASIDE },
	{ "applying", true, false, OTHER_ASIDE },
	{ "adding", true, false, OTHER_ASIDE },
	{ "truncating", true, false, OTHER_ASIDE },
	{ "converting", true, false, OTHER_ASIDE },
	{ "running", true, false, OTHER_ASIDE },
	{ "materializing", true, false, OTHER_ASIDE },
	{ "computing", true, false, OTHER_ASIDE },
	{ "collecting", true, false, OTHER_ASIDE },
	{ "embedding", false, false, OTHER_ASIDE },
	{ "encoding", true, false, OTHER_ASIDE },
	{ "reading", true, false, OTHER_ASIDE },
	{ "writing", true, false, OTHER_ASIDE },
	{ "building", true, false, OTHER_ASIDE },
	{ "shards", true, false, OTHER_ASIDE },
	{ "processing", true, false, OTHER_ASIDE },
};

static enum other_work find_word(const char *text, size_t n, bool in_line)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const struct word *w = &words[i];
		size_t length = strlen(w->text);

		if ((w->in_lines || !in_line) && n >= length && (!w->whole || n == length) &&
		    !strncasecmp(text, w->text, length))
			return w->work;
	}
	return OTHER_NONE;
}

enum other_work other_work_of_bar(const char *text, size_t n)
{
	return find_word(text, n, false);
}

enum other_work other_work_of_line(const char *text, size_t n)
{
	return find_word(text, n, true);
}
