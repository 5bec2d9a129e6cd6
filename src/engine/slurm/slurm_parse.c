/* slurm_parse.c - what Slurm's commands print, as structs. */
#include <ctype.h>

#include "slurm.h"

/* Names that go into tables, file names and device ids. */
static bool is_name(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)s[i]) && !strchr("._-", s[i]))
			return false;
	return n > 0;
}

/* Copies at most n bytes of a text, and no more than there is room for. */
static void copy_bytes(char *to, size_t size, const char *from, size_t n)
{
	n = strnlen(from, n < size ? n : size - 1);
	memcpy(to, from, n);
	to[n] = '\0';
}

static void copy_printable(char *to, size_t size, const char *from, size_t n)
{
	copy_bytes(to, size, from, n);
	for (char *c = to; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127)
			*c = '?';
}

#define MOST_DIGITS 15

/* A number of at most so many digits; 0 if there is none. */
static int64_t number_at(const char *s)
{
	int64_t value = 0;

	for (int i = 0; i < MOST_DIGITS && isdigit((unsigned char)s[i]); i++)
		value = 10 * value + (s[i] - '0');
	return value;
}

static int small_number_at(const char *s)
{
	int64_t value = number_at(s);

	return value < 1000000 ? (int)value : 0;
}

/* --- generic resources --- */

/* One entry: "gpu", "gpu:4", "gpu:a100", "gpu:a100:4", each perhaps with "(S:0-1)" after it, and
 * "gres:" or "gres/" before it. Returns the number of GPUs. */
static int gpus_of_entry(const char *p, size_t n, char *type, size_t size)
{
	size_t end, type_length = 0;
	int count = 1;

	if (n > 5 && (!strncmp(p, "gres:", 5) || !strncmp(p, "gres/", 5))) {
		p += 5;
		n -= 5;
	}
	if (n < 3 || strncmp(p, "gpu", 3) != 0 || (n > 3 && !strchr(":=(", p[3])))
		return 0;
	for (end = 3; end < n && p[end] != '('; end++)
		;
	if (end > 4 && !isdigit((unsigned char)p[4])) {
		for (type_length = 0; 4 + type_length < end && p[4 + type_length] != ':' &&
				      p[4 + type_length] != '='; type_length++)
			;
		if (4 + type_length + 1 < end)
			count = small_number_at(p + 4 + type_length + 1);
	} else if (end > 4) {
		count = small_number_at(p + 4);
	}
	if (type && !*type && type_length && is_name(p + 4, type_length))
		copy_printable(type, size, p + 4, type_length);
	return count;
}

/* The commas inside of parentheses do not end an entry. */
int slurm_parse_gpus(const char *gres, size_t n, char *type, size_t size)
{
	size_t start = 0;
	int depth = 0, sum = 0;

	if (type)
		*type = '\0';
	for (size_t i = 0; i <= n; i++) {
		char c = (char)(i < n ? gres[i] : ',');

		depth += c == '(' ? 1 : c == ')' && depth > 0 ? -1 : 0;
		if (c != ',' || (depth > 0 && i < n))
			continue;
		sum += gpus_of_entry(gres + start, i - start, type, size);
		start = i + 1;
	}
	return sum < 1000 ? sum : 1000;
}

/* --- nodes --- */

/* Finds "KEY=VALUE" after a blank or at the start of the line. */
static const char *value_of_key(const char *line, const char *key, size_t *n)
{
	size_t length = strlen(key);

	for (const char *p = line; (p = strstr(p, key)); p += length) {
		if ((p != line && p[-1] != ' ') || p[length] != '=')
			continue;
		p += length + 1;
		*n = strcspn(p, " \n");
		return p;
	}
	*n = 0;
	return "";
}

/* True if a word of "IDLE+CLOUD+POWERED_DOWN" begins so. */
static bool has_word(const char *state, const char *beginning)
{
	for (const char *p = state; p; p = strchr(p, '+') ? strchr(p, '+') + 1 : NULL)
		if (text_starts_with(p, beginning))
			return true;
	return false;
}

/* A node that answers takes jobs in the states "IDLE", "MIXED", "ALLOCATED" and "COMPLETING",
 * unless a flag after a '+' speaks against that. For some seconds after its start a controller
 * does not know the states of its nodes ("UNKNOWN"). */
static bool is_in_use(const char *state)
{
	static const char *const good[] = { "IDLE", "MIXED", "ALLOCATED", "COMPLETING", "UNKNOWN" };
	static const char *const bad[] = { "DRAIN", "DOWN", "FAIL", "MAINT", "POWERING_DOWN",
					   "POWER_DOWN", "POWER_DRAIN", "REBOOT", "INVAL" };
	bool in_use = false;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		in_use |= text_starts_with(state, good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		in_use &= !has_word(state, bad[i]);
	return in_use;
}

/* Slurm powers a node up that is powered down (POWERED_DOWN) as soon as a job is to run there;
 * until the node is up, it does not respond. The '*' marks another node that does not respond. */
static bool answers(const char *state)
{
	if (has_word(state, "UNKNOWN"))
		return false;
	return has_word(state, "POWERED_DOWN") || has_word(state, "POWERING_UP") ||
	       (!has_word(state, "NOT_RESPONDING") && !strchr(state, '*'));
}

static void copy_value(const char *line, const char *key, char *to, size_t size)
{
	size_t n;
	const char *value = value_of_key(line, key, &n);

	copy_printable(to, size, value, n);
}

bool slurm_parse_node(const char *line, struct slurm_node *node)
{
	const char *value;
	size_t n;

	*node = (struct slurm_node){ .used = -1 };
	value = value_of_key(line, "NodeName", &n);
	/* the name is a part of the names of devices */
	if (n >= DEVICE_NODE_SIZE - 16 || !is_name(value, n))
		return false;
	copy_printable(node->name, sizeof(node->name), value, n);
	copy_value(line, "NodeAddr", node->address, sizeof(node->address));
	if (!node->address[0])
		memcpy(node->address, node->name, sizeof(node->address));
	value = value_of_key(line, "Gres", &n);
	node->gpus = slurm_parse_gpus(value, n, node->type, sizeof(node->type));
	value = value_of_key(line, "GresUsed", &n);
	if (n)
		node->used = slurm_parse_gpus(value, n, NULL, 0);
	node->cores = small_number_at(value_of_key(line, "CPUTot", &n));
	copy_value(line, "State", node->state, sizeof(node->state));
	copy_value(line, "Partitions", node->partitions, sizeof(node->partitions));
	node->reserved = has_word(node->state, "RESERVED");
	node->up = is_in_use(node->state) && answers(node->state);
	node->silent = is_in_use(node->state) && !answers(node->state);
	return node->gpus > 0;
}

/* --- jobs --- */

/* Takes the text before the next '|'. */
static const char *next_field(const char **line, size_t *n)
{
	const char *field = *line;

	*n = strcspn(field, "|\n");
	*line = field + *n + (field[*n] == '|');
	return field;
}

static void copy_field(const char **line, char *to, size_t size)
{
	size_t n;
	const char *field = next_field(line, &n);

	copy_printable(to, size, field, n);
}

/* The comment is the last field, and takes the rest. */
bool slurm_parse_job(const char *line, struct slurm_job *job)
{
	const char *field, *colon;
	size_t n, store;

	*job = (struct slurm_job){ 0 };
	if (strlen(line) > 100000)
		return false;
	job->id = number_at(next_field(&line, &n));
	copy_field(&line, job->state, sizeof(job->state));
	field = next_field(&line, &n);
	copy_printable(job->nodes, sizeof(job->nodes), field, n < sizeof(job->nodes) ? n : 0);
	field = next_field(&line, &n);
	job->gpus = slurm_parse_gpus(field, n, NULL, 0);
	copy_field(&line, job->start, sizeof(job->start));
	if (text_starts_with(job->start, "N/A"))
		job->start[0] = '\0';
	copy_field(&line, job->reason, sizeof(job->reason));
	copy_field(&line, job->name, sizeof(job->name));
	n = strcspn(line, "\n");
	store = strspn(line, "0123456789abcdef");
	colon = store < n ? memchr(line + store + 1, ':', n - store - 1) : NULL;
	if (store == 32 && line[store] == ':' && colon) {
		job->job_id = number_at(line + store + 1);
		job->run_id = number_at(colon + 1);
		if (job->job_id > 0 && job->run_id > 0)
			copy_printable(job->store, sizeof(job->store), line, store);
	}
	return job->id > 0 && job->state[0];
}

/* --- lists of nodes --- */

#define MOST_NAMES (1 << 20)	/* of a range: nobody has more nodes */

/* Takes "1-3" or "7". */
static bool next_range(struct slurm_names *l)
{
	size_t digits = strspn(l->rest, "0123456789");
	bool good = digits > 0 && digits <= MOST_DIGITS;

	l->next = l->last = number_at(l->rest);
	l->width = (unsigned)digits;
	l->rest += digits;
	if (good && *l->rest == '-') {
		digits = strspn(++l->rest, "0123456789");
		good = digits > 0 && digits <= MOST_DIGITS;
		l->last = number_at(l->rest);
		l->rest += digits;
	}
	return good && l->last >= l->next && l->last - l->next < MOST_NAMES;
}

/* Takes the next name of the entry that the list stands at. False: the entry is malformed. */
static bool take_name(struct slurm_names *l, char *name, size_t size)
{
	const char *entry = l->rest;
	size_t n = strcspn(entry, "[,");

	if (!l->prefix && entry[n] != '[') {
		if (!is_name(entry, n))
			return false;
		copy_bytes(name, size, entry, n);
		l->rest += n + (entry[n] == ',');
		return true;
	}
	if (!l->prefix) {
		/* after the brackets no more of the name */
		const char *close = strchr(entry, ']');

		if (!close || (close[1] && close[1] != ',') || (n > 0 && !is_name(entry, n)))
			return false;
		*l = (struct slurm_names){ entry + n + 1, entry, n, 0, 1, 0 };
	}
	if (l->next > l->last && !next_range(l))
		return false;
	copy_bytes(name, size, l->prefix, l->prefix_length);
	n = strlen(name);
	snprintf(name + n, size - n, "%0*lld", (int)(l->width % (MOST_DIGITS + 1)),
		 (long long)l->next++);
	if (l->next > l->last && *l->rest == ']') {
		l->prefix = NULL;
		l->rest += 1 + (l->rest[1] == ',');
	} else if (l->next > l->last && *l->rest == ',') {
		l->rest++;
	}
	return true;
}

bool slurm_next_node(struct slurm_names *l, char *name, size_t size)
{
	while (*l->rest) {
		bool inside;

		if (take_name(l, name, size))
			return true;
		inside = l->prefix;
		l->prefix = NULL;
		for (; *l->rest && (inside || *l->rest != ','); l->rest++)
			inside = *l->rest == '[' || (inside && *l->rest != ']');
		l->rest += *l->rest == ',';
	}
	return false;
}

bool slurm_list_has(const char *list, const char *node)
{
	struct slurm_names names = { .rest = list };
	char name[DEVICE_NODE_SIZE];

	while (slurm_next_node(&names, name, sizeof(name)))
		if (!strcmp(name, node))
			return true;
	return false;
}

char *slurm_parse_reserved(const char *line, char *name, size_t size)
{
	size_t n;
	const char *value = value_of_key(line, "ReservationName", &n);

	copy_printable(name, size, value, is_name(value, n) ? n : 0);
	value = value_of_key(line, "Nodes", &n);
	return xasprintf("%.*s", text_starts_with(value, "(null)") ? 0 : (int)n, value);
}

int64_t slurm_parse_submitted(const char *text)
{
	return isdigit((unsigned char)text[0]) ? number_at(text) : 0;
}

bool slurm_lists_meet(const char *a, const char *b)
{
	for (size_t n; *a; a += n + (a[n] == ',')) {
		n = strcspn(a, ",");
		for (const char *p = b; n > 0 && *p; p += strcspn(p, ","), p += *p == ',')
			if (strcspn(p, ",") == n && !strncmp(p, a, n))
				return true;
	}
	return false;
}
