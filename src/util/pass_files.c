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
#include "pollux/pass_files.h"
#include "pollux/text.h"

/* Reads the first line of a file, and when it was written. False: there is none. */
static bool read_why(const char *path, char *why, size_t size, double *time_s)
{
	int fd = file_open(path, O_RDONLY | O_NOFOLLOW, 0);
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, why, size - 1);
	why[n > 0 ? n : 0] = '\0';
	why[strcspn(why, "\n")] = '\0';
	*time_s = fstat(fd, &st) == 0 ? (double)st.st_mtim.tv_sec : 0;
	close(fd);
	return true;
}

/* --- why the last pass failed --- */

void failed_pass_note(const struct paths *paths, const char *why)
{
	int fd = file_open(paths->failed_pass, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);

	if (fd < 0)
		return;
	file_write_all(fd, why, strlen(why));
	close(fd);
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

static void name_this(char name[HOST_NAME_MAX + 1])
{
	memset(name, 0, HOST_NAME_MAX + 1);
	gethostname(name, HOST_NAME_MAX);
}

/* False: the file is not there, or empty. */
static bool read_name(const struct paths *paths, char name[HOST_NAME_MAX + 1])
{
	FILE *file = file_open_stream(paths->pass_host);
	bool found = file && fgets(name, HOST_NAME_MAX + 1, file);

	if (file)
		fclose(file);
	if (found)
		name[strcspn(name, "\n")] = '\0';
	return found && name[0];
}

static double time_of(const struct stat *st)
{
	return (double)st->st_mtim.tv_sec + (double)st->st_mtim.tv_nsec * 1e-9;
}

/* Both times are those of the server of the file. */
static double touch(int lock, struct timespec *before)
{
	struct stat old, now;

	if (fstat(lock, &old) || futimens(lock, NULL) || fstat(lock, &now))
		return (double)INFINITY;
	*before = old.st_mtim;
	return fmax(time_of(&now) - time_of(&old), 0);
}

static int write_name(const struct paths *paths, const char *name, struct err *err)
{
	char line[HOST_NAME_MAX + 2];
	int n = snprintf(line, sizeof(line), "%s\n", name);

	return file_replace(paths->pass_host, line, (size_t)n, err);
}

int pass_host_take(const struct paths *paths, int lock, struct text *moved, struct err *err)
{
	char here[HOST_NAME_MAX + 1], there[HOST_NAME_MAX + 1];
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT } };
	double quiet_s = touch(lock, &times[1]);
	bool known = read_name(paths, there);

	name_this(here);
	if (known && !strcmp(here, there))
		return 0;
	if (known && quiet_s < PASS_HOST_QUIET_S) {
		futimens(lock, times);
		return err_set(err, EX_TEMPFAIL, "passes of this store run on the machine '%s', "
			       "the last one %.0f s ago: run none on this one, '%s'", there,
			       quiet_s, here);
	}
	if (known)
		text_addf(moved, "passes run on the machine '%s' now, not on '%s' any more", here,
			  there);
	return write_name(paths, here, err);
}

bool pass_host_other(const struct paths *paths, struct text *out)
{
	char here[HOST_NAME_MAX + 1], there[HOST_NAME_MAX + 1];
	struct stat st;
	double quiet_s;

	if (!read_name(paths, there) || stat(paths->schedule_lock, &st))
		return false;
	name_this(here);
	quiet_s = fmax(clock_wall_s() - time_of(&st), 0);
	if (!strcmp(here, there) || !(quiet_s < PASS_HOST_QUIET_S))
		return false;
	text_addf(out, "the store belongs to the machine '%s', where the last pass was %.0f s ago; "
		  "use it there alone, not on '%s'", there, quiet_s, here);
	return true;
}
