/* simulate_history.h - pollux simulate --from-store. */
#ifndef POLLUX_CLI_SIMULATE_HISTORY_H
#define POLLUX_CLI_SIMULATE_HISTORY_H

#include "command.h"

struct history_request {
	const struct text_list *policies;	/* names, or "all"; none: the present one, fifo, las, pollux */
	int devices;				/* 0: as many as can be used now */
	double interval_s;
	double slice_s;				/* 0: as configured */
	bool json;
};

/* EX_NOINPUT: there is no store, or no job of it is done. */
int simulate_history(const struct history_request *q, struct err *err);

#endif
