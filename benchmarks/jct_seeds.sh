#!/bin/sh
# jct_seeds.sh [POLICY...] - what adaptation costs the results: jct.sh with several seeds, and a
# table of accuracies that were missed, of samples to the accuracy and of completion times beside
# fifo.
#
# Default: fifo goodput tsp, with the seeds of JCT_SEEDS (default: 12, of which no one is 1). The
# means of samples are over the jobs that reached their accuracy under fifo and under the policy. An
# hour or more; run it on a quiet machine:
#
#	JCT_PYTHON=venv/bin/python benchmarks/jct_seeds.sh
#	JCT_SEEDS='7 8' JCT_DIR=/tmp/jct ... benchmarks/jct_seeds.sh fifo goodput
set -eu

here=$(cd "$(dirname "$0")" && pwd)
seeds=${JCT_SEEDS:-7 8 9 10 11 12 13 14 15 16 17 18}
made=''
work=${JCT_DIR:-}
[ -n "$work" ] || made=$(mktemp -d "${TMPDIR:-/tmp}/pollux-jct-seeds.XXXXXX")
[ -n "$work" ] || work=$made
trap '[ -z "$made" ] || rm -rf "$made"' EXIT
trap 'exit 1' HUP INT TERM
[ $# -gt 0 ] || set -- fifo goodput tsp

for seed in $seeds; do
	mkdir -p "$work/$seed"
	JCT_SEED=$seed JCT_DIR=$work/$seed "$here/jct.sh" "$@" >"$work/$seed/report" || :
	for policy; do
		[ ! -e "$work/$seed/$policy/results" ] ||
			sed "s/^/$seed	$policy	/" "$work/$seed/$policy/results"
	done >"$work/$seed/all"
	sed "s/^/$seed /" "$work/$seed/stream" >"$work/$seed/targets"
done
for seed in $seeds; do cat "$work/$seed/targets"; done >"$work/targets"
for seed in $seeds; do cat "$work/$seed/all"; done >"$work/all"

# Lines: seed, policy, name, submitted, ended, samples, accuracy.
awk '
FILENAME ~ /targets$/ { target[$1, $2] = $9; next }
{ split($0, f, "\t"); seed = f[1]; policy = f[2]; job = seed SUBSEP f[3] }
!(seed in seen_seed) { seen_seed[seed]; seeds[++n_seeds] = seed }
!(policy in seen) { seen[policy]; policies[++n] = policy }
{
	jobs[seed, policy]++
	if (f[5] == "-" || f[7] == "-" || f[7] < target[job]) {
		missed[seed, policy]++
		printf "missed: seed %s, %s under %s: %s of %s after %s samples\n", seed, f[3],
			policy, f[7], target[job], f[6]
	} else {
		samples[policy, job] = f[6]
	}
	if (f[5] != "-") { time[seed, policy] += f[5] - f[4]; ended[seed, policy]++ }
}
function line(seed, p,   key, part, ratio, k) {
	for (key in samples) {
		split(key, part, SUBSEP)
		if (part[1] != p || part[2] != seed || !(("fifo", part[2], part[3]) in samples))
			continue
		ratio += samples[key] / samples["fifo", part[2], part[3]]
		k++
	}
	printf "%-6s %-10s %6d %7d %16s %12.1f\n", seed, p, jobs[seed, p], missed[seed, p],
		k ? sprintf("%.3f", ratio / k) : "-",
		ended[seed, p] ? time[seed, p] / ended[seed, p] : 0
	all_jobs[p] += jobs[seed, p]; all_missed[p] += missed[seed, p]
	all_ratio[p] += ratio; all_k[p] += k
	all_time[p] += time[seed, p]; all_ended[p] += ended[seed, p]
}
END {
	printf "\n%-6s %-10s %6s %7s %16s %12s\n", "seed", "policy", "jobs", "missed",
		"samples of fifo", "mean, s"
	for (i = 1; i <= n_seeds; i++)
		for (j = 1; j <= n; j++)
			if ((seeds[i], policies[j]) in jobs) line(seeds[i], policies[j])
	for (j = 1; j <= n; j++) {
		p = policies[j]
		printf "%-6s %-10s %6d %7d %16s %12.1f\n", "all", p, all_jobs[p], all_missed[p],
			all_k[p] ? sprintf("%.3f", all_ratio[p] / all_k[p]) : "-",
			all_ended[p] ? all_time[p] / all_ended[p] : 0
	}
}' "$work/targets" "$work/all"
