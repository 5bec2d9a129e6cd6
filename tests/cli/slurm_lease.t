#!/bin/sh
# slurm_lease.t - the wrapper of a program on a node counts the lease from its last touch, as passes
# do: a wrapper that begins late gives its program no more time. No Slurm is needed.
. "$(dirname "$0")/tap.sh"
node=$TMP/node
begin() { # begin AGE: runs a program under a lease of 8 s that was touched AGE seconds ago
	rm -rf "$node"
	mkdir "$node"
	printf 'run=1\njob=1\nnodes=1\nlease_s=8\n' >"$node/launch"
	touch -d "-$1 seconds" "$node/lease"
	run timeout 60 "$POLLUX" supervise "$node" /bin/sleep sleep 60
}
mtime() { stat -c %Y "$node/$1"; }

begin 9
is 'nothing begins when the lease is over' 75 "$rc"
begin 6
is 'a program ends with its lease' fenced "$(cat "$node/end.0")"
age=$(($(mtime end.0) - $(mtime lease)))
ok "counted from its last touch: $age s" [ "$age" -lt 12 ]
finish
