/* store_code.c - see store_code.h. */
#include "pollux/store_code.h"

#include "rows.h"

int store_run_set_code(struct store *s, const struct run *run, struct err *err)
{
	if (sql_run(s, NULL, err, "UPDATE runs SET code_commit = ?, code_tree = ? WHERE id = ?",
		    "tti", run->code.commit, run->code.tree, run->id))
		return -1;
	return sql_run(s, NULL, err, "UPDATE commands SET first_commit = ?, first_tree = ?"
		       " WHERE job_id = ? AND first_tree IS NULL", "tti", run->code.commit,
		       run->code.tree, run->job_id);
}

int store_snapshot_is_needed(struct store *s, const char *dir, bool *needed, struct err *err)
{
	int64_t answer;
	int rc = sql_ask(s, &answer, err, "SELECT EXISTS (SELECT 1 FROM commands"
			 " WHERE snapshot_dir = CAST(? AS BLOB))", "t", dir);

	*needed = answer != 0;
	return rc;
}

int store_job_leave_snapshot(struct store *s, int64_t job_id, struct err *err)
{
	return sql_run(s, NULL, err, "UPDATE commands SET snapshot_dir = NULL WHERE job_id = ?"
		       " AND snapshot_dir IS NOT NULL", "i", job_id);
}
