/* supervisor_driver.c - what a run takes of the machine, and who is on its devices.
 *
 * A driver is asked in a child, with a deadline, because some drivers hang for ever. The loop goes
 * on meanwhile and polls the pipe of the answer. */
#include <fcntl.h>

#include "pollux/file.h"
#include "pollux/store_measurements.h"
#include "supervisor_parts.h"

/* --- energy --- */

/* Counters are read when the run gets its devices, when it leaves them, when another run comes to
 * share them or leaves, and once a minute between. A driver is asked in a child, so that its answer
 * comes later; every answer has the counters (tell_processes). */

/* Processors' counters begin again after some minutes under load. */
#define READ_S 60.0
/* A driver also tells what its devices do: see supervisor_use.c. An answer takes milliseconds of a
 * processor. */
#define LOOK_S 10.0
#define FIRST_LOOKS_S 2.0	/* the same at the beginning */
#define ANSWER_S 5.0

void supervisor_forget_energy(struct supervisor *s)
{
	free(s->usage.energy.last);
	s->usage.energy.last = NULL;
	s->usage.energy.n = 0;
}

static bool needs_driver(const struct supervisor *s)
{
	const struct device_backend *backend = device_backend_of(s->run.devices[0].id);

	return !backend || !backend->energy;
}

static double next_reading(const struct supervisor *s)
{
	double now_s = clock_boot_s();

	if (!needs_driver(s))
		return now_s + READ_S;
	return now_s + (now_s - s->run.launch_boot_s > LOOK_S ? LOOK_S : FIRST_LOOKS_S);
}

/* Adds what was taken since the last reading of these counters. n 0: there is no answer. What is
 * not a number is not known. */
static void count_energy(struct supervisor *s, const struct device_energy *list, int n)
{
	struct run_energy *e = &s->usage.energy;
	double sum_j = 0;

	for (int i = 0; i < n && e->n == n; i++) {
		double joules = list[i].joules - e->last[i].joules;

		/* a counter without a range falls only where its driver is loaded anew */
		if (joules < 0)
			joules = list[i].range_j > 0 ? joules + list[i].range_j : list[i].joules;
		sum_j += joules * list[i].part;
	}
	if (e->n == n && n > 0 && isfinite(sum_j)) {
		s->run.energy_j = fmax(s->run.energy_j, 0) + sum_j / (double)(e->others + 1);
		s->recorder.changed = true;
	}
	e->others = e->others_now;
	e->next_boot_s = next_reading(s);
	supervisor_forget_energy(s);
	if (s->run.suspension >= SUSPENSION_DONE && s->recorder.changed)
		supervisor_note(s, recorder_write(&s->recorder, &s->store, &s->run, &s->err));
	if (n == 0 || s->run.suspension >= SUSPENSION_DONE)
		return;
	e->last = xmalloc((size_t)n * sizeof(*list));
	memcpy(e->last, list, (size_t)n * sizeof(*list));
	e->n = n;
}

/* --- questions to a driver --- */

#define DONE 'd'		/* comes after the last process: the answer is whole */

/* Runs in the child. It first gives up what it inherited, because it may outlive the run: it must
 * not hold the run's locks. */
static _Noreturn void answer_question(const struct run *run, int fd)
{
	const struct device_backend *backend = device_backend_of(run->devices[0].id);
	int n = 0, replicas = run->configuration.replicas;
	struct device_process *list = NULL;
	struct device_taken *taken = xcalloc((size_t)replicas, sizeof(*taken));
	struct err ignored;

	if (dup2(fd, 0) < 0)
		_exit(1);
	close_range(3, ~0U, 0);
	setsid();
	if (backend->processes(run->devices, replicas, &list, &n, taken, &ignored) == 0) {
		file_write_all(0, taken, (size_t)replicas * sizeof(*taken));
		file_write_all(0, list, (size_t)n * sizeof(*list));
		file_write_all(0, &(char){ DONE }, 1);
	}
	_exit(0);
}

static void stop_waiting(struct supervisor_driver *d)
{
	close(d->fd);
	d->fd = -1;
	text_release(&d->answer);
	if (!d->pid)
		d->until_boot_s = INFINITY;
}

/* The child may hang until now even after its answer, because a driver's files are closed after the
 * pipe. */
void supervisor_driver_ended(struct supervisor *s)
{
	s->driver.pid = 0;
	if (s->driver.fd < 0)
		s->driver.until_boot_s = INFINITY;
}

/* Counts what the devices tell of themselves, which comes before the processes. */
static void count_taken(struct supervisor *s, const struct device_taken *taken)
{
	int n = s->run.configuration.replicas;
	struct device_energy *energy = xcalloc((size_t)n, sizeof(*energy));

	for (int i = 0; i < n; i++)
		energy[i] = taken[i].energy;
	count_energy(s, energy, n);
	free(energy);
}

/* Gives the processes of the answer to driver.then, or none if the answer is not whole. */
static void tell_processes(struct supervisor *s)
{
	struct supervisor_driver *d = &s->driver;
	struct text *a = &d->answer;
	int replicas = s->run.configuration.replicas;
	size_t head = (size_t)replicas * sizeof(struct device_taken);
	struct device_process *list = NULL;
	driver_answer *then = d->then;
	int n = -1;

	if (a->length > head && (a->length - head) % sizeof(*list) == 1 &&
	    a->data[a->length - 1] == DONE) {
		struct device_taken *taken = xmalloc(head);

		memcpy(taken, a->data, head);
		n = (int)((a->length - head) / sizeof(*list));
		memmove(a->data, a->data + head, a->length - head);
		list = (void *)text_detach(a);
		count_taken(s, taken);
		supervisor_count_use(s, taken, list, n);
		free(taken);
	} else {
		count_energy(s, NULL, 0);
	}
	stop_waiting(d);
	if (then)
		then(s, list, n);
	else
		free(list);
}

void supervisor_read_driver(struct supervisor *s)
{
	char bytes[65536];
	ssize_t k = read(s->driver.fd, bytes, sizeof(bytes));

	if (k > 0)
		text_add_bytes(&s->driver.answer, bytes, (size_t)k);
	else if (k == 0 || (errno != EINTR && errno != EAGAIN))
		tell_processes(s);
}

/* Kills the child, if possible, and does not wait for it: the loop reaps it. The child may have
 * answered and hang in its exit. */
void supervisor_give_up_driver(struct supervisor *s)
{
	if (s->driver.pid) {
		kill(s->driver.pid, SIGKILL);
		s->driver.hangs = true;
	}
	s->driver.until_boot_s = INFINITY;
	if (s->driver.fd < 0)
		return;
	text_clear(&s->driver.answer);
	tell_processes(s);
}

void supervisor_leave_driver(struct supervisor *s)
{
	if (s->driver.pid)
		kill(s->driver.pid, SIGKILL);
	if (s->driver.fd >= 0)
		stop_waiting(&s->driver);
}

enum driver_asked supervisor_ask_driver(struct supervisor *s, double limit_s, driver_answer *then)
{
	const struct device_backend *backend = device_backend_of(s->run.devices[0].id);
	struct supervisor_driver *d = &s->driver;
	int ends[2];

	if (!backend || !backend->processes || (d->pid && d->hangs))
		return DRIVER_NONE;
	if (d->pid || d->fd >= 0)
		return DRIVER_BUSY;
	if (pipe2(ends, O_CLOEXEC))
		return DRIVER_NONE;
	d->pid = fork();
	if (d->pid == 0)
		answer_question(&s->run, ends[1]);
	close(ends[1]);
	if (d->pid < 0) {
		d->pid = 0;
		close(ends[0]);
		return DRIVER_NONE;
	}
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	d->fd = ends[0];
	d->hangs = false;
	text_init(&d->answer);
	d->until_boot_s = clock_boot_s() + limit_s;
	d->then = then;
	return DRIVER_ASKED;
}

/* --- who is on the devices --- */

/* Drivers are asked before the run's command is started and after. A GPU's memory becomes free some
 * time after its process has ended; for a large one it takes seconds. A job that is started before
 * then runs out of memory. */

/* Some drivers list a dead process until they are reloaded. The next pass sees the memory it
 * holds. */
#define DRIVER_WAIT_S 10.0
/* After a pause the first question loads a driver that is not kept loaded: seconds for each GPU. */
#define DRIVER_START_S 10.0
#define DRIVER_ANSWER_S 5.0

/* A process of the run may still be listed. The run's own processes have ended by now, so this is a
 * listed process that does not exist and was not there before the run; in a container with pids of
 * its own, any process that was not there before the run. */
static void take_lingering(struct supervisor *s, struct device_process *list, int n)
{
	bool sees_all = proc_sees_all(), clear = true;

	for (int i = 0; i < n && clear; i++) {
		const struct device_process *p = &list[i], *before = s->driver.before;
		bool was_there = false;

		for (int k = 0; k < s->driver.n_before; k++)
			was_there |= before[k].pid == p->pid && before[k].device == p->device;
		clear = was_there || (sees_all && p->pid != 0 &&
				      (proc_lives((pid_t)p->pid) || proc_is_hidden((pid_t)p->pid)));
	}
	free(list);
	if (!clear && clock_boot_s() >= s->driver.clear_until_boot_s) {
		supervisor_log(s, "a driver lists an ended process on '%s' for more than %g s",
			       s->run.devices[0].id, DRIVER_WAIT_S);
		clear = true;
	}
	if (clear)
		supervisor_handle(s, EV_CLEAR);
}

/* The child that asked may hang after its answer. */
bool supervisor_devices_clear(struct supervisor *s)
{
	enum driver_asked asked;

	if (isinf(s->driver.clear_until_boot_s))
		s->driver.clear_until_boot_s = clock_boot_s() + DRIVER_WAIT_S;
	asked = supervisor_ask_driver(s, DRIVER_ANSWER_S, take_lingering);
	return asked == DRIVER_NONE ||
	       (asked == DRIVER_BUSY && s->driver.fd < 0 &&
		clock_boot_s() >= s->driver.clear_until_boot_s);
}

/* If the driver does not answer, the run starts: the program's own error will say more. */
static void take_who_is_there(struct supervisor *s, struct device_process *list, int n)
{
	free(s->driver.before);
	s->driver.before = list;
	s->driver.n_before = n > 0 ? n : 0;
	supervisor_handle(s, EV_DRIVER);
}

bool supervisor_ask_who_is_there(struct supervisor *s)
{
	return supervisor_ask_driver(s, DRIVER_START_S, take_who_is_there) == DRIVER_ASKED;
}

/* --- memory and processor time --- */

/* Limits of the questions during a measured run: rare and short. */
#define FIRST_SAMPLE_S 0.5
#define SAMPLE_S 2.0
#define SAMPLE_PART 0.01	/* of the time may go into looking at the memory of processes */
#define SAMPLE_ANSWER_S 2.0

/* Takes the largest memory on any of the devices: that device fills up first. */
static void take_sample(struct supervisor *s, struct device_process *list, int n)
{
	for (int d = 0; d < s->run.configuration.replicas; d++) {
		int64_t bytes = supervisor_use_of(s, list, n, d).memory_bytes;

		if (bytes > s->run.peak_device_memory_bytes)
			s->run.peak_device_memory_bytes = bytes;
	}
	free(list);
	if (!s->usage.stop_waits)
		return;
	s->usage.stop_waits = false;
	s->usage.sampled_last = true;
	supervisor_handle(s, EV_STOP);
}

/* A question costs milliseconds: only a profile, whose purpose is to measure, asks. */
static enum driver_asked sample_devices(struct supervisor *s)
{
	if (!s->job.profile || s->adopted)
		return DRIVER_NONE;
	s->usage.next_driver_boot_s = clock_boot_s() + SAMPLE_S;
	return supervisor_ask_driver(s, SAMPLE_ANSWER_S, take_sample);
}

bool supervisor_sample_first(struct supervisor *s)
{
	if (!s->usage.stop_waits && !s->usage.sampled_last)
		s->usage.stop_waits = sample_devices(s) != DRIVER_NONE && s->driver.fd >= 0;
	return s->usage.stop_waits;
}

/* True if the processes here are not the programs: those of several nodes are begun by srun. */
static bool sees_srun(const struct supervisor *s)
{
	return supervisor_remote && run_n_nodes(&s->run) > 1;
}

/* Takes the use of the leader or of an orphan, with all processes that these waited for. Their
 * largest memory may lie between two looks. */
void supervisor_take_usage(struct supervisor *s, const struct rusage *usage)
{
	const struct timeval *user = &usage->ru_utime, *system = &usage->ru_stime;
	double cpu_s = (double)(user->tv_sec + system->tv_sec) +
		       1e-6 * (double)(user->tv_usec + system->tv_usec);

	if (sees_srun(s))
		return;
	s->run.cpu_time_s = isfinite(s->run.cpu_time_s) ? s->run.cpu_time_s + cpu_s : cpu_s;
	if (usage->ru_maxrss * 1024 > s->run.peak_memory_bytes)
		s->run.peak_memory_bytes = usage->ru_maxrss * 1024;
}

/* --- when energy is read --- */

/* The driver of a profile's devices is asked often enough. */
void supervisor_read_energy(struct supervisor *s, bool at_once)
{
	const struct device_backend *backend = device_backend_of(s->run.devices[0].id);
	bool asks = needs_driver(s);
	struct device_energy *list;

	if (at_once && asks)
		return;
	s->usage.energy.next_boot_s = next_reading(s);
	if (!asks) {
		int n = backend->energy(s->run.devices, s->run.configuration.replicas, &list);

		count_energy(s, list, n);
		free(list);
	} else if (!s->job.profile &&
		   supervisor_ask_driver(s, ANSWER_S, NULL) == DRIVER_NONE) {
		supervisor_forget_energy(s);
	}
}

bool supervisor_was_killed_for_memory(const struct supervisor *s)
{
	struct oom_reading now;

	oom_read("/proc", "/sys/fs/cgroup", &now);
	return oom_was_killer(&s->usage.oom.before, &now, s->run.peak_memory_bytes);
}

void supervisor_begin_usage(struct supervisor *s)
{
	oom_watch_start(&s->usage.oom, clock_boot_s());
	supervisor_limit_memory(s);
}

void supervisor_watch_usage(struct supervisor *s)
{
	struct run_energy *e = &s->usage.energy;
	double now_s = clock_boot_s();

	if (now_s >= s->usage.next_memory_boot_s && !sees_srun(s)) {
		int64_t bytes = supervisor_used_bytes(s);

		if (bytes > s->run.peak_memory_bytes)
			s->run.peak_memory_bytes = bytes;
		s->usage.next_memory_boot_s = now_s + (clock_boot_s() - now_s) / SAMPLE_PART;
	}
	if (now_s - s->run.launch_boot_s >= FIRST_SAMPLE_S && now_s >= s->usage.next_driver_boot_s)
		sample_devices(s);
	if (s->run.configuration.share > 0)
		supervisor_note(s, store_share_count(&s->store, s->run.id, &e->others_now,
						     &s->err));
	if (e->others_now != e->others || clock_boot_s() >= e->next_boot_s)
		supervisor_read_energy(s, false);
	oom_watch_look(&s->usage.oom, clock_boot_s());
}
