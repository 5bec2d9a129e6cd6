/* fuzz_config.c - a settings file is understood, or refused in one line; no other outcome. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pollux/config.h"
#include "pollux/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Within the bounds, and the same when written and read again. */
static void check_slots(int slots)
{
	char text[CONFIG_SLOTS_TEXT];
	struct config again = { .slots = slots + 1 };

	config_write_slots(slots, text);
	assert(slots == CONFIG_SLOTS_AUTO ||
	       (!config_set_slots(&again, text) && again.slots == slots));
	assert(slots & CONFIG_SLOTS_OF_TWO_SIZES ||
	       (slots >= CONFIG_SLOTS_AUTO && slots <= CONFIG_MAX_SLOTS));
}

static void check_config(const char *path)
{
	struct config c;
	struct err err = { 0 };

	if (config_load(&c, path, &err) == 0) {
		check_slots(c.slots);
		assert(isfinite(c.slice_s) && c.slice_s > 0);
		assert(memchr(c.policy, '\0', sizeof(c.policy)) && c.policy[0]);
		return;
	}
	assert(err.exit_status == EX_CONFIG);
	assert(err.text[0] && !strchr(err.text, '\n') && strlen(err.text) < 400);
}

/* The same text as a number on the command line. */
static void check_numbers(const char *text)
{
	int64_t n = 0;
	double x = 0;

	number_parse_int(text, &n);
	if (number_parse(text, &x) == 0)
		assert(isfinite(x));
	if (number_parse_duration(text, &x) == 0)
		assert(isfinite(x) && !signbit(x));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	static char path[32];
	char *text;

	if (fd < 0) {
		unsetenv("POLLUX_SLOTS");
		unsetenv("POLLUX_SLICE");
		unsetenv("POLLUX_POLICY");
		fd = memfd_create("config", MFD_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	if (ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		return 0;
	check_config(path);
	text = strndup((const char *)data, size);
	if (text)
		check_numbers(text);
	free(text);
	return 0;
}
