/* cmd_page.c - pollux page: the machine, its queue and its jobs as one HTML file. */
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sysexits.h>
#include <time.h>

#include "commands.h"
#include "pollux/clock.h"
#include "pollux/file.h"
#include "pollux/view.h"

struct page_options {
	char *output;
	double since_s, watch_s;
};

static const struct option_spec options[] = {
#define O(member) .offset = offsetof(struct page_options, member)
	{ "output", 'o', OPTION_TEXT, "FILE", O(output), 0, 0,
	  "write here; '-', the default: standard output" },
	{ "since", 's', OPTION_DURATION, "TIME", O(since_s), 60, 1e10,
	  "show the last TIME, such as 12h or 7d; default 1d" },
	{ "watch", 'w', OPTION_DURATION, "SECONDS", O(watch_s), 1, 86400,
	  "write the file again every SECONDS, until interrupted" },
	{ .name = NULL },
#undef O
};

static volatile sig_atomic_t interrupted;

static void note_interruption(int signo)
{
	(void)signo;
	interrupted = 1;
}

static bool is_standard(const struct page_options *o)
{
	return !o->output || !strcmp(o->output, "-");
}

static int write_page(const struct page_options *o, const struct text *document, struct err *err)
{
	if (!is_standard(o))
		return file_replace(o->output, document->data, document->length, err);
	fwrite(document->data, 1, document->length, stdout);
	return output_flush(err);
}

static int write_once(const struct page_options *o, struct err *err)
{
	struct text document = TEXT_INIT;
	struct session s;
	struct page p;
	int rc;

	if (session_open(&s, STORE_READ, err))
		return -1;
	rc = page_read(&s, clock_wall_s() - o->since_s, &p, err);
	session_close(&s);
	if (rc)
		return rc;
	page_print(&p, isfinite(o->watch_s) ? o->watch_s : 0, &document);
	page_release(&p);
	rc = write_page(o, &document, err);
	text_release(&document);
	return rc;
}

/* A first page that cannot be written ends the command. A later failure, such as a full disk, is
 * said once, and again after a success. */
static int write_again(const struct page_options *o, struct err *err)
{
	struct sigaction action = { .sa_handler = note_interruption };
	struct timespec pause = {
		.tv_sec = (time_t)o->watch_s, .tv_nsec = (long)(fmod(o->watch_s, 1) * 1e9),
	};
	bool is_first = true;
	int rc = 0;

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	while (!interrupted) {
		int was = rc;

		rc = write_once(o, err);
		if (rc && is_first)
			return rc;
		if (rc && !was)
			output_messagef("%s; '--watch' goes on", err->text);
		is_first = false;
		nanosleep(&pause, NULL);
	}
	return 0;
}

static int main_page(int argc, char **argv, struct err *err)
{
	struct page_options o = { .since_s = 86400, .watch_s = (double)NAN };
	int first, rc = options_parse(&cmd_page, argc, argv, &o, &first, err);

	if (rc == 0 && first < argc)
		rc = usage_error(&cmd_page, err, "unexpected operand '%s'", argv[first]);
	if (rc == 0 && isfinite(o.watch_s) && is_standard(&o))
		rc = usage_error(&cmd_page, err, "option '--watch' wants a file, by '--output'");
	if (rc == 0)
		rc = isfinite(o.watch_s) ? write_again(&o, err) : write_once(&o, err);
	options_release(&cmd_page, &o);
	return rc;
}

const struct command cmd_page = {
	.name = "page", .synopsis = "[OPTION...]",
	.summary = "write what runs, waits and ended as one HTML file",
	.example = "pollux page -o pollux.html\n"
		   "pollux page -o pollux.html --watch 60 --since 7d",
	.options = options, .run = main_page,
};
