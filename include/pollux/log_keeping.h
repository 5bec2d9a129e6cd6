/* log_keeping.h - what the keeper of a log does: see src/engine/local/log_keeper.h. */
#ifndef POLLUX_LOG_KEEPING_H
#define POLLUX_LOG_KEEPING_H

/* The command of pollux; its only operand is the number of the run. */
#define LOG_KEEPER_COMMAND "keep-log"

/* Moves what comes from standard input to the end of standard output until nobody can write any
 * more. Bytes for which there is no room are dropped, so that the program need not wait, and a line
 * in the log says how many. Returns the status to exit with. */
int log_keeping(void);

#endif
