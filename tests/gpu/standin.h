/* standin.h - a stand-in for libnvidia-ml.so.1 where there is no GPU: it is not NVML, and was never
 * compared with a real GPU.
 *
 * The real library cannot answer on a machine without NVIDIA's driver, so what pollux makes of its
 * answers is tested with this one, named by POLLUX_NVML. Names, arguments, layouts and return codes
 * are those of the driver's ABI as pollux takes it to be: a misunderstanding of that would be in
 * both, and only a run on a GPU can show it. nvml_*.c define which symbols there are, as drivers
 * differ in that:
 *
 *	STANDIN_PROCESSES	3, 2 or 1: the newest list of processes
 *	STANDIN_LONG_ENTRIES	the entries of the first drivers 535
 *	STANDIN_BARE		nothing but what no driver lacks
 *	STANDIN_TOO_OLD		not even that
 *
 * The answers come from the file that NVML_STANDIN names, read when the library is initialized.
 * recordings/ has such files of cards that others described; tests/gpu-kit/record.py writes one.
 * Memory in use that no line "process" has is unlisted: a display's, say.
 *
 *	init CODE			what initialization answers (0)
 *	count CODE			what the number of GPUs answers (0)
 *	slow SECONDS			how long initialization takes (0)
 *	driver VERSION
 *	gpu UUID NAME...		begins a GPU; the lines below are about it
 *	pci DOMAIN:BUS:DEVICE		hexadecimal
 *	memory TOTAL FREE		MiB; "memory none": NOT_SUPPORTED
 *	rates PERCENT			utilization; without it NOT_SUPPORTED; 0 while all that
 *					compute there are stopped
 *	temperature C  power MW  limit MW  energy MJ  slowed BITS  mig ON  compute MODE
 *	persistence ON
 *	display ON			a screen is connected;  drawn ON: a server draws
 *	process PID MIB [PERCENT [spins]]  computes; MIB "?": not available; PERCENT: it has a
 *					sample, unless it is stopped; "spins": also then, as with
 *					kernels that wait for it
 *	means SECONDS			a sample is the mean since the time that the caller names,
 *					as NVIDIA documents it: one that names an earlier time than
 *					so long ago is answered with those that are stopped, too
 *	mps PID MIB			computes behind the MPS server
 *	answer FUNCTION CODE		what this function answers for this GPU ("handle",
 *					"memory", "processes")
 *	ancestor GPU LEVEL		with the GPU of that number
 *	nvlink GPU			is joined to the GPU of that number
 *
 * If CUDA_STANDIN_DIR is set, the processes that have memory on a card there (cuda_freeze.c) are
 * listed too, and their memory is not free.
 *
 * If NVML_STANDIN_STARTS names a file, each start adds a line there.
 *
 * A process "self" is a line the tests write themselves. */
#include <dirent.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define GPUS 16
#define PROCESSES 600

/* What is exported, and the only things in here that are. */
#define EXPORT __attribute__((visibility("default")))

struct standin_process {
	unsigned pid;
	uint64_t bytes;
	int percent;		/* -1: no sample */
	int behind_mps, spins;
};

struct standin_gpu {
	char uuid[96], name[96];
	unsigned domain, bus, device;
	uint64_t total, free;
	int has_memory, rates, temperature, persistence, compute, mig;
	int display, drawn, means_s;
	long long power, limit, energy, slowed;	/* -1: NOT_SUPPORTED */
	struct { char function[32]; int code; } answers[16];
	int n_answers;
	struct standin_process processes[PROCESSES];
	int n_processes;
	int ancestor[GPUS], nvlink[GPUS];
};

static struct standin_gpu gpus[GPUS];
static unsigned n_gpus;
static int init_code, count_code, slow_s;
static char driver[80];

static void set_memory(struct standin_gpu *g, const char *rest)
{
	double total, free;

	g->has_memory = sscanf(rest, "%lf %lf", &total, &free) == 2;
	if (!g->has_memory)
		return;
	g->total = (uint64_t)(total * (1 << 20));
	g->free = (uint64_t)(free * (1 << 20));
}

static void set(struct standin_gpu *g, const char *key, const char *rest)
{
	char word[32] = "";
	int a = 0, b = 0;
	double percent = -1;

	if (!strcmp(key, "pci"))
		sscanf(rest, "%x:%x:%x", &g->domain, &g->bus, &g->device);
	else if (!strcmp(key, "memory"))
		set_memory(g, rest);
	else if (!strcmp(key, "rates"))
		g->rates = atoi(rest);
	else if (!strcmp(key, "means"))
		g->means_s = atoi(rest);
	else if (!strcmp(key, "temperature"))
		g->temperature = atoi(rest);
	else if (!strcmp(key, "power"))
		g->power = atoll(rest);
	else if (!strcmp(key, "limit"))
		g->limit = atoll(rest);
	else if (!strcmp(key, "energy"))
		g->energy = atoll(rest);
	else if (!strcmp(key, "slowed"))
		g->slowed = strtoll(rest, NULL, 0);
	else if (!strcmp(key, "mig"))
		g->mig = atoi(rest);
	else if (!strcmp(key, "display"))
		g->display = atoi(rest);
	else if (!strcmp(key, "drawn"))
		g->drawn = atoi(rest);
	else if (!strcmp(key, "compute"))
		g->compute = atoi(rest);
	else if (!strcmp(key, "persistence"))
		g->persistence = atoi(rest);
	else if (!strcmp(key, "ancestor") && sscanf(rest, "%d %d", &a, &b) == 2)
		g->ancestor[a % GPUS] = b;
	else if (!strcmp(key, "nvlink"))
		g->nvlink[atoi(rest) % GPUS] = 1;
	else if (!strcmp(key, "answer") && g->n_answers < 16 &&
		 sscanf(rest, "%31s %d", g->answers[g->n_answers].function,
			&g->answers[g->n_answers].code) == 2)
		g->n_answers++;
	else if ((!strcmp(key, "process") || !strcmp(key, "mps")) && g->n_processes < PROCESSES) {
		struct standin_process *p = &g->processes[g->n_processes++];

		char last[8] = "";

		sscanf(rest, "%u %31s %lf %7s", &p->pid, word, &percent, last);
		p->spins = !strcmp(last, "spins");
		p->bytes = word[0] == '?' ? UINT64_MAX :
			(uint64_t)(strtod(word, NULL) * (1 << 20));
		p->percent = (int)percent;
		p->behind_mps = key[0] == 'm';
	}
}

static void read_answers(void)
{
	const char *path = getenv("NVML_STANDIN");
	FILE *file = path ? fopen(path, "re") : NULL;
	char line[256], key[32];
	int used;

	n_gpus = 0;
	init_code = count_code = slow_s = 0;
	snprintf(driver, sizeof(driver), "999.99");
	memset(gpus, 0, sizeof(gpus));
	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%31s %n", key, &used) != 1 || key[0] == '#')
			continue;
		if (!strcmp(key, "init")) {
			init_code = atoi(line + used);
		} else if (!strcmp(key, "count")) {
			count_code = atoi(line + used);
		} else if (!strcmp(key, "slow")) {
			slow_s = atoi(line + used);
		} else if (!strcmp(key, "driver")) {
			snprintf(driver, sizeof(driver), "%.79s", line + used);
		} else if (!strcmp(key, "gpu") && n_gpus < GPUS) {
			struct standin_gpu *g = &gpus[n_gpus++];

			sscanf(line + used, "%95s %95[^\n]", g->uuid, g->name);
			g->bus = n_gpus;
			g->rates = g->temperature = g->persistence = g->compute = g->mig = -1;
			g->power = g->limit = g->energy = g->slowed = -1;
			g->display = g->drawn = -1;
			for (int i = 0; i < GPUS; i++)
				g->ancestor[i] = 50;
		} else if (n_gpus > 0) {
			set(&gpus[n_gpus - 1], key, line + used);
		}
	}
	if (file)
		fclose(file);
}

static int answer(const struct standin_gpu *g, const char *function)
{
	for (int i = 0; i < g->n_answers; i++)
		if (!strcmp(g->answers[i].function, function) ||
		    !strcmp(g->answers[i].function, "all"))
			return g->answers[i].code;
	return 0;
}

static int text(const char *from, char *to, unsigned size)
{
	if (strlen(from) >= size)
		return 7;
	strcpy(to, from);
	return 0;
}

/* --- what no driver lacks --- */

EXPORT int nvmlInit_v2(void);
EXPORT int nvmlInit_v2(void)
{
	const char *starts = getenv("NVML_STANDIN_STARTS");
	FILE *file = starts ? fopen(starts, "ae") : NULL;

	if (file) {
		fprintf(file, "%d\n", (int)getpid());
		fclose(file);
	}
	read_answers();
	if (slow_s > 0)
		sleep((unsigned)slow_s);
	return init_code;
}

/* As NVIDIA's Python module asks for it. */
EXPORT int nvmlInitWithFlags(unsigned flags);
EXPORT int nvmlInitWithFlags(unsigned flags)
{
	return flags ? 2 : nvmlInit_v2();
}

EXPORT int nvmlShutdown(void);
EXPORT int nvmlShutdown(void)
{
	return 0;
}

EXPORT int nvmlDeviceGetCount_v2(unsigned *n);
EXPORT int nvmlDeviceGetCount_v2(unsigned *n)
{
	*n = n_gpus;
	return count_code;
}

EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, struct standin_gpu **handle);
EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, struct standin_gpu **handle)
{
	if (index >= n_gpus)
		return 2;
	*handle = &gpus[index];
	return answer(*handle, "handle");
}

EXPORT int nvmlDeviceGetName(const struct standin_gpu *g, char *name, unsigned size);
EXPORT int nvmlDeviceGetName(const struct standin_gpu *g, char *name, unsigned size)
{
	return answer(g, "name") ? answer(g, "name") : text(g->name, name, size);
}

#ifndef STANDIN_TOO_OLD
EXPORT int nvmlDeviceGetUUID(const struct standin_gpu *g, char *uuid, unsigned size);
EXPORT int nvmlDeviceGetUUID(const struct standin_gpu *g, char *uuid, unsigned size)
{
	return answer(g, "uuid") ? answer(g, "uuid") : text(g->uuid, uuid, size);
}
#endif

/* The processes that have memory on this GPU in CUDA_STANDIN_DIR: as many as there is room for in
 * list, if any; *used is their sum. Their state's file has the UUID after two numbers. */
static int look_at_cards(const struct standin_gpu *g, struct standin_process *list, uint64_t *used)
{
	const char *name = getenv("CUDA_STANDIN_DIR");
	DIR *dir = name ? opendir(name) : NULL;
	const struct dirent *entry;
	int n = 0;

	*used = 0;
	while (dir && (entry = readdir(dir))) {
		struct { int numbers[2]; char uuid[64]; } state = { .numbers = { 0 } };
		int pid = (int)strtol(entry->d_name, NULL, 10);
		char path[4096];
		struct stat info;
		FILE *file;

		if (!strstr(entry->d_name, ".card") || kill(pid, 0) != 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", name, entry->d_name);
		if (stat(path, &info))
			continue;
		*strstr(path, ".card") = '\0';
		file = fopen(path, "re");
		if (!file)
			continue;
		if (fread(&state, sizeof(state), 1, file) == 1 && !strcmp(state.uuid, g->uuid)) {
			*used += (uint64_t)info.st_size;
			if (list && n < PROCESSES)
				list[n++] = (struct standin_process){ .pid = (unsigned)pid,
					.bytes = (uint64_t)info.st_size, .percent = -1 };
		}
		fclose(file);
	}
	if (dir)
		closedir(dir);
	return n;
}

struct memory { uint64_t total, free, used; };
EXPORT int nvmlDeviceGetMemoryInfo(const struct standin_gpu *g, struct memory *memory);
EXPORT int nvmlDeviceGetMemoryInfo(const struct standin_gpu *g, struct memory *memory)
{
	uint64_t used;

	if (answer(g, "memory") || !g->has_memory)
		return answer(g, "memory") ? answer(g, "memory") : 3;
	*memory = (struct memory){ g->total, g->free, g->total - g->free };
	look_at_cards(g, NULL, &used);
	memory->free -= used < memory->free ? used : memory->free;
	memory->used = memory->total - memory->free;
	return 0;
}

#if !defined(STANDIN_BARE) && !defined(STANDIN_TOO_OLD)
/* --- processes --- */

/* Layouts by name; only as much of an entry as there is is written. */
static int list(const struct standin_gpu *g, unsigned *n, char *entries, size_t bytes,
		int behind_mps)
{
	static struct standin_process cards[PROCESSES];
	unsigned room = *n, i = 0;
	uint64_t used;
	int n_cards = look_at_cards(g, cards, &used);

	if (answer(g, "processes"))
		return answer(g, "processes");
	for (int p = 0; p < g->n_processes + n_cards; p++) {
		const struct standin_process *process =
			p < g->n_processes ? &g->processes[p] : &cards[p - g->n_processes];
		char *entry = entries + i * bytes;

		if (process->behind_mps != behind_mps)
			continue;
		if (i++ >= room)
			continue;
		memset(entry, 0xff, bytes);	/* what follows is MIG's: -1 without it */
		memcpy(entry, &process->pid, sizeof(unsigned));
		memcpy(entry + 8, &process->bytes, sizeof(uint64_t));
	}
	*n = i;
	return i > room ? 7 : 0;
}

#define LIST(name, bytes, mps) \
	EXPORT int name(const struct standin_gpu *g, unsigned *n, char *entries); \
	EXPORT int name(const struct standin_gpu *g, unsigned *n, char *entries) \
	{ \
		return list(g, n, entries, bytes, mps); \
	}

#if STANDIN_PROCESSES >= 3 && defined(STANDIN_LONG_ENTRIES)
LIST(nvmlDeviceGetComputeRunningProcesses_v3, 32, 0)
EXPORT int nvmlDeviceGetConfComputeMemSizeInfo(void);
EXPORT int nvmlDeviceGetConfComputeMemSizeInfo(void)
{
	return 3;
}
#elif STANDIN_PROCESSES >= 3
LIST(nvmlDeviceGetComputeRunningProcesses_v3, 24, 0)
LIST(nvmlDeviceGetMPSComputeRunningProcesses_v3, 24, 1)
#endif
#if STANDIN_PROCESSES >= 2
LIST(nvmlDeviceGetComputeRunningProcesses_v2, 24, 0)
#endif
LIST(nvmlDeviceGetComputeRunningProcesses, 16, 0)

/* Stopped, so that only a kernel that waits for it computes. */
static int rests(const struct standin_process *p)
{
	char path[64], line[512] = "", *at;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/stat", p->pid);
	file = fopen(path, "re");
	if (file && !fgets(line, sizeof(line), file))
		line[0] = '\0';
	if (file)
		fclose(file);
	at = strrchr(line, ')');
	return !p->spins && at && at[1] == ' ' && at[2] == 'T';
}

struct sample { uint32_t pid; uint64_t time_us; uint32_t sm, memory, encoder, decoder; };
EXPORT int nvmlDeviceGetProcessUtilization(const struct standin_gpu *g, struct sample *samples,
					   unsigned *n, unsigned long long after_us);
EXPORT int nvmlDeviceGetProcessUtilization(const struct standin_gpu *g, struct sample *samples,
					   unsigned *n, unsigned long long after_us)
{
	unsigned room = samples ? *n : 0, i = 0;
	struct timespec now;
	uint64_t now_us;

	clock_gettime(CLOCK_REALTIME, &now);
	now_us = (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
	if (answer(g, "samples"))
		return answer(g, "samples");
	for (int p = 0; p < g->n_processes && now_us > after_us; p++) {
		int sees_past = g->means_s > 0 &&
				now_us - after_us > (uint64_t)g->means_s * 1000000;

		if (g->processes[p].percent < 0 || (!sees_past && rests(&g->processes[p])))
			continue;
		if (i < room)
			samples[i] = (struct sample){ .pid = g->processes[p].pid,
						      .time_us = now_us,
						      .sm = (uint32_t)g->processes[p].percent };
		i++;
	}
	*n = i;
	return i == 0 ? 6 : i > room ? 7 : 0;
}

/* --- the rest --- */

EXPORT int nvmlDeviceGetHandleByUUID(const char *uuid, struct standin_gpu **handle);
EXPORT int nvmlDeviceGetHandleByUUID(const char *uuid, struct standin_gpu **handle)
{
	for (unsigned i = 0; i < n_gpus; i++)
		if (!strcmp(gpus[i].uuid, uuid)) {
			*handle = &gpus[i];
			return answer(*handle, "handle");
		}
	return 6;
}

EXPORT int nvmlSystemGetDriverVersion(char *version, unsigned size);
EXPORT int nvmlSystemGetDriverVersion(char *version, unsigned size)
{
	return text(driver, version, size);
}

struct pci {
	char legacy[16];
	uint32_t domain, bus, device, device_id, subsystem;
	char bus_id[32];
};
EXPORT int nvmlDeviceGetPciInfo_v3(const struct standin_gpu *g, struct pci *pci);
EXPORT int nvmlDeviceGetPciInfo_v3(const struct standin_gpu *g, struct pci *pci)
{
	*pci = (struct pci){ .domain = g->domain, .bus = g->bus, .device = g->device };
	return answer(g, "pci");
}

struct rates { unsigned gpu, memory; };
EXPORT int nvmlDeviceGetUtilizationRates(const struct standin_gpu *g, struct rates *rates);
EXPORT int nvmlDeviceGetUtilizationRates(const struct standin_gpu *g, struct rates *rates)
{
	int resting = 0;

	for (int p = 0; p < g->n_processes; p++)
		resting += rests(&g->processes[p]);
	rates->gpu = resting && resting == g->n_processes ? 0 : (unsigned)g->rates;
	return answer(g, "rates") ? answer(g, "rates") : g->rates < 0 ? 3 : 0;
}

#define NUMBER(name, type, member, key) \
	EXPORT int name(const struct standin_gpu *g, type *value); \
	EXPORT int name(const struct standin_gpu *g, type *value) \
	{ \
		*value = (type)g->member; \
		return answer(g, key) ? answer(g, key) : g->member < 0 ? 3 : 0; \
	}
NUMBER(nvmlDeviceGetPowerUsage, unsigned, power, "power")
NUMBER(nvmlDeviceGetEnforcedPowerLimit, unsigned, limit, "limit")
NUMBER(nvmlDeviceGetTotalEnergyConsumption, unsigned long long, energy, "energy")
NUMBER(nvmlDeviceGetCurrentClocksThrottleReasons, unsigned long long, slowed, "slowed")
NUMBER(nvmlDeviceGetPersistenceMode, int, persistence, "persistence")
NUMBER(nvmlDeviceGetComputeMode, int, compute, "compute")
NUMBER(nvmlDeviceGetDisplayMode, int, display, "display")
NUMBER(nvmlDeviceGetDisplayActive, int, drawn, "drawn")

EXPORT int nvmlDeviceGetTemperature(const struct standin_gpu *g, int sensor, unsigned *celsius);
EXPORT int nvmlDeviceGetTemperature(const struct standin_gpu *g, int sensor, unsigned *celsius)
{
#ifdef STANDIN_TEMPERATURE
	(void)g;
	(void)sensor;
	(void)celsius;
	return 26;	/* a driver that has given up the call that its header calls deprecated */
#else
	*celsius = (unsigned)g->temperature;
	return sensor ? 2 : g->temperature < 0 ? 3 : 0;
#endif
}

#ifdef STANDIN_TEMPERATURE
struct standin_temperature {
	unsigned version;
	int sensor, celsius;
};

EXPORT int nvmlDeviceGetTemperatureV(const struct standin_gpu *g, struct standin_temperature *t);
EXPORT int nvmlDeviceGetTemperatureV(const struct standin_gpu *g, struct standin_temperature *t)
{
	if (t->version != 0x100000c)	/* nvmlTemperature_v1 of nvml.h 12.9 */
		return 25;
	t->celsius = g->temperature;
	return t->sensor ? 2 : g->temperature < 0 ? 3 : 0;
}
#endif

EXPORT int nvmlDeviceGetMigMode(const struct standin_gpu *g, unsigned *now, unsigned *after_reset);
EXPORT int nvmlDeviceGetMigMode(const struct standin_gpu *g, unsigned *now, unsigned *after_reset)
{
	*now = *after_reset = g->mig > 0;
	return answer(g, "mig") ? answer(g, "mig") : g->mig < 0 ? 3 : 0;
}

EXPORT int nvmlDeviceGetTopologyCommonAncestor(const struct standin_gpu *a,
					       const struct standin_gpu *b, int *level);
EXPORT int nvmlDeviceGetTopologyCommonAncestor(const struct standin_gpu *a,
					       const struct standin_gpu *b, int *level)
{
	int mine = a->ancestor[b - gpus], theirs = b->ancestor[a - gpus];

	*level = mine < theirs ? mine : theirs;
	return answer(a, "ancestor");
}

#ifdef STANDIN_P2P
EXPORT int nvmlDeviceGetP2PStatus(const struct standin_gpu *a, const struct standin_gpu *b,
				  int capability, int *status);
EXPORT int nvmlDeviceGetP2PStatus(const struct standin_gpu *a, const struct standin_gpu *b,
				  int capability, int *status)
{
	*status = capability == 2 && (a->nvlink[b - gpus] || b->nvlink[a - gpus]) ? 0 : 5;
	return 0;
}
#endif

/* Link n of a GPU, where it is up, goes to GPU n. */
EXPORT int nvmlDeviceGetNvLinkState(const struct standin_gpu *g, unsigned link, int *on);
EXPORT int nvmlDeviceGetNvLinkState(const struct standin_gpu *g, unsigned link, int *on)
{
	if (link >= GPUS)
		return 2;
	*on = g->nvlink[link] || gpus[link].nvlink[g - gpus];
	return 0;
}

EXPORT int nvmlDeviceGetNvLinkRemotePciInfo_v2(const struct standin_gpu *g, unsigned link,
					       struct pci *pci);
EXPORT int nvmlDeviceGetNvLinkRemotePciInfo_v2(const struct standin_gpu *g, unsigned link,
					       struct pci *pci)
{
	(void)g;
	return link >= GPUS ? 2 : nvmlDeviceGetPciInfo_v3(&gpus[link], pci);
}
#endif
