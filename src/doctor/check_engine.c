/* check_engine.c - whether the manager of a cluster answers, and its nodes see our files. */
#include "checks.h"
#include "pollux/engine.h"

void check_engine(struct patient *p)
{
	const struct engine *engine = engine_for_new_runs();
	struct engine_context at = {
		.paths = &p->paths, .store = p->store.db ? &p->store : NULL,
	};
	struct strings troubles = { 0 };
	struct text well = TEXT_INIT;

	if (engine->examine)
		engine->examine(&at, &troubles, &well);
	else
		text_add(&well, "runs are processes of this machine");
	for (size_t i = 0; i < troubles.count; i++)
		found(p, FINDING_STOPS, NULL, "%s", troubles.items[i]);
	if (well.length)
		note(p, "%s", well.data);
	strings_release(&troubles);
	text_release(&well);
}
