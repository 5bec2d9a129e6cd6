/* guarantee.c - see guarantee.h. */
#include "pollux/guarantee.h"

#include <stdlib.h>
#include <string.h>

int guarantee_parse(const char *text, struct guarantee *g, struct err *err)
{
	size_t digits = strspn(text, "0123456789");
	const char *plan = text + digits + (text[digits] == ':');
	long n = digits > 0 && digits < 6 ? strtol(text, NULL, 10) : 0;

	*g = (struct guarantee){ .replicas = (int)n };
	if (n < 1 || n > GUARANTEE_MAX_DEVICES || (text[digits] && text[digits] != ':') ||
	    (text[digits] && !*plan))
		return err_set(err, EX_USAGE, "option '--guarantee' is a number of devices from 1 "
			       "to %d, and may name a plan: 2 or 2:dp, not '%.60s'",
			       GUARANTEE_MAX_DEVICES, text);
	if (strlen(plan) >= sizeof(g->plan))
		return err_set(err, EX_USAGE, "option '--guarantee': no plan has the name '%.60s'",
			       plan);
	memcpy(g->plan, plan, strlen(plan) + 1);
	return 0;
}
