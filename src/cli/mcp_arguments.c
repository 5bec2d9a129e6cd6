/* mcp_arguments.c - arguments of tools: their schema from the tables of options, and the command
 * line that they make. */
#include <stdlib.h>
#include <string.h>

#include "mcp.h"
#include "pollux/mem.h"

/* --- the schema --- */

static bool has_word(const char *words, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = words; (at = strstr(at, word)); at += n)
		if ((at == words || at[-1] == ' ') && (at[n] == ' ' || !at[n]))
			return true;
	return false;
}

/* "time-limit" is "time_limit" as a member, and the other way round. */
static char *with_for(const char *name, char from, char to)
{
	char *copy = xstrdup(name);

	for (char *c = copy; *c; c++)
		if (*c == from)
			*c = to;
	return copy;
}

static const char *type_of(const struct option_spec *o)
{
	switch (o->type) {
	case OPTION_FLAG: return "boolean";
	case OPTION_INT:
	case OPTION_COUNT: return "integer";
	case OPTION_NUMBER: return "number";
	case OPTION_LIST: return "array";
	case OPTION_AMOUNT:
	case OPTION_SIZE:
	case OPTION_DURATION:
	case OPTION_WHEN:
	case OPTION_TEXT:
	case OPTION_CHOICE:
	case OPTION_CHOICES:
	case OPTION_PICTURE:
	case OPTION_WORDS:
	case OPTION_SIGNAL:
	case OPTION_RANGE:
	case OPTION_DECLARED: break;
	}
	return "string";
}

static struct json_tree *property(const char *type, const char *description)
{
	struct json_tree *p = json_object_new_object(), *items = json_object_new_object();

	mcp_set_text(p, "type", type);
	mcp_set_text(p, "description", description);
	mcp_set_text(items, "type", "string");
	if (!strcmp(type, "array"))
		mcp_set(p, "items", json_object_get(items));
	json_object_put(items);
	return p;
}

static struct json_tree *option_property(const struct option_spec *o)
{
	struct text t = TEXT_INIT;
	struct json_tree *p, *choices = json_object_new_array();

	text_addf(&t, "%s%s%s", o->argument ? o->argument : "", o->argument ? ": " : "", o->help);
	if (o->choices && o->type != OPTION_CHOICE) {
		text_add(&t, ":");
		for (const char *const *c = o->choices; *c; c++)
			text_addf(&t, " %s", *c);
	}
	p = property(type_of(o), t.data);
	for (const char *const *c = o->choices; c && *c; c++)
		json_object_array_add(choices, json_object_new_string(*c));
	if (o->type == OPTION_CHOICE)
		mcp_set(p, "enum", json_object_get(choices));
	json_object_put(choices);
	text_release(&t);
	return p;
}

static void add_operands(const struct mcp_tool *tool, struct json_tree *properties,
			 struct json_tree *required)
{
	if (tool->operands == MCP_COMMAND) {
		mcp_set(properties, "command", property("array", "the program and its "
				    "arguments, one word each, started without a shell: "
				    "[\"python\", \"train.py\"]"));
		json_object_array_add(required, json_object_new_string("command"));
	} else if (tool->operands != MCP_NO_OPERANDS) {
		mcp_set(properties, "jobs", property("array", "jobs, each a number "
				    "(\"17\"), a range (\"15-20\"), a group (\"group:3\") or a "
				    "name (\"lr*\")"));
	}
	if (tool->operands == MCP_THESE_JOBS)
		json_object_array_add(required, json_object_new_string("jobs"));
}

struct json_tree *mcp_schema(const struct mcp_tool *tool)
{
	struct json_tree *schema = json_object_new_object();
	struct json_tree *properties = json_object_new_object();
	struct json_tree *required = json_object_new_array();
	struct command_option *options;
	int n;

	add_operands(tool, properties, required);
	options = command_options(tool->command, &n);
	for (int i = 0; i < n; i++) {
		const struct option_spec *o = &options[i].spec;
		char *name = with_for(o->name, '-', '_');

		if (has_word(tool->offered, o->name))
			mcp_set(properties, name, option_property(o));
		free(name);
	}
	free(options);
	mcp_set_text(schema, "type", "object");
	mcp_set(schema, "properties", properties);
	mcp_set(schema, "required", required);
	mcp_set(schema, "additionalProperties", json_object_new_boolean(tool->any_option));
	return schema;
}

/* --- the command line --- */

/* A text, or a number as one; NULL: neither. The caller frees. */
static char *as_text(struct json_tree *value)
{
	const char *text = mcp_string(value);

	return text ? xstrdup(text)
		: json_object_is_type(value, json_type_int) ||
		  json_object_is_type(value, json_type_double) ? mcp_line(value) : NULL;
}

/* Adds "--name=text" for a value, or for each value of an array. False: it has no such form. */
static bool add_values(struct strings *argv, const char *name, struct json_tree *value)
{
	char *text = as_text(value);
	bool fits = text;

	if (text)
		strings_addf(argv, "--%s=%s", name, text);
	free(text);
	if (!json_object_is_type(value, json_type_array))
		return fits;
	for (size_t i = 0; i < mcp_length(value); i++) {
		struct json_tree *element = json_object_array_get_idx(value, i);

		if (json_object_is_type(element, json_type_array) ||
		    !add_values(argv, name, element))
			return false;
	}
	return true;
}

static bool add_option(const struct mcp_tool *tool, const char *key, struct json_tree *value,
		       struct strings *argv, struct text *wrong)
{
	char *name = with_for(key, '_', '-');
	struct command_option *options;
	const struct option_spec *o = NULL;
	bool fits = false, is_flag;
	int n;

	options = command_options(tool->command, &n);
	for (int i = 0; i < n; i++)
		if (!strcmp(options[i].spec.name, name) &&
		    (tool->any_option || has_word(tool->offered, name)))
			o = &options[i].spec;
	is_flag = o && o->type == OPTION_FLAG;
	if (o && is_flag)
		fits = json_object_is_type(value, json_type_boolean);
	else if (o && (!json_object_is_type(value, json_type_array) || o->type == OPTION_LIST))
		fits = add_values(argv, name, value);
	if (fits && is_flag && json_object_get_boolean(value))
		strings_addf(argv, "--%s", name);
	if (!o)
		text_addf(wrong, "%s takes no argument '%.60s'", tool->name, key);
	else if (!fits)
		text_addf(wrong, "the argument '%.60s' of %s is of another type: %s", key,
			  tool->name, type_of(o));
	free(options);
	free(name);
	return fits;
}

/* Adds the texts of an array; a single one may stand for an array of one. */
static bool add_words(struct json_tree *words, struct strings *argv)
{
	bool is_list = json_object_is_type(words, json_type_array);
	size_t n = is_list ? mcp_length(words) : 1;

	for (size_t i = 0; i < n; i++) {
		struct json_tree *word = is_list ? json_object_array_get_idx(words, i) : words;
		char *text = as_text(word);

		if (!text)
			return false;
		strings_add(argv, text);
		free(text);
	}
	return n > 0;
}

static bool names_no_job(struct json_tree *arguments)
{
	struct json_tree *jobs = mcp_get(arguments, "jobs");

	return !jobs || (json_object_is_type(jobs, json_type_array) && mcp_length(jobs) == 0);
}

bool mcp_add_jobs(struct json_tree *arguments, struct strings *argv, struct text *wrong)
{
	struct json_tree *jobs = mcp_get(arguments, "jobs");

	strings_add(argv, "--");
	if (names_no_job(arguments) || add_words(jobs, argv))
		return true;
	text_add(wrong, "jobs is an array of texts, such as [\"17\", \"group:3\"]");
	return false;
}

static bool add_operand_words(const struct mcp_tool *tool, struct json_tree *arguments,
			      struct strings *argv, struct text *wrong)
{
	struct json_tree *command = mcp_get(arguments, "command");

	if (tool->operands == MCP_COMMAND) {
		strings_add(argv, "--");
		if (json_object_is_type(command, json_type_array) && add_words(command, argv))
			return true;
		text_add(wrong, "command is an array of texts: the program and its arguments");
		return false;
	}
	if (tool->operands == MCP_THESE_JOBS && names_no_job(arguments)) {
		text_addf(wrong, "%s of which jobs? give jobs, such as [\"17\"]", tool->name);
		return false;
	}
	return tool->operands == MCP_NO_OPERANDS || mcp_add_jobs(arguments, argv, wrong);
}

bool mcp_command_line(const struct mcp_tool *tool, struct json_tree *arguments,
		      struct strings *argv, struct text *wrong)
{
	const char *operands = tool->operands == MCP_COMMAND ? "command"
		: tool->operands == MCP_NO_OPERANDS ? "" : "jobs";

	strings_add(argv, "/proc/self/exe");
	strings_add(argv, tool->command->name);
	if (tool->always)
		strings_add(argv, tool->always);
	json_object_object_foreach (arguments, key, value) {
		if (strcmp(key, operands) != 0 && !add_option(tool, key, value, argv, wrong))
			return false;
	}
	return add_operand_words(tool, arguments, argv, wrong);
}
