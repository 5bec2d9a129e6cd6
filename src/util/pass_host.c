/* pass_host.c - see pass_host.h. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/file.h"
#include "pollux/open_file.h"
#include "pollux/pass_host.h"

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
