/* store_ends.h - jobs that have ended, and whose end nobody was told of yet. */
#ifndef POLLUX_STORE_ENDS_H
#define POLLUX_STORE_ENDS_H

#include "pollux/store_select.h"

/* Takes them, each once: they count as told from here on, whatever becomes of the caller. ids gets
 * those of all, or only those that have a command of their own (on_end); the caller releases it.
 * Writes only where there is one. Profiles are never among them. */
int store_ends_take(struct store *s, bool all, struct id_list *ids, struct err *err);

#endif
