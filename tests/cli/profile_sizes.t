#!/bin/sh
# profile_sizes.t - what pollux profile makes of sizes that do not work, and what a job is given then.
# shellcheck disable=SC2016,SC2317  # Perl; functions run by status and wait_for
. "$(dirname "$0")/tap.sh"
unset COLUMNS POLLUX_SLICE POLLUX_POLICY
HWLOC_SYNTHETIC='package:1 core:2 pu:1' POLLUX_SLOTS=2
export HWLOC_SYNTHETIC POLLUX_SLOTS

store() { sqlite3 -cmd '.timeout 10000' "$POLLUX_DIR/pollux.db" "$@"; }
cleanup() {
	for id in $(store "SELECT id FROM jobs WHERE state IN ('queued', 'running')" 2>/dev/null); do
		"$POLLUX" cancel "$id" 2>/dev/null && "$POLLUX" wait --timeout 20 "$id" 2>/dev/null
	done
}
json() { perl -MJSON::PP -0777 -ne 'my $d = JSON::PP->new->utf8->decode($_); '"$1"; }

# fake BATCH MOST WORDS STATUS: 1 ms + 10 us a sample; above MOST samples it says WORDS and ends with STATUS.
cat >fake <<'END'
#!/bin/sh
trap 'exit 75' TERM
i=0
while :; do
	i=$((i + 1))
	if [ "$1" -gt "$2" ] && [ $i -gt 5 ]; then
		echo "$3"
		exit "$4"
	fi
	"$POLLUX" report STEP=$i SAMPLES=$((i * $1)) STEP_NS=$((1000000 + 10000 * $1)) SYNC_NS=0
	sleep 0.01
done
END
chmod +x fake
starts_at() { # starts_at POLICY OPTION...: submitted, the batch size and factor it is first started with
	policy=$1
	shift
	id=$("$POLLUX" submit -q "$@")
	POLLUX_POLICY=$policy "$POLLUX" schedule
	store "SELECT batch_size, round(learning_rate_scale, 3) FROM runs WHERE job_id = $id"
	"$POLLUX" cancel "$id"
	"$POLLUX" wait --timeout 20 "$id" 2>/dev/null
}

# --- its own batch runs out of memory ---
set -- -b 512 --batch-range 64:1024 --workload tight -- ./fake '{batch}' 300 MemoryError 1
status 'a batch that does not fit, but a range' 0 "$POLLUX" profile --budget $((12 * TIME_SCALE)) --points 5 --json "$@"
printf '%s' "$out" >tight.json
fits=$(json 'print $d->{memory}{fits}' <tight.json)
ok 'smaller ones are tried until one fits' test "$fits" -ge 64
is 'and no more is recommended' "1 $fits" "$(json 'print "@{$d->{recommended}}{qw(replicas batch_size)}"' <tight.json)"
for policy in goodput fifo; do
	is "nor is a job started with more, by $policy" "$fits|$(perl -e "printf '%.3f', $fits / 512" | sed 's/0*$//')" \
		"$(starts_at $policy "$@")"
done
set -- -b 512 --workload tight -- ./fake '{batch}' 300 MemoryError 1
is 'one without a range is started as it was submitted' '512|1.0' "$(starts_at fifo "$@")"
finish
