/* store_aside.c - see store_runs.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/clock.h"
#include "pollux/mem.h"
#include "pollux/store_runs.h"
#include "sql.h"

#define RETRY "gpu-retry"
#define DIED \
	" outcome = 'failed' AND duration_s < " SQL_NUMBER(ASIDE_DIED_WITHIN_S) \
	" AND substr(diagnosis, 1, length('" CUDA_DOES_NOT_START "')) = '" CUDA_DOES_NOT_START "'"

int store_aside_list(struct store *s, struct aside_list *list, struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	*list = (struct aside_list){ 0 };
	/* Only the newest runs are looked at: those of the last hour are among them. */
	if (sql_query(s, &q, err, "WITH died AS (SELECT coalesce(-j.group_id, j.id) job,"
		      "  d.device device, r.end_time_s at FROM runs r JOIN run_devices d"
		      "  ON d.run_id = r.id JOIN jobs j ON j.id = r.job_id"
		      "  WHERE r.id > (SELECT max(id) FROM runs) - 2000 AND" DIED
		      "  AND r.boot_id = ?2 AND r.end_time_s BETWEEN ?1 - ?3 AND ?1 + 1"
		      "  AND d.device LIKE 'gpu:%' AND r.replicas = 1"
		      "  AND NOT EXISTS (SELECT 1 FROM events WHERE job_id IS NULL"
		      "   AND kind = '" RETRY "' AND text = d.device AND time_s >= r.end_time_s)"
		      "  AND NOT EXISTS (SELECT 1 FROM commands c JOIN environments e"
		      "   ON e.id = c.environment_id WHERE c.job_id = r.job_id"
		      "   AND instr(e.env, CAST('CUDA_VISIBLE_DEVICES=' AS BLOB)) > 0)"
		      "  AND NOT EXISTS (SELECT 1 FROM runs w JOIN run_devices v ON v.run_id = w.id"
		      "   WHERE w.id > (SELECT max(id) FROM runs) - 2000 AND v.device = d.device"
		      "   AND ((w.outcome = 'completed' AND w.end_time_s >= r.end_time_s)"
		      "    OR (w.launch_time_s >= r.end_time_s AND (w.first_step_s IS NOT NULL"
		      "     OR w.duration_s >= " SQL_NUMBER(ASIDE_DIED_WITHIN_S) ")))))"
		      " SELECT device, max(at) + ?3 FROM died t WHERE NOT EXISTS"
		      "  (SELECT 1 FROM died o WHERE o.job = t.job AND o.device <> t.device)"
		      " GROUP BY device HAVING count(*) >= 2",
		      "dtd", clock_wall_s(), clock_boot_id(), (double)ASIDE_S))
		return -1;
	while ((rc = sql_row(s, q, err)) == 1) {
		struct aside *a;

		list->items = xgrow(list->items, list->count, sizeof(*list->items));
		a = &list->items[list->count++];
		sql_chars(q, 0, a->device, sizeof(a->device));
		a->until_s = sql_double(q, 1);
	}
	sql_done(q);
	if (rc < 0)
		aside_list_release(list);
	return rc;
}

void aside_list_release(struct aside_list *list)
{
	free(list->items);
	*list = (struct aside_list){ 0 };
}

double aside_until_s(const struct aside_list *list, const char *device)
{
	for (int i = 0; i < list->count; i++)
		if (!strcmp(list->items[i].device, device))
			return list->items[i].until_s;
	return NAN;
}

int store_aside_retry(struct store *s, const char *device, struct err *err)
{
	return store_event_add(s, 0, 0, RETRY, device, err);
}

bool run_died_of_cuda(const struct run *run)
{
	return run->outcome == OUTCOME_FAILED && run->duration_s < ASIDE_DIED_WITHIN_S &&
	       run->diagnosis && text_starts_with(run->diagnosis, CUDA_DOES_NOT_START) &&
	       run->configuration.replicas > 0 && text_starts_with(run->devices[0].id, "gpu:");
}

int store_aside_forgives(struct store *s, const struct run *run, bool *forgives, struct err *err)
{
	*forgives = false;
	if (!run_died_of_cuda(run))
		return 0;
	return sql_get(s, err, "SELECT 1 FROM jobs j WHERE id = ?1 AND profile = 0"
		       " AND interactive = 0 AND (SELECT count(*) FROM runs WHERE job_id = ?1"
		       "  AND id <> ?2 AND number > j.forgiven_runs AND" DIED ") < ?3", "b<iii",
		       forgives, run->job_id, run->id, (int64_t)ASIDE_FORGIVEN);
}

int store_aside_tell(struct store *s, const struct run *run, struct err *err)
{
	struct aside_list list;
	int rc = 0;

	if (!run_died_of_cuda(run))
		return 0;
	if (store_aside_list(s, &list, err))
		return -1;
	for (int i = 0; rc == 0 && i < run->configuration.replicas; i++) {
		const char *device = run->devices[i].id;
		char *text;

		if (isnan(aside_until_s(&list, device)))
			continue;
		text = xasprintf("%s is set aside for an hour: CUDA does not start there", device);
		rc = store_event_add(s, run->job_id, run->id, "gpu-aside", text, err);
		free(text);
	}
	aside_list_release(&list);
	return rc;
}
