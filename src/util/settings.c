/* settings.c - the table of settings: names, values, defaults. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/config.h"
#include "pollux/people.h"
#include "pollux/policy_names.h"
#include "pollux/text.h"

/* "2x1,1x2": 2 slots of 1 core, 1 of 2. */
static int set_slot_sizes(struct config *c, const char *value)
{
	static const char ends[] = "x,x";
	int slots = 0;

	for (int i = 0; i < 4; i++) {
		char *end;
		long part = strtol(value, &end, 10);

		if (!isdigit((unsigned char)*value) || *end != ends[i] || part < 1 ||
		    part > CONFIG_SLOTS_PART)
			return -1;
		slots = slots << 7 | (int)part;
		value = end + 1;
	}
	c->slots = CONFIG_SLOTS_OF_TWO_SIZES | slots;
	return 0;
}

int config_set_slots(struct config *c, const char *value)
{
	int64_t n;

	if (strchr(value, 'x'))
		return set_slot_sizes(c, value);
	if (number_parse_int(value, &n) || n < 0 || n > CONFIG_MAX_SLOTS)
		return -1;
	c->slots = (int)n;
	return 0;
}

void config_write_slots(int slots, char text[CONFIG_SLOTS_TEXT])
{
	const int part = CONFIG_SLOTS_PART;

	if (slots == CONFIG_SLOTS_AUTO)
		text[0] = '\0';
	else if (slots & CONFIG_SLOTS_OF_TWO_SIZES)
		snprintf(text, CONFIG_SLOTS_TEXT, "%dx%d,%dx%d", slots >> 21 & part,
			 slots >> 14 & part, slots >> 7 & part, slots & part);
	else
		snprintf(text, CONFIG_SLOTS_TEXT, "%d", slots);
}

static int set_slice(struct config *c, const char *value)
{
	double s;

	if (number_parse_duration(value, &s) || s <= 0)
		return -1;
	c->slice_s = s;
	return 0;
}

/* True if the value is a word of " goodput pollux las fifo". */
static bool is_live_policy(const char *value, size_t n)
{
	static const char names[] = POLICY_LIVE_NAMES " ";

	for (const char *p = names; n && (p = strstr(p, value)); p++)
		if (p[-1] == ' ' && p[n] == ' ')
			return !strchr(value, ' ');
	return false;
}

static int set_policy(struct config *c, const char *value)
{
	size_t n = strlen(value);

	if (!is_live_policy(value, n))
		return -1;
	memcpy(c->policy, value, n + 1);
	return 0;
}

/* Inside a job POLLUX_TORCH says which parts of the helper are on: "on" or "on,batch". */
static int set_torch(struct config *c, const char *value)
{
	bool has_parts = !strncmp(value, "on,", 3);

	c->torch = strcmp(value, "no") != 0 && strcmp(value, "off") != 0;
	return !c->torch || !strcmp(value, "yes") || !strcmp(value, "on") || has_parts ? 0 : -1;
}

/* "50%" */
static int set_suspend_memory(struct config *c, const char *value)
{
	size_t n = strlen(value);
	char number[16];
	double percent;

	if (n < 2 || n >= sizeof(number) || value[n - 1] != '%')
		return -1;
	memcpy(number, value, n - 1);
	number[n - 1] = '\0';
	if (number_parse(number, &percent) || !(percent >= 0 && percent <= 100))
		return -1;
	c->suspend_memory = percent / 100;
	return 0;
}

static int set_keep_environment(struct config *c, const char *value)
{
	c->keep_environment = !strcmp(value, "yes");
	return c->keep_environment || !strcmp(value, "no") ? 0 : -1;
}

static int set_text(char *to, size_t size, const char *value)
{
	return snprintf(to, size, "%s", value) < (int)size ? 0 : -1;
}

/* A number, or a UUID or its beginning: "GPU-5a1e". */
static bool is_gpu(const char *word, size_t n)
{
	if (strspn(word, "0123456789") >= n)
		return n <= 4;
	return n > 4 && !strncmp(word, "GPU-", 4) &&
	       strspn(word + 4, "0123456789abcdefABCDEF-") >= n - 4;
}

/* "all"; "not display"; "0,2"; "GPU-5a1e..., GPU-77b0..." */
static int set_gpus(struct config *c, const char *value)
{
	static const char separators[] = ", \t";
	const char *p = value + strspn(value, separators);
	bool is_list = strcmp(value, "all") != 0 && strcmp(value, "not display") != 0;
	int n_gpus = 0;

	for (size_t n; is_list && (n = strcspn(p, separators)); n_gpus++) {
		if (!is_gpu(p, n))
			return -1;
		p += n + strspn(p + n, separators);
	}
	return is_list && !n_gpus ? -1 : set_text(c->gpus, sizeof(c->gpus), value);
}

static int set_cuda_devices(struct config *c, const char *value)
{
	c->cuda_by_uuid = !strcmp(value, "uuid");
	return c->cuda_by_uuid || !strcmp(value, "index") ? 0 : -1;
}

static int set_on_end(struct config *c, const char *value)
{
	return set_text(c->on_end, sizeof(c->on_end), value);
}

static int set_on_failure(struct config *c, const char *value)
{
	return set_text(c->on_failure, sizeof(c->on_failure), value);
}

static int set_submit_pass(struct config *c, const char *value)
{
	c->submit_pass = !strcmp(value, "yes");
	return c->submit_pass || !strcmp(value, "no") ? 0 : -1;
}

static int set_interactive_limit(struct config *c, const char *value)
{
	double s;

	if (number_parse_duration(value, &s) || s < 1)
		return -1;
	c->interactive_limit_s = s;
	return 0;
}

static int set_share(struct config *c, const char *value)
{
	c->share = !strcmp(value, "auto");
	return c->share || !strcmp(value, "no") ? 0 : -1;
}

static int set_max_share(struct config *c, const char *value)
{
	int64_t n;

	if (number_parse_int(value, &n) || n < 1 || n > CONFIG_MOST_SHARE)
		return -1;
	c->max_share = (int)n;
	return 0;
}

static int set_prune_after(struct config *c, const char *value)
{
	double s;

	if (number_parse_duration(value, &s) || s <= 0)
		return -1;
	c->prune_after_s = s;
	return 0;
}

/* "512M", "1G"; "no": no limit. */
static int set_log_limit(struct config *c, const char *value)
{
	double limit;

	if (!strcmp(value, "no")) {
		c->log_limit_bytes = (double)INFINITY;
		return 0;
	}
	if (number_parse_size(value, &limit) ||
	    !(limit >= CONFIG_MIN_LOG_LIMIT && limit <= CONFIG_MAX_LOG_LIMIT))
		return -1;
	c->log_limit_bytes = limit;
	return 0;
}

static int set_shared_dir(struct config *c, const char *value)
{
	if (value[0] != '/' && strcmp(value, "no") != 0)
		return -1;
	return set_text(c->shared_dir, sizeof(c->shared_dir), value);
}

static int set_shared_weight(struct config *c, const char *value)
{
	double weight;

	if (number_parse(value, &weight) ||
	    !(weight >= PERSON_MIN_WEIGHT && weight <= PERSON_MAX_WEIGHT))
		return -1;
	c->shared_weight = weight;
	return 0;
}

/* "4"; "all": no limit but the devices that there are. */
static int set_guaranteed_devices(struct config *c, const char *value)
{
	int64_t n;

	if (!strcmp(value, "all")) {
		c->guaranteed_devices = CONFIG_GUARANTEED_ALL;
		return 0;
	}
	if (number_parse_int(value, &n) || n < 0 || n > CONFIG_MAX_SLOTS)
		return -1;
	c->guaranteed_devices = (int)n;
	return 0;
}

static int set_engine(struct config *c, const char *value)
{
	c->slurm = !strcmp(value, "slurm");
	return c->slurm || !strcmp(value, "local") ? 0 : -1;
}

static int set_slurm_args(struct config *c, const char *value)
{
	return slurm_args_own(value) ? -1
		: set_text(c->slurm_args, sizeof(c->slurm_args), value);
}

static int set_slurm_dir(struct config *c, const char *value)
{
	return value[0] == '/' ? set_text(c->slurm_dir, sizeof(c->slurm_dir), value) : -1;
}

static int set_slurm_lease(struct config *c, const char *value)
{
	double s;

	if (number_parse_duration(value, &s) || s < CONFIG_LEAST_SLURM_LEASE_S || s > 3600)
		return -1;
	c->slurm_lease_s = s;
	return 0;
}

/* "auto"; "0"; "5m": no longer than that. */
static int set_locality_wait(struct config *c, const char *value)
{
	double s;

	if (!strcmp(value, "auto")) {
		c->locality_wait_s = (double)INFINITY;
		return 0;
	}
	if (number_parse_duration(value, &s) || s < 0)
		return -1;
	c->locality_wait_s = s;
	return 0;
}

static int set_min_efficiency(struct config *c, const char *value)
{
	double part;

	if (number_parse(value, &part) || !(part >= 0.01 && part <= 1))
		return -1;
	c->min_efficiency = part;
	return 0;
}

const struct setting config_settings[] = {
	{ "slots", "POLLUX_SLOTS", config_set_slots,
	  "a whole number from 0 to 1024 (0: one per physical core), or two sizes such as "
	  "2x1,1x2" },
	{ "gpus", "POLLUX_GPUS", set_gpus,
	  "all, not display, or GPUs by number or UUID (such as 0,2 or GPU-5a1e...)" },
	{ "cuda_devices", "POLLUX_CUDA_DEVICES", set_cuda_devices, "uuid or index" },
	{ "slice", "POLLUX_SLICE", set_slice, "a time above 0 (such as 90s, 10m or 1h)" },
	{ "policy", "POLLUX_POLICY", set_policy, "one of" POLICY_LIVE_NAMES },
	{ "torch", "POLLUX_TORCH", set_torch, "yes or no" },
	{ "suspend_memory", "POLLUX_SUSPEND_MEMORY", set_suspend_memory,
	  "a part of the machine's memory from 0% to 100%" },
	{ "keep_environment", "POLLUX_KEEP_ENVIRONMENT", set_keep_environment, "yes or no" },
	{ "on_end", "POLLUX_ON_END", set_on_end, "a command of at most 999 bytes" },
	{ "on_failure", "POLLUX_ON_FAILURE", set_on_failure, "a command of at most 999 bytes" },
	{ "submit_pass", "POLLUX_SUBMIT_PASS", set_submit_pass, "yes or no" },
	{ "interactive_limit", "POLLUX_INTERACTIVE_LIMIT", set_interactive_limit,
	  "a time of at least a second (such as 30m or 2h)" },
	{ "share", "POLLUX_SHARE", set_share, "auto or no" },
	{ "max_share", "POLLUX_MAX_SHARE", set_max_share, "a whole number from 1 to 8" },
	{ "prune_after", "POLLUX_PRUNE_AFTER", set_prune_after,
	  "a time above 0 (such as 90d)" },
	{ "log_limit", "POLLUX_LOG_LIMIT", set_log_limit,
	  "an amount from 1M to 1000T (such as 512M or 1G), or no" },
	{ "shared_dir", "POLLUX_SHARED_DIR", set_shared_dir,
	  "the full name of a directory, or no" },
	{ "shared_weight", "POLLUX_SHARED_WEIGHT", set_shared_weight, "a number from 0.1 to 10" },
	{ "guaranteed_devices", "POLLUX_GUARANTEED_DEVICES", set_guaranteed_devices,
	  "a whole number from 0 to 1024, or all" },
	{ "engine", "POLLUX_ENGINE", set_engine, "local or slurm" },
	{ "slurm_args", "POLLUX_SLURM_ARGS", set_slurm_args, "options of at most 999 bytes, none"
	  " of those that pollux itself gives: pollux-slurm(7)" },
	{ "slurm_dir", "POLLUX_SLURM_DIR", set_slurm_dir, "the full name of a directory" },
	{ "slurm_lease", "POLLUX_SLURM_LEASE", set_slurm_lease,
	  "a time from 2s to 1h (such as 60s)" },
	{ "locality_wait", "POLLUX_LOCALITY_WAIT", set_locality_wait,
	  "auto, 0 or a time (such as 5m)" },
	{ "min_efficiency", "POLLUX_MIN_EFFICIENCY", set_min_efficiency,
	  "a fraction from 0.01 to 1 (such as 0.8)" },
	{ NULL, NULL, NULL, NULL },
};

const struct config settings_default = {
	.slots = CONFIG_SLOTS_AUTO, .slice_s = CONFIG_DEFAULT_SLICE_S, .policy = "goodput",
	.torch = true, .suspend_memory = CONFIG_DEFAULT_SUSPEND_MEMORY,
	.log_limit_bytes = CONFIG_DEFAULT_LOG_LIMIT, .submit_pass = true,
	.max_share = CONFIG_DEFAULT_MAX_SHARE,
	.slurm_lease_s = CONFIG_DEFAULT_SLURM_LEASE_S,
	.interactive_limit_s = CONFIG_DEFAULT_INTERACTIVE_LIMIT_S,
	.prune_after_s = (double)NAN, .shared_weight = 1,
	.guaranteed_devices = CONFIG_GUARANTEED_ALL, .locality_wait_s = (double)INFINITY,
	.min_efficiency = CONFIG_DEFAULT_MIN_EFFICIENCY,
};
