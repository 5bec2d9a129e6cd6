/* placement.c - lists of nodes, and the names that profiles give them. */
#include <stdlib.h>
#include <string.h>

#include "placement.h"
#include "pollux/mem.h"

void placement_release(struct placement *p)
{
	free(p->nodes);
	free(p->gpus);
	*p = (struct placement){ 0 };
}

void placement_add(struct placement *p, int node, int gpus)
{
	p->nodes = xreallocarray(p->nodes, (size_t)p->n + 1, sizeof(*p->nodes));
	p->gpus = xreallocarray(p->gpus, (size_t)p->n + 1, sizeof(*p->gpus));
	p->nodes[p->n] = node;
	p->gpus[p->n++] = gpus;
	p->replicas += gpus;
}

bool placement_equal(const struct placement *a, const struct placement *b)
{
	if (a->n != b->n)
		return false;
	for (int i = 0; i < a->n; i++)
		if (a->nodes[i] != b->nodes[i] || a->gpus[i] != b->gpus[i])
			return false;
	return true;
}

void placement_copy(struct placement *to, const struct placement *from)
{
	struct placement copy = { 0 };

	for (int i = 0; i < from->n; i++)
		placement_add(&copy, from->nodes[i], from->gpus[i]);
	placement_release(to);
	*to = copy;
}

void placement_canonical(const char *digits, char *out)
{
	size_t n = strlen(digits), best = 0;

	for (size_t start = 1; start < n; start++)
		for (size_t i = 0; i < n; i++) {
			char a = digits[(start + i) % n], b = digits[(best + i) % n];

			if (a != b) {
				best = a < b ? start : best;
				break;
			}
		}
	for (size_t i = 0; i < n; i++)
		out[i] = digits[(best + i) % n];
	out[n] = '\0';
}

bool placement_digits(const int *gpus, int n, char *out, int size)
{
	char digits[64] = "";

	if (n >= size || n >= (int)sizeof(digits))
		return false;
	for (int i = 0; i < n; i++) {
		if (gpus[i] > 9)
			return false;
		digits[i] = (char)('0' + gpus[i]);
	}
	digits[n] = '\0';
	placement_canonical(digits, out);
	return true;
}
