/* picture.c - gnuplot reads its script from a pipe and draws into memory; what comes out is written
 * beside the file and renamed. No shell is involved, and gnuplot opens no file of ours. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/report.h"
#include "pollux/text.h"

const char *picture_format(const char *path)
{
	static const char *const formats[] = { "svg", "png" };
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');

	for (size_t i = 0; dot && dot > name && i < sizeof(formats) / sizeof(formats[0]); i++)
		if (!strcmp(dot + 1, formats[i]))
			return formats[i];
	return NULL;
}

struct plotter {
	pid_t pid;
	int picture_fd, errors_fd;	/* files in memory */
};

/* Start gnuplot without the user's own settings, which might not suit the script. */
static int spawn(struct plotter *p, int script_read_fd)
{
	char name[] = "gnuplot", option[] = "-d";
	char *const argv[] = { name, option, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t defaults;
	int rc;

	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, script_read_fd, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, p->picture_fd, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, p->errors_fd, STDERR_FILENO);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigdefault(&attributes, &defaults);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
	rc = posix_spawnp(&p->pid, name, &actions, &attributes, argv, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return rc;
}

/* Feeds the script to gnuplot, and waits until it has drawn. If gnuplot ends early its status
 * tells, not a signal to this process. */
static int run_gnuplot(struct plotter *p, const char *script, struct err *err)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, before;
	int fds[2], rc, status = 0;
	const char *why = NULL;
	struct stat picture;
	char text[2048];
	ssize_t n;

	if (pipe2(fds, O_CLOEXEC))
		return err_set(err, EX_OSERR, "cannot make a pipe: %s", strerror(errno));
	rc = spawn(p, fds[0]);
	close(fds[0]);
	if (rc == 0) {
		sigaction(SIGPIPE, &ignore, &before);
		file_write_all(fds[1], script, strlen(script));
		sigaction(SIGPIPE, &before, NULL);
	}
	close(fds[1]);
	if (rc == ENOENT)
		return err_set(err, EX_UNAVAILABLE,
			       "no gnuplot to draw with: install the package gnuplot-nox");
	if (rc)
		return err_set(err, EX_UNAVAILABLE, "cannot start gnuplot: %s", strerror(rc));
	while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (status == 0 && fstat(p->picture_fd, &picture) == 0 && picture.st_size > 0)
		return 0;
	if (WIFSIGNALED(status))
		return err_set(err, EX_UNAVAILABLE, "gnuplot was killed by signal %d",
			       WTERMSIG(status));
	/* The lines before the message have the script's text and a mark. */
	n = pread(p->errors_fd, text, sizeof(text) - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	for (char *rest = text, *line = strtok_r(rest, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest))
		if (strstr(line, "line ") || !why)
			why = line;
	return err_set(err, EX_UNAVAILABLE, "gnuplot failed: %.200s",
		       why ? why : "it did not say why");
}

int picture_draw(const char *script, const char *path, struct err *err)
{
	struct plotter p = {
		.picture_fd = memfd_create("picture", MFD_CLOEXEC),
		.errors_fd = memfd_create("errors", MFD_CLOEXEC),
	};
	struct stat st;
	int rc;

	if (p.picture_fd < 0 || p.errors_fd < 0)
		rc = err_set(err, EX_OSERR, "cannot make a file in memory: %s", strerror(errno));
	else
		rc = run_gnuplot(&p, script, err);
	if (rc == 0 && path) {
		void *picture = fstat(p.picture_fd, &st) ? MAP_FAILED
			: mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, p.picture_fd, 0);

		if (picture == MAP_FAILED) {
			rc = err_set(err, EX_OSERR, "cannot read what gnuplot drew: %s",
				     strerror(errno));
		} else {
			rc = file_replace(path, picture, (size_t)st.st_size, err);
			munmap(picture, (size_t)st.st_size);
		}
	}
	if (p.picture_fd >= 0)
		close(p.picture_fd);
	if (p.errors_fd >= 0)
		close(p.errors_fd);
	return rc;
}

/* The script prints one line once gnuplot has found the fonts and libraries for this format. */
int picture_check(const char *path, struct err *err)
{
	const char *format = picture_format(path);
	autofree char *script = xasprintf("set terminal %s\nset print '-'\nprint 'ready'\n",
					  format && !strcmp(format, "png") ? "pngcairo" : "svg");

	return file_check(path, err) || picture_draw(script, NULL, err) ? -1 : 0;
}

void picture_add_style(struct text *t, const char *format)
{
	if (!strcmp(format, "svg"))
		text_add(t, "set terminal svg size 1100,500 noenhanced font 'DejaVu Sans,Arial,"
			 "sans-serif,13' background rgb 'white' linewidth 1.2\n");
	else
		text_add(t, "set terminal pngcairo size 1100,500 noenhanced font 'Sans,10.5' "
			 "background rgb 'white' linewidth 1.4\n");
	text_add(t, "set border 3 lc rgb '#555555'\n"
		 "set grid back lc rgb '#dddddd' lt 1 lw 0.6\n"
		 "set tics nomirror out scale 0.6 tc rgb '#333333'\n"
		 "set key below center horizontal Left reverse samplen 2 spacing 1.2\n"
		 "set bmargin 7.5\n");
}

void picture_add_quoted(struct text *script, const char *s, int characters)
{
	for (size_t n; *s && characters > 0; s += n, characters--) {
		n = utf8_length(s);
		if (!n || utf8_is_control(s, n) || *s == '`')
			text_add(script, "?");
		else if (*s == '\'')
			text_add(script, "''");
		else
			text_add_bytes(script, s, n);
		n = n ? n : 1;
	}
	text_add(script, *s ? ".." : "");
}

struct picture_unit picture_time_unit(double largest_s)
{
	if (largest_s < 60)
		return (struct picture_unit){ "seconds", 1 };
	return largest_s < 3600 ? (struct picture_unit){ "minutes", 60 }
				: (struct picture_unit){ "hours", 3600 };
}
