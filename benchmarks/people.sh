#!/bin/sh
# people.sh [SLICE [SLICES]] - three accounts share two slots of the CPU; each wants both for as
# long as this takes. How far from fair is what they have over any ten slices, after the first five?
# As root. A pass of each comes some tenths of a slice after the last one; with cron and slices of
# ten minutes it is one tenth.
set -eu
slice=${1-3} slices=${2-30}
: "${POLLUX:=$(cd "$(dirname "$0")/.." && pwd)/build/pollux}"
[ "$(id -u)" = 0 ] || { echo 'people.sh: only root can be three people'; exit 0; }
dir=$(mktemp -d)
chmod 755 "$dir"
uids='70001 70002 70003'
export POLLUX_SHARED_DIR="$dir/shared" POLLUX_SLOTS=2 POLLUX_SLICE="$slice" POLLUX_POLICY=las \
	POLLUX_SUBMIT_PASS=no
install -d -m 1777 "$dir/shared"
as() {
	uid=$1
	shift
	setpriv --reuid="$uid" --regid="$uid" --clear-groups env HOME="$dir/$uid" \
		POLLUX_DIR="$dir/$uid/store" "$POLLUX" "$@"
}
passing=
end() {
	[ -z "$passing" ] || kill "$passing" 2>/dev/null || :
	for round in 1 2 3 4 5 6; do
		for uid in $uids; do
			# shellcheck disable=SC2046 # pids
			kill -9 $(ps -o pid= -u "$uid") 2>/dev/null || :
		done
		sleep 0.2
	done
	: "$round"
	rm -rf "$dir"
}
trap end EXIT
for uid in $uids; do
	install -d -m 755 -o "$uid" -g "$uid" "$dir/$uid"
	for job in 1 2 3 4; do
		: "$job"
		as "$uid" submit -q --replicas 1 --preempt --suspend never --grace 0 -- \
			sleep 100000 >/dev/null
	done
done
passes() {
	while [ -e "$dir/shared" ]; do
		for uid in $uids; do as "$uid" schedule || :; done
		sleep "$(echo "$slice / 10" | bc -l)"
	done
}
passes >/dev/null 2>&1 &
passing=$!
# Samples: the time, then the devices that each has.
end_s=$(($(date +%s) + slice * slices))
while [ "$(date +%s)" -lt "$end_s" ]; do
	printf '%s' "$(date +%s.%N)"
	for uid in $uids; do
		printf ' %s' "$(sqlite3 -cmd '.timeout 5000' "$dir/$uid/store/pollux.db" \
			'SELECT count(*) FROM run_devices WHERE in_use')"
	done
	echo
	sleep 0.05
done >"$dir/samples"
awk -v slice="$slice" '
	{
		if (NR > 1) {
			dt = $1 - t[NR - 1]
			for (p = 1; p <= 3; p++) sum[p] += had[p] * dt
		}
		t[NR] = $1
		for (p = 1; p <= 3; p++) { had[p] = $(p + 1); at[NR, p] = sum[p] }
	}
	END {
		for (i = 1; i <= NR; i++) {
			if (t[i] - t[1] < 5 * slice) continue
			while (k < NR && t[k] < t[i] + 10 * slice) k++
			if (t[k] < t[i] + 10 * slice) break
			all = 0
			for (p = 1; p <= 3; p++) all += at[k, p] - at[i, p]
			for (p = 1; p <= 3; p++) {
				off = at[k, p] - at[i, p] - all / 3
				if (off < 0) off = -off
				if (off > worst) worst = off
			}
			windows++
		}
		span = t[NR] - t[1]
		printf "%d windows of 10 slices: %.2f slices off the fair share at worst\n",
			windows, worst / slice
		printf "devices of each %.3f %.3f %.3f, in use %.1f %%\n", sum[1] / span,
			sum[2] / span, sum[3] / span,
			100 * (sum[1] + sum[2] + sum[3]) / (2 * span)
	}' "$dir/samples"
