/* cmd_report.c - pollux report: the shell's way to say where a job stands (in C: client.h). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "commands.h"
#include "pollux/file.h"
#include "pollux/report.h"
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

/* --- fields that cannot be sent --- */

/* A training must not end because of what it reports. So a field that cannot be sent is left out,
 * the others are sent, and the exit status is 0. */
struct left_out {
	struct text why;		/* of the first such field */
	int n;
};

static void add_keys(struct text *t)
{
	const char *key;

	for (size_t i = 0; (key = report_key_at(i)); i++)
		text_addf(t, " %s", key);
	text_add(t, " METRIC.name");
}

/* Returns the key with the case that it should have, or of which this one is a misspelling; NULL:
 * none is near. */
static const char *near_key(const char *name)
{
	const char *keys[64], *key;
	size_t n = 0;

	while (n < sizeof(keys) / sizeof(keys[0]) && (key = report_key_at(n)))
		keys[n++] = key;
	for (size_t i = 0; i < n; i++)
		if (!strcasecmp(keys[i], name))
			return keys[i];
	return NULL;
}

static void leave_out(struct left_out *l, const char *line, const char *why)
{
	struct text name = TEXT_INIT;
	const char *near;

	if (l->n++ > 0)
		return;
	text_addf(&l->why, "'%.60s'%s is left out: ", line, strlen(line) > 60 ? ".." : "");
	text_add_bytes(&name, line, strcspn(line, "="));
	if (why) {
		text_add(&l->why, why);
	} else if (!strchr(line, '=')) {
		text_add(&l->why, "it is not KEY=VALUE");
	} else if (report_key_is_known(name.data ? name.data : "")) {
		text_addf(&l->why, "%s cannot have this value", name.data);
	} else {
		near = near_key(name.data ? name.data : "");
		text_add(&l->why, near ? "did you mean " : "there is no such key: the keys are");
		if (near)
			text_addf(&l->why, "%s?", near);
		else
			add_keys(&l->why);
	}
	text_release(&name);
}

/* True if this process is the first of the run to warn: a loop that reports a wrong field a million
 * times must not fill the run's log. The file goes with the run. */
static bool warns_first(void)
{
	const char *path = getenv("POLLUX_REPORT_SOCKET");
	struct text name = TEXT_INIT;
	int fd;

	if (!path || !*path)
		return true;
	text_addf(&name, "%s.warned", path);
	fd = file_open(name.data, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
	text_release(&name);
	if (fd >= 0)
		close(fd);
	return fd >= 0 || errno != EEXIST;
}

static void warn(const struct left_out *l)
{
	struct text t = TEXT_INIT;

	if (l->n == 0 || !warns_first())
		return;
	text_addf(&t, "pollux: report: %s", l->why.data);
	if (l->n > 1)
		text_addf(&t, " (and %d more)", l->n - 1);
	text_add(&t, "; see pollux-report(1). This is said once for each run.");
	for (size_t i = 0; i < t.length; i++)
		if (t.data[i] == '\n')
			t.data[i] = ' ';
	output_message(t.data + strlen("pollux: "));
	text_release(&t);
}

/* --- the report --- */

/* The directory that the program is in, for a checkpoint there: the supervisor does not know it.
 * NULL: none is needed. The caller frees. */
static char *directory_of(const char *line)
{
	const char *path = text_starts_with(line, "CHECKPOINT=") ? line + 11 : "/";

	return *path && *path != '/' && access(path, F_OK) == 0 ? getcwd(NULL, 0) : NULL;
}

static void add_line(const char *line, struct text *message)
{
	char *directory = directory_of(line);

	if (directory &&
	    message->length + strlen(line) + strlen(directory) + 2 <= REPORT_MESSAGE_SIZE)
		text_addf(message, "CHECKPOINT=%s/%s\n", directory, line + 11);
	else
		text_addf(message, "%s\n", line);
	free(directory);
}

/* One datagram of all lines: the receiver counts them as one report. */
static void build_message(char **lines, int n, struct text *message, struct left_out *l)
{
	for (int i = 0; i < n; i++) {
		if (!report_line_is_valid(lines[i]))
			leave_out(l, lines[i], NULL);
		else if (message->length + strlen(lines[i]) + 1 > REPORT_MESSAGE_SIZE)
			leave_out(l, lines[i], "with it the report would be too long");
		else
			add_line(lines[i], message);
	}
}

static bool has_field(char **words, int n)
{
	for (int i = 0; i < n; i++)
		if (strchr(words[i], '='))
			return true;
	return false;
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
		output_sayf(stderr, "pollux: %s", err.text);
	if (!is_read && report_socket_keep(path, message->data, message->length, &err) &&
	    o->verbose)
		output_sayf(stderr, "pollux: %s", err.text);
}

static int main_report(int argc, char **argv, struct err *err)
{
	struct report_options o = { .verbose = false };
	struct text message = TEXT_INIT;
	struct left_out l = { .n = 0 };
	int first;

	if (options_parse(&cmd_report, argc, argv, &o, &first, err))
		return -1;
	if (!has_field(argv + first, argc - first))
		return usage_error(&cmd_report, err, "report what? give KEY=VALUE");
	build_message(argv + first, argc - first, &message, &l);
	warn(&l);
	if (message.length > 0)
		report(&o, &message, tells_checkpoint(argv + first, argc - first)
			? SEND_CHECKPOINT_TIMEOUT_S : SEND_TIMEOUT_S);
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
