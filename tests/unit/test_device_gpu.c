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
#include "pollux/mem.h"
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
	is_int(look(one, &as_passes_do), 0, "a machine with a GPU is listed");
	if (!is_int(list.count, 1, "a machine with a GPU has no other device"))
		return;
	is_str(list.items[0].id, "gpu:" A, "the id of a GPU is its UUID");
	is_str(list.items[0].name, "gpu:0", "the name of a GPU is its number");
	is_str(list.items[0].kind, "NVIDIA RTX A6000, 48 GiB",
	       "the kind of a GPU tells model and memory");
	is_int(list.items[0].memory_bytes, 49140LL << 20, "a GPU tells its memory");
	ok(list.items[0].usable && !list.items[0].reason[0], "a GPU is usable and tells no reason");
	is_str(devices_note(&list, &device_nvidia), "NVIDIA driver 580.95.05, 1 GPU",
	       "the note tells the driver and the number of GPUs");
	ok(device_backend_of(list.items[0].id) == &device_nvidia,
	   "the id of a GPU finds the backend for GPUs");
}

static void test_readings(void)
{
	const struct device_reading *now;

	use_library("new");
	look("gpu " A " X\nmemory 1000 900\nrates 40\ntemperature 71\npower 150500\n"
	     "energy 2500\nslowed 0x44\npersistence 0\n", &in_full);
	now = &list.items[0].now;
	is_int(now->free_bytes, 900LL << 20, "a reading tells the free memory");
	near(now->utilization, 0.4, 1e-12, "a reading tells the utilization");
	near(now->temperature_c, 71, 1e-12, "a reading tells the temperature");
	near(now->power_w, 150.5, 1e-12, "a reading takes the power from milliwatts");
	near(now->energy_j, 2.5, 1e-12, "a reading takes the energy from millijoules");
	ok(isnan(now->power_limit_w), "a power limit that is not told is not known");
	is_str(now->slowed_by, "heat", "a reading tells heat before a power cap");
	ok(now->forgets_state, "a reading tells that persistence mode is off");
	look("gpu " A " X\nmemory 1000 900\nrates 255\n", &in_full);
	now = &list.items[0].now;
	ok(isnan(now->utilization), "a utilization above 100 % is not believed");
	ok(isnan(now->temperature_c) && isnan(now->energy_j) && !now->slowed_by &&
	   !now->forgets_state, "readings that are not supported are not known");
	look("gpu " A " X\nmemory none\n", &in_full);
	ok(list.items[0].usable && list.items[0].memory_bytes == 0 &&
	   list.items[0].now.free_bytes > 0, "a GPU with the machine's memory is usable");
	is_str(list.items[0].kind, "X",
	       "the kind of a GPU with the machine's memory tells no memory");
}

/* --- processes --- */

static const char busy[] = "gpu " A " X\nmemory 9000 100\nprocess 4242 642 3\nprocess 77 ?\n"
			   "process 4242 642\nprocess 88 7000 90\n";

static void expect_processes(const char *library, double utilization)
{
	use_library(library);
	look(busy, &as_passes_do);
	printf("# %s\n", library);
	if (!is_int(list.n_processes, 3, "a process that is told twice is listed once"))
		return;
	is_int(list.processes[0].pid, 4242, "the first process is that told first");
	is_int(list.processes[0].memory_bytes, 642LL << 20, "the first process tells its memory");
	is_int(list.processes[1].pid, 77, "the second process is that told second");
	is_int(list.processes[1].memory_bytes, -1, "a process of unknown memory tells -1");
	is_int(list.processes[2].pid, 88, "the third process is that told third");
	is_int(list.processes[2].memory_bytes, 7000LL << 20, "the third process tells its memory");
	near(list.processes[2].utilization, utilization, 1e-12,
	     "a process tells its share of the GPU's time");
	near(list.processes[1].utilization, 0, 1e-12, "a process without a sample used no time");
	is_int(list.processes[2].device, 0, "a process tells its device");
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
	   "used memory counts as a process where the driver tells of none");
	use_library("new");
	for (int i = 1; i <= 300; i++)
		n += (size_t)snprintf(many + n, sizeof(many) - n, "process %d 10\n", 1000 + i);
	look(many, &as_passes_do);
	is_int(list.n_processes, 300, "more processes than there was room for are listed");
	is_int(list.processes[299].pid, 1300, "the last of 300 processes is listed");
	look("gpu " A " X\nmemory 1 1\nprocess 5 700\nmps 5 700\nmps 6 900\n", &as_passes_do);
	is_int(list.n_processes, 2, "processes behind the MPS server are listed once each");
	is_int(list.processes[1].memory_bytes, 900LL << 20,
	       "a process behind the MPS server tells its memory");
	look("gpu " A " X\nmemory 1 1\nprocess 5 700 120\n", &as_passes_do);
	near(list.processes[0].utilization, 0, 1e-12, "a sample above 100 % does not count");
	look("gpu " A " X\nmemory 1 1\nanswer samples 3\nprocess 5 700\n", &as_passes_do);
	ok(isnan(list.processes[0].utilization),
	   "the utilization of a process is not known without samples");
	look("gpu " A " X\nmemory 1 1\nanswer processes 3\nprocess 5 700\n", &as_passes_do);
	ok(list.items[0].usable && list.n_processes == 0,
	   "a GPU is usable where processes are not supported");
	look("gpu " A " X\nmemory 90000 19000\nprocess 0 70000\nprocess 0 200\n", &as_passes_do);
	ok(list.n_processes == 2 && list.processes[0].pid == 0 &&
	   isnan(list.processes[0].utilization),
	   "processes without a number are listed by their memory");
	look("gpu " A " X\nmemory 90000 20000\nanswer processes 4\n", &as_passes_do);
	ok(list.n_processes == 1 && list.processes[0].pid == 0 &&
	   list.processes[0].memory_bytes == INT64_C(70000) << 20 &&
	   driver_of(&list)->processes_unknown,
	   "used memory counts as a process where there is no permission");
	look("gpu " A " X\nmemory 90000 89000\nanswer processes 10\n", &as_passes_do);
	ok(list.n_processes == 0 && driver_of(&list)->processes_unknown,
	   "little used memory counts as no process");
	look("gpu " A " X\nmemory 24564 1500\nrates 97\n", &as_passes_do);
	ok(list.n_processes == 1 && list.processes[0].pid == 0 &&
	   list.processes[0].memory_bytes == INT64_C(23064) << 20 &&
	   !driver_of(&list)->processes_unknown,
	   "a full GPU without a listed process counts as used");
	look("gpu " A " X\nmemory 24564 1500\nprocess 5 22000\n", &as_passes_do);
	is_int(list.n_processes, 1, "used memory adds no process where a process has it");
	look("gpu " A " X\nmemory 24564 1500\nprocess 5 ?\n", &as_passes_do);
	is_int(list.n_processes, 1, "used memory adds no process where a process may have it");
	look("gpu " A " X\nmemory 49140 48000\n", &as_passes_do);
	is_int(list.n_processes, 0, "the driver's reserved memory counts as no process");
}

static void test_processes_of(void)
{
	struct device devices[2] = { { .id = "gpu:" B }, { .id = "gpu:" A } };
	struct device_process *processes = NULL;
	struct device_taken taken[2];
	int n = 0;

	use_library("new");
	look("gpu " A " X\nmemory 1 1\nprocess 5 700\n"
	     "gpu " B " X\nmemory 1 1\nprocess 6 800\nenergy 1500\n"
	     "temperature 71\nrates 83\n", &as_passes_do);
	is_int(device_nvidia.processes(devices, 2, &processes, &n, taken, &err), 0,
	       "the processes of devices in the store are read");
	near(taken[0].energy.joules, 1.5, 1e-12, "the energy of the first device is read");
	ok(taken[0].temperature_c == 71 && fabs(taken[0].utilization - 0.83) < 1e-12,
	   "so are its temperature and its utilization");
	ok(isnan(taken[1].energy.joules) && isnan(taken[1].temperature_c),
	   "those of the other device are not known");
	ok(n == 2 && processes[0].pid == 6 && processes[0].device == 0 && processes[1].pid == 5 &&
	   processes[1].device == 1, "devices in the store are found by their UUIDs");
	free(processes);
	processes = NULL;
	n = 0;
	look("gpu " A " X\nmemory 1 1\n", &as_passes_do);
	is_int(device_nvidia.processes(devices, 1, &processes, &n, NULL, &err), -1,
	       "the processes of a device that is not there are refused");
	is_str(err.text, "cannot tell what computes on 'gpu:" B "': not found",
	       "the error names the device that is not there");
	free(processes);
}

/* --- what cannot be used --- */

static void expect_reason(const char *answers, const char *want, const char *what)
{
	use_library("new");
	is_int(look(answers, &as_passes_do), 0, what);
	ok(list.count >= 1 && !list.items[0].usable, "a GPU out of order is not used");
	is_str(list.count >= 1 ? list.items[0].reason : NULL, want, "a GPU out of order says why");
}

static void test_unusable(void)
{
	static const char lost[] =
		"the GPU has fallen off the bus; 'dmesg' may say why, a reboot brings it back";

	expect_reason("gpu " A " X\nanswer handle 15\n", lost,
		      "a GPU that is lost before the first question is listed");
	is_str(list.items[0].id, "gpu:0",
	       "a GPU that is lost before the first question has no UUID");
	expect_reason("gpu " A " X\nmemory 1 1\nanswer all 15\n", lost,
		      "a GPU that answers only that it is lost is listed");
	expect_reason("gpu " A " X\nanswer memory 15\n", lost,
		      "a GPU that is lost between two questions is listed");
	is_str(list.items[0].id, "gpu:" A, "a GPU that is lost between two questions has its UUID");
	expect_reason("gpu " A " X\nmemory 1 1\nanswer processes 15\n", lost,
		      "a GPU that is lost at the last question is listed");
	expect_reason("gpu " A " X\nanswer memory 16\n", "the GPU has to be reset",
		      "a GPU that has to be reset is listed");
	expect_reason("gpu " A " X\nmemory 1 1\nanswer uuid 4\n", "no permission",
		      "a GPU without a UUID is listed");
	expect_reason("gpu " A " X\nanswer handle 999\n", "an unknown error of the NVIDIA driver",
		      "a GPU with an unknown error is listed");
	expect_reason("gpu " A " X\nmemory 1 1\nmig 1\n",
		      "MIG is on, and only whole GPUs are given out; "
		      "off again: nvidia-smi -i 0 -mig 0", "a GPU with MIG is listed");
	expect_reason("gpu " A " X\nmemory 1 1\ncompute 2\n",
		      "its compute mode is 'prohibited'; to allow programs: nvidia-smi -i 0 -c 0",
		      "a GPU with a prohibited compute mode is listed");
	use_library("new");
	look("gpu " A " X\nanswer all 15\ngpu " B " X\nmemory 1 1\n", &as_passes_do);
	ok(list.count == 2 && !list.items[0].usable && list.items[1].usable,
	   "a GPU beside one that is lost is used");
	look("gpu " A " X\nmemory 1 1\ncompute 3\nmig 0\n", &as_passes_do);
	ok(list.items[0].usable, "a GPU with compute mode 'exclusive process' is used");
}

static void expect_silent(const char *answers, const char *want, const char *what)
{
	is_int(look(answers, &as_passes_do), 0, what);
	ok(list.count == 1 && !strcmp(list.items[0].id, "gpu:0") && !list.items[0].usable,
	   "a silent driver leaves an unusable GPU, and no slots");
	is_str(devices_note(&list, &device_nvidia), want, "the note says why the driver is silent");
	is_str(list.items[0].reason, want, "the GPU says why the driver is silent");
	ok(driver_of(&list)->silent, "a silent driver may hide other GPUs");
}

static void expect_none(const char *answers, const char *want, const char *what)
{
	is_int(look(answers, &as_passes_do), 0, what);
	ok(list.count >= 1 && !strncmp(list.items[0].id, "cpu:", 4),
	   "a machine without GPUs has CPU slots");
	is_str(devices_note(&list, &device_nvidia), want, "the note says why there is no GPU");
	ok(!driver_of(&list)->silent, "a machine without GPUs has no silent driver");
}

static void test_no_driver(void)
{
	char note[200];

	setenv("POLLUX_GPU_ROOT", "/nonexistent", 1);	/* whatever this machine has */
	use_library("new");
	expect_silent("init 9\n", "cannot ask for GPUs: the NVIDIA driver is not loaded",
		      "a driver that is not loaded is no error");
	expect_silent("init 18\n",
		      "cannot ask for GPUs: the NVIDIA driver was updated and not reloaded yet: "
		      "reboot", "a driver that was updated and not reloaded is no error");
	use_library("old");
	expect_silent(one,
		      "cannot ask for GPUs: NVML has no 'nvmlDeviceGetUUID'; the NVIDIA driver is "
		      "too old", "a library that is too old is no error");
	use_library("new");
	is_int(look("count 10\n", &as_passes_do), 0,
	       "a driver that cannot count its GPUs is no error");
	ok(list.count == 1 && !strcmp(list.items[0].id, "gpu:0") && driver_of(&list)->silent,
	   "a driver that cannot count its GPUs counts as silent");
	expect_none("driver 1\n", "NVIDIA driver 1, 0 GPUs",
		    "a driver and a bus without GPUs are no error");
	setenv("POLLUX_NVML", "/nonexistent.so", 1);
	snprintf(note, sizeof(note),
		 "cannot open NVML: /nonexistent.so: cannot open shared object file: No "
		 "such file or directory");
	expect_silent(one, note, "a missing library is no error");
	setenv("POLLUX_NVML", "none", 1);
	expect_none(one, "POLLUX_NVML is 'none'", "a setting that keeps GPUs out is no error");
	unsetenv("POLLUX_NVML");
	expect_none(one, "no NVIDIA GPU on the PCI bus, and no driver of one",
		    "a machine without a GPU and a driver is no error");
	unsetenv("POLLUX_GPU_ROOT");
	for (int code = 1; code <= 21; code++)
		ok(nvml_code_text(code) && nvml_code_text(code)[0],
		   "each return code of NVML has a text");
}

static void test_slots_asked_for(void)
{
	struct device_settings settings = { .slots = 1 };

	use_library("new");
	look(one, &settings);
	ok(list.count == 1 && !strcmp(list.items[0].id, "cpu:0"),
	   "a wish for slots gives a slot and no GPU");
	is_str(devices_note(&list, &device_nvidia), "", "a wish for slots looks for no GPU");
	is_int(CONFIG_SLOTS_AUTO, DEVICE_SLOTS_AUTO,
	       "slots that are not asked for have one value in both modules");
	settings.in_full = true;
	look(one, &settings);
	ok(list.count == 2 && !list.items[0].usable && list.items[1].usable,
	   "a full list shows the GPU beside the wished slots");
	is_str(list.items[0].reason,
	       "CPU slots are asked for (--slots, POLLUX_SLOTS, or slots in the configuration)",
	       "the GPU beside wished slots says why it is not used");
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
	{ "a display's card is left out beside a larger one", "", T400 A6000, "1", NULL },
	{ "a small card of another make is left out behind a larger one",
	  "", A6000 K620, "0", NULL },
	{ "a small card with a screen is left out", "", T400 "display 1\ndrawn 0\n" A6000, "1",
	  NULL },
	{ "a small card without any display is used",
	  "", T400 "display 0\ndrawn 0\n" A6000, "01", NULL },
	{ "small cards alone are used", "", T400 K620, "01", NULL },
	{ "a card that is not much smaller is used",
	  "", T400 K620 "memory 6144 6000\n", "01", NULL },
	{ "a large card with a display is used", "", T400 A6000 "display 1\ndrawn 1\n", "1", NULL },
	{ "a card with the machine's memory is used", "", T400 "memory none\n" A6000, "01", NULL },
	{ "a display's card is used beside one that is lost",
	  "", T400 A6000 "answer memory 15\n", "0", NULL },
	{ "the setting 'all' uses all GPUs", "all", T400 A6000, "01", NULL },
	{ "the setting 'not display' leaves out a GPU with a screen",
	  "not display", T400 A6000 "display 1\ndrawn 0\n", "0", NULL },
	{ "the setting 'not display' leaves out a GPU that a server draws on",
	  "not display", T400 A6000 "display 0\ndrawn 1\n", "0", NULL },
	{ "the setting 'not display' keeps GPUs whose driver does not tell",
	  "not display", T400 A6000, "01", NULL },
	{ "a number in the setting gpus chooses that GPU", "0", T400 A6000 K620, "0", NULL },
	{ "numbers with blanks in the setting gpus choose those GPUs",
	  "2, 0", T400 A6000 K620, "02", NULL },
	{ "a UUID in the setting gpus chooses that GPU", B, T400 A6000 K620, "1", NULL },
	{ "the beginning of a UUID in capitals chooses that GPU",
	  "GPU-BBBB", T400 A6000, "1", NULL },
	{ "a UUID and a number choose both GPUs", B ",2", T400 A6000 K620, "12", NULL },
	{ "a number that is not there chooses no GPU", "0,7", T400 A6000, "0",
	  "; of the setting gpus '7' is no GPU here" },
	{ "wishes of which none is there choose no GPU", "4, GPU-5a1e", T400 A6000, "",
	  "; of the setting gpus '4' is no GPU here, 'GPU-5a1e' is no GPU here" },
	{ "a GPU that is chosen twice is used once",
	  "1," B, T400 A6000, "1", "; of the setting gpus '" B "' is there twice" },
	{ "a number that ends like another one chooses no GPU", "10", T400 A6000, "",
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
		ok(told, "each GPU that is left out has a reason");
		note = strstr(devices_note(&list, &device_nvidia), "; ");
		is_str(note ? note : "", choices[i].wrong ? choices[i].wrong : "",
		       "the note says what is wrong with the setting gpus");
		is_int(driver_of(&list)->misnamed, choices[i].wrong != NULL,
		       "the driver tells that the setting gpus is wrong");
	}
	settings.gpus = "0";
	look(T400 A6000 "answer memory 15\n", &settings);
	ok(list.items[1].left_out, "a GPU that is out of order can be left out");
	is_str(list.items[1].reason, "left out by the setting gpus (0)",
	       "a GPU that is left out names the setting as its reason");
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
		       "links tell NVLink, switches, a bridge, a node and nothing nearer");
	}
	use_library("bare");
	look(four, &as_passes_do);
	ok(link_of(0, 1) == DEVICE_LINK_MACHINE, "two GPUs of unknown link are in one machine");
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
	is_int((int)gpu_presence(), GPU_ABSENT, "an empty tree shows no GPU");
	use_tree("pci");
	write_pci("pci", "0000:00:02.0", "0x8086\n", "0x030000\n");
	write_pci("pci", "0000:41:00.1", "0x10de\n", "0x040300\n");
	is_int((int)gpu_presence(), GPU_ABSENT,
	       "another maker's display and NVIDIA's sound show no GPU");
	write_pci("pci", "0000:41:00.0", "0x10de\n", "0x030000\n");
	is_int((int)gpu_presence(), GPU_POSSIBLE, "a GPU without a driver may be there");
	set_driver("pci", "0000:41:00.0", "nouveau");
	is_int((int)gpu_presence(), GPU_ABSENT, "a GPU with another driver does not count");
	set_driver("pci", "0000:41:00.0", "vfio-pci");
	is_int((int)gpu_presence(), GPU_ABSENT, "a GPU given to a virtual machine does not count");
	set_driver("pci", "0000:41:00.0", "nvidia");
	is_int((int)gpu_presence(), GPU_POSSIBLE, "a GPU with its driver may be there");
	write_file("pci/proc/bus/pci/devices", "0010\t80861234\t0\n4100\t10de2230\tb\tf6000000\n");
	is_int((int)gpu_presence(), GPU_POSSIBLE, "a GPU in the kernel's list may be there");
	write_file("pci/proc/bus/pci/devices", "0010\t80861234\t0\n4100\t10020de1\tb\t10de0000\n");
	is_int((int)gpu_presence(), GPU_ABSENT,
	       "a GPU that the kernel's list lacks does not count");
	write_file("pci/proc/bus/pci/devices", "4100\t10de2230\tb\n");
	write_file("driver/dev/nvidiactl", "");
	use_tree("driver");
	is_int((int)gpu_presence(), GPU_WITH_DRIVER,
	       "device files, as in a container, show a driver");
	write_file("wsl/dev/dxg", "");
	use_tree("wsl");
	unsetenv("POLLUX_NVML");
	if (!dlopen("libnvidia-ml.so.1", RTLD_LAZY)) {
		look("", &as_passes_do);
		ok(has_slots(), "Windows' subsystem for Linux without a library has slots");
		write_file("host/proc/driver/nvidia/version", "NVRM version: 580\n");
		use_tree("host");
		look("", &as_passes_do);
		ok(has_slots(), "a container of a machine with a driver has slots");
		ok(strstr(devices_note(&list, &device_nvidia),
			  "so jobs run on CPU slots: cannot open NVML: libnvidia-ml.so.1"),
		   "the note says why jobs run on slots");
		write_file("host/dev/nvidiactl", "");
		look("", &as_passes_do);
		ok(list.count == 1 && !list.items[0].usable && !strcmp(list.items[0].id, "gpu:0"),
		   "the driver's files without a library give an unusable GPU");
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
	if (is_int(list.count, 2,
		   "a driver that does not work gives the GPUs of the bus, no slots")) {
		is_str(list.items[1].id, "gpu:0000:81:00.0",
		       "a GPU of the bus is known by its place on the bus");
		is_str(list.items[1].kind, "NVIDIA GPU at 0000:81:00.0",
		       "the kind of a GPU of the bus tells its place alone");
		ok(!list.items[0].usable && !list.items[1].usable,
		   "the GPUs of the bus are not used");
		is_str(list.items[0].reason, "cannot ask for GPUs: the NVIDIA driver is not loaded",
		       "a GPU of the bus says why it is not used");
	}
	look("driver 1\n", &as_passes_do);
	is_str(list.count == 2 ? list.items[0].reason : NULL,
	       "the driver does not list it; 'dmesg' may say why",
	       "a GPU of the bus says that the driver does not list it");
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
	is_str(list.items[0].binding, "0-3,8-11", "a GPU is bound to the processors near it");
	is_int(list.items[0].cores, 8, "a GPU counts the cores near it");
	is_str(list.items[1].binding, "", "a GPU is not bound where all processors are near");
	is_int(list.items[1].cores, 16, "a GPU counts all cores where all processors are near");
	unsetenv("POLLUX_GPU_ROOT");

	sched_getaffinity(0, sizeof(before), &before);
	is_int(device_nvidia.bind(devices, 1, &err), 0,
	       "binding to processors that are not there is no error");
	sched_getaffinity(0, sizeof(after), &after);
	ok(CPU_EQUAL(&before, &after), "binding to processors that are not there changes nothing");
	for (size_t i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &before))
			snprintf(devices[0].binding, sizeof(devices[0].binding), "%zu", i);
	is_int(device_nvidia.bind(devices, 2, &err), 0,
	       "a job can bind to a near GPU and one near to all");
	sched_getaffinity(0, sizeof(after), &after);
	ok(CPU_EQUAL(&before, &after), "a job of a GPU near to all processors may use all");
	is_int(device_nvidia.bind(devices, 1, &err), 0,
	       "a job can bind to a GPU near one processor");
	sched_getaffinity(0, sizeof(after), &after);
	is_int(CPU_COUNT(&after), 1, "a job of a GPU near one processor may use that one");
	sched_setaffinity(0, sizeof(before), &before);
}

static void test_environment(void)
{
	struct device devices[2] = { { .id = "gpu:" B }, { .id = "gpu:" A } };
	scoped(strings_release) struct strings env = { 0 };

	strings_init(&env);
	device_nvidia.environment(devices, 2, &env);
	is_int((long long)env.count, 2, "a job on GPUs gets two variables");
	is_str(env.items[0], "CUDA_VISIBLE_DEVICES=" B "," A,
	       "a job sees its GPUs by UUID, in the order of the replicas");
	is_str(env.items[1], "CUDA_DEVICE_ORDER=PCI_BUS_ID",
	       "a job numbers its GPUs as nvidia-smi does");
}

static const struct {
	const char *what, *answers, *set, *visible, *order;
} named[] = {
	{ "GPUs are numbered by their places on the bus, not as NVML does",
	  "gpu " A " X\npci 0:41:0\ngpu " B " X\npci 0:3:0\ngpu " C " X\npci 0:2:0\n", NULL,
	  "1,2", "PCI_BUS_ID" },
	{ "the domain of a GPU comes before its bus in the order",
	  "gpu " A " X\npci 0:41:0\ngpu " B " X\npci 1:3:0\n", NULL, "1,0", "PCI_BUS_ID" },
	{ "two GPUs of one board are numbered by their places on the bus",
	  "gpu " A " X\npci 0:3:1\ngpu " B " X\npci 0:3:0\n", NULL, "0,1", "PCI_BUS_ID" },
	{ "GPUs go by UUID under MIG", "gpu " A " X\ngpu " B " X\ngpu " C " X\nmig 1\n", NULL,
	  B "," A, "PCI_BUS_ID" },
	{ "GPUs go by UUID beside a GPU that is lost",
	  "gpu " A " X\ngpu " B " X\ngpu " C " X\nanswer all 15\n", NULL, B "," A, "PCI_BUS_ID" },
	{ "GPUs go by UUID beside a GPU that is not for this user",
	  "gpu " A " X\ngpu " B " X\ngpu " C " X\nanswer handle 4\n", NULL, B "," A, "PCI_BUS_ID" },
	{ "GPUs go by UUID where a place is not told",
	  "gpu " A " X\nanswer pci 3\ngpu " B " X\n", NULL, B "," A, "PCI_BUS_ID" },
	{ "GPUs go by UUID where two have one place",
	  "gpu " A " X\npci 0:3:0\ngpu " B " X\npci 0:3:0\n", NULL, B "," A, "PCI_BUS_ID" },
	{ "GPUs go by UUID where one of them has gone",
	  "gpu " A " X\n", NULL, B "," A, "PCI_BUS_ID" },
	{ "GPUs go by UUID where NVML does not start", "init 999\n", NULL, B "," A, "PCI_BUS_ID" },
	{ "GPUs go by UUID in another order of devices", "gpu " A " X\ngpu " B " X\n",
	  "CUDA_DEVICE_ORDER=FASTEST_FIRST", B "," A, "FASTEST_FIRST" },
	{ "GPUs go by number in the order of the bus", "gpu " A " X\ngpu " B " X\n",
	  "CUDA_DEVICE_ORDER=PCI_BUS_ID", "1,0", "PCI_BUS_ID" },
	{ "a job sees the GPUs that --env names",
	  "gpu " A " X\ngpu " B " X\n", "CUDA_VISIBLE_DEVICES=5", "5", "PCI_BUS_ID" },
	{ "a job sees no GPU if --env says so",
	  "gpu " A " X\ngpu " B " X\n", "CUDA_VISIBLE_DEVICES=", "", "PCI_BUS_ID" },
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
		scoped(strings_release) struct strings env = { 0 };

		strings_init(&env);
		strings_add(&env, "POLLUX_CUDA_DEVICES=index");
		if (named[i].set)
			strings_add(&env, named[i].set);
		look(named[i].answers, &as_passes_do);
		device_nvidia.environment(devices, 2, &env);
		is_str(value_of(&env, "CUDA_VISIBLE_DEVICES"), named[i].visible, named[i].what);
		is_str(value_of(&env, "CUDA_DEVICE_ORDER"), named[i].order,
		       "a job is told the order of its GPUs");
	}
}

static void test_overlap(void)
{
	struct device a = { .id = "gpu:" A, .binding = "0-3" },
		      b = { .id = "gpu:" B, .binding = "0-3" };

	ok(!device_overlaps(&a, &b), "two GPUs with the same near processors do not overlap");
	ok(device_overlaps(&a, &a), "a GPU overlaps itself");
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
