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
	       "}\n", "objects and arrays, one inside the other");
}

static void test_top_level(void)
{
	begin();
	json_array(&j, NULL);
	json_end(&j);
	expect("[]\n", "an empty array at the top");
	begin();
	json_object(&j, NULL);
	json_end(&j);
	expect("{}\n", "an empty object at the top");
}

static void test_strings(void)
{
	static const struct { const char *in, *out, *what; } cases[] = {
		{ "", "\"\"", "empty" },
		{ "plain /", "\"plain /\"", "plain" },
		{ "a\"b\\c", "\"a\\\"b\\\\c\"", "quote and backslash" },
		{ "\b\f\n\r\t", "\"\\b\\f\\n\\r\\t\"", "letters for control characters" },
		{ "\x01\x1f\x7f", "\"\\u0001\\u001f\\u007f\"", "numbers for the others" },
		{ "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
		  "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"",
		  "UTF-8 of two, three and four bytes" },
		{ "a\xff" "b", "\"a\\ufffdb\"", "a byte that is none" },
		{ "\xc3", "\"\\ufffd\"", "cut short" },
		{ "\xe2\x82", "\"\\ufffd\\ufffd\"", "cut short after two" },
		{ "\xc0\x80", "\"\\ufffd\\ufffd\"", "overlong" },
		{ "\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"", "a surrogate" },
		{ "\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"",
		  "beyond the last character" },
		{ "\xc3\"", "\"\\ufffd\\\"\"", "a quote is not swallowed" },
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
	expect("{\n  \"k\\\"\\n\\ufffd\": \"v\"\n}\n", "keys are strings too");
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
	is_int((long long)utf8_length("a"), 1, "ASCII");
	is_int((long long)utf8_length("\xdf\xbf"), 2, "U+07FF");
	is_int((long long)utf8_length("\xe0\xa0\x80"), 3, "U+0800");
	is_int((long long)utf8_length("\xe0\x9f\xbf"), 0, "overlong U+07FF");
	is_int((long long)utf8_length("\xed\x9f\xbf"), 3, "U+D7FF");
	is_int((long long)utf8_length("\xf0\x90\x80\x80"), 4, "U+10000");
	is_int((long long)utf8_length("\xf0\x8f\xbf\xbf"), 0, "overlong U+FFFF");
	is_int((long long)utf8_length("\xf4\x8f\xbf\xbf"), 4, "U+10FFFF");
	is_int((long long)utf8_length("\xf5\x80\x80\x80"), 0, "beyond");
	is_int((long long)utf8_length("\x80"), 0, "a continuation byte alone");
	is_int((long long)utf8_length("\xe2\x82(" ), 0, "broken off");
	ok(utf8_is_control("\n", 1) && utf8_is_control("\x7f", 1), "C0 and DEL control");
	ok(utf8_is_control("\xc2\x9b", 2), "so does C1");
	ok(!utf8_is_control("\xc2\xa0", 2) && !utf8_is_control(" ", 1), "blanks do not");
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
