/* cmd_page.c - pollux page: the machine, its queue and its jobs as one HTML file, or served. */
#include <math.h>
#include <string.h>
#include <time.h>

#include "commands.h"
#include "page_server.h"
#include "pollux/clock.h"
#include "pollux/file.h"
#include "pollux/view.h"

struct page_options {
	char *output;
	double since_s, watch_s, for_s;
	bool serve;
};

static const struct option_spec options[] = {
#define O(member) .offset = offsetof(struct page_options, member)
	{ "output", 'o', OPTION_TEXT, "FILE", O(output), 0, 0,
	  "write here; '-', the default: standard output" },
	{ "since", 's', OPTION_DURATION, "TIME", O(since_s), 60, 1e10,
	  "show the last TIME, such as 12h or 7d; default 1d" },
	{ "watch", 'w', OPTION_DURATION, "SECONDS", O(watch_s), 1, 86400,
	  "write the file again every SECONDS, until interrupted" },
	{ "serve", 0, OPTION_FLAG, "[PORT]", O(serve), 0, 0,
	  "show the page, always up to date, in a browser on this machine, by PORT or a free one" },
	{ "for", 0, OPTION_DURATION, "TIME", O(for_s), 1, 30 * 86400,
	  "end --serve after TIME; default 8h" },
	{ .name = NULL },
};

/* Reads the page. of: the options. */
static int read_content(const void *of, struct text *content, struct err *err)
{
	const struct page_options *o = of;
	struct session s;
	struct page p;
	int rc;

	if (session_open(&s, STORE_READ, err))
		return -1;
	rc = page_read(&s, clock_wall_s() - o->since_s, &p, err);
	session_close(&s);
	if (rc)
		return rc;
	page_print(&p, content);
	page_release(&p);
	return 0;
}

static int write_once(const struct page_options *o, struct err *err)
{
	struct page_frame frame = { .refresh_s = isfinite(o->watch_s) ? o->watch_s : 0 };
	struct text content = TEXT_INIT, document = TEXT_INIT;
	int rc = read_content(o, &content, err);

	if (rc == 0)
		page_add_document(&frame, content.data, &document);
	text_release(&content);
	if (rc == 0 && o->output && strcmp(o->output, "-") != 0) {
		rc = file_replace(o->output, document.data, document.length, err);
	} else if (rc == 0) {
		fwrite(document.data, 1, document.length, stdout);
		rc = output_flush(err);
	}
	text_release(&document);
	return rc;
}

/* Writes the file again and again, until interrupted. A first page that cannot be written ends the
 * command. A later failure, such as a full disk, is said once, and again after a success. */
static int write_often(const struct page_options *o, struct err *err)
{
	struct timespec pause = { .tv_sec = (time_t)o->watch_s,
				  .tv_nsec = (long)(fmod(o->watch_s, 1) * 1e9) };
	int rc;

	if (!o->output || !strcmp(o->output, "-"))
		return usage_error(&cmd_page, err,
				   "option '--watch' wants a file, by '--output'");
	interruptions_catch();
	rc = write_once(o, err);
	if (rc)
		return rc;
	for (nanosleep(&pause, NULL); !interrupted; nanosleep(&pause, NULL)) {
		int was = rc;

		rc = write_once(o, err);
		if (rc && !was)
			output_messagef("%s; '--watch' goes on", err->text);
	}
	return 0;
}

static int serve(const struct page_options *o, const char *port, struct err *err)
{
	struct page_server_options server = {
		.for_s = isfinite(o->for_s) ? o->for_s : 8 * 3600, .content = read_content, .of = o,
	};
	int64_t number = 0;

	if (o->output || isfinite(o->watch_s))
		return usage_error(&cmd_page, err, "options '--serve' and '%s' exclude each other",
				   o->output ? "--output" : "--watch");
	if (port && (number_parse_int(port, &number) || number < 1024 || number > 65535))
		return usage_error(&cmd_page, err, "option '--serve' wants a port from 1024 to "
				   "65535, not '%.60s'", port);
	server.port = (int)number;
	return page_serve(&server, err);
}

static int main_page(int argc, char **argv, struct err *err)
{
	struct page_options o = {
		.since_s = 86400, .watch_s = (double)NAN, .for_s = (double)NAN,
	};
	int first, rc = options_parse(&cmd_page, argc, argv, &o, &first, err);

	if (rc == 0 && argc - first > o.serve)
		rc = usage_error(&cmd_page, err, "unexpected operand '%s'", argv[first + o.serve]);
	else if (rc == 0 && o.serve)
		rc = serve(&o, argv[first], err);
	else if (rc == 0 && isfinite(o.for_s))
		rc = usage_error(&cmd_page, err, "option '--for' is for '--serve'");
	else if (rc == 0)
		rc = isfinite(o.watch_s) ? write_often(&o, err) : write_once(&o, err);
	options_release(&cmd_page, &o);
	return rc;
}

const struct command cmd_page = {
	.name = "page", .synopsis = "[OPTION...] [--serve [PORT]]",
	.summary = "show what runs, waits and ended in a browser, or as one HTML file",
	.example = "pollux page --serve\n"
		   "pollux page -o pollux.html\n"
		   "pollux page -o pollux.html --watch 60 --since 7d",
	.options = options, .run = main_page,
};
