#!/bin/sh
# split.t - a sweep whose runs are of several models: its workload is split by the parameter that
# explains the step times, once, and not where a person has named the workload.
# shellcheck disable=SC2016,SC2154,SC2317  # other shells; variables of run; run by wait_for
. "$(dirname "$0")/tap.sh"
unset POLLUX_SLICE POLLUX_POLICY
export POLLUX_SLOTS=4
cleanup() { end_jobs; }

# Programs of a known speed: by width, 12 and 45 ms for a step, whatever the machine does.
sweep() { # sweep [OPTION]...
	"$POLLUX" submit -q "$@" --param seed=1,2 --param width=12,45 --env 'SEED={seed}' -b 32 -- \
		perl "$REPORTER" --steps 1000000 '{width}000000' 32
}
are_measured() { # are_measured GROUP
	[ "$(store "SELECT count(DISTINCT r.job_id) FROM observations o
		JOIN runs r ON r.id = o.run_id JOIN jobs j ON j.id = r.job_id
		WHERE j.group_id = $1 AND o.n_windows >= 2")" = 4 ]
}
measure() { # measure GROUP
	ok 'a pass starts the runs of the sweep' "$POLLUX" schedule
	ok 'all four runs are measured' wait_for 60 are_measured "$1"
	ok 'a pass looks at the step times' "$POLLUX" schedule
}
end_group() { # end_group GROUP
	"$POLLUX" cancel --yes "group:$1" && wait_for 60 is_ended "$1"
}
is_ended() { [ "$(store "SELECT count(*) FROM jobs WHERE group_id = $1 AND
	state <> 'cancelled'")" = 0 ]; }
workloads() { # workloads GROUP: how many jobs have each, without the command
	store "SELECT substr(workload, nullif(instr(workload, ' [width='), 0)), count(*) FROM jobs
		WHERE group_id = $1 GROUP BY workload" | tr '\n' ';'
}

status 'a sweep of two widths is submitted' 0 sweep
is 'the sweep is one workload' '|4;' "$(workloads 1)"
measure 1
is 'the sweep is split into two runs of each width' ' [width=12]|2; [width=45]|2;' "$(workloads 1)"
is 'the runs have the workloads of their jobs' \
	0 "$(store "SELECT count(*) FROM runs r JOIN jobs j ON j.id = r.job_id
	WHERE r.workload <> j.workload")"
run "$POLLUX" explain 1
like 'explain says by what the sweep is split' \
	'^  sweep +split by width: (12 ms at 12, 45 ms at 45|45 ms at 45, 12 ms at 12)$' "$out"
is 'JSON of explain has the split' 'split by width:' "$("$POLLUX" explain 1 --json |
	json 'print join " ", (split / /, $d->{split})[0 .. 2]')"
ok 'another pass succeeds' "$POLLUX" schedule
is 'the sweep is split once' ' [width=12]|2; [width=45]|2;' "$(workloads 1)"
ok 'the sweep ends when cancelled' end_group 1

status 'a sweep with a name for its workload is submitted' 0 sweep --workload mine
measure 2
is 'the sweep stays of the workload that was named' \
	'mine|4' "$(store 'SELECT workload, count(*) FROM jobs
	WHERE group_id = 2 GROUP BY workload')"
is 'JSON of explain has no split of that sweep' \
	'null' "$("$POLLUX" explain 5 --json | json 'print $d->{split} // "null"')"
ok 'the sweep with a name ends when cancelled' end_group 2

finish
