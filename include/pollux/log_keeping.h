/* log_keeping.h - what the keeper of a log does: see src/engine/local/run_log.h. */
#ifndef POLLUX_LOG_KEEPING_H
#define POLLUX_LOG_KEEPING_H

/* The command of pollux; its only operand is the number of the run. */
#define LOG_KEEPER_COMMAND "keep-log"

/* Moves what comes from standard input to the end of standard output until nobody can write any
 * more. Bytes for which there is no room are dropped, so that the program need not wait, and a line
 * in the log says how many. Returns the status to exit with. */
int log_keeping(void);

/* The turn of a writer of a log, by flock(2): what one writes at the end is not written over by a
 * keeper, which has looked for the end just before. The keeper of an earlier run may live, where a
 * process of that run does. A writer that keeps the turn for a second is passed over. */
void log_take_turn(int log_fd);
void log_end_turn(int log_fd);

#endif
