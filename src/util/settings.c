/* settings.c - the table of settings: names, values, defaults. */
#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/config.h"
#include "pollux/people.h"
#include "pollux/policy_names.h"
#include "pollux/text.h"

int config_set_slots(struct config *c, const char *value)
{
	static const char ends[] = "x,x";
	int slots = 0;
	int64_t n;

	if (!strchr(value, 'x')) {
		if (number_parse_int(value, &n) || n < 0 || n > CONFIG_MAX_SLOTS)
			return -1;
		c->slots = (int)n;
		return 0;
	}
	for (int i = 0; i < 4; i++) {		/* "2x1,1x2": 2 slots of 1 core, 1 of 2 */
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

/* --- the kinds of settings --- */

static void *member_of(const struct setting *s, struct config *c)
{
	return (char *)c + s->offset;
}

static int set_figure(const struct setting *s, struct config *c, const char *value)
{
	double x = (double)INFINITY;

	if ((!s->yes || strcmp(value, s->yes) != 0) &&
	    (s->parse(value, &x) || !(x >= s->min && x <= s->max)))
		return -1;
	*(double *)member_of(s, c) = x;
	return 0;
}

static int set_count(const struct setting *s, struct config *c, const char *value)
{
	int64_t n;

	if (number_parse_int(value, &n) || (double)n < s->min || (double)n > s->max)
		return -1;
	*(int *)member_of(s, c) = (int)n;
	return 0;
}

static int set_bool(const struct setting *s, struct config *c, const char *value)
{
	bool yes = !strcmp(value, s->yes);

	if (!yes && strcmp(value, s->no) != 0)
		return -1;
	*(bool *)member_of(s, c) = yes;
	return 0;
}

static int set_text(const struct setting *s, struct config *c, const char *value)
{
	size_t n = strlen(value);

	if (n >= s->size)
		return -1;
	memcpy(member_of(s, c), value, n + 1);
	return 0;
}

static int set_directory(const struct setting *s, struct config *c, const char *value)
{
	bool is_word = s->no && !strcmp(value, s->no);

	return value[0] == '/' || is_word ? set_text(s, c, value) : -1;
}

/* --- settings of their own kind --- */

static int set_slots(const struct setting *s, struct config *c, const char *value)
{
	(void)s;
	return config_set_slots(c, value);
}

/* A word of " goodput pollux las fifo". */
static int set_policy(const struct setting *s, struct config *c, const char *value)
{
	static const char names[] = POLICY_LIVE_NAMES " ";
	size_t n = strlen(value);

	for (const char *p = names; n && !strchr(value, ' ') && (p = strstr(p, value)); p++)
		if (p[-1] == ' ' && p[n] == ' ')
			return set_text(s, c, value);
	return -1;
}

/* Inside a job POLLUX_TORCH says which parts of the helper are on: "on", "on,batch", "offered". */
static int set_torch(const struct setting *s, struct config *c, const char *value)
{
	size_t n = strcspn(value, ",");

	if ((n == 2 && text_starts_with(value, "on")) ||
	    (n == 7 && text_starts_with(value, "offered")))
		value = s->yes;
	return set_bool(s, c, !strcmp(value, "off") ? s->no : value);
}

/* "50%" */
static int set_suspend_memory(const struct setting *s, struct config *c, const char *value)
{
	size_t n = strlen(value);
	char number[16];
	double percent;

	if (n < 2 || n >= sizeof(number) || value[n - 1] != '%')
		return -1;
	memcpy(number, value, n - 1);
	number[n - 1] = '\0';
	if (number_parse(number, &percent) || !(percent >= s->min && percent <= s->max))
		return -1;
	c->suspend_memory = percent / 100;
	return 0;
}

static int set_keep_environment(const struct setting *s, struct config *c, const char *value)
{
	static const char *const names[N_KEEP] = { "no", "yes", "no-secrets" };

	(void)s;
	for (int i = 0; i < N_KEEP; i++)
		if (!strcmp(value, names[i])) {
			c->keep_environment = (enum keep_environment)i;
			return 0;
		}
	return -1;
}

/* "all"; "not display"; "0,2": numbers; "GPU-5a1e..., GPU-77b0...": UUIDs, or how they begin */
static int set_gpus(const struct setting *s, struct config *c, const char *value)
{
	static const char separators[] = ", \t";
	const char *p = value + strspn(value, separators);
	bool is_list = strcmp(value, "all") != 0 && strcmp(value, "not display") != 0;
	int n_gpus = 0;

	for (size_t n; is_list && (n = strcspn(p, separators)); n_gpus++) {
		bool is_number = strspn(p, "0123456789") >= n;

		if (is_number ? n > 4
			      : n <= 4 || strncmp(p, "GPU-", 4) != 0 ||
				strspn(p + 4, "0123456789abcdefABCDEF-") < n - 4)
			return -1;
		p += n + strspn(p + n, separators);
	}
	return is_list && !n_gpus ? -1 : set_text(s, c, value);
}

/* A count, or the word yes for a number that is found elsewhere: -1. */
static int set_count_or_word(const struct setting *s, struct config *c, const char *value)
{
	if (strcmp(value, s->yes) != 0)
		return set_count(s, c, value);
	*(int *)member_of(s, c) = -1;
	return 0;
}

static int set_slurm_args(const struct setting *s, struct config *c, const char *value)
{
	return slurm_args_own(value) ? -1 : set_text(s, c, value);
}

#define AT(member) .offset = offsetof(struct config, member)
#define TEXT(member) AT(member), .size = sizeof(((struct config *)NULL)->member)
#define YES_OR_NO .yes = "yes", .no = "no"
#define FIGURE(parser, member, least, most) \
	set_figure, AT(member), .parse = number_parse##parser, .min = (least), .max = (most)

const struct setting config_settings[] = {
	{ "slots", "POLLUX_SLOTS", "a whole number from 0 to 1024 (0: one per physical core), or "
	  "two sizes such as 2x1,1x2", set_slots, AT(slots) },
	{ "gpus", "POLLUX_GPUS", "all, not display, or GPUs by number or UUID (such as 0,2 or "
	  "GPU-5a1e...)", set_gpus, TEXT(gpus) },
	{ "cuda_devices", "POLLUX_CUDA_DEVICES", "uuid or index",
	  set_bool, AT(cuda_by_uuid), .yes = "uuid", .no = "index",
	  .by_default = "index" },
	{ "slice", "POLLUX_SLICE", "a time above 0 (such as 90s, 10m or 1h)",
	  FIGURE(_duration, slice_s, DBL_MIN, HUGE_VAL),
	  .by_default = "10m" },
	{ "policy", "POLLUX_POLICY", "one of" POLICY_LIVE_NAMES, set_policy, TEXT(policy),
	  .by_default = "goodput" },
	{ "torch", "POLLUX_TORCH", "yes or no", set_torch, AT(torch), YES_OR_NO },
	{ "helper", "POLLUX_HELPER", "on or off",
	  set_bool, AT(torch), .yes = "on", .no = "off",
	  .by_default = "on" },
	{ "suspend_memory", "POLLUX_SUSPEND_MEMORY",
	  "a part of the machine's memory from 0% to 100%", set_suspend_memory, .max = 100,
	  .by_default = "50%" },
	{ "keep_environment", "POLLUX_KEEP_ENVIRONMENT", "no, yes or no-secrets",
	  set_keep_environment, AT(keep_environment),
	  .by_default = "no" },
	{ "on_end", "POLLUX_ON_END", "a command of at most 999 bytes", set_text, TEXT(on_end) },
	{ "on_failure", "POLLUX_ON_FAILURE", "a command of at most 999 bytes",
	  set_text, TEXT(on_failure) },
	{ "submit_pass", "POLLUX_SUBMIT_PASS", "yes or no",
	  set_bool, AT(submit_pass), YES_OR_NO,
	  .by_default = "yes" },
	{ "interactive_limit", "POLLUX_INTERACTIVE_LIMIT",
	  "a time of at least a second (such as 30m or 2h)",
	  FIGURE(_duration, interactive_limit_s, 1, HUGE_VAL),
	  .by_default = "1h" },
	{ "share", "POLLUX_SHARE", "auto or no", set_bool, AT(share), .yes = "auto", .no = "no",
	  .by_default = "no" },
	{ "max_share", "POLLUX_MAX_SHARE", "a whole number from 1 to 8",
	  set_count, AT(max_share), .min = 1, .max = CONFIG_MOST_SHARE,
	  .by_default = "4" },
	{ "cpu_jobs", "POLLUX_CPU_JOBS", "a whole number from 0 to 1024, or auto",
	  set_count_or_word, AT(cpu_jobs), .max = CONFIG_MAX_SLOTS, .yes = "auto",
	  .by_default = "auto" },
	{ "prune_after", "POLLUX_PRUNE_AFTER", "a time above 0 (such as 90d)",
	  FIGURE(_duration, prune_after_s, DBL_MIN, HUGE_VAL) },
	{ "log_limit", "POLLUX_LOG_LIMIT",
	  "an amount from 1M to 1000T (such as 512M or 1G), or no",
	  FIGURE(_size, log_limit_bytes, CONFIG_MIN_LOG_LIMIT, CONFIG_MAX_LOG_LIMIT),
	  .yes = "no",
	  .by_default = "1G" },
	{ "shared_dir", "POLLUX_SHARED_DIR", "the full name of a directory, or no",
	  set_directory, TEXT(shared_dir), .no = "no" },
	{ "shared_weight", "POLLUX_SHARED_WEIGHT", "a number from 0.1 to 10",
	  FIGURE(, shared_weight, PERSON_MIN_WEIGHT, PERSON_MAX_WEIGHT),
	  .by_default = "1" },
	{ "guaranteed_devices", "POLLUX_GUARANTEED_DEVICES",
	  "a whole number from 0 to 1024, or all",
	  set_count_or_word, AT(guaranteed_devices), .max = CONFIG_MAX_SLOTS, .yes = "all",
	  .by_default = "all" },
	{ "engine", "POLLUX_ENGINE", "local or slurm",
	  set_bool, AT(slurm), .yes = "slurm", .no = "local",
	  .by_default = "local" },
	{ "slurm_args", "POLLUX_SLURM_ARGS", "options of at most 999 bytes, none of those that "
	  "pollux itself gives: pollux-slurm(7)", set_slurm_args, TEXT(slurm_args) },
	{ "slurm_dir", "POLLUX_SLURM_DIR", "the full name of a directory",
	  set_directory, TEXT(slurm_dir) },
	{ "slurm_lease", "POLLUX_SLURM_LEASE", "a time from 2s to 1h (such as 60s)",
	  FIGURE(_duration, slurm_lease_s, CONFIG_LEAST_SLURM_LEASE_S, 3600),
	  .by_default = "60s" },
	{ "locality_wait", "POLLUX_LOCALITY_WAIT", "auto, 0 or a time (such as 5m)",
	  FIGURE(_duration, locality_wait_s, 0, HUGE_VAL), .yes = "auto",
	  .by_default = "auto" },
	{ "min_efficiency", "POLLUX_MIN_EFFICIENCY", "a fraction from 0.01 to 1 (such as 0.8)",
	  FIGURE(, min_efficiency, 0.01, 1),
	  .by_default = "0.8" },
	{ .name = NULL },
};

void config_init(struct config *c)
{
	*c = (struct config){ .slots = CONFIG_SLOTS_AUTO, .prune_after_s = (double)NAN };
	for (const struct setting *s = config_settings; s->name; s++)
		if (s->by_default)
			s->set(s, c, s->by_default);
}
