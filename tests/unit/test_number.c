/* test_number.c - strict numbers, and the names that mistyped ones are taken for. */
#include <errno.h>
#include <stdint.h>

#include "pollux/text.h"
#include "tap.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void test_int(void)
{
	static const struct { const char *text; int64_t value; } good[] = {
		{ "0", 0 }, { "17", 17 }, { "-17", -17 }, { "010", 10 }, { "-0", 0 },
		{ "9223372036854775807", INT64_MAX }, { "-9223372036854775808", INT64_MIN },
	};
	static const struct { const char *text; int reason; } bad[] = {
		{ "", EINVAL }, { "-", EINVAL }, { "+1", EINVAL }, { " 1", EINVAL },
		{ "1 ", EINVAL },
		{ "0x1", EINVAL }, { "1e3", EINVAL }, { "--1", EINVAL }, { "1,000", EINVAL },
		{ "9223372036854775808", ERANGE }, { "-9223372036854775809", ERANGE },
	};
	int64_t n = 0;

	for (size_t i = 0; i < COUNT(good); i++)
		ok(number_parse_int(good[i].text, &n) == 0 && n == good[i].value, good[i].text);
	n = 42;
	for (size_t i = 0; i < COUNT(bad); i++)
		ok(number_parse_int(bad[i].text, &n) == -1 && errno == bad[i].reason, bad[i].text);
	is_int(n, 42, "a refused integer leaves the variable as it was");
}

static void test_number(void)
{
	static const struct { const char *text; double value; } good[] = {
		{ "3", 3 }, { "-0.5", -0.5 }, { ".25", 0.25 }, { "1e6", 1e6 }, { "1E-3", 1e-3 },
		{ "5.", 5 }, { "1.7976931348623157e308", 1.7976931348623157e308 },
	};
	static const struct { const char *text; int reason; } bad[] = {
		{ "", EINVAL }, { ".", EINVAL }, { "e5", EINVAL }, { "1e", EINVAL },
		{ "+1", EINVAL },
		{ "nan", EINVAL }, { "-nan", EINVAL }, { "inf", EINVAL }, { "-inf", EINVAL },
		{ "infinity", EINVAL }, { "0x10", EINVAL }, { "-0x1p3", EINVAL }, { " 1", EINVAL },
		{ "1 ", EINVAL }, { "1-2", EINVAL }, { "1,5", EINVAL }, { "1e999", ERANGE },
		{ "1e-999", ERANGE },
	};
	double x = 0;

	for (size_t i = 0; i < COUNT(good); i++) {
		ok(number_parse(good[i].text, &x) == 0, good[i].text);
		near(x, good[i].value, 0, "a number is read exactly");
	}
	x = 42;
	for (size_t i = 0; i < COUNT(bad); i++)
		ok(number_parse(bad[i].text, &x) == -1 && errno == bad[i].reason, bad[i].text);
	near(x, 42, 0, "a refused number leaves the variable as it was");
}

static void test_duration(void)
{
	static const struct { const char *text; double seconds; } good[] = {
		{ "0", 0 }, { "90", 90 }, { "90s", 90 }, { "1.5m", 90 }, { "2h", 7200 },
		{ "1d", 86400 },
		{ "1h30m", 5400 }, { "2d04h", 187200 }, { "1d1h1m1.5s", 90061.5 }, { "1e3s", 1000 },
		{ "30:00", 1800 }, { "90:05", 5405 }, { "2:00:00", 7200 }, { "48:00:01", 172801 },
		{ "1-12", 129600 }, { "0-00:01", 60 }, { "1-02:03", 93780 },
		{ "7-00:00:01", 604801 },
	};
	static const char *const bad[] = {
		"", "s", "-1", "-0", "-1s", "1m-1s", "1x", "1S", "1h30", "30m1h", "1m1m", "1 m",
		"1m ",
		"nan", "inf", "infs", "0x1s", "1e999", "1e999d", "1e308d", "1.5.5s",
		":", "1:", ":1", "1:60", "1:60:00", "1:00:60", "1:1:1:1", "1-", "1-24", "1-12-1",
		"-1:00", "1:-1", "1:+1", "1: 1", "1-1:60", "1-1:1:1:1", "1.5:00", "1:00s", "1:0x1",
		"9999999999:00",
	};
	double s = 0;

	for (size_t i = 0; i < COUNT(good); i++) {
		ok(number_parse_duration(good[i].text, &s) == 0, good[i].text);
		near(s, good[i].seconds, 0, "a duration is read exactly");
	}
	s = 42;
	for (size_t i = 0; i < COUNT(bad); i++)
		ok(number_parse_duration(bad[i], &s) == -1, bad[i]);
	near(s, 42, 0, "a refused duration leaves the variable as it was");
}

static const char *nearest(const char *typed)
{
	static const char *const names[] = { "submit", "schedule", "status", "log", "wait",
					     "cancel", "hold", "release", "requeue", "report" };
	struct suggestion s = suggestion_for(typed);

	for (size_t i = 0; i < COUNT(names); i++)
		suggestion_offer(&s, names[i]);
	return s.best;
}

static void test_suggestion(void)
{
	struct suggestion tie = suggestion_for("bold");
	char longest[200];

	is_str(nearest("sumbit"), "submit", "a name with two letters exchanged is suggested");
	is_str(nearest("statsu"), "status",
	       "a name with two letters exchanged at its end is suggested");
	is_str(nearest("stat"), "status", "a name whose beginning was typed is suggested");
	is_str(nearest("canel"), "cancel", "a name with a letter missing is suggested");
	is_str(nearest("lgo"), "log", "a short name is suggested for one edit");
	is_str(nearest("shedule"), "schedule", "a name is suggested for one edit of seven letters");
	is_str(nearest("re"), "report", "the shortest name with the typed beginning is suggested");
	is_str(nearest("rep0rt"), "report", "a name with a letter replaced is suggested");
	is_str(nearest("relase"), "release",
	       "the nearest name is suggested, release and not requeue");
	suggestion_offer(&tie, "hold");
	suggestion_offer(&tie, "gold");
	is_str(tie.best, "hold", "the first one of equally near names is suggested");
	ok(!nearest("frob"), "no name is suggested if none is near");
	ok(!nearest("lst"), "no name is suggested for two edits of three letters");
	ok(!nearest("wx"), "no name is suggested for two edits of two letters");
	ok(!nearest("s"), "no name is suggested for one letter");
	ok(!nearest(""), "no name is suggested for nothing");
	memset(longest, 's', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	ok(!nearest(longest), "no name is suggested for a very long word");
}

int main(void)
{
	test_int();
	test_number();
	test_duration();
	test_suggestion();
	return done();
}
