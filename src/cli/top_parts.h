/* top_parts.h - the parts of 'pollux top' that look at a machine, a terminal, keys. */
#ifndef POLLUX_CLI_TOP_PARTS_H
#define POLLUX_CLI_TOP_PARTS_H

#include "pollux/cpu_use.h"
#include "pollux/err.h"
#include "pollux/canvas.h"
#include "pollux/top.h"

/* --- top_screen.c: the terminal, by ncurses --- */

/* What a person types: a byte, or one of these. */
enum screen_key {
	KEY_NONE = -1, SCREEN_UP = 256, SCREEN_DOWN, SCREEN_PAGE_UP, SCREEN_PAGE_DOWN, SCREEN_HOME,
	SCREEN_END, SCREEN_ENTER, SCREEN_BACKSPACE, SCREEN_ESCAPE, SCREEN_OTHER,
};

/* EX_UNAVAILABLE: standard input or output is no terminal, or it cannot place text. */
int screen_open(bool color, struct err *err);
/* Gives the terminal back as it was. */
void screen_close(void);
/* All blank, as large as the terminal is now. */
void screen_canvas(struct canvas *g);
void screen_draw(const struct canvas *g);
/* The next key that was typed; KEY_NONE: there is none. */
int screen_key(void);

/* --- top_devices.c: devices, read in a process of their own, since a driver may hang --- */

struct device_watch {
	int fd;			/* -1: there is no such process */
	struct text bytes;	/* of a list that is not whole yet */
	struct cpu_use use;
};

/* Starts that process, which ends with this one. No store may be open here. */
void device_watch_begin(struct device_watch *w);
/* Takes the newest list, if one has come. */
void device_watch_take(struct device_watch *w, struct top *t);
/* Reads how busy the processors were since the last call, and the machine's memory. */
void device_watch_tick(struct device_watch *w, struct top *t);
void device_watch_end(struct device_watch *w);

/* --- top_jobs.c: jobs, read no more often than a hundredth of a processor allows --- */

struct job_watch {
	struct session *s;
	double every_s;
	int64_t version;		/* of the store, as it was read */
	double read_boot_s;		/* when; 0: never */
	double rest_boot_s, ends_rest_boot_s;	/* nothing is read before */
	int64_t log_of;			/* the job whose log was read, */
	long long log_size, log_time_ns;	/* as it was then */
	int log_rows;
};

/* Reads what has changed. at_once: the person has done something. */
void job_watch_look(struct job_watch *w, struct top *t, bool at_once);
/* The curves and the log of the chosen job. */
void job_watch_look_at_chosen(struct job_watch *w, struct top *t);

/* log_end.c: the last rows of a log, of its last bytes, as a terminal would show them. */
void log_end(const char *path, long long bytes, size_t rows, struct strings *out);

/* --- top_keys.c: what a person does --- */

struct top_person {
	const char *command;		/* that is asked about; NULL: none */
	char jobs[40];			/* its operand */
	struct text done;		/* what is told when it was done */
	bool types_filter;
	struct text says;		/* of top.says */
};

/* False: the person quits. *changed: jobs were changed. */
bool person_types(struct top_person *p, struct top *t, int key, int page, bool *changed);

#endif
