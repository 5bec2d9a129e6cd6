/* cmd_page.c - pollux page: the machine, its queue and its jobs as one HTML file. */
#include <math.h>
#include <string.h>
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
};

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
	if (o->output && strcmp(o->output, "-") != 0) {
		rc = file_replace(o->output, document.data, document.length, err);
	} else {
		fwrite(document.data, 1, document.length, stdout);
		rc = output_flush(err);
	}
	text_release(&document);
	return rc;
}

static int main_page(int argc, char **argv, struct err *err)
{
	struct page_options o = { .since_s = 86400, .watch_s = (double)NAN };
	int first, rc = options_parse(&cmd_page, argc, argv, &o, &first, err);
	bool watches = isfinite(o.watch_s);
	struct timespec pause = { .tv_sec = watches ? (time_t)o.watch_s : 0,
				  .tv_nsec = watches ? (long)(fmod(o.watch_s, 1) * 1e9) : 0 };

	if (rc == 0 && first < argc)
		rc = usage_error(&cmd_page, err, "unexpected operand '%s'", argv[first]);
	if (rc == 0 && watches && (!o.output || !strcmp(o.output, "-")))
		rc = usage_error(&cmd_page, err, "option '--watch' wants a file, by '--output'");
	if (rc == 0 && watches)
		interruptions_catch();
	rc = rc ? rc : write_once(&o, err);
	/* A first page that cannot be written ends the command. A later failure, such as a full
	 * disk, is said once, and again after a success. */
	if (rc == 0 && watches) {
		for (nanosleep(&pause, NULL); !interrupted; nanosleep(&pause, NULL)) {
			int was = rc;

			rc = write_once(&o, err);
			if (rc && !was)
				output_messagef("%s; '--watch' goes on", err->text);
		}
		rc = 0;
	}
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
