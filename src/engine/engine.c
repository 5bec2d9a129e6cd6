/* engine.c - the list of engines, and questions that go to each of them. */
#include <stdlib.h>
#include <string.h>

#include "pollux/config.h"
#include "pollux/device_users.h"
#include "pollux/engine.h"
#include "pollux/mem.h"

static const struct engine *const engines[] = { &engine_local, &engine_slurm };
static const size_t n_engines = sizeof(engines) / sizeof(engines[0]);

const char *engine_containment_name(enum engine_containment containment)
{
	static const char *const names[] = {
		[CONTAINED_BY_GROUP] = "control group", [CONTAINED_BY_GUARDIAN] = "guardian",
		[CONTAINED_BY_SLURM] = "job of Slurm",
	};

	return names[containment];
}

const struct engine *engine_of(const struct run *run)
{
	const char *handle = run->handle ? run->handle : "";
	size_t n = strcspn(handle, " ");

	for (size_t e = 0; e < n_engines; e++)
		if (strlen(engines[e]->name) == n && !memcmp(engines[e]->name, handle, n))
			return engines[e];
	return engine_for_new_runs();
}

static const struct engine *chosen;

void engine_choose(const struct config *config)
{
	chosen = config->slurm ? &engine_slurm : &engine_local;
}

const struct engine *engine_for_new_runs(void)
{
	struct config config;
	struct paths paths;
	struct err ignored;

	if (chosen)
		return chosen;
	chosen = &engine_local;
	if (paths_init(&paths, &ignored) == 0) {
		config_load_leniently(&config, paths.config);
		engine_choose(&config);
		paths_release(&paths);
	}
	return chosen;
}

int engine_devices(const struct config *config, bool in_full, struct device_list *list,
		   struct err *err)
{
	struct device_settings settings = {
		.slots = config->slots, .gpus = config->gpus, .in_full = in_full,
	};

	return engine_for_new_runs()->list(&settings, list, err);
}

/* The runs of one engine, as a list without gaps. The caller frees it. */
static const struct run **runs_of(const struct engine *engine, const struct run_list *runs, int *n)
{
	const struct run **some = xcalloc((size_t)runs->count + 1, sizeof(void *));

	*n = 0;
	for (int i = 0; i < runs->count; i++)
		if (engine_of(&runs->items[i]) == engine)
			some[(*n)++] = &runs->items[i];
	return some;
}

/* by_lock: the lock of one device is that of the other. */
static bool is_held(const struct run_list *runs, const struct device *device, bool by_lock)
{
	for (int r = 0; r < runs->count; r++)
		for (int i = 0; i < run_held(&runs->items[r]); i++) {
			const struct device *d = &runs->items[r].devices[i];

			if (by_lock ? shared_locks_meet(d, device) : !strcmp(d->id, device->id))
				return true;
		}
	return false;
}

/* After a change of the number of slots, a run may have the processors of a device under another
 * name. */
const char *engine_outsider(const struct engine_context *at, const struct run_list *runs,
			    const struct device *device)
{
	const struct engine *engine = engine_for_new_runs();
	bool has_run = is_held(runs, device, false);
	const char *holder = has_run || !engine->device_holder ? NULL
			   : engine->device_holder(at, device);

	if (!holder && shared_lock_is_in_parts(device))
		has_run = is_held(runs, device, true);
	if (!holder && engine->other_user && !has_run)
		holder = engine->other_user(at, device);
	return holder;
}

int engine_collect(const struct engine_context *at, struct strings *lines, struct err *err)
{
	for (size_t e = 0; e < n_engines; e++)
		if (engines[e]->collect && engines[e]->collect(at, lines, err))
			return -1;
	return 0;
}

void engine_mend(const struct engine_context *at, const struct run_list *runs,
		 struct strings *lines)
{
	for (size_t e = 0; e < n_engines; e++) {
		int n;
		const struct run **some = runs_of(engines[e], runs, &n);

		if (n > 0 && engines[e]->mend)
			engines[e]->mend(at, some, n, lines);
		free(some);
	}
}

int engine_poll(const struct engine_context *at, const struct run_list *runs,
		enum engine_answer *answers, struct err *err)
{
	int rc = 0;

	for (int i = 0; i < runs->count; i++)
		answers[i] = ENGINE_UNKNOWN;
	for (size_t e = 0; e < n_engines && rc == 0; e++) {
		autofree enum engine_answer *got = xcalloc((size_t)runs->count + 1, sizeof(*got));
		int n;
		const struct run **asked = runs_of(engines[e], runs, &n);

		rc = n > 0 ? engines[e]->poll(at, asked, n, got, err) : 0;
		for (int i = 0; rc == 0 && i < n; i++)
			answers[asked[i] - runs->items] = got[i];
		free(asked);
	}
	return rc;
}

int engine_poll_one(const struct engine_context *at, const struct run *run,
		    enum engine_answer *answer, struct err *err)
{
	*answer = ENGINE_UNKNOWN;
	return engine_of(run)->poll(at, &run, 1, answer, err);
}

int engine_attend(const struct engine_context *at, const struct run *run, struct err *err)
{
	const struct engine *engine = engine_of(run);

	if (run->state == RUN_ASSIGNED)
		return engine->start(at, run, err);
	return engine->adopt ? engine->adopt(at, run, err)
			     : err_set(err, EX_TEMPFAIL, "run %lld: nobody can take it over",
				       (long long)run->id);
}

void engine_wake(const struct engine_context *at, const struct run *run)
{
	engine_of(run)->wake(at, run);
}

void engine_clean(const struct engine_context *at, const struct run_list *active)
{
	for (size_t e = 0; e < n_engines; e++)
		engines[e]->clean(at, active);
}
