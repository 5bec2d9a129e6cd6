/* top_jobs.c - when 'pollux top' reads jobs anew. */
#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "commands.h"
#include "pollux/clock.h"
#include "pollux/mem.h"
#include "top_parts.h"

/* A read is followed by so many times as long a rest, so that top takes less than a hundredth of a
 * processor however many jobs there are. The times of all ends take longest, and change least. */
#define RESTS 300.0
#define ENDS_RESTS 600.0
/* What is not in the store may have changed: passes, disks, locks. */
#define STALE_S 30.0
#define PANE_BYTES 65536
#define PANE_ROWS 40
#define LOG_BYTES 1048576
#define LOG_ROWS 5000

static double computed_s(void)
{
	struct rusage own;

	getrusage(RUSAGE_SELF, &own);
	return (double)(own.ru_utime.tv_sec + own.ru_stime.tv_sec) +
	       1e-6 * (double)(own.ru_utime.tv_usec + own.ru_stime.tv_usec);
}

/* The store may have come, or another one may be in its place. False: there is none. */
static bool open_store(struct job_watch *w, struct err *err)
{
	if (w->s->store.db && store_is_there(&w->s->store))
		return true;
	if (w->s->store.db) {
		store_close(&w->s->store);
		w->version = -1;
	}
	return store_open(&w->s->store, &w->s->paths, STORE_READ, err) == 0;
}

static void read_jobs(struct job_watch *w, struct top *t, bool ends, struct err *err)
{
	double before_s = computed_s(), took_s;

	if (top_read(w->s, t, ends, err)) {
		free(t->trouble);
		t->trouble = xstrdup(err->text);
		return;
	}
	free(t->trouble);
	t->trouble = NULL;
	took_s = computed_s() - before_s;
	w->read_boot_s = clock_boot_s();
	if (ends)
		w->ends_rest_boot_s = w->read_boot_s + ENDS_RESTS * took_s;
	else
		w->rest_boot_s = w->read_boot_s + RESTS * took_s;
}

void job_watch_look(struct job_watch *w, struct top *t, bool at_once)
{
	double now_s = clock_boot_s();
	struct err err = { 0 };
	int64_t version = 0;

	if (!at_once && now_s < w->rest_boot_s)
		return;
	if (!open_store(w, &err) && err.exit_status != EX_NOINPUT) {
		free(t->trouble);
		t->trouble = xstrdup(err.text);
		return;
	}
	if (w->s->store.db && store_data_version(&w->s->store, &version, &err))
		version = -1;
	if (!at_once && version == w->version && now_s < w->read_boot_s + STALE_S)
		return;
	w->version = version;
	read_jobs(w, t, at_once || now_s >= w->ends_rest_boot_s, &err);
	if (!t->trouble && top_read_job(w->s, t, &err))
		t->job.id = 0;
}

/* Reads the log where another job was chosen, or the log has grown. */
static void look_at_log(struct job_watch *w, struct top *t, int64_t job_id)
{
	bool whole = t->mode == TOP_LOG;
	autofree char *path = paths_log(&w->s->paths, job_id);
	int rows = whole ? LOG_ROWS : PANE_ROWS;
	struct stat st = { .st_size = 0 };
	long long time_ns;

	stat(path, &st);
	time_ns = (long long)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	if (w->log_of != job_id || w->log_size != st.st_size || w->log_time_ns != time_ns ||
	    w->log_rows != rows)
		log_end(path, whole ? LOG_BYTES : PANE_BYTES, (size_t)rows, &t->job.log);
	w->log_of = job_id;
	w->log_size = st.st_size;
	w->log_time_ns = time_ns;
	w->log_rows = rows;
}

void job_watch_look_at_chosen(struct job_watch *w, struct top *t)
{
	struct status_row row;
	struct err ignored;
	int n;

	if (!top_find_row(t, &row, &n) || row.group) {
		strings_release(&t->job.log);
		w->log_of = 0;
		return;
	}
	if (t->job.id != row.item->job->id && top_read_job(w->s, t, &ignored))
		t->job.id = 0;
	look_at_log(w, t, row.item->job->id);
}
