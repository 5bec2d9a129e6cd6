/* local_handle.c - the text by which the store knows a local run. */
#include <stdlib.h>
#include <string.h>

#include "local_handle.h"
#include "pollux/mem.h"
#include "pollux/text.h"

static int64_t number_after(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? strtoll(at + strlen(key), NULL, 10) : 0;
}

/* Cuts the text at the key. Returns what follows the key; the caller frees. */
static char *cut_path(char *text, const char *key)
{
	char *at = strstr(text, key);

	if (!at)
		return xstrdup("");
	*at = '\0';
	return xstrdup(at + strlen(key));
}

void local_handle_parse(const char *text, struct local_handle *h)
{
	char *numbers = xstrdup(text ? text : "");

	h->socket_path = cut_path(numbers, " socket=");
	h->group = cut_path(numbers, " group=");
	h->guardian_pid = number_after(numbers, " guardian=");
	h->keeper_pid = number_after(numbers, " keeper=");
	h->supervisor_pid = number_after(numbers, " supervisor=");
	h->leader_pid = number_after(numbers, " leader=");
	h->leader_start_ticks = number_after(numbers, " start=");
	free(numbers);
}

static void add_number(struct text *t, const char *key, int64_t value)
{
	if (value)
		text_addf(t, " %s=%lld", key, (long long)value);
}

char *local_handle_text(const struct local_handle *h)
{
	struct text t = TEXT_INIT;

	text_add(&t, "local");
	add_number(&t, "supervisor", h->supervisor_pid);
	add_number(&t, "leader", h->leader_pid);
	add_number(&t, "start", h->leader_start_ticks);
	add_number(&t, "guardian", h->guardian_pid);
	add_number(&t, "keeper", h->keeper_pid);
	if (h->group && h->group[0])
		text_addf(&t, " group=%s", h->group);
	if (h->socket_path && h->socket_path[0])
		text_addf(&t, " socket=%s", h->socket_path);
	return text_detach(&t);
}

void local_handle_release(struct local_handle *h)
{
	free(h->socket_path);
	free(h->group);
	h->socket_path = h->group = NULL;
}
