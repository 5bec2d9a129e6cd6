/* profile_each_kind.c - pollux profile --all-kinds: the command on each kind of device in turn. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/config.h"
#include "pollux/engine.h"
#include "pollux/profile_report.h"
#include "pollux/session.h"
#include "profile.h"

/* --- the kinds --- */

static bool has(const struct strings *names, const char *name)
{
	for (size_t i = 0; i < names->count; i++)
		if (!strcmp(names->items[i], name))
			return true;
	return false;
}

/* Finds the kinds of the usable devices that --kind and --not-kind allow. Slots whose sizes were
 * not asked for count as one kind, so that no kind is named. */
static int find_kinds(const struct profile_options *o, const struct config *config,
		      struct strings *names, struct err *err)
{
	struct device_list list;

	if (engine_devices(config, false, &list, err))
		return -1;
	for (int i = 0; i < list.count; i++) {
		const struct device *d = &list.items[i];

		if (strncmp(d->id, "cpu:", 4) == 0 && config->slots < DEVICE_SLOTS_OF_TWO_SIZES)
			continue;
		if (d->usable && declaration_wants_kind(&o->asked.declared, d->kind) &&
		    !has(names, d->kind))
			strings_add(names, d->kind);
	}
	devices_release(&list);
	return 0;
}

static int read_kinds(const struct profile_options *o, struct strings *names, struct err *err)
{
	struct config config;
	struct session s;
	int rc;

	if (session_open(&s, STORE_WRITE, err))
		return -1;
	rc = session_settings(&s, &config, err);
	if (o->slots > 0)
		config.slots = (int)o->slots;
	if (rc == 0)
		rc = find_kinds(o, &config, names, err);
	session_close(&s);
	return rc;
}

/* Makes a pattern of --kind from the name of a kind. '|' cannot be quoted there: '?' stands for
 * it. */
static void quote(const char *name, struct text *pattern)
{
	for (; *name; name++)
		text_addf(pattern, "%s%c", strchr("*?[\\", *name) ? "\\" : "",
			  *name == '|' ? '?' : *name);
}

/* --- measuring --- */

static int print_table(const struct profile_options *o, int64_t job_id, struct err *err)
{
	struct output out = output_stdout(o->color);
	struct profile_report report;
	struct session s;
	int rc;

	if (session_open(&s, STORE_READ, err))
		return -1;
	rc = profile_report_read(&s, job_id, &report, err);
	session_close(&s);
	if (rc)
		return -1;
	explanation_print_kinds(&report.e, &out);
	profile_report_release(&report);
	return 0;
}

/* Profiles the command on one kind. A kind on which it fails does not keep the others from being
 * measured; the last failure stays in *failure. notes: say what the command lacks. */
static int profile_kind(const struct profile_options *o, char **argv, const char *name,
			bool notes, int64_t *job_id, struct err *failure)
{
	struct text pattern = TEXT_INIT;
	int64_t id = 0;
	int rc;

	quote(name, &pattern);
	printf("%s%s\n\n", *job_id ? "\n" : "", name);
	fflush(stdout);
	rc = profile_on_kind(o, argv, pattern.data, notes, &id, failure);
	text_release(&pattern);
	if (rc < 0)
		output_messagef("not measured on %s: %s", name, failure->text);
	else
		*job_id = id;
	return rc;
}

int profile_each_kind(const struct profile_options *o, char **argv, struct err *err)
{
	struct strings names;
	struct err failure = { 0 };
	int64_t job_id = 0, ignored;
	int rc;

	strings_init(&names);
	rc = read_kinds(o, &names, err);
	if (rc == 0 && names.count < 2)
		rc = profile_on_kind(o, argv, NULL, true, &ignored, err);
	/* A status above 0 is that of a signal, which ends everything. */
	for (size_t i = 0; names.count > 1 && i < names.count && rc <= 0; i++)
		rc = profile_kind(o, argv, names.items[i], i == 0, &job_id, &failure);
	if (names.count > 1 && rc <= 0) {
		*err = failure;
		rc = job_id ? print_table(o, job_id, err) : -1;
	}
	strings_release(&names);
	return rc;
}
