/* test_device_gpu.c - GPUs as a stand-in for NVML tells of them (tests/gpu/standin.h), and trees in
 * place of /dev, /proc and /sys. This test was never run on a real GPU. */
#include <dlfcn.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/nvidia/gpu.h"
#include "pollux/config.h"
#include "pollux/device.h"
#include "tap.h"

#define driver_of(list) devices_driver((list), &device_nvidia)

#define A "GPU-aaaaaaaa-0000-0000-0000-000000000001"
#define B "GPU-bbbbbbbb-0000-0000-0000-000000000002"
#define C "GPU-cccccccc-0000-0000-0000-000000000003"

static const char *standins;
static char dir[64];
static struct device_list list;
static struct err err;

static void write_file(const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	for (char *p = path + strlen(dir) + 1; (p = strchr(p, '/')); *p++ = '/') {
		*p = '\0';
		mkdir(path, 0700);
		*p = '/';
	}
	file = fopen(path, "w");
	if (!file || fputs(text, file) < 0 || fclose(file))
		abort();
}

static void use_library(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/nvml_%s.so", standins, name);
	setenv("POLLUX_NVML", path, 1);
}

/* What the driver says now; the list is made anew. */
static int look(const char *answers, const struct device_settings *settings)
{
	char path[128];

	devices_release(&list);
	write_file("answers", answers);
	snprintf(path, sizeof(path), "%s/answers", dir);
	setenv("NVML_STANDIN", path, 1);
	err = (struct err){ 0 };
	return devices_list(settings, &list, &err);
}

static const struct device_settings as_passes_do = { .slots = DEVICE_SLOTS_AUTO };
static const struct device_settings in_full = { .slots = DEVICE_SLOTS_AUTO, .in_full = true };

static const char one[] =
	"driver 580.95.05\ngpu " A " NVIDIA RTX A6000\npci 0:41:0\nmemory 49140 48000\n";

static void test_one(void)
{
	use_library("new");
	is_int(look(one, &as_passes_do), 0, "a machine with a GPU");
	if (!is_int(list.count, 1, "has no other device"))
		return;
	is_str(list.items[0].id, "gpu:" A, "known by its UUID");
	is_str(list.items[0].name, "gpu:0", "called by its number");
	is_str(list.items[0].kind, "NVIDIA RTX A6000, 48 GiB", "its kind");
	is_int(list.items[0].memory_bytes, 49140LL << 20, "its memory");
	ok(list.items[0].usable && !list.items[0].reason[0], "usable");
	is_str(devices_note(&list, &device_nvidia), "NVIDIA driver 580.95.05, 1 GPU", "the driver");
	ok(device_backend_of(list.items[0].id) == &device_nvidia, "of the backend for GPUs");
}

static void test_readings(void)
{
	const struct device_reading *now;

	use_library("new");
	look("gpu " A " X\nmemory 1000 900\nrates 40\ntemperature 71\npower 150500\n"
	     "energy 2500\nslowed 0x44\npersistence 0\n", &in_full);
	now = &list.items[0].now;
	is_int(now->free_bytes, 900LL << 20, "free memory");
	near(now->utilization, 0.4, 1e-12, "utilization");
	near(now->temperature_c, 71, 1e-12, "temperature");
	near(now->power_w, 150.5, 1e-12, "power, of milliwatts");
	near(now->energy_j, 2.5, 1e-12, "energy, of millijoules");
	ok(isnan(now->power_limit_w), "what is not told is not known");
	is_str(now->slowed_by, "heat", "heat goes before a power cap");
	ok(now->forgets_state, "persistence mode is off");
	look("gpu " A " X\nmemory 1000 900\nrates 255\n", &in_full);
	now = &list.items[0].now;
	ok(isnan(now->utilization), "more than all of the time is not believed");
	ok(isnan(now->temperature_c) && isnan(now->energy_j) && !now->slowed_by &&
	   !now->forgets_state,
	   "nothing is known that is not supported");
	look("gpu " A " X\nmemory none\n", &in_full);
	ok(list.items[0].usable && list.items[0].memory_bytes == 0 &&
	   list.items[0].now.free_bytes > 0,
	   "memory that is the machine's");
	is_str(list.items[0].kind, "X", "is not in its kind");
}

/* --- processes --- */

static const char busy[] = "gpu " A " X\nmemory 9000 100\nprocess 4242 642 3\nprocess 77 ?\n"
			   "process 4242 642\nprocess 88 7000 90\n";

static void expect_processes(const char *library, double utilization)
{
	use_library(library);
	look(busy, &as_passes_do);
	printf("# %s\n", library);
	if (!is_int(list.n_processes, 3, "three processes, one of them told twice"))
		return;
	is_int(list.processes[0].pid, 4242, "the first");
	is_int(list.processes[0].memory_bytes, 642LL << 20, "its memory");
	is_int(list.processes[1].pid, 77, "the second");
	is_int(list.processes[1].memory_bytes, -1, "of unknown memory");
	is_int(list.processes[2].pid, 88, "the third");
	is_int(list.processes[2].memory_bytes, 7000LL << 20, "its memory");
	near(list.processes[2].utilization, utilization, 1e-12, "its time");
	near(list.processes[1].utilization, 0, 1e-12, "none of one without a sample");
	is_int(list.processes[2].device, 0, "on the first device");
}

static void test_processes(void)
{
	char many[16384] = "gpu " A " X\nmemory 9000 6000\n";
	size_t n = strlen(many);

	expect_processes("new", 0.9);
	expect_processes("535", 0.9);
	expect_processes("v2", 0.9);
	expect_processes("v1", 0.9);
	use_library("bare");
	look(busy, &as_passes_do);
	ok(list.count == 1 && list.n_processes == 1 && list.processes[0].pid == 0 &&
	   list.processes[0].memory_bytes == INT64_C(8900) << 20,
	   "a driver that does not tell of processes: whoever has the memory");
	use_library("new");
	for (int i = 1; i <= 300; i++)
		n += (size_t)snprintf(many + n, sizeof(many) - n, "process %d 10\n", 1000 + i);
	look(many, &as_passes_do);
	is_int(list.n_processes, 300, "more processes than there was room for");
	is_int(list.processes[299].pid, 1300, "to the last");
	look("gpu " A " X\nmemory 1 1\nprocess 5 700\nmps 5 700\nmps 6 900\n", &as_passes_do);
	is_int(list.n_processes, 2, "those behind the MPS server, each once");
	is_int(list.processes[1].memory_bytes, 900LL << 20, "with their memory");
	look("gpu " A " X\nmemory 1 1\nprocess 5 700 120\n", &as_passes_do);
	near(list.processes[0].utilization, 0, 1e-12, "a sample above 100 % is none");
	look("gpu " A " X\nmemory 1 1\nanswer samples 3\nprocess 5 700\n", &as_passes_do);
	ok(isnan(list.processes[0].utilization), "no samples: not known");
	look("gpu " A " X\nmemory 1 1\nanswer processes 3\nprocess 5 700\n", &as_passes_do);
	ok(list.items[0].usable && list.n_processes == 0, "processes that are not supported");
	look("gpu " A " X\nmemory 90000 19000\nprocess 0 70000\nprocess 0 200\n", &as_passes_do);
	ok(list.n_processes == 2 && list.processes[0].pid == 0 &&
	   isnan(list.processes[0].utilization),
	   "processes that the driver does not name are known by their memory");
	look("gpu " A " X\nmemory 90000 20000\nanswer processes 4\n", &as_passes_do);
	ok(list.n_processes == 1 && list.processes[0].pid == 0 &&
	   list.processes[0].memory_bytes == INT64_C(70000) << 20 &&
	   driver_of(&list)->processes_unknown,
	   "no permission to see who is there: whoever has the memory");
	look("gpu " A " X\nmemory 90000 89000\nanswer processes 10\n", &as_passes_do);
	ok(list.n_processes == 0 && driver_of(&list)->processes_unknown,
	   "little memory is nobody's");
	look("gpu " A " X\nmemory 24564 1500\nrates 97\n", &as_passes_do);
	ok(list.n_processes == 1 && list.processes[0].pid == 0 &&
	   list.processes[0].memory_bytes == INT64_C(23064) << 20 &&
	   !driver_of(&list)->processes_unknown,
	   "a full GPU without a listed process: a game, another container, a lost context");
	look("gpu " A " X\nmemory 24564 1500\nprocess 5 22000\n", &as_passes_do);
	is_int(list.n_processes, 1, "no more where a process has it");
	look("gpu " A " X\nmemory 24564 1500\nprocess 5 ?\n", &as_passes_do);
	is_int(list.n_processes, 1, "nor where one may have it");
	look("gpu " A " X\nmemory 49140 48000\n", &as_passes_do);
	is_int(list.n_processes, 0, "nor what the driver reserves");
}

static void test_processes_of(void)
{
	struct device devices[2] = { { .id = "gpu:" B }, { .id = "gpu:" A } };
	struct device_process *processes = NULL;
	struct device_energy energy[2];
	int n = 0;

	use_library("new");
	look("gpu " A " X\nmemory 1 1\nprocess 5 700\n"
	     "gpu " B " X\nmemory 1 1\nprocess 6 800\nenergy 1500\n", &as_passes_do);
	is_int(device_nvidia.processes(devices, 2, &processes, &n, energy, &err), 0,
	       "processes of devices in the store");
	near(energy[0].joules, 1.5, 1e-12, "and the energy of one");
	ok(isnan(energy[1].joules), "the other does not tell");
	ok(n == 2 && processes[0].pid == 6 && processes[0].device == 0 && processes[1].pid == 5 &&
	   processes[1].device == 1, "by their UUIDs");
	free(processes);
	processes = NULL;
	n = 0;
	look("gpu " A " X\nmemory 1 1\n", &as_passes_do);
	is_int(device_nvidia.processes(devices, 1, &processes, &n, NULL, &err), -1,
	       "of a device that is not there");
	is_str(err.text, "cannot tell what computes on 'gpu:" B "': not found", "says so");
	free(processes);
}

/* --- what cannot be used --- */

static void expect_reason(const char *answers, const char *want, const char *what)
{
	use_library("new");
	is_int(look(answers, &as_passes_do), 0, what);
	ok(list.count >= 1 && !list.items[0].usable, "is not used");
	is_str(list.count >= 1 ? list.items[0].reason : NULL, want, "and says why");
}

static void test_unusable(void)
{
	static const char lost[] =
		"the GPU has fallen off the bus; 'dmesg' may say why, a reboot brings it back";

	expect_reason("gpu " A " X\nanswer handle 15\n", lost,
		      "a GPU lost before it was looked at");
	is_str(list.items[0].id, "gpu:0", "has no UUID");
	expect_reason("gpu " A " X\nmemory 1 1\nanswer all 15\n", lost,
		      "one that answers nothing but that");
	expect_reason("gpu " A " X\nanswer memory 15\n", lost, "one lost between two questions");
	is_str(list.items[0].id, "gpu:" A, "known by its UUID");
	expect_reason("gpu " A " X\nmemory 1 1\nanswer processes 15\n", lost,
		      "lost at the last question");
	expect_reason("gpu " A " X\nanswer memory 16\n", "the GPU has to be reset",
		      "one to be reset");
	expect_reason("gpu " A " X\nmemory 1 1\nanswer uuid 4\n", "no permission",
		      "one without a UUID");
	expect_reason("gpu " A " X\nanswer handle 999\n", "an unknown error of the NVIDIA driver",
		      "an unknown error");
	expect_reason("gpu " A " X\nmemory 1 1\nmig 1\n",
		      "MIG is on, and only whole GPUs are given out; "
		      "off again: nvidia-smi -i 0 -mig 0", "MIG");
	expect_reason("gpu " A " X\nmemory 1 1\ncompute 2\n",
		      "its compute mode is 'prohibited'; to allow programs: nvidia-smi -i 0 -c 0",
		      "a prohibited compute mode");
	use_library("new");
	look("gpu " A " X\nanswer all 15\ngpu " B " X\nmemory 1 1\n", &as_passes_do);
	ok(list.count == 2 && !list.items[0].usable && list.items[1].usable,
	   "the one beside it is used");
	look("gpu " A " X\nmemory 1 1\ncompute 3\nmig 0\n", &as_passes_do);
	ok(list.items[0].usable, "compute mode 'exclusive process' is fine");
}

static void expect_silent(const char *answers, const char *want, const char *what)
{
	is_int(look(answers, &as_passes_do), 0, what);
	ok(list.count == 1 && !strcmp(list.items[0].id, "gpu:0") && !list.items[0].usable,
	   "leaves a GPU that cannot be used, and no slots");
	is_str(devices_note(&list, &device_nvidia), want, "and says why");
	is_str(list.items[0].reason, want, "of the GPU too");
	ok(driver_of(&list)->silent, "there may be others");
}

static void expect_none(const char *answers, const char *want, const char *what)
{
	is_int(look(answers, &as_passes_do), 0, what);
	ok(list.count >= 1 && !strncmp(list.items[0].id, "cpu:", 4), "leaves CPU slots");
	is_str(devices_note(&list, &device_nvidia), want, "and says why");
	ok(!driver_of(&list)->silent, "and there is none");
}

static void test_no_driver(void)
{
	char note[200];

	setenv("POLLUX_GPU_ROOT", "/nonexistent", 1);	/* whatever this machine has */
	use_library("new");
	expect_silent("init 9\n", "cannot ask for GPUs: the NVIDIA driver is not loaded",
		      "no driver");
	expect_silent("init 18\n",
		      "cannot ask for GPUs: the NVIDIA driver was updated and not reloaded yet: "
		      "reboot", "an updated driver");
	use_library("old");
	expect_silent(one,
		      "cannot ask for GPUs: NVML has no 'nvmlDeviceGetUUID'; the NVIDIA driver is "
		      "too old", "a library that is too old");
	use_library("new");
	is_int(look("count 10\n", &as_passes_do), 0, "a driver that cannot count");
	ok(list.count == 1 && !strcmp(list.items[0].id, "gpu:0") && driver_of(&list)->silent,
	   "is silent as well");
	expect_none("driver 1\n", "NVIDIA driver 1, 0 GPUs", "none, by the driver and the bus");
	setenv("POLLUX_NVML", "/nonexistent.so", 1);
	snprintf(note, sizeof(note),
		 "cannot open NVML: /nonexistent.so: cannot open shared object file: No "
		 "such file or directory");
	expect_silent(one, note, "no library");
	setenv("POLLUX_NVML", "none", 1);
	expect_none(one, "POLLUX_NVML is 'none'", "GPUs kept out");
	unsetenv("POLLUX_NVML");
	expect_none(one, "no NVIDIA GPU on the PCI bus, and no driver of one",
		    "a machine without a GPU");
	unsetenv("POLLUX_GPU_ROOT");
	for (int code = 1; code <= 21; code++)
		ok(nvml_code_text(code) && nvml_code_text(code)[0], "a word for each return code");
}

static void test_slots_asked_for(void)
{
	struct device_settings settings = { .slots = 1 };

	use_library("new");
	look(one, &settings);
	ok(list.count == 1 && !strcmp(list.items[0].id, "cpu:0"), "slots asked for: no GPU");
	is_str(devices_note(&list, &device_nvidia), "", "nor was one looked for");
	is_int(CONFIG_SLOTS_AUTO, DEVICE_SLOTS_AUTO,
	       "not asked for is the same in the configuration");
	settings.in_full = true;
	look(one, &settings);
	ok(list.count == 2 && !list.items[0].usable && list.items[1].usable, "people see both");
	is_str(list.items[0].reason,
	       "CPU slots are asked for (--slots, POLLUX_SLOTS, or slots in the configuration)",
	       "and why");
}

/* --- which of them are left out --- */

#define T400 "gpu " A " NVIDIA T400\npci 0:1:0\nmemory 4096 3000\n"
#define A6000 "gpu " B " NVIDIA RTX A6000\npci 0:2:0\nmemory 49140 48000\n"
#define K620 "gpu " C " NVIDIA Quadro K620\npci 0:3:0\nmemory 2048 2000\n"

static const struct {
	const char *what, *gpus, *answers;
	const char *used;		/* their numbers */
	const char *wrong;		/* the end of the driver's note */
} choices[] = {
	{ "a card for a display beside a larger one", "", T400 A6000, "1", NULL },
	{ "a small one of another make, behind it", "", A6000 K620, "0", NULL },
	{ "the same, where a screen is connected", "", T400 "display 1\ndrawn 0\n" A6000, "1",
	  NULL },
	{ "the same, without any display", "", T400 "display 0\ndrawn 0\n" A6000, "01", NULL },
	{ "small cards alone", "", T400 K620, "01", NULL },
	{ "one that is not much smaller", "", T400 K620 "memory 6144 6000\n", "01", NULL },
	{ "a large card with a display", "", T400 A6000 "display 1\ndrawn 1\n", "1", NULL },
	{ "whose memory is the machine's", "", T400 "memory none\n" A6000, "01", NULL },
	{ "beside one that is lost", "", T400 A6000 "answer memory 15\n", "0", NULL },
	{ "all", "all", T400 A6000, "01", NULL },
	{ "no display, by a screen", "not display", T400 A6000 "display 1\ndrawn 0\n", "0", NULL },
	{ "no display, by a server", "not display", T400 A6000 "display 0\ndrawn 1\n", "0", NULL },
	{ "no display, of a driver that does not tell", "not display", T400 A6000, "01", NULL },
	{ "a number", "0", T400 A6000 K620, "0", NULL },
	{ "numbers with blanks", "2, 0", T400 A6000 K620, "02", NULL },
	{ "a UUID", B, T400 A6000 K620, "1", NULL },
	{ "the beginning of a UUID, in capitals", "GPU-BBBB", T400 A6000, "1", NULL },
	{ "a UUID and a number", B ",2", T400 A6000 K620, "12", NULL },
	{ "a number that is not there", "0,7", T400 A6000, "0",
	  "; of the setting gpus '7' is no GPU here" },
	{ "nothing that is there", "4, GPU-5a1e", T400 A6000, "",
	  "; of the setting gpus '4' is no GPU here, 'GPU-5a1e' is no GPU here" },
	{ "a GPU twice", "1," B, T400 A6000, "1", "; of the setting gpus '" B "' is there twice" },
	{ "a number that ends alike", "10", T400 A6000, "",
	  "; of the setting gpus '10' is no GPU here" },
};

static void test_choice(void)
{
	struct device_settings settings = { .slots = DEVICE_SLOTS_AUTO };

	use_library("new");
	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
		const char *note;
		char used[8] = "";
		bool told = true;

		settings.gpus = choices[i].gpus;
		look(choices[i].answers, &settings);
		for (int d = 0; d < list.count; d++) {
			if (list.items[d].usable)
				used[strlen(used)] = (char)('0' + d);
			told &= list.items[d].usable || list.items[d].reason[0];
		}
		is_str(used, choices[i].used, choices[i].what);
		ok(told, "each of the others has a reason");
		note = strstr(devices_note(&list, &device_nvidia), "; ");
		is_str(note ? note : "", choices[i].wrong ? choices[i].wrong : "", "what is wrong");
		is_int(driver_of(&list)->misnamed, choices[i].wrong != NULL, "is told apart");
	}
	settings.gpus = "0";
	look(T400 A6000 "answer memory 15\n", &settings);
	ok(list.items[1].left_out, "a GPU that is out of order is not wanted");
	is_str(list.items[1].reason, "left out by the setting gpus (0)", "for that reason");
}

/* --- where they are --- */

static int link_of(int a, int b)
{
	return list.links[a * list.count + b];
}

static void test_links(void)
{
	static const char four[] =
		"gpu GPU-0 X\nmemory 1 1\npci 0:1:0\nnvlink 1\nancestor 2 10\nancestor 3 20\n"
		"gpu GPU-1 X\nmemory 1 1\npci 0:2:0\nancestor 2 30\nancestor 3 40\n"
		"gpu GPU-2 X\nmemory 1 1\npci 0:3:0\n"
		"gpu GPU-3 X\nmemory 1 1\npci 0:4:0\n";
	/* with and without the driver's own word */
	static const char *const libraries[] = { "new", "v2" };

	for (int i = 0; i < 2; i++) {
		char got[7] = { 0 };

		use_library(libraries[i]);
		look(four, &as_passes_do);
		for (int a = 0, n = 0; a < 4; a++)
			for (int b = a + 1; b < 4; b++) {
				int link = link_of(a, b);

				got[n++] = "?FSNM"[link == link_of(b, a) ? link + 1 : 0];
			}
		is_str(got, "FSSNNM",
		       "NVLink, one switch, switches; a host bridge, a node; nothing nearer");
	}
	use_library("bare");
	look(four, &as_passes_do);
	ok(link_of(0, 1) == DEVICE_LINK_MACHINE, "nothing is known of links: one machine");
}

static void use_tree(const char *name)
{
	char root[96];

	snprintf(root, sizeof(root), "%s/%s", dir, name);
	setenv("POLLUX_GPU_ROOT", root, 1);
}

static void write_pci(const char *tree, const char *bus_id, const char *vendor, const char *class)
{
	char name[128];

	snprintf(name, sizeof(name), "%s/sys/bus/pci/devices/%s/vendor", tree, bus_id);
	write_file(name, vendor);
	snprintf(name, sizeof(name), "%s/sys/bus/pci/devices/%s/class", tree, bus_id);
	write_file(name, class);
}

static void set_driver(const char *tree, const char *bus_id, const char *driver)
{
	char path[192], target[64];

	snprintf(path, sizeof(path), "%s/%s/sys/bus/pci/devices/%s/driver", dir, tree, bus_id);
	snprintf(target, sizeof(target), "../../../../bus/pci/drivers/%s", driver);
	unlink(path);
	if (symlink(target, path))
		abort();
}

static bool has_slots(void)
{
	return list.count > 0 && list.items[0].usable && !strncmp(list.items[0].id, "cpu:", 4);
}

static void test_presence(void)
{
	use_tree("empty");
	is_int((int)gpu_presence(), GPU_ABSENT, "nothing at all");
	use_tree("pci");
	write_pci("pci", "0000:00:02.0", "0x8086\n", "0x030000\n");
	write_pci("pci", "0000:41:00.1", "0x10de\n", "0x040300\n");
	is_int((int)gpu_presence(), GPU_ABSENT, "another maker's display, NVIDIA's sound");
	write_pci("pci", "0000:41:00.0", "0x10de\n", "0x030000\n");
	is_int((int)gpu_presence(), GPU_POSSIBLE, "a GPU without a driver");
	set_driver("pci", "0000:41:00.0", "nouveau");
	is_int((int)gpu_presence(), GPU_ABSENT, "a GPU with another driver");
	set_driver("pci", "0000:41:00.0", "vfio-pci");
	is_int((int)gpu_presence(), GPU_ABSENT, "a GPU given to a virtual machine");
	set_driver("pci", "0000:41:00.0", "nvidia");
	is_int((int)gpu_presence(), GPU_POSSIBLE, "a GPU with its driver");
	write_file("pci/proc/bus/pci/devices", "0010\t80861234\t0\n4100\t10de2230\tb\tf6000000\n");
	is_int((int)gpu_presence(), GPU_POSSIBLE, "also in the kernel's list");
	write_file("pci/proc/bus/pci/devices", "0010\t80861234\t0\n4100\t10020de1\tb\t10de0000\n");
	is_int((int)gpu_presence(), GPU_ABSENT, "not in it: the rest is not read");
	write_file("pci/proc/bus/pci/devices", "4100\t10de2230\tb\n");
	write_file("driver/dev/nvidiactl", "");
	use_tree("driver");
	is_int((int)gpu_presence(), GPU_WITH_DRIVER, "device files, as in a container");
	write_file("wsl/dev/dxg", "");
	use_tree("wsl");
	unsetenv("POLLUX_NVML");
	if (!dlopen("libnvidia-ml.so.1", RTLD_LAZY)) {
		look("", &as_passes_do);
		ok(has_slots(), "in the Windows subsystem for Linux, no library: slots");
		write_file("host/proc/driver/nvidia/version", "NVRM version: 580\n");
		use_tree("host");
		look("", &as_passes_do);
		ok(has_slots(), "in a container of a machine with a driver: slots");
		ok(strstr(devices_note(&list, &device_nvidia),
			  "so jobs run on CPU slots: cannot open NVML: libnvidia-ml.so.1"),
		   "and a note says why");
		write_file("host/dev/nvidiactl", "");
		look("", &as_passes_do);
		ok(list.count == 1 && !list.items[0].usable && !strcmp(list.items[0].id, "gpu:0"),
		   "with the driver's files and no library: a GPU that cannot be used");
	}
	unsetenv("POLLUX_GPU_ROOT");
}

/* A driver that is there and does not work is no reason to start jobs on processors. */
static void test_silent(void)
{
	use_tree("pci");
	write_pci("pci", "0000:81:00.0", "0x10de\n", "0x030200\n");
	use_library("new");
	look("init 9\n", &as_passes_do);
	if (is_int(list.count, 2, "GPUs of the bus, and no slots")) {
		is_str(list.items[1].id, "gpu:0000:81:00.0", "by their place on the bus");
		is_str(list.items[1].kind, "NVIDIA GPU at 0000:81:00.0",
		       "which is all that is known");
		ok(!list.items[0].usable && !list.items[1].usable, "are not used");
		is_str(list.items[0].reason, "cannot ask for GPUs: the NVIDIA driver is not loaded",
		       "why");
	}
	look("driver 1\n", &as_passes_do);
	is_str(list.count == 2 ? list.items[0].reason : NULL,
	       "the driver does not list it; 'dmesg' may say why", "none listed of two on the bus");
	unsetenv("POLLUX_GPU_ROOT");
}

static void test_binding(void)
{
	struct device devices[2] = { { .id = "gpu:" A, .binding = "4000-4003" },
				     { .id = "gpu:" B } };
	cpu_set_t before, after;

	use_tree("near");
	write_file("near/sys/devices/system/cpu/online", "0-15\n");
	write_file("near/sys/bus/pci/devices/0000:41:00.0/local_cpulist", "0-3,8-11\n");
	write_file("near/sys/bus/pci/devices/0000:42:00.0/local_cpulist", "0-15\n");
	use_library("new");
	look("gpu " A " X\npci 0:41:0\nmemory 1 1\ngpu " B " X\npci 0:42:0\nmemory 1 1\n",
	     &as_passes_do);
	is_str(list.items[0].binding, "0-3,8-11", "the processors near a GPU");
	is_int(list.items[0].cores, 8, "are counted");
	is_str(list.items[1].binding, "", "no binding where all are near");
	is_int(list.items[1].cores, 16, "they count all the same");
	unsetenv("POLLUX_GPU_ROOT");

	sched_getaffinity(0, sizeof(before), &before);
	is_int(device_nvidia.bind(devices, 1, &err), 0, "processors that are not there");
	sched_getaffinity(0, sizeof(after), &after);
	ok(CPU_EQUAL(&before, &after), "keep no job from starting");
	for (size_t i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &before))
			snprintf(devices[0].binding, sizeof(devices[0].binding), "%zu", i);
	is_int(device_nvidia.bind(devices, 2, &err), 0,
	       "a GPU that is near to all, and one that is not");
	sched_getaffinity(0, sizeof(after), &after);
	ok(CPU_EQUAL(&before, &after), "leave all processors");
	is_int(device_nvidia.bind(devices, 1, &err), 0, "a GPU near one processor");
	sched_getaffinity(0, sizeof(after), &after);
	is_int(CPU_COUNT(&after), 1, "brings its job there");
	sched_setaffinity(0, sizeof(before), &before);
}

static void test_environment(void)
{
	struct device devices[2] = { { .id = "gpu:" B }, { .id = "gpu:" A } };
	struct strings env;

	strings_init(&env);
	device_nvidia.environment(devices, 2, &env);
	is_int((long long)env.count, 2, "two variables");
	is_str(env.items[0], "CUDA_VISIBLE_DEVICES=" B "," A,
	       "GPUs by UUID, in the order of the replicas");
	is_str(env.items[1], "CUDA_DEVICE_ORDER=PCI_BUS_ID", "and numbered as nvidia-smi does");
	strings_release(&env);
}

static const struct {
	const char *what, *answers, *set, *visible, *order;
} named[] = {
	{ "by their places on the bus, not in NVML's order",
	  "gpu " A " X\npci 0:41:0\ngpu " B " X\npci 0:3:0\ngpu " C " X\npci 0:2:0\n", NULL,
	  "1,2", "PCI_BUS_ID" },
	{ "a domain comes before a bus",
	  "gpu " A " X\npci 0:41:0\ngpu " B " X\npci 1:3:0\n", NULL, "1,0", "PCI_BUS_ID" },
	{ "two on one board", "gpu " A " X\npci 0:3:1\ngpu " B " X\npci 0:3:0\n", NULL,
	  "0,1", "PCI_BUS_ID" },
	{ "by UUID under MIG", "gpu " A " X\ngpu " B " X\ngpu " C " X\nmig 1\n", NULL,
	  B "," A, "PCI_BUS_ID" },
	{ "by UUID beside a GPU that is lost",
	  "gpu " A " X\ngpu " B " X\ngpu " C " X\nanswer all 15\n", NULL, B "," A, "PCI_BUS_ID" },
	{ "by UUID beside a GPU that is not for this user",
	  "gpu " A " X\ngpu " B " X\ngpu " C " X\nanswer handle 4\n", NULL, B "," A, "PCI_BUS_ID" },
	{ "by UUID where a place is not told", "gpu " A " X\nanswer pci 3\ngpu " B " X\n", NULL,
	  B "," A, "PCI_BUS_ID" },
	{ "by UUID where two have one place",
	  "gpu " A " X\npci 0:3:0\ngpu " B " X\npci 0:3:0\n", NULL, B "," A, "PCI_BUS_ID" },
	{ "by UUID where one of them has gone", "gpu " A " X\n", NULL, B "," A, "PCI_BUS_ID" },
	{ "by UUID where NVML does not start", "init 999\n", NULL, B "," A, "PCI_BUS_ID" },
	{ "by UUID in another order", "gpu " A " X\ngpu " B " X\n",
	  "CUDA_DEVICE_ORDER=FASTEST_FIRST", B "," A, "FASTEST_FIRST" },
	{ "by number in that order", "gpu " A " X\ngpu " B " X\n",
	  "CUDA_DEVICE_ORDER=PCI_BUS_ID", "1,0", "PCI_BUS_ID" },
	{ "as --env says", "gpu " A " X\ngpu " B " X\n", "CUDA_VISIBLE_DEVICES=5", "5",
	  "PCI_BUS_ID" },
	{ "as --env says, none", "gpu " A " X\ngpu " B " X\n", "CUDA_VISIBLE_DEVICES=", "",
	  "PCI_BUS_ID" },
};

static const char *value_of(const struct strings *env, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < env->count; i++)
		if (!strncmp(env->items[i], name, n) && env->items[i][n] == '=')
			return env->items[i] + n + 1;
	return "not set";
}

static void test_numbers(void)
{
	struct device devices[2] = { { .id = "gpu:" B }, { .id = "gpu:" A } };

	use_library("new");
	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
		struct strings env;

		strings_init(&env);
		strings_add(&env, "POLLUX_CUDA_DEVICES=index");
		if (named[i].set)
			strings_add(&env, named[i].set);
		look(named[i].answers, &as_passes_do);
		device_nvidia.environment(devices, 2, &env);
		is_str(value_of(&env, "CUDA_VISIBLE_DEVICES"), named[i].visible, named[i].what);
		is_str(value_of(&env, "CUDA_DEVICE_ORDER"), named[i].order, "in which order");
		strings_release(&env);
	}
}

static void test_overlap(void)
{
	struct device a = { .id = "gpu:" A, .binding = "0-3" },
		      b = { .id = "gpu:" B, .binding = "0-3" };

	ok(!device_overlaps(&a, &b), "GPUs share the processors near them");
	ok(device_overlaps(&a, &a), "but not themselves");
}

int main(void)
{
	char template[] = "/tmp/pollux-gpu.XXXXXX", command[96];

	standins = getenv("GPU_STANDIN");
	if (!standins)
		skip_all("GPU_STANDIN does not say where the stand-ins for NVML are: make check");
	if (!mkdtemp(template))
		return 1;
	snprintf(dir, sizeof(dir), "%s", template);
	test_one();
	test_readings();
	test_processes();
	test_processes_of();
	test_unusable();
	test_no_driver();
	test_slots_asked_for();
	test_choice();
	test_links();
	test_presence();
	test_silent();
	test_binding();
	test_environment();
	test_numbers();
	test_overlap();
	devices_release(&list);
	snprintf(command, sizeof(command), "rm -r '%s'", dir);
	return system(command) || done();
}
