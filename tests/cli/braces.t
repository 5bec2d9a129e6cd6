#!/bin/sh
# braces.t - ordinary commands with braces run as they are; only words that pollux knows are
# replaced, in the command, in --env, --name and --checkpoint-dir.
# shellcheck disable=SC2016,SC2154,SC2317  # texts for other shells; $err is of run; cleanup
. "$(dirname "$0")/tap.sh"
export POLLUX_SLOTS=2
cleanup() { end_jobs; }
submit() { "$POLLUX" submit "$@"; }
printed() { "$POLLUX" log "$1" | sed '/^#/d; /^exec/d; /^\[/d'; }
ends() {
	"$POLLUX" schedule
	"$POLLUX" wait --timeout 100 "$1"
}
name_of() { store "SELECT name FROM jobs WHERE id = $1"; }
directory_of() {
	store "SELECT CAST(checkpoint_dir AS TEXT) FROM commands WHERE job_id = $1"
}

# --- ordinary commands -------------------------------------------------------------

# One job prints all of them, each on a line, as printf(1) does here.
cat >texts <<'END'
f"{x}"
print(f"{loss:.3f} {epoch}")
{print $1}
BEGIN { n = 0 } { n += $1 } END { print n }
{"lr": 0.1}
{"a": {"b": {"c": 1}}}
{'model': {'a': 1}}
${HOME}
${job}
${run:-1}
$${batch}
${lr}
model={a:1}
+optimizer={lr:0.1,betas:[0.9,0.95]}
{}
{};
{} +
{{}}
{{ jinja }}
{{x}}
{% if job %}
{
}
}{
{{
{job
job}
{ job }
{job,run}
file{1..3}.txt
HEAD@{1}
^a{2,3}$
%{http_code}
\frac{a}{b}
{Job.id}
{job!r}
{batch}
{resume}
{0:.2f}
{"batch": {batch}}
END
set --
while IFS= read -r text; do set -- "$@" "$text"; done <texts
id=$(submit -q -- printf '%s\n' "$@" 2>/dev/null)
ends "$id"
is "$# commands with braces run as they are" "$(cat texts)" "$(printed "$id")"
is "$# commands with braces run in a sweep as they are" "$(cat texts)" "$(
	id=$(submit -q --param x_1=5 -e 'A={x_1}' -- printf '%s\n' "$@" 2>/dev/null)
	ends "$id"
	printed "$id")"
python='batch = 3; print(f"{batch}", {"lr": 0.1}, "{}".format(1), f"{batch:>3}")'
id=$(submit -q -- python3 -c "$python" 2>err)
ends "$id"
is 'an f-string with the name of a template runs as it is' "3 {'lr': 0.1} 1   3" "$(printed "$id")"
is 'submit warns once of an f-string with the name of a template' \
	"pollux: warning: '{batch}' in argument 2 of the command stays as \
it is: it needs --batch" "$(cat err)"
run submit --hold -- sh -c 'for lr in 1 2; do echo "${lr}" {a,b} {}; done' '{"lr": 1}'
is 'submit does not warn of ordinary braces' '' "$err"

# --- what is replaced ----------------------------------------------------------------

id=$(submit -q -b 64 -- printf '%s\n' '{job}' '{"b": {"n": {batch}}}' '{{job}}' '{{{job}}}' \
	'{{batch}' '{batch}}' '{}{run}' 'x{job}y{run}z' 2>/dev/null)
ends "$id"
is "the command's known words are replaced, and no others" "$id
{\"b\": {\"n\": 64}}
{job}
{{job}}
{64
64}
{}1
x${id}y1z" "$(printed "$id")"
id=$(submit -q -- printf '<%s>' '{{resume}}' 'x' 2>/dev/null)
ends "$id"
is '{{resume}} stands for a literal {resume}' '<{resume}><x>' "$(printed "$id" | tr -d '\n')"

# --- words that may have been meant -----------------------------------------------------

while read -r word want; do
	run submit --hold -- true "{$word}"
	is "submit asks whether {$word} was meant as another word" \
		"pollux: warning: '{$word}' in argument 1 of the command stays as it is; did \
you mean {$want}?" "$err"
	like "the word {$word} is stored as it is" "true {$word}\$" \
		"$("$POLLUX" status "$out" | grep ' command ')"
done <<'END'
checkpoints checkpoint
batchsize batch
batch_size batch
bacth batch
gpu gpus
num_gpus gpus
job_id job
local_batchsize local_batch
GPUS gpus
END
for word in x i lo r jo fun code result acc loss epoch name path run_dir index HOME; do
	run submit --hold -- true "{$word}"
	is "submit does not warn of the word {$word}" '' "$err"
done
while read -r text option; do
	run submit --hold -- true "$text"
	is "submit says that $text needs $option" \
		"pollux: warning: '$text' in argument 1 of the command stays as \
it is: it needs $option" "$err"
done <<'END'
{batch} --batch
{local_batch} --batch
{accum} --batch
{lr} --lr
{resume} --resume-args
{plan} --plan
END
run submit --hold --resume-args '{resume}' -- true
like 'submit says that {resume} stays in --resume-args' \
	"'\{resume\}' in --resume-args stays as it is" "$err"
run submit --hold -n '{run}' --checkpoint-dir '{gpus}' -e 'A={bacth}' -- true '{bacth}' '{bacth}'
is 'submit says where each word stays, once' "pollux: warning: '{bacth}' in argument 1 of the \
command stays as it is; did you mean {batch}?
pollux: warning: '{run}' in --name stays as it is: there pollux replaces {job} alone
pollux: warning: '{gpus}' in --checkpoint-dir stays as it is: there pollux replaces {job} alone" \
	"$err"

# --- a dry run ----------------------------------------------------------------------------

run submit --dry-run -b 64 -n 'n{job}' -e 'A={run}' --resume-args 'x {newest}' -- true '{batch}' \
	'{{port}}' '{x}'
is 'a dry run says what is replaced at launch' \
	'pollux: replaced at launch: {batch} {run} {newest} {job}' "$err"
is 'a dry run shows the words that stay' "A='{run}' true '{batch}' '{port}' '{x}'" \
	"$(echo "$out" | sed "
	s/{run}/'&'/
	s/{batch}/'&'/; s/{port}/'&'/; s/{x}/'&'/")"

# --- variables, names, directories -----------------------------------------------------------

SHELL_HAS='{job} {{run}}'
export SHELL_HAS
run submit -q -b 8 -e 'ID=run-{job}' -e 'ALL={job} {run} {batch} {gpus} {{job}} {x} ${job} {lr}' \
	-e 'OUT={checkpoint}' -n 'x-{job}' --checkpoint-dir 'o/{job}' -- \
	sh -c 'printf "%s\n" "$ID" "$ALL" "$OUT" "$SHELL_HAS"'
id=$out
ends "$id"
is 'variables of --env have templates replaced, those of the shell do not' "run-$id
$id 1 8 1 {job} {x} \${job} {lr}
$TMP/o/$id
{job} {{run}}" "$(printed "$id")"
is "a job's name has its number for {job}" "x-$id" "$(name_of "$id")"
is "a job's checkpoint directory has its number for {job}" "$TMP/o/$id" "$(directory_of "$id")"
"$POLLUX" requeue "$id" >/dev/null
ends "$id"
is 'the variable with {job} is the same in the next run' "run-$id
run-$id" "$(printed "$id" | grep '^run-')"
is 'the variable with {run} has the number of the next run' "$id 2 8 1 {job} {x} \${job} {lr}" \
	"$(printed "$id" | grep "^$id 2")"
"$POLLUX" requeue --take-env "$id" >/dev/null 2>&1
ends "$id"
is "requeue --take-env does not replace words in the shell's variables" '{job} {{run}}' \
	"$(printed "$id" | tail -1)"
is 'requeue --take-env drops the variables of --env' '' "$(printed "$id" | tail -4 | head -3 |
	tr -d '\n')"
again=$("$POLLUX" again -q "$id")
is 'a job by again has a name with its own number' "x-$again" "$(name_of "$again")"
is 'a job by again has a directory with its own number' "$TMP/o/$again" "$(directory_of "$again")"
mkdir 'in {job}'
id=$(cd 'in {job}' && submit -q --hold --checkpoint-dir '{job}' -- true)
is "braces of the job's working directory stay as they are" "$TMP/in {job}/$id" \
	"$(directory_of "$id")"
printf 'v\n{job}\n"{{job}}"\n{run}\n' >v.csv
ids=$(submit -q --hold --params v.csv -n '{v}-{job}-{{v}}' -e 'A={v}' \
	--checkpoint-dir 'd{v}{job}' -- true)
for id in $ids; do
	case $v in
	'') v='{job}' ;;
	'{job}') v='{{job}}' ;;
	*) v='{run}' ;;
	esac
	is "the value $v stands for itself in a name" "$v-$id-{v}" "$(name_of "$id")"
	is "the value $v stands for itself in a directory" "$TMP/d$v$id" "$(directory_of "$id")"
done
id=$(submit -q --params v.csv -e 'A={v}' -- sh -c 'echo "$A"' | tail -2 | head -1)
ends "$id"
is 'a value with braces stands for itself in a variable' '{{job}}' "$(printed "$id")"
finish
