/* stop_order.h - which processes of a run get the stop signal, and when.
 *
 * Only a process that heeds the signal (has a handler, or waits for it with sigwait or signalfd)
 * can save. A program that saves may need the others: its data loaders, the 'tee' that it prints
 * to, the launcher that reads its output. And some programs quit at a second signal. So each
 * process gets the signal once, in this order:
 *
 * - The first process, and every process that starts one that heeds. A process that does not heed
 *   and reads what a process that heeds prints waits until that one is gone. So does an emulator
 *   of a terminal, and a shell that leads the session of one.
 * - Of the processes that heed, the outermost. What a process below such a one gets is that one's
 *   to decide: it may pass the signal on, or need its workers. The next process below is told if
 *   that one has ended, sleeps until a child ends, is cut off by a shell that ended, or has done
 *   little beside it, and did not pass the signal on: the run goes on to make steps. Where a run
 *   shows no steps, it is told at half of what was left of the grace.
 * - Every other process, once no process that heeds is left. One that reads what another one
 *   printed that is gone ends by itself when it has read all; it is told if it does not.
 *
 * stop_order_next() decides, and looks at nothing but its arguments. The other functions read /proc
 * and send. Whoever asks for the stop ends what is left when the grace is over. */
#ifndef POLLUX_RUN_STOP_ORDER_H
#define POLLUX_RUN_STOP_ORDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "pollux/proc.h"

struct stop_process {
	pid_t pid;
	int64_t start_ticks;
	/* Index of the parent when this process was first seen: a process whose parent ended has
	 * another one now. -1: no process of the run. */
	int parent;
	enum proc_heed heed;	/* of the stop signal; PROC_IGNORES counts as not heeding */
	double cpu_s;		/* processor time so far */
	bool leads_terminal;	/* its end hangs up the terminal of the processes below */
	bool waits_for_child;	/* asleep until a child of it ends */
	struct proc_streams streams;
	/* The terminal of a process with a handler is one that this process emulates: it counts as
	 * not heeding, since its end hangs up. */
	bool has_terminal;
	/* srun(1) kills its tasks at SIGTERM, and those of this machine are told by themselves: it
	 * counts as not heeding, too. */
	bool is_srun;
	double told_boot_s;	/* when the process got the signal; NaN: not yet */
	bool gone;
	double gone_boot_s;	/* when that was seen */
};

struct stop_order {
	struct stop_process *items;	/* owned */
	int count;
	pid_t leader;			/* the first process of the run; 0: it was gone already */
	double asked_boot_s;		/* NaN: no stop was asked for */
	double grace_s;
	bool knows_tasks;		/* what srun(1) started here is among the processes */
	/* An earlier supervisor began the stop: whom it told is not known, but processes that heed
	 * may have the signal already. */
	bool is_taken_over;
	bool shows_steps;		/* the run has made a step that somebody counted */
	/* when the last step was seen, and the one before, which may have been under way when the
	 * signal came; NaN */
	double step_boot_s, step_before_boot_s;
};

void stop_order_begin(struct stop_order *o, pid_t leader, double asked_boot_s, double grace_s);
void stop_order_release(struct stop_order *o);

/* A step of the run was seen. */
void stop_order_see_step(struct stop_order *o, double now_boot_s);

/* Sets tell[i] for each process that is to get the signal now. tell has room for o->count. Returns
 * when to ask again if nothing changes until then; INFINITY: never. */
double stop_order_next(const struct stop_order *o, double now_boot_s, bool *tell);

/* True if the run had a process that heeds the signal. */
bool stop_order_was_heeded(const struct stop_order *o);

/* Brings the table up to date with the living processes of the run. */
void stop_order_look(struct stop_order *o, const struct pid_list *living, int signal_number);

/* Sends the signal to one process. */
typedef void stop_send(void *arg, pid_t pid, int signal_number);
/* Decides, tells, and notes who was told. Returns as stop_order_next(). */
double stop_order_tell(struct stop_order *o, int signal_number, double now_boot_s,
		       stop_send *send_to, void *arg);

#endif
