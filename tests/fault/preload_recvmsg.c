/* preload_recvmsg.c - LD_PRELOAD: a reader of a datagram gets no processor for a while once it has
 * taken the datagram, as on a busy machine. */
#include <dlfcn.h>
#include <sys/socket.h>
#include <time.h>

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	static ssize_t (*real)(int, struct msghdr *, int);
	const struct timespec pause = { .tv_nsec = 50000000 };
	ssize_t n;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "recvmsg");
	n = real(fd, message, flags);
	if (n >= 0 && !(flags & MSG_PEEK))
		nanosleep(&pause, NULL);
	return n;
}
