/* What the simulator takes from profiles: interpolated values worked out by hand, and the errors of
 * files. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/simulate.h"
#include "pollux/text.h"
#include "sim/application.h"
#include "tap.h"

static char directory[] = "/tmp/pollux-truth.XXXXXX";

static void write_file(const char *name, const char *text)
{
	char path[256];
	scoped(close_file) FILE *f = NULL;

	snprintf(path, sizeof(path), "%s/app/%s", directory, name);
	f = fopen(path, "w");
	if (!f)
		exit(2);
	fputs(text, f);
}

static void remove_all(void)
{
	static const char *const names[] = {
		"placements.csv", "scalability.csv", "validation-8.csv", "validation-16.csv",
	};
	char path[256];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/app/%s", directory, names[i]);
		unlink(path);
	}
	snprintf(path, sizeof(path), "%s/app", directory);
	rmdir(path);
	rmdir(directory);
}

/* A linear function of the three: whatever the tetrahedra, linear interpolation is exact. */
static double plane(double nodes, double replicas, double m)
{
	return 0.3 + 0.1 * nodes + 0.01 * replicas + 0.001 * m;
}

static void write_profiles(void)
{
	scoped(text_release) struct text text = TEXT_INIT;
	char path[256];

	text_add(&text, "num_replicas,num_nodes,local_bsz,sync_time,step_time\r\n");
	snprintf(path, sizeof(path), "%s/app", directory);
	mkdir(path, 0777);
	for (int nodes = 6; nodes <= 12; nodes += 3)
		for (int per_node = 1; per_node <= 4; per_node++)
			for (int m = 2; m <= 8; m += 3)
				text_addf(&text, "%d,%d,%d,0.01,%.17g\r\n", nodes * per_node, nodes,
					  m, plane(nodes, nodes * per_node, m));
	write_file("scalability.csv", text.data);
	write_file("placements.csv", "placement,local_bsz,step_time,sync_time\n"
		   "1,2,1,0.1\n1,4,1.4,0.1\n1,8,2.6,0.3\n"
		   "12,2,2,0.5\n12,8,5,0.5\n" "213,2,9,1\n");
	write_file("validation-8.csv", "progress,iteration,metric,grad_sqr,grad_var\n"
		   "10,10,0,1,2\n20,20,0,0.5,4\n");
	write_file("validation-16.csv", "progress,iteration,metric,grad_sqr,grad_var\n"
		   "11,7,0,3,6\n19,12,0,0.7,8\n");
}

static struct placement place_of(int n, ...)
{
	struct placement p = { 0 };
	va_list ap;

	va_start(ap, n);
	for (int i = 0; i < n; i++)
		placement_add(&p, i, va_arg(ap, int));
	va_end(ap);
	return p;
}

static double step_of(const struct application *a, struct placement p, int64_t m)
{
	struct place_class c = place_class_of(a, &p);
	struct times times;
	struct err err;
	int rc = truth_times(&c, m, &times, &err);

	placement_release(&p);
	return rc ? (double)NAN : times.step_s;
}

static void placements(const struct application *a)
{
	scoped(text_release) struct text want = TEXT_INIT;
	struct place_class one = place_class_packed(a, 1, 4);
	struct placement rotated = place_of(3, 3, 2, 1), mirrored = place_of(3, 1, 2, 3);
	struct times times;
	struct err err;

	near(step_of(a, place_of(1, 1), 4), 1.4, 1e-15, "a size of a row has its time");
	near(step_of(a, place_of(1, 1), 3), 1.2, 1e-15,
	     "a size half-way between two rows has the mean time");
	near(step_of(a, place_of(1, 1), 7), 2.3, 1e-15,
	     "a size three quarters between two rows has the time there");
	ok(truth_times(&one, 6, &times, &err) == 0, "the times of packed GPUs are found");
	near(times.sync_s, 0.2, 1e-15, "the synchronisation is interpolated like the time");
	near(times_of_update(times, 3), 2 + 2 * 1.8, 1e-15,
	     "further passes take no synchronisation");
	near(step_of(a, place_of(2, 2, 1), 5), 3.5, 1e-15,
	     "a rotated placement is the same placement");
	near(step_of(a, place_of(3, 2, 1, 3), 2), 9, 1e-15,
	     "a rotated placement of one row has its time");
	ok(place_class_of(a, &rotated).exact && !place_class_of(a, &mirrored).exact,
	   "a mirrored placement is another placement");
	ok(truth_times(&one, 9, &times, &err) == -1, "a size outside of the rows is refused");
	is_int(err.exit_status, EX_DATAERR, "a size outside of the rows is an error of data");
	text_addf(&want,
		  "the profiles of 'app' do not cover a local batch of 9 on 1 node with 1 GPU, "
		  "placement 1: "
		  "'%s/placements.csv'",
		  a->directory);
	is_str(err.text, want.data, "the error names what was asked for and the file");
	placement_release(&rotated);
	placement_release(&mirrored);
}

static void wide(const struct application *a)
{
	near(step_of(a, place_of(6, 1, 1, 1, 1, 1, 1), 2), plane(6, 6, 2), 1e-12,
	     "a point of the grid has its time");
	near(step_of(a, place_of(7, 2, 2, 2, 2, 2, 2, 3), 6), plane(7, 15, 6), 1e-12,
	     "a point between is interpolated linearly in all three");
	near(step_of(a, place_of(6, 4, 4, 4, 3, 3, 1), 8), plane(6, 19, 8), 1e-12,
	     "a time depends on the numbers of nodes and GPUs only");
	near(step_of(a, place_of(13, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1), 2),
	     plane(12, 13, 2), 1e-12, "more nodes than measured count as the most measured");
	ok(isnan(step_of(a, place_of(6, 4, 4, 4, 4, 4, 5), 2)),
	   "a point outside of the hull has no time");
}

static void gradients(const struct application *a)
{
	struct gradients g = truth_gradients(a, 12, 0);

	near(g.sqr, 2, 1e-15, "the gradient between two batch sizes is interpolated");
	near(g.var, 4, 1e-15, "the variance between two batch sizes is interpolated");
	near(truth_gradients(a, 16, 1).var, 8, 1e-15,
	     "the variance of a validated batch size is as it is");
	near(truth_iterations(a, 10, 1), 0.25 * 12 + 0.75 * 20, 1e-15,
	     "the updates between two batch sizes are interpolated");
	near(gradients_gain((struct gradients){ 1, 3 }, 2), 4 / 2.5, 1e-15,
	     "the gain of twice the batch is that of the gradients");
	near(gradients_noise_scale(a, (struct gradients){ 1, 3 }), 24, 1e-15,
	     "the noise scale is that of the gradients");
	near(a->progress[1], 10, 1e-15, "the first epoch has the least progress of all trainings");
	near(a->progress[2], 19, 1e-15, "the second epoch has the least progress of all trainings");
}

static void constants(const struct application *a)
{
	is_int(a->initial_batch_size, 8, "an application has its initial batch size");
	is_int(a->max_batch_size, 16, "an application has its largest batch size");
	is_int(a->min_local_batch_size, 2, "an application has its smallest local batch");
	is_int(a->max_local_batch_size, 8, "an application has its largest local batch");
	is_int(a->max_replicas, 48, "an application has the most GPUs measured");
	is_int(a->n_epochs, 2, "an application has its number of epochs");
}

static void spread(const struct application *a)
{
	struct configuration s = sizes_spread(a, throughput_place_on(1, 1), 8, false);

	ok(s.local_batch_size == 8 && s.accumulation_steps == 1, "the initial batch is one pass");
	s = sizes_spread(a, throughput_place_on(1, 1), 8, true);
	ok(s.local_batch_size == 4 && s.accumulation_steps == 2,
	   "the initial batch is two passes where asked for");
	s = sizes_spread(a, throughput_place_on(1, 1), 10, false);
	ok(s.local_batch_size == 5 && s.accumulation_steps == 2,
	   "a larger batch on one GPU is two passes");
	s = sizes_spread(a, throughput_place_on(1, 3), 16, false);
	ok(s.local_batch_size == 5 && s.accumulation_steps == 1,
	   "a batch is rounded up, but not above the largest");
}

static void complains(const char *name, const char *text, const char *wanted)
{
	struct sim_profiles p;
	struct err err;
	const char *colon;

	write_file(name, text);
	ok(sim_profiles_read(&p, directory, NULL, 0, &err) == -1, wanted);
	is_int(err.exit_status, EX_DATAERR, "a bad file is an error of data");
	colon = strstr(err.text, name);
	is_str(colon ? colon + strlen(name) : err.text, wanted,
	       "the error names the line and what is wrong");
	write_profiles();
}

static void bad_files(void)
{
	static const char heading[] = "placement,local_bsz,step_time,sync_time\n";
	char text[256];

#define ROWS(rows) (snprintf(text, sizeof(text), "%s%s", heading, rows), text)
	complains("placements.csv", ROWS("1,2,nan,0\n"), ":2: step_time 'nan' is not a number");
	complains("placements.csv", ROWS("1,2,1,2\n"), ":2: sync_time '2' is not from 0 to 1");
	complains("placements.csv", ROWS("1,2,1,0\n1,2,1,0\n"),
		  ":3: local_bsz does not ascend within placement 1");
	complains("placements.csv", ROWS("102,2,1,0\n"),
		  ":2: placement '102' is not a digit for each node");
	complains("placements.csv", "a,b\n", ":1: no column 'placement' in the heading");
	complains("validation-16.csv", "progress,iteration,grad_sqr,grad_var\n1,1,1,1\n",
		  ":2: 1 epochs, where other validations have 2");
	complains("validation-8.csv", "progress,iteration,grad_sqr,grad_var\n2,1,1,1\n1,1,1,1\n",
		  ":3: progress falls from one epoch to the next");
#undef ROWS
}

int main(void)
{
	struct sim_profiles p;
	struct err err = { 0 };
	const struct application *a;

	if (!mkdtemp(directory))
		return 2;
	write_profiles();
	if (!ok(sim_profiles_read(&p, directory, NULL, 0, &err) == 0, "good profiles are read")) {
		printf("# %s\n", err.text);
		return done();
	}
	a = sim_profiles_find(&p, "app");
	constants(a);
	placements(a);
	wide(a);
	gradients(a);
	spread(a);
	sim_profiles_release(&p);
	bad_files();
	remove_all();
	return done();
}
