/* test_client_kept.c - the reports that nobody took, from the client library to the file, and from
 * the file to whoever reads it. */
#include "pollux/client.h"
#include "pollux/kept_file.h"
#include "pollux/report_message.h"
#include "tap.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static char directory[] = "/tmp/test_client_kept.XXXXXX";
static char socket_path[sizeof(directory) + 8], kept_path[sizeof(directory) + 16];
static char said[1 << 16];
static double times[8];
static int n_times;
static struct kept_place place;

static int bind_receiver(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);

	memcpy(address.sun_path, socket_path, sizeof(socket_path));
	unlink(socket_path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		perror("bind");
	return fd;
}

static struct pollux_client *begin(void)
{
	unlink(kept_path);
	place = (struct kept_place){ 0 };
	return pollux_client_open();
}

static bool step(struct pollux_client *c, int64_t samples)
{
	struct pollux_step report = POLLUX_STEP_INIT;

	report.samples = samples;
	return pollux_client_step(c, &report);
}

static void take(const char *bytes, size_t n, double time_s, void *arg)
{
	size_t length = strlen(said);

	(void)arg;
	if (n > sizeof(said) - length - 2)
		n = sizeof(said) - length - 2;
	memcpy(said + length, bytes, n);
	memcpy(said + length + n, ";", 2);
	if (n_times < 8)
		times[n_times++] = time_s;
}

/* What came since the last call. */
static const char *kept(void)
{
	said[0] = '\0';
	n_times = 0;
	kept_reports_read(socket_path, &place, take, NULL);
	return said;
}

static void write_file(const char *text)
{
	FILE *f = fopen(kept_path, "w");

	if (!f || fputs(text, f) < 0 || fclose(f))
		perror(kept_path);
}

static void test_heard(void)
{
	char bytes[256];
	int fd = bind_receiver();
	struct pollux_client *c = begin();

	step(c, 1);
	pollux_client_checkpoint(c, "/x", 1);
	while (recv(fd, bytes, sizeof(bytes), 0) >= 0)
		;
	pollux_client_close(c);
	is_str(kept(), "", "reports that were read are not kept");
	ok(access(kept_path, F_OK) < 0, "reports that were read make no file");
	close(fd);
}

static void test_unread(void)
{
	struct stat st;
	int fd = bind_receiver();
	struct pollux_client *c = begin();

	pollux_client_checkpoint(c, "/x", 1);
	step(c, 1);
	step(c, 2);
	is_str(kept(), "", "a report in the receiver's queue is not kept yet");
	pollux_client_close(c);
	is_str(kept(), "CHECKPOINT=/x\nSAMPLES=1\n;SAMPLES=2\n;",
	       "the last checkpoint and step are kept at the end");
	ok(stat(kept_path, &st) == 0 && (st.st_mode & 0777) == 0600,
	   "the file of kept reports is for nobody else");
	is_str(kept(), "", "a second reading begins where the first ended");
	close(fd);
}

static void test_dead(void)
{
	int fd = bind_receiver();
	struct pollux_client *c = begin();

	step(c, 1);
	close(fd);
	pollux_client_close(c);
	is_str(kept(), "SAMPLES=1\n;", "what a dead receiver had not read is kept");

	fd = bind_receiver();
	c = begin();
	step(c, 1);
	close(fd);
	fd = bind_receiver();
	pollux_client_close(c);
	is_str(kept(), "SAMPLES=1\n;", "a report is kept though another receiver is there now");
	close(fd);
}

static double monotonic_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void test_refused(void)
{
	int fd = bind_receiver();
	struct pollux_client *c = begin();
	int taken = 0, most, n = 0;
	double begin_s;

	step(c, 1);
	close(fd);
	begin_s = monotonic_s();
	for (int i = 2; i < 500; i++)
		taken += step(c, i);
	/* one each 50 ms, by a clock that goes in steps of 10 ms at most */
	most = 2 + (int)((monotonic_s() - begin_s) / 0.04);
	is_int(taken, 0, "no receiver takes a step");
	for (const char *p = kept(); (p = strchr(p, ';')); p++)
		n++;
	ok(!strncmp(said, "SAMPLES=2\n;", 11) && n <= most,
	   "the first refused report is kept at once, and few soon after");
	ok(!pollux_client_checkpoint(c, "/y", 499), "no receiver takes a checkpoint");
	ok(strstr(kept(), "CHECKPOINT=/y\nSAMPLES=499\n;"), "a refused checkpoint is kept at once");
	step(c, 500);
	pollux_client_close(c);
	ok(strstr(kept(), "SAMPLES=500\n;"), "the last step is kept at the end");
}

static void test_places(void)
{
	struct stat st;

	unlink(socket_path);
	unlink(kept_path);
	close(open(socket_path, O_CREAT | O_WRONLY, 0600));
	ok(!kept_file_append(socket_path, 1, "SAMPLES=1\n", 10),
	   "nothing is kept beside a file that is no socket");
	unlink(socket_path);
	ok(symlink(socket_path, kept_path) == 0 &&
	   !kept_file_append(socket_path, 1, "SAMPLES=1\n", 10),
	   "no report is kept where a link stands");
	ok(stat(socket_path, &st) < 0, "the target of a link in place of the file is not made");
	unlink(kept_path);
	ok(mkfifo(kept_path, 0600) == 0 && !kept_file_append(socket_path, 1, "SAMPLES=1\n", 10),
	   "no report is kept in a FIFO");
	is_str(kept(), "", "a FIFO in place of the file is not read");
	unlink(kept_path);
	ok(!kept_file_append("/nonexistent/socket", 1, "x\n", 2),
	   "no report is kept where no directory is");
	ok(!kept_file_append(socket_path, 1, said, KEPT_REPORT_MAX_BYTES + 1),
	   "a report that is too long is not kept");
	for (int i = 0; i < 3 * KEPT_FILE_MAX_BYTES / KEPT_REPORT_MAX_BYTES; i++)
		kept_file_append(socket_path, 1, said, KEPT_REPORT_MAX_BYTES);
	ok(stat(kept_path, &st) == 0 && st.st_size < 2 * (off_t)KEPT_FILE_MAX_BYTES,
	   "the file of kept reports does not grow for ever");
	unlink(kept_path);
}

static void test_forms(void)
{
	int fd;

	place = (struct kept_place){ 0 };
	write_file("KEPT_NS=1500000000000000000\nSAMPLES=1\n\nSAMPLES=2\n\n\n\nSAMPLES=3");
	is_str(kept(), "SAMPLES=1\n;SAMPLES=2\n;\n;", "a message without its end waits");
	near(times[0], 1.5e9, 0, "a kept message has its own time");
	ok(fabs(times[1] - (double)time(NULL)) < 60,
	   "a kept message without a time has that of the file");
	place = (struct kept_place){ 0 };
	unlink(kept_path);
	memset(said, 'x', KEPT_REPORT_MAX_BYTES - 1);
	said[KEPT_REPORT_MAX_BYTES - 1] = '\n';
	fd = bind_receiver();
	ok(kept_file_append(socket_path, 1, said, KEPT_REPORT_MAX_BYTES) &&
	   strlen(kept()) == KEPT_REPORT_MAX_BYTES + 1,
	   "the time takes no room from the longest report");
	close(fd);
	write_file("A=1\n\n");
	is_str(kept(), "A=1\n;", "a file that was begun anew is read from its beginning");
	write_file("B=2\n\nC=3\n\n");
	is_str(kept(), "B=2\n;C=3\n;",
	       "a file that was begun anew and is longer is read from its start");
	write_file("B=2\n\nC=3\n\nD=4\n\n");
	is_str(kept(), "D=4\n;", "a file that goes on is read from where it was read");
	kept_reports_remove(socket_path);
	ok(access(kept_path, F_OK) < 0, "the file of kept reports is removed");
	is_str(kept(), "", "a missing file has no reports");
}

int main(void)
{
	if (!mkdtemp(directory)) {
		perror("mkdtemp");
		return 1;
	}
	snprintf(socket_path, sizeof(socket_path), "%s/socket", directory);
	snprintf(kept_path, sizeof(kept_path), "%s.kept", socket_path);
	setenv("POLLUX_REPORT_SOCKET", socket_path, 1);
	test_heard();
	test_unread();
	test_dead();
	test_refused();
	test_places();
	test_forms();
	unlink(socket_path);
	unlink(kept_path);
	rmdir(directory);
	return done();
}
