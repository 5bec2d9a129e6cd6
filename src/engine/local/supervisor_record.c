/* supervisor_record.c - records the end of a run, however long that takes. */
#include <time.h>

#include "pollux/clock.h"
#include "pollux/store_runs.h"
#include "supervisor.h"
#include "supervisor_loop.h"

/* Waiting helps in neither case; the next pass may. */
static bool is_hopeless(const struct err *err)
{
	return err->exit_status == EX_SOFTWARE || err->exit_status == EX_DATAERR;
}

/* Records what must not get lost, the last reports and the end of the run: waits while the disk is
 * full or the store is locked. The processes of the run have ended by now. The locks of its devices
 * are free; the store keeps the devices for the run until the end is recorded. A wish to stop that
 * could not be recorded either (local_stop_unrecorded) comes by the socket, and decides what
 * becomes of the job. */
static bool insist(struct supervisor *s, int (*record)(struct supervisor *s, struct err *err))
{
	struct timespec pause = { .tv_nsec = 200000000 };
	struct err err;
	bool told = false;

	while (record(s, &err)) {
		if (!told)
			supervisor_log(s, "cannot record the end yet: %s", err.text);
		told = true;
		supervisor_beat(s);
		supervisor_read_last_reports(s, clock_boot_s());
		if (is_hopeless(&err))
			return false;
		nanosleep(&pause, NULL);
		pause = (struct timespec){ .tv_sec = pause.tv_sec < 8 ? 2 * pause.tv_sec + 1 : 8 };
	}
	return true;
}

static int record_reports(struct supervisor *s, struct err *err)
{
	double duration_s = s->run.duration_s;
	int rc = recorder_write(&s->recorder, &s->store, &s->run, err);

	s->run.duration_s = duration_s;
	return rc;
}

static int record_end(struct supervisor *s, struct err *err)
{
	return store_run_end(&s->store, &s->run, err);
}

bool supervisor_record_reports(struct supervisor *s)
{
	return insist(s, record_reports);
}

bool supervisor_record_end(struct supervisor *s)
{
	return insist(s, record_end);
}
