#!/bin/sh
# use.sh PREFIX - what a user does with a pollux that was just installed under PREFIX: a job of an
# ordinary account runs, its log and its end can be seen, the files beside the program are found.
set -eu
prefix=$1
fail() { echo "use.sh: $*" >&2; exit 1; }

[ "$(command -v pollux)" = "$prefix/bin/pollux" ] || fail "pollux is $(command -v pollux)"
! command -v cc >/dev/null || fail 'this root has a compiler'
pollux --version
pollux presets | grep -q lightning || fail 'presets are not found'
[ -e "$prefix/share/pollux/torch/sitecustomize.py" ] || fail 'the helper for PyTorch is missing'
[ -e "$prefix/share/man/man1/pollux.1" ] || [ -e "$prefix/share/man/man1/pollux.1.gz" ] ||
	fail 'the manual is missing'

# Uid 1000 without an entry in passwd: a home, and PATH, are all that pollux needs.
home=$(mktemp -d)
chmod 755 "$home"
mkdir "$home/own"
chown 1000:1000 "$home/own"
cat >"$home/job.sh" <<EOF
set -eu
export HOME=$home/own PATH=$PATH POLLUX_NVML=none
cd
pollux submit -q -n greeting -- sh -c 'echo "hello from \$POLLUX_JOB_ID"' >number
pollux wait --timeout 60 "\$(cat number)"
pollux log "\$(cat number)" | grep -q 'hello from'
pollux status --all | grep 'greeting *done'
pollux doctor || [ \$? = 1 ]
EOF
setpriv --reuid=1000 --regid=1000 --clear-groups sh "$home/job.sh" || fail "the job's test fails"
rm -r "$home"
