/* nodes.h - devices on several nodes in a decision: private to src/pass. Where all devices are on
 * one node, decision.n_nodes is 1, and nothing here has any effect.
 *
 * A job has the numbers of devices of node_sizes.h: the regular ones in its range, or else the even
 * ones. A job that asks for a range without either waits, and is told the numbers near it. A
 * decision that cannot be placed, since the nodes' free devices are here and there, becomes one of
 * fewer devices, or the job waits for room. */
#ifndef POLLUX_PASS_NODES_H
#define POLLUX_PASS_NODES_H

#include "decision.h"

/* Finds the nodes of the devices, and how many usable devices of each kind each node has. Called
 * once it is known which devices are usable. */
void find_nodes(const struct snapshot *s, struct decision *d);
void forget_nodes(struct decision *d);
/* Takes candidates out that no number of devices suits, and raises the least number of the others
 * to the first that does. */
void fit_to_nodes(const struct snapshot *s, struct decision *d);
/* The job may have the least number of devices that the nodes allow, as the least that it declares,
 * however few it was measured on. */
void raise_least(const struct decision *d, int j, struct job_model *m);
/* The nodes of this kind (NULL: of the only one); NULL: one node, or no such device. */
const struct node_sizes *nodes_of_kind(const struct decision *d, const char *kind);
/* The table of a model on the nodes of this kind. */
struct goodput_table *table_on_nodes(const struct decision *d, const struct job_model *m,
				     const char *kind, int n_devices);
/* Once the candidates are weighed: leaves them the goodput of the numbers that they may have. */
void keep_to_nodes(const struct snapshot *s, struct decision *d);
/* Tells the policy of no more devices than the candidates could have together. */
void tell_reach(const struct snapshot *s, struct decision *d);
/* Rounds what a policy chose that looks at no goodput. */
void round_to_nodes(const struct snapshot *s, struct decision *d);
/* The largest number below this that the job may have, or has; 0: none. */
int lower_on_nodes(const struct decision *d, int j, int below);
/* nodes_assign.c: chooses the devices; holder as in assign.h. Choices that find no room are
 * lowered. */
void assign_to_nodes(const struct snapshot *s, struct decision *d, const int *holder);
/* The number of nodes of the devices that the job is to have. */
int decision_nodes(const struct decision *d, int j, int n_devices);

#endif
