/* supervisor_output.c - what a run prints: who writes it into the job's log, what pollux adds
 * there, and what is read in it. */
#include <fcntl.h>
#include <sys/stat.h>

#include "pollux/config.h"
#include "pollux/supervise.h"
#include "supervisor_parts.h"

/* --- written --- */

void supervisor_tend_log(struct supervisor *s)
{
	pid_t before = s->output.keeper.pid;

	supervisor_note(s, log_keeper_tend(&s->output.keeper, s->output.log_fd, s->run.id,
					   &s->err));
	if (s->output.keeper.pid == before || s->output.keeper.pid == 0)
		return;
	s->handle.keeper_pid = s->output.keeper.pid;
	supervisor_update_handle(s);
	if (s->leader.fd >= 0)
		supervisor_note(s, store_run_set_handle(&s->store, s->run.id, s->run.handle,
							&s->err));
}

void supervisor_keeper_ended(struct supervisor *s, int wait_status)
{
	log_keeper_ended(&s->output.keeper, wait_status);
}

int supervisor_open_log(struct supervisor *s, struct err *err)
{
	const char *log = s->output.log_path;

	s->output.log_fd = file_open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (s->output.log_fd < 0)
		err_set(err, EX_CANTCREAT, "cannot open log '%s': %s", log, file_open_why(errno));
	if (s->adopted && s->output.log_fd >= 0) {
		char *path = paths_run(s->paths, s->run.id, "out");

		log_keeper_open(&s->output.keeper, path);
		free(path);
		supervisor_tend_log(s);
	}
	return s->output.log_fd < 0 ? -1 : 0;
}

int supervisor_open_output(struct supervisor *s)
{
	char *path = paths_run(s->paths, s->run.id, "out");
	struct err err;
	int fd = log_keeper_make(&s->output.keeper, path, &err);

	free(path);
	supervisor_tend_log(s);
	if (fd >= 0 && s->output.keeper.pid > 0)
		return fd;
	if (fd >= 0)
		close(fd);
	else
		supervisor_log(s, "%s", err.text);
	log_keeper_close(&s->output.keeper);
	return fcntl(s->output.log_fd, F_DUPFD_CLOEXEC, 0);
}

void supervisor_begin_log(struct supervisor *s, const struct strings *argv,
			  const struct template_values *values, const char *code)
{
	struct text line = TEXT_INIT;
	ssize_t n;

	if (s->run.number > 1)
		text_add(&line, "\n");
	text_addf(&line, "# pollux job %lld run %d on", (long long)s->job.id, s->run.number);
	for (int i = 0; i < s->run.configuration.replicas; i++)
		text_addf(&line, " %s", s->run.devices[i].id);
	if (run_has_no_device(&s->run))
		text_addf(&line, " %d core%s", s->job.declared.cpu_cores,
			  s->job.declared.cpu_cores == 1 ? "" : "s");
	if (s->foreground)
		text_add(&line, ", in the foreground: its output was its terminal's");
	text_addf(&line, "%s%s\nexec", *code ? "; " : "", code);
	for (size_t i = 0; i < argv->count; i++) {
		char *of_first = values->nodes.n > 0 ? template_expand_node(argv->items[i], 0)
						     : NULL;

		text_add(&line, " ");
		text_add_shell_quoted(&line, of_first ? of_first : argv->items[i]);
		free(of_first);
	}
	text_add(&line, "\n");
	log_take_turn(s->output.log_fd);
	n = write(s->output.log_fd, line.data, line.length);
	log_end_turn(s->output.log_fd);
	(void)n;
	text_release(&line);
	s->output.log_offset = lseek(s->output.log_fd, 0, SEEK_END);
}

void supervisor_end_log(const struct supervisor *s)
{
	const struct run *run = &s->run;
	bool stopped = run->outcome == OUTCOME_STOPPED;
	int fd = s->output.log_fd, in;
	char name[SIGNAL_NAME_SIZE], last;
	struct stat st;

	if (fd < 0)
		return;
	log_take_turn(fd);
	/* The last output of a program need not end its line. */
	in = file_open(s->output.log_path, O_RDONLY, 0);
	if (in >= 0 && fstat(in, &st) == 0 && st.st_size > 0 &&
	    pread(in, &last, 1, st.st_size - 1) == 1 && last != '\n')
		dprintf(fd, "\n");
	if (in >= 0)
		close(in);
	if (s->leader.wait_status < 0 && !stopped)
		dprintf(fd, "[%s: %s]\n", s->adopted ? "ended" : "not started",
			run->diagnosis ? run->diagnosis : "");
	else if (stopped)
		dprintf(fd, "[stopped by pollux: %s]\n", stop_reason_words(run->stop_reason));
	else if (run->term_signal > 0)
		dprintf(fd, "[killed by %s]\n", signal_name(name, run->term_signal));
	else
		dprintf(fd, "[exited with status %d]\n", run->exit_code);
	log_end_turn(fd);
}

/* If the configuration cannot be read, the limit is the default. */
void supervisor_limit_log(struct supervisor *s)
{
	double limit_bytes = s->job.declared.log_limit_bytes;
	struct config config;

	if (isfinite(limit_bytes))
		s->output.usual_limit_bytes = 0;
	else if (s->output.usual_limit_bytes <= 0)
		s->output.usual_limit_bytes = config_load(&config, s->paths->config, &s->err)
			? CONFIG_DEFAULT_LOG_LIMIT : config.log_limit_bytes;
	if (!isfinite(limit_bytes))
		limit_bytes = s->output.usual_limit_bytes;
	if (isfinite(limit_bytes) && store_is_there(&s->store))
		supervisor_note(s, log_limit_keep(s->output.log_path, limit_bytes, &s->err));
}

/* --- read --- */

/* Watches the log, which gives only times: a job whose log cannot be read runs all the same. */
void supervisor_watch_log(struct supervisor *s)
{
	const struct declaration *d = &s->job.declared;
	struct log_watch *w = &s->output.watch;
	struct strings losses = { 0 };
	struct run_list runs = { 0 };
	double life_s = PROFILE_BAR_LIFE_S;
	const struct strings *metrics = &s->command.metric_regexes;

	if (supervisor_note(s, log_watch_open(w, s->output.log_path, s->output.log_offset,
					      s->command.step_regex, &s->err)))
		return;
	/* A job that is to stop when its loss diverges and names no metric has its losses read. */
	if (metrics->count == 0 && !s->job.profile && d->stop_nan > 0) {
		strings_add(&losses, recorder_losses_in_log);
		metrics = &losses;
	}
	supervisor_note(s, log_watch_add_metrics(w, metrics, &s->err));
	strings_release(&losses);
	/* Who gives expressions says which metrics count. */
	if (!s->job.profile && s->command.metric_regexes.count == 0)
		log_watch_find_metrics(w);
	if (!s->job.profile)
		log_watch_find_addresses(w);
	steps_expect_epochs(w->steps, epochs_of_command(&s->command.argv));
	log_watch_learn(w);
	if (d->total_steps > 0)
		steps_expect_total(w->steps, d->total_steps);
	if (!s->job.profile)
		return;
	/* How long a progress bar must live before its steps count: a shorter time than for a job,
	 * and almost none if an earlier point found its steps in the log. */
	supervisor_note(s, store_runs_of_job(&s->store, s->job.id, &runs, &s->err));
	for (int i = 0; i < runs.count; i++)
		if (runs.items[i].id != s->run.id && isfinite(runs.items[i].first_step_s) &&
		    !strncmp(runs.items[i].step_source, "log:", 4))
			life_s = PROFILE_KNOWN_BAR_LIFE_S;
	run_list_release(&runs);
	steps_set_bar_life(w->steps, life_s);
}

void supervisor_watch_rest_of_log(struct supervisor *s, const struct kept_position *k)
{
	s->output.log_offset = s->output.log_fd >= 0 ? lseek(s->output.log_fd, 0, SEEK_END) : 0;
	if (k)
		s->output.log_offset = k->log_begin;
	if (s->output.log_fd < 0 ||
	    (s->job.profile && !recorder_wants_log(&s->recorder, &s->run, &s->job)))
		return;
	supervisor_watch_log(s);
	if (k)
		log_watch_catch_up(&s->output.watch, k->log_read);
}

static void take_step(const struct step_event *e, void *arg)
{
	struct supervisor *s = arg;

	if (e->begins) {
		struct steps_summary summary;

		steps_summary(s->output.watch.steps, &summary);
		recorder_begin_log(&s->recorder, &s->run, summary.pattern, summary.first_arrival_s);
	}
	recorder_add_logged(&s->recorder, &s->run, &s->job, e);
}

static void take_metric(const char *name, double value, void *arg)
{
	struct supervisor *s = arg;

	recorder_add_metric(&s->recorder, &s->run, name, value);
}

static void take_found(const char *name, double value, void *arg)
{
	struct supervisor *s = arg;

	recorder_add_found(&s->recorder, &s->run, name, value);
}

static void take_address(enum web_service service, const char *address, void *arg)
{
	struct supervisor *s = arg;

	recorder_add_address(&s->recorder, &s->run, service, address);
}

static void end_steps(struct supervisor *s)
{
	s->output.steps_ended |= s->output.watch.steps != NULL;
	log_watch_end_steps(&s->output.watch);
}

/* The total that was reported is none: that of the log is wanted after all. Of what came meanwhile
 * only the form of the lines is learnt. */
static void begin_steps_again(struct supervisor *s)
{
	struct log_watch *w = &s->output.watch;
	int64_t read = w->fd >= 0 ? w->offset : lseek(s->output.log_fd, 0, SEEK_END);

	s->output.steps_ended = false;
	log_watch_close(w);
	supervisor_watch_log(s);
	log_watch_catch_up(w, read);
}

void supervisor_read_log(struct supervisor *s, double now, bool last)
{
	struct log_watch *w = &s->output.watch;
	const struct log_sinks sinks = {
		take_step, take_metric, take_found, take_address, s,
	};
	struct steps_summary sum;
	int64_t read = w->offset;

	if (last)
		log_keeper_finish(&s->output.keeper, s->output.log_fd);
	if (!recorder_wants_log(&s->recorder, &s->run, &s->job))
		end_steps(s);
	else if (s->output.steps_ended)
		begin_steps_again(s);
	log_watch_look(w, now, last, &sinks);
	if (w->offset != read)
		supervisor_keep_position(s, now);
	if (!last || !w->steps)
		return;
	/* why visible steps may not have counted */
	steps_summary(w->steps, &sum);
	if (sum.n_clipped || sum.n_skipped)
		supervisor_log(s, "of %lld lines of the log, %lld were longer than %d bytes, and "
			       "%lld not looked at: they came too fast, or their pattern takes "
			       "too long", (long long)sum.n_lines, (long long)sum.n_clipped,
			       STEPS_LINE_MAX, (long long)sum.n_skipped);
}

void supervisor_rest_log(struct supervisor *s)
{
	s->output.watch.next_look_boot_s = INFINITY;
}

void supervisor_go_on_log(struct supervisor *s, double now)
{
	s->output.watch.stopped_s = s->run.suspended_s;
	if (s->output.watch.fd >= 0)
		s->output.watch.next_look_boot_s = now;
}
