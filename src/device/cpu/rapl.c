/* rapl.c - see rapl.h. */
#include "rapl.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "pollux/open_file.h"

#define ZONES "/sys/class/powercap/intel-rapl:*"
/* begins the name of a package's zone; other zones are parts of packages */
#define PACKAGE "package-"

static const char *root(void)
{
	const char *named = getenv("POLLUX_CPU_ROOT");

	return named ? named : "";
}

/* Returns the first line of a file; "": none. */
static void read_line(const char *directory, const char *name, char *line, int size)
{
	char *path = xasprintf("%s/%s", directory, name);
	FILE *file = file_open_stream(path);

	if (!file || !fgets(line, size, file))
		line[0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	if (file)
		fclose(file);
	free(path);
}

/* -1: it is not known. */
static double read_joules(const char *zone, const char *name)
{
	char line[32];

	read_line(zone, name, line, sizeof(line));
	return line[0] ? strtod(line, NULL) / 1e6 : -1;
}

/* --- whose processors --- */

/* Returns the package of a processor; -1: it is not known. */
static long package_of(long processor)
{
	char *directory = xasprintf("%s/sys/devices/system/cpu/cpu%ld/topology", root(), processor);
	char line[32];

	read_line(directory, "physical_package_id", line, sizeof(line));
	free(directory);
	return line[0] ? strtol(line, NULL, 10) : -1;
}

/* Returns how many processors of a list are of the package. */
static int count_in(const char *list, long package)
{
	long first, last;
	int n = 0;

	while (device_next_span(&list, &first, &last))
		for (long p = first; p <= last; p++)
			n += package_of(p) == package;
	return n;
}

/* Several slots may share a processor: each has as much of the processor. */
static double part_of(const struct device *slots, int n, long package)
{
	char *directory = xasprintf("%s/sys/devices/system/cpu", root());
	double processors = 0;
	char online[1024];
	int all;

	read_line(directory, "online", online, sizeof(online));
	free(directory);
	all = count_in(online, package);
	for (int i = 0; i < n && all > 0; i++) {
		int part, parts;

		device_cpu.part(&slots[i], &part, &parts);
		processors += (double)count_in(slots[i].binding, package) / parts;
	}
	return all > 0 ? processors / all : 0;
}

/* --- the counters --- */

static bool read_zone(const char *zone, const struct device *slots, int n,
		      struct device_energy *energy)
{
	char name[32];

	read_line(zone, "name", name, sizeof(name));
	if (strncmp(name, PACKAGE, strlen(PACKAGE)) != 0)
		return false;
	energy->joules = read_joules(zone, "energy_uj");
	energy->range_j = read_joules(zone, "max_energy_range_uj");
	if (energy->joules < 0)
		return false;
	energy->part = part_of(slots, n, strtol(name + strlen(PACKAGE), NULL, 10));
	return energy->part > 0;
}

int rapl_read(const struct device *slots, int n, struct device_energy **list)
{
	char *pattern = xasprintf("%s" ZONES, root());
	glob_t zones = { .gl_pathc = 0 };
	int count = 0;

	*list = NULL;
	if (glob(pattern, 0, NULL, &zones) == 0) {
		*list = xcalloc(zones.gl_pathc, sizeof(**list));
		for (size_t i = 0; i < zones.gl_pathc; i++)
			count += read_zone(zones.gl_pathv[i], slots, n, &(*list)[count]);
		globfree(&zones);
	}
	free(pattern);
	return count;
}
