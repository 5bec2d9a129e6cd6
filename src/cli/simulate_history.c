/* simulate_history.c - pollux simulate --from-store: what the machine's own jobs would have come
 * to. */
#include <stdlib.h>
#include <string.h>

#include "pollux/history.h"
#include "pollux/mem.h"
#include "pollux/report.h"
#include "simulate.h"

static int add_policy(const struct policy **list, int n, const struct policy *policy)
{
	for (int i = 0; i < n; i++)
		if (list[i] == policy)
			return n;
	if (policy)
		list[n++] = policy;
	return n;
}

static int check_policies(const struct text_list *names, struct err *err)
{
	for (size_t i = 0; i < names->count; i++) {
		char *known;

		if (strcmp(names->items[i], "all") == 0 || policy_find(names->items[i]))
			continue;
		known = policy_names(false);
		usage_error(&cmd_simulate, err, "no policy '%.60s': all, %s", names->items[i],
			    known);
		free(known);
		return -1;
	}
	return 0;
}

/* Each once, in room for n_policies. Returns how many. */
static int choose_policies(const struct text_list *names, const struct policy *now,
			   const struct policy **list)
{
	int n = 0;

	for (size_t i = 0; i < names->count; i++) {
		for (int p = 0; p < n_policies && strcmp(names->items[i], "all") == 0; p++)
			n = add_policy(list, n, policies[p]);
		n = add_policy(list, n, policy_find(names->items[i]));
	}
	if (n)
		return n;
	n = add_policy(list, n, now);
	n = add_policy(list, n, &policy_fifo);
	n = add_policy(list, n, &policy_las);
	return add_policy(list, n, &policy_pollux);
}

static int simulate_and_show(const struct history_request *q, const struct history *h,
			     struct err *err)
{
	const struct policy **list = xcalloc((size_t)n_policies, sizeof(const struct policy *));
	int n = choose_policies(q->policies, h->policy, list);
	struct output out = output_stdout("auto");
	struct history_report report;
	int rc = history_simulate(h, list, n, q->interval_s, &report, err);

	if (rc == 0 && q->json)
		history_print_json(&report, stdout);
	else if (rc == 0)
		history_print(&report, &out);
	if (rc == 0 && q->plot)
		rc = history_draw(&report, q->plot, err);
	history_report_release(&report);
	free(list);
	return rc;
}

int simulate_history(const struct history_request *q, struct err *err)
{
	struct session s;
	struct history h;
	int rc;

	if (check_policies(q->policies, err) || (q->plot && picture_check(q->plot, err)) ||
	    session_open(&s, STORE_READ, err))
		return -1;
	rc = history_read(&s, q->devices, q->slice_s, &h, err);
	session_close(&s);
	if (rc)
		return -1;
	rc = simulate_and_show(q, &h, err);
	history_release(&h);
	return rc;
}
