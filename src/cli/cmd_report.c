/* cmd_report.c - pollux report: the shell's way to say where a job stands (in C: client.h). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "commands.h"
#include "pollux/report_message.h"
#include "pollux/report_socket.h"
#include "pollux/text.h"

/* The longest waits for a receiver that is behind. A checkpoint not heard of is lost work. */
#define SEND_TIMEOUT_S 1
#define SEND_CHECKPOINT_TIMEOUT_S 10

struct report_options {
	bool verbose;
};

static const struct option_spec options[] = {
	{ "verbose", 'v', OPTION_FLAG, NULL,
	  .offset = offsetof(struct report_options, verbose), 0, 0,
	  "say when nobody was told" },
	{ .name = NULL },
};

static int refuse_line(const char *line, struct err *err)
{
	struct text keys = TEXT_INIT;
	const char *key;

	for (size_t i = 0; (key = report_key_at(i)); i++)
		text_addf(&keys, " %s", key);
	text_add(&keys, " METRIC.name");
	err_set(err, EX_USAGE, "cannot report '%.60s'%s: KEY=VALUE wanted, with a key of%s and a "
		"value it can have; see pollux-report(1)", line, strlen(line) > 60 ? ".." : "",
		keys.data);
	text_release(&keys);
	return -1;
}

/* One datagram of all lines: the receiver counts them as one report. */
static int build_message(char **lines, int n, struct text *message, struct err *err)
{
	for (int i = 0; i < n; i++) {
		if (!report_line_is_valid(lines[i]))
			return refuse_line(lines[i], err);
		text_add(message, lines[i]);
		text_add(message, "\n");
	}
	if (message->length > REPORT_MESSAGE_SIZE)
		return err_set(err, EX_USAGE, "a report of %zu bytes is too long: at most %d",
			       message->length, REPORT_MESSAGE_SIZE);
	return 0;
}

static bool tells_checkpoint(char **lines, int n)
{
	for (int i = 0; i < n; i++)
		if (text_starts_with(lines[i], "CHECKPOINT="))
			return true;
	return false;
}

/* A report that nobody hears is no failure: a script runs on without pollux. */
static void report(const struct report_options *o, const struct text *message, int wait_s)
{
	const char *path = getenv("POLLUX_REPORT_SOCKET");
	struct err err;
	bool is_read;

	if (!path || !*path) {
		if (o->verbose)
			fputs("pollux: not reported: not run by pollux (no POLLUX_REPORT_SOCKET)\n",
			      stderr);
		return;
	}
	if (report_socket_send(path, message->data, message->length, wait_s, &is_read, &err) &&
	    o->verbose)
		fprintf(stderr, "pollux: %s\n", err.text);
	if (!is_read && report_socket_keep(path, message->data, message->length, &err) &&
	    o->verbose)
		fprintf(stderr, "pollux: %s\n", err.text);
}

static int main_report(int argc, char **argv, struct err *err)
{
	struct report_options o = { .verbose = false };
	struct text message = TEXT_INIT;
	int first, rc;

	if (options_parse(&cmd_report, argc, argv, &o, &first, err))
		return -1;
	if (first >= argc)
		return usage_error(&cmd_report, err, "report what? give KEY=VALUE");
	rc = build_message(argv + first, argc - first, &message, err);
	if (rc == 0)
		report(&o, &message, tells_checkpoint(argv + first, argc - first)
			? SEND_CHECKPOINT_TIMEOUT_S : SEND_TIMEOUT_S);
	text_release(&message);
	return rc;
}

const struct command cmd_report = {
	.name = "report", .synopsis = "[--verbose] KEY=VALUE...",
	.summary = "tell pollux, from within a job, where it stands",
	.example = "pollux report SAMPLES=12800 STEP=100 LOSS=0.31\n"
		   "pollux report CHECKPOINT=out/ckpt.pt SAMPLES=12800\n"
		   "pollux report METRIC.accuracy=0.88",
	.options = options, .run = main_report,
};
