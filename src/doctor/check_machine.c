/* check_machine.c - cron, drivers, control groups, the manager of a cluster. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "checks.h"
#include "pollux/advice.h"
#include "pollux/clock.h"
#include "pollux/crontab.h"
#include "pollux/engine.h"
#include "pollux/mem.h"
#include "pollux/pass.h"
#include "pollux/proc.h"

#define INSTALL "pollux cron --install"

static bool is_running(const char *name)
{
	scoped(pid_list_release) struct pid_list all = { 0 };
	bool found_it = false;

	pid_list_read(&all, "/proc");
	for (int i = 0; i < all.count && !found_it; i++)
		found_it = proc_has_name(all.items[i], name);
	return found_it;
}

static bool passes_come(const struct patient *p)
{
	return regular_passes_come(&p->paths, clock_wall_s());
}

static void check_line(struct patient *p, const char *lines, struct crontab_entry *e)
{
	const char *cron = access("/usr/sbin/crond", X_OK) ? "cron" : "crond";
	bool come = passes_come(p);
	scoped(text_release) struct text new = TEXT_INIT;
	enum crontab_change change = crontab_change(lines, e, true, &new);

	if (change == CRONTAB_UPDATED)
		found(p, FINDING_LOOK, xstrdup(INSTALL),
		      "the line in the crontab runs another program, or stands there twice");
	else if (change == CRONTAB_ADDED && come)
		note(p, "no line in the crontab, but passes come by other ways");
	else if (change == CRONTAB_ADDED)
		found(p, FINDING_LOOK, xstrdup(INSTALL),
		      "no line in the crontab runs passes: they come when a job is "
		      "submitted, ends or is to begin, so nobody takes turns");
	else if (!come && proc_hides_others())
		note(p, "%s; whether cron(8) runs is not visible here: /proc hides the processes "
		     "of others", e->line.data);
	else if (!come && !is_running("cron") && !is_running("crond"))
		found(p, FINDING_LOOK, access("/run/systemd/system", F_OK) == 0
		      ? xasprintf("%ssystemctl start %s", advice_sudo(), cron)
		      : xasprintf("%sservice %s start", advice_sudo(), cron),
		      "the crontab has the line, but cron(8) does not run");
	else
		note(p, "%s", e->line.data);
}

void check_cron(struct patient *p)
{
	scoped(text_release) struct text lines = TEXT_INIT;
	scoped(crontab_entry_release) struct crontab_entry e = { 0 };
	struct err err;

	if (crontab_entry_init_own(&e, &err)) {
		found(p, FINDING_LOOK, NULL, "%s", err.text);
		return;
	}
	if (crontab_read(&lines, &err) == 0)
		check_line(p, lines.data, &e);
	else if (passes_come(p))
		note(p, "none, but passes come by other ways");
	else
		found(p, FINDING_LOOK, xstrdup("pollux schedule --watch 10"), "%s", err.text);
}

void check_drivers(struct patient *p)
{
	static const char show[] = "pollux devices";
	const struct device_list *list;
	int n_left_out = 0;

	if (engine_for_new_runs()->examine) {
		note(p, "those of the cluster's nodes, see engine");
		return;
	}
	list = patient_devices(p);
	if (!list) {
		found(p, FINDING_STOPS, xstrdup(show), "%s", p->devices_err.text);
		return;
	}
	for (int i = 0; i < list->n_drivers; i++) {
		const struct device_driver *driver = &list->drivers[i];

		if (driver->silent || driver->misnamed)
			found(p, driver->silent ? FINDING_STOPS : FINDING_LOOK, xstrdup(show), "%s",
			      driver->note);
		else if (driver->note[0])
			note(p, "%s", driver->note);
	}
	for (int i = 0; i < list->count; i++) {
		const struct device *device = &list->items[i];

		n_left_out += device->left_out;
		if (device->left_out)
			note(p, "%s: %s", device->name, device->reason);
		else if (!device->usable)
			found(p, FINDING_LOOK, xstrdup(show), "%s: %s", device->name,
			      device->reason);
	}
	if (n_left_out > 0 && n_left_out == list->count)
		found(p, FINDING_LOOK, xstrdup(show), "every GPU is left out, so jobs "
		      "wait: have the setting gpus name one of them, or gpus = all");
	note(p, "%d device%s", list->count, plural(list->count));
}

/* A guardian instead of a control group is weaker, but usual, and so no finding. */
void check_groups(struct patient *p)
{
	scoped(text_release) struct text detail = TEXT_INIT;
	enum engine_containment containment = engine_for_new_runs()->containment(&detail);

	if (containment == CONTAINED_BY_GROUP)
		note(p, "each run gets one in %s", detail.data);
	else
		note(p, "none, each run gets a %s: %s", engine_containment_name(containment),
		     detail.data);
}

/* Says whether the manager of a cluster answers, and its nodes see our files. */
void check_engine(struct patient *p)
{
	const struct engine *engine = engine_for_new_runs();
	struct engine_context at = {
		.paths = &p->paths, .store = p->store.db ? &p->store : NULL,
	};
	scoped(strings_release) struct strings troubles = { 0 };
	scoped(text_release) struct text well = TEXT_INIT;

	if (engine->examine)
		engine->examine(&at, &troubles, &well);
	else
		text_add(&well, "runs are processes of this machine");
	for (size_t i = 0; i < troubles.count; i++)
		found(p, FINDING_STOPS, NULL, "%s", troubles.items[i]);
	if (well.length)
		note(p, "%s", well.data);
}
