/* session.h - what nearly every command begins with: the paths, and the open store. */
#ifndef POLLUX_SESSION_H
#define POLLUX_SESSION_H

#include "pollux/config.h"
#include "pollux/paths.h"
#include "pollux/store.h"

struct session {
	struct paths paths;
	struct store store;
};

/* Find the paths and open the store in this mode. On failure nothing is left open. */
int session_open(struct session *s, enum store_mode mode, struct err *err);
void session_close(struct session *s);

/* Slots, slice and policy of the last pass; as configured if no pass has run. */
int session_settings(struct session *s, struct config *config, struct err *err);

#endif
