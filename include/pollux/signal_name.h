/* signal_name.h - signals by the names that kill(1) knows. */
#ifndef POLLUX_SIGNAL_NAME_H
#define POLLUX_SIGNAL_NAME_H

#define SIGNAL_NAME_SIZE 24

/* Writes "SIGTERM", "SIGRTMIN+1", or "SIG32" for a signal without a name into buf. Returns buf. */
const char *signal_name(char buf[SIGNAL_NAME_SIZE], int number);

#endif
