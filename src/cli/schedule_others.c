/* schedule_others.c - passes write an event for each thing they do; here those of other processes
 * are printed, as the watcher's own are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "pollux/report.h"
#include "pollux/store_events.h"
#include "schedule_others.h"

/* The kinds of events that passes write, as a pass prints them: "start job 3 on cpu:0: ...". */
static const struct {
	const char *kind, *verb, *joint;
} kinds[] = {
	{ "assigned", "start", " on" }, { "resume", "resume", " on" }, { "stop", "stop", ":" },
	{ "suspend", "suspend", ":" }, { "change", "change", "" },
};

static bool is_own(const struct others *o, const char *action)
{
	size_t n = strlen(action);

	for (size_t i = 0; i < o->own.count; i++)
		if (!strncmp(o->own.items[i], action, n) && strchr(" :", o->own.items[i][n]))
			return true;
	return false;
}

static void print_event(const struct others *o, const struct event *e)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		char *action;

		if (strcmp(e->kind, kinds[i].kind) != 0)
			continue;
		action = xasprintf("%s job %lld", kinds[i].verb, (long long)e->job_id);
		if (!is_own(o, action)) {
			printf("another pass: %s%s ", action, kinds[i].joint);
			output_clean(stdout, e->text);
			putchar('\n');
		}
		free(action);
	}
}

void others_print(struct others *o, struct store *store, int64_t seen)
{
	struct event_list list;
	struct err ignored;

	if (o->began && store->db && seen > o->told &&
	    store_events_between(store, o->told, seen, &list, &ignored) == 0) {
		for (int i = 0; i < list.count; i++)
			print_event(o, &list.items[i]);
		event_list_release(&list);
	}
	o->began = true;
	o->told = seen;
}

void others_note_own(struct others *o, const struct strings *actions)
{
	strings_release(&o->own);
	for (size_t i = 0; i < actions->count; i++)
		strings_add(&o->own, actions->items[i]);
}

void others_release(struct others *o)
{
	strings_release(&o->own);
}
