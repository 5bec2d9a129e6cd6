/* signal_name.c - names of signals. Adds the real-time signals, which sigabbrev_np(3) lacks. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "pollux/signal_name.h"

const char *signal_name(char buf[SIGNAL_NAME_SIZE], int number)
{
	const char *known = sigabbrev_np(number);

	if (known)
		snprintf(buf, SIGNAL_NAME_SIZE, "SIG%s", known);
	else if (number == SIGRTMIN)
		snprintf(buf, SIGNAL_NAME_SIZE, "SIGRTMIN");
	else if (number > SIGRTMIN && number <= SIGRTMAX)
		snprintf(buf, SIGNAL_NAME_SIZE, "SIGRTMIN+%d", number - SIGRTMIN);
	else
		snprintf(buf, SIGNAL_NAME_SIZE, "SIG%d", number);
	return buf;
}
