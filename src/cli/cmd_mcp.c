/* cmd_mcp.c - pollux mcp: a server of the Model Context Protocol on standard input and output. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "mcp.h"
#include "pollux/mem.h"

#define LINE_MOST (1 << 20)	/* bytes */
#define BLOCK 65536

static const struct option_spec options[] = {
	{ .name = NULL },
};

/* What was read and not yet taken. */
static struct {
	struct text bytes;
	bool skips;		/* to the end of a line that is too long */
	bool ended;
} input = { .bytes = TEXT_INIT };

bool mcp_line_waits(void)
{
	return input.bytes.length && memchr(input.bytes.data, '\n', input.bytes.length);
}

static void drop(size_t n)
{
	memmove(input.bytes.data, input.bytes.data + n, input.bytes.length - n);
	input.bytes.length -= n;
}

static int read_more(struct err *err)
{
	char block[BLOCK];
	ssize_t n = read(STDIN_FILENO, block, sizeof(block));

	if (n < 0 && errno != EINTR)
		return err_set(err, EX_IOERR, "cannot read standard input: %s", strerror(errno));
	if (n > 0)
		text_add_bytes(&input.bytes, block, (size_t)n);
	input.ended = n == 0;
	return 0;
}

/* Answers the line of n bytes at the beginning of the input. */
static int take_line(const struct mcp_server *server, size_t n, struct err *err)
{
	char *line = input.bytes.data, *answer = NULL;

	line[n] = '\0';
	if (input.skips)
		input.skips = false;
	else if (n > strspn(line, " \t\r"))
		answer = mcp_answer(server, line, n);
	if (answer)
		puts(answer);
	free(answer);
	return output_flush(err);
}

static int refuse_long_line(struct err *err)
{
	char *answer = mcp_refusal(MCP_INVALID_REQUEST, "the line is longer than 1 MiB");

	puts(answer);
	free(answer);
	input.skips = true;
	return output_flush(err);
}

/* The length of the first line, and what it takes of the input. False: more of it may come. */
static bool find_line(size_t *n, size_t *taken)
{
	const char *end = memchr(input.bytes.data, '\n', input.bytes.length);

	*n = end ? (size_t)(end - input.bytes.data) : input.bytes.length;
	*taken = *n + (end ? 1 : 0);
	return end || (input.ended && *n > 0);
}

static int serve(const struct mcp_server *server, struct err *err)
{
	size_t n, taken;
	int rc = 0;

	while (rc == 0) {
		bool whole = find_line(&n, &taken);

		if (n > LINE_MOST && !input.skips)
			rc = refuse_long_line(err);
		if (rc == 0 && whole)
			rc = take_line(server, n, err);
		if (whole || input.skips)
			drop(taken);
		if (whole)
			continue;
		if (input.ended)
			break;
		if (rc == 0)
			rc = read_more(err);
	}
	return rc;
}

static int main_mcp(int argc, char **argv, struct err *err)
{
	const struct mcp_server server = { .list = mcp_tools_list, .call = mcp_tools_call };
	int first, rc;

	if (options_parse(&cmd_mcp, argc, argv, NULL, &first, err))
		return -1;
	if (first < argc)
		return usage_error(&cmd_mcp, err, "mcp takes no argument, not '%.60s'",
				   argv[first]);
	if (isatty(STDIN_FILENO))
		output_messagef("speaking the Model Context Protocol with standard input; agents "
				"start this, see pollux-mcp(1)");
	rc = serve(&server, err);
	text_release(&input.bytes);
	return rc;
}

const struct command cmd_mcp = {
	.name = "mcp", .synopsis = "",
	.summary = "serve agents: tools of the Model Context Protocol",
	.example = "claude mcp add pollux -- pollux mcp",
	.options = options, .run = main_mcp,
};
