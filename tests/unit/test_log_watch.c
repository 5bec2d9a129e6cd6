/* test_log_watch.c - what is read of a log that grows, and when that came. */
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "engine/local/run_log.h"
#include "tap.h"

static char path[] = "/tmp/test_log_watch.XXXXXX";
static int fd;
static struct log_watch w;
static struct step_event last;
static int n_events;

static void sink(const struct step_event *e, void *arg)
{
	(void)arg;
	last = *e;
	n_events++;
}

static void put(const char *text)
{
	if (write(fd, text, strlen(text)) < 0)
		printf("# cannot write\n");
}

/* As if it had been written to so long ago; whole: by a file system that keeps whole seconds. */
static void written_ago(double seconds, bool whole)
{
	double at = clock_wall_s() - seconds;
	struct timespec t = { .tv_sec = (time_t)at,
			      .tv_nsec = whole ? 0 : (long)((at - floor(at)) * 1e9) | 1 };
	struct timespec both[2] = { t, t };

	futimens(fd, both);
}

static const struct log_sinks sinks = { .step = sink };

static void look(void)
{
	log_watch_look(&w, clock_boot_s(), false, &sinks);
}

static void test_growth(void)
{
	struct err err;
	double now;

	put("step 1\nstep 2\nstep 3\n");
	is_int(log_watch_open(&w, path, 0, NULL, &err), 0, "a log is opened");
	look();
	ok(n_events == 1 && last.position > 2.5, "steps that the log holds already are read");
	look();
	is_int(n_events, 1, "steps that were read are not read twice");
	put("step 4\nstep");
	look();
	is_int(n_events, 2, "a step that is added is read");
	put(" 5\n");
	written_ago(0.5, false);
	w.last_boot_s -= 100;
	now = clock_boot_s();
	look();
	ok(last.position > 4.5, "a line that comes in pieces is read");
	ok(fabs(last.arrival_s - (now - 0.5)) < 0.1, "a line came when the file was written to");
	put("step 6\n");
	written_ago(50, false);
	look();
	ok(fabs(last.arrival_s - (now - 0.5)) < 0.1, "a line does not come before the line before");
	put("step 7\n");
	written_ago(-1000, false);
	now = clock_boot_s();
	look();
	ok(last.arrival_s >= now && last.arrival_s <= clock_boot_s(),
	   "a line does not come in the future");
	put("step 8\n");
	written_ago(30, true);
	now = clock_boot_s();
	look();
	ok(last.arrival_s >= now, "a line in a file of whole seconds comes now");
	w.stopped_s = 1000;
	put("step 8\n");
	written_ago(0, false);
	now = clock_boot_s();
	look();
	ok(fabs(last.arrival_s - now) < 0.1, "no arrival is before the last one");
	w.last_boot_s -= 1000;
	put("step 8\n");
	written_ago(0, false);
	look();
	ok(fabs(last.arrival_s - (now - 1000)) < 0.1, "arrivals do not count the time stopped");
	w.stopped_s = 0;
	put("step 9");
	look();
	log_watch_look(&w, clock_boot_s(), true, &sinks);
	ok(last.position > 8.5, "the last line is read without its newline");
	if (ftruncate(fd, 0))
		printf("# cannot truncate\n");
	lseek(fd, 0, SEEK_SET);
	put("step 1\nstep 12\n");
	look();
	ok(last.position > 11.5, "a file that shrank is read from its beginning");
}

/* A hole is as long as anything, and made at once. */
static void test_flood(void)
{
	if (ftruncate(fd, 3LL * LOG_LOOK_BYTES))
		printf("# cannot grow\n");
	lseek(fd, 0, SEEK_END);
	put("\nstep 50\n");
	look();
	ok(last.position > 49.5, "the end of a flood is read");
	log_watch_close(&w);
	ok(w.fd == -1 && isinf(w.next_look_boot_s), "a closed log is not looked at any more");
	look();
	log_watch_close(&w);
	ok(w.fd == -1, "a closed log may be looked at and closed again");
}

static void test_failures(void)
{
	struct err err;

	is_int(log_watch_open(&w, "/nowhere/1.log", 0, NULL, &err), -1,
	       "a log that is not there is not opened");
	ok(w.fd == -1 && !w.steps, "a log that is not there is not watched");
	is_int(log_watch_open(&w, path, 0, "(", &err), -1,
	       "a log with an expression that is none is not opened");
	ok(w.fd == -1 && !w.steps, "a log with an expression that is none is not watched");
}

int main(void)
{
	log_watch_init(&w);
	fd = mkstemp(path);
	if (fd < 0)
		return 1;
	test_growth();
	test_flood();
	test_failures();
	close(fd);
	unlink(path);
	return done();
}
