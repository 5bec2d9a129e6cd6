/* store_failing.c - a group whose runs fail one after the other, at once, is held: what makes them
 * fail is most likely no matter of their parameters. */
#include <stdlib.h>

#include "pollux/mem.h"
#include "pollux/store_groups.h"
#include "pollux/store_runs.h"
#include "sql.h"

/* So many jobs of a group, each by its last run, one after the other ... */
#define FAILURES "3"
/* ... that failed so soon after their start. */
#define AT_ONCE_S "60"

/* An end that tells something: no stop by others, and no failure for want of memory that another
 * device or plan has, or for a checkpoint that could not be read. */
#define COUNTS "(r.outcome = 'completed' OR r.duration_s >= " AT_ONCE_S \
	" OR (r.outcome = 'failed' AND NOT r.former_checkpoint" \
	"  AND NOT (r.out_of_memory AND (r.larger_kind OR r.other_plan))))"
#define LAST_RUN(condition) \
	"r.number = (SELECT max(number) FROM runs WHERE job_id = j.id" condition ")"

/* Finds out if the last ends of the group's runs, of those that were launched since the group was
 * last held, are such failures. */
static int is_failing(struct store *s, int64_t group_id, bool *failing, struct err *err)
{
	return sql_get(s, err, "SELECT count(*) = " FAILURES " FROM"
		       " (SELECT r.outcome = 'failed' AND r.duration_s < " AT_ONCE_S
		       "   AND r.launch_time_s > coalesce(g.held_time_s, 0) AS failed"
		       "  FROM job_groups g JOIN jobs j ON j.group_id = g.id"
		       "  JOIN runs r ON r.job_id = j.id"
		       "  WHERE g.id = ? AND r.state = 'ended' AND " COUNTS
		       "   AND " LAST_RUN(" AND state = 'ended' AND launch_time_s IS NOT NULL")
		       "  ORDER BY r.end_time_s DESC, r.id DESC LIMIT " FAILURES ") WHERE failed",
		       "b<i", failing, group_id);
}

/* Holds the jobs of the group that wait and have no run, and are not paused at a rung; or, unless
 * job_id is 0, that job alone. */
static int hold_waiting(struct store *s, int64_t group_id, int64_t job_id, const char *reason,
			int *held, struct err *err)
{
	return sql_run(s, held, err, "UPDATE jobs SET state = 'held', reason = ?,"
		       " next_start_time_s = NULL, tier_wait_since_s = NULL,"
		       " waiting_for_tier_until = NULL WHERE group_id = ? AND state = 'queued'"
		       " AND (?3 IS NULL OR id = ?3) AND rung <= passed_rungs AND NOT EXISTS"
		       "  (SELECT 1 FROM runs WHERE job_id = jobs.id AND state <> 'ended')", "tin",
		       reason, group_id, job_id);
}

char *group_hold_words(int64_t group_id)
{
	return xasprintf("group:%lld is held: " FAILURES " of its runs in a row failed within a "
			 "minute of their start; 'pollux release group:%lld' lets it go on",
			 (long long)group_id, (long long)group_id);
}

static int hold(struct store *s, const struct run *r, int64_t group_id, const char *reason,
		struct err *err)
{
	char *text = group_hold_words(group_id);
	int held = 0, rc = hold_waiting(s, group_id, 0, reason, &held, err);

	if (rc == 0 && held > 0)
		rc = sql_run(s, NULL, err, "UPDATE job_groups SET held_for = ?, held_time_s = ?,"
			     " hold_told = 0 WHERE id = ?", "idi", r->job_id, r->end_time_s,
			     group_id) ||
		     store_event_add(s, r->job_id, r->id, "hold", text, err) ? -1 : 0;
	free(text);
	return rc;
}

int store_group_hold_failing(struct store *s, const struct run *r, struct err *err)
{
	bool failing, is_held = false;
	int64_t group_id;
	char *reason;
	int rc;

	if (r->outcome != OUTCOME_FAILED)
		return 0;
	if (sql_get(s, err, "SELECT group_id FROM jobs WHERE id = ?", "i<i", &group_id, r->job_id))
		return -1;
	if (group_id == 0)
		return 0;
	reason = xasprintf(FAILURES " runs of its group in a row failed at once; 'pollux release "
			   "group:%lld' lets it go on", (long long)group_id);
	/* A run that was launched before the hold may fail after it, and its job have retries. */
	rc = is_failing(s, group_id, &failing, err) ||
	     sql_get(s, err, "SELECT EXISTS (SELECT 1 FROM job_groups g JOIN runs r"
		     "  ON r.id = ?2 AND r.launch_time_s <= g.held_time_s WHERE g.id = ?1) AND"
		     " EXISTS (SELECT 1 FROM jobs WHERE group_id = ?1 AND state = 'held'"
		     "  AND reason = ?3)", "b<iit", &is_held, group_id, r->id, reason) ? -1 : 0;
	if (rc == 0 && failing)
		rc = hold(s, r, group_id, reason, err);
	else if (rc == 0 && is_held)
		rc = hold_waiting(s, group_id, r->job_id, reason, NULL, err);
	free(reason);
	return rc;
}

int store_job_told_by_hold(struct store *s, int64_t job_id, bool *told, struct err *err)
{
	return sql_get(s, err, "SELECT EXISTS (SELECT 1 FROM jobs j JOIN job_groups g"
		       " ON g.id = j.group_id JOIN runs r ON r.job_id = j.id AND "
		       LAST_RUN("") " WHERE j.id = ? AND r.outcome = 'failed'"
		       " AND r.duration_s < " AT_ONCE_S " AND r.launch_time_s <= g.held_time_s"
		       " AND r.end_time_s >= g.held_time_s)", "b<i", told, job_id);
}

int store_holds_left(struct store *s, bool wanted, bool *left, struct err *err)
{
	if (sql_get(s, err, "SELECT EXISTS (SELECT 1 FROM job_groups WHERE hold_told = 0)", "b<",
		    left))
		return -1;
	if (!*left || wanted)
		return 0;
	*left = false;
	return sql_run(s, NULL, err, "UPDATE job_groups SET hold_told = 1 WHERE hold_told = 0", "");
}

int store_hold_take(struct store *s, int64_t *group_id, int64_t *job_id, struct err *err)
{
	*group_id = *job_id = 0;
	if (store_begin(s, err))
		return -1;
	return store_finish(s, sql_get(s, err, "SELECT id, held_for FROM job_groups"
				       " WHERE hold_told = 0 ORDER BY id LIMIT 1", "ii<", group_id,
				       job_id) ||
			    sql_run(s, NULL, err, "UPDATE job_groups SET hold_told = 1"
				    " WHERE id = ?", "i", *group_id), err);
}
