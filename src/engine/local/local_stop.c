/* local_stop.c - sends a request to stop a run directly to its supervisor, not through the
 * store. */
#include <stdlib.h>
#include <string.h>

#include "local.h"
#include "local_handle.h"
#include "pollux/mem.h"
#include "pollux/report_socket.h"

#define KEY "STOP="
#define WAIT_S 5	/* the wait for room in the socket of a job that reports without end */

static const enum stop_reason reasons[] = { STOP_CANCEL, STOP_HOLD };

int local_stop_unrecorded(const struct engine_context *at, const struct run *run,
			  enum stop_reason reason, struct err *err)
{
	char *message = xasprintf(KEY "%s\n", stop_reason_name(reason));
	struct local_handle handle;
	int rc;

	(void)at;
	local_handle_parse(run->handle, &handle);
	if (handle.socket_path[0])
		rc = report_socket_send(handle.socket_path, message, strlen(message), WAIT_S, NULL,
					err);
	else
		rc = err_set(err, EX_UNAVAILABLE, "its supervisor has not started it yet");
	local_handle_release(&handle);
	free(message);
	return rc;
}

enum stop_reason local_stop_asked(const char *message, size_t n)
{
	const char *word = message + strlen(KEY);

	if (n <= strlen(KEY) || memcmp(message, KEY, strlen(KEY)) != 0)
		return STOP_NONE;
	n -= strlen(KEY);
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		const char *name = stop_reason_name(reasons[i]);

		if (n == strlen(name) + 1 && !memcmp(word, name, n - 1) && word[n - 1] == '\n')
			return reasons[i];
	}
	return STOP_NONE;
}
