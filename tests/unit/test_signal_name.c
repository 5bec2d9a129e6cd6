/* test_signal_name.c - every signal has a name, and no other has it. */
#include <signal.h>

#include "pollux/text.h"
#include "tap.h"

int main(void)
{
	char buf[SIGNAL_NAME_SIZE], other[SIGNAL_NAME_SIZE];
	int n_same = 0;

	is_str(signal_name(buf, SIGTERM), "SIGTERM", "a signal with a name has that name");
	is_str(signal_name(buf, SIGRTMIN), "SIGRTMIN",
	       "the first real-time signal is named SIGRTMIN");
	is_str(signal_name(buf, SIGRTMIN + 1), "SIGRTMIN+1",
	       "the second real-time signal is named by its distance");
	is_str(signal_name(buf, SIGRTMIN - 1), "SIG33",
	       "a signal that the C library keeps is named by its number");
	is_str(signal_name(buf, 0), "SIG0", "signal 0 is named by its number");
	is_str(signal_name(buf, -1234567), "SIG-1234567",
	       "a number that is no signal is named by itself");
	for (int i = 1; i < NSIG; i++)
		for (int k = 1; k < i; k++)
			n_same += !strcmp(signal_name(buf, i), signal_name(other, k));
	is_int(n_same, 0, "all names of signals differ");
	return done();
}
