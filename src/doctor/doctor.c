/* doctor.c - runs every check, and keeps what they find. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "checks.h"
#include "pollux/engine.h"
#include "pollux/mem.h"

static const struct {
	const char *name;
	check *look;
} checks[] = {
	{ "settings", check_settings },
	{ "store", check_store },
	{ "space", check_space },
	{ "permissions", check_permissions },
	{ "passes", check_passes },
	{ "cron", check_cron },
	{ "supervisors", check_supervisors },
	{ "locks", check_locks },
	{ "engine", check_engine },
	{ "drivers", check_drivers },
	{ "groups", check_groups },
	{ "people", check_people },
	{ "leftovers", check_leftovers },
};

#define N_CHECKS (int)(sizeof(checks) / sizeof(checks[0]))

static struct doctor_section *at_work(struct doctor *d)
{
	return &d->sections[d->n_sections - 1];
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the finding owns mend */
void found(struct patient *p, enum finding_severity severity, char *mend, const char *format, ...)
{
	struct doctor *d = p->doctor;
	struct text text = TEXT_INIT;
	va_list ap;

	va_start(ap, format);
	text_vaddf(&text, format, ap);
	va_end(ap);
	d->items = xgrow(d->items, d->count, sizeof(*d->items));
	d->items[d->count++] = (struct finding){
		.section = at_work(d)->name, .severity = severity, .mend = mend,
		.text = text_detach(&text),
	};
	at_work(d)->n_findings++;
}

void note(struct patient *p, const char *format, ...)
{
	struct text *state = &at_work(p->doctor)->state;
	va_list ap;

	if (state->length)
		text_add(state, "; ");
	va_start(ap, format);
	text_vaddf(state, format, ap);
	va_end(ap);
}

char *command_on(const char *command, const char *path)
{
	struct text text = TEXT_INIT;

	text_addf(&text, "%s ", command);
	text_add_shell_quoted(&text, path);
	return text_detach(&text);
}

bool patient_has_run(const struct patient *p, int64_t id)
{
	for (int i = 0; i < p->runs.count; i++)
		if (p->runs.items[i].id == id)
			return true;
	return false;
}

const struct device_list *patient_devices(struct patient *p)
{
	if (!p->devices_listed && p->config_err.exit_status)
		config_init(&p->config);
	if (!p->devices_listed)
		engine_devices(&p->config, false, &p->devices, &p->devices_err);
	p->devices_listed = true;
	return p->devices_err.exit_status ? NULL : &p->devices;
}

int doctor_look(struct doctor *d, struct err *err)
{
	struct patient p = { .doctor = d, .last_pass_s = NAN };
	bool there = false;
	struct stat st;
	struct err ignored;

	*d = (struct doctor){ .sections = xcalloc(N_CHECKS, sizeof(*d->sections)) };
	if (paths_init(&p.paths, err))
		return -1;
	if (config_load(&p.config, p.paths.config, &p.config_err) == 0)
		p.config_err.exit_status = 0;
	if (stat(p.paths.schedule_lock, &st) == 0)
		p.last_pass_s = (double)st.st_mtim.tv_sec;
	if (paths_have_store(&p.paths, &there, &p.store_err) == 0)
		store_open(&p.store, &p.paths, STORE_READ, &p.store_err);
	if (p.store.db)
		store_runs_active(&p.store, &p.runs, &ignored);
	for (int i = 0; i < N_CHECKS; i++) {
		d->sections[d->n_sections++].name = checks[i].name;
		text_init(&at_work(d)->state);
		checks[i].look(&p);
	}
	run_list_release(&p.runs);
	devices_release(&p.devices);
	store_close(&p.store);
	paths_release(&p.paths);
	return 0;
}

void doctor_release(struct doctor *d)
{
	for (int i = 0; i < d->n_sections; i++)
		text_release(&d->sections[i].state);
	for (int i = 0; i < d->count; i++) {
		free(d->items[i].text);
		free(d->items[i].mend);
	}
	free(d->sections);
	free(d->items);
	*d = (struct doctor){ 0 };
}

const char *finding_severity_name(enum finding_severity severity)
{
	static const char *const names[] = {
		[FINDING_LOOK] = "look", [FINDING_STOPS] = "stops", [FINDING_DAMAGE] = "damage",
	};

	return names[severity];
}

int doctor_exit_status(const struct doctor *d)
{
	static const int of_severity[] = {
		[FINDING_LOOK] = EX_FAILED, [FINDING_STOPS] = EX_UNAVAILABLE,
		[FINDING_DAMAGE] = EX_DATAERR,
	};
	int worst = -1;

	for (int i = 0; i < d->count; i++)
		worst = (int)d->items[i].severity > worst ? (int)d->items[i].severity : worst;
	return worst < 0 ? 0 : of_severity[worst];
}
