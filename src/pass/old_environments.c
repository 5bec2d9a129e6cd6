/* old_environments.c - when the environments of ended jobs lose their values. */
#include "pollux/old_environments.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "pollux/store_jobs.h"
#include "pollux/text.h"

#define HOUR_S 3600.0
#define DAY_S 86400.0

int old_environments_forget(struct store *s, bool keep, double now_s, int *forgotten,
			    struct err *err)
{
	char *last, now[32];
	double last_s = NAN;

	*forgotten = 0;
	if (store_setting_get(s, "environments_time_s", &last, err))
		return -1;
	if (last && number_parse(last, &last_s))
		last_s = NAN;
	free(last);
	if (fabs(now_s - last_s) < HOUR_S)	/* a clock that was set back does not stop this */
		return 0;
	snprintf(now, sizeof(now), "%lld", (long long)now_s);
	if (store_setting_set(s, "environments_time_s", now, err) ||
	    (!keep && store_environments_forget(s, now_s, DAY_S, forgotten, err)))
		return -1;
	return store_wipe_deleted(s, err);
}
