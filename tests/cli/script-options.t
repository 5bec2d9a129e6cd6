#!/bin/sh
# script-options.t - #POLLUX lines at the head of a submitted script are options of its submission.
# shellcheck disable=SC2154  # $out and $err are of run
. "$(dirname "$0")/tap.sh"
column() { store "SELECT $1 FROM jobs ORDER BY id DESC LIMIT 1"; }

cat >train.sh <<'END_OF_SCRIPT'
#!/bin/sh
# A night's work.
#POLLUX --time-limit 2h --name "night run"

#POLLUX
#POLLUXX --no-such-option
# POLLUX --no-such-option either
	#POLLUX --nor-this: the line does not begin with it
#POLLUX --epochs 3
#POLLUX --dataset-size 100 --weight=2   --env 'A=it'\''s \ here' --env "B=a \"b\" c\n"
printf "%s\n" "$A|$B"
#POLLUX --retries 9
END_OF_SCRIPT
chmod +x train.sh
status 'a script with options' 0 "$POLLUX" submit ./train.sh
is 'nothing is said' '' "$err"
is 'they hold' 'night run|7200.0|300.0|2.0|0' \
	"$(column 'name, time_limit_s, total_samples, weight, retries')"
"$POLLUX" submit -q --time-limit 1h -n mine ./train.sh >/dev/null
is 'those of the command line win' 'mine|3600.0|2.0' "$(column 'name, time_limit_s, weight')"
like 'status shows what was declared' 'limit 1h00m|time limit 1h00m' "$("$POLLUX" status @)"
for command in 'sh train.sh' 'bash -x train.sh' 'nice -n 5 ./train.sh' "env X=1 sh $TMP/train.sh" \
	'perl train.sh' 'python3 -u train.sh'; do
	command -v "${command%% *}" >/dev/null || continue
	# shellcheck disable=SC2086  # words
	"$POLLUX" submit -q --no-torch -- $command --weight 7 >/dev/null
	is "$command" '7200.0|2.0' "$(column 'time_limit_s, weight')"
done
"$POLLUX" submit -q -- sh -c ./train.sh >/dev/null
is 'not what is code' '|1.0' "$(column 'time_limit_s, weight')"
"$POLLUX" submit -q -- cat train.sh >/dev/null
is 'nor what another program reads' '|1.0' "$(column 'time_limit_s, weight')"
mkdir elsewhere
cd elsewhere || exit 1
"$POLLUX" submit -q --chdir "$TMP" -- sh train.sh >/dev/null
is 'in the directory of the job' '7200.0' "$(column time_limit_s)"
cd ..
"$POLLUX" cancel 2-100
POLLUX_SLOTS=1 "$POLLUX" schedule
"$POLLUX" wait --timeout 100 1
like 'quotes are those of a shell' '^it.s \\ here\|a "b" c\\n$' "$("$POLLUX" log 1)"

# --- what is wrong is named by file and line ---
refused() { # refused NAME MESSAGE LINE...: a script of these lines
	name=$1 message=$2
	shift 2
	{ echo '#!/bin/sh'; printf '%s\n' "$@" 'exit 0'; } >bad.sh
	n_jobs=$(store 'SELECT count(*) FROM jobs')
	status "$name" 64 "$POLLUX" submit sh bad.sh
	is "$name: what is said" "pollux: $message" "$err"
	is "$name: no job" "$n_jobs" "$(store 'SELECT count(*) FROM jobs')"
}
refused 'an unknown option' "'bad.sh' line 3: unknown option '--wieght'; did you mean '--weight'?" \
	'# ok' '#POLLUX --wieght 2'
refused 'a wrong value' "'bad.sh' line 2: option '--retries N': 'x' is not a whole number from 0 \
to 1000" '#POLLUX --retries x'
refused 'a command' "'bad.sh' line 2: 'python' is not an option: the command stands on the command \
line" '#POLLUX --retries 1 python train.py'
refused 'an open quote' "'bad.sh' line 2: a quote is not closed" '#POLLUX --name "x'
refused 'an option that lacks another' \
	"with the #POLLUX lines of 'bad.sh': option '--epochs' needs \
--dataset-size; see 'pollux submit --help'" '#POLLUX --epochs 3'

printf '#!/bin/sh\r\n#POLLUX --weight 3\r\n#POLLUX --name=dos\r\n' >dos.sh
"$POLLUX" submit -q sh dos.sh >/dev/null
is 'lines that end as in DOS' 'dos|3.0' "$(column 'name, weight')"
printf '#POLLUX --weight 4' >short.sh
"$POLLUX" submit -q --batch-range 32:64 --batch 32 sh short.sh >/dev/null
is 'a last line without an end' 4.0 "$(column weight)"
printf '#POLLUX --batch 32\n' >needed.sh
"$POLLUX" submit -q --batch-range 32:64 sh needed.sh >/dev/null
is 'an option of the command line may need one of the script' '32|64' \
	"$(column 'batch_size, max_batch_size')"
{ printf '#'; head -c 100000 /dev/zero | tr '\0' x; printf '\n#POLLUX --weight 5\n'; } >long.sh
"$POLLUX" submit -q sh long.sh >/dev/null
is 'no script has such lines' 1.0 "$(column weight)"
mkfifo pipe.sh
status 'a pipe is not read' 0 timeout 60 "$POLLUX" submit -q sh pipe.sh
finish
