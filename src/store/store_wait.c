/* store_wait.c - waits while another process writes into the store, first come, first served.
 *
 * SQLite alone would let each process that waits try at its own times, and the latest to try would
 * win; with fifty of them some would never write. Here a process that finds the store locked joins
 * a queue (pollux/turn.h), and only the first of the queue tries. */
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "pollux/clock.h"
#include "sql.h"
#include "store_wait.h"

/* How long the first in the queue waits for the one process that writes: longer than any pass
 * takes. */
#define FIRST_S 10.0
/* How long others in the queue wait: enough for fifty writers that each need a second for the
 * disk. */
#define QUEUE_S 60.0
/* How long a supervisor waits, which has other work to do: it keeps what it could not write, and
 * tries again. A program waits only a second for its last report to be taken. */
#define OBSERVE_S 0.5
/* A process earlier in the queue may be stopped (SIGSTOP), so each process also tries out of turn
 * so often. */
#define TRY_S 0.2
#define QUEUE_PAUSE_NS 5000000
#define FIRST_PAUSE_NS 2000000

static void rest(long ns)
{
	const struct timespec pause = { .tv_nsec = ns };

	nanosleep(&pause, NULL);
}

static void join(struct store *s)
{
	const char *file = sqlite3_db_filename(s->db, "main");
	char path[4200];

	turn_leave(&s->turn);
	s->queue_until_s = clock_boot_s() + (s->is_observer ? OBSERVE_S : QUEUE_S);
	s->first_until_s = NAN;
	/* Without a queue, on a disk that cannot be written, all processes try. root, who looks at
	 * another user's store, makes no file there. */
	if (file && !s->is_anothers &&
	    snprintf(path, sizeof(path), "%s-queue", file) < (int)sizeof(path))
		turn_join(&s->turn, path);
}

/* SQLite calls this when the store is locked. n: the number of earlier calls for this lock. */
static int wait_for_turn(void *store, int n)
{
	struct store *s = store;

	if (n == 0)
		join(s);
	s->try_s = clock_boot_s() + TRY_S;
	while (!turn_is_next(&s->turn)) {
		double now_s = clock_boot_s();

		if (now_s >= s->queue_until_s)
			return 0;
		if (now_s >= s->try_s)
			return 1;
		rest(QUEUE_PAUSE_NS);
	}
	if (isnan(s->first_until_s))
		s->first_until_s = s->is_observer ? s->queue_until_s : clock_boot_s() + FIRST_S;
	if (clock_boot_s() >= s->first_until_s)
		return 0;
	rest(FIRST_PAUSE_NS);
	return 1;
}

void store_wait_set(struct store *s, enum store_mode mode)
{
	s->is_observer = mode == STORE_OBSERVE;
	sqlite3_busy_handler(s->db, wait_for_turn, s);
}

void store_wait_patiently(struct store *s, bool patiently)
{
	s->is_observer = !patiently;
}
