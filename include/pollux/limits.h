/* limits.h - the umask, the nice value and the resource limits of a process, as one text, so that a
 * job runs under those of its submission and not under those of cron. */
#ifndef POLLUX_LIMITS_H
#define POLLUX_LIMITS_H

/* Captures what this process has: "umask=0022 nice=0 nofile=1024 stack=unlimited ..."; limits are
 * the soft ones. The caller frees the text. */
char *limits_capture(void);

/* Gives this process those of the text; NULL: changes nothing. A soft limit is at most the hard
 * limit here; a nice value that this process may not have stays as it is. */
void limits_apply(const char *text);

/* A limit of this process that jobs of other submissions would not have, and that no process of
 * theirs could raise, as an option of ulimit: "-v" or another. NULL: there is none. */
const char *limits_for_all(void);

#endif
