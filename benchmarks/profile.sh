#!/bin/sh
# profile.sh - how well a profile predicts what it has not measured: 'pollux profile' of
# examples/train with a budget (60 s), then the trainer itself on the same processors at ten sizes
# (replicas, local batch) that the profile did not measure: its step time against the model's.
# Wanted: a mean error under 8 %.
#
#	make BUILD=build all examples
#	POLLUX=build/pollux TRAIN=build/examples/train benchmarks/profile.sh
#
# BUDGET=60 seconds; SECONDS_EACH=4 for each of the ten sizes. Run it on a quiet machine with two
# slots or more: the profile warns of other programs, and the load average stands beside each of the
# ten. The exit status judges nothing.
set -eu
cd "$(dirname "$0")/.."
: "${POLLUX:=$PWD/build/pollux}" "${TRAIN:=$PWD/build/examples/train}"
: "${FASHION_MNIST:=/usr/share/datasets/fashion-mnist}"
: "${BUDGET:=60}" "${SECONDS_EACH:=4}" "${WANTED:=8}"
TMP=$(mktemp -d "${TMPDIR:-/tmp}/pollux-bench.XXXXXX")
trap 'rm -rf "$TMP"' EXIT
trap 'exit 1' HUP INT TERM
POLLUX_DIR=$TMP/store
export POLLUX_DIR
export POLLUX_SUBMIT_PASS=no # passes come when this script says so

if ! [ -e "$FASHION_MNIST/train-images-idx3-ubyte.gz" ] &&
	! [ -e "$FASHION_MNIST/train-images-idx3-ubyte" ]; then
	echo "profile.sh: no Fashion-MNIST in $FASHION_MNIST: nothing measured" >&2
	exit 0
fi

min=128 max=2048 replicas=2
"$POLLUX" profile --budget "$BUDGET" -b $min --batch-range $min:$max -r 1:$replicas --json -- \
	"$TRAIN" --data "$FASHION_MNIST" --samples 1000000000000 --batch '{batch}' \
	--replicas '{gpus}' --accum '{accum}' >"$TMP/profile.json"
"$POLLUX" devices --json >"$TMP/devices.json"

# Prints for each number of replicas five local batches that the profile did not measure, spread
# over the range, with the processors of that many slots and the step time that the model predicts.
perl -MJSON::PP -e '
	my ($profile, $devices, $min, $max, $most) = @ARGV;
	sub document { local (@ARGV, $/) = @_; JSON::PP->new->utf8->decode(<>) }
	my ($d, $m) = (document($profile), document($devices));
	die "no model: $d->{missing}\n" unless $d->{model};
	my %p = map { $_ => $d->{model}{parameters}{$_}{value} } keys %{$d->{model}{parameters}};
	my %seen = map { ("$_->{replicas} $_->{local_batch_size}" => 1) } @{$d->{points}};
	my @slots = map { $_->{binding} } grep { $_->{usable} } @{$m->{devices}};
	for my $r (1 .. $most) {
		my ($low, $high) = ($min / $r, $max / $r);
		for my $i (0 .. 4) {
			my $local = int($low * ($high / $low) ** (($i + 0.5) / 5) + 0.5);
			$local++ while $seen{"$r $local"};
			my $grad = $p{alpha_grad} + $p{beta_grad} * $local;
			my $sync = $r < 2 ? 0 :
				$p{alpha_sync_local} + $p{beta_sync_local} * ($r - 2);
			my $step = ($grad ** $p{gamma} + $sync ** $p{gamma}) ** (1 / $p{gamma});
			printf "%d %d %s %.9g\n", $r, $local, join(",", @slots[0 .. $r - 1]), $step;
		}
	}' "$TMP/profile.json" "$TMP/devices.json" $min $max $replicas >"$TMP/unmeasured"

# Measures a step time as a profile does, so that a step which other programs interrupt counts in
# neither: the mean of the medians of quarters of a second, without the first second.
measure() { # measure REPLICAS LOCAL PROCESSORS
	OMP_NUM_THREADS=$1 timeout "$SECONDS_EACH" taskset -c "$3" "$TRAIN" \
		--data "$FASHION_MNIST" --samples 1000000000000 --replicas "$1" --local-batch "$2" \
		--log-every 0 2>/dev/null |
		sed -n 's/^step .* \([0-9.]*\) ms\/step$/\1/p' | perl -e '
		my ($at, $n, $sum, @steps) = (0, 0, 0);
		while (<>) {
			push @steps, $_;
			$at += $_;
			next if $at < 250;
			@steps = sort { $a <=> $b } @steps;
			$sum += ($steps[@steps / 2] + $steps[(@steps - 1) / 2]) / 2 if ++$n > 4;
			($at, @steps) = (0);
		}
		print $n > 4 ? $sum / ($n - 4) / 1e3 : "nan"'
}

perl -MJSON::PP -0777 -ne 'my $d = JSON::PP->new->utf8->decode($_);
	printf "profile: %s\n%s\n", $d->{reason}, join "", map { "warning: $_\n" }
		@{$d->{warnings}}' "$TMP/profile.json"
echo "replicas  local batch  measured, ms  predicted, ms   error    load"
while read -r r local processors predicted; do
	measured=$(measure "$r" "$local" "$processors")
	echo "$r $local $measured $predicted $(cut -d' ' -f1 /proc/loadavg)"
done <"$TMP/unmeasured" | awk -v wanted="$WANTED" '{
		error = 100 * ($4 / $3 - 1)
		printf "%8d %12d %13.3f %14.3f %+6.1f %%  %6.2f\n", $1, $2, 1e3 * $3, 1e3 * $4,
			error, $5
		fflush()
		sum += error < 0 ? -error : error
	}
	END {
		printf "mean error of %d: %.1f %% (wanted: under %g %%)\n", NR, sum / NR, wanted
	}'
