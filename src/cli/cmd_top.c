/* cmd_top.c - pollux top: the devices, the jobs and one of them, on the whole terminal. */
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "commands.h"
#include "pollux/clock.h"
#include "top_parts.h"

#define FIRST_LIST_MS 300	/* slots are listed sooner: the first screen has them */

struct top_options {
	double every_s;
	const char *color;
};

static const struct option_spec options[] = {
#define O(field) .offset = offsetof(struct top_options, field)
	{ "every", 0, OPTION_DURATION, "SECONDS", O(every_s), 0.2, 3600,
	  "look so often for changes; default 1" },
	OPTION_COLOR(O(color)),
	{ .name = NULL },
};

/* Also what ends other programs without a word: else the terminal would stay as it is. */
static void catch_signals(void)
{
	struct sigaction action;

	interruptions_catch();
	sigaction(SIGTERM, NULL, &action);
	sigaction(SIGHUP, &action, NULL);
	sigaction(SIGQUIT, &action, NULL);
}

struct top_loop {
	const struct top_options *o;
	struct top t;
	struct top_person person;
	struct device_watch devices;
	struct job_watch jobs;
};

/* Takes all keys that were typed. */
static bool take_keys(struct top_loop *l, int page, bool *changed)
{
	for (int key; (key = screen_key()) != KEY_NONE;)
		if (!person_types(&l->person, &l->t, key, page, changed))
			return false;
	return true;
}

/* Sleeps until a key, a list of devices or the next look. False: the terminal has gone. */
static bool sleep_until(const struct top_loop *l, double until_boot_s)
{
	struct pollfd fds[2] = { { .fd = STDIN_FILENO, .events = POLLIN },
				 { .fd = l->devices.fd, .events = POLLIN } };
	double left_s = until_boot_s - clock_boot_s();

	if (poll(fds, 2, left_s > 0 ? (int)ceil(left_s * 1e3) : 0) < 0)
		return true;	/* a signal */
	return !(fds[0].revents & (POLLHUP | POLLERR | POLLNVAL));
}

static void show(struct top_loop *l)
{
	double next_s = clock_boot_s();
	struct pollfd list = { .fd = l->devices.fd, .events = POLLIN };
	bool goes_on = true, changed = true;
	struct canvas g;

	poll(&list, 1, FIRST_LIST_MS);
	while (goes_on && !interrupted) {
		int page;

		device_watch_take(&l->devices, &l->t);
		if (clock_boot_s() >= next_s) {
			device_watch_tick(&l->devices, &l->t);
			next_s = fmax(next_s + l->o->every_s, clock_boot_s());
			job_watch_look(&l->jobs, &l->t, false);
		}
		if (changed)
			job_watch_look(&l->jobs, &l->t, true);
		job_watch_look_at_chosen(&l->jobs, &l->t);
		status_advance(&l->t.status, clock_wall_s(), clock_boot_s());
		screen_canvas(&g);
		top_compose(&l->t, &g);
		screen_draw(&g);
		page = top_page(&l->t, &g);
		canvas_release(&g);
		goes_on = sleep_until(l, next_s);
		changed = false;
		goes_on = goes_on && take_keys(l, page, &changed);
	}
}

static int main_top(int argc, char **argv, struct err *err)
{
	struct top_options o = { .every_s = 1, .color = "auto" };
	struct top_loop l = {
		.o = &o, .t = TOP_INIT, .person = { .says = TEXT_INIT, .done = TEXT_INIT },
	};
	struct session s = { .store = { .db = NULL } };
	int first, rc;

	if (options_parse(&cmd_top, argc, argv, &o, &first, err))
		return -1;
	if (first < argc)
		return usage_error(&cmd_top, err, "top takes no argument, not '%.60s'",
				   argv[first]);
	if (paths_init(&s.paths, err))
		return -1;
	output_stdout(o.color);		/* for TZ */
	l.jobs = (struct job_watch){ .s = &s, .every_s = o.every_s, .version = -1 };
	catch_signals();
	rc = screen_open(terminal_color(stdout, o.color), err);
	if (rc == 0) {
		device_watch_begin(&l.devices);
		show(&l);
		screen_close();
		device_watch_end(&l.devices);
	}
	top_release(&l.t);
	text_release(&l.person.says);
	text_release(&l.person.done);
	session_close(&s);
	return rc;
}

const struct command cmd_top = {
	.name = "top", .synopsis = "[--every SECONDS] [--color WHEN]",
	.summary = "watch devices and jobs on the whole terminal, and change them",
	.example = "pollux top\n"
		   "pollux top --every 5       # over a slow line",
	.options = options, .run = main_top,
};
