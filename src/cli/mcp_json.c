/* mcp_json.c - JSON of messages and answers, by json-c: read strictly, written on one line. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "mcp.h"
#include "pollux/mem.h"

struct json_tree *mcp_parse(const char *text, size_t n, const char **why)
{
	struct json_tokener *t = json_tokener_new();
	struct json_tree *value = NULL;
	enum json_tokener_error error = json_tokener_error_depth;

	*why = "it has a NUL byte";
	if (t && !memchr(text, '\0', n) && n < INT_MAX) {
		json_tokener_set_flags(t, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
		/* with the terminator, by which a number at the end is known to be whole */
		value = json_tokener_parse_ex(t, text, (int)n + 1);
		error = json_tokener_get_error(t);
		*why = error == json_tokener_success ? NULL
			: error == json_tokener_continue ? "it ends too soon"
			: json_tokener_error_desc(error);
	}
	if (t)
		json_tokener_free(t);
	if (error == json_tokener_success)
		return value;
	json_object_put(value);
	return NULL;
}

char *mcp_line(struct json_tree *value)
{
	return xstrdup(json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN |
						      JSON_C_TO_STRING_NOSLASHESCAPE));
}

struct json_tree *mcp_text(const char *text, size_t n)
{
	struct text valid = TEXT_INIT;
	struct json_tree *value;

	for (size_t i = 0; i < n;) {
		size_t length = text[i] ? utf8_length(text + i) : 0;

		if (length > 0)
			text_add_bytes(&valid, text + i, length);
		else
			text_add(&valid, "\xef\xbf\xbd");
		i += length ? length : 1;
	}
	value = json_object_new_string(valid.data);
	text_release(&valid);
	return value;
}

struct json_tree *mcp_get(struct json_tree *object, const char *key)
{
	return json_object_is_type(object, json_type_object) ? json_object_object_get(object, key)
							     : NULL;
}

void mcp_set(struct json_tree *object, const char *key, struct json_tree *value)
{
	json_object_object_add(object, key, value);
}

void mcp_set_text(struct json_tree *object, const char *key, const char *text)
{
	mcp_set(object, key, mcp_text(text, strlen(text)));
}

/* A text with a NUL, which no command line can have, counts as none. */
const char *mcp_string(struct json_tree *value)
{
	const char *s = NULL;

	if (json_object_is_type(value, json_type_string))
		s = json_object_get_string(value);
	return s && strlen(s) == (size_t)json_object_get_string_len(value) ? s : NULL;
}

size_t mcp_length(struct json_tree *array)
{
	return json_object_is_type(array, json_type_array) ? json_object_array_length(array) : 0;
}
