#!/bin/sh
# ends_live.sh - how true the ends are that `pollux status` tells of real jobs.
#
# JOBS (24) jobs of 40 to 400 steps of 0.25 s, lengths declared, come within two minutes on SLOTS
# (4) processor slots; they save nothing and take turns by suspension, slices of 30 s. Every 5
# seconds `pollux status --json` tells the ends of all of them. Printed: how many intervals held
# the real end, how many jobs ended before and after theirs. SEED (1) is that of the lengths. About
# ten minutes. Nothing is judged by the exit status.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
pollux=${POLLUX:-$root/build/pollux}
made=$(mktemp -d "${TMPDIR:-/tmp}/pollux-ends-live.XXXXXX")
POLLUX_DIR=$made/store POLLUX_SLOTS=${SLOTS-4} POLLUX_SLICE=30s POLLUX_NVML=none
export POLLUX_DIR POLLUX_SLOTS POLLUX_SLICE POLLUX_NVML
export POLLUX_SUBMIT_PASS=no # passes come when this script says so
unset XDG_STATE_HOME XDG_CONFIG_HOME

finish() {
	for id in $("$pollux" status --json 2>/dev/null | sed -n 's/^      "id": \([0-9]*\),$/\1/p')
	do
		"$pollux" cancel "$id" >"$made/log" 2>&1 || continue
		"$pollux" wait --timeout 60 "$id" >"$made/log" 2>&1 || :
	done
	sleep 1
	rm -rf "$made"
}
trap finish EXIT
trap 'exit 1' HUP INT TERM

cat >"$made/job" <<'EOF'
#!/bin/sh
i=0
while [ $i -lt "$1" ]; do
	sleep 0.25
	i=$((i + 1))
	"$POLLUX_PROGRAM" report STEP=$i
done
EOF
chmod +x "$made/job"
POLLUX_PROGRAM=$pollux
export POLLUX_PROGRAM

look() {
	"$pollux" schedule >"$made/log" 2>&1
	"$pollux" status --json --all >"$made/look.$(printf %04d "$looks")"
	looks=$((looks + 1))
}
looks=0
perl -e 'srand shift; printf "%.0f %.1f\n", 40 * 10 ** rand, rand 10 for 1 .. shift' "${SEED-1}" \
	"${JOBS-24}" >"$made/jobs"
while read -r steps pause; do
	"$pollux" submit -q -n "steps-$steps" --steps "$steps" -- "$made/job" "$steps" >"$made/log"
	look
	sleep "$pause"
done <"$made/jobs"
while "$pollux" status --json |
	grep -Eq '"state": "(queued|running|starting|stopping|suspended)"'; do
	look
	sleep 5
done
look
cat "$made"/look.* | perl -MJSON::PP -0777 -ne '
	my @looks = JSON::PP->new->incr_parse($_);
	my %end = map { $_->{id} => $_->{end_time_s} } @{$looks[-1]{jobs}};
	for my $look (@looks) {
		for (grep { $_->{state} =~ /^(?:queued|running|starting|suspended)$/ }
				@{$look->{jobs}}) {
			my $kind = $_->{state} eq "running" ? "running" : "waiting";
			my ($from, $to) = ($_->{end_from_s}, $_->{end_to_s});

			for my $n ($kind, "all") {
				defined $from ? $told{$n}++ : $not{$n}++;
				defined $from or next;
				$held{$n}++ if $end{$_->{id}} >= $from && $end{$_->{id}} <= $to;
				$before{$n}++ if $end{$_->{id}} < $from;
				$width{$n} += ($to - $from) / 60;
			}
		}
	}
	printf "%-8s %5d told %4d not   held %.3f  before %.3f  after %.3f  width %.1f min\n", $_,
		$told{$_}, $not{$_} // 0, $held{$_} / $told{$_}, ($before{$_} // 0) / $told{$_},
		1 - ($held{$_} + ($before{$_} // 0)) / $told{$_}, $width{$_} / $told{$_}
		for sort keys %told'
