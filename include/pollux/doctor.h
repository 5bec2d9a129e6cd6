/* doctor.h - what 'pollux doctor' looks at, and what it finds.
 *
 * Nothing is changed, except that an older store is brought up to date, as any command does. */
#ifndef POLLUX_DOCTOR_H
#define POLLUX_DOCTOR_H

#include "pollux/err.h"
#include "pollux/text.h"

/* In the order of weight, the least first. */
enum finding_severity {
	FINDING_LOOK,		/* something to look at */
	FINDING_STOPS,		/* jobs do not start until it is mended */
	FINDING_DAMAGE,		/* the store is damaged */
};

struct finding {
	const char *section;
	enum finding_severity severity;
	char *text;		/* owned, as is the next */
	char *mend;		/* the command that mends it; NULL: no command does */
};

struct doctor_section {
	const char *name;
	struct text state;	/* shown where nothing was found; may be "" */
	int n_findings;
};

struct doctor {
	struct doctor_section *sections;	/* owned; every check is one */
	int n_sections;
	struct finding *items;			/* owned; by sections */
	int count;
};

/* A check that fails is a finding. -1: nobody knows where the store is (EX_CONFIG). */
int doctor_look(struct doctor *d, struct err *err);
void doctor_release(struct doctor *d);

const char *finding_severity_name(enum finding_severity severity);	/* "look" ... */
/* By the worst finding: 0; EX_FAILED; EX_UNAVAILABLE; EX_DATAERR. */
int doctor_exit_status(const struct doctor *d);

#endif
