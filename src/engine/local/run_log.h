/* run_log.h - what a run prints: its way into the log, and what is read there, while the run goes
 * on and when it has ended; private to src/engine/local. */
#ifndef POLLUX_RUN_LOG_H
#define POLLUX_RUN_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "pollux/err.h"
#include "pollux/steps.h"
#include "pollux/text.h"

/* --- log_keeper.c: a process that writes what a run prints into the log --- */

/* A program can open its standard output by name ('>/dev/stderr', open("/dev/stdout", "w")). If it
 * were the log, the file would be truncated, and what all runs had printed would be gone. So it is
 * a FIFO, run/RUN.out, which can be opened again but not truncated. A process of its own,
 * 'pollux keep-log RUN', writes from there into the log.
 *
 * Nothing that ends this process or the supervisor ends the program: the program's descriptors are
 * open for reading, too, so the kernel never sends SIGPIPE. While nobody reads, the FIFO holds what
 * the program prints, and the program waits where that is more than LOG_KEEPER_ROOM. The
 * supervisor then starts another keeper; so does a supervisor that takes over. A keeper whose
 * supervisor was killed goes on. The keeper ends when no process has the FIFO open for writing. */

#define LOG_KEEPER_ROOM (256 << 10)	/* bytes; less where the user has too many pipes */

struct log_keeper {
	int fd;			/* the reading end; -1: the run has no FIFO */
	pid_t pid;		/* of the keeper; 0: another supervisor's, if there is one */
	bool done;		/* it has written all */
};

/* Makes the FIFO. Returns the descriptor for the program, or -1 with *err. */
int log_keeper_make(struct log_keeper *k, const char *path, struct err *err);
/* Opens the FIFO of a run that another supervisor started. No FIFO is no error. */
void log_keeper_open(struct log_keeper *k, const char *path);
/* Starts a keeper if there is none. log_fd: of the log, for appending. */
int log_keeper_tend(struct log_keeper *k, int log_fd, long long run_id, struct err *err);
/* The supervisor has reaped the keeper. */
void log_keeper_ended(struct log_keeper *k, int wait_status);
/* Waits, for a limited time, until all that was printed is in the log; a process that is left may
 * print more later. */
void log_keeper_finish(struct log_keeper *k, int log_fd);
void log_keeper_close(struct log_keeper *k);

/* If the file takes more than limit_bytes of the disk: keeps about the first tenth of that and the
 * last six tenths, whole lines, and makes a hole of what is between, after a line that says so. No
 * byte that stays changes its offset, and the program goes on writing. */
int log_limit_keep(const char *path, double limit_bytes, struct err *err);

/* --- log_watch.c: a log is read as it grows --- */

/* The supervisor looks at the file every LOG_LOOK_S. inotify(7) would queue an event for each write
 * of the job; the looks cost five calls of fstat a second. The time of the last bytes is the file's
 * time of modification, exact to a tick of the kernel (mostly 4 ms). On file systems that keep
 * whole seconds, the time of the look is taken instead. */

#define LOG_LOOK_S 0.2
/* Bytes read in one look. If the job writes more, only the end is read. */
#define LOG_LOOK_BYTES (32 << 20)

#define LOG_LEARN_BYTES (128 << 10)
#define LOG_LAST_LINES 20	/* looked at for metrics in any case */

struct log_watch {
	int fd;				/* -1: not watched */
	int64_t begin, offset;		/* read from, and up to, here */
	int64_t line_offset;		/* the beginning of the first line that is not whole yet */
	double next_look_boot_s;	/* INFINITY while not watched */
	/* no arrival is earlier than this; by the boot clock without the time stopped */
	double last_boot_s;
	double stopped_s;		/* seconds for which the program was suspended so far */
	struct steps *steps;		/* NULL while not watched, and where reports tell steps */
	struct metric_lines *metrics;	/* by expressions; NULL: there are none */
	struct found_metrics *found;	/* by their names; NULL: not looked for */
	struct web_addresses *addresses;	/* NULL: not looked for */
};

void log_watch_init(struct log_watch *w);
/* Starts at offset. step_regex NULL: the built-in patterns. On failure nothing is watched. */
int log_watch_open(struct log_watch *w, const char *path, int64_t offset, const char *step_regex,
		   struct err *err);
/* Learns from the log of the job's runs before, up to LOG_LEARN_BYTES of its beginning and of its
 * end: which lines tell steps, how epochs are numbered, how many steps an epoch has. */
void log_watch_learn(struct log_watch *w);
/* Makes counters go on behind this offset, at the beginning of a line: another supervisor read the
 * log up to there. Only the beginning and the end of a long part are read. */
void log_watch_catch_up(struct log_watch *w, int64_t offset);
void log_watch_close(struct log_watch *w);		/* harmless when nothing is watched */
/* Looks for these metrics, too. -1: an expression is none; nothing is looked for. */
int log_watch_add_metrics(struct log_watch *w, const struct strings *list, struct err *err);
/* Looks for metrics by their names, too, or for addresses, where something is watched. */
void log_watch_find_metrics(struct log_watch *w);
void log_watch_find_addresses(struct log_watch *w);
/* Steps are not looked for any more: the watch ends if no metrics are. */
void log_watch_end_steps(struct log_watch *w);

/* Reads what came since the last look. last: the program has ended. */
struct log_sinks {
	steps_sink *step;
	metric_sink *metric, *found;
	web_address_sink *address;
	void *arg;
};
void log_watch_look(struct log_watch *w, double now_boot_s, bool last,
		    const struct log_sinks *sinks);

/* --- log_diagnosis.c: the error that killed a job, by its log --- */

struct log_error {
	const char *meaning;		/* "GPU out of memory" */
	bool out_of_memory;
	bool at_start;			/* means that only of a run that has just begun */
};

/* Returns an out-of-memory error or another known error (static) that stands in the last 64 KiB
 * that the run wrote; NULL: none was found. The run's part of the log begins at offset, or at 0 if
 * the log is shorter than offset. Meant for runs that failed.
 *
 * Words that only such an error prints count anywhere. Words that programs also print about errors
 * they expect or handle count in the last 8 KiB only, and only as the report of a line: an
 * exception's name that begins the line ("MemoryError: ...", "numpy...._ArrayMemoryError: ...") or
 * a message that ends the line after a colon or bracket ("fork: Cannot allocate memory", "[Errno
 * 12] Cannot allocate memory: 'x'"), with no warning before. Remarks and warnings of TensorFlow's
 * and XLA's logs do not count. */
const struct log_error *diagnose_log(const char *path, int64_t offset);

/* --- log_words.c: what the end of a log says --- */

/* Reads the last bytes of the log after offset, at most size. If the log is shorter than offset, it
 * was begun anew and is read from its beginning. Returns the number of bytes; 0 also if the log
 * cannot be read. */
size_t log_tail(const char *path, int64_t offset, char *buffer, size_t most);

#define LAST_WORDS_SIZE 200	/* bytes at most */

/* Returns the last line of the log after offset that is not blank; NULL: none. If the program wrote
 * over the line (carriage return), returns what a terminal would show. The caller frees. */
char *last_words(const char *path, int64_t offset);

/* The number behind an option such as --epochs, --max_epochs=10, --num-train-epochs or
 * trainer.max_epochs=10 (Hydra's way). NaN: there is no such option, or two of them differ. */
double epochs_of_command(const struct strings *argv);

/* Returns the line by which a program that was launched again says that its training is over, of
 * the last 8 KiB that the run wrote, clipped to LAST_WORDS_SIZE; NULL: none does. The run's part
 * of the log begins at offset. The caller frees. Meant for runs that failed before their first
 * step, of a job whose last run ended with status 0: some of these programs say the same of
 * weights that were never trained to the end. */
char *nothing_left_words(const char *path, int64_t offset);

/* True if the last line of the run that counts folds, trials, stages and the like is not of the
 * last one: "fold 1/5", "Stage 1 of 3", or "trial 7", which tells of no last one. Such a program
 * comes to the total of its log in each part. The run's part of the log begins at offset; of a
 * large one the end is read. */
bool parts_are_left(const char *path, int64_t offset);

#endif
