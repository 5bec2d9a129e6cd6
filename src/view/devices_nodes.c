/* devices_nodes.c - prints the devices of a cluster by nodes. Nodes that are alike, and on which no
 * job of this store is, share a row. */
#include <stdlib.h>
#include <string.h>

#include "parts.h"
#include "pollux/device_users.h"
#include "pollux/mem.h"

/* The devices of one node and kind. */
struct node {
	const char *name, *kind;
	int n, own, others, down;
	int64_t job;		/* the first that is there; 0: none */
	int jobs;		/* runs on it */
	const char *reason;	/* why some are down; NULL: none is */
};

struct nodes {
	struct node *items;	/* owned */
	int n;
};

bool devices_have_nodes(const struct devices_view *v)
{
	return v->list.count > 0 && v->list.items[0].node[0];
}

/* Devices of a node stand together in the list. */
static struct node *node_of(struct nodes *nodes, const struct device *d)
{
	struct node *last = nodes->n > 0 ? &nodes->items[nodes->n - 1] : NULL;

	if (last && !strcmp(last->name, d->node) && !strcmp(last->kind, d->kind))
		return last;
	nodes->items = xgrow(nodes->items, nodes->n, sizeof(*nodes->items));
	last = &nodes->items[nodes->n++];
	*last = (struct node){ .name = d->node, .kind = d->kind };
	return last;
}

static void count_device(struct node *node, const struct devices_view *v, int index)
{
	const struct device *d = &v->list.items[index];
	int64_t job = devices_holder(v, d->id);

	node->n++;
	if (job) {
		node->own++;
		node->jobs += job != node->job;
		node->job = node->job ? node->job : job;
	} else if (!d->usable) {
		node->down++;
		node->reason = d->reason;
	} else if (v->lock_holders[index] && !strcmp(v->lock_holders[index], DEVICE_LOCK_OTHER)) {
		node->others++;
	} else if (v->lock_holders[index]) {
		node->down++;
		node->reason = "Slurm takes no job for the node now";
	}
}

static struct nodes find_nodes(const struct devices_view *v)
{
	struct nodes nodes = { 0 };

	for (int i = 0; i < v->list.count; i++)
		count_device(node_of(&nodes, &v->list.items[i]), v, i);
	return nodes;
}

static bool are_alike(const struct node *a, const struct node *b)
{
	return !a->own && !b->own && a->n == b->n && a->others == b->others && a->down == b->down &&
	       !strcmp(a->kind, b->kind) &&
	       (!a->reason || !strcmp(a->reason, b->reason));
}

/* --- the table --- */

/* A row for the node and those after it that are like it. */
static void add_alike(struct table *t, const struct nodes *nodes, int first, bool *done)
{
	const struct node *node = &nodes->items[first];
	struct text names = TEXT_INIT;
	int n = 0, last = first;

	for (int i = first; i < nodes->n; i++) {
		if (done[i] || (i != first && !are_alike(node, &nodes->items[i])))
			continue;
		done[i] = true;
		last = i;
		n++;
	}
	text_add(&names, node->name);
	if (n > 1)
		text_addf(&names, " .. %s", nodes->items[last].name);
	table_text(t, names.data);
	table_cell(t, "%d", n);
	table_cell(t, "%d", node->n);
	table_cell(t, "%d", node->n - node->own - node->others - node->down);
	table_cell(t, "%d", node->own);
	table_cell(t, "%d", node->others);
	table_cell(t, "%d", node->down);
	if (node->jobs > 1)
		table_cell(t, "job %lld and %d more", (long long)node->job, node->jobs - 1);
	else if (node->job)
		table_cell(t, "job %lld", (long long)node->job);
	else
		table_text(t, node->reason ? node->reason : "-");
	table_text(t, node->kind);
	if (node->down)
		table_style(t, STYLE_RED);
	text_release(&names);
}

void devices_print_nodes(const struct devices_view *v, const struct output *out)
{
	static const struct table_column columns[] = {
		{ .heading = "NODE", .flexible = true, .min_width = 7 },
		{ .heading = "NODES", .right = true },
		{ .heading = "EACH", .right = true },
		{ .heading = "IDLE", .right = true },
		{ .heading = "OWN", .right = true },
		{ .heading = "OTHERS", .right = true },
		{ .heading = "DOWN", .right = true },
		{ .heading = "HELD BY", .flexible = true, .min_width = 7 },
		{ .heading = "KIND", .flexible = true, .min_width = 7 },
	};
	struct nodes nodes = find_nodes(v);
	bool *done = xcalloc((size_t)nodes.n, sizeof(*done));
	struct table t;

	table_begin(&t, columns);
	for (int i = 0; i < nodes.n; i++)
		if (!done[i])
			add_alike(&t, &nodes, i, done);
	table_end(&t, out);
	free(done);
	free(nodes.items);
}

void devices_print_json_nodes(struct json *j, const struct devices_view *v)
{
	struct nodes nodes = find_nodes(v);

	json_array(j, "nodes");
	for (int i = 0; i < nodes.n; i++) {
		const struct node *node = &nodes.items[i];

		json_object(j, NULL);
		json_string(j, "node", node->name);
		json_string(j, "kind", node->kind);
		json_integer(j, "devices", node->n);
		json_integer(j, "idle", node->n - node->own - node->others - node->down);
		json_integer(j, "own", node->own);
		json_integer(j, "others", node->others);
		json_integer(j, "down", node->down);
		json_string(j, "reason", node->reason);
		json_end(j);
	}
	json_end(j);
	free(nodes.items);
}
