/* outage.c - see outage.h. */
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pollux/file.h"
#include "pollux/open_file.h"
#include "pollux/outage.h"
#include "pollux/text.h"

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
	int fd = file_open(paths->outage, O_RDONLY | O_NOFOLLOW, 0);
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, why, size - 1);
	why[n > 0 ? n : 0] = '\0';
	why[strcspn(why, "\n")] = '\0';
	*since_s = fstat(fd, &st) == 0 ? (double)st.st_mtim.tv_sec : 0;
	close(fd);
	return true;
}
