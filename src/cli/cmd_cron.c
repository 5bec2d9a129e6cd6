/* cmd_cron.c - pollux cron: a pass each minute, by the user's crontab. */
#include "commands.h"
#include "pollux/crontab.h"

struct cron_options {
	bool install, remove;
};

static const struct option_spec options[] = {
#define O(field) .offset = offsetof(struct cron_options, field)
	{ "install", 0, OPTION_FLAG, NULL, O(install), 0, 0,
	  "add the line to your crontab, or bring it up to date" },
	{ "remove", 0, OPTION_FLAG, NULL, O(remove), 0, 0, "take it away" },
	{ .name = NULL },
};

static int main_cron(int argc, char **argv, struct err *err)
{
	static const char *const done[] = {
		[CRONTAB_SAME] = "already there", [CRONTAB_ADDED] = "added",
		[CRONTAB_UPDATED] = "brought up to date", [CRONTAB_REMOVED] = "removed",
	};
	struct cron_options o = { .install = false };
	enum crontab_change change = CRONTAB_SAME;
	struct text old = TEXT_INIT, new = TEXT_INIT;
	struct crontab_entry entry;
	int first, rc = 0;

	if (options_parse(&cmd_cron, argc, argv, &o, &first, err))
		return -1;
	if (first < argc)
		return usage_error(&cmd_cron, err, "cron takes no argument, not '%.60s'",
				   argv[first]);
	if (o.install && o.remove)
		return usage_error(&cmd_cron, err,
				   "options '--install' and '--remove' exclude each other");
	if (crontab_entry_init_own(&entry, err))
		return -1;
	if (o.install || o.remove)
		rc = crontab_read(&old, err);
	if (rc == 0 && (o.install || o.remove))
		change = crontab_change(old.data, &entry, o.install, &new);
	if (change != CRONTAB_SAME)
		rc = crontab_write(&new, err);
	if (rc == 0 && !o.install && !o.remove)
		puts(entry.line.data);
	else if (rc == 0 && o.remove && change == CRONTAB_SAME)
		puts("not there");
	else if (rc == 0)
		printf("%s: %s\n", done[change], entry.line.data);
	text_release(&old);
	text_release(&new);
	crontab_entry_release(&entry);
	return rc;
}

const struct command cmd_cron = {
	.name = "cron", .synopsis = "[--install | --remove]",
	.summary = "print the crontab line that runs a pass each minute, or install it",
	.example = "pollux cron --install\n"
		   "systemd-run --user --unit=pollux --on-calendar=minutely pollux schedule\n"
		   "              # instead, by a timer of systemd, until logout or reboot\n"
		   "loginctl enable-linger      # where logging out ends the processes of a user\n"
		   "pollux schedule --watch 10  # instead, in a terminal",
	.options = options, .run = main_cron,
};
