/* stop_processes.c - see stop_order.h: the processes of a run that is being stopped. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/mem.h"
#include "stop_order.h"

/* Looks again at a signal that is only blocked, as it is while a process forks: after 2 ms, then
 * after twice as long each time. */
#define LOOKS 5
#define LOOK_AGAIN_US 2000

static int find(const struct stop_order *o, pid_t pid, int64_t start_ticks)
{
	for (int i = o->count - 1; i >= 0; i--)
		if (o->items[i].pid == pid && o->items[i].start_ticks == start_ticks)
			return i;
	return -1;
}

static int find_living(const struct stop_order *o, pid_t pid)
{
	for (int i = o->count - 1; i >= 0; i--)
		if (o->items[i].pid == pid && !o->items[i].gone)
			return i;
	return -1;
}

static void add(struct stop_order *o, pid_t pid, int64_t start_ticks)
{
	if (o->count == o->room) {
		o->room = o->room ? 2 * o->room : 32;
		o->items = xreallocarray(o->items, (size_t)o->room, sizeof(*o->items));
	}
	o->items[o->count++] = (struct stop_process){
		.pid = pid, .start_ticks = start_ticks, .parent = -1, .told_boot_s = NAN,
	};
}

/* A handler that was seen counts from then on: it may be gone because the process is ending. */
static void look_at_heed(struct stop_process *p, int signal_number)
{
	enum proc_heed heed = proc_heed(p->pid, signal_number);

	if (isnan(p->told_boot_s) || heed > p->heed)
		p->heed = heed;
}

static void look_at(const struct stop_order *o, struct stop_process *p, int signal_number)
{
	struct proc_streams streams;
	struct proc_times times;

	if (proc_times(p->pid, &times)) {
		p->cpu_s = times.cpu_s;
		p->leads_terminal = times.leads_terminal;
	}
	p->is_srun = o->knows_tasks && proc_has_name(p->pid, "srun");
	p->waits_for_child = proc_waits_for_child(p->pid);
	proc_streams(p->pid, &streams);
	/* one that ends has closed them already */
	if (streams.prints[0] != 0 || streams.reads[0] != 0)
		p->streams = streams;
	if (p->heed != PROC_BLOCKS)
		look_at_heed(p, signal_number);
}

/* Looks again at the processes that may be in a fork just now. */
static void settle(struct stop_order *o, const bool *was_known, int signal_number)
{
	useconds_t wait_us = LOOK_AGAIN_US;

	for (int look = 1; look < LOOKS; look++, wait_us *= 2) {
		bool unsure = false;

		for (int i = 0; i < o->count; i++)
			unsure |= !was_known[i] && o->items[i].heed == PROC_BLOCKS;
		if (!unsure)
			return;
		usleep(wait_us);
		for (int i = 0; i < o->count; i++)
			if (!was_known[i] && o->items[i].heed == PROC_BLOCKS)
				o->items[i].heed = proc_heed(o->items[i].pid, signal_number);
	}
}

/* Adds the processes that are new, and marks in gone those that are not among the living. */
static void take_list(struct stop_order *o, const struct pid_list *living)
{
	double now = clock_boot_s();
	int known = o->count;
	struct proc_times times;

	for (int i = 0; i < known; i++) {
		if (!o->items[i].gone)
			o->items[i].gone_boot_s = now;
		o->items[i].gone = true;
	}
	for (int i = 0; i < living->count; i++) {
		int at;

		if (!proc_times(living->items[i], &times))
			continue;
		at = find(o, living->items[i], times.start_ticks);
		if (at < 0)
			add(o, living->items[i], times.start_ticks);
		else
			o->items[at].gone = false;
	}
	for (int i = known; i < o->count; i++)
		if (proc_times(o->items[i].pid, &times))
			o->items[i].parent = find_living(o, times.parent);
}

/* Terminals have negative numbers. */
static bool has_terminal_of(const struct stop_process *p, const struct stop_process *q)
{
	for (int i = 0; i < PROC_READS && p->streams.reads[i] != 0; i++)
		for (int j = 0; j < PROC_PRINTS && p->streams.reads[i] < 0; j++)
			if (q->streams.prints[j] == p->streams.reads[i])
				return true;
	return false;
}

static void find_terminals(struct stop_order *o)
{
	for (int i = 0; i < o->count; i++) {
		struct stop_process *p = &o->items[i];

		if (p->gone)
			continue;
		p->has_terminal = false;
		for (int j = 0; j < o->count && p->streams.reads[0] != 0; j++)
			p->has_terminal |= j != i && !o->items[j].gone &&
					   o->items[j].heed >= PROC_BLOCKS &&
					   o->items[j].heed != PROC_IGNORES &&
					   has_terminal_of(p, &o->items[j]);
	}
}

void stop_order_look(struct stop_order *o, const struct pid_list *living, int signal_number)
{
	bool *was_known;

	take_list(o, living);
	was_known = xcalloc((size_t)o->count + 1, sizeof(*was_known));
	for (int i = 0; i < o->count; i++) {
		was_known[i] = o->items[i].heed == PROC_BLOCKS || o->items[i].gone;
		if (!o->items[i].gone)
			look_at(o, &o->items[i], signal_number);
	}
	settle(o, was_known, signal_number);
	find_terminals(o);
	free(was_known);
}

double stop_order_tell(struct stop_order *o, int signal_number, double now, stop_send *send_to,
		       void *arg)
{
	bool *tell = xcalloc((size_t)o->count + 1, sizeof(*tell));
	double next = stop_order_next(o, now, tell);

	for (int i = 0; i < o->count; i++) {
		struct stop_process *p = &o->items[i];

		if (!tell[i] || proc_start_ticks(p->pid) != p->start_ticks)
			continue;
		p->told_boot_s = now;
		send_to(arg, p->pid, signal_number);
	}
	free(tell);
	return next;
}
