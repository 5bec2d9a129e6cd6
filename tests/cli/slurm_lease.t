#!/bin/sh
# slurm_lease.t - the wrapper of a program on a node counts the lease from its last touch, as passes
# do: a wrapper that begins late gives its program no more time. No Slurm is needed.
. "$(dirname "$0")/tap.sh"
node=$TMP/node
begin() { # begin AGE [FILE]: runs a program under a lease of 8 s that was touched AGE seconds ago
	rm -rf "$node"
	mkdir "$node"
	printf 'run=1\njob=1\nnodes=1\nlease_s=8\n' >"$node/launch"
	touch -d "-$1 seconds" "$node/lease"
	[ -z "${2-}" ] || touch "$node/$2"
	run timeout 60 "$POLLUX" supervise "$node" /bin/sleep sleep 60
}
mtime() { stat -c %Y "$node/$1"; }

begin 9
is 'nothing begins when the lease is over' 75 "$rc"
is 'the end of that run says that it was fenced' fenced "$(cat "$node/end.0")"
begin 1 over
is 'nothing begins when the run has ended' '75 exit 75' "$rc $(cat "$node/end.0")"
rm "$node/launch" "$node/end.0"
run "$POLLUX" supervise "$node" /bin/sleep sleep 60
is 'nothing begins without the file that tells how' '66 exit 66' "$rc $(cat "$node/end.0")"
begin 6
is 'a program ends with its lease' fenced "$(cat "$node/end.0")"
age=$(($(mtime end.0) - $(mtime lease)))
ok "the lease is counted from its last touch: $age s" [ "$age" -lt 12 ]
finish
