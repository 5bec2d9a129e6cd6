#!/bin/sh
# code.t - a job that goes on with other code than it began with says so; --snapshot keeps the code.
# shellcheck disable=SC2016,SC2317 # words for the jobs' shells; functions called by name
. "$(dirname "$0")/tap.sh"

command -v git >/dev/null || skip_all 'no git'
export GIT_CONFIG_GLOBAL="$TMP/gitconfig" GIT_CONFIG_NOSYSTEM=1
printf '[user]\n\tname = x\n\temail = x@x\n[init]\n\tdefaultBranch = main\n' >gitconfig
mkdir store && chmod 700 store && echo 'slots = 4' >store/config

cleanup() {
	"$POLLUX" cancel --yes --state active >/dev/null 2>&1
	"$POLLUX" wait --timeout 200 --state active >/dev/null 2>&1
}
repository() { # repository DIR: with a program that runs until its file "go" is there
	mkdir -p "$1"
	git -C "$1" init -q
	cat >"$1/train.sh" <<-'J'
	#!/bin/sh
	trap 'exit 9' TERM
	echo "version 1 in $PWD"
	. ./part.sh
	while [ "$1" = wait ] && [ ! -e "$GO" ]; do sleep 0.05; done
	J
	echo 'echo "part 1"' >"$1/part.sh"
	chmod +x "$1/train.sh"
	commit "$1"
}
commit() { git -C "$1" add -A && git -C "$1" commit -qm x; }
short() { git -C "$1" rev-parse HEAD | cut -c1-6; }
edit() { sed -i "s/$2/$3/" "$1"; } # edit FILE OLD NEW: of the same length, as git finds hardest
submit() { "$POLLUX" submit -q "$@"; }
start() { # start COMMAND...: a job, launched once; $id
	id=$(submit "$@")
	"$POLLUX" schedule
	launched 1
}
launched() { wait_for 30 eval "[ \"\$(grep -c '^version' '$POLLUX_DIR/logs/$id.log')\" = $1 ]"; }
ended_before() { # ended_before N: all runs before the Nth
	[ "$(store "SELECT count(*) FROM runs WHERE job_id = $id AND number < $1 AND
		state = 'ended'")" = $(($1 - 1)) ]
}
relaunch() { # relaunch N: the job's Nth launch
	"$POLLUX" requeue --force "$id" >/dev/null
	wait_for 30 ended_before "$1"
	"$POLLUX" schedule
	launched "$1"
}
events() { store "SELECT text FROM events WHERE job_id = $id AND kind = 'code' ORDER BY id"; }
last_event() { events | tail -n 1; }
finished() { # finished [STATE]: lets the job end
	: >"$GO"
	"$POLLUX" wait --timeout 300 "$id" >/dev/null
	is "job $id ends" "${1-done}" "$(store "SELECT state FROM jobs WHERE id = $id")"
	rm -f "$GO"
}
GO=$TMP/go
export GO

# --- what changed between two launches ---
repository p
cd p || exit 1
start ./train.sh wait
is 'no event is told where no code changed' '' "$(events)"
one=$(short .)
edit train.sh 'version 1' 'version 2'
commit .
relaunch 2
two=$(short .)
is 'a commit is told, with the file that changed' \
	"code changed since the first run: $one -> $two, 1 file: train.sh" "$(last_event)"
like 'the log tells the changed code in the line of the run' \
	"^# pollux job $id run 2 on .*; code changed since the first run: $one -> $two, 1 file" \
	"$("$POLLUX" log "$id")"
like 'status has both commits in full' \
	"^  code  *changed since the first run: $(git rev-parse HEAD~1) -> \
$(git rev-parse HEAD)\$" "$(COLUMNS=300 "$POLLUX" status "$id")"
is 'the JSON of status has both commits in full' "$(git rev-parse HEAD~1) $(git rev-parse HEAD)" \
	"$("$POLLUX" status --json "$id" | json 'my $e = $d->{jobs}[0]{details};
		print "$e->{first_commit} $e->{runs}[1]{code_commit}"')"
edit part.sh 'part 1' 'part 2'
relaunch 3
is 'changes that nobody committed are told' \
	"code changed since the first run: $one -> $two+, 2 files: part.sh, train.sh" \
	"$(last_event)"
for i in a b c d; do echo "$i" >"$i.py"; done
commit .
relaunch 4
is 'many changed files are counted, and three of them named' \
	"code changed since the first run: $one -> $(short .), 6 files: a.py, b.py, c.py, ..." \
	"$(last_event)"
git checkout -q --detach HEAD~2
relaunch 5
is 'code that is again as it was is not told' 3 "$(events | wc -l)"
git commit -q --allow-empty -m y
relaunch 6
is 'a commit that changes no file is not told' 3 "$(events | wc -l)"
echo 'notes' >untracked.txt
relaunch 7
is 'a file that git does not track is not told' 3 "$(events | wc -l)"
is 'git in the repository finds its files as they were' '?? untracked.txt' \
	"$(git status --short)"
is 'pollux leaves no lock in the repository' '' "$(find .git -name '*.lock')"
{ printf '# '; head -c 3000000 /dev/urandom | base64 -w 0; echo; } >>train.sh
relaunch 8
like 'a change of a large file is told' ', 1 file: train.sh$' "$(last_event)"
is 'no copy of a large file is kept to be compared' 0 \
	"$(find "$POLLUX_DIR/code" -type f -size +100k | wc -l)"
finished
git checkout -qf main
cd ..

# --- changes before the first run ---
cd p || exit 1
id=$(submit --hold -- ./train.sh)
edit part.sh 'part 2' 'part 3'
"$POLLUX" release "$id" >/dev/null
"$POLLUX" schedule
"$POLLUX" wait --timeout 300 "$id" >/dev/null
is 'an edit between submission and first run is told' \
	"code changed since it was submitted: $(short .) -> $(short .)+, 1 file: part.sh" \
	"$(last_event)"
like 'status tells an edit between submission and first run' \
	'^  code  *changed between submission and first run: ' "$("$POLLUX" status "$id")"
cd ..

# --- an edit that only the content tells ---
repository racy
cd racy || exit 1
git config core.trustctime false
touch -d @2000 part.sh
git add -A
touch -d @1000 .git/index
echo 'echo "part 6"' >part.sh
touch -d @2000 part.sh
id=$(submit --hold -- ./train.sh)
is 'an edit in the second in which git looked is seen' 1 \
	"$(store "SELECT git_dirty FROM commands WHERE job_id = $id")"
"$POLLUX" cancel "$id" >/dev/null
cd ..

# --- which repository ---
repository q
mkdir elsewhere sub
start sh -c 'cd q && ./train.sh wait'
is 'code in a string belongs to no repository' '' "$(store "SELECT repository FROM commands
	WHERE job_id = $id")"
finished
cp q/train.sh q/other.sh && commit q
cd elsewhere || exit 1
echo 'echo "part of nothing"' >part.sh
start sh ../q/other.sh wait
edit ../q/other.sh 'version 1' 'version 9'
relaunch 2
like 'a change of a script in another repository is told' ', 1 file: other.sh$' "$(last_event)"
finished
start env A=1 nice sh "$TMP/q/other.sh" wait
is 'a script behind other programs belongs to its repository' "$TMP/q" \
	"$(store "SELECT CAST(repository AS TEXT)
	FROM commands WHERE job_id = $id")"
finished
ln -s ../q/train.sh link.sh
id=$(submit --hold ./link.sh)
is 'a script behind a link belongs to its repository' "$TMP/q" \
	"$(store "SELECT CAST(repository AS TEXT) FROM commands
	WHERE job_id = $id")"
cd ..
git -C q worktree add -q ../tree
cd tree || exit 1
start ./train.sh wait
edit part.sh 'part 1' 'part 5'
relaunch 2
like 'a change in a worktree of git is told' '^code changed .*\+, 1 file: part.sh$' "$(last_event)"
finished
cd ..

# --- where git says nothing ---
mkdir none && cp p/*.sh none
cd none || exit 1
start ./train.sh wait
relaunch 2
is 'no change is told outside a repository' '' "$(events)"
finished
git init -q
start ./train.sh wait
relaunch 2
is 'no change is told in a repository without a commit' '' "$(events)"
finished
cd ..
repository gone
cd gone || exit 1
start ./train.sh wait
mv .git was.git
relaunch 2
is 'a repository that is gone is told' "whether the code changed since the first run is not known:
 '$TMP/gone' is in no git repository" "$(last_event | sed 's/: /:\n /')"
mv was.git .git
finished
cd ..
mkdir bin
printf '#!/bin/sh\n%s\nexec sleep 600\n' "echo \$\$ >>$TMP/pids" >bin/git
chmod +x bin/git
cd p || exit 1
git stash -q
start ./train.sh wait
finished
# shellcheck disable=SC2034 # the command of an ok uses it
began=$(date +%s)
PATH=$TMP/bin:$PATH
run env PATH="$TMP/bin:$PATH" "$POLLUX" submit -q -- ./train.sh wait
id=$out
PATH=${PATH#"$TMP/bin:"}
is 'a git that hangs does not keep a job from being submitted' 0 "$rc"
"$POLLUX" schedule
ok 'a git that hangs does not keep a job from being launched' launched 1
ok 'git is ended within its time, with all that it started' \
	eval '[ $(($(date +%s) - began)) -lt 300 ] &&
	for pid in $(cat "$TMP/pids"); do is_over "$pid" || exit 1; done'
finished
mkdir empty
for tool in sh sleep; do ln -s "$(command -v $tool)" "empty/$tool"; done
status 'submit accepts a job where there is no git' 0 \
	env PATH="$TMP/p/empty" "$POLLUX" submit -q -- ./train.sh
id=$out
"$POLLUX" schedule
finished
cd ..

# --- programs that a repository would have executed ---
repository hooks
cd hooks || exit 1
printf '#!/bin/sh\necho >>%s\n' "$TMP/executed" | tee .git/hooks/post-index-change \
	.git/hooks/post-checkout .git/hooks/pre-commit >monitor
chmod +x monitor .git/hooks/*
git config core.fsmonitor "$PWD/monitor"
rm -f ../executed
id=$(submit --snapshot ./train.sh)
"$POLLUX" schedule
finished
wait_for 20 no_supervisor
ok 'hooks and a monitor of files of a repository are not executed' test ! -e ../executed
cd ..

# --- snapshots ---
repository s
cd s || exit 1
printf 'data/\nout/\nresults/*\n!results/.gitkeep\n' >.gitignore
mkdir data results ../beside && echo 'the data' >data/d && touch results/.gitkeep
echo beside >../beside/b
cat >part.sh <<'J'
echo "part 1: $(cat data/d) $(cat ../beside/b) $(cat new.sh 2>&1)"
echo r >>results/r
J
commit .
edit part.sh 'part 1' 'part 2'
echo '# new' >new.sh
"$POLLUX" prune --all >/dev/null
status 'submit --snapshot --dry-run succeeds' 0 \
	"$POLLUX" submit --snapshot --dry-run -- ./train.sh wait
is 'a dry run tells of what a snapshot would be made' \
	"pollux: a snapshot of '$PWD' would be made, at \
commit $(short .) with its uncommitted changes" "$err"
is 'a dry run makes no snapshot' '' "$(ls "$POLLUX_DIR/snapshots")"
id=$(submit --hold --snapshot -- ./train.sh wait)
snapshot=$(store "SELECT CAST(snapshot_dir AS TEXT) FROM commands WHERE job_id = $id")
is 'a snapshot is a worktree of git' "worktree $snapshot" \
	"$(git worktree list --porcelain | grep "^worktree $POLLUX_DIR")"
edit train.sh 'version 1' 'version 7'
edit part.sh 'part 2' 'part 8'
rm new.sh
"$POLLUX" release "$id" >/dev/null
"$POLLUX" schedule
launched 1
commit .
relaunch 2
wait_for 30 eval '[ "$(wc -l <results/r)" = 2 ]'	# what part.sh does last
is 'all runs use the code of the snapshot, and data beside it' \
	"version 1 in $snapshot
part 2: the data beside # new
version 1 in $snapshot
part 2: the data beside # new" "$("$POLLUX" log "$id" | grep -E '^(version|part)')"
is "changes of the repository are not told of a snapshot's job" '' "$(events)"
like 'status names the snapshot' "^  snapshot  *$snapshot\$" "$("$POLLUX" status "$id")"
is "results of a snapshot's job are in the user's directory" 'r r' "$(paste -sd ' ' results/r)"
is 'the user sees no branch of a snapshot' '* main' "$(git branch)"
status "prune succeeds while a snapshot's job runs" 0 "$POLLUX" prune --all
ok 'prune leaves the snapshot of a job that runs' test -d "$snapshot"
finished
wait_for 20 no_supervisor
status "prune --dry-run succeeds after the job's end" 0 "$POLLUX" prune --all --dry-run
like 'prune --dry-run counts the snapshot' '; 1 snapshot of code would be needed by a job less$' \
	"$out"
status "prune succeeds after the job's end" 0 "$POLLUX" prune --all
like 'prune says that it removes a snapshot' '1 snapshots? of code removed$' "$out"
ok "prune removes the snapshot's directory" test ! -e "${snapshot%/*}"
is 'git knows no worktree after prune' 1 "$(git worktree list | wc -l)"
is 'data and results are as before after prune' 'the data
r
r' "$(cat data/d results/r)"
"$POLLUX" requeue --force "$id" >/dev/null 2>&1
if [ -n "$(store "SELECT 1 FROM jobs WHERE id = $id AND state = 'queued'")" ]; then
	"$POLLUX" schedule
	finished failed
	like 'a job whose snapshot was pruned says how to go on' \
		"was pruned: 'pollux again $id' makes one of the present code" \
		"$("$POLLUX" status "$id")"
fi
again=$("$POLLUX" again -q "$id" 2>/dev/null)
ok 'again makes a snapshot for the new job' eval '[ "$(store "SELECT count(*) FROM commands
	WHERE job_id = $again AND snapshot_dir IS NOT NULL")" = 1 ]'
"$POLLUX" cancel "$again" >/dev/null

# --- arguments ---
mkdir conf && echo 'x: 1' >conf/c.yaml && commit .
id=$(submit --snapshot -- sh "$PWD/train.sh" "$PWD/part.sh" "--c=$PWD/part.sh" "--d=$PWD/data/d" \
	"--out=$PWD/out/x" "$PWD/results" "$PWD/conf" part.sh)
snapshot=$(store "SELECT CAST(snapshot_dir AS TEXT) FROM commands WHERE job_id = $id")
"$POLLUX" schedule
finished
is "arguments that are files of the code name the snapshot's files" \
	"exec sh $snapshot/train.sh $snapshot/part.sh --c=$snapshot/part.sh --d=$PWD/data/d \
--out=$PWD/out/x $PWD/results $PWD/conf part.sh" "$("$POLLUX" log "$id" | grep ^exec)"

# --- files that a run made in the snapshot ---
echo 'mkdir -p fresh && echo model >fresh/model' >>part.sh
id=$(submit --snapshot -- ./train.sh)
snapshot=$(store "SELECT CAST(snapshot_dir AS TEXT) FROM commands WHERE job_id = $id")
"$POLLUX" schedule
finished
like 'files that a run made in the snapshot are told when it ends' \
	"made files in its snapshot of the code, such as '$snapshot/fresh/model'" "$(last_event)"
wait_for 20 no_supervisor
status 'prune succeeds with files that a run made in the snapshot' 0 "$POLLUX" prune --all
like 'prune keeps a snapshot with files of a run, and names one' \
	"^kept, .*: $snapshot/fresh/model\$" "$out"
is 'the file that a run made in the snapshot is still there' model "$(cat "$snapshot/fresh/model")"
like 'doctor names the snapshot that no job needs' "no job needs the snapshot of code '$snapshot'" \
	"$("$POLLUX" doctor)"
mv "$snapshot/fresh" .
status 'prune succeeds when those files are moved' 0 "$POLLUX" prune --logs
ok 'prune removes the snapshot when those files are moved' test ! -e "${snapshot%/*}"
git checkout -qf . && rm -rf fresh

# --- sweeps ---
group=$(submit --snapshot --param 'x=1,2,3' -- ./train.sh '{x}' | paste -sd ' ')
is 'the runs of a sweep share one snapshot' '3 1' "$(store "SELECT count(*) || ' ' ||
	count(DISTINCT snapshot_dir) FROM commands WHERE snapshot_dir IS NOT NULL AND
	job_id IN ($(echo "$group" | tr ' ' ','))")"
is 'the store has one snapshot for a sweep' 1 \
	"$(find "$POLLUX_DIR/snapshots" -mindepth 1 -maxdepth 1 | wc -l)"
id=${group##* }
"$POLLUX" hold "$id" >/dev/null
"$POLLUX" schedule
"$POLLUX" wait --timeout 300 "${group%% *}" >/dev/null
wait_for 20 no_supervisor
"$POLLUX" prune --all >/dev/null
is 'the snapshot of a sweep stays while one of its runs may start' 1 \
	"$(find "$POLLUX_DIR/snapshots" -mindepth 1 -maxdepth 1 | wc -l)"
"$POLLUX" cancel "$id" >/dev/null
for job in $group; do "$POLLUX" wait --timeout 300 "$job" >/dev/null; done
wait_for 20 no_supervisor
"$POLLUX" prune --all >/dev/null
is 'the snapshot of a sweep goes with the last run' 0 \
	"$(find "$POLLUX_DIR/snapshots" -mindepth 1 -maxdepth 1 | wc -l)"
cd ..

# --- submodules and directories of code that git does not track ---
git -C s -c protocol.file.allow=always submodule --quiet add "$TMP/q" module >/dev/null 2>&1
mkdir s/package && touch s/package/code.py && commit s && mkdir s/new && touch s/new/code.py
cd s || exit 1
run "$POLLUX" submit -q --hold --snapshot -- ./train.sh
id=$out
like 'submit warns of submodules and untracked directories that it links' \
	"warning: the snapshot has links .*: submodule 'module', untracked \
directory 'new/'" "$err"
snapshot=$(store "SELECT CAST(snapshot_dir AS TEXT) FROM commands WHERE job_id = $id")
ok 'the snapshot has the files that are linked' \
	test -e "$snapshot/module/train.sh" -a -e "$snapshot/new/code.py"
held=$id
start ./train.sh wait
edit module/part.sh 'part 1' 'part 2'
relaunch 2
is 'a file of a submodule that nobody committed is told' \
	"code changed since the first run: $(short .) -> \
$(short .)+, 1 file: module" "$(last_event)"
git -C module checkout -q part.sh
relaunch 3
is 'a submodule that is again as it was is not told' 1 "$(events | wc -l)"
finished
id=$held
cd ..
mv s moved
"$POLLUX" cancel "$id" >/dev/null
status 'prune succeeds after the repository moved' 0 "$POLLUX" prune --all
ok 'prune removes the snapshot of a moved repository, and nothing else' \
	eval '[ ! -e "$snapshot" ] &&
	[ -e moved/module/train.sh ] && [ -e moved/new/code.py ] && [ -e moved/data/d ]'

# --- where no snapshot can be made ---
cannot() { # cannot NAME PATTERN DIR
	status "submit makes no snapshot $1" "$4" \
		env -C "$3" "$POLLUX" submit -q --snapshot -- sh ./train.sh
	like "submit says why it makes no snapshot $1" \
		"^pollux: no snapshot of the code can be made: $2" "$err"
}
rm -rf none/.git
cannot 'outside a repository' "'$TMP/none' is in no git repository\$" none 66
git -C none init -q
cannot 'without a commit' "the git repository of '$TMP/none' has no commit yet\$" none 66
git clone -q --bare p bare && cp p/train.sh bare
cannot 'in a bare repository' "'$TMP/bare' is in no git repository" bare 66
status 'submit makes no snapshot without git' 69 env -C p PATH="$TMP/p/empty" "$POLLUX" submit \
	--snapshot -- ./train.sh
is 'submit says that there is no git' \
	'pollux: no snapshot of the code can be made: there is no git in PATH' "$err"
is 'snapshots that could not be made leave nothing' 0 \
	"$(find "$POLLUX_DIR/snapshots" -mindepth 1 | wc -l)"
finish
