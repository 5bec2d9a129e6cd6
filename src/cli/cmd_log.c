/* cmd_log.c - pollux log: what a job has printed, over all its runs. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "commands.h"
#include "pollux/file.h"
#include "pollux/mem.h"

#define LOOK_NS 200000000L	/* between looks for more */
#define BLOCK 65536

struct log_options {
	bool follow, path, plain;
	int64_t lines;		/* -1: all */
	struct selection_options which;
};

static const struct option_spec options[] = {
#define O(field) .offset = offsetof(struct log_options, field)
	{ "follow", 'f', OPTION_FLAG, NULL, O(follow), 0, 0,
	  "go on as it grows, over relaunches, until the job has ended" },
	{ "lines", 'n', OPTION_INT, "N", O(lines), 0, 1e9,
	  "begin with the last N lines; default all" },
	{ "plain", 0, OPTION_FLAG, NULL, O(plain), 0, 0,
	  "text alone: no progress bars, colours and control characters" },
	{ "path", 0, OPTION_FLAG, NULL, O(path), 0, 0, "print the name of the file instead" },
	SELECTION_OPTIONS(offsetof(struct log_options, which)),
	{ .name = NULL },
};

/* A job's log, and how much of it was printed. */
struct log {
	char *path;		/* owned */
	int fd;			/* -1: not there yet */
	off_t offset;
	struct rows *rows;	/* NULL: bytes are printed as they are */
	int64_t row, first_row;	/* rows so far; those up to first_row are not printed */
	bool in_row, counts_only;
	FILE *indented;		/* rows go there, indented; NULL: as they are, standard output */
};

static int cannot_read(const struct log *log, struct err *err)
{
	return err_set(err, EX_IOERR, "cannot read '%s': %s", log->path, file_open_why(errno));
}

/* -1 where it could not be opened for another reason than not being there. */
static int log_open(struct log *log, struct err *err)
{
	if (log->fd >= 0)
		return 0;
	log->fd = file_open(log->path, O_RDONLY, 0);
	if (log->fd < 0 && errno != ENOENT)
		return cannot_read(log, err);
	return 0;
}

/* Finds the beginning of the last n lines, reading backwards block by block. The newline that ends
 * the file does not begin a line. */
static int seek_lines(struct log *log, int64_t n, struct err *err)
{
	off_t end = lseek(log->fd, 0, SEEK_END);
	char block[BLOCK], last = '\n';

	if (end > 0 && pread(log->fd, &last, 1, end - 1) != 1)
		return cannot_read(log, err);
	log->offset = end;
	if (n == 0)
		return 0;
	if (last == '\n')
		n++;
	while (log->offset > 0) {
		off_t start = log->offset > BLOCK ? log->offset - BLOCK : 0;
		ssize_t size = pread(log->fd, block, (size_t)(log->offset - start), start);

		if (size <= 0)
			return cannot_read(log, err);
		log->offset = start;
		for (ssize_t i = size - 1; i >= 0; i--)
			if (block[i] == '\n' && --n == 0) {
				log->offset = start + i + 1;
				return 0;
			}
	}
	return 0;
}

/* Part of a row, indented, without what is no text. */
static void print_piece(FILE *out, const char *text, size_t n, bool begins, bool ends)
{
	char *copy = xasprintf("%.*s", (int)n, text), shown[UTF8_SHOWN_SIZE];

	fputs(begins ? "  " : "", out);
	for (const char *s = copy; *s;) {
		s += utf8_shown(s, shown);
		fputs(shown, out);
	}
	fputs(ends ? "\n" : "", out);
	free(copy);
}

static void take_row(const char *text, size_t n, bool ends, void *arg)
{
	struct log *log = arg;
	bool begins = !log->in_row;

	log->row += begins;
	log->in_row = !ends;
	if (log->counts_only || log->row <= log->first_row)
		return;
	if (log->indented) {
		print_piece(log->indented, text, n, begins, ends);
		return;
	}
	fwrite(text, 1, n, stdout);
	if (ends)
		putchar('\n');
}

static size_t without_nuls(char *block, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (block[i])
			block[kept++] = block[i];
	return kept;
}

/* Reads from the offset to the end there is now. A file that shrank was begun anew. */
static int read_rest(struct log *log, struct err *err)
{
	char block[BLOCK];
	struct stat st = { 0 };
	bool has_hole;
	ssize_t n;

	if (log->fd < 0)
		return 0;
	if (fstat(log->fd, &st) == 0 && st.st_size < log->offset)
		log->offset = 0;
	/* A log that was too large has a hole, which reads as NULs; see run_log.h. */
	has_hole = ((off_t)st.st_blocks * 512) + ((off_t)2 * BLOCK) < st.st_size;
	while ((n = pread(log->fd, block, sizeof(block), log->offset)) > 0) {
		size_t left = has_hole ? without_nuls(block, (size_t)n) : (size_t)n;
		off_t data;

		log->offset += n;
		if (log->rows)
			rows_feed(log->rows, block, left);
		else
			fwrite(block, 1, left, stdout);
		if (ferror(stdout))
			break;
		data = has_hole ? lseek(log->fd, log->offset, SEEK_DATA) : 0;
		if (data > log->offset)
			log->offset = data;
	}
	return n < 0 ? cannot_read(log, err) : 0;
}

/* Prints what came since. */
static int print_rest(struct log *log, struct err *err)
{
	if (read_rest(log, err))
		return -1;
	if (log->rows)
		rows_flush(log->rows);
	return output_flush(err);
}

static void begin_rows(struct log *log, bool plain, bool counts_only)
{
	log->rows = rows_new(plain, take_row, log);
	log->row = 0;
	log->in_row = false;
	log->counts_only = counts_only;
}

static void end_rows(struct log *log)
{
	if (log->rows)
		rows_end(log->rows);
	rows_free(log->rows);
	log->rows = NULL;
}

/* Finds where to begin so that there are `want` rows. A newline need not end a row, because the
 * program may have moved the cursor back up. */
static int seek_rows(struct log *log, int64_t want, bool plain, struct err *err)
{
	bool cut = true;

	log->row = 0;
	/* with some lines before, which may have been written over last */
	for (int64_t lines = want ? want + ROWS_HELD : 0; cut || log->row < want; lines *= 2) {
		off_t begin;
		int rc;

		if (seek_lines(log, lines, err))
			return -1;
		if (want == 0)
			return 0;
		begin = log->offset;
		begin_rows(log, plain, true);
		rc = read_rest(log, err);
		cut = rows_are_cut(log->rows);
		end_rows(log);
		log->offset = begin;
		if (rc)
			return -1;
		if (begin == 0)
			break;
	}
	log->first_row = log->row > want ? log->row - want : 0;
	return 0;
}

static int job_state_of(struct session *s, int64_t id, enum job_state *state, struct err *err)
{
	struct job job;

	if (store_job_get(&s->store, id, &job, err))
		return -1;
	*state = job.state;
	job_release(&job);
	return 0;
}

/* Looks before each print whether the job has ended: then everything that an ended job has printed
 * is there to be read. */
static int follow_log(struct session *s, int64_t id, struct log *log, struct err *err)
{
	struct timespec pause = { .tv_nsec = LOOK_NS };
	enum job_state state = JOB_QUEUED;
	int64_t version = -1, now;

	for (;;) {
		if (store_data_version(&s->store, &now, err) ||
		    (now != version && job_state_of(s, id, &state, err)) || log_open(log, err) ||
		    print_rest(log, err))
			return -1;
		version = now;
		if (job_has_ended(state))
			break;
		nanosleep(&pause, NULL);
	}
	end_rows(log);
	return output_flush(err);
}

/* Prints what there is. The last lines are printed as rows, and so are all lines of a plain log.
 * What comes later is printed as it comes. */
static int print_first(struct log *log, const struct log_options *o, int64_t id,
		       enum job_state state, struct err *err)
{
	if (log_open(log, err))
		return -1;
	if (log->fd < 0 && (!o->follow || job_has_ended(state)))
		return err_set(err, EX_NOINPUT, "job %lld has no log%s: it %s", (long long)id,
			       job_has_ended(state) ? "" : " yet",
			       job_state_clause(state, false));
	if (log->fd < 0 && state == JOB_RUNNING)
		fprintf(stderr, "pollux: job %lld is about to start\n", (long long)id);
	else if (log->fd < 0)
		fprintf(stderr, "pollux: job %lld %s; its log begins when it starts\n",
			(long long)id, job_state_clause(state, false));
	log->first_row = 0;
	if (log->fd >= 0 && o->lines >= 0 && seek_rows(log, o->lines, o->plain, err))
		return -1;
	if (o->plain || o->lines >= 0)
		begin_rows(log, o->plain, false);
	if (read_rest(log, err))
		return -1;
	if (!o->plain || !o->follow)
		end_rows(log);
	return print_rest(log, err);
}

void log_print_last(const char *path, int64_t rows, FILE *out)
{
	struct log log = { .path = xstrdup(path), .fd = -1, .indented = out };
	struct err ignored;

	if (log_open(&log, &ignored) == 0 && log.fd >= 0 &&
	    seek_rows(&log, rows, true, &ignored) == 0 && log.row > 0) {
		fputs("\nlast lines of its log\n", out);
		begin_rows(&log, true, false);
		read_rest(&log, &ignored);
		end_rows(&log);
	}
	if (log.fd >= 0)
		close(log.fd);
	free(log.path);
}

static int main_log(int argc, char **argv, struct err *err)
{
	struct log_options o = { .lines = -1, .which = SELECTION_INIT };
	struct selecting what = { .command = &cmd_log, .options = &o.which };
	struct log log = { .fd = -1 };
	enum job_state state = JOB_QUEUED;
	struct session s;
	int64_t id;
	int rc;

	if (selecting_parse(&what, argc, argv, &o, err))
		return -1;
	if (what.n_operands > 1)
		return usage_error(&cmd_log, err, "log takes one job, not %d", what.n_operands);
	if (selection_check(&what, err) || session_open(&s, STORE_READ, err))
		return -1;
	rc = selection_read_one(&what, &s.store, o.follow ? JOB_RAN_OR_STARTS : JOB_RAN_LAST,
				&id, err) || job_state_of(&s, id, &state, err) ? -1 : 0;
	if (rc == 0)
		log.path = paths_log(&s.paths, id);
	if (rc == 0 && o.path)
		puts(log.path);
	else if (rc == 0)
		rc = print_first(&log, &o, id, state, err) ||
		     (o.follow && follow_log(&s, id, &log, err)) ? -1 : 0;
	rows_free(log.rows);
	if (log.fd >= 0)
		close(log.fd);
	free(log.path);
	session_close(&s);
	return rc;
}

const struct command cmd_log = {
	.name = "log", .synopsis = "[--follow] [--lines N] [--plain | --path] [SELECTION] [JOB]",
	.summary = "print what a job has printed",
	.example = "pollux log              # of the job that ran last\n"
		   "pollux log 17\n"
		   "pollux log -f -n 10 17",
	.options = options, .takes_jobs = true, .run = main_log,
};
