/* schema.h - the versions of the store; see schema.c. */
#ifndef POLLUX_STORE_SCHEMA_H
#define POLLUX_STORE_SCHEMA_H

#include "pollux/text.h"

/* "polx", in the file's header: tells a pollux store from another SQLite file. */
#define STORE_APPLICATION_ID 0x706f6c78

int schema_version(void);		/* the version that this program writes */
/* SQL from the version before to this one; the caller frees */
char *schema_step(int version);

/* schema_now.c, which `make schema-now` writes: SQL that makes of an empty file what all steps
 * make, in a twentieth of their time. */
extern const char schema_now[];

/* --- schema_columns.c --- */
/* The newest version to which a table of columns adds a column. */
int schema_columns_version(void);
/* Adds the SQL that adds the columns of this version. */
void schema_add_columns(int version, struct text *sql);

#endif
