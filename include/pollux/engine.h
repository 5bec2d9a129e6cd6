/* engine.h - where runs are started, looked for, stopped and cleaned up after.
 *
 * The store says what is to be: a run with its devices, a request to stop it, another
 * configuration. An engine makes it so on the machines that it knows, and tells what became of a
 * run. The local engine (src/engine/local) starts a supervisor for each run on this machine. The
 * engine for Slurm (src/engine/slurm) hands runs to Slurm; its supervisors run elsewhere and cannot
 * open the store. A new engine is a directory and an entry in the list of engine.c.
 *
 * Callers know a run by its row in the store, never by a process, a lock or a socket. In that row
 * the engine keeps what it needs to find the run: the handle, a text that begins with the engine's
 * name and that only the engine reads. */
#ifndef POLLUX_ENGINE_H
#define POLLUX_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "pollux/device.h"
#include "pollux/err.h"
#include "pollux/job.h"
#include "pollux/paths.h"
#include "pollux/store_runs.h"

/* How an engine finds a run. */
enum engine_answer {
	ENGINE_UNKNOWN,		/* the engine cannot tell now: the caller changes nothing */
	ENGINE_ALIVE,		/* somebody looks after the run */
	ENGINE_UNATTENDED,	/* nobody does: the run was not started yet, or whoever looked after
				   the run has died and its processes may still be there */
	ENGINE_GONE,		/* no process of the run can exist: the run is to be ended */
};

/* Whose a container is: a program such as docker(1) only asks a service to start it. */
enum engine_container {
	CONTAINER_OF_OTHERS,
	CONTAINER_POSSIBLE,	/* the run has such a program, begun before the container */
	CONTAINER_OF_RUN,	/* such a program wrote its id to the file of --cidfile */
};

/* What keeps the processes of a run together. */
enum engine_containment { CONTAINED_BY_GROUP, CONTAINED_BY_GUARDIAN, CONTAINED_BY_SLURM };
/* "control group", "guardian", "job of Slurm" */
const char *engine_containment_name(enum engine_containment containment);

struct engine_context {
	const struct paths *paths;
	struct store *store;
};

/* Every function returns soon, whatever the machines behind it do: a question that is not answered
 * in time is ENGINE_UNKNOWN, a start that takes long is ENGINE_ALIVE meanwhile. Runs are given as
 * the store has them now. */
struct engine {
	const char *name;
	/* (optional) The beginning of every error that says that the manager of the machines does
	 * not answer. */
	const char *outage;
	double kill_wait_s;	/* from the end of a run's grace to the end of its processes */
	/* The devices with their nodes and links, and who computes on them. */
	int (*list)(const struct device_settings *settings, struct device_list *list,
		    struct err *err);
	/* (optional) Take into the store what runs have written elsewhere, and tell them again what
	 * they may have missed; a pass begins with that. Adds a line for each run for which that
	 * failed. */
	int (*collect)(const struct engine_context *at, struct strings *lines, struct err *err);
	/* Answer for n runs at once; answers[i] is for runs[i]. -1: for none of them. */
	int (*poll)(const struct engine_context *at, const struct run *const *runs, int n,
		    enum engine_answer *answers, struct err *err);
	/* Start an assigned run. Two starts of one run are harmless: only one is carried out. -1
	 * with *err: the start is refused, and the run stays assigned. The engine writes the run's
	 * handle into the store as soon as there is one. */
	int (*start)(const struct engine_context *at, const struct run *run, struct err *err);
	/* (optional) Look after a run whose keeper has died: stop its processes, then end the
	 * run. */
	int (*adopt)(const struct engine_context *at, const struct run *run, struct err *err);
	/* (optional) Ask the run's keeper to stop it although the store cannot be written; the
	 * keeper records that when it can. -1 with *err: the keeper cannot be reached. */
	int (*stop_unrecorded)(const struct engine_context *at, const struct run *run,
			       enum stop_reason reason, struct err *err);
	/* (optional) Continue or end the keepers of runs that have shown no life for a minute,
	 * while passes looked; a run whose keeper was ended is ENGINE_UNATTENDED. Adds a line for
	 * each. */
	void (*mend)(const struct engine_context *at, const struct run *const *runs, int n,
		     struct strings *lines);
	/* (optional) Seconds since the run's keeper last showed that it lives, and its process;
	 * NaN: not known. */
	double (*silent_s)(const struct engine_context *at, const struct run *run, int64_t *pid);
	/* (optional) Add what the manager of the machines says of the run: its number there, its
	 * state, why it waits. One sentence without an end; nothing where the manager does not
	 * tell. */
	void (*describe)(const struct engine_context *at, const struct run *run,
			 struct text *out);
	/* (optional) What keeps the program of the run from going on, such as a stop signal, as a
	 * clause: a constant; NULL: nothing is known. */
	const char *(*stuck)(const struct engine_context *at, const struct run *run);
	/* (optional) Ask for what keeps runs from starting, for 'pollux doctor'; this may take half
	 * a minute. Adds a sentence for each trouble, and what is well. */
	void (*examine)(const struct engine_context *at, struct strings *troubles,
			struct text *well);
	/* Say that the run's row has something new: a request to stop, another configuration. Asks
	 * only; a message that is lost is found by the keeper's next look. */
	void (*wake)(const struct engine_context *at, const struct run *run);
	/* True if a run on such a device can be suspended: its processes stop where they are and
	 * keep their memory, the device goes to other jobs, and the run goes on later, on this
	 * device or on another one of the kind. The run's row says what is wanted (enum
	 * suspension); wake() follows, as for a stop. An engine that cannot do that says so here;
	 * no pass then asks for it. NULL: the engine never can. */
	bool (*suspends)(const struct device *device);
	/* True if a suspended run's memory on such a device can be moved to the host's. NULL: the
	 * engine never can. */
	bool (*freezes)(const struct device *device);
	/* Write down how a run ended that is ENGINE_GONE: its outcome, what was lost. */
	int (*end)(const struct engine_context *at, struct run *run, struct err *err);
	/* Remove the files of runs that are not among the active ones. */
	void (*clean)(const struct engine_context *at, const struct run_list *active);
	/* (optional) The process that the run's command began as, for people who look for it; 0:
	 * none yet. */
	int64_t (*command_pid)(const struct run *run);
	/* (optional) True if a process of this machine belongs to the run. */
	bool (*owns_process)(const struct run *run, int64_t pid);
	/* (optional) Whether the container is one that the run's processes started, as far as the
	 * machine shows; start_ticks: of a process in it. id "": whether it has a program that
	 * starts any. */
	enum engine_container (*container)(const struct run *run, const char *id,
					   int64_t start_ticks);
	/* How the processes of a run that this process starts are kept together. Adds the directory
	 * of the control groups, or why none can be made. */
	enum engine_containment (*containment)(struct text *detail);
	/* True if this stop signal just ends every process of the run, so that none saves anything.
	 * False also if the engine cannot tell. NULL: the engine never can tell. */
	bool (*dies_of)(const struct run *run, int signal);
	/* (optional) Who holds a device that no run and no profile has, in words; NULL: nobody. */
	const char *(*device_holder)(const struct engine_context *at, const struct device *device);
	/* (optional) Which other user has a device that no run here has, in words; NULL: none. */
	const char *(*other_user)(const struct engine_context *at, const struct device *device);
	/* (optional) True if an assigned run waits because others have what it was to get on the
	 * node. */
	bool (*crowded_out)(const struct engine_context *at, const struct run *run,
			    const char *node);
};

extern const struct engine engine_local, engine_slurm;

/* What runs in a job of Slurm: pollux supervise DIRECTORY [PROGRAM ARGV0 ARG ...] */

/* The supervisor of the run in the directory, on the first node. 0, or -1 with *err. */
int slurm_supervise(const char *dir, struct err *err);
/* Runs the program on this node of the run, argv: its path, then its arguments from argv[0] on.
 * Returns its exit status; -1 with *err: it was not begun. */
int slurm_wrap(const char *dir, char *const *argv, struct err *err);

/* The engine that has the run; of a run without a handle, the engine that is to start the run. */
const struct engine *engine_of(const struct run *run);
/* The engine that new runs go to: its devices are the ones given out. It is that of the
 * configuration file when it is first asked for, or of the configuration that was chosen last. */
const struct engine *engine_for_new_runs(void);
struct config;
void engine_choose(const struct config *config);
/* Lists the devices that new runs may get by the configuration, and those that they may not, with
 * the reason. in_full: for people, with all readings. The caller releases the list. */
int engine_devices(const struct config *config, bool in_full, struct device_list *list,
		   struct err *err);

/* Ask for all runs, each engine once. answers has an element for each run. */
int engine_poll(const struct engine_context *at, const struct run_list *runs,
		enum engine_answer *answers, struct err *err);
int engine_poll_one(const struct engine_context *at, const struct run *run,
		    enum engine_answer *answer, struct err *err);
/* Each engine's collect(). */
int engine_collect(const struct engine_context *at, struct strings *lines, struct err *err);
void engine_mend(const struct engine_context *at, const struct run_list *runs,
		 struct strings *lines);
/* Who holds a device of new runs, in words, if it is neither one of these runs, all active ones,
 * nor a profile; NULL: nobody. */
const char *engine_outsider(const struct engine_context *at, const struct run_list *runs,
			    const struct device *device);
/* Start or adopt a run that is ENGINE_UNATTENDED. */
int engine_attend(const struct engine_context *at, const struct run *run, struct err *err);
/* Wake the run's keeper. */
void engine_wake(const struct engine_context *at, const struct run *run);
/* Remove what ended runs have left, on every engine. */
void engine_clean(const struct engine_context *at, const struct run_list *active);

#endif
