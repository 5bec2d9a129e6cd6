/* top_keys.c - what the keys of 'pollux top' do. Jobs are changed by the commands themselves. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "pollux/clock.h"
#include "pollux/mem.h"
#include "pollux/proc.h"
#include "top_parts.h"

#define ANSWER_S 90.0		/* a command waits for the store for a minute */

static void say(struct top_person *p, struct top *t, bool is_question)
{
	t->says = p->says.length ? p->says.data : NULL;
	t->is_question = is_question;
}

/* --- commands --- */

/* Runs 'pollux COMMAND OPTION JOBS'. Returns its exit status; *said is what it printed, or what
 * went wrong. */
static int run_command(const char *command, const char *option, const char *jobs, struct text *said)
{
	char program[] = "/proc/self/exe", yes[] = "--yes";
	scoped(strings_release) struct strings words = { 0 };
	struct question q = {
		.env = environ, .until_boot_s = clock_boot_s() + ANSWER_S, .answer = said,
		.complaint = TEXT_INIT,
	};
	struct err err = { 0 };
	int status;

	strings_add(&words, program);
	strings_add(&words, command);
	strings_add(&words, yes);
	if (option)
		strings_add(&words, option);
	strings_add(&words, jobs);
	q.argv = words.items;
	text_clear(said);
	status = question_ask(&q, &err);
	if (status) {
		const char *why = status < 0 ? err.text : q.complaint.data;

		text_clear(said);
		text_add(said, why + (text_starts_with(why, "pollux: ") ? strlen("pollux: ") : 0));
	}
	while (said->length && said->data[said->length - 1] == '\n')
		said->data[--said->length] = '\0';
	text_release(&q.complaint);
	return status;
}

/* What --dry-run has said: "job 3 would be cancelled", and behind it what would be lost. */
struct foreseen {
	int jobs;
	struct text what, loss;
};

static void read_foreseen(const char *said, struct foreseen *f)
{
	static const char would[] = " would be ", it[] = "; it ";

	for (const char *line = said; line; line = strchr(line, '\n')) {
		const char *what, *loss;
		size_t n;

		line += *line == '\n';
		n = strcspn(line, "\n");
		what = memmem(line, n, would, strlen(would));
		if (!what)
			continue;
		what += strlen(would);
		loss = memmem(what, n - (size_t)(what - line), it, strlen(it));
		n -= (size_t)(what - line);
		if (f->jobs++ == 0)
			text_add_bytes(&f->what, what, loss ? (size_t)(loss - what) : n);
		if (!loss || f->loss.length)
			continue;
		text_add(&f->loss, " It ");
		text_add_bytes(&f->loss, loss + strlen(it),
			       n - (size_t)(loss - what) - strlen(it));
		text_add(&f->loss, ".");
	}
}

/* Does what was foreseen. */
static void change(struct top_person *p, const char *option, bool *changed)
{
	scoped(text_release) struct text said = TEXT_INIT;
	int status = run_command(p->command, option, p->jobs, &said);

	*changed = true;
	text_clear(&p->says);
	text_add(&p->says, status ? said.data : p->done.data);
}

/* Tells what would become of the chosen job, and does that: after a question if the job would end
 * for good, or lose work. */
static void begin_change(struct top_person *p, struct top *t, const char *command, bool *changed)
{
	struct status_row row;
	int n, status;

	text_clear(&p->says);
	if (!top_find_row(t, &row, &n))
		return;
	snprintf(p->jobs, sizeof(p->jobs), row.group ? "group:%lld" : "%lld",
		 (long long)(row.group ? row.group->id : row.item->job->id));
	p->command = command;
	status = run_command(command, "--dry-run", p->jobs, &p->says);
	if (!status) {
		struct foreseen f = { 0, TEXT_INIT, TEXT_INIT };
		bool asks;

		read_foreseen(p->says.data, &f);
		asks = !strcmp(command, "cancel") || f.loss.length;
		text_clear(&p->says);
		text_clear(&p->done);
		if (row.group)
			text_addf(&p->done, "%d job%s of %s", f.jobs, plural(f.jobs), p->jobs);
		else
			text_addf(&p->done, "job %s, %s", p->jobs, row.item->job->declared.name);
		text_addf(&p->says, "%c%s %s?%s [y/N]", toupper((unsigned char)command[0]),
			  command + 1, p->done.data, f.loss.data);
		text_addf(&p->done, ": %s", f.what.data);
		text_release(&f.what);
		text_release(&f.loss);
		if (asks) {
			say(p, t, true);
			return;
		}
		change(p, NULL, changed);
	}
	p->command = NULL;
	say(p, t, false);
}

static void answer(struct top_person *p, struct top *t, int key, bool *changed)
{
	text_clear(&p->says);
	if (key == 'y' || key == 'Y')
		change(p, "--force", changed);
	else
		text_addf(&p->says, "%s%s was left as it is",
			  isdigit((unsigned char)p->jobs[0]) ? "job " : "", p->jobs);
	p->command = NULL;
	say(p, t, false);
}

/* --- the filter --- */

static void say_filter(struct top_person *p, struct top *t)
{
	text_clear(&p->says);
	text_addf(&p->says, "filter: %s", t->filter);
	say(p, t, true);
}

static void type_filter(struct top_person *p, struct top *t, int key)
{
	size_t n = strlen(t->filter);

	if (key == SCREEN_ENTER || key == SCREEN_ESCAPE) {
		if (key == SCREEN_ESCAPE)
			t->filter[0] = '\0';
		p->types_filter = false;
		text_clear(&p->says);
		say(p, t, false);
		return;
	}
	if (key == SCREEN_BACKSPACE && n > 0) {
		while (n > 0 && ((unsigned char)t->filter[--n] & 0xc0) == 0x80)
			;
		t->filter[n] = '\0';
	} else if (key >= ' ' && key < 256 && n + 1 < sizeof(t->filter)) {
		t->filter[n] = (char)key;
		t->filter[n + 1] = '\0';
	}
	say_filter(p, t);
}

/* --- all keys --- */

static void move(struct top *t, int by)
{
	if (t->mode == TOP_LOG)
		t->log_back -= by;
	else if (t->mode == TOP_JOBS)
		top_move(t, by);
}

static bool moves(struct top *t, int key, int page)
{
	enum { ALL = 1000000000 };

	switch (key) {
	case SCREEN_UP: case 'k':
		move(t, -1);
		return true;
	case SCREEN_DOWN: case 'j':
		move(t, 1);
		return true;
	case SCREEN_PAGE_UP:
		move(t, -page);
		return true;
	case SCREEN_PAGE_DOWN: case ' ':
		move(t, page);
		return true;
	case SCREEN_HOME: case 'g':
		if (t->mode == TOP_LOG)
			t->log_back = ALL;
		else
			move(t, -ALL);
		return true;
	case SCREEN_END: case 'G':
		if (t->mode == TOP_LOG)
			t->log_back = 0;
		else
			move(t, ALL);
		return true;
	default:
		return false;
	}
}

static void toggle(struct top *t, enum top_mode mode)
{
	t->mode = t->mode == mode ? TOP_JOBS : mode;
	t->log_back = 0;
}

bool person_types(struct top_person *p, struct top *t, int key, int page, bool *changed)
{
	static const struct {
		int key;
		const char *command;
	} commands[] = { { 'h', "hold" }, { 'r', "release" }, { 'f', "first" }, { 'c', "cancel" } };

	if (p->command || p->types_filter) {
		if (p->command)
			answer(p, t, key, changed);
		else
			type_filter(p, t, key);
		return true;
	}
	text_clear(&p->says);
	say(p, t, false);
	if (moves(t, key, page))
		return true;
	if (key == 'l' || key == SCREEN_ENTER)
		toggle(t, TOP_LOG);
	else if (key == '?')
		toggle(t, TOP_HELP);
	else if (key == SCREEN_ESCAPE && t->mode != TOP_JOBS)
		t->mode = TOP_JOBS;
	else if (key == SCREEN_ESCAPE)
		t->filter[0] = '\0';
	else if (key == 'm')
		t->curve++;
	p->types_filter = key == '/' && t->mode == TOP_JOBS;
	if (p->types_filter)
		say_filter(p, t);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (commands[i].key == key && t->mode != TOP_HELP)
			begin_change(p, t, commands[i].command, changed);
	return key != 'q';
}
