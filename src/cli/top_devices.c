/* top_devices.c - the devices of 'pollux top': a process lists them, and sends the list. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "commands.h"
#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/proc.h"
#include "top_parts.h"

/* Seconds between lists: what GPUs do changes, slots hardly ever. A list that took long is followed
 * by so many times as long a rest. */
#define ACCELERATORS_S 5.0
#define SLOTS_S 30.0
#define RESTS 200.0

static double computed_s(void)
{
	struct rusage own, children;

	getrusage(RUSAGE_SELF, &own);
	getrusage(RUSAGE_CHILDREN, &children);
	return (double)(own.ru_utime.tv_sec + own.ru_stime.tv_sec + children.ru_utime.tv_sec +
			children.ru_stime.tv_sec) +
	       1e-6 * (double)(own.ru_utime.tv_usec + own.ru_stime.tv_usec +
			       children.ru_utime.tv_usec + children.ru_stime.tv_usec);
}

/* As passes would list them: by the settings of the last pass, else as configured. */
static int list_devices(struct top_device **list, int *n, struct err *err)
{
	struct config config;
	struct session s;
	struct paths paths;

	if (session_open(&s, STORE_READ, err) == 0) {
		int rc = session_settings(&s, &config, err) ||
			 top_read_devices(&config, &s, list, n, err) ? -1 : 0;
		session_close(&s);
		return rc;
	}
	if (paths_init(&paths, err))
		return -1;
	config_load_leniently(&config, paths.config);
	paths_release(&paths);
	return top_read_devices(&config, NULL, list, n, err);
}

static _Noreturn void list_again_and_again(int fd, pid_t parent)
{
	int null = file_open_null(O_RDWR);

	/* nothing of this process may reach the terminal */
	signals_reset();
	for (int std = STDIN_FILENO; std <= STDERR_FILENO; std++)
		dup2(null, std);
	if (!proc_dies_with(parent, SIGKILL))
		_exit(0);
	for (;;) {
		struct top_device *list = NULL;
		double before_s = computed_s(), rest_s;
		struct timespec rest;
		struct err ignored;
		int n = 0;

		if (list_devices(&list, &n, &ignored) == 0 &&
		    (file_write_all(fd, &n, sizeof(n)) ||
		     file_write_all(fd, list, (size_t)n * sizeof(*list))))
			_exit(0);
		rest_s = fmax(n > 0 && !list[0].is_accelerator ? SLOTS_S : ACCELERATORS_S,
			      RESTS * (computed_s() - before_s));
		free(list);
		rest = (struct timespec){ .tv_sec = (time_t)rest_s };
		nanosleep(&rest, NULL);
	}
}

void device_watch_begin(struct device_watch *w)
{
	pid_t parent = getpid(), pid;
	int ends[2];

	*w = (struct device_watch){ .fd = -1, .bytes = TEXT_INIT };
	if (pipe2(ends, O_CLOEXEC))
		return;
	pid = fork();
	if (pid == 0)
		list_again_and_again(ends[1], parent);
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return;
	}
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	w->fd = ends[0];
}

void device_watch_take(struct device_watch *w, struct top *t)
{
	char bytes[65536];
	ssize_t got;
	int n;

	while (w->fd >= 0 && (got = read(w->fd, bytes, sizeof(bytes))) != 0) {
		if (got < 0)
			break;
		text_add_bytes(&w->bytes, bytes, (size_t)got);
	}
	for (size_t whole; w->bytes.length >= sizeof(n);) {
		memcpy(&n, w->bytes.data, sizeof(n));
		whole = sizeof(n) + (size_t)n * sizeof(*t->devices);
		if (n < 0 || n > DEVICE_MAX || w->bytes.length < whole)
			break;
		free(t->devices);
		t->devices = xcalloc((size_t)n + 1, sizeof(*t->devices));
		memcpy(t->devices, w->bytes.data + sizeof(n), (size_t)n * sizeof(*t->devices));
		t->n_devices = n;
		memmove(w->bytes.data, w->bytes.data + whole, w->bytes.length - whole);
		w->bytes.length -= whole;
	}
}

void device_watch_tick(struct device_watch *w, struct top *t)
{
	double memory = (double)proc_memory_bytes("MemTotal:");
	struct top_device *host = &t->host;

	cpu_use_read(&w->use);
	for (int i = 0; i < t->n_devices; i++)
		if (!t->devices[i].is_accelerator)
			t->devices[i].use = cpu_use_of(&w->use, t->devices[i].binding);
	strcpy(host->name, "host");
	host->use = cpu_use_of(&w->use, "");
	host->memory_bytes = memory > 0 ? memory : (double)NAN;
	host->used_bytes = memory - (double)proc_memory_bytes("MemAvailable:");
}

void device_watch_end(struct device_watch *w)
{
	if (w->fd >= 0)
		close(w->fd);
	text_release(&w->bytes);
	cpu_use_release(&w->use);
}
