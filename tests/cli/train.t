#!/bin/sh
# train.t - the example trainer: exact sample counts, equal results however a
# batch is split, checkpoints that survive kill -9 and damage, reports.
# shellcheck disable=SC2016,SC2317 # awk programs; functions called by name
. "$(dirname "$0")/tap.sh"

data=$FASHION_MNIST
unset CUDA_VISIBLE_DEVICES      # on the CPU; train-cuda.t has GPUs
[ -x "$TRAIN" ] || skip_all "$TRAIN is not built: make examples"
[ -e "$data/train-images-idx3-ubyte.gz" ] || [ -e "$data/train-images-idx3-ubyte" ] ||
	skip_all "no Fashion-MNIST in $data: apt-get install dataset-fashion-mnist"

cleanup() {
	[ -z "${trainer-}" ] || kill -9 "$trainer" 2>/dev/null
	[ -z "${receiver-}" ] || kill "$receiver" 2>/dev/null
}

# small OPTION...: a run of a fraction of a second, a line for every step
small() { "$TRAIN" --data "$data" --subset 6000 --hidden 32 --log-every 0 "$@"; }
background() { # background OPTION...: the same, in $trainer, to the files log and err
	rm -f log err	# else the log of the run before would be looked at until this one begins
	"$TRAIN" --data "$data" --subset 6000 --hidden 32 --log-every 0 "$@" >log 2>err &
	trainer=$!
}
logged() { grep -q "^$1" log; }
ended() { # ended: wait for $trainer; its status in $rc
	rc=0
	wait "$trainer" || rc=$?
	trainer=
}
field() { # field NAME TEXT: the number after NAME in the last line that has it
	printf '%s\n' "$2" | sed -n "s/.*\\<$1 \\([-0-9.e+]*\\).*/\\1/p" | tail -n 1
}
losses() { sed -n 's/^step \([0-9]*\) samples \([0-9]*\) .* loss \([0-9.]*\) .*/\1 \2 \3/p' "$1"; }
near() { # near A B TOLERANCE: |A - B| <= TOLERANCE
	awk "BEGIN { d = $1 - $2; exit !((d < 0 ? -d : d) <= $3) }"
}

# --- samples are counted exactly ----------------------------------------------

run small --samples 5000
is 'a run ends at exactly its samples, the last update cut short' 'done samples 5000 steps 40' \
	"$(printf '%s\n' "$out" | sed -n 's/^\(done samples [0-9]*\) accuracy 0\.[0-9]* /\1 /p')"
like 'the accuracy is well above chance' 'done .* accuracy 0\.[67]' "$out"
run small --samples 20000 --eval-every 1000 --target-accuracy 0.7
like 'a run ends at its target accuracy' 'done samples [0-9]* accuracy 0\.7' "$out"
ok 'a run does not go beyond its target accuracy' [ "$(field 'done samples' "$out")" -lt 20000 ]
is 'evaluations come at the samples asked for' 1024 \
	"$(printf '%s\n' "$out" | sed -n 's/^samples \([0-9]*\) accuracy.*/\1/p' | head -n 1)"

# --- a batch may be split in any way -------------------------------------------

small --samples 6000 --batch 96 >whole
losses whole >whole.losses
for split in '--replicas 2' '--accum 4' '--replicas 3 --accum 2' \
	'--replicas 2 --local-batch 16 --accum 3'; do
	# shellcheck disable=SC2086  # several options
	small --samples 6000 --batch 96 $split >part
	losses part | paste -d' ' - whole.losses >both
	ok "batch 96 as $split: the same losses" \
		awk '{ d = $3 - $6; if ($1 != $4 || $2 != $5 || d > 0.01 || d < -0.01) bad = 1 }
			END { exit bad || NR != 63 }' both
	ok "batch 96 as $split: the same accuracy" near "$(field 'accuracy' "$(cat part)")" \
		"$(field 'accuracy' "$(cat whole)")" 0.005
done

# --- plans: other memory and time, the same result ---------------------------------

deep() { small --samples 3000 --batch 96 --hidden 24,24,24,24,24 --replicas 2 "$@"; }
deep --checkpoint sharded >sharded.log
for plan in --recompute --replicate-optimizer '--recompute --replicate-optimizer'; do
	rm -rf other
	# shellcheck disable=SC2086  # several options
	deep --checkpoint other $plan >other.log
	is "$plan: the same losses" "$(losses sharded.log)" "$(losses other.log)"
	ok "$plan: the same weights" cmp sharded/checkpoint.bin other/checkpoint.bin
done
small --samples 3000 --batch 96 --hidden 24,24,24,24,24 >one.log
small --samples 3000 --batch 96 --hidden 24,24,24,24,24 --recompute >other.log
is 'recomputation of one replica has the same losses and noise' \
	"$(sed -n 's/ [0-9.]* ms.step$//; /^[sn]/p' one.log)" \
	"$(sed -n 's/ [0-9.]* ms.step$//; /^[sn]/p' other.log)"
# Many samples and few layers: activations are most of the memory. Many parameters: the optimizer
# is.
peak() { # peak OPTION...: KiB that a run takes
	"$TRAIN" --data "$data" --subset 6000 --samples 4096 --batch 4096 --replicas 2 "$@" \
		>/dev/null &
	perl -e 'my $peak = 0; my $f;
		while (open($f, "<", "/proc/$ARGV[0]/status")) {
			my ($kib) = join("", <$f>) =~ /VmHWM:\s+(\d+)/ or last;
			$peak = $kib; select(undef, undef, undef, 0.002) }
		print $peak' "$!"
	wait "$!"
}
if [ -z "${ASAN_OPTIONS:-}" ]; then	# whose memory is the program's alone
	wide='--hidden 512,512,512,512,512'
	# shellcheck disable=SC2086
	ok 'recomputation takes less memory' [ "$(peak $wide --recompute)" -lt "$(peak $wide)" ]
	large='--hidden 1500,1500 --batch 64 --samples 64'
	# shellcheck disable=SC2086
	ok 'shards of the optimizer take less memory' \
		[ "$(peak $large)" -lt "$(peak $large --replicate-optimizer)" ]
fi

# --- stop and resume ---------------------------------------------------------

long='--samples 80000 --batch 64'
# shellcheck disable=SC2086
small $long --checkpoint straight >straight.log
# On a busy machine the run may end before it is told to stop: then another is.
for _ in 1 2 3 4 5; do
	rm -rf stopped
	# shellcheck disable=SC2086
	background $long --checkpoint stopped
	wait_for 20 logged 'step 50'
	kill -TERM "$trainer"
	ended
	[ "$rc" = 0 ] || break
done
ok 'a run gets under way' logged 'step 50'
is 'SIGTERM ends a run with status 75' 75 "$rc"
like 'a stopped run says where it stopped' '^stopped samples [0-9]+ ' "$(tail -n 1 log)"
at=$(field 'stopped samples' "$(cat log)")
ok 'the run was stopped before its end' [ "$at" -lt 80000 ]
# shellcheck disable=SC2086
run small $long --checkpoint stopped
like 'the next run resumes where the first stopped' \
	"^resumed samples $at step $((at / 64)) from stopped/" "$out"
like 'the resumed run ends at exactly its samples' '^done samples 80000 ' "$out"
ok 'the resumed run has the bytes of one that was never stopped' \
	cmp straight/checkpoint.bin stopped/checkpoint.bin
# shellcheck disable=SC2086
run small $long --checkpoint stopped
like 'a finished job is finished at once' '^done samples 80000 ' "$out"
unlike 'a finished job does no step' '^step' "$out"
background --samples 10000000
wait_for 20 logged 'step 5'
kill -TERM "$trainer"
ended
is 'SIGTERM ends a run without checkpoints with status 75' 75 "$rc"
like 'a run without checkpoints says that nothing was kept' 'not saved' "$(tail -n 1 log)"

# An epoch of single samples, each with its own loss: with weights that do not
# move, the epoch's mean loss tells whether each was used once.
still='--subset 500 --lr 1e-9 --lr-scale 1'
mean_loss() { # over all steps of the files, each weighed with its samples
	for file; do losses "$file"; done |
		awk '{ sum += ($2 - last) * $3; last = $2 } END { printf "%.5f", sum / 500 }'
}
# shellcheck disable=SC2086
{
	small $still --samples 500 --batch 500 >one
	small $still --samples 200 --batch 48 --checkpoint parts >first
	small $still --samples 350 --batch 30 --replicas 3 --checkpoint parts >second
	small $still --samples 500 --local-batch 7 --accum 2 --replicas 2 --checkpoint parts >third
}
like 'another number of replicas and batch resumes at the same sample' \
	'^resumed samples 200 step 5 ' "$(cat second)"
like 'a second change of sizes resumes at the same sample' \
	'^resumed samples 350 step 10 ' "$(cat third)"
like 'a run of three sizes ends at exactly its samples' '^done samples 500 ' "$(cat third)"
ok 'no sample of the epoch was skipped or used twice' \
	near "$(mean_loss first second third)" "$(mean_loss one)" 0.0001

# --- killed at any moment ------------------------------------------------------

survived=0 last=0
for delay in 0.1 0.15 0 0.01 0.03 0.07 0.1 0.15; do	# from its start, then from its first save
	: >log
	background --samples 10000000 --checkpoint killed --checkpoint-every 0
	case $survived in 0 | 1) ;; *) wait_for 20 logged 'checkpoint samples' ;; esac
	sleep "$delay"
	kill -9 "$trainer"
	ended 2>/dev/null
	resumed=$(field 'resumed samples' "$(cat log)")
	if [ -s err ] || [ "${resumed:-$last}" -lt "$last" ]; then
		echo "# after $delay s: resumed at ${resumed:-0}, saved $last; $(cat err)"
		break
	fi
	saved=$(field 'checkpoint samples' "$(cat log)")
	last=${saved:-$last}
	survived=$((survived + 1))
done
is 'a run killed while it saves loses nothing it said it saved' 8 "$survived"
ok 'the killed runs went on to save' [ "$last" -gt 0 ]

# --- damage --------------------------------------------------------------------

small --samples 600 --checkpoint damaged --checkpoint-every 0 >log
cp damaged/checkpoint.bin good.bin
cp damaged/checkpoint.bin.prev good.prev
damage() { # damage NAME: what is in damaged/checkpoint.bin is refused
	run small --samples 700 --checkpoint damaged
	is "$1: the run goes on" 0 "$rc"
	like "$1: a line says that the run goes on from the one before" \
		"^train: cannot use checkpoint 'damaged/checkpoint.bin': .*; going on from the one \
before" "$err"
	is "$1: it is told in one line" 1 "$(printf '%s\n' "$err" | wc -l | tr -d ' ')"
	like "$1: the run resumes at the checkpoint before" '^resumed samples 600 ' "$out"
	cp good.prev damaged/checkpoint.bin.prev
}
head -c 1000 good.bin >damaged/checkpoint.bin
damage 'a truncated checkpoint'
: >damaged/checkpoint.bin
damage 'an empty checkpoint'
cp good.bin damaged/checkpoint.bin
printf x | dd of=damaged/checkpoint.bin bs=1 seek=50000 conv=notrunc 2>/dev/null
damage 'a changed byte'
cp damaged/checkpoint.bin damaged/checkpoint.bin.prev
head -c 1000 good.bin >damaged/checkpoint.bin
head -c 1000 good.bin >damaged/checkpoint.bin.prev
status 'no good checkpoint at all is an error' 65 small --samples 700 --checkpoint damaged
like 'the message about bad checkpoints names --fresh' 'give --fresh to start over' "$err"
status '--fresh starts over' 0 small --samples 200 --checkpoint damaged --fresh
unlike '--fresh begins from nothing' '^resumed' "$out"
status 'a checkpoint of another network is refused' 65 \
	small --checkpoint damaged --samples 700 --hidden 16
like 'a checkpoint of another network is told as such' 'of another network' "$err"
status 'a checkpoint of another seed is refused' \
	65 small --checkpoint damaged --samples 700 --seed 9
status 'a checkpoint of another training set is refused' \
	65 small --checkpoint damaged --samples 700 --subset 500

cp damaged/checkpoint.bin before.bin
limited() { (trap '' XFSZ; ulimit -f 16; small --samples 700 --checkpoint damaged); }
status 'a run that cannot write its last checkpoint exits 74' 74 limited
like 'a checkpoint that cannot be written is told in one line' \
	"^train: cannot write checkpoint 'damaged/checkpoint.bin': File too large$" \
	"$err"
ok 'the old checkpoint is untouched' cmp before.bin damaged/checkpoint.bin

# --- reports to pollux -----------------------------------------------------------

perl -MIO::Socket::UNIX -e '
	my $s = IO::Socket::UNIX->new(Type => SOCK_DGRAM, Local => "socket") or die;
	$| = 1;
	print "ready\n";
	my $m;
	print "--\n$m" while defined $s->recv($m, 65536);' >reports &
receiver=$!
wait_for 10 grep -q ready reports
under_pollux() { # under_pollux COMMAND...
	POLLUX_REPORT_SOCKET=$TMP/socket POLLUX_BATCH=96 POLLUX_REPLICAS=2 POLLUX_ACCUM=2 \
		POLLUX_LOCAL_BATCH=24 POLLUX_LR_SCALE=0.5 POLLUX_CHECKPOINT_DIR=$TMP/ours \
		POLLUX_STOP_SIGNAL=1 "$@"
}
run under_pollux small --samples 960
like 'the configuration comes from pollux' 'batch 96 = 2 replicas x 24 x 2 passes' "$out"
like 'the factor on the learning rate comes from pollux' 'lr 0\.05 x 0\.5$' "$out"
kill "$receiver"
receiver=
like 'the size of the network is reported' '^PARAMETERS=[0-9]+$' "$(cat reports)"
like 'steps are reported' '^STEP=[0-9]+$' "$(cat reports)"
like 'samples are reported' '^SAMPLES=[0-9]+$' "$(cat reports)"
like 'the loss is reported' '^LOSS=[0-9.]+$' "$(cat reports)"
like 'the epoch is reported' '^EPOCH=0\.[0-9]+$' "$(cat reports)"
like 'the gradient norm is reported' '^GRAD_SQR=-?[0-9.]+' "$(cat reports)"
like 'the gradient variance is reported' '^GRAD_VAR=-?[0-9.]+' "$(cat reports)"
ok 'a synchronisation time within the step time is reported' \
	awk -F= '/^STEP_NS/ { step = $2 } /^SYNC_NS/ { n++; if ($2 <= 0 || $2 >= step) bad = 1 }
		END { exit bad || !n }' reports
like 'the checkpoint is reported' "^CHECKPOINT=$TMP/ours/checkpoint.bin$" "$(cat reports)"
like 'the status is reported' '^STATUS=accuracy 0\.[0-9]{4} at 960 samples$' "$(cat reports)"
run under_pollux small --samples 1100 --batch 64 --replicas 4 --accum 1 --lr-rule sqrt
like 'options go before the variables of pollux' 'batch 64 = 4 replicas x 16 x 1 passes' "$out"
like 'a rule goes before the factor of pollux' 'lr 0\.05 for batch 128$' "$out"
like 'the checkpoint in the directory of pollux is found' '^resumed samples 960 ' "$out"
like 'a run without a receiver goes on to its end' '^done samples 1100 ' "$out"
under_pollux background --samples 10000000
wait_for 20 logged 'step 1[0-9]'
kill -HUP "$trainer"
ended
is 'the stop signal that pollux names stops a run' 75 "$rc"
# Another batch from the first update on: the losses are those of a run launched with it.
config() { # config BATCH LOCAL_BATCH PASSES
	printf 'VERSION=1\nBATCH=%s\nLOCAL_BATCH=%s\nACCUM=%s\nLR_SCALE=0.5\n' "$@" >config
}
config 192 48 2
POLLUX_CONFIG_FILE=$TMP/config under_pollux small --samples 5003 --fresh >log
like 'another configuration is taken at once' '^batch 96 -> 192 \(2 x 48 x 2\), lr x 0\.5$' \
	"$(cat log)"
like 'a run with another configuration ends at exactly its samples' \
	'^done samples 5003 .* steps 27$' "$(cat log)"
small --samples 5003 --batch 192 --replicas 2 --accum 2 --lr-scale 0.5 >whole
ok 'the losses are those of a run that began with it' \
	[ "$(losses log)" = "$(losses whole)" ]
config 96 48 2
POLLUX_CONFIG_FILE=$TMP/config under_pollux small --samples 960 --fresh >log
unlike 'a configuration for fewer replicas is passed over' '^batch 96 ->' "$(cat log)"
config 192 48 2
POLLUX_CONFIG_FILE=$TMP/config under_pollux small --samples 960 --fresh --replicas 1 --accum 1 >log
unlike 'a configuration is passed over where options set the sizes' '^batch 96 ->' "$(cat log)"

POLLUX_BATCH=96 run small --samples 100
like 'without pollux its variables do not count' 'batch 128 = 1 replicas' "$out"

# --- noise ------------------------------------------------------------------------

small --samples 3000 --lr-decay-samples 0 --checkpoint noise >log
measured=$(small --checkpoint noise --measure-noise 6000 | sed -n 's/^measured .* scale //p')
for way in '--batch 100' '--batch 100 --accum 2' '--batch 96 --replicas 2 --accum 2'; do
	# shellcheck disable=SC2086
	frozen=$(small --checkpoint noise --freeze --samples 80000 $way |
		sed -n 's/^frozen .* scale //p')
	echo "# $way: estimated $frozen, measured $measured"
	ok "the noise scale estimated from $way is the one measured" \
		near "$frozen / $measured" 1 0.25
done
ok '--freeze leaves the checkpoint alone' \
	[ "$(field 'resumed samples' "$(small --checkpoint noise --samples 1)")" = 3000 ]

# --- what cannot be -----------------------------------------------------------------

usage() { # usage PATTERN OPTION...
	pattern=$1
	shift
	run "$TRAIN" "$@"
	if [ "$rc" = 64 ] && [ -z "$out" ] && [ "$(printf '%s\n' "$err" | wc -l)" -eq 1 ] &&
		printf '%s\n' "$err" | grep -Eq "^train: .*$pattern"; then
		result 0 "train $* is a usage error"
	else
		result 1 "train $* is a usage error" "status $rc: $err"
	fi
}
usage unknown --frobnicate
usage unknown -x
usage "argument 'x'" x
usage 'value is missing' --batch
for value in 0 -1 1.5 x '' ' 1' 1x 99999999999 1e3; do
	usage "option --batch: '$value' is not an integer from 1" --batch "$value"
done
for value in 0 -1 x '' nan inf 1e99 '0.1 '; do
	usage "option --lr: '$value' is not a number" --lr "$value"
done
usage target-accuracy --target-accuracy 88
usage momentum --momentum 1
usage replicas --replicas 1000
for value in '' 0 x 1,,2 ',' '1,' 99999999 1,2,3,4,5,6,7,8; do
	usage hidden --hidden "$value"
done
usage lr-rule --lr-rule cubic
usage "'gpu' is not auto, cpu or cuda" --device gpu
usage 'name is empty' --checkpoint ''
usage 'batch 100 cannot be divided among 3 replicas x 1 passes' --batch 100 --replicas 3
usage 'batch 100 is not 2 replicas x local batch 30 x 1 passes' \
	--batch 100 --replicas 2 --local-batch 30
usage 'batch 128 cannot be divided' --accum 3
status '--help succeeds' 0 "$TRAIN" --help
like '--help lists the options' '--target-accuracy X' "$out"
like '--help says that no GPU has run the trainer' 'NEVER BEEN RUN ON A' "$out"

# A library by the driver's name that is none hides a driver that there may be.
mkdir broken
: >broken/libcuda.so.1
no_driver() { LD_LIBRARY_PATH=$TMP/broken CUDA_HOME='' CUDA_PATH='' "$@"; }
status '--device cuda without a driver exits 69' 69 no_driver small --device cuda --samples 1
like '--device cuda without a driver is told' \
	"^train: cannot (open CUDA: .*libcuda\.so\.1|use CUDA: train was built where)" \
	"$err"
is '--device cuda without a driver is told in one line' \
	1 "$(printf '%s\n' "$err" | wc -l | tr -d ' ')"
status 'a missing driver is told before the data are looked for' \
	69 no_driver "$TRAIN" --device cuda --data /nonexistent
CUDA_VISIBLE_DEVICES=GPU-0 run no_driver small --samples 100
is 'GPUs that are named, without a driver, leave the run to the CPU' 0 "$rc"
like 'the trainer says why the run is on the CPU' '^train: cannot .*CUDA.*; on the CPU then$' "$err"
CUDA_VISIBLE_DEVICES=GPU-0 run no_driver small --samples 100 --device cpu
is '--device cpu with GPUs named says nothing' '0 ' "$rc $err"

status 'missing data are refused with status 66' 66 "$TRAIN" --data /nonexistent
like 'the message says where to get the data' 'Debian package dataset-fashion-mnist' "$err"
mkdir bad
for f in train-images-idx3 train-labels-idx1 t10k-images-idx3 t10k-labels-idx1; do
	if [ -e "$data/$f-ubyte.gz" ]; then
		gzip -dc "$data/$f-ubyte.gz"
	else
		cat "$data/$f-ubyte"
	fi >"bad/$f-ubyte"
done
status 'plain files are read as well' 0 small --data bad --samples 100
mv bad/train-labels-idx1-ubyte labels
damaged_data() { # damaged_data NAME: exit 65 and one line
	status "$1: train exits 65" 65 "$TRAIN" --data bad
	like "$1: it is told" '^train: ' "$err"
	is "$1: it is told in one line" 1 "$(printf '%s\n' "$err" | wc -l | tr -d ' ')"
}
head -c 1000 labels >bad/train-labels-idx1-ubyte
damaged_data 'short labels'
gzip -c labels | head -c 5000 >bad/train-labels-idx1-ubyte
damaged_data 'a cut gzip file'
cp bad/t10k-labels-idx1-ubyte bad/train-labels-idx1-ubyte
damaged_data 'labels of another set'
cp bad/t10k-images-idx3-ubyte bad/train-labels-idx1-ubyte
damaged_data 'images for labels'
: >bad/train-labels-idx1-ubyte
damaged_data 'an empty file'
status 'a checkpoint directory that cannot be made exits 73' 73 small --checkpoint /dev/null/x
status 'a checkpoint directory without its parent exits 73' 73 small --checkpoint no/such/parent
status 'a training that diverges exits 70' 70 small --lr 1000 --samples 6000 --checkpoint diverged
like 'a training that diverges is told' \
	'^train: the (loss|gradient) is not finite at step [0-9]+ .* try a lower --lr' \
	"$err"
status 'a training that diverges leaves no checkpoint' 1 test -e diverged/checkpoint.bin
finish
