/* An outage is said once, and its end once. */
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "pollux/pass_files.h"
#include "tap.h"

#define SAYS "the controller does not answer"

static const char *said(const struct paths *paths, const char *text, enum outage_reader reader)
{
	static struct err err;

	err_set(&err, EX_TEMPFAIL, "%s", text);
	outage_begins(paths, SAYS, reader, &err);
	return err.text;
}

int main(void)
{
	char dir[] = "/tmp/outage-XXXXXX", why[40];
	struct paths paths = { 0 };
	double s = -1;

	if (!mkdtemp(dir))
		return 1;
	setenv("POLLUX_DIR", dir, 1);
	paths_init(&paths, &(struct err){ 0 });
	is_str(said(&paths, "the disk is full", OUTAGE_MAILBOX), "the disk is full",
	       "another error stays");
	ok(!outage_read(&paths, why, sizeof(why), &s), "  and is no outage");
	said(&paths, SAYS ": squeue", OUTAGE_NOBODY);
	is_str(said(&paths, SAYS ": squeue", OUTAGE_MAILBOX), SAYS ": squeue",
	       "the first pass that is heard says it");
	is_str(said(&paths, SAYS ": sinfo", OUTAGE_MAILBOX), "", "the next one does not");
	is_str(said(&paths, SAYS ": sinfo", OUTAGE_PERSON), SAYS ": sinfo",
	       "a person is told each time");
	ok(outage_read(&paths, why, sizeof(why), &s), "it can be read");
	is_str(why, SAYS ": squeue", "  as the first pass said it");
	ok(outage_ends(&paths, (double)time(NULL) + 60, &s) && s >= 59 && s < 100,
	   "its end is said, with how long it lasted");
	ok(!outage_ends(&paths, (double)time(NULL), &s), "once");
	is_str(said(&paths, SAYS ": squeue", OUTAGE_MAILBOX), SAYS ": squeue",
	       "another outage is said");
	is_str(said(&paths, SAYS ": sinfo", OUTAGE_MAILBOX), "", "  once");
	unlink(paths.outage);
	rmdir(dir);
	paths_release(&paths);
	return done();
}
