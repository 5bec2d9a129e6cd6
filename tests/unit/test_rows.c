/* test_rows.c - what a program printed, as the rows that a terminal would show. */
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "pollux/mem.h"
#include "pollux/text.h"
#include "tap.h"

static void take(const char *text, size_t n, bool ends, void *arg)
{
	text_add_bytes(arg, text, n);
	if (ends)
		text_add(arg, "\n");
}

static char *shown(bool plain, const char *bytes, size_t n, size_t piece)
{
	struct text t = TEXT_INIT;
	struct rows *r = rows_new(plain, take, &t);

	for (size_t i = 0; i < n; i += piece)
		rows_feed(r, bytes + i, n - i < piece ? n - i : piece);
	rows_end(r);
	rows_free(r);
	return text_detach(&t);
}

#define TQDM " 50%|#####     | 5/10 [00:01<00:01, 5.0it/s]"
#define FULL "100%|##########| 10/10 [00:02<00:00, 5.0it/s]"

static const struct {
	const char *what, *printed, *rows, *plain;
} cases[] = {
	{ "lines are shown as they are", "one\ntwo\n", "one\ntwo\n", "one\ntwo\n" },
	{ "a line without an end is shown", "one\ntwo", "one\ntwo", "one\ntwo" },
	{ "empty lines are shown", "\n\n\n", "\n\n\n", "\n\n\n" },
	{ "lines of another system are shown without carriage returns",
	  "one\r\ntwo\r\n", "one\ntwo\n", "one\ntwo\n" },
	{ "a bar of tqdm at work is shown in its last state",
	  "begin\n\r  0%|          | 0/10\r" TQDM, "begin\n" TQDM, "begin\n" },
	{ "a bar of tqdm at its end is shown in its last state",
	  "\r  0%|          | 0/10\r" TQDM "\r" FULL "\nend\n", FULL "\nend\n", "end\n" },
	{ "a bar with one state is shown", "\r" FULL "\nend\n", FULL "\nend\n", "end\n" },
	{ "two bars of tqdm are shown in their last states",
	  "\router 0/2\n\r  0%|   | 0/2\x1b[A\n\r 50%|## | 1/2\x1b[A\n\r100%|###| 2/2\x1b[A"
	  "\router 1/2\n\r  0%|   | 0/2\x1b[A\n\r100%|###| 2/2\x1b[A\router 2/2\n\n\nend\n",
	  "outer 2/2\n100%|###| 2/2\n\nend\n", "outer 2/2\n\nend\n" },
	{ "a bar of Rich, which erases rows, is shown in its last state",
	  "\x1b[?25lWorking \xe2\x94\x81\xe2\x94\x81\xe2\x94\x81  0%\n"
	  "\r\x1b[2K\x1b[1A\x1b[2KWorking \xe2\x94\x81\xe2\x94\x81\xe2\x94\x81 50%\n"
	  "\r\x1b[2K\x1b[1A\x1b[2KWorking \xe2\x94\x81\xe2\x94\x81\xe2\x94\x81 99%\n\x1b[?25hend\n",
	  "Working \xe2\x94\x81\xe2\x94\x81\xe2\x94\x81 99%\nend\n", "end\n" },
	{ "a bar that is erased is not shown", "\r" TQDM "\r\x1b[Kdone\n", "done\n", "done\n" },
	{ "a counter is shown in its last state",
	  "\rDownloading 1%\rDownloading 50%\rDownloading ... done\n",
	  "Downloading ... done\n", "Downloading ... done\n" },
	{ "a counter at work is shown in its present state",
	  "\rDownloading 1%\rDownloading 50%", "Downloading 50%", "" },
	{ "a bar that spaces wipe is not shown",
	  "\r" TQDM "\r             \rsaved\n", "saved\n", "saved\n" },
	{ "backspaces take characters back", "load -\b\\\b|\b/\bok\n", "load ok\n", "load ok\n" },
	{ "a bar of old Keras is shown in its last state",
	  "epoch 1\n1/2 [=>..]\b\b\b\b\b\b\b\b\b\b\r2/2 [====] loss: 0.5\n",
	  "epoch 1\n2/2 [====] loss: 0.5\n", "epoch 1\n" },
	{ "a drawing in a line of its own is shown", "==== epoch 2 ====\n", "==== epoch 2 ====\n",
	  "==== epoch 2 ====\n" },
	{ "colours are left out of plain text",
	  "\x1b[32mgreen\x1b[0m\n", "\x1b[32mgreen\x1b[0m\n", "green\n" },
	{ "a title of the terminal is left out",
	  "\x1b]0;title\x07one\n\x1b]0;title\x1b\\two\n", "one\ntwo\n", "one\ntwo\n" },
	{ "a sequence that has no end hides the rest of its line",
	  "\x1b]0;title\none\n\x1b[31\ntwo\n", "\none\n\ntwo\n", "\none\n\ntwo\n" },
	{ "other control characters are left out of plain text",
	  "a\tb\x01" "c\n", "a\tb\x01" "c\n", "a\tbc\n" },
	{ "a carriage return at the end keeps the last state",
	  "state 1\rstate 2\r", "state 2", "" },
	{ "a shorter text hides a longer one below it",
	  "a long text\rshort\n", "short\n", "short\n" },
};

static void test_cases(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t n = strlen(cases[i].printed);

		for (size_t piece = 1; piece <= n; piece += piece < 3 ? 1 : n) {
			autofree char *rows = shown(false, cases[i].printed, n, piece);
			autofree char *plain = shown(true, cases[i].printed, n, piece);

			is_str(rows, cases[i].rows, cases[i].what);
			is_str(plain, cases[i].plain, cases[i].what);
		}
	}
}

static void test_large(void)
{
	size_t n = 3 * ROW_MOST + 17;
	char *line = xmalloc(n + 1), *got;
	scoped(text_release) struct text t = TEXT_INIT, want = TEXT_INIT;

	memset(line, 'x', n);
	line[n] = '\n';
	got = shown(false, line, n + 1, 4096);
	ok(strlen(got) == n + 1 && !memcmp(got, line, n + 1), "a huge line comes out whole");
	free(got);
	memset(line, '\0', n);
	line[n / 2] = 'a';
	line[n - 1] = 'z';
	got = shown(false, line, n + 1, 65536);
	is_str(got, "az\n", "NUL bytes are left out");
	free(got);
	free(line);
	for (int i = 0; i < 1000; i++) {
		text_addf(&t, "line %d\n", i);
		text_addf(&want, "line %d\n", i);
	}
	got = shown(true, t.data, t.length, 77);
	is_str(got, want.data, "more rows than are held come out whole");
	free(got);
}

static bool is_cut(const char *bytes)
{
	scoped(text_release) struct text t = TEXT_INIT;
	struct rows *r = rows_new(false, take, &t);
	bool cut;

	rows_feed(r, bytes, strlen(bytes));
	cut = rows_are_cut(r);
	rows_free(r);
	return cut;
}

static void test_flush(void)
{
	scoped(text_release) struct text t = TEXT_INIT;
	struct rows *r = rows_new(true, take, &t);

	rows_feed(r, "one\ntw", 6);
	rows_flush(r);
	is_str(t.data, "one\n", "rows that are ended are given out at once");
	rows_feed(r, "o\n\r 5%", 6);
	rows_flush(r);
	is_str(t.data, "one\ntwo\n", "rows that end later are given out later");
	rows_feed(r, "\r 6%", 4);
	rows_end(r);
	is_str(t.data, "one\ntwo\n", "a bar is never given out as plain text");
	rows_free(r);
	ok(!is_cut("a\nb\x1b[A"), "a row that is held can be reached");
	ok(is_cut("b\x1b[A"), "a row before the first one cannot be reached");
}

int main(void)
{
	test_cases();
	test_large();
	test_flush();
	return tap_done();
}
