/* supervisor_start.c - from an assigned run to a running command. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kept_reports.h"
#include "pollux/child.h"
#include "pollux/clock.h"
#include "pollux/config.h"
#include "pollux/environment.h"
#include "pollux/file.h"
#include "pollux/log_keeping.h"
#include "pollux/mem.h"
#include "pollux/paths.h"
#include "pollux/proc.h"
#include "pollux/report_socket.h"
#include "pollux/store_jobs.h"
#include "pollux/store_runs.h"
#include "pollux/supervise.h"
#include "run_group.h"
#include "supervisor_command.h"
#include "supervisor_remote.h"
#include "work_done.h"

/* Makes the run's control group. Without one the guardian, if there is one, keeps the run's
 * processes together. */
static void make_group(struct supervisor *s)
{
	struct err err = { 0 };
	char *group = NULL, *store_id = NULL;

	s->handle.guardian_pid = s->guardian_pid;
	/* where the processes belong to a manager of machines, they stay in its group */
	if (supervisor_remote)
		return;
	if (!s->guardian_pid && store_identity(&s->store, &store_id, &err) == 0)
		group = run_group_make(s->paths, s->run.id, store_id, &err);
	free(store_id);
	if (!group)
		return;
	free(s->handle.group);
	s->handle.group = group;
}

int supervisor_take_devices(struct supervisor *s, bool *taken, struct err *err)
{
	bool locked;
	int rc;

	*taken = false;
	if (supervisor_lock_devices(s, &locked, err))
		return -1;
	if (!locked)
		return 0;
	s->handle.supervisor_pid = getpid();
	make_group(s);
	supervisor_update_handle(s);
	rc = store_run_claim(&s->store, s->run.id, s->run.handle, NAN, taken, err);
	if (!*taken)
		supervisor_unlock_devices(s);
	else
		s->run.launch_boot_s = clock_boot_s();
	return rc;
}

/* Returns the socket's path. A Unix socket's path has at most 107 bytes: a store in a deep
 * directory gets its sockets under /tmp. */
static char *socket_path(const struct supervisor *s)
{
	char *path = paths_run(s->paths, s->run.id, "sock");
	char dir[] = "/tmp/pollux-XXXXXX";

	if (report_socket_fits(path))
		return path;
	free(path);
	return mkdtemp(dir) ? xasprintf("%s/%lld.sock", dir, (long long)s->run.id) : NULL;
}

/* An adopted run's socket is made anew at the old path, where its command reports the last
 * checkpoint. There is no path if the old supervisor died before the command was recorded. */
int supervisor_open_socket(struct supervisor *s, struct err *err)
{
	if (s->adopted && !s->handle.socket_path[0])
		return 0;
	if (!s->adopted) {
		char *path = socket_path(s);

		if (!path)
			return err_set(err, EX_CANTCREAT,
				       "cannot make a directory in '/tmp': %s", strerror(errno));
		free(s->handle.socket_path);
		s->handle.socket_path = path;
		kept_reports_remove(path);	/* another store's run may have left some */
	}
	s->socket_fd = report_socket_open(s->handle.socket_path, err);
	return s->socket_fd < 0 ? -1 : 0;
}

/* Returns a port that is free now, for programs that rendezvous on one; 0: none. */
static int free_port(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int port = 0;

	if (fd < 0)
		return 0;
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
	    getsockname(fd, (struct sockaddr *)&address, &length) == 0)
		port = ntohs(address.sin_port);
	close(fd);
	return port;
}

void supervisor_tend_log(struct supervisor *s)
{
	pid_t before = s->keeper.pid;
	struct err err;

	if (log_keeper_tend(&s->keeper, s->log_fd, s->run.id, &err))
		supervisor_log(s, "%s", err.text);
	if (s->keeper.pid == before || s->keeper.pid == 0)
		return;
	s->handle.keeper_pid = s->keeper.pid;
	supervisor_update_handle(s);
	if (s->leader_fd >= 0 &&
	    store_run_set_handle(&s->store, s->run.id, s->run.handle, &err))
		supervisor_log(s, "%s", err.text);
}

int supervisor_open_log(struct supervisor *s, struct err *err)
{
	char *path = paths_log(s->paths, s->job.id);

	s->log_fd = file_open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (s->log_fd < 0)
		err_set(err, EX_CANTCREAT, "cannot open log '%s': %s", path,
			file_open_why(errno));
	free(path);
	if (s->adopted && s->log_fd >= 0) {
		path = paths_run(s->paths, s->run.id, "out");
		log_keeper_open(&s->keeper, path);
		free(path);
		supervisor_tend_log(s);
	}
	return s->log_fd < 0 ? -1 : 0;
}

/* Returns a new descriptor for the standard output of the program: the FIFO from which another
 * process writes into the log, or the log itself where there can be no FIFO. */
static int open_output(struct supervisor *s)
{
	char *path = paths_run(s->paths, s->run.id, "out");
	struct err err;
	int fd = log_keeper_make(&s->keeper, path, &err);

	free(path);
	supervisor_tend_log(s);
	if (fd >= 0 && s->keeper.pid > 0)
		return fd;
	if (fd >= 0)
		close(fd);
	else
		supervisor_log(s, "%s", err.text);
	log_keeper_close(&s->keeper);
	return fcntl(s->log_fd, F_DUPFD_CLOEXEC, 0);
}

/* The first line of each run in the log is its command, ready for a shell. No program reads it. */
static void write_log_header(const struct supervisor *s, const struct strings *argv,
			     const char *code)
{
	struct text line = TEXT_INIT;
	ssize_t n;

	if (s->run.number > 1)
		text_add(&line, "\n");
	text_addf(&line, "# pollux job %lld run %d on", (long long)s->job.id, s->run.number);
	for (int i = 0; i < s->run.configuration.replicas; i++)
		text_addf(&line, " %s", s->run.devices[i].id);
	if (s->foreground)
		text_add(&line, ", in the foreground: its output was its terminal's");
	text_addf(&line, "%s%s\nexec", *code ? "; " : "", code);
	for (size_t i = 0; i < argv->count; i++) {
		text_add(&line, " ");
		text_add_shell_quoted(&line, argv->items[i]);
	}
	text_add(&line, "\n");
	log_take_turn(s->log_fd);
	n = write(s->log_fd, line.data, line.length);
	log_end_turn(s->log_fd);
	(void)n;
	text_release(&line);
}

static int record_leader(pid_t pid, void *arg, struct err *err)
{
	struct supervisor *s = arg;
	struct err ignored;

	s->handle.leader_pid = pid;
	s->handle.leader_start_ticks = proc_start_ticks(pid);
	s->leader_fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (s->leader_fd < 0)
		return err_set(err, EX_OSERR, "cannot watch the command: %s", strerror(errno));
	if (s->handle.group[0] && run_group_add(s->handle.group, pid, &ignored))
		supervisor_log(s, "%s", ignored.text);
	supervisor_update_handle(s);
	return store_run_set_handle(&s->store, s->run.id, s->run.handle, err);
}

static int start_command(struct supervisor *s, const struct device *devices,
			 const struct strings *argv, const struct strings *env, struct err *err)
{
	struct child child = {
		.program = supervisor_remote ? argv->items[0] : s->command.program,
		.argv = argv, .env = env,
		.directory = s->command.directory, .limits = s->command.limits,
		.log_fd = s->foreground ? -1 : open_output(s),
		.group = s->foreground, .stdio = foreground_stdio,
		.keep_fds = s->device_locks, .n_keep = supervisor_lock_count(s),
		.devices = devices, .n_devices = s->run.configuration.replicas,
		.record = record_leader, .record_arg = s,
	};
	int rc = child_start(&child, err) < 0 ? -1 : 0;

	if (child.log_fd >= 0)
		close(child.log_fd);
	return rc;
}

/* Returns the directory of the job's checkpoints: the declared one, or one of ours, made at the
 * first run. */
static char *checkpoint_directory(const struct supervisor *s, struct err *err)
{
	char *dir = supervisor_checkpoint_dir(s);

	if (!s->command.checkpoint_dir && paths_make_directory(dir, err)) {
		free(dir);
		return NULL;
	}
	return dir;
}

/* Reads the job again, because its last run has ended since the first reading. */
static int reload_job(struct supervisor *s, struct err *err)
{
	struct job job;

	if (store_job_get(&s->store, s->run.job_id, &job, err))
		return -1;
	job_release(&s->job);
	s->job = job;
	return 0;
}

/* A job whose helper cannot be found runs without the helper. */
static void add_torch_helper(struct supervisor *s, struct strings *env)
{
	bool wanted = declaration_has_torch_helper(&s->job.declared);
	char *helper = wanted ? paths_data("torch") : NULL;

	if (helper)
		environment_for_torch(&s->job, &s->command, helper, env);
	else if (wanted)
		snprintf(s->run.helper, sizeof(s->run.helper),
			 "not loaded: share/pollux/torch is not beside the program");
	free(helper);
}

/* Moves what another job left under the number of the job out of the job's way. */
static int claim_files(struct supervisor *s, struct err *err)
{
	struct text said = TEXT_INIT;
	char *id = NULL;
	int rc = -1;

	if (store_identity(&s->store, &id, err) == 0)
		rc = earlier_files_move(s->paths, &s->job, id, &said, err);
	if (said.length && store_event_add(&s->store, s->job.id, s->run.id, "leftover", said.data,
					   err))
		rc = -1;
	free(id);
	text_release(&said);
	return rc;
}

/* Returns the directory of the checkpoints; NULL if the job cannot be launched. */
static char *prepare_files(struct supervisor *s, struct err *err)
{
	if (s->command.env_names_only) {
		err_set(err, EX_DATAERR, "the store has no values of the job's variables any more: "
			"cancel the job, then 'pollux requeue --take-env %lld'",
			(long long)s->job.id);
		return NULL;
	}
	return claim_files(s, err) ? NULL : checkpoint_directory(s, err);
}

/* The header has the command of the first node. */
static void write_node_header(struct supervisor *s, const struct strings *argv,
			      const struct template_values *values, const char *code)
{
	struct strings first = { 0 };

	for (size_t i = 0; values->nodes.n > 0 && i < argv->count; i++) {
		char *argument = template_expand_node(argv->items[i], 0);

		strings_add(&first, argument);
		free(argument);
	}
	write_log_header(s, values->nodes.n > 0 ? &first : argv, code);
	strings_release(&first);
}

/* The number of updates for {steps}. The job's samples stay the same, whatever the batch. */
static double total_steps(const struct job *job, const struct run *run)
{
	const struct declaration *d = &job->declared;
	double batch_size = (double)configuration_batch_size(&run->configuration);

	if (job->profile || d->batch.size == 0 || !(batch_size > 0))
		return d->total_steps;
	return growth_steps(d->total_steps, (double)d->batch.size, batch_size,
			    job->progress.steps, job->progress.samples);
}

static void set_environment(struct supervisor *s, const struct run *run,
			    const struct template_values *values, const char *config_file,
			    struct strings *env)
{
	struct run_places places = {
		.store_dir = s->paths->dir, .report_socket = s->handle.socket_path,
		.config_file = config_file,
	};
	struct config config;

	for (size_t i = 0; i < s->command.env.count; i++)
		strings_add(env, s->command.env.items[i]);
	if (text_starts_with(run->devices[0].id, "gpu:") &&
	    !*environment_value(env, "POLLUX_CUDA_DEVICES")) {
		config_load_leniently(&config, s->paths->config);
		strings_set_variable(env, "POLLUX_CUDA_DEVICES",
				     config.cuda_by_uuid ? "uuid" : "index");
	}
	environment_expand(&s->command, values, env);
	environment_for_run(&s->job, run, values, &places, env);
	add_torch_helper(s, env);
}

static int launch_command(struct supervisor *s, struct err *err)
{
	char *checkpoints = prepare_files(s, err);
	struct template_values values = {
		.facts = template_facts_of(&s->job.declared, &s->command),
		.job_id = s->job.id, .run_number = s->run.number,
		.configuration = s->run.configuration,
		.learning_rate = s->job.declared.learning_rate,
		.learning_rate_scale = s->run.learning_rate_scale,
		.typed_learning_rate = job_typed_learning_rate(&s->job),
		.samples = s->job.profile ? (double)NAN : s->job.progress.samples,
		.total_steps = total_steps(&s->job, &s->run),
		.checkpoint_dir = checkpoints, .port = free_port(),
	};
	struct strings argv = { 0 }, wrapped = { 0 }, env = { 0 }, nodes = { 0 };
	struct text code = TEXT_INIT;
	struct run bound;
	char *config_file, *newest, *plan, *gpus;
	int rc = -1;

	if (!checkpoints)
		return -1;
	/* A pass may have changed the processors since the run was assigned. */
	if (store_run_read_cores(&s->store, &s->run, err))
		supervisor_log(s, "%s", err->text);
	bound = s->run;
	bound.devices = supervisor_devices_with_cores(&s->run);
	supervisor_remove_config(s);
	config_file = paths_run(s->paths, s->run.id, "config");
	newest = supervisor_choose_resume(s, checkpoints, &values);
	values.plan_args = plan = supervisor_plan_args(s);
	values.gpu_list = gpus = template_gpu_list(s->run.devices, s->run.configuration.replicas);
	supervisor_name_nodes(s, &nodes, &values);
	if (supervisor_take_code(s, &code, err) == 0 && supervisor_open_log(s, err) == 0 &&
	    supervisor_open_socket(s, err) == 0) {
		template_expand(&s->command.argv, &values, &argv);
		set_environment(s, &bound, &values, config_file, &env);
		write_node_header(s, &argv, &values, code.data);
		s->log_offset = lseek(s->log_fd, 0, SEEK_END);
		oom_watch_start(&s->oom, clock_boot_s());
		if (supervisor_remote)
			supervisor_remote->wrap(s, &argv, &wrapped, &env);
		rc = start_command(s, bound.devices, supervisor_remote ? &wrapped : &argv, &env,
				   err);
	}
	text_release(&code);
	strings_release(&argv);
	strings_release(&wrapped);
	strings_release(&env);
	free(bound.devices);
	strings_release(&nodes);
	free(config_file);
	free(newest);
	free(plan);
	free(gpus);
	free(checkpoints);
	return rc;
}

/* Returns how long a progress bar must live before its steps count. A profile uses a shorter time
 * than a job, and almost none if an earlier point found its steps in the log. */
static double bar_life_s(struct supervisor *s)
{
	double life_s = PROFILE_BAR_LIFE_S;
	struct run_list runs;
	struct err err;

	if (store_runs_of_job(&s->store, s->job.id, &runs, &err)) {
		supervisor_log(s, "%s", err.text);
		return life_s;
	}
	for (int i = 0; i < runs.count; i++)
		if (runs.items[i].id != s->run.id && isfinite(runs.items[i].first_step_s) &&
		    !strncmp(runs.items[i].step_source, "log:", 4))
			life_s = PROFILE_KNOWN_BAR_LIFE_S;
	run_list_release(&runs);
	return life_s;
}

/* A job that is to stop when its loss diverges, and names no metric, has its losses read. */
static int watch_metrics(struct supervisor *s, struct err *err)
{
	struct strings losses = { 0 };
	int rc;

	if (s->command.metric_regexes.count > 0 || s->job.profile || s->job.declared.stop_nan <= 0)
		return log_watch_add_metrics(&s->log_watch, &s->command.metric_regexes, err);
	strings_add(&losses, recorder_losses_in_log);
	rc = log_watch_add_metrics(&s->log_watch, &losses, err);
	strings_release(&losses);
	return rc;
}

/* Watches the log, which gives only times: a job whose log cannot be read runs all the same. */
void supervisor_watch_log(struct supervisor *s)
{
	char *path = paths_log(s->paths, s->job.id);
	struct err err;
	bool open = log_watch_open(&s->log_watch, path, s->log_offset, s->command.step_regex,
				   &err) == 0;

	free(path);
	if (!open)
		supervisor_log(s, "%s", err.text);
	if (open && watch_metrics(s, &err))
		supervisor_log(s, "%s", err.text);
	if (open) {
		steps_expect_epochs(s->log_watch.steps, epochs_of_command(&s->command.argv));
		log_watch_learn(&s->log_watch);
	}
	if (open && s->job.declared.total_steps > 0)
		steps_expect_total(s->log_watch.steps, s->job.declared.total_steps);
	if (open && s->job.profile)
		steps_set_bar_life(s->log_watch.steps, bar_life_s(s));
}

int supervisor_launch(struct supervisor *s, struct err *err)
{
	if (!store_is_there(&s->store))
		return err_set(err, EX_NOINPUT, "the store was removed");
	if (reload_job(s, err))
		return -1;
	recorder_begin(&s->recorder, &s->job);
	recorder_watch_values(&s->recorder, s->job.profile ? 0 : s->job.declared.stop_nan,
			      &s->command.metric_regexes);
	if (recorder_read_rungs(&s->recorder, &s->store, s->job.id, err))
		return -1;
	s->position_fd = kept_position_create(s->paths, &s->run);
	if (s->foreground)
		foreground_tell_limit(s);
	if (launch_command(s, err))
		return -1;
	supervisor_watch_log(s);
	supervisor_keep_position(s, clock_boot_s());
	return 0;
}
