/* supervisor.c - what every part of a supervisor uses: its log, its lock, its sign of life. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/lock.h"
#include "pollux/mem.h"
#include "pollux/store_runs.h"
#include "supervisor.h"

void supervisor_log(struct supervisor *s, const char *format, ...)
{
	char text[sizeof(s->last_log)], when[32] = "";
	time_t now = time(NULL);
	struct tm tm;
	va_list ap;

	if (localtime_r(&now, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	if (!strcmp(text, s->last_log))
		return;
	memcpy(s->last_log, text, sizeof(text));
	dprintf(STDERR_FILENO, "%s job %lld run %lld: %s\n", when, (long long)s->run.job_id,
		(long long)s->run.id, text);
}

void supervisor_add_event(struct supervisor *s, const char *kind, const char *text)
{
	struct err err;

	if (store_event_add(&s->store, s->run.job_id, s->run.id, kind, text, &err))
		supervisor_log(s, "%s", err.text);
}

void supervisor_tell_event(struct supervisor *s, const char *kind, const char *text)
{
	supervisor_log(s, "%s", text);
	supervisor_add_event(s, kind, text);
}

void supervisor_take_diagnosis(struct supervisor *s, char *text)
{
	free(s->run.diagnosis);
	s->run.diagnosis = text;
}

void supervisor_set_diagnosis(struct supervisor *s, const char *text)
{
	supervisor_take_diagnosis(s, xstrdup(text));
}

void supervisor_update_handle(struct supervisor *s)
{
	free(s->run.handle);
	s->run.handle = local_handle_text(&s->handle);
}

bool supervisor_has_lock_file(const struct supervisor *s)
{
	char *path = paths_run(s->paths, s->run.id, "lock");
	struct stat mine, there;
	bool has = fstat(s->lock.fd, &mine) == 0 && stat(path, &there) == 0 &&
		   mine.st_ino == there.st_ino && mine.st_dev == there.st_dev;

	free(path);
	return has;
}

void supervisor_keep_lock(struct supervisor *s)
{
	char *path;
	struct err ignored;
	int fd;

	if (supervisor_has_lock_file(s) || !store_is_there(&s->store))
		return;
	path = paths_run(s->paths, s->run.id, "lock");
	fd = lock_take(path, &ignored);
	free(path);
	if (fd < 0)
		return;
	supervisor_log(s, "its lock file was removed: made anew");
	close(s->lock.fd);
	s->lock.fd = fd;
	s->lock.next_beat_boot_s = 0;
}

#define BEAT_S 10.0

void supervisor_beat(struct supervisor *s)
{
	double now = clock_boot_s();

	if (now < s->lock.next_beat_boot_s)
		return;
	lock_holder_sign(s->lock.fd);
	s->lock.next_beat_boot_s = now + BEAT_S;
}
