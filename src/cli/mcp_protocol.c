/* mcp_protocol.c - messages of the Model Context Protocol: what each line asks, and its answer. */
#include <stdlib.h>
#include <string.h>

#include "mcp.h"
#include "pollux/mem.h"

/* The newest first. What pollux uses of the protocol is the same in all of them, but for titles,
 * which older clients skip. */
static const char *const versions[] = {
	"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05",
};

static const char instructions[] =
	"pollux is the queue for training jobs on this machine's GPUs or processor. submit puts a "
	"command into the queue and returns at once; status shows what runs and waits, and why; "
	"wait waits a while for an end; log and results show what came out. Jobs are given by "
	"number (17), range (15-20), group (group:3) or name (lr*). Keys without a value are left "
	"out.";

static struct json_tree *response(struct json_tree *id, const char *key, struct json_tree *value)
{
	struct json_tree *r = json_object_new_object();

	mcp_set_text(r, "jsonrpc", "2.0");
	mcp_set(r, "id", id ? json_object_get(id) : NULL);
	mcp_set(r, key, value);
	return r;
}

static struct json_tree *failure(struct json_tree *id, int code, const char *text)
{
	struct json_tree *error = json_object_new_object();

	mcp_set(error, "code", json_object_new_int64(code));
	mcp_set_text(error, "message", text);
	return response(id, "error", error);
}

/* --- the methods --- */

/* The version that the client asks for if it is known here, else the newest: then the client
 * decides. */
static struct json_tree *initialize(struct json_tree *params)
{
	const char *asked = mcp_string(mcp_get(params, "protocolVersion"));
	const char *version = versions[0];
	struct json_tree *result = json_object_new_object(), *info = json_object_new_object();
	struct json_tree *able = json_object_new_object();

	for (size_t i = 0; asked && i < sizeof(versions) / sizeof(versions[0]); i++)
		if (!strcmp(asked, versions[i]))
			version = versions[i];
	mcp_set_text(result, "protocolVersion", version);
	mcp_set(able, "tools", json_object_new_object());
	mcp_set(result, "capabilities", able);
	mcp_set_text(info, "name", "pollux");
	mcp_set_text(info, "title", "pollux: queue for training jobs");
	mcp_set_text(info, "version", POLLUX_VERSION);
	mcp_set(result, "serverInfo", info);
	mcp_set_text(result, "instructions", instructions);
	return result;
}

static struct json_tree *call_tool(const struct mcp_server *server, struct json_tree *id,
				   struct json_tree *params)
{
	const char *name = mcp_string(mcp_get(params, "name"));
	struct json_tree *arguments = mcp_get(params, "arguments"), *result;
	struct json_tree *none = json_object_new_object();
	struct text wrong = TEXT_INIT;
	struct json_tree *r;

	if (!name || (arguments && !json_object_is_type(arguments, json_type_object))) {
		json_object_put(none);
		return failure(id, MCP_INVALID_PARAMS, "tools/call takes a name, and arguments that"
			       " are an object");
	}
	result = server->call(name, arguments ? arguments : none);
	json_object_put(none);
	if (result)
		return response(id, "result", result);
	text_addf(&wrong, "unknown tool '%.60s': tools/list has those there are", name);
	r = failure(id, MCP_INVALID_PARAMS, wrong.data);
	text_release(&wrong);
	return r;
}

static struct json_tree *request(const struct mcp_server *server, struct json_tree *id,
				 const char *method, struct json_tree *params)
{
	struct text wrong = TEXT_INIT;
	struct json_tree *r;

	if (!strcmp(method, "initialize"))
		return response(id, "result", initialize(params));
	if (!strcmp(method, "ping"))
		return response(id, "result", json_object_new_object());
	if (!strcmp(method, "tools/call"))
		return call_tool(server, id, params);
	if (!strcmp(method, "tools/list")) {
		r = json_object_new_object();
		mcp_set(r, "tools", server->list());
		return response(id, "result", r);
	}
	text_addf(&wrong, "unknown method '%.60s'", method);
	r = failure(id, MCP_UNKNOWN_METHOD, wrong.data);
	text_release(&wrong);
	return r;
}

/* --- messages --- */

/* NULL: the message wants no answer. Notifications do not, and there is none to act on: a call that
 * a client cancels has ended before the next line is read. Nor do answers, as nothing is asked
 * here. */
static struct json_tree *take_message(const struct mcp_server *server, struct json_tree *m)
{
	struct json_tree *id = mcp_get(m, "id"), *params = mcp_get(m, "params");
	const char *version = mcp_string(mcp_get(m, "jsonrpc"));
	const char *method = mcp_string(mcp_get(m, "method"));

	if (json_object_is_type(m, json_type_object) && !method && id &&
	    (mcp_get(m, "result") || mcp_get(m, "error")))
		return NULL;
	if (!method || !version || strcmp(version, "2.0") != 0)
		return failure(NULL, MCP_INVALID_REQUEST,
			       "no request: an object with jsonrpc \"2.0\", id and method");
	if (!id && !json_object_object_get_ex(m, "id", NULL))
		return NULL;
	if (!json_object_is_type(id, json_type_string) && !json_object_is_type(id, json_type_int))
		return failure(NULL, MCP_INVALID_REQUEST, "an id is a text or a whole number");
	if (params && !json_object_is_type(params, json_type_object))
		return failure(id, MCP_INVALID_PARAMS, "params are an object");
	return request(server, id, method, params);
}

static struct json_tree *take_batch(const struct mcp_server *server, struct json_tree *batch)
{
	struct json_tree *answers = json_object_new_array();

	if (mcp_length(batch) == 0) {
		json_object_put(answers);
		return failure(NULL, MCP_INVALID_REQUEST, "a batch without a message");
	}
	for (size_t i = 0; i < mcp_length(batch); i++) {
		struct json_tree *answer = take_message(server, json_object_array_get_idx(batch,
											  i));

		if (answer)
			json_object_array_add(answers, answer);
	}
	if (mcp_length(answers) > 0)
		return answers;
	json_object_put(answers);
	return NULL;
}

static char *as_line(struct json_tree *answer)
{
	char *line = answer ? mcp_line(answer) : NULL;

	json_object_put(answer);
	return line;
}

char *mcp_refusal(int code, const char *text)
{
	return as_line(failure(NULL, code, text));
}

char *mcp_answer(const struct mcp_server *server, const char *line, size_t n)
{
	const char *why;
	struct json_tree *m = mcp_parse(line, n, &why), *answer;

	if (why) {
		struct text wrong = TEXT_INIT;

		text_addf(&wrong, "no valid JSON: %s", why);
		answer = failure(NULL, MCP_PARSE_ERROR, wrong.data);
		text_release(&wrong);
	} else {
		answer = json_object_is_type(m, json_type_array) ? take_batch(server, m)
			: take_message(server, m);
	}
	json_object_put(m);
	return as_line(answer);
}
