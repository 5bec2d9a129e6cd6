/* outage.c - see outage.h. */
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pollux/file.h"
#include "pollux/outage.h"
#include "pollux/text.h"

void outage_begins(const struct paths *paths, const char *engine_says, bool person_reads,
		   struct err *err)
{
	int fd;

	if (!engine_says || !text_starts_with(err->text, engine_says))
		return;
	fd = open(paths->outage, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0) {
		file_write_all(fd, err->text, strlen(err->text));
		close(fd);
	} else if (!person_reads && access(paths->outage, F_OK) == 0) {
		err->text[0] = '\0';
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
	int fd = open(paths->outage, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
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
