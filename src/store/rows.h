/* rows.h - rows of the tables of store_columns.h, whole or in part; private to the store. */
#ifndef POLLUX_STORE_ROWS_H
#define POLLUX_STORE_ROWS_H

#include "pollux/device_measurement.h"
#include "pollux/store_columns.h"
#include "pollux/store_jobs.h"
#include "pollux/store_measurements.h"
#include "pollux/store_runs.h"
#include "sql.h"

/* The columns of a table that have one of these flags (0: all columns), and none of those. */
struct row_columns {
	const struct store_table *table;
	unsigned flags, without;
	const void *initial;	/* what a listed row begins as; NULL: zeros, and row_init */
};

#define ALL_OF(columns_of) ((struct row_columns){ .table = &(columns_of) })
#define ALL_FROM(columns_of, row) \
	((struct row_columns){ .table = &(columns_of), .initial = (row) })
#define SOME_OF(columns_of, with) ((struct row_columns){ .table = &(columns_of), .flags = (with) })

/* Put the present row of such a query into a struct that was initialised: where the store has NULL,
 * the member keeps its value, but a text that is always known becomes "". */
void rows_read(sqlite3_stmt *q, struct row_columns columns, void *row);
/* SELECT the columns FROM their table, then rest ("WHERE id = ?"), whose values are bound as sql.h
 * says. If other tables own columns, the rest begins with their JOIN. Reads the first row. Returns
 * 1; 0: there is none; -1: *err is set. */
int rows_get(struct store *s, struct row_columns columns, void *row, struct err *err,
	     const char *rest, const char *types, ...);

struct column_walk row_walk(struct row_columns columns);
/* The value that a name stands for; that of the batch size, after the other columns. */
int row_parse_name(const struct field_names *list, const char *name);
void row_read_batch_size(int64_t batch_size, const struct column_walk *w, struct configuration *c);

/* Reads all rows of such a query into a list: a struct of an array of rows and their number, an
 * int. The caller frees the items and their texts. Returns 0; -1: *err is set, and the list is
 * empty. */
int rows_list(struct store *s, struct row_columns columns, void *list, struct err *err,
	      const char *rest, const char *types, ...);
/* Frees rows, and the texts and lists in them. */
void rows_release(const struct store_table *table, void *rows, int n);

/* Adds a row with all columns, except those that SQLite sets. */
int rows_insert(struct store *s, const struct store_table *table, const void *row, struct err *err);
/* Adds a row; or, if there is a row with the same keys, writes that row's other columns if the
 * condition holds (in SQL, where "excluded" is the new row). */
int rows_put(struct store *s, const struct store_table *table, const void *row,
	     const char *condition, struct err *err);
/* Write the columns of the row with this id if the condition (SQL) holds for it. Returns the number
 * of rows written; -1 is an error. */
int rows_update(struct store *s, struct row_columns columns, const void *row, int64_t id,
		const char *condition, struct err *err);

/* ---- rows that belong to jobs and runs ---- */

/* --- jobs with the same environment share a row of it --- */

/* *id: the row with this content, which is made unless it is there. Inside a transaction. */
int environment_put(struct store *s, const struct strings *env, int64_t *id, struct err *err);
/* Fills in c->env and c->env_names_only by c->environment_id. On an error *c is released. */
int environment_read(struct store *s, struct job_command *c, struct err *err);

/* --- dependencies of a new job --- */

/* EX_NOINPUT: a job or group is not there. Asked before the new job is, which else could come after
 * itself, or after its own group. */
int dependencies_exist(struct store *s, const struct dependency_list *after, struct err *err);
/* Inside a transaction. */
int dependencies_add(struct store *s, int64_t id, const struct dependency_list *after,
		     struct err *err);

/* --- the devices of a run --- */

/* True (in SQL) if no run uses a device of this run. */
#define SQL_DEVICES_ARE_FREE(run) \
	"NOT EXISTS (SELECT 1 FROM run_devices mine JOIN run_devices used" \
	"  ON used.node = mine.node AND used.device = mine.device AND used.in_use = 1" \
	"  AND (used.seat = mine.seat OR used.seat = 0 OR mine.seat = 0)" \
	"  WHERE mine.run_id = " run ")"

/* Puts the devices into run->devices, which has run->configuration.replicas of them, and their kind
 * and nodes into the configurations. */
int run_devices_read(struct store *s, struct run *run, struct err *err);
/* Adds the devices, not yet in use. */
int run_devices_add(struct store *s, const struct run *run, struct err *err);
/* Fails if another run uses one of the devices, because a unique index forbids it. */
int run_devices_set_in_use(struct store *s, int64_t run_id, bool in_use, struct err *err);

/* ---- rows of what was measured ---- */

/* They have the keys that callers give. */

struct stored_model {
	const char *workload, *device_kind;	/* borrowed; written, never read */
	/* a letter for each parameter, and where tiers are known for each: see store_models.c */
	char basis[N_THROUGHPUT_PARAMS + CONFIGURATION_TIERS];
	struct model_row model;
};

struct stored_measurement {
	char device_kind[CONFIGURATION_KIND_SIZE];
	struct device_measurement measurement;
	double measured_time_s;			/* wall clock */
};

#endif
