/* fuzz_mcp.c - messages to 'pollux mcp': an answer is one line of JSON, and its size is bounded. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/mcp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct json_tree *list(void)
{
	return json_object_new_array();
}

/* Answers with the arguments, as if a command had printed them. */
static struct json_tree *call(const char *name, struct json_tree *arguments)
{
	struct json_tree *result;
	char *text;

	if (!strcmp(name, "none"))
		return NULL;
	text = mcp_shorten(arguments, "ask for less");
	if (strlen(text) > MCP_ANSWER_MOST)
		abort();
	result = mcp_text(text, strlen(text));
	free(text);
	return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct mcp_server server = { .list = list, .call = call };
	const char *why;
	struct json_tree *answer;
	char *line = malloc(size + 1), *said;

	if (!line)
		abort();
	memcpy(line, data, size);
	line[size] = '\0';
	said = mcp_answer(&server, line, size);
	if (said) {
		answer = mcp_parse(said, strlen(said), &why);
		if (!answer || why || strchr(said, '\n'))
			abort();
		json_object_put(answer);
	}
	free(said);
	free(line);
	return 0;
}
