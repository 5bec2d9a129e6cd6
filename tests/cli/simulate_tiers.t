#!/bin/sh
# simulate_tiers.t - pollux simulate --racks: by hand, and against an independent program.
# shellcheck disable=SC2016,SC2317  # Perl in quotes; functions run by ok
. "$(dirname "$0")/tap.sh"
unset COLUMNS

cat >tiers.csv <<'END'
application,machine,rack,network
VGG,0.9,0.5,0.2
ResNet50,0.97,0.9,0.8
small,1,1,1
END
heading=name,submitted_s,gpus,iterations,time_per_iteration_s,application
racks() { "$POLLUX" simulate --racks 1 --tiers tiers.csv -w jobs.csv "$@"; }
ends() { # ends OPTION...: NAME:START-END of each job
	racks --jobs-csv ends.csv "$@" >/dev/null &&
		awk -F, 'NR > 1 { printf "%s%s:%g-%g", sep, $1, $3, $4; sep = " " }' ends.csv
}
start_of() { sed "s/.*$1:\([0-9.]*\)-.*/\1/"; }
end_of() { sed "s/.*$1:[0-9.]*-\([0-9.]*\).*/\1/"; }

# --- by hand ---

# 9000 s of VGG on 2 GPUs are 5000 s on one machine; in a lease of 3600 s, 3240 s of 4500 s are
# done, and 1400 s remain, which begin after a checkpoint of 1 s.
printf '%s\na,0,2,9000,1,VGG\n' "$heading" >jobs.csv
is 'a job has leases and checkpoints' 'a:0-5001' "$(ends -n 2 -g 2)"
is 'the lease can be chosen' 'a:0-5009' "$(ends -n 2 -g 2 --slice 500)"
like 'the title says what was simulated' \
	'^dally on 2 nodes of 2 GPUs in 1 rack; timers: auto$' "$(racks -n 2 -g 2)"
like 'the table has leases and the time of communication' '^jobs +1 +5001 .* 2 +3 +500 ' \
	"$(racks -n 2 -g 2)"
is 'JSON has the time of communication' \
	500 "$(racks -n 2 -g 2 --json | json 'printf "%.6g", $d->{communication_s}')"
sed -i 's/,2,9000/,1,3000/' jobs.csv
is 'a single GPU never communicates' 'a:0-3000' "$(ends -n 2 -g 2)"

# Two machines of 3 GPUs, on each of which a GPU is free for long.
cat >jobs.csv <<END
$heading
one,0,2,200000,1,small
two,0,2,200000,1,small
wide,10,2,1000,1,VGG
END
is 'dally waits for a rack until its timer, on no fixed grid' 6010 \
	"$(ends -n 2 -g 3 --slice 1e6 --timers 0.006,1 | start_of wide)"
is 'dally waits for the end of others' 100000 "$(ends -n 2 -g 3 --slice 1e6 | start_of wide)"
is 'a rack joins at half the speed' 1010 "$(ends -n 2 -g 3 --timers 0,0 | end_of wide)"
is 'gandiva-net waits for nobody' 1010 "$(ends -n 2 -g 3 -p gandiva-net | end_of wide)"
is 'tiresias-net waits for a lease to end' 3600 "$(ends -n 2 -g 3 -p tiresias-net | start_of wide)"
sed -i 's/VGG/ResNet50/' jobs.csv
is 'tiresias-net does not wait for a model that spreads well' \
	10 "$(ends -n 2 -g 3 -p tiresias-net | start_of wide)"

# --- contention: 3 machines of 2; both jobs have GPUs on the second machine ---

printf '%s\na,0,3,300,1,VGG\nb,0,3,600,1,VGG\n' "$heading" >jobs.csv
is 'jobs do not share an uplink without --contention' 'a:0-200 b:0-400' "$(ends -n 3 -g 2)"
is 'jobs share an uplink with --contention while both cross it' \
	'a:0-300 b:0-500' "$(ends -n 3 -g 2 --contention)"
like 'the title says that uplinks are shared' 'uplinks are shared' "$(racks -n 3 -g 2 --contention)"

# --- links: 2 s of computing against the exchange ---

cat >links.csv <<'END'
tier,bandwidth_GB_s,latency_s,congestion
machine,1,0.1,1
rack,1,0,2
network,1,0,1
END
printf 'application,compute_s,gradient_bytes,messages\nVGG,2,1e9,5\n' >models.csv
links() {
	"$POLLUX" simulate --racks 1 --links links.csv --models models.csv -w jobs.csv \
		--jobs-csv ends.csv "$@" >/dev/null && awk -F, 'NR > 1 { printf "%g", $4 }' ends.csv
}
printf '%s\na,0,2,200,1,VGG\n' "$heading" >jobs.csv
is 'a job within a machine takes 1 s for data and 1 s for messages' 200 "$(links -n 2 -g 2)"
is 'a job within a rack takes 2 s for data' 200 "$(links -n 2 -g 1)"
sed -i 's/,2,200/,4,400/' jobs.csv
is 'a job of two machines takes 2 s within them and half in the rack' 250 "$(links -n 2 -g 2)"

# --- goodput ---

# A GPU is free on each of two machines, a machine of two at 3600 s.
cat >jobs.csv <<END
$heading
one,0,2,7200,1,small
two,0,2,200000,1,small
wide,10,2,1000,1,VGG
END
known() { ends -n 2 -g 3 -p goodput -l known | start_of wide; }
is 'a short job does not wait for a machine' 10 "$(known)"
sed -i 's/wide,10,2,1000,/wide,10,2,10000,/' jobs.csv
is 'a long job waits for a machine, as it ends sooner there' 3600 "$(known)"
sed -i 's/VGG/ResNet50/' jobs.csv
is 'a job of a model that spreads well does not wait' 10 "$(known)"
printf '%s\na,0,1,3100,1,small\nb,0,1,3000,1,small\n' "$heading" >jobs.csv
is 'the least remaining work comes first' 'a:3000-6100 b:0-3000' \
	"$(ends -n 1 -g 1 -p goodput -l known)"
printf '%s\na,0,1,9000,1,small\nb,1,1,1000,1,small\n' "$heading" >jobs.csv
is 'the job that had less time comes first where nothing is known' 'a:0-10002 b:3600-4600' \
	"$(ends -n 1 -g 1 -p goodput)"

# --- against an independent program: 20 jobs on 2 racks of 2 machines of 4 GPUs ---

cat >jobs.csv <<END
$heading
j01,0,4,400000,1,VGG
j02,0,2,300000,1,VGG
j03,60,8,900000,1,ResNet50
j04,300,4,90000,1,VGG
j05,900,2,200000,1,ResNet50
j06,900,3,300000,1,VGG
j07,1800,4,600000,1,VGG
j08,2000,1,120000,1,small
j09,3600,6,500000,1,VGG
j10,4000,2,50000,1,VGG
j11,5400,4,700000,1,ResNet50
j12,5401,3,80000,1,VGG
j13,7200,12,900000,1,ResNet50
j14,8000,2,400000,1,VGG
j15,9000,4,300000,1,VGG
j16,9000,1,90000,1,small
j17,10000,2,70000,1,VGG
j18,14000,4,250000,1,ResNet50
j19,20000,3,600000,1,VGG
j20,30000,4,200000,1,VGG
END
twenty() { racks --racks 2 -n 4 -g 4 "$@"; }
same() { # same POLICY TIMERS [OPTION]...
	policy=$1 timers=$2
	shift 2
	twenty -p "$policy" --jobs-csv ours.csv "$@" >ours.out || return 1
	awk -F, 'NR > 1 { printf "%s,%.3f,%.3f,%d\n", $1, $3, $4, $5 + 1 }' ours.csv >ours
	"$ROOT/tests/reference/tiers_reference.py" tiers.csv jobs.csv 2 4 4 "$policy" "$timers" |
		sed '$d' >theirs
	[ "$(wc -l <ours)" = 20 ] && cmp ours theirs
}
ok 'tiresias-net agrees job by job with the reference' same tiresias-net auto
ok 'gandiva-net agrees job by job with the reference' same gandiva-net auto
for timers in auto 0,0 1,2 6,12 inf; do
	for policy in dally srtf-net las-net; do
		ok "$policy with timers $timers agrees job by job with the reference" \
			same $policy $timers --timers $timers
	done
done
for timers in auto 0,0 1,2 inf; do
	twenty --timers $timers --jobs-csv "$timers.csv" >out
done
is 'the timers make a difference' 4 "$(cksum auto.csv 0,0.csv 1,2.csv inf.csv | cut -d' ' -f1 |
	sort -u | wc -l)"

# --- errors ---

status 'racks need tables' 64 "$POLLUX" simulate --racks 1 -w jobs.csv
like 'the message names the tables that racks need' \
	'give either --tiers, or --links and --models' "$err"
status 'racks with both kinds of tables are refused' 64 racks --links links.csv --models models.csv
status 'nodes that do not fill racks are an error' 64 racks --racks 3
like 'the message says that the racks are not equal' '8 nodes cannot stand in 3 equal racks' "$err"
status 'another policy than those of racks is an error' 64 racks -p tiresias
like 'the message names the policies of racks' \
	"no policy 'tiresias': one of dally tiresias-net" "$err"
for timers in 6 '12,6' '-1,2' 'a,b' '6,12,'; do
	status "timers $timers are an error" 64 racks --timers="$timers"
done
status 'timers of a policy without timers are an error' 64 racks -p gandiva-net --timers inf
status 'an option without effect is refused' 64 racks --events
status 'lengths of a policy that does not ask are refused' 64 racks -l known
status 'timers without racks are refused' \
	64 "$POLLUX" simulate --profiles p -w jobs.csv --timers inf
like 'the message says that --timers goes with --racks' "'--timers' goes with --racks" "$err"
status 'a table is not written over' 64 racks --jobs-csv tiers.csv
status 'a job larger than the cluster is an error' 65 racks -n 2 -g 2
like 'the message names the line of the large job' 'jobs.csv:4: .*gpus' "$err"
sed -i '2s/VGG/vgg/' jobs.csv
status 'an application without tiers is an error' 65 racks
like 'the message names the line of the application' \
	"jobs.csv:2: no tiers of the application 'vgg'" "$err"
sed -i 's/0.9,0.5,0.2/0.9,0.95,0.2/' tiers.csv
status 'a rack that joins better than a machine is an error' 65 racks
like 'the message says that rack is above machine' 'tiers.csv:2: rack is above machine' "$err"

finish
