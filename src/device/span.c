/* span.c - the spans of a binding: see device.h. */
#include <stdlib.h>
#include <string.h>

#include "pollux/device.h"

bool device_next_span(const char **p, long *first, long *last)
{
	char *end;

	*p += strspn(*p, ",");
	*first = *last = strtol(*p, &end, 10);
	if (end == *p)
		return false;
	if (*end == '-')
		*last = strtol(end + 1, &end, 10);
	*p = end;
	return true;
}
