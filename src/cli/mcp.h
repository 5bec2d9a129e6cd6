/* mcp.h - the parts of 'pollux mcp', a server of the Model Context Protocol; private to src/cli.
 *
 * A message is a line of JSON-RPC 2.0 (mcp_protocol.c). A tool runs a command of this program in a
 * process of its own (mcp_tools.c), by a command line without a shell (mcp_arguments.c), and
 * answers with what the command prints, shortened (mcp_shorten.c). */
#ifndef POLLUX_CLI_MCP_H
#define POLLUX_CLI_MCP_H

#include <stdbool.h>
#include <stddef.h>

#include "pollux/command.h"
#include "pollux/text.h"

/* Two types of json-c have names of functions of report.h; here they have others. */
#define json_object json_tree
#define json_bool json_truth
#include <json-c/json.h>

/* --- JSON --- */

/* A value of n bytes and a NUL; null is NULL. *why is NULL, or says what is wrong. */
struct json_tree *mcp_parse(const char *text, size_t n, const char **why);
char *mcp_line(struct json_tree *value);	/* the caller frees */
/* A text as JSON: what is no UTF-8 becomes U+FFFD. text[n] is NUL. */
struct json_tree *mcp_text(const char *text, size_t n);
struct json_tree *mcp_get(struct json_tree *object, const char *key);	/* NULL: null, or none */
/* Takes the value. */
void mcp_set(struct json_tree *object, const char *key, struct json_tree *value);
void mcp_set_text(struct json_tree *object, const char *key, const char *text);
const char *mcp_string(struct json_tree *value);	/* NULL: it is no text */
size_t mcp_length(struct json_tree *array);		/* 0 also for what is no array */

/* --- messages --- */

struct mcp_server {
	/* The array of tools/list. */
	struct json_tree *(*list)(void);
	/* The result of tools/call; NULL: no tool has this name. arguments is an object. */
	struct json_tree *(*call)(const char *name, struct json_tree *arguments);
};

#define MCP_PARSE_ERROR (-32700)
#define MCP_INVALID_REQUEST (-32600)
#define MCP_UNKNOWN_METHOD (-32601)
#define MCP_INVALID_PARAMS (-32602)

/* The answer to a line of n bytes and a NUL: one line without its newline, which the caller frees.
 * NULL: a message that wants no answer. */
char *mcp_answer(const struct mcp_server *server, const char *line, size_t n);
/* An error that answers no request in particular. The caller frees. */
char *mcp_refusal(int code, const char *text);

/* --- tools --- */

enum mcp_operands {
	MCP_NO_OPERANDS,
	MCP_COMMAND,		/* "command": the words of a program's command line */
	MCP_JOBS,		/* "jobs": numbers, ranges, names, group:N; may be left out */
	MCP_THESE_JOBS,		/* the same, which must be given */
};

struct mcp_tool {
	const char *name, *title, *description;
	const struct command *command;
	enum mcp_operands operands;
	const char *offered;	/* options that the schema has, one word each */
	bool any_option;	/* the command's other options are taken, too */
	const char *always;	/* an option that is always given; NULL: none */
	const char *bounded_by, *bound;	/* an option and its value unless given; NULL: none */
	bool reads_only, destroys;
	const char *less;	/* how to ask for less, where an answer was cut */
	/* Answers; argv is the whole command line. */
	struct json_tree *(*answer)(const struct mcp_tool *tool, struct json_tree *arguments,
			  const struct strings *argv);
};

/* The JSON schema of a tool's arguments. */
struct json_tree *mcp_schema(const struct mcp_tool *tool);
/* Makes the command line: options as "--name=value", and operands after "--", so that no value
 * is taken for an option. False: *wrong says what is wrong. */
bool mcp_command_line(const struct mcp_tool *tool, struct json_tree *arguments,
		      struct strings *argv, struct text *wrong);
/* Adds "--" and the jobs among the arguments. */
bool mcp_add_jobs(struct json_tree *arguments, struct strings *argv, struct text *wrong);

/* --- answers --- */

#define MCP_ANSWER_MOST 8192	/* bytes */

/* Leaves out members without a value, then elements of the longest lists, then the ends of long
 * texts, until the object has at most MCP_ANSWER_MOST bytes as a text. The object says of each list
 * how many are left out, and how to ask for less. The caller frees the text. */
char *mcp_shorten(struct json_tree *object, const char *less);
struct json_tree *mcp_tools_list(void);
struct json_tree *mcp_tools_call(const char *name, struct json_tree *arguments);

/* cmd_mcp.c: true if another line has been read already. */
bool mcp_line_waits(void);

#endif
