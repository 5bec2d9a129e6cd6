/* page_server.h - the page for a browser on this machine; private to src/cli. */
#ifndef POLLUX_CLI_PAGE_SERVER_H
#define POLLUX_CLI_PAGE_SERVER_H

#include "pollux/err.h"
#include "pollux/text.h"

struct page_server_options {
	int port;		/* 0: one that is free */
	double for_s;
	/* Writes the present content into an empty text. */
	int (*content)(const void *of, struct text *out, struct err *err);
	const void *of;
};

/* Serves the page on 127.0.0.1, to who has the random part of the address alone; prints the
 * address; returns after for_s, or once interrupted. EX_UNAVAILABLE: there is no libmicrohttpd, or
 * the port is taken. */
int page_serve(const struct page_server_options *options, struct err *err);

#endif
