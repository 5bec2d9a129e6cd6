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
status 'a script with options is submitted' 0 "$POLLUX" submit ./train.sh
is 'submit says nothing of good options of a script' '' "$err"
is 'options of a script hold' 'night run|7200.0|300.0|2.0|0' \
	"$(column 'name, time_limit_s, total_samples, weight, retries')"
"$POLLUX" submit -q --time-limit 1h -n mine ./train.sh >/dev/null
is 'options of the command line go before those of a script' \
	'mine|3600.0|2.0' "$(column 'name, time_limit_s, weight')"
like 'status shows the options of the script' 'limit 1h00m|time limit 1h00m' "$("$POLLUX" status @)"
cat >small.sh <<'END_OF_SCRIPT'
#!/bin/sh
#pollux runs this each night
#pollux -n small -t 1h
#pollux
true
END_OF_SCRIPT
status 'a script with #pollux lines is submitted' 0 "$POLLUX" submit -q -- sh small.sh
is 'options after #pollux hold, other comments with that word do not' 'small|3600.0' \
	"$(column 'name, time_limit_s')"
for command in 'sh train.sh' 'bash -x train.sh' 'nice -n 5 ./train.sh' "env X=1 sh $TMP/train.sh" \
	'perl train.sh' 'python3 -u train.sh'; do
	command -v "${command%% *}" >/dev/null || continue
	# shellcheck disable=SC2086  # words
	"$POLLUX" submit -q --no-torch -- $command --weight 7 >/dev/null
	is "$command" '7200.0|2.0' "$(column 'time_limit_s, weight')"
done
"$POLLUX" submit -q -- sh -c ./train.sh >/dev/null
is 'code for a shell has no options of a script' '|1.0' "$(column 'time_limit_s, weight')"
"$POLLUX" submit -q -- cat train.sh >/dev/null
is 'a file that another program reads has no options' '|1.0' "$(column 'time_limit_s, weight')"
mkdir elsewhere
cd elsewhere || exit 1
"$POLLUX" submit -q --chdir "$TMP" -- sh train.sh >/dev/null
is 'a script in the directory of --chdir has its options' '7200.0' "$(column time_limit_s)"
cd ..
"$POLLUX" cancel 2-100
POLLUX_SLOTS=1 "$POLLUX" schedule
"$POLLUX" wait --timeout 100 1
like 'quotes in options of a script are those of a shell' \
	'^it.s \\ here\|a "b" c\\n$' "$("$POLLUX" log 1)"

# --- what is wrong is named by file and line ---
refused() { # refused NAME MESSAGE LINE...: a script of these lines
	name=$1 message=$2
	shift 2
	{ echo '#!/bin/sh'; printf '%s\n' "$@" 'exit 0'; } >bad.sh
	n_jobs=$(store 'SELECT count(*) FROM jobs')
	status "$name" 64 "$POLLUX" submit sh bad.sh
	is "$name: the message is exact" "pollux: $message" "$err"
	is "$name: no job is made" "$n_jobs" "$(store 'SELECT count(*) FROM jobs')"
}
refused 'a script with an unknown option is refused' \
	"'bad.sh' line 3: unknown option '--wieght'; did you mean '--weight'?" \
	'# ok' '#POLLUX --wieght 2'
refused 'a script with a wrong value is refused' \
	"'bad.sh' line 2: option '--retries N': 'x' is not a whole number from 0 \
to 1000" '#POLLUX --retries x'
refused 'a script with a command in its options is refused' \
	"'bad.sh' line 2: 'python' is not an option: the command stands on the command \
line" '#POLLUX --retries 1 python train.py'
refused 'a script with an open quote in its options is refused' \
	"'bad.sh' line 2: a quote is not closed" '#POLLUX --name "x'
refused 'a script with an option that lacks another is refused' \
	"with the #POLLUX lines of 'bad.sh': option '--epochs' needs \
--dataset-size; see 'pollux submit --help'" '#POLLUX --epochs 3'

printf '#!/bin/sh\r\n#POLLUX --weight 3\r\n#POLLUX --name=dos\r\n' >dos.sh
"$POLLUX" submit -q sh dos.sh >/dev/null
is 'options of a script may have line ends of DOS' 'dos|3.0' "$(column 'name, weight')"
printf '#POLLUX --weight 4' >short.sh
"$POLLUX" submit -q --batch-range 32:64 --batch 32 sh short.sh >/dev/null
is 'options of a script may end without a newline' 4.0 "$(column weight)"
printf '#POLLUX --batch 32\n' >needed.sh
"$POLLUX" submit -q --batch-range 32:64 sh needed.sh >/dev/null
is 'an option of the command line may need one of the script' '32|64' \
	"$(column 'batch_size, max_batch_size')"
{ printf '#'; head -c 100000 /dev/zero | tr '\0' x; printf '\n#POLLUX --weight 5\n'; } >long.sh
"$POLLUX" submit -q sh long.sh >/dev/null
is 'a file with a line too long for a script has no options' 1.0 "$(column weight)"
mkfifo pipe.sh
status 'submit does not read a script that is a pipe' 0 timeout 60 "$POLLUX" submit -q sh pipe.sh
printf '#!/bin/sh\n#POLLUX\v-n tabbed \f -b 8\ntrue\n' >odd.sh
chmod +x odd.sh
status 'any blanks part the options of a script' 0 timeout $((5 * TIME_SCALE)) "$POLLUX" submit \
	--hold ./odd.sh
is 'options hold between any blanks' 'tabbed|8' "$(column 'name, batch_size')"
finish
