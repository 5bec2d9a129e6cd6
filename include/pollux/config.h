/* config.h - the few settings, from (first found wins) the command line, POLLUX_SLOTS,
 * POLLUX_SLICE and POLLUX_POLICY in the environment, the file named in paths.h, the defaults.
 *
 * The file holds "name = value" lines; '#' starts a comment:
 *
 *	slots = 2          # jobs run on CPU slots, so many; default: see device.h
 *	slice = 10m        # a time slice; default 10 minutes
 *	policy = goodput
 */
#ifndef POLLUX_CONFIG_H
#define POLLUX_CONFIG_H

#include "pollux/err.h"

#define CONFIG_MAX_SLOTS 1024
#define CONFIG_SLOTS_AUTO (-1)		/* as DEVICE_SLOTS_AUTO */
#define CONFIG_DEFAULT_SLICE_S 600.0

struct config {
	int slots;		/* up to CONFIG_MAX_SLOTS; 0: one per physical core; CONFIG_SLOTS_AUTO: not
				   asked for */
	double slice_s;		/* > 0, finite */
	char policy[32];	/* any word: whether there is such a policy is for the reader to find out */
};

/* Defaults, file (absent is fine), environment (empty is unset). A bad line or variable is an error
 * (EX_CONFIG) naming file, line and what would be right; *c is then not to be used. */
int config_load(struct config *c, const char *path, struct err *err);

#endif
