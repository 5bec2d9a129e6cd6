/* signal_name.h - signals by the names that kill(1) knows. */
#ifndef POLLUX_SIGNAL_NAME_H
#define POLLUX_SIGNAL_NAME_H

#define SIGNAL_NAME_SIZE 24

/* "SIGTERM", "SIGRTMIN+1"; "SIG32" for what has no name. Written into buf, which is returned. */
const char *signal_name(char buf[SIGNAL_NAME_SIZE], int number);

#endif
