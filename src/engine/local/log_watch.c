/* log_watch.c - read a log as it grows: see run_log.h. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/file.h"
#include "run_log.h"

#define BLOCK 65536

void log_watch_init(struct log_watch *w)
{
	*w = (struct log_watch){ .fd = -1, .next_look_boot_s = INFINITY };
}

static double thread_cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int log_watch_open(struct log_watch *w, const char *path, int64_t offset, const char *step_regex,
		   struct err *err)
{
	log_watch_init(w);
	w->steps = steps_new(step_regex, err);
	if (!w->steps)
		return -1;
	steps_set_cpu_clock(w->steps, thread_cpu_s);
	w->fd = file_open(path, O_RDONLY, 0);
	if (w->fd < 0) {
		err_set(err, EX_IOERR, "cannot watch log '%s': %s", path, file_open_why(errno));
		log_watch_close(w);
		return -1;
	}
	w->begin = w->offset = w->line_offset = offset;
	w->next_look_boot_s = w->last_boot_s = clock_boot_s();
	return 0;
}

static void ignore(const struct step_event *event, void *arg)
{
	(void)event;
	(void)arg;
}

/* Feeds a part of the file, without times of arrival. */
static void feed_part(struct log_watch *w, int64_t begin, int64_t end)
{
	char block[BLOCK];

	while (begin < end) {
		int64_t left = end - begin;
		ssize_t n = pread(w->fd, block, left < BLOCK ? (size_t)left : BLOCK, begin);

		if (n <= 0)
			break;
		begin += n;
		steps_feed(w->steps, block, (size_t)n, (double)NAN, ignore, NULL);
	}
	steps_end(w->steps, ignore, NULL);
}

static void feed_ends(struct log_watch *w, int64_t begin, int64_t end)
{
	int64_t head = begin + LOG_LEARN_BYTES, tail = end - LOG_LEARN_BYTES;

	feed_part(w, begin, end < head ? end : head);
	if (tail > begin)
		feed_part(w, tail > head ? tail : head, end);
}

void log_watch_learn(struct log_watch *w)
{
	if (w->fd < 0 || w->offset <= 0)
		return;
	feed_ends(w, 0, w->offset);
	steps_begin_run(w->steps);
}

void log_watch_catch_up(struct log_watch *w, int64_t offset)
{
	struct stat st;

	/* A file that shrank was begun anew. */
	if (w->fd < 0 || fstat(w->fd, &st) || st.st_size < offset)
		return;
	feed_ends(w, w->offset, offset);
	w->offset = w->line_offset = offset;
}

void log_watch_close(struct log_watch *w)
{
	if (w->fd >= 0)
		close(w->fd);
	steps_free(w->steps);
	metric_lines_free(w->metrics);
	found_metrics_free(w->found);
	web_addresses_free(w->addresses);
	log_watch_init(w);
}

int log_watch_add_metrics(struct log_watch *w, const struct strings *list, struct err *err)
{
	if (w->fd < 0 || list->count == 0)
		return 0;
	w->metrics = metric_lines_new(list, err);
	if (!w->metrics)
		return -1;
	metric_lines_set_cpu_clock(w->metrics, thread_cpu_s);
	return 0;
}

void log_watch_find_metrics(struct log_watch *w)
{
	if (w->fd >= 0 && !w->found)
		w->found = found_metrics_new();
}

void log_watch_find_addresses(struct log_watch *w)
{
	if (w->fd >= 0 && !w->addresses)
		w->addresses = web_addresses_new();
}

void log_watch_end_steps(struct log_watch *w)
{
	if (!w->metrics && !w->found && !w->addresses) {
		log_watch_close(w);
		return;
	}
	steps_free(w->steps);
	w->steps = NULL;
}

/* The bytes up to the end of a line, newline or carriage return, at most n. */
static size_t line_length(const char *bytes, size_t n)
{
	const char *newline = memchr(bytes, '\n', n), *back;

	n = newline ? (size_t)(newline - bytes) + 1 : n;
	back = memchr(bytes, '\r', n);
	return back ? (size_t)(back - bytes) + 1 : n;
}

/* A metric belongs to the position that the lines before it tell: of lines that were read together,
 * each is looked at for steps and metrics before the next one. */
static void feed(struct log_watch *w, const char *bytes, size_t n, const struct log_sinks *sinks)
{
	if (w->addresses)
		web_addresses_feed(w->addresses, bytes, n, sinks->address, sinks->arg);
	for (size_t length; n > 0; bytes += length, n -= length) {
		length = w->metrics || w->found ? line_length(bytes, n) : n;
		if (w->steps)
			steps_feed(w->steps, bytes, length, w->last_boot_s, sinks->step,
				   sinks->arg);
		if (w->metrics)
			metric_lines_feed(w->metrics, bytes, length, w->last_boot_s,
					  sinks->metric, sinks->arg);
		if (w->found)
			found_metrics_feed(w->found, bytes, length, w->last_boot_s, sinks->found,
					   sinks->arg);
	}
}

static void read_up_to(struct log_watch *w, int64_t size, const struct log_sinks *sinks)
{
	char block[BLOCK];

	while (w->offset < size) {
		int64_t left = size - w->offset;
		ssize_t n = pread(w->fd, block, left < BLOCK ? (size_t)left : BLOCK, w->offset);
		ssize_t i = n;

		if (n <= 0)
			break;
		w->offset += n;
		while (i > 0 && block[i - 1] != '\n' && block[i - 1] != '\r')
			i--;
		if (i > 0)
			w->line_offset = w->offset - n + i;
		feed(w, block, (size_t)n, sinks);
	}
}

/* Looks for metrics in the last lines once more, because the last lines of a program are often its
 * results. */
static void end_metrics(struct log_watch *w, const struct log_sinks *sinks)
{
	char block[BLOCK];
	int64_t begin = w->offset - BLOCK > w->begin ? w->offset - BLOCK : w->begin;
	const char *p, *first;
	ssize_t n;

	metric_lines_end(w->metrics, sinks->metric, sinks->arg);
	if (!metric_lines_look_again(w->metrics))
		return;
	n = pread(w->fd, block, (size_t)(w->offset - begin), begin);
	if (n <= 0)
		return;
	/* the last whole lines */
	p = block + n;
	first = begin == w->begin ? block : p;
	for (int lines = 0; p > block && lines <= LOG_LAST_LINES; p--)
		if (p[-1] == '\n' || p[-1] == '\r') {
			lines++;
			first = p;
		}
	if (p == block && begin == w->begin)
		first = block;
	metric_lines_feed(w->metrics, first, (size_t)(block + n - first), w->last_boot_s,
			  sinks->metric, sinks->arg);
	metric_lines_end(w->metrics, sinks->metric, sinks->arg);
}

void log_watch_look(struct log_watch *w, double now_boot_s, bool last,
		    const struct log_sinks *sinks)
{
	struct stat st;

	if (w->fd < 0)
		return;
	w->next_look_boot_s = now_boot_s + LOG_LOOK_S;
	if (fstat(w->fd, &st) == 0 && st.st_size != w->offset) {
		double since_s = clock_wall_s() - (double)st.st_mtim.tv_sec -
				 (double)st.st_mtim.tv_nsec * 1e-9;

		if (st.st_size < w->offset)	/* the file was begun anew */
			w->begin = w->offset = w->line_offset = 0;
		if (st.st_size - w->offset > LOG_LOOK_BYTES) {
			w->offset = w->line_offset = st.st_size - LOG_LOOK_BYTES;
			feed(w, "\n", 1, sinks);	/* what is skipped ends a line */
		}
		/* When the file was last written to, by the boot clock. The wall clock may have
		 * been set since, so the result is kept between the last arrival and now. */
		now_boot_s -= w->stopped_s;
		w->last_boot_s = st.st_mtim.tv_nsec == 0 ? now_boot_s :
			fmax(fmin(now_boot_s - since_s, now_boot_s), w->last_boot_s);
		read_up_to(w, st.st_size, sinks);
	}
	if (last && w->steps)
		steps_end(w->steps, sinks->step, sinks->arg);
	if (last && w->metrics)
		end_metrics(w, sinks);
	if (last && w->found)
		found_metrics_end(w->found, sinks->found, sinks->arg);
}
