/* place.h - where a path leads: an open directory, and a name in it. */
#ifndef POLLUX_PLACE_H
#define POLLUX_PLACE_H

#include <limits.h>
#include <stdbool.h>

/* name is no symbolic link, and need not be there. Whoever changes links of the path later does not
 * change the place. */
struct place {
	int directory;		/* owned, O_PATH */
	char name[NAME_MAX + 1];
	bool is_planted;	/* after a failure: another user put a link or a FIFO there */
};

/* Follows the symbolic links of a path, also the last one. -1 with errno, also if the path leads
 * through a link of another user in a directory where everybody may write, or below a directory
 * that another user made there, or to such a user's FIFO or socket. Links of root are followed. */
int place_find(const char *path, struct place *place);
void place_release(struct place *place);

#endif
