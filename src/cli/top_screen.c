/* top_screen.c - the terminal of 'pollux top', by ncurses: this file only copies cells. */
#define NCURSES_NOMACROS 1
#include <curses.h>
#include <langinfo.h>
#include <locale.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "pollux/mem.h"
#include "pollux/text.h"
#include "top_parts.h"

#define ESCAPE_MS 100		/* an escape that nothing follows is the key */

static struct screen {
	SCREEN *screen;
	bool color, utf8;
} screen;

int screen_open(bool color, struct err *err)
{
	const char *name = getenv("TERM"), *place;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return err_set(err, EX_UNAVAILABLE, "top wants a terminal; 'pollux status' prints "
			       "the jobs, and 'pollux devices' the devices");
	setlocale(LC_CTYPE, "");
	screen.utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	screen.screen = newterm(NULL, stdout, stdin);
	/* -1, as a pointer, where the name is of no text */
	place = screen.screen ? tigetstr("cup") : NULL;
	if (!place || (intptr_t)place == -1) {
		screen_close();
		return err_set(err, EX_UNAVAILABLE, "top cannot place text on this terminal (TERM "
			       "is '%.40s'); 'pollux status -w' only prints", name ? name : "");
	}
	screen.color = color && has_colors();
	if (screen.color) {
		start_color();
		use_default_colors();
		init_pair(1, COLOR_GREEN, -1);
		init_pair(2, COLOR_YELLOW, -1);
		init_pair(3, COLOR_RED, -1);
	}
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, true);
	nodelay(stdscr, true);
	set_escdelay(ESCAPE_MS);
	curs_set(0);
	return 0;
}

void screen_close(void)
{
	if (!screen.screen)
		return;
	endwin();
	delscreen(screen.screen);
	screen.screen = NULL;
}

void screen_canvas(struct canvas *g)
{
	struct winsize size;

	/* a signal may have been missed while this process was stopped */
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col &&
	    is_term_resized(size.ws_row, size.ws_col))
		resizeterm(size.ws_row, size.ws_col);
	canvas_init(g, getmaxy(stdscr), getmaxx(stdscr), screen.utf8);
}

static int attributes_of(int style)
{
	static const int plain[] = {
		[STYLE_PLAIN] = (int)A_NORMAL, [STYLE_BOLD] = (int)A_BOLD, [STYLE_DIM] = (int)A_DIM,
		[STYLE_GREEN] = (int)A_NORMAL, [STYLE_YELLOW] = (int)A_BOLD,
		[STYLE_RED] = (int)A_BOLD,
	};
	static const int pairs[] = { [STYLE_GREEN] = 1, [STYLE_YELLOW] = 2, [STYLE_RED] = 3 };
	int base = style & ~CANVAS_SELECTED;
	int selected = style & CANVAS_SELECTED ? (int)A_REVERSE : 0;

	if (selected && base == STYLE_DIM)	/* hard to read */
		base = STYLE_PLAIN;
	return selected | (screen.color && base >= STYLE_GREEN ? COLOR_PAIR(pairs[base])
			   : plain[base]);
}

void screen_draw(const struct canvas *g)
{
	scoped(text_release) struct text run = TEXT_INIT;

	for (int row = 0; row < g->rows; row++) {
		const struct canvas_cell *cells = &g->cells[(ptrdiff_t)row * g->columns];

		for (int c = 0, end; c < g->columns; c = end) {
			text_clear(&run);
			for (end = c; end < g->columns && cells[end].style == cells[c].style; end++)
				text_add(&run, cells[end].s);
			attrset(attributes_of(cells[c].style));
			mvaddnstr(row, c, run.data, (int)run.length);
		}
	}
	attrset(A_NORMAL);
	curs_set(g->cursor_row >= 0);
	move(g->cursor_row >= 0 ? g->cursor_row : g->rows - 1,
	     g->cursor_row >= 0 ? g->cursor_column : g->columns - 1);
	refresh();
}

int screen_key(void)
{
	static const struct {
		int theirs, ours;
	} keys[] = {
		{ ERR, KEY_NONE }, { KEY_UP, SCREEN_UP }, { KEY_DOWN, SCREEN_DOWN },
		{ KEY_PPAGE, SCREEN_PAGE_UP }, { KEY_NPAGE, SCREEN_PAGE_DOWN },
		{ KEY_HOME, SCREEN_HOME }, { KEY_END, SCREEN_END }, { KEY_ENTER, SCREEN_ENTER },
		{ '\r', SCREEN_ENTER }, { '\n', SCREEN_ENTER },
		{ KEY_BACKSPACE, SCREEN_BACKSPACE }, { 0x7f, SCREEN_BACKSPACE },
		{ '\b', SCREEN_BACKSPACE }, { 0x1b, SCREEN_ESCAPE },
	};
	int key;

	do
		key = getch();
	while (key == KEY_RESIZE);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (keys[i].theirs == key)
			return keys[i].ours;
	return key < 256 ? key : SCREEN_OTHER;
}
