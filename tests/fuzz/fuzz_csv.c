/* fuzz_csv.c - a table of the simulator is understood or refused in one line; nothing else comes of
 * it. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pollux/simulate.h"
#include "sim/application.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_refusal(const struct err *err)
{
	assert(err->exit_status == EX_DATAERR);
	assert(err->text[0] && !strchr(err->text, '\n') && strlen(err->text) < 600);
}

static void check_cells(const struct csv *c)
{
	for (int row = 0; row < c->n_rows; row++)
		for (int column = 0; column < c->n_columns; column++) {
			double x = csv_value(c, row, column);

			assert(!strpbrk(csv_text(c, row, column), ",\n"));
			assert((x >= -10 && x <= 1e6) ||
			       (isnan(x) && !*csv_text(c, row, column)));
		}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct csv_column columns[][2] = {
		{ { "a", CSV_TEXT, 0, 0 }, { "time", CSV_NUMBER, -10, 1e6 } },
		{ { "a", CSV_WHOLE, -10, 1e6 }, { "time", CSV_TEXT, 0, 0 } },
		{ { "a", CSV_OPTIONAL, -10, 1e6 }, { "time", CSV_NUMBER, -10, 1e6 } },
	};
	static int fd = -1;
	static char path[32];
	struct sim_profiles none = { 0 };
	struct sim_workload w;
	struct err err = { 0 };
	struct csv c;
	int refused;

	if (fd < 0) {
		fd = memfd_create("table", MFD_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	if (ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		return 0;
	for (int i = 0; i < 3; i++) {
		if (csv_read(&c, path, columns[i], 2, &err)) {
			check_refusal(&err);
			continue;
		}
		assert(c.n_rows > 0);
		check_cells(&c);
		csv_release(&c);
	}
	/* There is no application it could be of. */
	refused = sim_workload_read(&w, path, &none, &err);
	assert(refused);
	check_refusal(&err);
	return 0;
}
