/* policy_names.h - the names of the policies, for the settings too. */
#ifndef POLLUX_POLICY_NAMES_H
#define POLLUX_POLICY_NAMES_H

/* Every policy, in the order of listings: X(name, LIVE) for policies whose inputs a running
 * machine has, X(name, SIMULATED) for those of simulations alone, which are in src/sched/published.
 * Policies of execution plans alone (rubick, with --plans) and of racks alone (racks.h, with
 * --racks) are not here. */
#define POLICIES(X) \
	X(goodput, LIVE) X(pollux, LIVE) X(sia, SIMULATED) X(optimus, SIMULATED) \
	X(tiresias, SIMULATED) X(srtf, SIMULATED) X(las, LIVE) X(fifo, LIVE)

/* " goodput pollux las fifo", and " goodput pollux sia ...", as string literals. */
#define POLICY_NAME(name, use) " " #name
#define POLICY_NAME_OF_LIVE(name) " " #name
#define POLICY_NAME_OF_SIMULATED(name)
#define POLICY_NAME_IF_LIVE(name, use) POLICY_NAME_OF_##use(name)
#define POLICY_NAMES POLICIES(POLICY_NAME)
#define POLICY_LIVE_NAMES POLICIES(POLICY_NAME_IF_LIVE)

#endif
