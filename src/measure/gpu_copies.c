/* gpu_copies.c - times launches, and copies within a GPU's memory, to and from the host, and
 * between GPUs. */
#include "gpu_work.h"

#ifdef POLLUX_CUDA
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/clock.h"

#define BYTES_MOST ((size_t)256 << 20)
#define BYTES_MOST_QUICK ((size_t)16 << 20)

struct gpu_copy {
	struct gpu_work *g;
	void *to;
	const void *from;
	size_t bytes;
	size_t span, at;		/* each copy takes the next part of span; 0: the same */
	enum cudaMemcpyKind kind;
	int to_ordinal, from_ordinal;	/* between GPUs they differ */
	bool waits;			/* the host's memory is pageable */
};

/* Copies in a stream: within the GPU's memory, between this and pinned memory of the host, or to
 * another GPU. Or from or to pageable memory, through buffers of the driver: then the time is that
 * of the calls, which wait. */
static double run_copy(void *state, int64_t count)
{
	struct gpu_copy *c = state;
	const struct cuda *cuda = &c->g->cuda;
	int64_t begun_ns = clock_boot_ns();

	if (!c->waits)
		gpu_begin(c->g);
	for (int64_t i = 0; i < count; i++, c->at += c->bytes) {
		cudaError_t status;

		if (c->at + c->bytes > c->span)
			c->at = 0;
		if (c->to_ordinal != c->from_ordinal)
			status = cuda->cudaMemcpyPeerAsync(c->to, c->to_ordinal, c->from,
							   c->from_ordinal, c->bytes, c->g->stream);
		else if (c->waits)
			status = cuda->cudaMemcpy(c->to, c->from, c->bytes, c->kind);
		else
			status = cuda->cudaMemcpyAsync((char *)c->to + c->at,
						       (const char *)c->from + c->at, c->bytes,
						       c->kind, c->g->stream);
		if (!gpu_ok(c->g, status, c->to_ordinal != c->from_ordinal
			    ? "copy from one GPU to another" : "copy"))
			return (double)NAN;
	}
	if (!c->waits)
		return gpu_end(c->g);
	if (!gpu_ok(c->g, cuda->cudaDeviceSynchronize(), "wait for the GPU"))
		return (double)NAN;
	return 1e-9 * (double)(clock_boot_ns() - begun_ns);
}

static size_t bytes_most(const struct sink *sink)
{
	return sink->quick ? BYTES_MOST_QUICK : BYTES_MOST;
}

static void sweep_bytes(struct sink *sink, struct gpu_copy *c, enum measured what,
			const char *variant, int devices)
{
	for (c->bytes = (size_t)64 << 10; c->bytes <= bytes_most(sink); c->bytes <<= 4) {
		struct device_measurement m = {
			.what = what, .devices = devices, .bytes = (int64_t)c->bytes,
		};

		memcpy(m.variant, variant, strlen(variant));
		if (sink_time(sink, &m, run_copy, c)) {
			sink_note(sink, "no copies (%s) of %zu bytes and up: %s", variant, c->bytes,
				  c->g->err->text);
			return;
		}
	}
}

static void host_copies(struct sink *sink, struct gpu_work *g, void *on_gpu, bool pinned)
{
	size_t most = bytes_most(sink);
	void *host = NULL;
	struct gpu_copy to = { .g = g, .to = on_gpu, .kind = cudaMemcpyHostToDevice,
			       .waits = !pinned };
	struct gpu_copy back = { .g = g, .from = on_gpu, .kind = cudaMemcpyDeviceToHost,
				 .waits = !pinned };

	if (pinned && !gpu_ok(g, g->cuda.cudaMallocHost(&host, most), "allocate pinned memory")) {
		sink_note(sink, "no copies of pinned memory: %s", g->err->text);
		return;
	}
	if (!pinned)
		host = malloc(most);
	if (!host) {
		sink_note(sink, "no copies of pageable memory: the host has no %zu bytes to spare",
			  most);
		return;
	}
	random_fill_fp32(host, most / sizeof(float));
	to.from = back.to = host;
	sweep_bytes(sink, &to, MEASURED_COPY, pinned ? "pinned to device" : "pageable to device",
		    1);
	sweep_bytes(sink, &back, MEASURED_COPY, pinned ? "pinned to host" : "pageable to host", 1);
	if (pinned)
		g->cuda.cudaFreeHost(host);
	else
		free(host);
}

void gpu_copies(struct sink *sink, struct gpu_work *g)
{
	size_t most = bytes_most(sink);
	size_t span = most > gpu_beyond_cache(g) ? most : gpu_beyond_cache(g);
	char *a = NULL, *b = NULL;

	if (gpu_allocate(g, &a, span) && gpu_allocate(g, &b, span) && gpu_fill(g, a, span)) {
		struct gpu_copy within = { .g = g, .to = b, .from = a, .span = span,
					   .kind = cudaMemcpyDeviceToDevice };

		sweep_bytes(sink, &within, MEASURED_MEMORY, "", 1);
		host_copies(sink, g, a, false);
		host_copies(sink, g, a, true);
	} else {
		sink_note(sink, "no copies: %s", g->err->text);
	}
	g->cuda.cudaFree(a);
	g->cuda.cudaFree(b);
}

/* Times one direction; the other is taken to be alike. */
void gpu_peer_copies(struct sink *sink, struct gpu_work *from, struct gpu_work *to)
{
	struct gpu_copy c = { .g = from, .to_ordinal = to->ordinal, .from_ordinal = from->ordinal };
	size_t most = bytes_most(sink);
	void *source = NULL, *target = NULL;
	int direct = 0;

	from->cuda.cudaDeviceCanAccessPeer(&direct, from->ordinal, to->ordinal);
	if (direct)
		/* of from, the current GPU */
		from->cuda.cudaDeviceEnablePeerAccess(to->ordinal, 0);
	else
		sink_note(sink, "the GPUs cannot reach each other's memory: copies go by the host");
	if (gpu_ok(from, from->cuda.cudaMalloc(&source, most), "allocate memory") &&
	    gpu_ok(from, from->cuda.cudaSetDevice(to->ordinal), "choose the other GPU") &&
	    gpu_ok(from, from->cuda.cudaMalloc(&target, most), "allocate memory") &&
	    gpu_ok(from, from->cuda.cudaSetDevice(from->ordinal), "choose the GPU") &&
	    gpu_fill(from, source, most)) {
		c.from = source;
		c.to = target;
		sweep_bytes(sink, &c, MEASURED_COPY, "peer", 2);
	} else {
		sink_note(sink, "no copies from one GPU to another: %s", from->err->text);
	}
}

/* --- launches --- */

struct launch {
	struct gpu_work *g;
	float *x;
	bool wait;			/* for each launch before the next */
};

/* Launches a cuBLAS kernel that scales one number, the smallest kernel available without a GPU
 * compiler. */
static double run_launch(void *state, int64_t count)
{
	struct launch *l = state;
	const struct cuda *c = &l->g->cuda;
	int64_t begun_ns = clock_boot_ns();
	const float one = 1;

	for (int64_t i = 0; i < count; i++) {
		if (!gpu_blas_ok(l->g, c->cublasSscal(l->g->blas, 1, &one, l->x, 1),
				 "launch a kernel"))
			return (double)NAN;
		if (l->wait &&
		    !gpu_ok(l->g, c->cudaStreamSynchronize(l->g->stream), "wait for a kernel"))
			return (double)NAN;
	}
	if (!gpu_ok(l->g, c->cudaStreamSynchronize(l->g->stream), "wait for a kernel"))
		return (double)NAN;
	return 1e-9 * (double)(clock_boot_ns() - begun_ns);
}

void gpu_launches(struct sink *sink, struct gpu_work *g)
{
	static const char *const variants[] = { "one after another", "until it has ended" };
	struct launch l = { .g = g };
	void *x = NULL;

	if (!gpu_ok(g, g->cuda.cudaMalloc(&x, sizeof(float)), "allocate memory") ||
	    !gpu_ok(g, g->cuda.cudaMemset(x, 0, sizeof(float)), "fill memory")) {
		sink_note(sink, "no launches: %s", g->err->text);
		return;
	}
	l.x = x;
	for (int wait = 1; wait >= 0; wait--) {
		struct device_measurement m = { .what = MEASURED_LAUNCH, .devices = 1 };

		l.wait = wait;
		memcpy(m.variant, variants[wait], strlen(variants[wait]));
		if (sink_time(sink, &m, run_launch, &l))
			sink_note(sink, "no launches: %s", g->err->text);
	}
	g->cuda.cudaFree(x);
}
#endif
