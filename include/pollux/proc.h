/* proc.h - processes of this machine, as /proc shows them. */
#ifndef POLLUX_PROC_H
#define POLLUX_PROC_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "pollux/err.h"
#include "pollux/text.h"

/* Finds a line of /proc/PID/NAME, as file_find_line() does. */
bool proc_find_line(pid_t pid, const char *name, const char *word, char *rest, size_t size);
DIR *proc_open_dir(pid_t pid, const char *name);	/* /proc/PID/NAME; NULL: not there */

/* Clock ticks from boot to the start of the process; 0: there is no such process. Pid and start
 * ticks together name one process of this boot. A zombie counts as a process. */
int64_t proc_start_ticks(pid_t pid);

/* Clock ticks for which the process has computed; 0: there is no such process. */
int64_t proc_cpu_ticks(pid_t pid);

struct pid_list {
	pid_t *items;	/* owned */
	int count;
};
void pid_list_add(struct pid_list *list, pid_t pid);
bool pid_list_has(const struct pid_list *list, pid_t pid);
/* Lists the numbers that a directory has names of: the processes of /proc, the threads of
 * /proc/PID/task. -1: it cannot be read. */
int pid_list_read(struct pid_list *list, const char *directory);

/* A process belongs to a group if one of these marks is found on the process. */
struct proc_marks {
	/* The process descends from this one; 0: not used. A subreaper keeps its descendants when
	 * their parents die. */
	pid_t ancestor;
	pid_t session;		/* the process is in this session; 0: not used */
	/* "NAME=value" in the environment of the process, also after the process has left the
	 * session; NULL: not used. */
	const char *variable;
	/* Directory of a control group: the process is in the group, or in one below; NULL: not
	 * used. */
	const char *group;
};

/* Lists the processes of the control group in this directory and of the groups below. A
 * directory that cannot be read has none. */
void proc_group_list(const char *directory, struct pid_list *list);

/* List the living processes (no zombies) with one of the marks, without the caller; hidden ones,
 * too, that are in the group, or a child of one with a mark. -1: /proc
 * cannot be read; the list is then empty and says nothing. */
int proc_find(const struct proc_marks *marks, struct pid_list *list);
void pid_list_release(struct pid_list *list);
/* True if the process cannot run before it is continued: it is stopped, or asleep in the kernel,
 * where a stop signal that was sent meets it before it runs on; or has ended. */
bool proc_is_stopped(pid_t pid);
/* True if a stop signal or a debugger holds the process: nobody has to have stopped one that is
 * asleep in the kernel, waiting for a disk. */
bool proc_was_stopped(pid_t pid);
/* What a process does about a signal that would end it otherwise. */
enum proc_heed {
	PROC_HEEDS_NOT,
	PROC_BLOCKS,		/* a process also blocks its signals while it forks */
	PROC_IGNORES,
	PROC_HANDLES,
};
enum proc_heed proc_heed(pid_t pid, int signal);
/* For a child of fork(): it gets the signal when its parent ends. parent: taken before fork().
 * False: the parent has ended already, so the signal never comes. */
bool proc_dies_with(pid_t parent, int signal);
/* For a child that may hang in a driver, where not even SIGKILL ends it: waits for its end no
 * longer than this, and reaps it. False: it has not ended. status: as of wait(2), or NULL. */
bool proc_reap(pid_t pid, double limit_s, int *status);
/* True if the process exists and is no zombie, and /proc shows it. */
bool proc_lives(pid_t pid);
/* True if there is such a process, of another user, of which /proc shows nothing: it is mounted
 * with hidepid. Whether it is a zombie cannot be told. Nothing follows from what is missing in
 * /proc. */
bool proc_is_hidden(pid_t pid);
/* True if /proc hides the processes of other users from this one. */
bool proc_hides_others(void);
/* Adds those children of a process, which is visible, that are hidden. */
void proc_add_hidden_children(pid_t pid, struct pid_list *list);
/* True if this one process lives and has one of the marks. */
bool proc_bears(pid_t pid, const struct proc_marks *marks);
/* As proc_bears(), for a process that may have ended, but was not reaped. A zombie has no
 * environment. */
bool proc_bore(pid_t pid, const struct proc_marks *marks);

struct text;
/* Adds the environment that the process was started with, each string with its NUL. False: the
 * process is gone, or belongs to somebody else. */
bool proc_environment(pid_t pid, struct text *t);

struct proc_times {
	pid_t parent;
	int64_t start_ticks;
	double cpu_s;		/* processor time of its threads, without that of its children */
	bool leads_terminal;	/* leads the session of a terminal, which its end hangs up */
};
/* False: there is no such process. */
bool proc_times(pid_t pid, struct proc_times *times);
/* True if the first thread sleeps until a child of the process ends, as a shell does. */
bool proc_waits_for_child(pid_t pid);

/* The pipes, socket pairs and terminals by which a process gives its output to another one, each by
 * a number that is the same at both of its ends; 0: none. */
#define PROC_STANDARD 2
#define PROC_PRINTS 6
#define PROC_READS 16
struct proc_streams {
	/* standard output, standard error, and then other pipes, the first ones first */
	int64_t prints[PROC_PRINTS];
	/* pipes and sockets that it reads, and terminals that it emulates, the first ones first */
	int64_t reads[PROC_READS];
};
void proc_streams(pid_t pid, struct proc_streams *streams);

struct proc_info {
	bool lives;		/* and is no zombie; the other members are known only then */
	bool hidden;		/* proc_is_hidden(): lives is false then */
	int64_t start_ticks;
	double age_s;
	char owner[33];		/* name of the user, else the number */
	char command[17];	/* the kernel's short form of the command */
};

void proc_look(pid_t pid, struct proc_info *info);

/* True if a file whose path has this part is mapped by the process; false also where that cannot be
 * read. */
bool proc_has_loaded(pid_t pid, const char *part);

/* The id of the container that the process is in, by its control group, of version 1 or 2. False,
 * and "": in none, or in that of the caller, or it cannot be read. */
#define PROC_CONTAINER_SIZE 65
bool proc_container(pid_t pid, char id[PROC_CONTAINER_SIZE]);
/* True if a process in the container lives. */
bool proc_container_lives(const char *id);
/* The same as proc_container() for a line of /proc/PID/cgroup. */
bool proc_container_in(const char *line, char id[PROC_CONTAINER_SIZE]);
/* "process 12 (sleep) of root", "process 12 of another user, which is not visible here" */
#define PROC_TEXT_SIZE 112
const char *proc_describe(pid_t pid, char text[PROC_TEXT_SIZE]);
/* True if the kernel's short form of the command is this name. */
bool proc_has_name(pid_t pid, const char *name);
/* The letter of the state in /proc/PID/stat: 'R', 'S', 'D', 'T' ...; 0: there is no such
 * process. A process that lives on after its first thread has ended is 'R', or 'T' if all of its
 * other threads are stopped. */
char proc_state(pid_t pid);
/* True if a pid that the kernel tells a driver is the same pid here. False in a container with
 * pids of its own. */
bool proc_sees_all(void);

/* The path of this program; where a new version has replaced it meanwhile, that of the new one. */
int proc_program(char *path, size_t size, struct err *err);

/* A line of /proc/meminfo, such as "MemTotal:"; 0: it cannot be read. */
int64_t proc_memory_bytes(const char *line);

/* Memory that the living processes with one of the marks have, without the caller. A page that n
 * processes share counts 1/n for each of them. Takes some 20 ms for each GiB. */
int64_t proc_used_bytes(const struct proc_marks *marks);
/* The same, but a shared page counts for each process; quick. */
int64_t proc_resident_bytes(const struct proc_marks *marks);

/* --- which processes have a file open --- */

/* Lists the processes, without the caller, that have the file open, as far as /proc shows them: to
 * a user, those of this user. counts: by which descriptors; NULL: any. */
void proc_users_of_file(const char *path, bool (*counts)(pid_t pid, const char *fd),
			struct pid_list *list);

/* --- limits --- */

/* For the child of a process that blocks, ignores or catches signals, before it executes another
 * program: blocks none; and gives them their default actions, too. */
void signals_unblock(void);
void signals_reset(void);

/* The umask, the nice value and the resource limits of a process, as one text, so that a
 * job runs under those of its submission and not under those of cron. */

/* Captures what this process has: "umask=0022 nice=0 nofile=1024 stack=unlimited ..."; limits are
 * the soft ones. The caller frees the text. */
char *limits_capture(void);

/* Gives this process those of the text; NULL: changes nothing. A soft limit is at most the hard
 * limit here; a nice value that this process may not have stays as it is. */
void limits_apply(const char *text);

/* A limit of this process that jobs of other submissions would not have, and that no process of
 * theirs could raise, as an option of ulimit: "-v" or another. NULL: there is none. */
const char *limits_for_all(void);

/* --- another program that is asked something, and has so long to answer: question.c ---
 *
 * The program leads a process group, in which all that it starts is killed with it when the time is
 * over. It dies with its caller. */

struct question {
	/* argv[0]: its path, or its name in the PATH of env */
	char *const *argv, **env;
	double until_boot_s;
	struct text *answer;		/* gets its standard output, 64 MB at most; NULL: dropped */
	struct text complaint;		/* gets its standard error, 4 KB at most */
	const struct text *input;	/* its standard input; NULL: empty */
	const char *directory;		/* where it runs; NULL: where this process is */
	/* its time is over when there is something to read on standard input, or that has ended */
	bool yields;
};

/* Returns the status as wait(2) has it; -1 with *err: EX_TEMPFAIL, it had no end in time. A program
 * that cannot be executed ends with status QUESTION_NO_PROGRAM. */
#define QUESTION_NO_PROGRAM 127
int question_ask(struct question *q, struct err *err);

#endif
