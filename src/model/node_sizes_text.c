/* node_sizes_text.c - the sizes of nodes as text: "4*16 2" is 16 nodes of 4, and one of 2. */
#include <stdlib.h>

#include "pollux/mem.h"
#include "pollux/node_sizes.h"

#define MOST_NODES 1000000

void node_sizes_print(const struct node_sizes *nodes, struct text *out)
{
	for (int i = 0, n; i < nodes->n; i += n) {
		for (n = 1; i + n < nodes->n && nodes->devices[i + n] == nodes->devices[i];)
			n++;
		text_addf(out, "%s%d", i ? " " : "", nodes->devices[i]);
		if (n > 1)
			text_addf(out, "*%d", n);
	}
}

/* Reads "4*16". Returns where the next one begins; NULL: the text is malformed. */
static const char *read_some(const char *text, long *size, long *count)
{
	char *end;

	*count = 1;
	*size = strtol(text, &end, 10);
	if (end == text)
		return NULL;
	if (*end == '*') {
		text = end + 1;
		*count = strtol(text, &end, 10);
		if (end == text)
			return NULL;
	}
	return *size > 0 && *size <= MOST_NODES && *count > 0 && *count <= MOST_NODES ? end : NULL;
}

int *node_sizes_parse(const char *text, struct node_sizes *nodes)
{
	int *devices = NULL, n = 0;
	long size, count, last = MOST_NODES;

	*nodes = (struct node_sizes){ 0 };
	while (*text) {
		text = read_some(text, &size, &count);
		if (!text || size > last || n + count > MOST_NODES) {
			free(devices);
			return NULL;
		}
		last = size;
		for (; count > 0; count--) {
			devices = xgrow(devices, n, sizeof(*devices));
			devices[n++] = (int)size;
		}
		text += *text == ' ';
	}
	*nodes = (struct node_sizes){ devices, n };
	return devices;
}
