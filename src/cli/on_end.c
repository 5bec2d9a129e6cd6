/* on_end.c - see on_end.h. At most once for each end: the job counts as told before the process is
 * there. */
#include <stdio.h>
#include <stdlib.h>

#include "later_pass.h"
#include "on_end.h"
#include "pollux/store_ends.h"

int on_end_start(struct store *s, const struct config *config, struct err *err)
{
	bool all = *config->on_end || *config->on_failure;
	struct id_list ids;

	if (store_ends_take(s, all, &ids, err))
		return -1;
	for (int i = 0; i < ids.count; i++) {
		char pollux[] = "pollux", tell[] = "tell", id[32];
		char *const argv[] = { pollux, tell, id, NULL };

		snprintf(id, sizeof(id), "%lld", (long long)ids.items[i]);
		later_start(argv);
	}
	id_list_release(&ids);
	return 0;
}
