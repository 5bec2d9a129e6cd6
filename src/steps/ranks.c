/* ranks.c - see ranks.h. */
#include <ctype.h>

#include "ranks.h"

static size_t skip(const char *line, size_t n, size_t at, int (*is)(int c))
{
	while (at < n && is((unsigned char)line[at]))
		at++;
	return at;
}

static size_t expect(const char *line, size_t n, size_t at, char c)
{
	return at && at < n && line[at] == c ? at + 1 : 0;
}

/* The end of "rank0" or "1,0"; 0: the line begins with neither. */
static size_t skip_id(const char *line, size_t n)
{
	size_t name = skip(line, n, 1, isalpha), end = skip(line, n, name, isdigit);

	if (end == name)
		return 0;
	if (name > 1)
		return end;
	name = expect(line, n, end, ',');
	end = name ? skip(line, n, name, isdigit) : 0;
	return end > name ? end : 0;
}

/* The end of "<stdout>", which only mpirun prints. */
static size_t skip_stream(const char *line, size_t n, size_t at)
{
	if (at && at < n && line[at] == '<')
		return expect(line, n, skip(line, n, at + 1, isalpha), '>');
	return at;
}

size_t rank_prefix(const char *line, size_t n, size_t *id)
{
	size_t end;

	*id = n > 0 && line[0] == '[' ? skip_id(line, n) : 0;
	end = expect(line, n, skip_stream(line, n, expect(line, n, *id, ']')), ':');
	while (end && end < n && line[end] == ' ')
		end++;
	return end;
}
