/* check_store.c - the configuration file and the store. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "checks.h"
#include "pollux/advice.h"
#include "pollux/mem.h"
#include "pollux/pass_host.h"
#include "pollux/report.h"
#include "pollux/store_check.h"

#define REPAIR "pollux doctor --repair"

/* Makes a comment of the line, so that the default of its setting holds. */
static char *without_line(const struct patient *p)
{
	char *edit = xasprintf("sed -i '%ds/^/# /'", p->config.bad_line);
	struct text mend = TEXT_INIT;

	advice_add_edit(&mend, edit, p->paths.config);
	free(edit);
	return text_detach(&mend);
}

void check_settings(struct patient *p)
{
	char *mend = NULL;

	if (!p->config_err.exit_status)
		return;
	if (p->config.bad_line)
		mend = without_line(p);
	else if (p->config.bad_variable)
		mend = xasprintf("unset %s", p->config.bad_variable);
	found(p, FINDING_STOPS, mend, "%s", p->config_err.text);
}

/* Only damage is repaired: a store may be sound that is locked, or on a disk that is full. */
static void found_error(struct patient *p, const struct err *err, bool may_repair)
{
	bool damaged = may_repair && err->exit_status == EX_DATAERR;

	found(p, damaged ? FINDING_DAMAGE : FINDING_STOPS, damaged ? xstrdup(REPAIR) : NULL,
	      "%s", err->text);
}

static void check_closed(struct patient *p)
{
	if (p->store_err.exit_status == EX_NOINPUT)
		note(p, "%s", p->store_err.text);
	else
		found_error(p, &p->store_err, !store_is_foreign(&p->paths));
}

static void describe_store(struct patient *p)
{
	struct stat st = { 0 };
	struct err err;
	char *log;
	int64_t n;

	if (store_count_jobs(&p->store, &n, &err)) {
		found_error(p, &err, true);
		return;
	}
	log = xasprintf("%s-wal", p->paths.store);
	stat(p->paths.store, &st);
	note(p, "%lld job%s, %s", (long long)n, plural(n), format_bytes((double)st.st_size).s);
	if (stat(log, &st) == 0 && st.st_size > 0)
		note(p, "the newest changes are in '%s', so copy the store by 'pollux backup'",
		     strrchr(log, '/') + 1);
	free(log);
}

void check_store(struct patient *p)
{
	struct strings faults = { 0 };
	struct text other = TEXT_INIT;
	struct err err;

	if (!p->store.db) {
		check_closed(p);
		return;
	}
	if (store_check(&p->store, &faults, &err))
		found_error(p, &err, true);
	else if (faults.count)
		found(p, FINDING_DAMAGE, xstrdup(REPAIR), "'%s' is damaged: %s%s", p->paths.store,
		      faults.items[0], faults.count > 1 ? ", and more" : "");
	else
		describe_store(p);
	strings_release(&faults);
	if (paths_on_network(&p->paths))
		found(p, FINDING_LOOK, NULL, "'%s' is on a network file system, where locks may "
		      "not work: set POLLUX_DIR to a local directory", p->paths.dir);
	if (pass_host_other(&p->paths, &other))
		found(p, FINDING_STOPS, NULL, "%s", other.data);
	text_release(&other);
}
