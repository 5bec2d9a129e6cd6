/* training_total.h - which total of a training is believed: declared, reported or printed.
 *
 *	declared	by a person: --samples, --steps, --epochs. It holds, also if the job passes
 *			it: the job is "over".
 *	reported	by the program, or by the helper for PyTorch, which read it in the loops of
 *			the program.
 *	printed		in the log, as the total of the counter that it prints.
 *
 * The first of these that is known counts; a number of epochs alone comes last. A total that nobody
 * declared is none once the training has passed it: something goes on around the loop or the
 * counter that it was read from. The next one counts then, and where there is none the end is not
 * known. Pure functions. */
#ifndef POLLUX_TRAINING_TOTAL_H
#define POLLUX_TRAINING_TOTAL_H

/* A number of steps by which a position may pass a total: counts from 0, and rounded ones. */
#define TOTAL_SLACK_STEPS 2

/* Samples, steps and epochs; each NaN or 0 where it is not known. A step is an update. */
struct training_amount {
	double samples, steps, epochs;
};

struct total_facts {
	struct training_amount declared, reported;
	double printed_steps;
	struct training_amount position;
	double batch_size;	/* the last batch may pass a total of samples by it; 0: unknown */
};

enum total_source {
	TOTAL_UNKNOWN,
	TOTAL_DECLARED,
	TOTAL_REPORTED,
	TOTAL_PRINTED,
};

struct training_total {
	enum total_source source;
	struct training_amount amount;	/* NaN where not known */
};

struct training_total training_total_of(const struct total_facts *f);

#endif
