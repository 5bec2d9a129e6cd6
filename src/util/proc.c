/* proc.c - find processes by the marks they bear. */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

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
	int count, capacity;
};

static ssize_t read_file(pid_t pid, const char *name, char *buffer, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = file_open(path, O_RDONLY, 0);
	if (fd < 0)
		return -1;
	n = read(fd, buffer, size - 1);
	close(fd);
	if (n >= 0)
		buffer[n] = '\0';
	return n;
}

/* Returns the fields after the command, which stands in parentheses and may hold anything. */
static const char *stat_fields(pid_t pid, char *buffer, size_t size)
{
	char *end;

	if (read_file(pid, "stat", buffer, size) <= 0)
		return NULL;
	end = strrchr(buffer, ')');
	return end && end[1] == ' ' ? end + 2 : NULL;
}

/* Returns a number of /proc/PID/stat by its place in proc(5), from 3; 0: there is no such
 * process. */
static int64_t stat_number(pid_t pid, int place)
{
	char buffer[1024];
	const char *p = pid > 0 ? stat_fields(pid, buffer, sizeof(buffer)) : NULL;

	for (int field = 3; p && field < place; field++) {
		p = strchr(p, ' ');
		p = p ? p + 1 : NULL;
	}
	return p ? strtoll(p, NULL, 10) : 0;
}

int64_t proc_start_ticks(pid_t pid)
{
	return stat_number(pid, 22);
}

int64_t proc_cpu_ticks(pid_t pid)
{
	return stat_number(pid, 14) + stat_number(pid, 15);
}

bool proc_times(pid_t pid, struct proc_times *times)
{
	char buffer[1024];
	const char *fields = pid > 0 ? stat_fields(pid, buffer, sizeof(buffer)) : NULL;
	long long ticks = 0, start = 0, session = 0, terminal = 0;
	char *end;

	if (!fields || fields[0] == '\0')
		return false;
	times->parent = (pid_t)strtol(fields + 1, &end, 10);
	for (int field = 5; field <= 22; field++) {
		long long value = strtoll(end, &end, 10);

		if (field == 6)
			session = value;
		if (field == 7)
			terminal = value;
		if (field == 14 || field == 15)
			ticks += value;
		if (field == 22)
			start = value;
	}
	times->start_ticks = start;
	times->leads_terminal = session == pid && terminal != 0;
	times->cpu_s = (double)ticks / (double)sysconf(_SC_CLK_TCK);
	return true;
}

bool proc_waits_for_child(pid_t pid)
{
	char place[64];

	/* dash, zsh and mksh wait for the signal that tells of the end */
	return read_file(pid, "wchan", place, sizeof(place)) > 0 &&
	       (!strcmp(place, "do_wait") || strstr(place, "sigsuspend"));
}

static bool read_stat(pid_t pid, struct process *process)
{
	char buffer[1024];
	const char *fields = stat_fields(pid, buffer, sizeof(buffer));
	char *end;

	*process = (struct process){ .pid = pid, .thread = pid };
	if (!fields || fields[0] == '\0')
		return false;
	process->state = fields[0];
	process->parent = (pid_t)strtol(fields + 1, &end, 10);
	strtol(end, &end, 10);		/* the process group */
	process->session = (pid_t)strtol(end, &end, 10);
	for (int field = 7; field < 20; field++)
		strtoll(end, &end, 10);
	process->n_threads = (int)strtoll(end, &end, 10);
	for (int field = 21; field < 24; field++)
		strtoll(end, &end, 10);
	process->resident_pages = strtoll(end, NULL, 10);
	return true;
}

/* A process whose first thread has ended (pthread_exit in main) is shown as a zombie and lives on
 * in its other threads: it runs unless all of these are stopped. */
static void look_at_threads(struct process *process)
{
	char path[32];
	const struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)process->pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		struct process thread;

		if (!isdigit((unsigned char)entry->d_name[0]) ||
		    !read_stat((pid_t)strtol(entry->d_name, NULL, 10), &thread) ||
		    strchr("ZX", thread.state))
			continue;
		process->thread = thread.pid;
		process->resident_pages = thread.resident_pages;
		process->state = (char)(strchr("Tt", thread.state) ? thread.state : 'R');
		if (process->state == 'R')
			break;
	}
	if (dir)
		closedir(dir);
}

static bool read_process(pid_t pid, struct process *process)
{
	if (!read_stat(pid, process))
		return false;
	if (process->state == 'Z' && process->n_threads > 1)
		look_at_threads(process);
	return true;
}

static int read_table(struct process_table *table)
{
	DIR *dir = opendir("/proc");
	const struct dirent *entry;

	*table = (struct process_table){ 0 };
	while (dir && (entry = readdir(dir))) {
		struct process process;

		if (!isdigit((unsigned char)entry->d_name[0]) ||
		    !read_process((pid_t)strtol(entry->d_name, NULL, 10), &process))
			continue;
		if (table->count == table->capacity) {
			table->capacity = table->capacity ? 2 * table->capacity : 256;
			table->items = xreallocarray(table->items, (size_t)table->capacity,
						     sizeof(*table->items));
		}
		table->items[table->count++] = process;
	}
	if (dir)
		closedir(dir);
	return dir ? 0 : -1;
}

bool proc_environment(pid_t pid, struct text *t)
{
	char path[64], buffer[16384];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	fd = file_open(path, O_RDONLY, 0);
	if (fd < 0)
		return false;
	while ((n = read(fd, buffer, sizeof(buffer))) > 0)
		text_add_bytes(t, buffer, (size_t)n);
	close(fd);
	return n == 0;
}

static bool environment_has(pid_t pid, const char *variable)
{
	struct text t = TEXT_INIT;
	bool found;

	proc_environment(pid, &t);	/* of a process that ends meanwhile, as far as it is read */
	found = memmem(t.data, t.length, variable, strlen(variable) + 1) != NULL;
	text_release(&t);
	return found;
}

static struct process *table_find(struct process_table *table, pid_t pid)
{
	for (int i = 0; i < table->count; i++)
		if (table->items[i].pid == pid)
			return &table->items[i];
	return NULL;
}

static bool descends_from(struct process_table *table, const struct process *process,
			  pid_t ancestor)
{
	for (int depth = 0; process && process->parent > 1 && depth < 1000; depth++) {
		if (process->parent == ancestor)
			return true;
		process = table_find(table, process->parent);
	}
	return false;
}

static bool is_listed(const struct pid_list *list, pid_t pid)
{
	for (int i = 0; i < list->count; i++)
		if (list->items[i] == pid)
			return true;
	return false;
}

/* group: the processes of marks->group. */
static bool bears_mark(struct process_table *table, const struct process *process,
		       const struct proc_marks *marks, const struct pid_list *group)
{
	if (is_listed(group, process->pid))
		return true;
	if (marks->session && process->session == marks->session)
		return true;
	if (marks->ancestor && descends_from(table, process, marks->ancestor))
		return true;
	return marks->variable && environment_has(process->thread, marks->variable);
}

/* Adds processes that the table cannot have: those of the group, and the children of what is
 * marked, such as a program that became another user's. */
static void add_hidden(const struct proc_marks *marks, const struct pid_list *group,
		       struct process_table *marked)
{
	struct pid_list hidden = { 0 };

	for (int i = 0; i < group->count; i++)
		if (proc_is_hidden(group->items[i])) {
			hidden.items = xgrow(hidden.items, hidden.count, sizeof(pid_t));
			hidden.items[hidden.count++] = group->items[i];
		}
	if (marks->ancestor > 0)
		proc_add_hidden_children(marks->ancestor, &hidden);
	for (int i = 0; i < marked->count; i++)
		proc_add_hidden_children(marked->items[i].pid, &hidden);
	marked->items = xreallocarray(marked->items, (size_t)marked->count + (size_t)hidden.count,
				      sizeof(*marked->items));
	for (int i = 0; i < hidden.count; i++)
		marked->items[marked->count++] = (struct process){
			.pid = hidden.items[i], .thread = hidden.items[i], .state = 'R',
		};
	pid_list_release(&hidden);
}

/* Reads the table and keeps in it only the living processes with one of the marks. */
static int read_marked(const struct proc_marks *marks, struct process_table *marked)
{
	struct pid_list group = { 0 };
	struct process_table table;
	int rc;

	if (marks->group)
		proc_group_list(marks->group, &group);
	rc = read_table(&table);
	*marked = (struct process_table){
		.items = xcalloc((size_t)table.count, sizeof(*marked->items)),
	};
	for (int i = 0; i < table.count; i++) {
		const struct process *p = &table.items[i];

		if (p->pid != getpid() && p->state != 'Z' && p->state != 'X' &&
		    bears_mark(&table, p, marks, &group))
			marked->items[marked->count++] = *p;
	}
	free(table.items);
	if (proc_hides_others())
		add_hidden(marks, &group, marked);
	pid_list_release(&group);
	return rc;
}

int proc_find(const struct proc_marks *marks, struct pid_list *list)
{
	struct process_table marked;
	int rc = read_marked(marks, &marked);

	*list = (struct pid_list){ .items = xcalloc((size_t)marked.count, sizeof(pid_t)) };
	for (int i = 0; i < marked.count; i++)
		list->items[list->count++] = marked.items[i].pid;
	free(marked.items);
	return rc;
}

/* Its part of the pages that it shares; all its resident pages where that cannot be read. */
static int64_t used_by(const struct process *p)
{
	char path[64], *line = NULL;
	size_t size = 0;
	int64_t kib = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)p->pid);
	f = file_open_stream(path);
	while (f && kib < 0 && getline(&line, &size, f) > 0)
		if (!strncmp(line, "Pss:", 4))
			kib = strtoll(line + 4, NULL, 10);
	free(line);
	if (f)
		fclose(f);
	return kib < 0 ? p->resident_pages * sysconf(_SC_PAGESIZE) : kib * 1024;
}

int64_t proc_used_bytes(const struct proc_marks *marks)
{
	struct process_table marked;
	int64_t bytes = 0;

	read_marked(marks, &marked);
	for (int i = 0; i < marked.count; i++)
		bytes += used_by(&marked.items[i]);
	free(marked.items);
	return bytes;
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

static bool is_in_group(const char *directory, pid_t pid)
{
	struct pid_list group;
	bool is_in;

	proc_group_list(directory, &group);
	is_in = is_listed(&group, pid);
	pid_list_release(&group);
	return is_in;
}

bool proc_bears(pid_t pid, const struct proc_marks *marks)
{
	return proc_lives(pid) && proc_bore(pid, marks);
}

bool proc_bore(pid_t pid, const struct proc_marks *marks)
{
	struct process p;
	pid_t ancestor = pid;
	int again = 3;

	if (!read_process(pid, &p))
		return false;
	if ((marks->session && p.session == marks->session) ||
	    (marks->group && is_in_group(marks->group, pid)) ||
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

void pid_list_release(struct pid_list *list)
{
	free(list->items);
	*list = (struct pid_list){ 0 };
}
