/* validations.c - the trainings of an application: validation-B.csv for each batch size B. */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "application.h"
#include "csv.h"
#include "pollux/mem.h"
#include "pollux/number.h"
#include "pollux/text.h"

static int read_epoch(const struct csv *c, int row, struct validation *v, struct err *err)
{
	static const struct csv_range updates = { 0, 1e15 }, squares = { 0, 1e300 };

	if (csv_number(c, row, 0, updates, &v->progress[row], err) ||
	    csv_number(c, row, 1, updates, &v->iteration[row], err) ||
	    csv_number(c, row, 2, squares, &v->grad_sqr[row], err) ||
	    csv_number(c, row, 3, squares, &v->grad_var[row], err))
		return -1;
	if (!(v->grad_sqr[row] + v->grad_var[row] > 0))
		return csv_complain(c, row, err, "grad_sqr and grad_var are both 0");
	if (row > 0 && v->progress[row] < v->progress[row - 1])
		return csv_complain(c, row, err, "progress falls from one epoch to the next");
	return 0;
}

static int read_validation(struct application *a, const char *path, int64_t batch_size,
			   struct err *err)
{
	static const char *const columns[] = { "progress", "iteration", "grad_sqr", "grad_var" };
	struct validation *v = &a->validations[a->n_validations];
	struct csv c;
	int rc = 0;

	if (csv_read(&c, path, columns, 4, err))
		return -1;
	*v = (struct validation){ .batch_size = batch_size };
	v->progress = xcalloc((size_t)c.n_rows * 4, sizeof(*v->progress));
	v->iteration = v->progress + c.n_rows;
	v->grad_sqr = v->iteration + c.n_rows;
	v->grad_var = v->grad_sqr + c.n_rows;
	a->n_validations++;
	for (int i = 0; i < c.n_rows && rc == 0; i++)
		rc = read_epoch(&c, i, v, err);
	if (rc == 0 && a->n_epochs && a->n_epochs != c.n_rows)
		rc = csv_complain(&c, c.n_rows - 1, err,
				  "%d epochs, where other validations have %d", c.n_rows,
				  a->n_epochs);
	a->n_epochs = c.n_rows;
	csv_release(&c);
	return rc;
}

/* Returns B of "validation-B.csv"; 0 for any other name; -1 if B is no number or is not written in
 * its usual form. */
static int64_t validation_batch_size(const char *name)
{
	static const char prefix[] = "validation-", suffix[] = ".csv";
	size_t n = strlen(name), head = sizeof(prefix) - 1, tail = sizeof(suffix) - 1;
	int64_t size = 0;
	char *digits;

	if (n < head + tail || !text_starts_with(name, prefix) ||
	    strcmp(name + n - tail, suffix) != 0)
		return 0;
	digits = xstrdup(name + head);
	digits[n - head - tail] = '\0';
	if (*digits == '0' || strspn(digits, "0123456789") != strlen(digits) ||
	    number_parse_int(digits, &size) || size < 1 || size > BATCH_SIZE_MAX)
		size = -1;
	free(digits);
	return size;
}

/* The progress at the end of an epoch is the least of all trainings. */
static void set_progress(struct application *a)
{
	a->progress = xcalloc((size_t)a->n_epochs + 1, sizeof(*a->progress));
	for (int e = 0; e < a->n_epochs; e++) {
		a->progress[e + 1] = a->validations[0].progress[e];
		for (int i = 1; i < a->n_validations; i++)
			a->progress[e + 1] =
				fmin(a->progress[e + 1], a->validations[i].progress[e]);
	}
}

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Lists the validated batch sizes, ascending; the caller frees *sizes. Returns their number. */
static int list_validations(const char *directory, int64_t **sizes, struct err *err)
{
	DIR *dir = opendir(directory);
	const struct dirent *entry;
	int n = 0;

	if (!dir)
		return err_set(err, EX_NOINPUT, "cannot read '%s': %s", directory, strerror(errno));
	while ((entry = readdir(dir))) {
		int64_t size = validation_batch_size(entry->d_name);

		if (!size)
			continue;
		if (size < 0) {
			err_set(err, EX_DATAERR,
				"'%s/%s': its name is not 'validation-B.csv' of a batch size B",
				directory, entry->d_name);
			n = -1;
			break;
		}
		*sizes = xreallocarray(*sizes, (size_t)n + 1, sizeof(**sizes));
		(*sizes)[n++] = size;
	}
	closedir(dir);
	if (n < 0)
		return -1;
	if (n == 0)
		return err_set(err, EX_DATAERR, "no 'validation-B.csv' in '%s'", directory);
	qsort(*sizes, (size_t)n, sizeof(**sizes), by_size);
	return n;
}

int application_read_validations(struct application *a, const char *directory, struct err *err)
{
	int64_t *sizes = NULL;
	int n = list_validations(directory, &sizes, err), rc = n < 0 ? -1 : 0;

	a->validations = xcalloc(n > 0 ? (size_t)n : 0, sizeof(*a->validations));
	for (int i = 0; sizes && i < n && rc == 0; i++) {
		char *path = xasprintf("%s/validation-%lld.csv", directory, (long long)sizes[i]);

		rc = read_validation(a, path, sizes[i], err);
		free(path);
	}
	free(sizes);
	if (rc)
		return -1;
	a->initial_batch_size = a->validations[0].batch_size;
	a->max_batch_size = a->validations[a->n_validations - 1].batch_size;
	set_progress(a);
	return 0;
}
