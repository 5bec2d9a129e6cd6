/* log_tail.c - see log_tail.h. */
#include "log_tail.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "pollux/file.h"

size_t log_tail(const char *path, int64_t offset, char *buffer, size_t most)
{
	int fd = file_open(path, O_RDONLY, 0);
	struct stat st;
	ssize_t n = -1;

	if (fd < 0)
		return 0;
	if (fstat(fd, &st) == 0) {
		if (offset > st.st_size)	/* the log was begun anew */
			offset = 0;
		if (st.st_size - (off_t)most > offset)
			offset = st.st_size - (off_t)most;
		n = pread(fd, buffer, most, offset);
	}
	close(fd);
	return n > 0 ? (size_t)n : 0;
}
