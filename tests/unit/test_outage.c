/* An outage is said once, and its end once. */
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "pollux/mem.h"
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
	scoped(paths_release) struct paths paths = { 0 };
	double s = -1;

	if (!mkdtemp(dir))
		return 1;
	setenv("POLLUX_DIR", dir, 1);
	paths_init(&paths, &(struct err){ 0 });
	is_str(said(&paths, "the disk is full", OUTAGE_MAILBOX), "the disk is full",
	       "an error that is no outage keeps its text");
	ok(!outage_read(&paths, why, sizeof(why), &s),
	   "an error that is no outage leaves no record");
	said(&paths, SAYS ": squeue", OUTAGE_NOBODY);
	is_str(said(&paths, SAYS ": squeue", OUTAGE_MAILBOX), SAYS ": squeue",
	       "the first pass that is heard tells the outage");
	is_str(said(&paths, SAYS ": sinfo", OUTAGE_MAILBOX), "",
	       "the next pass does not tell the outage again");
	is_str(said(&paths, SAYS ": sinfo", OUTAGE_PERSON), SAYS ": sinfo",
	       "a person is told the outage each time");
	ok(outage_read(&paths, why, sizeof(why), &s), "the record of the outage is read");
	is_str(why, SAYS ": squeue", "the record of the outage has the text of the first pass");
	ok(outage_ends(&paths, (double)time(NULL) + 60, &s) && s >= 59 && s < 100,
	   "the end of the outage is told with its length");
	ok(!outage_ends(&paths, (double)time(NULL), &s), "the end of the outage is told once");
	is_str(said(&paths, SAYS ": squeue", OUTAGE_MAILBOX), SAYS ": squeue",
	       "another outage is told");
	is_str(said(&paths, SAYS ": sinfo", OUTAGE_MAILBOX), "", "another outage is told once");
	unlink(paths.outage);
	rmdir(dir);
	return done();
}
