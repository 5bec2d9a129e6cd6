/* proc.c - find processes by the marks they bear. */
#include <ctype.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/proc.h"
#include "pollux/text.h"

struct process {
	pid_t pid, parent, session;
	/* A thread that lives: the first one, or another one of a process whose first thread has
	 * ended. Only a living thread shows environment and memory. */
	pid_t thread;
	char state;
	int n_threads;
	int64_t resident_pages;
};

struct process_table {
	struct process *items;
	int count;
};

bool proc_find_line(pid_t pid, const char *name, const char *word, char *rest, size_t size)
{
	char path[320];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return file_find_line(path, word, rest, size);
}

DIR *proc_open_dir(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return opendir(path);
}

/* The fields of /proc/PID/stat by their places in proc(5). */
enum {
	STATE = 3, PARENT, GROUP, SESSION, TERMINAL, USER_TICKS = 14, SYSTEM_TICKS,
	THREADS = 20, START_TICKS = 22, RESIDENT_PAGES = 24, N_FIELDS,
};

/* The command before them stands in parentheses and may hold anything. False, and all 0: there is
 * no such process. */
static bool read_fields(pid_t pid, int64_t fields[N_FIELDS])
{
	char path[32], buffer[1024], *end;

	memset(fields, 0, N_FIELDS * sizeof(*fields));
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (pid <= 0 || file_read_head(path, 0, buffer, sizeof(buffer)) <= 0)
		return false;
	end = strrchr(buffer, ')');
	if (!end || end[1] != ' ' || !end[2])
		return false;
	fields[STATE] = (unsigned char)end[2];
	end += 3;
	for (int i = PARENT; i < N_FIELDS; i++)
		fields[i] = strtoll(end, &end, 10);
	return true;
}

int64_t proc_start_ticks(pid_t pid)
{
	int64_t fields[N_FIELDS];

	read_fields(pid, fields);
	return fields[START_TICKS];
}

int64_t proc_cpu_ticks(pid_t pid)
{
	int64_t fields[N_FIELDS];

	read_fields(pid, fields);
	return fields[USER_TICKS] + fields[SYSTEM_TICKS];
}

bool proc_times(pid_t pid, struct proc_times *times)
{
	int64_t fields[N_FIELDS];

	if (!read_fields(pid, fields))
		return false;
	*times = (struct proc_times){
		.parent = (pid_t)fields[PARENT], .start_ticks = fields[START_TICKS],
		.leads_terminal = fields[SESSION] == pid && fields[TERMINAL] != 0,
		.cpu_s = (double)(fields[USER_TICKS] + fields[SYSTEM_TICKS]) /
			 (double)sysconf(_SC_CLK_TCK),
	};
	return true;
}

bool proc_waits_for_child(pid_t pid)
{
	char place[64];

	/* dash, zsh and mksh wait for the signal that tells of the end */
	return proc_find_line(pid, "wchan", "", place, sizeof(place)) &&
	       (!strcmp(place, "do_wait") || strstr(place, "sigsuspend"));
}

static bool read_stat(pid_t pid, struct process *process)
{
	int64_t fields[N_FIELDS];
	bool there = read_fields(pid, fields);

	*process = (struct process){
		.pid = pid, .thread = pid, .state = (char)fields[STATE],
		.parent = (pid_t)fields[PARENT], .session = (pid_t)fields[SESSION],
		.n_threads = (int)fields[THREADS], .resident_pages = fields[RESIDENT_PAGES],
	};
	return there;
}

/* A process whose first thread has ended (pthread_exit in main) is shown as a zombie and lives on
 * in its other threads: it runs unless all of these are stopped. */
static bool read_process(pid_t pid, struct process *process)
{
	scoped(pid_list_release) struct pid_list threads = { 0 };
	struct process thread;
	char path[32];

	if (!read_stat(pid, process))
		return false;
	if (process->state != 'Z' || process->n_threads <= 1)
		return true;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	pid_list_read(&threads, path);
	for (int i = 0; i < threads.count && process->state != 'R'; i++) {
		if (!read_stat(threads.items[i], &thread) || strchr("ZX", thread.state))
			continue;
		process->thread = thread.pid;
		process->resident_pages = thread.resident_pages;
		process->state = (char)(strchr("Tt", thread.state) ? thread.state : 'R');
	}
	return true;
}

static int read_table(struct process_table *table)
{
	scoped(pid_list_release) struct pid_list all = { 0 };
	int rc = pid_list_read(&all, "/proc");

	*table = (struct process_table){ xcalloc((size_t)all.count, sizeof(*table->items)), 0 };
	for (int i = 0; i < all.count; i++)
		table->count += read_process(all.items[i], &table->items[table->count]);
	return rc;
}

bool proc_environment(pid_t pid, struct text *t)
{
	char path[64], buffer[16384];
	scoped(close_fd) int fd = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	fd = file_open(path, O_RDONLY, 0);
	if (fd < 0)
		return false;
	while ((n = read(fd, buffer, sizeof(buffer))) > 0)
		text_add_bytes(t, buffer, (size_t)n);
	return n == 0;
}

static bool environment_has(pid_t pid, const char *variable)
{
	scoped(text_release) struct text t = TEXT_INIT;

	proc_environment(pid, &t);	/* of a process that ends meanwhile, as far as it is read */
	return memmem(t.data, t.length, variable, strlen(variable) + 1) != NULL;
}

static bool descends_from(const struct process_table *table, const struct process *process,
			  pid_t ancestor)
{
	for (int depth = 0; process && process->parent > 1 && depth < 1000; depth++) {
		const struct process *parent = NULL;

		if (process->parent == ancestor)
			return true;
		for (int i = 0; !parent && i < table->count; i++)
			if (table->items[i].pid == process->parent)
				parent = &table->items[i];
		process = parent;
	}
	return false;
}

/* Reads the table and keeps in it only the living processes with one of the marks, and those that
 * the table cannot have: hidden ones of the group, and hidden children of what is marked, such as a
 * program that became another user's. */
static int read_marked(const struct proc_marks *marks, struct process_table *marked)
{
	scoped(pid_list_release) struct pid_list group = { 0 }, hidden = { 0 };
	struct process_table table;
	int rc;

	*marked = (struct process_table){ 0 };
	if (marks->group)
		proc_group_list(marks->group, &group);
	rc = read_table(&table);
	for (int i = 0; i < table.count; i++) {
		const struct process *p = &table.items[i];

		if (p->pid == getpid() || p->state == 'Z' || p->state == 'X' ||
		    !(pid_list_has(&group, p->pid) ||
		      (marks->session && p->session == marks->session) ||
		      (marks->ancestor && descends_from(&table, p, marks->ancestor)) ||
		      (marks->variable && environment_has(p->thread, marks->variable))))
			continue;
		marked->items = xgrow(marked->items, marked->count, sizeof(*marked->items));
		marked->items[marked->count++] = *p;
	}
	free(table.items);
	if (proc_hides_others()) {
		for (int i = 0; i < group.count; i++)
			if (proc_is_hidden(group.items[i]))
				pid_list_add(&hidden, group.items[i]);
		if (marks->ancestor > 0)
			proc_add_hidden_children(marks->ancestor, &hidden);
		for (int i = 0; i < marked->count; i++)
			proc_add_hidden_children(marked->items[i].pid, &hidden);
	}
	for (int i = 0; i < hidden.count; i++) {
		marked->items = xgrow(marked->items, marked->count, sizeof(*marked->items));
		marked->items[marked->count++] = (struct process){
			.pid = hidden.items[i], .thread = hidden.items[i], .state = 'R',
		};
	}
	return rc;
}

int proc_find(const struct proc_marks *marks, struct pid_list *list)
{
	struct process_table marked;
	int rc = read_marked(marks, &marked);

	*list = (struct pid_list){ 0 };
	for (int i = 0; i < marked.count; i++)
		pid_list_add(list, marked.items[i].pid);
	free(marked.items);
	return rc;
}

/* Of each process its part of the pages that it shares; all its resident pages where that cannot be
 * read. */
int64_t proc_used_bytes(const struct proc_marks *marks)
{
	struct process_table marked;
	int64_t bytes = 0;
	char kib[32];

	read_marked(marks, &marked);
	for (int i = 0; i < marked.count; i++) {
		const struct process *p = &marked.items[i];

		if (proc_find_line(p->pid, "smaps_rollup", "Pss:", kib, sizeof(kib)))
			bytes += strtoll(kib, NULL, 10) * 1024;
		else
			bytes += p->resident_pages * sysconf(_SC_PAGESIZE);
	}
	free(marked.items);
	return bytes;
}

int64_t proc_resident_bytes(const struct proc_marks *marks)
{
	struct process_table marked;
	int64_t pages = 0;

	read_marked(marks, &marked);
	for (int i = 0; i < marked.count; i++)
		pages += marked.items[i].resident_pages;
	free(marked.items);
	return pages * sysconf(_SC_PAGESIZE);
}

char proc_state(pid_t pid)
{
	struct process p;

	return (char)(read_process(pid, &p) ? p.state : '\0');
}

bool proc_dies_with(pid_t parent, int signal)
{
	return prctl(PR_SET_PDEATHSIG, signal) == 0 && getppid() == parent;
}

bool proc_reap(pid_t pid, double limit_s, int *status)
{
	double until_s = clock_boot_s() + limit_s;
	pid_t ended;

	while ((ended = waitpid(pid, status, WNOHANG)) == 0 && clock_boot_s() < until_s)
		poll(NULL, 0, 1);
	return ended != 0;
}

bool proc_lives(pid_t pid)
{
	char state = proc_state(pid);

	return state && !strchr("ZX", state);
}

/* A process that waits for its vforked child, which is stopped before it has executed its program,
 * is 'D' until both go on. */
bool proc_is_stopped(pid_t pid)
{
	struct process p;

	return read_process(pid, &p) ? strchr("TtDZX", p.state) != NULL : !proc_is_hidden(pid);
}

bool proc_was_stopped(pid_t pid)
{
	char state = proc_state(pid);

	return state && strchr("Tt", state);
}

bool proc_bears(pid_t pid, const struct proc_marks *marks)
{
	return proc_lives(pid) && proc_bore(pid, marks);
}

bool proc_bore(pid_t pid, const struct proc_marks *marks)
{
	scoped(pid_list_release) struct pid_list group = { 0 };
	struct process p;
	pid_t ancestor = pid;
	int again = 3;
	bool is_in_group;

	if (!read_process(pid, &p))
		return false;
	if (marks->group)
		proc_group_list(marks->group, &group);
	is_in_group = pid_list_has(&group, pid);
	if (is_in_group || (marks->session && p.session == marks->session) ||
	    (marks->variable && environment_has(p.thread, marks->variable)))
		return true;
	for (int depth = 0; marks->ancestor && depth < 1000; depth++) {
		if (ancestor == marks->ancestor)
			return true;
		if (ancestor <= 1)
			return false;
		if (read_process(ancestor, &p))
			ancestor = p.parent;
		else if (again-- > 0)
			ancestor = pid;	/* a parent has just ended: others have another now */
		else
			return false;
	}
	return false;
}

void pid_list_add(struct pid_list *list, pid_t pid)
{
	list->items = xgrow(list->items, list->count, sizeof(*list->items));
	list->items[list->count++] = pid;
}

int pid_list_read(struct pid_list *list, const char *directory)
{
	scoped(close_dir) DIR *dir = opendir(directory);
	const struct dirent *entry;

	*list = (struct pid_list){ 0 };
	while (dir && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]))
			pid_list_add(list, (pid_t)strtol(entry->d_name, NULL, 10));
	return dir ? 0 : -1;
}

bool pid_list_has(const struct pid_list *list, pid_t pid)
{
	for (int i = 0; i < list->count; i++)
		if (list->items[i] == pid)
			return true;
	return false;
}

void pid_list_release(struct pid_list *list)
{
	free(list->items);
	*list = (struct pid_list){ 0 };
}
