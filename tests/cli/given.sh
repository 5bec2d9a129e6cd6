# given.sh - what the store holds before a test acts; tap.sh sources it.
#
# A test says `given_job 7 state=held samples=5e6`, not how that is written: only this file, and the
# tests of the store itself, write columns by SQL (tools/check-tests.sh).
#
#	KEY=VALUE	a number, a text, null, or @COLUMN: what another column has
#	KEY+=VALUE	more than before; KEY-=VALUE: less
#	WHO		numbers of jobs, 'all', or run:NUMBER: one run
# shellcheck shell=sh disable=SC2034  # run is for the tests

given_value() { # given_value VALUE: as SQL
	case $1 in
	null) printf NULL ;;
	@*) printf %s "${1#@}" ;;
	'' | *[!0-9.e+-]* | e*) printf "'%s'" "$(printf %s "$1" | sed "s/'/''/g")" ;;
	*) printf %s "$1" ;;
	esac
}
given_changes() { # given_changes KEY=VALUE...: the list of an UPDATE
	given_comma=''
	for given; do
		given_key=${given%%=*} given_sql=$(given_value "${given#*=}")
		case $given_key in
		*+) given_key=${given_key%+} given_sql="$given_key + $given_sql" ;;
		*-) given_key=${given_key%-} given_sql="$given_key - $given_sql" ;;
		esac
		printf '%s%s = %s' "$given_comma" "$given_key" "$given_sql"
		given_comma=', '
	done
}
# given_insert VERB TABLE FROM KEY=VALUE...: rows made of what is FROM; of a key given twice the
# last counts.
given_insert() {
	given_verb=$1 given_into=$2 given_from=$3 given_columns='' given_values=''
	shift 3
	while [ $# -gt 0 ]; do
		given_key=${1%%=*} given_sql=${1#*=}
		shift
		for given; do
			[ "${given%%=*}" != "$given_key" ] || continue 2
		done
		given_columns=$given_columns${given_columns:+, }$given_key
		given_values=$given_values${given_values:+, }$(given_value "$given_sql")
	done
	printf '%s INTO %s (%s) SELECT %s %s;' "$given_verb" "$given_into" "$given_columns" \
		"$given_values" "$given_from"
}
new_row() { given_insert INSERT "$@"; }
given_row() { given_insert 'INSERT OR REPLACE' "$@"; }	# in place of the one with its key
given_who() { # given_who COLUMN WHO: a condition
	case $2 in
	all) echo 1 ;;
	run:*) echo "id = ${2#run:}" ;;
	*) echo "$1 IN ($(printf %s "$2" | tr -s ' \n' ,))" ;;
	esac
}

# Changes jobs, and the runs of jobs, of which all that is said after `if` is so. The ..._sql are
# for a transaction of the test (let_store_go).
given_update() { # given_update TABLE ID WHO [if KEY=VALUE]... KEY=VALUE...
	given_into=$1 given_condition=$(given_who "$2" "$3")
	shift 3
	while [ "$1" = if ]; do
		given_condition="$given_condition AND $(given_changes "$2")"
		shift 2
	done
	echo "UPDATE $given_into SET $(given_changes "$@") WHERE $given_condition;"
}
job_sql() { given_update jobs id "$@"; }
run_sql() { given_update runs job_id "$@"; }
given_job() { store "$(job_sql "$@")"; }
given_run() { store "$(run_sql "$@")"; }
given_command() { store "$(given_update commands job_id "$@")"; }
replaced_in_command() { # replaced_in_command WHO OLD NEW
	given_command "$1" argv=@"CAST(replace(CAST(argv AS TEXT), '$2', '$3') AS BLOB)"
}
given_environment() { # given_environment JOB KEY=VALUE...
	given_id=$(store "SELECT environment_id FROM commands WHERE job_id = $1")
	shift
	store "$(given_update environments id "$given_id" "$@")"
}
# Of these WHO is 'all'.
given_model() { store "$(given_update models - "$@")"; }
given_kinds() { store "$(given_update device_measurements - "$@")"; }
# Of these WHO are runs: numbers or 'all'.
given_devices() { store "$(given_update run_devices run_id "$@")"; }
given_times() { store "$(given_update observations run_id "$@")"; }
given_gradients() { store "$(given_update gradient_statistics run_id "$@")"; }
given_setting() { store "INSERT OR REPLACE INTO settings VALUES ('$1', $(given_value "$2"))"; }
# What else happens in the transaction that writes a run's column.
on_update() { # on_update COLUMN CONDITION SQL: OLD and NEW are the run
	store "CREATE TRIGGER given AFTER UPDATE OF $1 ON runs WHEN $2 BEGIN $3 END"
}
given_none() { # given_none TABLE [if KEY=VALUE]...: no such rows, and nothing that belongs to them
	given_into=$1 given_condition=1
	shift
	while [ "${1-}" = if ]; do
		given_condition="$given_condition AND $(given_changes "$2")"
		shift 2
	done
	store "PRAGMA foreign_keys = ON; DELETE FROM $given_into WHERE $given_condition"
}

# Adds a run of each job, one that ended unless KEY=VALUE says otherwise; $run is the number of the
# last one in the store.
past_run() { # past_run WHO KEY=VALUE...
	given_condition=$(given_who id "$1")
	shift
	run=$(store "$(new_row runs "FROM jobs WHERE $given_condition" job_id=@id state=ended \
		number=@'(SELECT coalesce(max(number), 0) + 1 FROM runs WHERE job_id = jobs.id)' \
		replicas=1 accumulation_steps=1 learning_rate_scale=1 boot_id=x assigned_time_s=1 \
		assigned_boot_s=1 "$@") SELECT last_insert_rowid()")
}
had_device() { # had_device RUN DEVICE KIND [KEY=VALUE...]: a further device of the run
	given_run_id=$1 given_device=$2 given_kind=$3
	shift 3
	store "$(new_row run_devices '' run_id="$given_run_id" device="$given_device" \
		kind="$given_kind" binding= cores=1 \
		position=@"(SELECT count(*) FROM run_devices WHERE run_id = $given_run_id)" "$@")"
}
# What the runs measured: the seconds of a step of their own size on their own kind of device.
measured() { # measured WHO SECONDS [KEY=VALUE...]
	given_condition=$(given_who job_id "$1") given_seconds=$2
	shift 2
	store "$(given_row observations "FROM runs WHERE $given_condition" run_id=@id nodes=1 \
		device_kind=@'(SELECT kind FROM run_devices WHERE run_id = id LIMIT 1)' \
		replicas=@replicas local_batch_size=@local_batch_size \
		accumulation_steps=@accumulation_steps n_steps=1000 n_windows=100 n_dropped=0 \
		n_outliers=0 update_time_s=1 step_time_s="$given_seconds" \
		step_time_sd_s=@"$given_seconds / 1000" step_time_min_s="$given_seconds" "$@")"
}
# A model of a workload on a kind of device: seconds by the equations of pollux-goodput(7).
fitted() { # fitted WORKLOAD KIND KEY=VALUE...
	given_workload=$1 given_kind=$2
	shift 2
	store "$(given_row models '' workload="$given_workload" device_kind="$given_kind" \
		alpha_grad=1 beta_grad=1 alpha_sync_local=1 beta_sync_local=1 alpha_sync_node=1 \
		beta_sync_node=1 gamma=1 basis=ddddddd stop=converged objective=0.01 \
		rmse_grad=0.02 rmse_step=0.03 n_observations=3 n_steps=15000 max_replicas=1 \
		max_local_batch_size=512 observations_key=key fit_time_s=1e9 "$@")"
}
# Windows of gradient statistics of each run: sums over n updates.
told_gradients() { # told_gradients WHO KEY=VALUE...
	given_condition=$(given_who job_id "$1")
	shift
	store "$(given_row gradient_statistics "FROM runs WHERE $given_condition" run_id=@id \
		window=0 n=100 entries=100 m2_grad_sqr=null m2_grad_var=null "$@")"
}
# How fast a kind of device is at products of matrices of 512.
measured_device() { # measured_device KIND SECONDS [KEY=VALUE...]
	given_kind=$1 given_seconds=$2
	shift 2
	store "$(given_row device_measurements '' device_kind="$given_kind" what=product \
		variant=fp32 devices=1 m=512 n=512 k=512 bytes=0 time_s="$given_seconds" \
		time_sd_s=0 repetitions=9 steady=1 measured_time_s=0 "$@")"
}
# A curve of a job: the points 1 to N, each of its own value.
past_curve() { # past_curve JOB NAME N
	store "$(new_row curve_points "FROM (WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL
		SELECT i + 1 FROM n WHERE i < $3) SELECT i FROM n)" job_id="$1" name="$2" \
		time_s=@i samples=@i value=@i)"
}
told_event() { # told_event JOB KIND TEXT: now
	store "$(new_row events '' job_id="$1" kind="$2" text="$3" time_s=@'unixepoch()')"
}
# given_events N KEY=VALUE...: so many; @i is the number of each, from 1.
given_events() {
	given_series="WITH RECURSIVE n (i) AS
		(SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1) SELECT i FROM n"
	shift
	store "$(new_row events "FROM ($given_series)" "$@")"
}
# A run that ended had this device in the first third of its time, its own one in the last.
was_suspended() { # was_suspended RUN DEVICE
	given_third='(end_time_s - launch_time_s) / 3'
	store -cmd '.timeout 120000' "$(new_row events "FROM runs WHERE id = $1" job_id=@job_id \
		run_id=@id kind=suspended text= devices="$2" \
		time_s=@"launch_time_s + $given_third")
		$(new_row events "FROM runs WHERE id = $1" job_id=@job_id run_id=@id kind=resumed \
		text= time_s=@"end_time_s - $given_third")"
}
# A decision of a pass of long ago, and what it said of a job.
past_decision() { # past_decision POLICY DEVICES JOB REPLICAS REASON
	store "$(new_row decisions '' id=7 time_s=140 policy="$1" devices="$2")
		$(new_row decision_jobs '' decision_id=7 job_id="$3" replicas="$4" reason="$5")"
}
# Jobs FIRST to LAST as copies of another one, as if they had been submitted with it.
copied_jobs() { # copied_jobs JOB FIRST LAST
	{
		echo "BEGIN; CREATE TEMP TABLE job AS SELECT * FROM jobs WHERE id = $1;
			CREATE TEMP TABLE command AS SELECT * FROM commands WHERE job_id = $1;"
		seq "$2" "$3" | while read -r given; do echo "UPDATE job SET id = $given;
			INSERT INTO jobs SELECT * FROM job;
			UPDATE command SET job_id = $given;
			INSERT INTO commands SELECT * FROM command;"
		done
		echo 'COMMIT;'
	} | store
}
