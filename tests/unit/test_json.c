/* test_json.c - JSON, byte for byte, and the UTF-8 it rests on. */
#include <math.h>
#include <stdint.h>

#include "pollux/report.h"
#include "pollux/text.h"
#include "tap.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct json j;
static char *written;
static size_t length;

static void begin(void)
{
	json_init(&j, open_memstream(&written, &length));
}

static void expect(const char *text, const char *what)
{
	fclose(j.out);
	is_str(written, text, what);
	free(written);
}

static void test_structure(void)
{
	begin();
	json_object(&j, NULL);
	json_integer(&j, "id", INT64_MIN);
	json_bool(&j, "held", false);
	json_string(&j, "name", NULL);
	json_array(&j, "runs");
	json_integer(&j, NULL, 1);
	json_object(&j, NULL);
	json_bool(&j, "ok", true);
	json_end(&j);
	json_end(&j);
	json_array(&j, "none");
	json_end(&j);
	json_object(&j, "empty");
	json_end(&j);
	json_end(&j);
	expect("{\n"
	       "  \"id\": -9223372036854775808,\n"
	       "  \"held\": false,\n"
	       "  \"name\": null,\n"
	       "  \"runs\": [\n"
	       "    1,\n"
	       "    {\n"
	       "      \"ok\": true\n"
	       "    }\n"
	       "  ],\n"
	       "  \"none\": [],\n"
	       "  \"empty\": {}\n"
	       "}\n", "objects and arrays are written one inside the other");
}

static void test_top_level(void)
{
	begin();
	json_array(&j, NULL);
	json_end(&j);
	expect("[]\n", "an empty array is written at the top");
	begin();
	json_object(&j, NULL);
	json_end(&j);
	expect("{}\n", "an empty object is written at the top");
}

static void test_strings(void)
{
	static const struct { const char *in, *out, *what; } cases[] = {
		{ "", "\"\"", "an empty string is written" },
		{ "plain /", "\"plain /\"", "a plain string is written as it is" },
		{ "a\"b\\c", "\"a\\\"b\\\\c\"", "a quote and a backslash are escaped" },
		{ "\b\f\n\r\t", "\"\\b\\f\\n\\r\\t\"",
		  "control characters that have letters are escaped by these" },
		{ "\x01\x1f\x7f", "\"\\u0001\\u001f\\u007f\"",
		  "other control characters are escaped by numbers" },
		{ "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
		  "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"",
		  "UTF-8 of two, three and four bytes is written as it is" },
		{ "a\xff" "b", "\"a\\ufffdb\"", "a byte that is no UTF-8 is replaced" },
		{ "\xc3", "\"\\ufffd\"", "a character cut after one byte is replaced" },
		{ "\xe2\x82", "\"\\ufffd\\ufffd\"",
		  "a character cut after two bytes is replaced twice" },
		{ "\xc0\x80", "\"\\ufffd\\ufffd\"", "an overlong character is replaced" },
		{ "\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"", "a surrogate is replaced" },
		{ "\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"",
		  "a character beyond the last one is replaced" },
		{ "\xc3\"", "\"\\ufffd\\\"\"", "a quote after a cut character is escaped" },
	};
	char text[128];

	for (size_t i = 0; i < COUNT(cases); i++) {
		begin();
		json_array(&j, NULL);
		json_string(&j, NULL, cases[i].in);
		json_end(&j);
		snprintf(text, sizeof(text), "[\n  %s\n]\n", cases[i].out);
		expect(text, cases[i].what);
	}
	begin();
	json_object(&j, NULL);
	json_string(&j, "k\"\n\xff", "v");
	json_end(&j);
	expect("{\n  \"k\\\"\\n\\ufffd\": \"v\"\n}\n", "keys are escaped like strings");
}

static void test_numbers(void)
{
	static const struct { double in; const char *out; } cases[] = {
		{ 0, "0" }, { -0.0, "-0" }, { 1, "1" }, { 0.1, "0.1" }, { -2.5, "-2.5" },
		{ 1.0 / 3, "0.3333333333333333" }, { 0.1 + 0.2, "0.30000000000000004" },
		{ 1e300, "1e+300" }, { 5e-324, "4.94065645841247e-324" },
		{ 123456789012345680.0, "1.2345678901234568e+17" },
		{ 1e15 + 0.5, "1000000000000000.5" }, { (double)NAN, "null" },
		{ (double)INFINITY, "null" }, { -(double)INFINITY, "null" },
	};
	char text[64];

	for (size_t i = 0; i < COUNT(cases); i++) {
		begin();
		json_array(&j, NULL);
		json_number(&j, NULL, cases[i].in);
		json_end(&j);
		snprintf(text, sizeof(text), "[\n  %s\n]\n", cases[i].out);
		expect(text, cases[i].out);
	}
}

static void test_utf8(void)
{
	is_int((long long)utf8_length("a"), 1, "an ASCII character has one byte");
	is_int((long long)utf8_length("\xdf\xbf"), 2, "U+07FF has two bytes");
	is_int((long long)utf8_length("\xe0\xa0\x80"), 3, "U+0800 has three bytes");
	is_int((long long)utf8_length("\xe0\x9f\xbf"), 0, "an overlong U+07FF is no character");
	is_int((long long)utf8_length("\xed\x9f\xbf"), 3, "U+D7FF has three bytes");
	is_int((long long)utf8_length("\xf0\x90\x80\x80"), 4, "U+10000 has four bytes");
	is_int((long long)utf8_length("\xf0\x8f\xbf\xbf"), 0, "an overlong U+FFFF is no character");
	is_int((long long)utf8_length("\xf4\x8f\xbf\xbf"), 4, "U+10FFFF has four bytes");
	is_int((long long)utf8_length("\xf5\x80\x80\x80"), 0,
	       "a byte beyond U+10FFFF begins no character");
	is_int((long long)utf8_length("\x80"), 0, "a continuation byte alone is no character");
	is_int((long long)utf8_length("\xe2\x82(" ), 0,
	       "a character that is broken off is no character");
	ok(utf8_is_control("\n", 1) && utf8_is_control("\x7f", 1),
	   "C0 characters and DEL are control characters");
	ok(utf8_is_control("\xc2\x9b", 2), "C1 characters are control characters");
	ok(!utf8_is_control("\xc2\xa0", 2) && !utf8_is_control(" ", 1),
	   "blanks are no control characters");
}

int main(void)
{
	test_structure();
	test_top_level();
	test_strings();
	test_numbers();
	test_utf8();
	return done();
}
