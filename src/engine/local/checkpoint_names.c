/* checkpoint_names.c - see checkpoint_names.h. */
#include "checkpoint_names.h"

#include <fnmatch.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

static bool ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n > m && !strcasecmp(name + n - m, end);
}

bool checkpoint_name(const char *name)
{
	static const char *const ends[] = { ".pt", ".pth", ".ckpt", ".keras", ".tar", ".h5",
					    ".msgpack", ".npz" };

	if (strcasestr(name, "checkpoint") || strcasestr(name, "ckpt"))
		return true;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (ends_with(name, ends[i]))
			return true;
	return false;
}

bool checkpoint_glob_matches(const char *glob, const char *path)
{
	const char *slash = strrchr(path, '/');

	return !fnmatch(glob, path, 0) || (slash && !fnmatch(glob, slash + 1, 0));
}

bool checkpoint_name_is_temporary(const char *name)
{
	return name[0] == '.' || ends_with(name, ".tmp") || ends_with(name, ".new") ||
	       !strncasecmp(name, "tmp", 3);
}

bool log_file_name(const char *name)
{
	return !strncmp(name, "events.out.tfevents", 19) || ends_with(name, ".log");
}

bool log_directory_name(const char *name)
{
	static const char *const names[] = { "runs", "wandb", "lightning_logs", "mlruns", "logs",
					     "tensorboard", "tb_logs" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}
