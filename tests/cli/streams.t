#!/bin/sh
# streams.t - programs that open their standard output or error by name: nothing that any run has
# printed is lost.
# shellcheck disable=SC2016,SC2094,SC2317 # texts for other shells; functions run by wait_for
. "$(dirname "$0")/tap.sh"
POLLUX_SLOTS=4
export POLLUX_SLOTS
cleanup() { end_jobs; }

# Each way prints the word "named", between lines that are printed as usual.
cat >ways <<'END'
echo named >/dev/stderr
echo named >/dev/stdout
echo named >/dev/fd/1
echo named >/dev/fd/2
echo named >/proc/self/fd/1
echo named >/proc/self/fd/2
echo named >/proc/$$/fd/1
echo named 1<>/dev/stderr
echo named | tee /dev/stderr >/dev/null
echo named | tee -a /dev/stdout
echo named | dd of=/dev/stderr status=none
echo named >named.$$; cp named.$$ /dev/stdout
echo named | sed 'w /dev/stdout'
echo named | sed -n 'w /dev/fd/2'
echo named | awk '{ print >"/dev/stderr" }'
: >/dev/stdout; : >/dev/stderr; echo named
truncate -s 0 /dev/stdout; echo named
(exec 3>/dev/stdout; echo named >&3; echo again >/dev/stdout; echo third >&3)
perl -e 'open(my $f, ">", "/dev/stdout") or die; print $f "named\n"; truncate(STDOUT, 0)'
perl -e 'seek(STDOUT, 0, 0); truncate(STDERR, 0); print "named\n"'
exec 1>/dev/stderr; echo named
sh -c 'echo named >/dev/stderr' 2>&1
END
if command -v python3 >/dev/null; then
	cat >>ways <<'END'
python3 -c 'open("/dev/stdout", "w").write("named\n")'
python3 -c 'open("/dev/stderr", "w").write("named\n")'
python3 -c 'import os; open("/proc/self/fd/1", "wb", 0).write(b"named\n"); os.lseek(1, 0, 0)'; true
python3 logs.py
END
	cat >logs.py <<'END'
import logging
logging.basicConfig(filename="/dev/stderr", filemode="w", format="%(message)s")
logging.error("named")
END
fi
n_ways=$(grep -c . ways)
id=0
while read -r way; do
	id=$((id + 1))
	{
		echo 'echo "begin $POLLUX_RUN"; echo "error $POLLUX_RUN" >&2'
		printf '%s\n' "$way"
		echo 'echo "end $POLLUX_RUN"; [ "$POLLUX_RUN" = 2 ]'
	} >"script.$id"
	"$POLLUX" submit -q -- sh "script.$id" >/dev/null
done <ways
run_all() {
	"$POLLUX" schedule
	wait_for 60 all_in "$1"
}
all_in() { # all_in STATE
	"$POLLUX" schedule
	[ "$(store "SELECT count(*) FROM jobs WHERE state = '$1'")" = "$n_ways" ]
}
ok 'each job fails in its first run' run_all failed
for id in $(store 'SELECT id FROM jobs'); do "$POLLUX" requeue "$id"; done
ok 'each job ends well in its second run' run_all "done"
id=0
while read -r way; do
	id=$((id + 1))
	"$POLLUX" log "$id" >log
	is "all lines are in the log after: $way" \
		'begin 1,error 1,named,end 1,begin 2,error 2,named,end 2' \
		"$(grep -E '^(begin|error|end) [12]$|^named$' log | uniq | paste -sd,)"
	is "the log has the lines of pollux itself after: $way" '2 2 0 2' \
		"$(grep -c '^# pollux job' log) $(grep -c '^exec sh script' log) \
$(tr -dc '\0' <log | wc -c) $(grep -c '^\[exited with' log)"
done <ways

# What a program sees: one thing for both streams, no terminal, and no file.
job=$("$POLLUX" submit -q -- sh -c '[ -p /dev/stdout ] && [ -p /dev/stderr ] && [ ! -t 1 ] &&
	[ /dev/stdout -ef /dev/stderr ] && echo right')
"$POLLUX" schedule
"$POLLUX" wait --timeout 200 "$job"
ok 'both streams are one pipe' grep -qx right "$POLLUX_DIR/logs/$job.log"
is 'nothing is left of the pipe' '' "$(find "$POLLUX_DIR/run" -name '*.out')"

# A log of an older pollux, which all its runs had written into.
printf 'of an older run\n' >"$POLLUX_DIR/logs/$((job + 1)).log"
job=$("$POLLUX" submit -q -- sh -c 'echo new >/dev/stdout')
"$POLLUX" schedule
"$POLLUX" wait --timeout 200 "$job"
like 'the log of an older pollux gets the new run' '^new$' "$("$POLLUX" log "$job")"

# All of a large output is there, in order, when the job has ended.
job=$("$POLLUX" submit -q -- sh -c 'seq 300000; seq 300001 400000 >/dev/stdout')
"$POLLUX" schedule
"$POLLUX" wait --timeout 200 "$job"
seq 400000 >want
"$POLLUX" log "$job" | sed '1,2d; $d' >got
ok 'a large output is whole' cmp want got

# The process that writes the log, alone: with a file that is open for appending, to which the
# kernel moves nothing, and where nothing can be written.
seq 100000 >want
echo before >appended
status 'keep-log writes into a file for appending' \
	0 sh -c 'seq 100000 | "$POLLUX" keep-log 1 >>appended'
ok 'keep-log has written all into it' sh -c '{ echo before; cat want; } | cmp - appended'
status 'keep-log does not wait for what cannot be written' 0 \
	timeout 100 sh -c 'seq 100000 | "$POLLUX" keep-log 1 >/dev/full'
status 'keep-log needs the number of a run' 64 "$POLLUX" keep-log

# The file of pollux can be out of reach when the process that writes the log is begun anew.
cp "$POLLUX" moved
job=$(./moved submit -q -- sh -c 'echo begun; until [ -e go ]; do sleep 0.05; done; echo late
	until [ -e end ]; do sleep 0.05; done')
./moved schedule
ok 'a run of a pollux whose file will go has begun' \
	wait_for 60 grep -qx begun "$POLLUX_DIR/logs/$job.log"
chmod a-x moved
kill -9 "$(store "SELECT handle FROM runs WHERE job_id = $job" |
	sed 's/.* keeper=\([0-9]*\).*/\1/')"
touch go
ok 'the run writes its log when the file is gone' \
	wait_for 20 grep -qx late "$POLLUX_DIR/logs/$job.log"
chmod a+x moved
touch end
"$POLLUX" wait --timeout 200 "$job"

# Whoever is left with the streams does not keep the job from its end.
job=$("$POLLUX" submit -q -- sh -c 'setsid sleep 1000 & echo begun')
"$POLLUX" schedule
status 'a process that is left is swept' 0 "$POLLUX" wait --timeout 300 "$job"
finish
