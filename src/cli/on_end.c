/* on_end.c - one process tells all ends, in turn: 200 ends at once are not 200 processes. */
#include <stddef.h>

#include "later_pass.h"
#include "on_end.h"
#include "pollux/session.h"
#include "pollux/store_ends.h"
#include "submit_pass.h"

bool on_end_tells_all(const struct config *config)
{
	return *config->on_end || *config->on_failure;
}

int on_end_start(struct store *s, const struct config *config, struct err *err)
{
	char pollux[] = "pollux", tell[] = "tell";
	char *const argv[] = { pollux, tell, NULL };
	bool left;

	if (store_ends_left(s, on_end_tells_all(config), &left, err))
		return -1;
	if (left)
		later_start(argv);
	return 0;
}

void on_end_look(void)
{
	struct config config;
	struct session s;
	struct err ignored;

	if (is_in_a_job() || session_open(&s, STORE_WRITE, &ignored))
		return;
	if (config_load(&config, s.paths.config, &ignored) == 0)
		on_end_start(&s.store, &config, &ignored);
	session_close(&s);
}
