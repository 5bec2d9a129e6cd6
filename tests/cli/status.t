#!/bin/sh
# status.t - pollux status: the table at any width, one job in full, JSON, --watch.
# shellcheck disable=SC2016,SC2317  # Perl, other shells; functions run by status and wait_for
. "$(dirname "$0")/tap.sh"
POLLUX_SLOTS=2
export POLLUX_SLOTS
unset COLUMNS

submit() { "$POLLUX" submit -q "$@"; }
state_of() { "$POLLUX" status --json "$1" | sed -n 's/^      "state": "\(.*\)",$/\1/p'; }
state_is() { [ "$(state_of "$1")" = "$2" ]; }
cleanup() { # jobs end with their store, and before it
	touch "$TMP/go"
	for id in $("$POLLUX" status --json 2>/dev/null |
		sed -n 's/^      "id": \([0-9]*\),$/\1/p'); do
		"$POLLUX" cancel "$id" 2>/dev/null && "$POLLUX" wait --timeout 200 "$id" 2>/dev/null
	done
	sleep 0.3
}
# Lines of more than $1 characters (not bytes) of UTF-8.
longer_than() { perl -CS -ne 'BEGIN { $w = shift } chomp; print "$_\n" if length > $w' "$1"; }

# --- nothing there ---
status 'status succeeds without a store' 0 "$POLLUX" status
is 'status says where there is no store yet' \
	"No store yet at '$POLLUX_DIR/pollux.db': 'pollux submit' makes one; see 'pollux --help'." \
	"$out"
is 'a missing store is no error of status' '' "$err"
status 'status --json succeeds without a store' 0 "$POLLUX" status --json
is 'JSON without a store is a document of no jobs' \
	'1 0' "$(printf '%s' "$out" | json 'print "$d->{schema_version} ", scalar @{$d->{jobs}}')"
status 'a job is refused with status 66 where there is no store' 66 "$POLLUX" status 1
is 'status names the job that is not there' 'pollux: no such job: 1' "$err"
status 'status makes no store' 2 ls "$POLLUX_DIR"

# --- waiting, and nobody schedules ---
long='a name that is much longer than any column of any table should ever become, is it not'
cut='a name that \.\.e, is it not'
submit -n "$long" --suspend never --samples 1000 -b 50 -- sh -c '
	"$POLLUX" report SAMPLES=250 STEP=5 STEP_NS=20000000 LOSS=0.5 EPOCH=1.5
	while [ ! -e "$0/go" ]; do sleep 0.1; done; exit 3' "$TMP" >id.long
submit -n 'Übung äöü 模型 с данными' -- true >id.utf8
submit -n "$(printf 'ctrl\033[2Jname\n')" --after 1 -- true >id.ctrl
submit -n held --hold -- true >id.held
status 'status shows four jobs' 0 "$POLLUX" status
like 'status sums the jobs up' '^no device in use; 3 waiting, 1 held$' "$out"
like 'status says that nobody schedules' \
	"^No pass has run yet: type 'pollux schedule', or 'pollux cron --install'\\.\$" "$out"
is 'each job has a line' 4 "$(printf '%s\n' "$out" | grep -Ec '^ *[0-9]+ ')"
like 'a long name is cut in its middle: it never widens the table' "  *1  $cut  queued " "$out"
is 'a long name is whole in a table of chosen columns' "$(printf 'ID  NAME\n 1  %s' "$long")" \
	"$("$POLLUX" status -o id,name 1-1)"
is 'a long name is cut in chosen columns without room' \
	"$(printf 'ID  NAME\n 1  a name .. it not')" \
	"$(COLUMNS=20 "$POLLUX" status -o id,name 1-1)"
is 'a long name is whole in CSV' "$(printf 'id,name,dev\n1,"%s",' "$long")" \
	"$("$POLLUX" status -o id,name,dev --csv --state active | head -n 2)"
like 'a name in UTF-8 is shown as it is' '2  Übung äöü 模型 с данными ' "$out"
like 'control characters in a name are shown by numbers' '3  ctrl\\033\[2Jname ' "$out"
unlike 'the table has no escape sequence in a pipe' "$(printf '\033')" "$out"

for width in 200 80 60 40; do
	run env COLUMNS=$width "$POLLUX" status
	is "the table fits in $width columns" '' \
		"$(printf '%s\n' "$out" | sed -n '/^ID/,/^$/p' | longer_than $width)"
done
run env COLUMNS=80 "$POLLUX" status
like 'columns of nothing known make room for the reasons' \
	'^ID  NAME +STATE +BATCH  REASON$' "$out"
like 'the reasons are whole in 80 columns' \
	"held at submission; 'pollux release [0-9]*' lets it go\$" "$out"
for width in 60 40; do
	run env COLUMNS=$width "$POLLUX" status
	like "$width columns show the state" '^ID  NAME .* STATE ' "$out"
	like "$width columns show the reason, below" \
		'^    held at submission; .pollux releas' "$out"
done
run env COLUMNS=200 "$POLLUX" status
like '200 columns show the reason in the line' '^ID  NAME .* STATE .* REASON$' "$out"
for width in 1 10 2147483647 99999999999 0 x -5 ''; do
	status "COLUMNS='$width' does no harm" 0 env COLUMNS="$width" "$POLLUX" status
done

# --- running ---
"$POLLUX" schedule
ok 'the first job runs' wait_for 20 state_is 1 running
reported() { "$POLLUX" status --json 1 | grep -q '^      "samples": 250'; }
ok 'the report of the first job arrives' wait_for 20 reported
ok 'the second job is done' "$POLLUX" wait --timeout 200 2
run "$POLLUX" status
like 'status counts the device in use' \
	'^1 device in use; 1 running, 1 waiting, 1 held, 1 ended$' "$out"
# The pass at the end of the second one may still be at work on a busy machine.
shows_row() {
	run "$POLLUX" status
	printf '%s\n' "$out" | grep -Eq "$cut +running +1 +([0-9]+m)?[0-9]+s +25% +50 .* \
keeps 1 device: it has saved nothing\$"
}
ok 'a row has devices, time, share done, batch and reason' wait_for 20 shows_row
like 'a waiting job says what it waits for' '3  ctrl.* queued .* after job 1' "$out"
unlike 'status does not miss a pass that has run' 'No pass' "$out"
like 'what is unknown is -, not 0' '^ +4  held +held +-  +-  +-  +-  +-  +-  ' "$out"
run env COLUMNS=80 "$POLLUX" status
like '80 columns show what a job has and how far it is' \
	'^ 1  a name .*\.\..* +running +1 +([0-9]+m)?[0-9]+s +25% +50( +-)*$' "$out"
like '80 columns show the whole reason below' '^    keeps 1 device: it has saved nothing$' "$out"

run env COLUMNS=80 "$POLLUX" status 1
like 'status ID shows the whole name' "^job 1: $long\$" "$out"
like 'status ID shows the state with the device' '^  state +running on cpu:[01]$' "$out"
like 'status ID shows between when and when the job ends' \
	'^  ends +likely [^;]*; [^,]*[0-9]:[0-9]+ to [^,]*[0-9] in 4 of 5 cases; a guess, ' \
	"$out"
like 'status ID shows the position' \
	'^  position +samples 250, steps 5, epoch 1\.5, loss 0\.5, 25\.0% done$' "$out"
like 'status ID shows no checkpoint as -, not 0' '^  checkpoint +-$' "$out"
like 'status ID shows the run' '^ +1 .* cpu:[01] .* running$' "$out"
like 'status ID shows the events' ' submitted ' "$out"
unlike 'status ID does not show the environment' 'POLLUX_SLOTS' "$out"
like 'status ID shows times to the second' '^  started +[0-9]{2}:[0-9]{2}:[0-9]{2}$' "$out"
like 'status ID says that the job keeps its device unsaved' \
	'^  reason +keeps 1 device: it has saved nothing$' "$out"
run "$POLLUX" status 1 3
is 'status shows two jobs in the order asked' 'job 1: job 3: ' \
	"$(printf '%s\n' "$out" | sed -n 's/^\(job [0-9]*: \).*/\1/p' | tr -d '\n')"
like 'status ID shows what the job is to come after' '^  after +job 1, which is running$' "$out"

# --- JSON ---
"$POLLUX" status --json >list.json
"$POLLUX" status --json 1 3 >some.json
is 'JSON of two jobs has these' \
	'1 3' "$(json 'print join " ", map { $_->{id} } @{$d->{jobs}}' <some.json)"
is 'JSON has names as they are' 'Übung äöü 模型 с данными' \
	"$(json 'binmode STDOUT, ":utf8"; print $d->{jobs}[1]{name}' <list.json)"
is 'JSON has control characters as they are' "$(printf 'ctrl\033[2Jname')" \
	"$(json 'print $d->{jobs}[2]{name}' <list.json)"
keys='print join " ", sort keys %$x'
is 'the document has its keys' \
	"cpu_jobs devices_in_use disk_full ended held hung_pass jobs paused people running \
schema_version suspended time_s waiting" \
	"$(json "my \$x = \$d; $keys" <list.json)"
job_keys="accumulates attained_service_device_s batch_size begin_s cancelled_for \
checkpoint_samples command cpu_cores devices directory done_ratio end_from_s end_time_s \
end_to_s ends_by epoch eta_s exit_code expected_from_jobs expected_s failures first_rank \
gpu_memory_bytes gpu_remark grace_s group_id \
group_index guarantee id interactive key \
kind launch learning_rate learning_rate_rule \
likely_end_time_s likely_start_time_s log_limit_bytes loss \
lost_s lost_samples max_batch_size max_local_batch_size max_replicas memory_limit_bytes \
min_batch_size min_replicas name next_start_time_s noise_scale not_kind on_end \
optimizer parameters passes_steps plan plans position_is_least preemption \
preemptions printed_total_steps profile reason reported_total_samples \
reported_total_steps resumes retries run run_time_s rung runs samples saved_nothing \
saves_when_asked share slurm_args snapshot start_time_s state status_text steps stop_nan \
stop_signal stuck \
submit_time_s supervisor_silent_s suspend term_signal throughput_eps \
time_limit_s torch total_epochs total_samples total_steps waiting_for_tier_until weight \
workload worst_tier"
is 'a running job has its keys' "$job_keys" "$(json "my \$x = \$d->{jobs}[0]; $keys" <list.json)"
is 'a waiting job has the same keys' \
	"$job_keys" "$(json "my \$x = \$d->{jobs}[3]; $keys" <list.json)"
run_keys="accumulation_steps assigned_time_s batch_size checkpoint_path checkpoint_samples \
code_commit code_tree config_version cores cpu_time_s device_kind device_memory_bytes \
devices diagnosis duration_s end_time_s energy_j exit_code first_samples first_step_s \
framework frozen_bytes helper id kept_memory_bytes last_samples launch_time_s leader_pid \
learning_rate_scale local_batch_size lost_s lost_samples max_temperature_c \
mean_device_memory_bytes mean_power_w mean_utilization number outcome \
peak_allocated_bytes peak_device_memory_bytes peak_memory_bytes plan refusal \
refused_reports replicas resumed_from saved_nothing saves_when_asked stage \
stage_first_steps state step_pattern step_source step_time_s stop_duration_s stop_reason \
suspended_s suspension takes_configs tensorboard_url term_signal tier \
used_device_memory_bytes wandb_url watched_s"
is 'a run has its keys' "$run_keys" "$(json "my \$x = \$d->{jobs}[0]{run}; $keys" <list.json)"
is 'a job in full has details' \
	"after argv checkpoint_dir checkpoint_glob directory environment_names_only \
events first_commit first_tree git_commit git_dirty git_tree log_path metrics observations \
program repository resume_args runs snapshot_dir step_regex" \
	"$(json "my \$x = \$d->{jobs}[0]{details}; $keys" <some.json)"
is 'a run in the details has the same keys' "$run_keys" \
	"$(json "my \$x = \$d->{jobs}[0]{details}{runs}[0]; $keys" <some.json)"
is 'an event has its keys' 'id job_id kind run_id text time_s' \
	"$(json "my \$x = \$d->{jobs}[0]{details}{events}[0]; $keys" <some.json)"
is 'the details have what the job comes after' \
	'1 queued-or-running 1' "$(json 'my $a = $d->{jobs}[1]{details}{after}[0];
	print "$a->{after_id} ",
		$a->{after_state} =~ /^(queued|running)$/ ? "queued-or-running" : "", " ",
		$a->{must_succeed} ? 1 : 0' <some.json)"
is 'numbers are numbers in JSON' '250 0.25 50 1000' \
	"$(json 'my $j = $d->{jobs}[0];
		print join " ", @$j{qw(samples done_ratio batch_size total_samples)}' <list.json)"
is 'what is unknown is null in JSON' 'null null null null null' "$(json 'my $j = $d->{jobs}[3];
	print join " ", map { defined $j->{$_} ? $j->{$_} : "null" }
		qw(samples done_ratio eta_s run end_time_s)' <list.json)"
is 'JSON has the expected end of a running job, in order' yes "$(json 'my $j = $d->{jobs}[0];
	print $d->{time_s} <= $j->{end_from_s} && $j->{end_from_s} < $j->{end_to_s} ? "yes"
		: "$j->{end_from_s} $j->{end_to_s}"' <list.json)"
is 'JSON has no expected end of other jobs' 'null null null' "$(json '
	print join " ", map { $_->{end_from_s} // "null" } @{$d->{jobs}}[1, 2, 3]' <list.json)"
is 'JSON has the whole argument vector' 'sh -c' \
	"$(json 'print join " ", @{$d->{jobs}[0]{details}{argv}}[0, 1]' <some.json)"
unlike 'JSON does not have the environment' 'POLLUX_SLOTS' "$(cat some.json)"

# --- --watch ---
"$POLLUX" status --watch 0.2 >watched &
watcher=$!
lines() { [ "$(wc -l <watched)" -ge "$1" ]; }
ok 'status --watch prints again and again' wait_for 20 lines 20
kill -INT $watcher
status 'status --watch ends quietly when interrupted' 0 wait $watcher
ok 'status --watch sets tables apart by an empty line' \
	sh -c 'sed -n "/^$/{n;p;}" watched | grep -q "in use"'
unlike 'status --watch prints no escape sequence in a pipe' "$(printf '\033')" "$(cat watched)"
"$POLLUX" status --watch 0.2 --json >watched &
watcher=$!
ok 'status --watch --json prints again and again' wait_for 20 lines 500
kill -TERM $watcher
status 'status --watch --json ends quietly when terminated' 0 wait $watcher
is 'status --watch --json prints a stream of documents' many \
	"$(perl -MJSON::PP -0777 -ne 'my $j = JSON::PP->new->utf8; $j->incr_parse($_);
	my $n = 0; $n++ while $j->incr_parse; print $n > 1 ? "many" : $n' watched)"

status 'SECONDS may be left out, also of a shortened --watch: then a job follows' 66 \
	"$POLLUX" status --wat nobody
is 'which is looked for' "pollux: no job matches 'nobody'" "$err"
status 'a number behind -w is SECONDS' 64 "$POLLUX" status -w 1x

# --- stopping, ended ---
stubborn=$(submit -n stubborn --grace 30s \
	-- sh -c 'trap "touch \"$0/told\"" TERM; touch "$0/ready"
	while [ ! -e "$0/go" ]; do sleep 0.1; done' "$TMP")
"$POLLUX" schedule
wait_for 20 test -e ready
"$POLLUX" cancel "$stubborn"
ok 'a job that is asked to stop is stopping' wait_for 20 state_is "$stubborn" stopping
like 'status says why the job is stopping' \
	'  stubborn +stopping .* stopping to be cancelled, .* of 30s$' \
	"$("$POLLUX" status)"
# The job counts as stopping once its cancellation is asked for. A job that ended before its
# supervisor heard of the request would be done.
ok 'the job is told to stop' wait_for 20 test -e told
touch go
"$POLLUX" wait --timeout 300 1 2>/dev/null
run "$POLLUX" status
like 'status says how a job failed' "$cut +failed .* exit status 3 \\([0-9:]+\\)\$" "$out"
run "$POLLUX" status 1
like 'status ID says how a job failed' '^  exit status +3$' "$out"
"$POLLUX" wait --timeout 300 "$stubborn" 2>/dev/null
ok 'a job that is cancelled while it stops is cancelled' state_is "$stubborn" cancelled
given_job 1 end_time_s-=90000
unlike 'after a day an ended job is not listed' "  $cut  " "$("$POLLUX" status)"
like 'status --all lists an ended job after a day' "  $cut  " "$("$POLLUX" status --all)"
like 'status ID shows an ended job after a day' '^job 1: ' "$("$POLLUX" status 1)"

# --- nobody schedules any more ---
late=$(submit -n late --after "$(cat id.held)" -- true)
given_job "$late" submit_time_s-=1000 reason=
like 'status says that no pass has looked at a job' \
	"^No pass has run since job $late was submitted:\$" \
	"$("$POLLUX" status)"
given_job "$late" reason=x next_start_time_s=@submit_time_s
like 'status says that no pass has run when a job was to start' \
	"^No pass has run since .*, when job $late was to start:\$" \
	"$("$POLLUX" status)"
"$POLLUX" schedule
unlike 'status no longer misses a pass when one has run' 'No pass' "$("$POLLUX" status)"

# --- colour ---
esc=$(printf '\033')
like '--color always colours' "$esc" "$("$POLLUX" status --color always)"
unlike '--color never does not colour' "$esc" "$("$POLLUX" status --color never)"
on_terminal() { script -qec "env TERM=xterm $1 \"$POLLUX\" status" /dev/null </dev/null; }
if command -v script >/dev/null; then
	unlike 'NO_COLOR=1 on a terminal does not colour' "$esc" "$(on_terminal NO_COLOR=1)"
	like 'a terminal gets colour' "$esc" "$(on_terminal NO_COLOR=)"
	unlike 'a dumb terminal gets no colour' "$esc" "$(on_terminal 'NO_COLOR= TERM=dumb')"
fi

# --- a summary of some ---
status 'status --summary of two jobs succeeds' \
	0 env COLUMNS=70 "$POLLUX" status --summary "$stubborn" 2
is 'the summary has the two jobs' "$stubborn 2" \
	"$(printf '%s\n' "$out" | sed -n 's/^ *\([0-9][0-9]*\)  [^ ].*/\1/p' | tr '\n' ' ' |
	sed 's/ $//')"
like 'the summary says below how one of them ended' '^    cancelled$' "$out"
like 'the summary has the means over both' '^2 jobs; mean from submission to end ' "$out"

# --- a job with a past ---
past=$(submit -n past --hold --samples 3000000 -- true)
given_job "$past" samples=1234567 steps=2e9 loss=0.25 checkpoint_samples=1.2e6 lost_samples=123456 \
	lost_s=754 runs=7
for end in stopped:preempt:exit_code=75 stopped:hold:term_signal=15 \
	stopped:time-limit:term_signal=9 not-started:cancel:exit_code=null \
	failed:none:exit_code=1 failed:none:term_signal=11 completed:none:exit_code=0; do
	why=${end#*:} outcome=${end%%:*}
	past_run "$past" launch_time_s=@'unixepoch() - 1000' end_time_s=@'unixepoch()' \
		duration_s=754 outcome="$outcome" stop_reason="${why%:*}" diagnosis= \
		batch_size=128 local_batch_size=128 first_samples=0 last_samples=1.23e6 \
		step_time_s=0.0123 first_step_s=12.5 stop_duration_s=3.21 "${why#*:}"
	had_device "$run" cpu:0 cpu
	[ "$why" != hold:term_signal=15 ] || held=$run
done
run env COLUMNS=80 "$POLLUX" status "$past"
is 'the runs of a job fit in 80 columns' '' \
	"$(printf '%s\n' "$out" | sed -n '/^RUN/,/^$/p' | longer_than 80)"
is '80 columns say how each run ended' 'preempted
held
time limit, SIGKILL
called off
failed, status 1
failed, SIGSEGV
completed' "$(printf '%s\n' "$out" | sed -n '/^RUN/,/^$/{/^RUN/d;/^$/d;s/.*  //p;}')"
like 'status ID shows counts in digits' \
	'^  position +samples 1234567, steps 2000000000, loss 0\.25, 41\.1% done$' \
	"$out"
like 'status ID shows declared counts in digits' '^  total +samples 3000000$' "$out"
like 'status ID shows what was lost' '^  lost +samples 123456, running 12m34s$' "$out"
for number in 3 5 6; do given_none runs if job_id="$past" if number=$number; done
like 'runs are shown with all columns where there is room' \
	'^RUN +START +TIME +ON +BATCH +SAMPLES +MS/STEP +FIRST +STOP +OUTCOME$' \
	"$(COLUMNS=80 "$POLLUX" status "$past")"

measured "run:$held" 0.0345 local_batch_size=64 accumulation_steps=2 update_time_s=5
measured "run:$held" 0.0123 update_time_s=6
out=$(COLUMNS=80 "$POLLUX" status "$past")
is 'a run that changed its sizes has those before on a line of their own' \
	'128 12.3 128=1*64*2 34.5' \
	"$(printf '%s\n' "$out" | sed -n '/^RUN/,/^$/p' |
		awk '$1 == 2 { print $5, $7; getline; print $1, $2 }' | tr '\n' ' ' | sed 's/ $//')"
like 'the line of the sizes before says so' '^ +128=1\*64\*2 +34\.5 +before that$' "$out"
odd=$(submit --hold -- sh -c "$(printf 'true\n\techo \033[1mx\r')")
run "$POLLUX" status "$odd"
like 'control characters of a command are shown by letters and numbers' \
	"^  command     sh -c 'true\\\\n\\\\techo .*033'.*\[1mx.*015'" "$out"
run "$POLLUX" status --columns id,command "$odd"
like 'and so they are in the table' 'true\\n\\techo ' "$out"
wordy=$(submit -n wordy --hold \
	-- sh -c "echo 'two  blanks' and some words that a line of eighty columns has no room for")
run env COLUMNS=80 "$POLLUX" status "$wordy"
is 'a command that is longer than a line is broken' '' \
	"$(printf '%s\n' "$out" | sed -n '/^  command/,/^  program/p' | longer_than 80)"
like 'a broken command begins with its words, whole' \
	"^  command     sh -c 'echo '\\\\''two  blanks" "$out"
like 'a broken command goes on to its end' '^ {14}.* no room for.$' "$out"
told_event "$wordy" change 'one two three four five six seven eight nine ten eleven twelve'
run env COLUMNS=60 "$POLLUX" status "$wordy"
like 'an event that is longer than a line is broken' \
	'^[0-9:]+  change     one two three four five six seven eight$' "$out"
like 'a broken event goes on below' '^ {21}nine ten eleven twelve$' "$out"

# --- wrong arguments ---
for wrong in 0 -1 '' 99999999999999999999; do
	status "job '$wrong' is a usage error" 64 "$POLLUX" status -- "$wrong"
done
status 'a word is the name of a job' 66 "$POLLUX" status x
status 'an unknown job is refused with status 66' 66 "$POLLUX" status 1 999
is 'the unknown job is named' 'pollux: no such job: 999' "$err"
is 'nothing is printed beside the unknown job' '' "$out"
status 'an unknown job is refused with status 66 with --json' 66 "$POLLUX" status --json 999
is '--json prints nothing of an unknown job' '' "$out"
status '--all with a job is a usage error' 64 "$POLLUX" status --all 1
status '--summary with --json is a usage error' 64 "$POLLUX" status --summary --json
status 'an unknown --color is a usage error' 64 "$POLLUX" status --color maybe
is 'the unknown --color is named' \
	"pollux: option '--color' wants auto, always or never, not 'maybe'; see 'pollux status \
--help'" "$err"
for wrong in 0 -1 2x '' 99999999; do
	status "--watch '$wrong' is a usage error" 64 "$POLLUX" status --watch "$wrong"
done
to_full_device() { "$POLLUX" status --json >/dev/full; }
status 'a full device is an input/output error of status' 74 to_full_device

# --- the end of a log ---
id=$("$POLLUX" submit -q -- sh -c 'printf "one\ntwo\nthree\n\033[31mfour\n"; exit 3')
well=$("$POLLUX" submit -q -- echo five)
"$POLLUX" schedule
"$POLLUX" wait "$id" "$well" 2>/dev/null
is 'a failed job shows the last lines of its log, as text' \
	'last lines of its log|  two|  three|  four|  [exited with status 3]' \
	"$("$POLLUX" status "$id" | tail -n 5 | paste -sd '|')"
unlike 'one that is done does not' 'last lines' "$("$POLLUX" status "$well")"
rm "$POLLUX_DIR/logs/$id.log"
unlike 'nor one whose log is gone' 'last lines' "$("$POLLUX" status "$id")"
finish
