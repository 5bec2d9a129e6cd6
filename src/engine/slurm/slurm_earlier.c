/* slurm_earlier.c - see slurm_earlier.h. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "pollux/proc.h"
#include "pollux/text.h"
#include "slurm_earlier.h"

/* What the environment of a process tells. The strings are in the text. */
struct place {
	struct text text;
	const char *job, *cluster, *node, *gpus;
};

static const char *value_in(const struct text *t, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = t->data; p < t->data + t->length; p += strlen(p) + 1)
		if (!strncmp(p, name, n) && p[n] == '=')
			return p + n + 1;
	return "";
}

/* False: the process belongs to no run. In a step of its job of Slurm SLURM_JOB_GPUS has the GPUs
 * of the first node; a program that is no step has no others. */
static bool read_place(pid_t pid, struct place *p)
{
	if (!proc_environment(pid, &p->text) || !*value_in(&p->text, "POLLUX_RUN"))
		return false;
	p->job = value_in(&p->text, "SLURM_JOB_ID");
	p->cluster = value_in(&p->text, "SLURM_CLUSTER_NAME");
	p->node = value_in(&p->text, "SLURMD_NODENAME");
	p->gpus = value_in(&p->text, "SLURM_STEP_GPUS");
	if (!*p->gpus)
		p->gpus = value_in(&p->text, "SLURM_JOB_GPUS");
	return true;
}

static bool have_in_common(const char *a, const char *b)
{
	for (; *a; a += strcspn(a, ","), a += *a == ',') {
		size_t n = strcspn(a, ",");

		for (const char *p = b; *p; p += strcspn(p, ","), p += *p == ',')
			if (n > 0 && strcspn(p, ",") == n && !strncmp(a, p, n))
				return true;
	}
	return false;
}

static bool is_on_gpus_of(pid_t pid, const struct place *own)
{
	struct place other = { .text = TEXT_INIT };
	bool is = read_place(pid, &other) && strcmp(other.job, own->job) != 0 &&
		  !strcmp(other.cluster, own->cluster) && !strcmp(other.node, own->node) &&
		  have_in_common(other.gpus, own->gpus);

	text_release(&other.text);
	return is;
}

static bool began_before(pid_t pid, pid_t wrapper)
{
	int64_t a = proc_start_ticks(pid), b = proc_start_ticks(wrapper);

	return a > 0 && (a < b || (a == b && pid < wrapper));
}

pid_t slurm_earlier_on_gpus(pid_t wrapper)
{
	struct place own = { .text = TEXT_INIT };
	struct pid_list list = { 0 };
	struct proc_marks marks = { 0 };
	char *variable = NULL;
	pid_t found = 0;

	if (read_place(wrapper, &own) && *own.gpus) {
		variable = xasprintf("SLURMD_NODENAME=%s", own.node);
		marks.variable = variable;
		proc_find(&marks, &list);
	}
	for (int i = 0; i < list.count && !found; i++)
		if (began_before(list.items[i], wrapper) && is_on_gpus_of(list.items[i], &own))
			found = list.items[i];
	pid_list_release(&list);
	free(variable);
	text_release(&own.text);
	return found;
}
