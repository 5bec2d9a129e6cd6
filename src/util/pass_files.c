/* pass_files.c - what passes leave in files. */
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/pass_files.h"
#include "pollux/text.h"

/* Reads the first line of a file, and when it was written. False: there is none. */
static bool read_why(const char *path, char *why, size_t size, double *time_s)
{
	struct stat st;

	if (file_read_head(path, 0, why, size) < 0)
		return false;
	why[strcspn(why, "\n")] = '\0';
	*time_s = stat(path, &st) == 0 ? (double)st.st_mtim.tv_sec : 0;
	return true;
}

/* --- why the last pass failed --- */

void failed_pass_note(const struct paths *paths, const char *why)
{
	int flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW;
	scoped(close_fd) int fd = file_open(paths->failed_pass, flags, 0600);

	if (fd >= 0)
		file_write_all(fd, why, strlen(why));
}

void failed_pass_forget(const struct paths *paths)
{
	unlink(paths->failed_pass);
}

bool failed_pass_read(const struct paths *paths, char *why, size_t size, double *time_s)
{
	return read_why(paths->failed_pass, why, size, time_s);
}

/* --- a manager that does not answer --- */

#define UNTOLD 0400		/* the file's mode until a mailbox has the message */
#define TOLD 0600

void outage_begins(const struct paths *paths, const char *engine_says, enum outage_reader reader,
		   struct err *err)
{
	struct stat st;
	int fd;

	if (!engine_says || !text_starts_with(err->text, engine_says))
		return;
	fd = file_open(paths->outage, O_WRONLY | O_CREAT | O_EXCL,
		       reader == OUTAGE_MAILBOX ? TOLD : UNTOLD);
	if (fd >= 0) {
		file_write_all(fd, err->text, strlen(err->text));
		close(fd);
	} else if (reader == OUTAGE_MAILBOX && stat(paths->outage, &st) == 0) {
		if (st.st_mode & S_IWUSR)
			err->text[0] = '\0';
		else
			chmod(paths->outage, TOLD);
	}
}

bool outage_ends(const struct paths *paths, double now_wall_s, double *lasted_s)
{
	struct stat st;

	if (stat(paths->outage, &st) || unlink(paths->outage))
		return false;
	*lasted_s = fmax(now_wall_s - (double)st.st_mtim.tv_sec, 0);
	return true;
}

bool outage_read(const struct paths *paths, char *why, size_t size, double *since_s)
{
	return read_why(paths->outage, why, size, since_s);
}

/* --- the machine on which passes run --- */

static double time_of(const struct stat *st)
{
	return (double)st->st_mtim.tv_sec + (double)st->st_mtim.tv_nsec * 1e-9;
}

/* The name of this machine, and that of the machine of the passes; "": none is noted. */
static void read_names(const struct paths *paths, char here[HOST_NAME_MAX + 1],
		       char there[HOST_NAME_MAX + 1])
{
	memset(here, 0, HOST_NAME_MAX + 1);
	gethostname(here, HOST_NAME_MAX);
	file_find_line(paths->pass_host, "", there, HOST_NAME_MAX + 1);
}

int pass_host_take(const struct paths *paths, int lock, struct text *moved, struct err *err)
{
	char here[HOST_NAME_MAX + 1], there[HOST_NAME_MAX + 1], line[HOST_NAME_MAX + 2];
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT } };
	double quiet_s = (double)INFINITY;
	struct stat old, now;

	/* Both times are those of the server of the file. */
	if (fstat(lock, &old) == 0 && futimens(lock, NULL) == 0 && fstat(lock, &now) == 0) {
		times[1] = old.st_mtim;
		quiet_s = fmax(time_of(&now) - time_of(&old), 0);
	}
	read_names(paths, here, there);
	if (!strcmp(here, there))
		return 0;
	if (*there && quiet_s < PASS_HOST_QUIET_S) {
		futimens(lock, times);
		return err_set(err, EX_TEMPFAIL, "passes of this store run on the machine '%s', "
			       "the last one %.0f s ago: run none on this one, '%s'", there,
			       quiet_s, here);
	}
	if (*there)
		text_addf(moved, "passes run on the machine '%s' now, not on '%s' any more", here,
			  there);
	snprintf(line, sizeof(line), "%s\n", here);
	return file_replace(paths->pass_host, line, strlen(line), err);
}

bool pass_host_other(const struct paths *paths, struct text *out)
{
	char here[HOST_NAME_MAX + 1], there[HOST_NAME_MAX + 1];
	struct stat st;
	double quiet_s;

	read_names(paths, here, there);
	if (!*there || stat(paths->schedule_lock, &st))
		return false;
	quiet_s = fmax(clock_wall_s() - time_of(&st), 0);
	if (!strcmp(here, there) || !(quiet_s < PASS_HOST_QUIET_S))
		return false;
	text_addf(out, "the store belongs to the machine '%s', where the last pass was %.0f s ago; "
		  "use it there alone, not on '%s'", there, quiet_s, here);
	return true;
}
