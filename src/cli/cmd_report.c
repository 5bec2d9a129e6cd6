/* cmd_report.c - pollux report: the shell's way to say where a job stands (in C: client.h). */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "commands.h"
#include "pollux/file.h"
#include "pollux/report_message.h"

/* The longest waits for a receiver that is behind. A checkpoint not heard of is lost work. */
#define SEND_TIMEOUT_S 1
#define SEND_CHECKPOINT_TIMEOUT_S 10

static const struct option_spec options[] = {		/* into a bool */
	{ "verbose", 'v', OPTION_FLAG, NULL, .offset = 0, 0, 0, "say when nobody was told" },
	{ .name = NULL },
};

/* A training must not end because of what it reports. So a field that cannot be sent is left out,
 * the others are sent, and the exit status is 0. */
struct left_out {
	struct text why;		/* of the first such field */
	int n;
};

static void leave_out(struct left_out *l, const char *line, const char *why)
{
	struct text name = TEXT_INIT, keys = TEXT_INIT;
	const char *key, *near = NULL;

	if (l->n++ > 0)
		return;
	text_add_bytes(&name, line, strcspn(line, "="));
	/* the key with the case that it should have, or of which this one is a misspelling */
	for (size_t i = 0; (key = report_key_at(i)); i++) {
		text_addf(&keys, " %s", key);
		if (!near && !strcasecmp(key, name.data))
			near = key;
	}
	text_addf(&l->why, "'%.60s'%s is left out: ", line, strlen(line) > 60 ? ".." : "");
	if (why)
		text_add(&l->why, why);
	else if (!strchr(line, '='))
		text_add(&l->why, "it is not KEY=VALUE");
	else if (report_key_is_known(name.data))
		text_addf(&l->why, "%s cannot have this value", name.data);
	else if (near)
		text_addf(&l->why, "did you mean %s?", near);
	else
		text_addf(&l->why, "there is no such key: the keys are%s METRIC.name", keys.data);
	text_release(&name);
	text_release(&keys);
}

/* Warns once for each run: a loop that reports a wrong field a million times must not fill the
 * run's log. The file that tells so goes with the run. */
static void warn(const struct left_out *l)
{
	const char *path = getenv("POLLUX_REPORT_SOCKET");
	struct text t = TEXT_INIT;

	if (l->n == 0)
		return;
	if (path && *path) {
		int fd;

		text_addf(&t, "%s.warned", path);
		fd = file_open(t.data, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
		text_clear(&t);
		if (fd < 0 && errno == EEXIST) {
			text_release(&t);
			return;
		}
		if (fd >= 0)
			close(fd);
	}
	text_addf(&t, "report: %s", l->why.data);
	if (l->n > 1)
		text_addf(&t, " (and %d more)", l->n - 1);
	text_add(&t, "; see pollux-report(1). This is said once for each run.");
	for (size_t i = 0; i < t.length; i++)
		if (t.data[i] == '\n')
			t.data[i] = ' ';
	output_message(t.data);
	text_release(&t);
}

/* Adds a line. A checkpoint gets the directory that the program is in, which the supervisor does
 * not know. */
static void add_line(const char *line, struct text *message)
{
	const char *path = text_starts_with(line, "CHECKPOINT=") ? line + 11 : "/";
	char *directory = *path && *path != '/' && access(path, F_OK) == 0 ? getcwd(NULL, 0) : NULL;

	if (directory &&
	    message->length + strlen(line) + strlen(directory) + 2 <= REPORT_MESSAGE_SIZE)
		text_addf(message, "CHECKPOINT=%s/%s\n", directory, path);
	else
		text_addf(message, "%s\n", line);
	free(directory);
}

/* A report that nobody hears is no failure: a script runs on without pollux. */
static void report(const struct text *message, int wait_s, bool verbose)
{
	const char *path = getenv("POLLUX_REPORT_SOCKET");
	struct err err;
	bool is_read;

	if (!path || !*path) {
		if (verbose)
			fputs("pollux: not reported: not run by pollux (no POLLUX_REPORT_SOCKET)\n",
			      stderr);
		return;
	}
	if (report_socket_send(path, message->data, message->length, wait_s, &is_read, &err) &&
	    verbose)
		output_sayf(stderr, "pollux: %s", err.text);
	if (!is_read && report_socket_keep(path, message->data, message->length, &err) &&
	    verbose)
		output_sayf(stderr, "pollux: %s", err.text);
}

static int main_report(int argc, char **argv, struct err *err)
{
	struct text message = TEXT_INIT;
	struct left_out l = { .n = 0 };
	bool has_field = false, verbose = false;
	int first, wait_s = SEND_TIMEOUT_S;

	if (options_parse(&cmd_report, argc, argv, &verbose, &first, err))
		return -1;
	for (int i = first; i < argc; i++)
		has_field |= strchr(argv[i], '=') != NULL;
	if (!has_field)
		return usage_error(&cmd_report, err, "report what? give KEY=VALUE");
	/* One datagram of all lines: the receiver counts them as one report. */
	for (int i = first; i < argc; i++) {
		if (text_starts_with(argv[i], "CHECKPOINT="))
			wait_s = SEND_CHECKPOINT_TIMEOUT_S;
		if (!report_line_is_valid(argv[i]))
			leave_out(&l, argv[i], NULL);
		else if (message.length + strlen(argv[i]) + 1 > REPORT_MESSAGE_SIZE)
			leave_out(&l, argv[i], "with it the report would be too long");
		else
			add_line(argv[i], &message);
	}
	warn(&l);
	if (message.length > 0)
		report(&message, wait_s, verbose);
	text_release(&message);
	text_release(&l.why);
	return 0;
}

const struct command cmd_report = {
	.name = "report", .synopsis = "[--verbose] KEY=VALUE...",
	.summary = "tell pollux, from within a job, where it stands",
	.example = "pollux report SAMPLES=12800 STEP=100 LOSS=0.31\n"
		   "pollux report CHECKPOINT=out/ckpt.pt SAMPLES=12800\n"
		   "pollux report METRIC.accuracy=0.88",
	.options = options, .run = main_report,
};
