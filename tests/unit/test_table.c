/* test_table.c - tables at several widths, hostile cells, and the short forms of numbers. */
#include <math.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/report.h"
#include "tap.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const struct table_column columns[] = {
	{ .heading = "ID", .right = true },
	{ .heading = "NAME", .flexible = true, .min_width = 6 },
	{ .heading = "REASON", .flexible = true, .min_width = 4 },
};

static void row(struct table *t, const char *a, const char *b, const char *c)
{
	table_cell(t, "%s", a);
	table_cell(t, "%s", b);
	table_cell(t, "%s", c);
}

static void expect(const struct table *t, int width, bool color, const char *want, const char *what)
{
	struct output out = { .width = width, .color = color };
	autofree char *got = NULL;
	size_t n = 0;

	out.file = open_memstream(&got, &n);
	table_print(t, &out);
	fclose(out.file);
	is_str(got, want, what);
}

static void test_widths(void)
{
	scoped(table_release) struct table t = { 0 };

	table_init(&t, columns, COUNT(columns));
	expect(&t, 0, false, "ID  NAME  REASON\n", "a table without rows is its headings");
	row(&t, "7", "fashion-mnist", "waits for cpu:0");
	row(&t, "1024", "x", "");
	expect(&t, 0, false,
	       "  ID  NAME           REASON\n"
	       "   7  fashion-mnist  waits for cpu:0\n"
	       "1024  x\n", "a table is as wide as it wants, without trailing blanks");
	expect(&t, 36, false,
	       "  ID  NAME           REASON\n"
	       "   7  fashion-mnist  waits for cpu:0\n"
	       "1024  x\n", "a table that just fits is not clipped");
	expect(&t, 35, false,
	       "  ID  NAME           REASON\n"
	       "   7  fashion-mnist  waits for cp..\n"
	       "1024  x\n", "a table gives way in its last flexible column first");
	expect(&t, 24, false,
	       "  ID  NAME        REASON\n"
	       "   7  fashion-..  wait..\n"
	       "1024  x\n", "a column gives way to its heading's width before the next one");
	expect(&t, 1, false,
	       "  ID  NAME    REASON\n"
	       "   7  fash..  wait..\n"
	       "1024  x\n", "no column goes below its minimum or is clipped if not flexible");
}

static void test_below(void)
{
	static const struct table_column with_below[] = {
		{ .heading = "ID", .right = true },
		{ .heading = "NAME", .flexible = true, .min_width = 6 },
		{ .heading = "REASON", .room = 60, .below = true },
	};
	scoped(table_release) struct table t = { 0 };

	table_begin(&t, with_below);
	row(&t, "7", "fashion-mnist", "waits for \xc3\xa4? and for cpu:1 ");
	row(&t, "1024", "x", "");
	table_style(&t, STYLE_RED);
	row(&t, "9", "z", "-");
	row(&t, "8", "y", "short");
	expect(&t, 0, false,
	       "  ID  NAME           REASON\n"
	       "   7  fashion-mnist  waits for \xc3\xa4? and for cpu:1\n"
	       "1024  x\n"
	       "   9  z              -\n"
	       "   8  y              short\n",
	       "a last column is beside the others if there is room");
	expect(&t, 28, true,
	       "\033[1m  ID  NAME\033[0m\n"
	       "   7  fashion-mnist\n"
	       "      waits for \xc3\xa4? and for\n"
	       "      cpu:1\n"
	       "\033[31m1024  x\033[0m\n"
	       "   9  z\n"
	       "   8  y\n"
	       "      short\n", "a last column without room is below its row, broken to the width");
	expect(&t, 10, false,
	       "  ID  NAME\n"
	       "   7  fash..\n"
	       "      wait\n      s\n      for\n      \xc3\xa4?..\n"
	       "1024  x\n"
	       "   9  z\n"
	       "   8  y\n"
	       "      shor\n      t\n",
	       "a narrow last column breaks words and ends after four lines");
	expect(&t, 1, false,
	       "  ID  NAME\n"
	       "   7  fash..\n"
	       "1024  x\n"
	       "   9  z\n"
	       "   8  y\n", "a last column without any room is left out");
}

static void test_left_out(void)
{
	static const struct table_column with_numbers[] = {
		{ .heading = "ID", .right = true },
		{ .heading = "A", .leave_out = 2 },
		{ .heading = "B", .leave_out = 1 },
		{ .heading = "C", .leave_out = 3 },
		{ .heading = "ON", .room = 3 },
		{ .heading = "WHY", .room = 6 },
	};
	scoped(table_release) struct table t = { 0 };

	table_begin(&t, with_numbers);
	row(&t, "1", "aaaa", "bbbb");
	row(&t, "-", "cpu:0,cpu:1", "not asked for");
	expect(&t, 45, false,
	       "ID  A     B     C  ON           WHY\n"
	       " 1  aaaa  bbbb  -  cpu:0,cpu:1  not asked for\n",
	       "a table with room has all columns, as wide as they want");
	expect(&t, 44, false,
	       "ID  A     B     ON           WHY\n"
	       " 1  aaaa  bbbb  cpu:0,cpu:1  not asked for\n",
	       "a column of empty cells is left out first");
	expect(&t, 30, false,
	       "ID  A     B     ON    WHY\n"
	       " 1  aaaa  bbbb  cp..  not as..\n", "columns with a room share what others leave");
	expect(&t, 24, false,
	       "ID  A     ON    WHY\n"
	       " 1  aaaa  cp..  not as..\n", "columns are left out by their numbers");
}

static void test_cells(void)
{
	scoped(table_release) struct table t = { 0 };

	table_init(&t, columns, COUNT(columns));
	row(&t, "1", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "b");
	row(&t, "2", "a\033[1m\n\t\x7f", "\xc2\x9b" "1m\xff\xc3");
	expect(&t, 0, false,
	       "ID  NAME              REASON\n"
	       " 1  \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80               b\n"
	       " 2  a\\033[1m\\n\\t\\177  \\302\\2331m\\377\\303\n",
	       "characters are counted, and controls and wrong bytes are letters and numbers");
	expect(&t, 18, false,
	       "ID  NAME    REASON\n"
	       " 1  \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80     b\n"
	       " 2  a\\03..  \\302..\n", "a cell is clipped between characters");
}

static void test_clip_utf8(void)
{
	scoped(table_release) struct table t = { 0 };

	table_init(&t, columns, COUNT(columns));
	row(&t, "1", "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4", "");
	expect(&t, 18, false,
	       "ID  NAME    REASON\n"
	       " 1  \xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4..\n",
	       "a clipped cell cuts no character in two");
}

static void test_color(void)
{
	scoped(table_release) struct table t = { 0 };

	table_init(&t, columns, COUNT(columns));
	row(&t, "1", "a", "");
	row(&t, "2", "b", "");
	table_style(&t, STYLE_RED);
	row(&t, "3", "c", "");
	row(&t, "4", "d", "e");
	table_style(&t, STYLE_GREEN);
	expect(&t, 0, true,
	       "\033[1mID  NAME  REASON\033[0m\n"
	       " 1  a\n"
	       "\033[31m 2  b\033[0m\n"
	       " 3  c\n"
	       "\033[32m 4  d     e\033[0m\n", "rows have their styles");
	expect(&t, 0, false,
	       "ID  NAME  REASON\n 1  a\n 2  b\n 3  c\n 4  d     e\n",
	       "rows have no styles without colour");
}

static void test_terminal(void)
{
	scoped(close_file) FILE *file = tmpfile();

	if (!file)
		exit(1);
	unsetenv("COLUMNS");
	unsetenv("NO_COLOR");
	setenv("TERM", "xterm", 1);
	is_int(terminal_width(file), 0, "a file has no width");
	setenv("COLUMNS", "72", 1);
	is_int(terminal_width(file), 72, "COLUMNS gives a file its width");
	setenv("COLUMNS", "-5", 1);
	is_int(terminal_width(file), 0, "a senseless COLUMNS is ignored");
	setenv("COLUMNS", "80x", 1);
	is_int(terminal_width(file), 0, "a COLUMNS that is no number is ignored");
	ok(!terminal_color(file, "auto"), "a file is not coloured");
	ok(terminal_color(file, "always"), "a file is coloured if that is asked for");
	ok(!terminal_color(file, "never"), "a file is not coloured if never is asked for");
	setenv("NO_COLOR", "1", 1);
	ok(terminal_color(file, "always"), "an option is stronger than NO_COLOR");
}

/* The terminal's side of a pseudo-terminal. */
static FILE *open_terminal(int *master)
{
	const char *name;

	*master = posix_openpt(O_RDWR | O_NOCTTY);
	if (*master < 0 || grantpt(*master) || unlockpt(*master))
		return NULL;
	name = ptsname(*master);
	return name ? fopen(name, "w") : NULL;
}

static void test_real_terminal(void)
{
	struct winsize size = { .ws_row = 24, .ws_col = 132 };
	int master;
	scoped(close_file) FILE *out = open_terminal(&master);

	if (!ok(out != NULL, "the test opens a terminal"))
		return;
	unsetenv("COLUMNS");
	unsetenv("NO_COLOR");
	is_int(terminal_width(out), 80, "a terminal that does not know its width has 80 columns");
	ioctl(master, TIOCSWINSZ, &size);
	is_int(terminal_width(out), 132, "a terminal that knows its width has that");
	setenv("TERM", "xterm", 1);
	ok(terminal_color(out, "auto"), "a terminal is coloured");
	setenv("NO_COLOR", "", 1);
	ok(terminal_color(out, "auto"), "a terminal is coloured with an empty NO_COLOR");
	setenv("NO_COLOR", "1", 1);
	ok(!terminal_color(out, "auto"), "a terminal is not coloured with NO_COLOR");
	unsetenv("NO_COLOR");
	setenv("TERM", "dumb", 1);
	ok(!terminal_color(out, "auto"), "a dumb terminal is not coloured");
	unsetenv("TERM");
	ok(!terminal_color(out, "auto"), "an unknown terminal is not coloured");
	close(master);
}

static void test_duration(void)
{
	static const struct { double s; const char *text; } cases[] = {
		{ 0, "0s" }, { 0.9, "0s" }, { 59.9, "59s" }, { 60, "1m00s" }, { 750, "12m30s" },
		{ 3599.9, "59m59s" }, { 3600, "1h00m" }, { 11100, "3h05m" }, { 86399, "23h59m" },
		{ 86400, "1d00h" }, { 187200, "2d04h" }, { 86400.0 * 999, "999d00h" },
		{ 86400.0 * 1000.5, "1000d" }, { 1e300, "1.16e+295d" }, { -1, "-" },
		{ (double)NAN, "-" }, { (double)INFINITY, "-" },
	};
	for (size_t i = 0; i < COUNT(cases); i++)
		is_str(format_duration(cases[i].s).s, cases[i].text, cases[i].text);
}

static void test_span(void)
{
	static const struct { double s; const char *text; } cases[] = {
		{ 0, "0" }, { 1e-8, "10.0ns" }, { 1e-9, "1.00ns" }, { 1.234e-10, "0.12ns" },
		{ 1.234e-5, "12.3us" }, { 4.56e-3, "4.56ms" }, { 0.25, "250ms" },
		{ 0.9996, "1.00s" }, { 1, "1.00s" }, { 1.234, "1.23s" }, { 99.94, "99.9s" },
		{ 100, "1m40s" }, { 7200, "2h00m" },
		{ 1e300, "1.16e+295d" }, { -1, "-" }, { (double)NAN, "-" },
		{ (double)INFINITY, "-" },
	};
	for (size_t i = 0; i < COUNT(cases); i++)
		is_str(format_span(cases[i].s).s, cases[i].text, cases[i].text);
}

static void test_count(void)
{
	static const struct { double n; const char *text; } cases[] = {
		{ 0, "0" }, { 950, "950" }, { 999, "999" }, { 1000, "1.00k" }, { 12345, "12.3k" },
		{ 99949, "99.9k" }, { 99951, "100k" }, { 999499, "999k" }, { 999501, "1.00M" },
		{ 4.56e6, "4.56M" }, { 60e9, "60.0G" }, { 0.5, "0.50" }, { 12.34, "12.3" },
		{ 123.4, "123" }, { 9.996, "10.0" }, { 999.6, "1.00k" }, { 1e18, "1.00E" },
		{ 1e300, "1.00e+300" }, { -1, "-" }, { (double)NAN, "-" },
		{ (double)INFINITY, "-" },
	};
	for (size_t i = 0; i < COUNT(cases); i++)
		is_str(format_count(cases[i].n).s, cases[i].text, cases[i].text);
}

/* 1763648400 is 2025-11-20 14:20:00 UTC. */
static void test_time(void)
{
	const double t = 1763648400;

	setenv("TZ", "UTC0", 1);
	is_str(format_time(t, t + 3600).s, "14:20", "a time of today is shown without seconds");
	is_str(format_time(t, t + 3599).s, "14:20:00",
	       "a time of the last hour is shown with seconds");
	is_str(format_time(t + 31, t).s, "14:20:31",
	       "a time of the next hour is shown with seconds");
	is_str(format_time(t + 3600, t).s, "15:20", "a time in an hour is shown without seconds");
	is_str(format_time(t + 34799, t + 34800).s, "23:59:59",
	       "a time a second ago is shown with seconds across midnight");
	is_str(format_time(t, t + 34799).s, "14:20",
	       "a time of today is shown without its date until midnight");
	is_str(format_time(t, t + 34800).s, "11-20 14:20",
	       "a time of yesterday is shown with its date");
	is_str(format_time(t, t + 365 * 86400.0).s, "11-20 14:20",
	       "a time a year ago is shown with its date");
	is_str(format_time(t + 86400, t).s, "11-21 14:20",
	       "a time of tomorrow is shown with its date");
	setenv("TZ", "EST5", 1);
	tzset();
	is_str(format_time(t, t).s, "09:20:00", "a time is shown in local time");
	is_str(format_time((double)NAN, t).s, "-", "a time that is not known is shown as a dash");
	is_str(format_time(1e300, t).s, "-", "a time beyond all calendars is shown as a dash");
}

int main(void)
{
	test_widths();
	test_below();
	test_left_out();
	test_cells();
	test_clip_utf8();
	test_color();
	test_terminal();
	test_real_terminal();
	test_duration();
	test_span();
	test_count();
	test_time();
	return done();
}
