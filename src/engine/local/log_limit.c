/* log_limit.c - see log_limit.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log_limit.h"
#include "pollux/open_file.h"

#define HEAD_PART 0.1
#define TAIL_PART 0.6
#define LINE_MOST 65536		/* bytes; a longer line is cut */
#define MARKER_SIZE 80

/* Returns the offset after the first line that ends at or after `from`, by a newline or a carriage
 * return. */
static off_t next_line(int fd, off_t from)
{
	char block[LINE_MOST];
	ssize_t n = pread(fd, block, sizeof(block), from), i = 0;

	while (i < n && block[i] != '\n' && block[i] != '\r')
		i++;
	if (i + 1 < n && block[i] == '\r' && block[i + 1] == '\n')
		i++;
	return i < n ? from + i + 1 : from + LINE_MOST;
}

/* The head never changes, so the next call finds the same place for the marker. */
static int drop(int fd, off_t begin, off_t end)
{
	char text[MARKER_SIZE], line[MARKER_SIZE + 1];

	snprintf(text, sizeof(text), "[pollux: %lld bytes of the log were dropped here]",
		 (long long)(end - begin));
	snprintf(line, sizeof(line), "%-*s\n", MARKER_SIZE - 1, text);
	/* Makes the hole first: on a file system without holes the log stays as it is. */
	if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, begin + MARKER_SIZE,
		      end - begin - MARKER_SIZE))
		return -1;
	return pwrite(fd, line, MARKER_SIZE, begin) == MARKER_SIZE ? 0 : -1;
}

int log_limit_keep(const char *path, double limit_bytes, struct err *err)
{
	struct stat st;
	off_t begin, end;
	int fd, rc;

	if (stat(path, &st) || (double)st.st_blocks * 512 <= limit_bytes)
		return 0;
	fd = file_open(path, O_RDWR | O_NOFOLLOW, 0);
	if (fd < 0)
		return err_set(err, EX_IOERR, "cannot open log '%s': %s", path,
			       file_open_why(errno));
	begin = next_line(fd, (off_t)(limit_bytes * HEAD_PART));
	end = next_line(fd, st.st_size - (off_t)(limit_bytes * TAIL_PART));
	rc = end > begin + MARKER_SIZE ? drop(fd, begin, end) : 0;
	if (rc)
		err_set(err, EX_IOERR, "cannot keep log '%s' below its limit: %s", path,
			strerror(errno));
	close(fd);
	return rc ? -1 : 0;
}
