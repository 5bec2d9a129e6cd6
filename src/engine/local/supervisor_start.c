/* supervisor_start.c - from an assigned run to a running command: its devices, the code, files that
 * are in its way, and what it is told. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "pollux/code.h"
#include "pollux/config.h"
#include "pollux/environment.h"
#include "pollux/execution_plan.h"
#include "pollux/supervise.h"
#include "supervisor_parts.h"

int supervisor_take_devices(struct supervisor *s, bool *taken, struct err *err)
{
	char *group = NULL, *store_id = NULL;
	bool locked;
	int rc;

	*taken = false;
	if (supervisor_lock_devices(s, &locked, err))
		return -1;
	if (!locked)
		return 0;
	s->handle.supervisor_pid = getpid();
	s->handle.guardian_pid = s->guardian_pid;
	/* Without a control group the guardian, if there is one, keeps the run's processes
	 * together; where these belong to a manager of machines, they stay in its group. */
	if (!supervisor_remote && !s->guardian_pid &&
	    store_identity(&s->store, &store_id, &s->err) == 0)
		group = run_group_make(s->paths, s->run.id, store_id, &s->err);
	free(store_id);
	if (group) {
		free(s->handle.group);
		s->handle.group = group;
	}
	supervisor_update_handle(s);
	rc = store_run_claim(&s->store, s->run.id, s->run.handle, NAN, taken, err);
	if (*taken)
		s->run.launch_boot_s = clock_boot_s();
	else
		supervisor_leave_locks(s);
	return rc;
}

/* --- the code --- */

#define NOT_EXECUTABLE 126

/* Adds how the code has changed since the first run, or since the submission. */
static void compare(struct supervisor *s, struct text *said)
{
	const struct job_command *c = &s->command;
	const struct code_asking asking = {
		.dir = s->paths->dir, .variables = c->env.items, .limit_s = CODE_LIMIT_S,
	};
	struct code_state before = c->first_code;
	const char *since = before.tree[0] ? "the first run" : "it was submitted";
	struct err err;

	if (!before.tree[0] && c->git_commit && c->git_tree) {
		snprintf(before.commit, sizeof(before.commit), "%.64s%s", c->git_commit,
			 c->git_dirty ? "+" : "");
		snprintf(before.tree, sizeof(before.tree), "%.64s", c->git_tree);
	}
	if (code_state_read(c->repository, &asking, &s->run.code, NULL, &err)) {
		if (before.tree[0])
			text_addf(said, "whether the code changed since %s is not known: %s",
				  since, err.text);
	} else if (code_differs(&before, &s->run.code)) {
		text_addf(said, "code changed since %s: ", since);
		code_add_difference(c->repository, &asking, &before, &s->run.code, said);
	}
}

/* Has the command run in the job's snapshot, if it has one. Else notes the state of the code, and
 * adds to *said, and to the job's events, that it differs from that of the first run (of the first
 * run: from that of the submission). git gets CODE_LIMIT_S; what git does not tell stops no
 * launch. -1 with *err (126): the snapshot is gone. */
static int take_code(struct supervisor *s, struct text *said, struct err *err)
{
	struct job_command *c = &s->command;
	const struct snapshot_command command = { &c->program, &c->directory, &c->argv, &c->env };

	if (s->job.declared.snapshot && !s->job.profile) {
		if (c->snapshot_dir && c->repository)
			return snapshot_enter(c->snapshot_dir, c->repository, &command, err);
		return err_set(err, NOT_EXECUTABLE, "the snapshot of the job's code was pruned: "
			       "'pollux again %lld' makes one of the present code",
			       (long long)s->job.id);
	}
	if (!c->repository || s->job.profile || s->foreground)
		return 0;
	compare(s, said);
	if (!(s->run.code.tree[0] &&
	      supervisor_note(s, store_run_set_code(&s->store, &s->run, &s->err))) &&
	    said->length)
		supervisor_add_event(s, "code", said->data);
	return 0;
}

/* --- files of another job in its way --- */

#define CLAIM_SIZE 128
#define SHORT_ID 8		/* characters of a store's name in the name of a file */

/* The owner of the files, as claimed: "STORE TIME", or "STORE" if an earlier pollux wrote the
 * claim. */
struct claim {
	char bytes[CLAIM_SIZE];
	const char *store;	/* "": nobody has */
	const char *time;	/* "": unknown */
};

/* Renames path, if there is such a file, and says so. whose: the former owner, in words. */
static int move_file(const char *path, const struct claim *owner, const char *whose,
		     struct text *said, struct err *err)
{
	char *base = xasprintf("%s.of-%.*s", path, SHORT_ID,
			       *owner->store ? owner->store : "unknown");
	char *to = xstrdup(base);
	int rc = 0;

	for (int i = 2; access(to, F_OK) == 0; i++) {
		free(to);
		to = xasprintf("%s-%d", base, i);
	}
	if (rename(path, to) == 0)
		text_addf(said, "%s'%s' of %s is now '%s'", said->length ? "; " : "", path, whose,
			  to);
	else if (errno != ENOENT)
		rc = err_set(err, EX_CANTCREAT, "cannot rename '%s', which is of %s: %s", path,
			     whose, strerror(errno));
	free(base);
	free(to);
	return rc;
}

/* Claims the log and the checkpoint directory for the job, whose first or next run begins. What
 * belongs to another job gets a new name: the old one, ".of-", and the name of that job's store.
 * Files that nobody has claimed belong to a job that has run before, from a time before such
 * claims. said gets one sentence if something was renamed, else nothing. */
static int claim_files(const struct supervisor *s, const char *store_id, struct text *said,
		       struct err *err)
{
	long long id = s->job.id;
	char *log = paths_log(s->paths, id), *checkpoints = paths_checkpoints(s->paths, id);
	char *path = xasprintf("%s/logs/%lld.store", s->paths->dir, id);
	char *mine = xasprintf("%s %.6f", store_id, s->job.submit_time_s);
	char *time = strchr(mine, ' ') + 1;
	bool same_store, same_time, is_foreign;
	struct claim owner;
	int fd = file_open(path, O_RDONLY | O_NOFOLLOW, 0), rc = 0;
	ssize_t n = fd >= 0 ? read(fd, owner.bytes, CLAIM_SIZE - 1) : 0;
	char *end;

	if (fd >= 0)
		close(fd);
	owner.bytes[n > 0 ? n : 0] = '\0';
	end = owner.bytes + strspn(owner.bytes, "0123456789abcdef");
	owner.store = owner.bytes;
	owner.time = *end == ' ' ? end + 1 : "";
	*end = '\0';
	same_store = !strcmp(owner.store, store_id);
	same_time = same_store && !strcmp(owner.time, time);
	is_foreign = *owner.store ? !same_store || (*owner.time && !same_time)
				  : s->job.progress.runs <= 1;
	if (is_foreign) {
		const char *whose = same_store ? "a lost job of the same number" : "another store";

		rc = move_file(log, &owner, whose, said, err) ||
		     move_file(checkpoints, &owner, whose, said, err) ? -1 : 0;
	}
	if (rc == 0 && !same_time)
		rc = file_replace(path, mine, strlen(mine), err);
	free(log);
	free(checkpoints);
	free(path);
	free(mine);
	return rc;
}

/* --- the command --- */

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

static int start_command(struct supervisor *s, const struct device *devices,
			 const struct strings *argv, const struct strings *env, struct err *err)
{
	int n = s->devices.n, *locks = xmalloc(2 * (size_t)n * sizeof(*locks));
	struct child child = {
		.program = supervisor_remote ? argv->items[0] : s->command.program,
		.argv = argv, .env = env,
		.directory = s->command.directory, .limits = s->command.limits,
		.log_fd = s->foreground ? -1 : supervisor_open_output(s),
		.group = s->foreground, .stdio = foreground_stdio,
		.keep_fds = locks,
		.devices = devices, .n_devices = s->run.configuration.replicas,
		.record = supervisor_record_leader, .record_arg = s,
	};
	int rc;

	if (run_has_no_device(&s->run))
		child.n_devices = s->run.cores[0] ? 1 : 0;
	for (int i = 0; i < n; i++) {
		locks[child.n_keep++] = s->devices.launch[i].own;
		locks[child.n_keep++] = s->devices.launch[i].shared;
	}
	rc = child_start(&child, err) < 0 ? -1 : 0;
	if (child.log_fd >= 0)
		close(child.log_fd);
	free(locks);
	return rc;
}

static char *plan_args(const struct supervisor *s)
{
	struct execution_plans plans;
	const struct execution_plan *plan;
	struct err ignored;
	char *args;

	if (execution_plans_parse(s->job.declared.plans, &plans, &ignored))
		return NULL;
	plan = execution_plans_find(&plans, s->run.configuration.plan);
	args = plan ? xstrdup(plan->args) : NULL;
	execution_plans_release(&plans);
	return args;
}

/* Claims the files of the job. Returns the directory of its checkpoints, the declared one or one of
 * ours, made at the first run; NULL if the job cannot be launched. */
static char *prepare_files(struct supervisor *s, struct err *err)
{
	struct text said = TEXT_INIT;
	char *id = NULL, *dir = NULL;
	int rc = -1;

	if (s->command.env_names_only) {
		err_set(err, EX_DATAERR, "the store has no values of the job's variables any more: "
			"cancel the job, then 'pollux requeue --take-env %lld'",
			(long long)s->job.id);
		return NULL;
	}
	if (store_identity(&s->store, &id, err) == 0)
		rc = claim_files(s, id, &said, err);
	if (said.length && store_event_add(&s->store, s->job.id, s->run.id, "leftover", said.data,
					   err))
		rc = -1;
	free(id);
	text_release(&said);
	if (rc == 0)
		dir = supervisor_checkpoint_dir(s);
	if (dir && !s->command.checkpoint_dir && paths_make_directory(dir, err)) {
		free(dir);
		dir = NULL;
	}
	return dir;
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
			    const struct template_values *values, struct strings *env)
{
	char *config_file = paths_run(s->paths, run->id, "config");
	struct run_places places = {
		.store_dir = s->paths->dir, .report_socket = s->handle.socket_path,
		.config_file = config_file,
	};
	char *helper = declaration_offers_torch_helper(&s->job.declared) ? paths_data("torch")
									  : NULL;
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
	if (helper)
		environment_for_torch(&s->job, &s->command, helper, env);
	else if (declaration_has_torch_helper(&s->job.declared))
		snprintf(s->run.helper, sizeof(s->run.helper),
			 "not loaded: share/pollux/torch is not beside the program");
	free(helper);
	free(config_file);
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
	char *newest, *plan, *gpus;
	int rc = -1;

	if (!checkpoints)
		return -1;
	/* A pass may have changed the processors since the run was assigned. */
	supervisor_note(s, store_run_read_cores(&s->store, &s->run, &s->err));
	bound = s->run;
	bound.devices = supervisor_devices_with_cores(&s->run);
	if (run_has_no_device(&s->run))
		bound.devices[0].cores = s->job.declared.cpu_cores;
	supervisor_unlink(s, "config");	/* another store's run may have left these */
	supervisor_unlink(s, "config.new");
	newest = supervisor_choose_resume(s, checkpoints, &values);
	values.plan_args = plan = plan_args(s);
	values.gpu_list = gpus = template_gpu_list(s->run.devices, s->run.configuration.replicas);
	if (run_is_elsewhere(&s->run)) {
		run_node_names(&s->run, &nodes);
		values.nodes = (struct template_nodes){ (int)nodes.count, nodes.items[0] };
		if (supervisor_remote)
			values.nodes.master = supervisor_remote->master;
	}
	if (take_code(s, &code, err) == 0 && supervisor_open_log(s, err) == 0 &&
	    supervisor_open_socket(s, err) == 0) {
		template_expand(&s->command.argv, &values, &argv);
		set_environment(s, &bound, &values, &env);
		supervisor_begin_log(s, &argv, &values, code.data);
		supervisor_begin_usage(s);
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
	free(newest);
	free(plan);
	free(gpus);
	free(checkpoints);
	return rc;
}

int supervisor_launch(struct supervisor *s, struct err *err)
{
	struct job job;

	if (!store_is_there(&s->store))
		return err_set(err, EX_NOINPUT, "the store was removed");
	/* its last run has ended since the first reading */
	if (store_job_get(&s->store, s->run.job_id, &job, err))
		return -1;
	job_release(&s->job);
	s->job = job;
	recorder_begin(&s->recorder, &s->job);
	recorder_watch_values(&s->recorder, s->job.profile ? 0 : s->job.declared.stop_nan,
			      &s->command.metric_regexes);
	if (recorder_read_rungs(&s->recorder, &s->store, s->job.id, err))
		return -1;
	supervisor_begin_position(s);
	if (s->foreground)
		foreground_tell_limit(s);
	if (launch_command(s, err))
		return -1;
	supervisor_watch_log(s);
	supervisor_keep_position(s, clock_boot_s());
	return 0;
}
