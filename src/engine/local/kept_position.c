/* kept_position.c - where a run stands, kept in a file: see recorder.h. */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pollux/file.h"
#include "recorder.h"

#define MAGIC "pollux position 1"
#define MOST_SAMPLES 1e18
#define STORE_WRITE_S 2.0	/* between the supervisor's writes to the store */

enum {
	STEPS_ARE_REPORTED = 1, SAMPLES_ARE_REPORTED = 2, POSITION_IS_KNOWN = 4, RESUMED = 8,
	START_HAS_REPORTED = 16, HAS_ENDED = 32, TOTAL_MAY_BE_OF_EPOCH = 64, COUNTS_FROM_0 = 128,
};

/* The contents of the file. Either the whole record is believed or nothing. */
struct record {
	char magic[24];
	int64_t run_id, job_id;
	char boot_id[40];
	struct kept_position position;
	uint64_t sum;			/* of the words before */
};

/* FNV-1a over words of eight bytes, which detects a torn record but not a forged one. */
static uint64_t sum_of(const struct record *record)
{
	uint64_t sum = 0xcbf29ce484222325U, word;
	const char *bytes = (const char *)record;

	for (size_t i = 0; i < offsetof(struct record, sum); i += sizeof(word)) {
		memcpy(&word, bytes + i, sizeof(word));
		sum = (sum ^ word) * 0x100000001b3U;
	}
	return sum;
}

static void begin_record(struct record *record, const struct run *run)
{
	memset(record, 0, sizeof(*record));
	snprintf(record->magic, sizeof(record->magic), "%s", MAGIC);
	snprintf(record->boot_id, sizeof(record->boot_id), "%s", run->boot_id ? run->boot_id : "");
	record->run_id = run->id;
	record->job_id = run->job_id;
}

/* --- write --- */

int kept_position_create(const struct paths *paths, const struct run *run)
{
	char *path = paths_run(paths, run->id, "position");
	int fd;

	unlink(path);
	fd = file_open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
	free(path);
	return fd;
}

void kept_position_fill(struct kept_position *k, const struct recorder *r, const struct run *run,
			double now_s)
{
	*k = (struct kept_position){
		.time_s = now_s,
		.first_samples = run->first_samples, .last_samples = run->last_samples,
		.steps = r->steps, .first_step_s = run->first_step_s,
		.checkpoint_samples = run->checkpoint_samples,
		.checkpoint_boot_s = run->checkpoint_boot_s,
		.lost_samples = run->lost_samples, .lost_s = run->lost_s,
		.first_position = r->first_position, .began = r->began,
		.position_s = r->position_s,
		.first_logged_position = r->first_logged_position,
		.base_samples = r->base_samples, .positions = r->positions,
		.start_samples = r->start.samples,
		.start_lost_samples = r->start.lost_samples,
		.start_lost_s = r->start.lost_s, .start_run_time_s = r->start.run_time_s,
		.logged_unit = r->logged_unit,
		.flags = (r->steps_are_reported ? STEPS_ARE_REPORTED : 0) |
			 (r->samples_are_reported ? SAMPLES_ARE_REPORTED : 0) |
			 (r->position_is_known ? POSITION_IS_KNOWN : 0) |
			 (r->resumed ? RESUMED : 0) |
			 (r->start.has_reported ? START_HAS_REPORTED : 0) |
			 (r->has_ended ? HAS_ENDED : 0) |
			 (r->total_may_be_of_epoch ? TOTAL_MAY_BE_OF_EPOCH : 0) |
			 (r->counts_from_0 ? COUNTS_FROM_0 : 0),
	};
	memcpy(k->step_source, run->step_source, sizeof(k->step_source));
}

bool kept_position_write(int fd, const struct kept_position *k, const struct run *run)
{
	struct record record;

	begin_record(&record, run);
	record.position = *k;
	record.sum = sum_of(&record);
	return pwrite(fd, &record, sizeof(record), 0) == sizeof(record);
}

void kept_position_remove(const struct paths *paths, int64_t run_id)
{
	char *path = paths_run(paths, run_id, "position");

	unlink(path);
	free(path);
}

/* --- read --- */

static bool values_are_sane(const struct kept_position *k)
{
	const double positions[] = {
		k->first_samples, k->last_samples, k->steps, k->checkpoint_samples,
		k->first_position, k->began, k->first_logged_position, k->base_samples,
		k->positions.first, k->positions.last, k->start_samples,
	};
	const double others[] = {
		k->first_step_s, k->checkpoint_boot_s, k->position_s, k->lost_samples, k->lost_s,
		k->positions.first_s, k->positions.last_s, k->positions.before_s,
		k->start_lost_samples, k->start_lost_s, k->start_run_time_s,
	};
	bool sane = k->positions.n >= 0 && k->log_begin >= 0 && k->log_read >= k->log_begin &&
		    k->logged_unit >= 0 && k->logged_unit < N_STEP_UNITS &&
		    memchr(k->step_source, '\0', sizeof(k->step_source));

	for (size_t i = 0; i < sizeof(positions) / sizeof(positions[0]); i++)
		sane &= isnan(positions[i]) || (positions[i] >= 0 && positions[i] <= MOST_SAMPLES);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		sane &= isnan(others[i]) || fabs(others[i]) <= MOST_SAMPLES;
	return sane;
}

/* True if a run at the rate that the store knows can have come so far (plausible.h). Whatever the
 * store has was in the file before. */
static bool follows_the_store(const struct kept_position *k, const struct run *run)
{
	double stored_s = run->launch_boot_s + run->duration_s;
	double advance = run->last_samples - run->first_samples;
	double rate = run->duration_s > 0 ? advance / run->duration_s : 0;
	double since_s = fmax(k->time_s - stored_s, STORE_WRITE_S);

	if (!(k->time_s >= run->launch_boot_s))
		return false;
	/* The comparison is false where the store knows no rate. */
	return !(rate > 0 && k->last_samples - run->last_samples >
		 POSITION_FACTOR * fmax(rate * since_s, advance));
}

bool kept_position_read(const struct paths *paths, const struct run *run, struct kept_position *k,
			int *fd)
{
	char *path = paths_run(paths, run->id, "position");
	int file = file_open(path, O_RDWR | O_NOFOLLOW, 0);
	struct record record = { .run_id = 0 }, same;
	struct stat st;
	bool found;

	free(path);
	begin_record(&same, run);
	/* with care, because a job may have put a FIFO, a link or a huge file in its place */
	if (file >= 0 && (fstat(file, &st) || !S_ISREG(st.st_mode) || st.st_nlink != 1 ||
			  st.st_size != sizeof(record))) {
		close(file);
		file = -1;
	}
	found = file >= 0 && pread(file, &record, sizeof(record), 0) == sizeof(record) &&
		memcmp(&same, &record, offsetof(struct record, position)) == 0 &&
		record.sum == sum_of(&record) && values_are_sane(&record.position) &&
		follows_the_store(&record.position, run);
	*k = record.position;
	if (file >= 0 && (!fd || !found)) {
		close(file);
		file = -1;
	}
	if (fd)
		*fd = file;
	return found;
}

void kept_position_apply(const struct kept_position *k, struct run *run)
{
	run->first_samples = k->first_samples;
	run->last_samples = k->last_samples;
	run->first_step_s = k->first_step_s;
	run->checkpoint_samples = k->checkpoint_samples;
	run->checkpoint_boot_s = k->checkpoint_boot_s;
	run->lost_samples = k->lost_samples;
	run->lost_s = k->lost_s;
	run->duration_s = fmax(run->duration_s, k->time_s - run->launch_boot_s);
	memcpy(run->step_source, k->step_source, sizeof(run->step_source));
}

void kept_position_restore(const struct kept_position *k, struct recorder *r)
{
	r->steps = k->steps;
	r->first_position = k->first_position;
	r->began = k->began;
	r->position_s = k->position_s;
	r->first_logged_position = k->first_logged_position;
	r->base_samples = k->base_samples;
	r->positions = k->positions;
	r->logged_unit = (enum step_unit)k->logged_unit;
	r->steps_are_reported = k->flags & STEPS_ARE_REPORTED;
	r->samples_are_reported = k->flags & SAMPLES_ARE_REPORTED;
	r->position_is_known = k->flags & POSITION_IS_KNOWN;
	r->resumed = k->flags & RESUMED;
	r->has_ended = k->flags & HAS_ENDED;
	r->total_may_be_of_epoch = k->flags & TOTAL_MAY_BE_OF_EPOCH;
	r->counts_from_0 = k->flags & COUNTS_FROM_0;
	r->start = (struct recorder_start){
		k->start_samples, k->start_lost_samples, k->start_lost_s, k->start_run_time_s,
		k->flags & START_HAS_REPORTED,
	};
	r->changed = true;
}
