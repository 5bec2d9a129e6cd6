/* page_server.c - pollux page --serve: answers a browser on this machine with the page.
 *
 * One thread does everything, so that the store is read as other commands read it. Only GET is
 * answered, and only to who knows the random part of the address and asks for 127.0.0.1 or
 * localhost: a name that somebody lets point here is refused. Everybody else gets 403, and nothing
 * with it.
 *
 * libmicrohttpd is loaded by dlopen instead of being linked: it brings nine libraries, which would
 * double the time in which every command starts. */
#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "commands.h"
#include "page_server.h"
#include "pollux/clock.h"
#include "pollux/report.h"
#include "pollux/view.h"

#define CONNECTIONS_MAX 16
#define REQUEST_BYTES 16384	/* of the lines of a request */
#define SILENCE_S 10		/* a connection that says nothing ends */
#define CONNECTION_S 60.0	/* every connection ends: one answers one request */
/* The content is read again no sooner, and in at most a tenth of the time. */
#define FRESH_S 1.0
#define READING_SHARE 0.1

/* --- the library --- */

/* Each signature is taken from the header, so a wrong call does not compile. */
#define FUNCTIONS(X) \
	X(MHD_start_daemon) X(MHD_stop_daemon) X(MHD_get_daemon_info) X(MHD_get_timeout) \
	X(MHD_run) X(MHD_lookup_connection_value) X(MHD_get_connection_info) \
	X(MHD_create_response_from_buffer) X(MHD_add_response_header) X(MHD_queue_response) \
	X(MHD_destroy_response)
#define FIELD(name) __typeof__(&(name)) (name);
static struct { FUNCTIONS(FIELD) } mhd;
#define SYMBOL(function) { #function, &mhd.function },
static const struct { const char *name; void *slot; } symbols[] = { FUNCTIONS(SYMBOL) };

static int load_library(struct err *err)
{
	void *library = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return err_set(err, EX_UNAVAILABLE, "no library to serve a page with: install "
			       "libmicrohttpd (%s)", dlerror());
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		void *address = dlsym(library, symbols[i].name);

		if (!address)
			return err_set(err, EX_UNAVAILABLE, "this libmicrohttpd has no %s",
				       symbols[i].name);
		memcpy(symbols[i].slot, &address, sizeof(address));
	}
	return 0;
}

/* --- state --- */

/* Random bytes as hexadecimal digits. */
struct secret {
	char s[33];
};

struct connection {
	int fd;			/* -1: none */
	double since_boot_s;
};

struct server {
	const struct page_server_options *options;
	struct secret token;
	struct text content;
	double read_boot_s, reading_s;	/* when the content was read, and how long that took */
	bool failed;			/* the last reading did */
	struct connection connections[CONNECTIONS_MAX];
};

static int make_secret(struct secret *secret, struct err *err)
{
	unsigned char bytes[sizeof(secret->s) / 2];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return err_set(err, EX_OSERR, "cannot get random bytes: %s", strerror(errno));
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(secret->s + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

/* Reads the content anew unless it is fresh. A failure is told once, and again after a success. */
static void refresh(struct server *s)
{
	double begin_s = clock_boot_s();
	struct text content = TEXT_INIT;
	struct err err = { 0 };
	bool failed;

	if (begin_s - s->read_boot_s < fmax(FRESH_S, s->reading_s / READING_SHARE))
		return;
	failed = s->options->content(s->options->of, &content, &err) != 0;
	if (failed && !s->failed)
		output_messagef("%s; '--serve' goes on", err.text);
	text_release(&s->content);
	s->content = content;
	s->failed = failed;
	s->read_boot_s = clock_boot_s();
	s->reading_s = s->read_boot_s - begin_s;
}

/* --- answers --- */

static enum MHD_Result send_answer(struct MHD_Connection *c, unsigned status, struct text *body,
				   const char *nonce)
{
	struct MHD_Response *r = mhd.MHD_create_response_from_buffer(
		body ? body->length : 0, body ? body->data : NULL, MHD_RESPMEM_MUST_COPY);
	static const char *const headers[][2] = {
		{ "Content-Type", "text/html; charset=utf-8" }, { "Cache-Control", "no-store" },
		{ "X-Content-Type-Options", "nosniff" }, { "Referrer-Policy", "no-referrer" },
		{ "X-Frame-Options", "DENY" }, { "Cross-Origin-Resource-Policy", "same-origin" },
		{ "Cross-Origin-Opener-Policy", "same-origin" },
	};
	struct text policy = TEXT_INIT;
	enum MHD_Result rc;

	if (!r)
		return MHD_NO;
	mhd.MHD_add_response_header(r, "Connection", "close");
	if (body) {
		page_add_policy(nonce, &policy);
		text_add(&policy, ";frame-ancestors 'none'");
		mhd.MHD_add_response_header(r, "Content-Security-Policy", policy.data);
		text_release(&policy);
	}
	for (size_t i = 0; body && i < sizeof(headers) / sizeof(headers[0]); i++)
		mhd.MHD_add_response_header(r, headers[i][0], headers[i][1]);
	rc = mhd.MHD_queue_response(c, status, r);
	mhd.MHD_destroy_response(r);
	return rc;
}

/* True for "127.0.0.1" and "localhost", with a port or without: of a port that ssh forwards the
 * number may be another one. */
static bool is_here(const char *host)
{
	static const char *const names[] = { "127.0.0.1", "localhost" };

	for (size_t i = 0; host && i < sizeof(names) / sizeof(names[0]); i++) {
		const char *rest = host + strlen(names[i]);

		if (text_starts_with(host, names[i]) &&
		    (*rest == '\0' || (*rest == ':' && !rest[1 + strspn(rest + 1, "0123456789")])))
			return true;
	}
	return false;
}

/* Returns what follows "/TOKEN" in the path; NULL: the path has another token. Takes the same time
 * however much of the token is right. */
static const char *after_token(const struct server *s, const char *path)
{
	size_t length = strlen(s->token.s);
	char given[sizeof(s->token.s)] = "";
	unsigned char differs = 0;

	snprintf(given, sizeof(given), "%s", *path ? path + 1 : "");
	for (size_t i = 0; i < length; i++)
		differs |= (unsigned char)(given[i] ^ s->token.s[i]);
	return *path == '/' && !differs ? path + 1 + length : NULL;
}

static enum MHD_Result send_document(const struct server *s, struct MHD_Connection *c)
{
	struct text document = TEXT_INIT;
	struct secret nonce;
	struct err ignored;
	enum MHD_Result rc;

	if (make_secret(&nonce, &ignored))
		return MHD_NO;
	page_add_document(&(struct page_frame){ .nonce = nonce.s },
			  s->content.data, &document);
	rc = send_answer(c, MHD_HTTP_OK, &document, nonce.s);
	text_release(&document);
	return rc;
}

/* Called when the lines of a request have been read; what else it sends is not read. The library
 * rules the parameters. */
/* NOLINTBEGIN(readability-function-size,readability-non-const-parameter) */
static enum MHD_Result answer(void *server, struct MHD_Connection *c, const char *path,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_size, void **state)
/* NOLINTEND(readability-function-size,readability-non-const-parameter) */
{
	struct server *s = server;
	const char *rest = after_token(s, path);

	(void)version, (void)upload, (void)upload_size, (void)state;
	if (!rest || !is_here(mhd.MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Host")))
		return send_answer(c, MHD_HTTP_FORBIDDEN, NULL, NULL);
	if (strcmp(method, "GET") != 0)
		return send_answer(c, MHD_HTTP_METHOD_NOT_ALLOWED, NULL, NULL);
	if (strcmp(rest, "") != 0 && strcmp(rest, "/") != 0 && strcmp(rest, "/body") != 0)
		return send_answer(c, MHD_HTTP_NOT_FOUND, NULL, NULL);
	refresh(s);
	if (s->failed)
		return send_answer(c, MHD_HTTP_SERVICE_UNAVAILABLE, NULL, NULL);
	return strcmp(rest, "/body") != 0 ? send_document(s, c)
					  : send_answer(c, MHD_HTTP_OK, &s->content, NULL);
}

/* --- connections --- */

/* Called at the begin and the end of each connection; *slot is kept by the library between them. */
static void note_connection(void *server, struct MHD_Connection *c, void **slot,
			    enum MHD_ConnectionNotificationCode code)
{
	struct server *s = server;
	struct connection *entry = *slot;

	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (entry)
			entry->fd = -1;
		return;
	}
	for (int i = 0; i < CONNECTIONS_MAX; i++) {
		entry = &s->connections[i];
		if (entry->fd >= 0)
			continue;
		entry->fd = mhd.MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD)
				    ->connect_fd;
		entry->since_boot_s = clock_boot_s();
		*slot = entry;
		return;
	}
}

/* Ends connections that go on for too long, as of a request that comes byte by byte: the library
 * sees their ends. */
static void end_old_connections(struct server *s)
{
	double now_s = clock_boot_s();

	for (int i = 0; i < CONNECTIONS_MAX; i++)
		if (s->connections[i].fd >= 0 &&
		    now_s - s->connections[i].since_boot_s > CONNECTION_S)
			shutdown(s->connections[i].fd, SHUT_RDWR);
}

/* Listens on 127.0.0.1. *port: that of the caller; 0 becomes one that is free. */
static int listen_here(int *port, struct err *err)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_port = htons((uint16_t)*port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;

	if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
	    bind(fd, (struct sockaddr *)&address, size) == 0 &&
	    listen(fd, CONNECTIONS_MAX) == 0 &&
	    getsockname(fd, (struct sockaddr *)&address, &size) == 0) {
		*port = ntohs(address.sin_port);
		return fd;
	}
	if (errno == EADDRINUSE)
		err_set(err, EX_UNAVAILABLE, "port %d is in use: name another one, or none", *port);
	else
		err_set(err, EX_UNAVAILABLE, "cannot listen on 127.0.0.1: %s", strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

static struct MHD_Daemon *start(struct server *s, int fd)
{
	for (int i = 0; i < CONNECTIONS_MAX; i++)
		s->connections[i].fd = -1;
	return mhd.MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, answer, s,
				    MHD_OPTION_LISTEN_SOCKET, fd,
				    MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
				    MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_BYTES,
				    MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SILENCE_S,
				    MHD_OPTION_STRICT_FOR_CLIENT, 1,
				    MHD_OPTION_NOTIFY_CONNECTION, note_connection, s,
				    MHD_OPTION_END);
}

static void tell_address(const struct server *s, int port, double end_wall_s)
{
	const struct passwd *user = getpwuid(getuid());

	printf("http://127.0.0.1:%d/%s/\n"
	       "Who has this address sees all jobs; nothing can be changed. From another machine, "
	       "with the same address:\n"
	       "ssh -L %d:127.0.0.1:%d %s%s%s\n"
	       "Ctrl-C ends it, or %s.\n", port, s->token.s, port, port,
	       user ? user->pw_name : "", user ? "@" : "", page_host().s,
	       format_time(end_wall_s, clock_wall_s()).s);
}

static void serve(struct server *s, struct MHD_Daemon *daemon, double end_boot_s)
{
	struct pollfd events = { .events = POLLIN };

	events.fd = mhd.MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
	while (!interrupted && clock_boot_s() < end_boot_s) {
		MHD_UNSIGNED_LONG_LONG wait_ms = 1000, library_ms;

		if (mhd.MHD_get_timeout(daemon, &library_ms) == MHD_YES && library_ms < wait_ms)
			wait_ms = library_ms;
		poll(&events, 1, (int)wait_ms);
		mhd.MHD_run(daemon);
		end_old_connections(s);
	}
}

int page_serve(const struct page_server_options *options, struct err *err)
{
	struct server s = { .options = options, .content = TEXT_INIT };
	struct MHD_Daemon *daemon;
	int port = options->port, fd, rc;

	if (options->content(options->of, &s.content, err) || load_library(err) ||
	    make_secret(&s.token, err) || (fd = listen_here(&port, err)) < 0) {
		text_release(&s.content);
		return -1;
	}
	interruptions_catch();
	daemon = start(&s, fd);
	if (!daemon) {
		close(fd);
		text_release(&s.content);
		return err_set(err, EX_UNAVAILABLE, "libmicrohttpd does not start");
	}
	s.read_boot_s = clock_boot_s();
	tell_address(&s, port, clock_wall_s() + options->for_s);
	rc = output_flush(err);
	if (rc == 0)
		serve(&s, daemon, clock_boot_s() + options->for_s);
	mhd.MHD_stop_daemon(daemon);	/* closes the socket, too */
	text_release(&s.content);
	return rc;
}
