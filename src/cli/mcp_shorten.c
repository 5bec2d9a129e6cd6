/* mcp_shorten.c - answers of tools: JSON of a bounded size that says what it left out. */
#include <stdlib.h>
#include <string.h>

#include "mcp.h"
#include "pollux/mem.h"

#define CUT_TO (MCP_ANSWER_MOST - 600)	/* bytes: the rest is for what is said of the cuts */
#define KEY_BYTES 32
#define TEXT_LEAST 200		/* texts up to this many bytes are not cut */

static size_t size_of(struct json_tree *value)
{
	char *line = mcp_line(value);
	size_t n = strlen(line);

	free(line);
	return n;
}

/* --- members without a value --- */

static bool says_nothing(struct json_tree *value)
{
	return !value || (json_object_is_type(value, json_type_array) && !mcp_length(value)) ||
	       (json_object_is_type(value, json_type_object) && !json_object_object_length(value));
}

static void leave_out_nothing(struct json_tree *value)
{
	struct strings keys = { 0 };

	for (size_t i = 0; i < mcp_length(value); i++)
		leave_out_nothing(json_object_array_get_idx(value, i));
	if (!json_object_is_type(value, json_type_object))
		return;
	json_object_object_foreach (value, key, member) {
		leave_out_nothing(member);
		if (says_nothing(member) && strcmp(key, "jobs") != 0)
			strings_add(&keys, key);
	}
	for (size_t i = 0; i < keys.count; i++)
		json_object_object_del(value, keys.items[i]);
	strings_release(&keys);
}

/* --- cuts --- */

/* The largest value of a kind, with the key of the list or the text in its object. */
struct largest {
	enum json_type type;
	size_t least;		/* elements of a list, or bytes of a text, that it has at least */
	struct json_tree *value;		/* NULL: there is none */
	const char *key;	/* borrowed from the object */
	size_t bytes;
};

static void find_largest(struct largest *l, struct json_tree *value, const char *key)
{
	size_t n = json_object_is_type(value, json_type_string)
		? (size_t)json_object_get_string_len(value) : mcp_length(value);
	size_t bytes = json_object_is_type(value, l->type) && n >= l->least ? size_of(value) : 0;

	if (bytes > l->bytes) {
		l->value = value;
		l->key = key;
		l->bytes = bytes;
	}
	for (size_t i = 0; i < mcp_length(value); i++)
		find_largest(l, json_object_array_get_idx(value, i), key);
	if (!json_object_is_type(value, json_type_object))
		return;
	json_object_object_foreach (value, name, member) {
		find_largest(l, member, name);
	}
}

/* Lists in the order of time lose their first elements, others their last ones. */
static bool is_in_order_of_time(const char *key)
{
	static const char *const keys[] = { "events", "runs", NULL };

	return text_is_among(key, keys);
}

/* Takes elements away until that many bytes are gone, but leaves `keep`. Returns how many. */
static size_t cut_list(struct json_tree *list, const char *key, size_t excess, size_t keep)
{
	size_t n = 0, gone = 0;

	while (gone < excess && mcp_length(list) > keep) {
		size_t at = is_in_order_of_time(key) ? 0 : mcp_length(list) - 1;

		gone += size_of(json_object_array_get_idx(list, at)) + 1;
		json_object_array_del_idx(list, at, 1);
		n++;
	}
	return n;
}

/* A log keeps its end, another text its beginning. Returns the bytes that went. */
static size_t cut_text(struct json_tree *text, const char *key, size_t excess)
{
	const char *s = json_object_get_string(text);
	size_t n = (size_t)json_object_get_string_len(text), keep = n > excess ? n - excess : 0;
	bool is_log = !strcmp(key, "log");
	struct text cut = TEXT_INIT;

	keep = keep > TEXT_LEAST / 2 ? keep : TEXT_LEAST / 2;
	if (is_log) {
		const char *begin = s + (n - keep), *line = strchr(begin, '\n');

		begin = line && line[1] ? line + 1 : begin;
		while ((*begin & 0xc0) == 0x80)		/* the rest of a character */
			begin++;
		text_add(&cut, begin);
	} else {
		text_add_bytes(&cut, s, utf8_clip(s, keep));
	}
	keep = cut.length;
	json_object_set_string(text, cut.data);
	text_release(&cut);
	return n - keep;
}

static void note(struct json_tree *left_out, const char *key, const char *of, size_t n)
{
	char *name = xasprintf("%s%s", of, key);
	int64_t before = json_object_get_int64(mcp_get(left_out, name));

	mcp_set(left_out, name, json_object_new_int64(before + (int64_t)n));
	free(name);
}

/* Cuts what is largest. False: nothing is left to cut. */
static bool cut_once(struct json_tree *object, struct json_tree *left_out, size_t excess)
{
	struct largest lists = { .type = json_type_array, .least = 2 };
	struct largest texts = { .type = json_type_string, .least = TEXT_LEAST };
	struct largest last = { .type = json_type_array, .least = 1 };

	find_largest(&lists, object, "");
	find_largest(&texts, object, "");
	if (texts.value && texts.bytes > lists.bytes) {
		note(left_out, texts.key, "bytes of ", cut_text(texts.value, texts.key, excess));
		return true;
	}
	if (lists.value) {
		note(left_out, lists.key, "", cut_list(lists.value, lists.key, excess, 1));
		return true;
	}
	find_largest(&last, object, "");
	if (last.value)
		note(left_out, last.key, "", cut_list(last.value, last.key, excess, 0));
	return last.value;
}

static void leave_out_all(struct json_tree *object)
{
	struct strings keys = { 0 };

	json_object_object_foreach (object, key, member) {
		(void)member;
		strings_add(&keys, key);
	}
	for (size_t i = 0; i < keys.count; i++)
		json_object_object_del(object, keys.items[i]);
	strings_release(&keys);
	mcp_set_text(object, "left_out", "everything");
}

char *mcp_shorten(struct json_tree *object, const char *less)
{
	struct json_tree *left_out = json_object_new_object();
	size_t bytes;

	leave_out_nothing(object);
	bytes = size_of(object);
	if (bytes > MCP_ANSWER_MOST)
		while (bytes > CUT_TO && cut_once(object, left_out, bytes - CUT_TO))
			bytes = size_of(object);
	if (json_object_object_length(left_out) > 0)
		mcp_set(object, "left_out", json_object_get(left_out));
	/* thousands of members, none of which is a list or a long text */
	if (size_of(object) > MCP_ANSWER_MOST - strlen(less) - KEY_BYTES)
		leave_out_all(object);
	if (mcp_get(object, "left_out"))
		mcp_set_text(object, "to_see_less", less);
	json_object_put(left_out);
	return mcp_line(object);
}
