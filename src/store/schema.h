/* schema.h - the versions of the store; see schema.c. */
#ifndef POLLUX_STORE_SCHEMA_H
#define POLLUX_STORE_SCHEMA_H

/* "polx", in the file's header: tells a pollux store from another SQLite file. */
#define STORE_APPLICATION_ID 0x706f6c78

extern const char *const schema_steps[];	/* step i takes version i to i + 1 */
extern const int n_schema_steps;		/* the version this program writes */

#endif
