/* web_address.c - see steps.h. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "pollux/steps.h"
#include "steps_state.h"

/* What stands before the address in the line that a program prints of it: first, then second. */
static const struct {
	enum web_service service;
	const char *first, *second;
} services[] = {
	{ WEB_WANDB, "wandb: ", "View run " },
	{ WEB_TENSORBOARD, "TensorBoard ", " at " },
};

#define N_SERVICES (sizeof(services) / sizeof(services[0]))

struct web_addresses {
	struct log_lines lines;
	web_address_sink *sink;		/* of the present call */
	void *arg;
};

struct web_addresses *web_addresses_new(void)
{
	struct web_addresses *w = xcalloc(1, sizeof(*w));

	log_lines_init(&w->lines);
	return w;
}

void web_addresses_free(struct web_addresses *w)
{
	free(w);
}

/* The address that begins here: "http://" or "https://" and what a browser takes, without the full
 * stop or bracket behind it. 0: none. */
static size_t address_length(const char *text, size_t n)
{
	size_t scheme = n > 8 && !memcmp(text, "https://", 8) ? 8
		: n > 7 && !memcmp(text, "http://", 7) ? 7 : 0, end = scheme;

	if (!scheme || !isalnum((unsigned char)text[scheme]))
		return 0;
	while (end < n && isgraph((unsigned char)text[end]) && !strchr("\"'<>\\^`{|}", text[end]))
		end++;
	while (end > scheme && strchr(".,;:!?()[]", text[end - 1]))
		end--;
	return end < WEB_ADDRESS_SIZE ? end : 0;
}

static const char *find(const char *line, const char *end, const char *word)
{
	const char *found = memmem(line, (size_t)(end - line), word, strlen(word));

	return found ? found + strlen(word) : NULL;
}

static void take_line(const char *line, size_t n, double arrival_s, void *arg)
{
	struct web_addresses *w = arg;
	const char *end = line + n, *mark = find(line, end, "://");
	char address[WEB_ADDRESS_SIZE];

	(void)arrival_s;
	for (size_t i = 0; mark && i < N_SERVICES; i++) {
		const char *first = find(line, mark, services[i].first);
		const char *text = first ? find(first, mark, services[i].second) : NULL;
		size_t length;

		while (text && text < mark && memcmp(text, "http", 4) != 0)
			text++;
		length = text ? address_length(text, (size_t)(end - text)) : 0;
		if (length == 0)
			continue;
		memcpy(address, text, length);
		address[length] = '\0';
		w->sink(services[i].service, address, w->arg);
	}
}

void web_addresses_feed(struct web_addresses *w, const char *bytes, size_t n,
			web_address_sink *sink, void *arg)
{
	w->sink = sink;
	w->arg = arg;
	log_lines_feed(&w->lines, bytes, n, 0, take_line, w);
}
