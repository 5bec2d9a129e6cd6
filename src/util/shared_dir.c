/* shared_dir.c - see people.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pollux/advice.h"
#include "pollux/config.h"
#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/people.h"

#define PUBLIC (S_ISVTX | S_IRWXU | S_IRWXG | S_IRWXO)

static int open_directory(const char *path, int flags, struct stat *st)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);

	if (fd >= 0 && fstat(fd, st) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

void shared_dir_add_sticky(struct text *mend, const char *path, const struct stat *st)
{
	text_addf(mend, "%schmod +t ", st->st_uid == geteuid() ? "" : advice_sudo());
	text_add_shell_quoted(mend, path);
}

/* The default directory may be a link or a directory that anybody made, since everybody may write
 * to /run/lock: it is used only if it is root's or the user's own, and public. A named one without
 * the sticky bit is refused: everybody could remove the locks of others there. */
int shared_dir_open(const struct paths *paths, char **path, struct err *err)
{
	struct text mend = TEXT_INIT;
	struct config config;
	const char *named = config.shared_dir;
	struct stat st;
	int fd;

	if (path)
		*path = NULL;
	config_load_leniently(&config, paths->config);
	if (!strcmp(named, "no"))
		return SHARED_DIR_NONE;
	if (path)
		*path = xstrdup(*named ? named : SHARED_DIR_DEFAULT);
	fd = open_directory(*named ? named : SHARED_DIR_DEFAULT, *named ? 0 : O_NOFOLLOW, &st);
	if (fd < 0 && *named)
		return err_set(err, EX_CONFIG, "cannot use the shared directory '%s': %s", named,
			       strerror(errno));
	if (fd < 0)
		return SHARED_DIR_NONE;
	if (*named ? !(st.st_mode & (S_IWGRP | S_IWOTH)) || (st.st_mode & S_ISVTX)
		   : (st.st_uid == 0 || st.st_uid == geteuid()) && (st.st_mode & PUBLIC) == PUBLIC)
		return fd;
	close(fd);
	if (!*named)
		return SHARED_DIR_NONE;
	shared_dir_add_sticky(&mend, named, &st);
	err_set(err, EX_CONFIG, "cannot use the shared directory '%s': others may remove "
		"files there; type: %s", named, mend.data);
	text_release(&mend);
	return -1;
}

/* Opens an existing file without O_CREAT: with fs.protected_regular the kernel refuses O_CREAT for
 * the files of others in a directory with the sticky bit. */
int shared_dir_open_file(int dir, const char *name, bool create, const char **why)
{
	int flags = (create ? O_RDWR : O_RDONLY) | O_NOFOLLOW;
	int fd = file_open_at(dir, name, flags, 0);
	struct stat st;

	if (fd < 0 && create && errno == ENOENT) {
		mode_t old = umask(0);

		fd = file_open_at(dir, name, flags | O_CREAT | O_EXCL, 0666);
		umask(old);
		if (fd < 0 && errno == EEXIST)
			fd = file_open_at(dir, name, flags, 0);
	}
	*why = file_open_why(errno);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && st.st_nlink <= 1)
		return fd;
	*why = "it has another name, too";
	close(fd);
	return errno_set(EINVAL);
}
