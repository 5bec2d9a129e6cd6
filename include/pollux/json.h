/* json.h - write JSON (RFC 8259), always valid: invalid UTF-8 in a string becomes U+FFFD, and a
 * number that is not finite becomes null.
 *
 *	struct json j;
 *	json_init(&j, stdout);
 *	json_object(&j, NULL);			// key NULL: the top, or inside an array
 *	json_integer(&j, "id", 17);
 *	json_array(&j, "runs"); ... json_end(&j);
 *	json_end(&j);				// the last one writes a newline
 *
 * Each level is indented by two blanks. An end without its beginning fails an assertion. */
#ifndef POLLUX_JSON_H
#define POLLUX_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "pollux/field.h"

#define JSON_DEPTH 16

struct json {
	FILE *out;
	int depth;
	bool array[JSON_DEPTH], any[JSON_DEPTH];
};

void json_init(struct json *j, FILE *out);
void json_object(struct json *j, const char *key);
void json_array(struct json *j, const char *key);
void json_end(struct json *j);
void json_string(struct json *j, const char *key, const char *value);	/* NULL: null */
void json_text(struct json *j, const char *key, const char *value);	/* NULL and "": null */
void json_integer(struct json *j, const char *key, int64_t value);
/* null unless known. */
void json_integer_if(struct json *j, const char *key, int64_t value, bool known);
void json_positive(struct json *j, const char *key, int64_t value);	/* null unless above 0 */
/* The shortest form that reads back as the same number, at most %.17g. */
void json_number(struct json *j, const char *key, double value);
/* A value that a program measured (value.h): a number, or the text "nan", "inf" or "-inf". jq sorts
 * texts behind all numbers. */
void json_value(struct json *j, const char *key, double value);
void json_bool(struct json *j, const char *key, bool value);
/* A member of a struct, by its description; null where its value is unknown. */
void json_field(struct json *j, const struct field *field, const void *member);

#endif
