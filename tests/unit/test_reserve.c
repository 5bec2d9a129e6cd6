/* test_reserve.c - a profile takes its devices: beside strangers, and without asking who they are
 * while nobody else can write. */
/* link: -Wl,--wrap=devices_list,--wrap=getpwuid */
#include <pwd.h>
#include <unistd.h>

#include "pollux/device_users.h"
#include "profile/profile_state.h"
#include "store_fixture.h"

static int n_asked, n_asked_inside;	/* a directory of users; within a transaction */

int __wrap_devices_list(const struct device_settings *settings, struct device_list *list,
			struct err *e);
struct passwd *__real_getpwuid(uid_t uid);
struct passwd *__wrap_getpwuid(uid_t uid);

static void add_gpu(struct device_list *list, const char *id)
{
	struct device *d = devices_append(list);

	snprintf(d->id, sizeof(d->id), "%s", id);
	snprintf(d->name, sizeof(d->name), "%s", id);
	snprintf(d->kind, sizeof(d->kind), "kind");
	d->cores = 1;
	d->usable = true;
}

/* Two GPUs; on the first is this test, with a GiB. */
int __wrap_devices_list(const struct device_settings *settings, struct device_list *list,
			struct err *e)
{
	(void)settings;
	(void)e;
	*list = (struct device_list){ 0 };
	add_gpu(list, "gpu:a");
	add_gpu(list, "gpu:b");
	list->processes = xcalloc(1, sizeof(*list->processes));
	list->processes[0] = (struct device_process){
		.pid = getpid(), .memory_bytes = INT64_C(1) << 30, .utilization = (double)NAN,
	};
	list->n_processes = 1;
	return 0;
}

struct passwd *__wrap_getpwuid(uid_t uid)
{
	if (store.db) {
		n_asked++;
		n_asked_inside += !sqlite3_get_autocommit(store.db);
	}
	return __real_getpwuid(uid);
}

static int reserve(int replicas, struct profile *p)
{
	scoped(job_command_release) struct job_command c =
		{ .program = xstrdup("/bin/true"), .directory = xstrdup("/") };
	static struct profile_settings settings;
	static struct job job;

	job_init(&job);
	job.declared.name = xstrdup("x");
	job.declared.workload = xstrdup("w");
	job.declared.min_replicas = job.declared.max_replicas = replicas;
	strings_add(&c.argv, "true");
	*p = (struct profile){
		.paths = &paths, .store = &store, .settings = &settings, .job = &job, .lock = -1
	};
	return profile_reserve(p, &c, &err);
}

static void let_go(struct profile *p)
{
	if (p->lock >= 0)
		close(p->lock);
	job_release(p->job);
	free(p->devices);
	free(p->tiers);
}

static void test_reserve(void)
{
	struct profile p;

	is_int(reserve(2, &p), -1, "two devices are not reserved while somebody is on one");
	is_int(err.exit_status, EX_TEMPFAIL, "a device that somebody is on is a temporary failure");
	ok(strstr(err.text, "pid ") != NULL, "the error names the process on the device");
	/* In a container with processes of its own nobody can tell who it is. */
	ok(n_asked > 0 || !proc_sees_all(), "the owner of the process is looked up by name");
	is_int(n_asked_inside, 0, "no owner is looked up within a transaction");
	let_go(&p);
	is_int(reserve(1, &p), 0, "one device is reserved beside the one in use");
	ok(p.n_devices == 1 && !strcmp(p.devices[0].id, "gpu:b"),
	   "the device without a process is the one reserved");
	is_int(n_asked_inside, 0, "no owner is looked up within the second transaction");
	let_go(&p);
}

int main(void)
{
	open_fixture();
	test_reserve();
	return close_fixture();
}
