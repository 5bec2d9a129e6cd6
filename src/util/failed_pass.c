/* failed_pass.c - see failed_pass.h. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pollux/failed_pass.h"
#include "pollux/file.h"
#include "pollux/open_file.h"

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
	int fd = file_open(paths->failed_pass, O_RDONLY | O_NOFOLLOW, 0);
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
