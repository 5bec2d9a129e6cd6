/* test_canvas.c - cells of a screen: hostile and wide texts, bars, curves. */
#include <locale.h>
#include <math.h>

#include "pollux/canvas.h"
#include "tap.h"

static void is_row(const struct canvas *g, int row, const char *want, const char *what)
{
	struct text t = TEXT_INIT;

	canvas_add_row(g, row, &t);
	is_str(t.data, want, what);
	text_release(&t);
}

static void expect(bool utf8, int width, const char *s, const char *want, const char *what)
{
	struct canvas g;

	canvas_init(&g, 1, 40, utf8);
	canvas_put(&g, 0, 0, width, STYLE_PLAIN, s);
	is_row(&g, 0, want, what);
	canvas_release(&g);
}

static void test_texts(void)
{
	struct canvas g;

	expect(true, 40, "a\033[2Jb\n\x7f", "a\\033[2Jb\\n\\177", "control characters are text");
	expect(true, 40, "a\xc2\x9b" "b", "a\\302\\233b", "so are those of C1");
	expect(true, 40, "a\xe2\x80\xae" "b", "a\\342\\200\\256b", "and a change of direction");
	expect(true, 40, "a\xff" "b", "a\\377b", "and what is no UTF-8");
	expect(true, 10, "a long name", "a long n..", "a text is cut");
	expect(true, 11, "a long name", "a long name", "a text that fits is not");
	expect(true, 1, "ab", ".", "the least of all");
	expect(true, 40, "\xc3\xa9t\xc3\xa9", "\xc3\xa9t\xc3\xa9", "UTF-8 is shown");
	expect(false, 40, "\xc3\xa9t\xc3\xa9", "?t?", "where the terminal has it");
	expect(true, 40, "e\xcc\x81z", "ez", "what has no width has no cell");
	expect(true, 5, "\xe4\xb8\xad\xe6\x96\x87\xe5\xad\x97", "\xe4\xb8\xad..",
	       "wide characters take two cells, and are not halved");
	canvas_init(&g, 3, 12, true);
	is_int(canvas_wrap(&g, (struct canvas_box){ 0, 1, 3, 10 }, STYLE_PLAIN,
			   "one two three four five six seven"), 3, "a text of three rows");
	is_row(&g, 0, " one two", "is broken at a blank");
	is_row(&g, 2, " five six..", "and cut at its end");
	is_int(canvas_put(&g, 7, -3, 5, STYLE_PLAIN, "x"), 1, "nothing is put outside");
	canvas_put_right(&g, 1, 0, 12, STYLE_PLAIN, "end");
	is_row(&g, 1, " three foend", "a text at the right end");
	canvas_release(&g);
}

static void test_bars(void)
{
	struct canvas g;

	canvas_init(&g, 4, 10, true);
	canvas_bar(&g, 0, 0, 10, STYLE_GREEN, 0.25);
	canvas_bar(&g, 1, 0, 10, STYLE_GREEN, 7);
	canvas_bar(&g, 2, 0, 10, STYLE_GREEN, NAN);
	is_row(&g, 0, "━━╸───────", "a quarter");
	is_row(&g, 1, "━━━━━━━━━━", "full");
	is_row(&g, 2, "", "unknown");
	g.utf8 = false;
	canvas_bar(&g, 3, 0, 10, STYLE_GREEN, 0.3);
	is_row(&g, 3, "###.......", "in ASCII");
	canvas_release(&g);
}

static void test_curves(void)
{
	const struct canvas_point up[] = { { 0, 0 }, { 1, 1 }, { 2, 2 }, { 3, NAN }, { 4, 2 } };
	const struct canvas_point flat[] = { { 5, 1 }, { 5, 1 } };
	struct canvas g;

	canvas_init(&g, 2, 6, false);
	canvas_curve(&g, (struct canvas_box){ 0, 0, 2, 6 }, STYLE_PLAIN, up, 5);
	is_row(&g, 0, " .-  '", "a curve goes up, and has a gap");
	is_row(&g, 1, ".", "from its lowest point");
	canvas_blank(&g, 0, 0, 2, 6);
	canvas_curve(&g, (struct canvas_box){ 0, 0, 2, 6 }, STYLE_PLAIN, flat, 2);
	canvas_curve(&g, (struct canvas_box){ 0, 0, 2, 6 }, STYLE_PLAIN, flat, 0);
	canvas_curve(&g, (struct canvas_box){ 0, 0, 0, 6 }, STYLE_PLAIN, flat, 2);
	is_row(&g, 0, "  .", "one point stands in the middle");
	canvas_release(&g);
	canvas_init(&g, 1, 3, true);
	canvas_curve(&g, (struct canvas_box){ 0, 0, 1, 3 }, STYLE_PLAIN, up, 3);
	is_row(&g, 0, "\xe2\xa3\x80\xe2\xa0\x96\xe2\xa0\x89", "in dots");
	canvas_release(&g);
}

int main(void)
{
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		skip_all("no locale C.UTF-8");
	test_texts();
	test_bars();
	test_curves();
	return done();
}
