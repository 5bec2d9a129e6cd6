#!/bin/sh
# killed-backup.t - what a killed backup leaves is removed by the next one to the same file.
# shellcheck disable=SC2317 # functions called by name
. "$(dirname "$0")/../cli/tap.sh"
. "$ROOT/tests/fault/fault.sh"

"$POLLUX" submit -q --hold -- true >/dev/null
mkdir there
: >there/copy.pollux-mynotes
beside() { find there -name 'copy*' ! -name copy ! -name '*-mynotes'; }

call=$((FAULT_SEED % FAULT_STRIDE + 1)) left=0 broken=0 rc=137
while [ $rc = 137 ]; do
	rc=0
	killat -n $call "$POLLUX" backup there/copy || rc=$?
	[ ! -e there/copy ] || [ "$(sqlite3 there/copy 'PRAGMA quick_check')" = ok ] ||
		broken=$((broken + 1))
	[ -z "$(beside)" ] || left=$((left + 1))
	call=$((call + FAULT_STRIDE))
done
is 'the last backup is not killed' 0 $rc
is 'every copy that was there was whole' 0 $broken
ok "$left killed backups left something" [ $left -gt 0 ]
is 'the next backup removes what killed ones left' '' "$(beside)"
is 'other files stay' there/copy.pollux-mynotes "$(echo there/copy.pollux-*)"

# --- a backup that is at work ---
rm there/copy
first() { # the first call at which the backup has a file of its own
	call=1
	while [ -z "$(beside)" ]; do
		killat -n $call "$POLLUX" backup there/copy
		call=$((call + 1))
	done
	echo $((call - 1))
}
call=$(first)
"$POLLUX" backup there/copy
rm there/copy
killat -h held -n "$call" "$POLLUX" backup there/copy &
at_work=$!
ok 'a backup is at work' wait_for 20 test -e held
mine=$(beside)
status 'another backup to the same file succeeds' 0 "$POLLUX" backup there/copy
is 'the other backup leaves the file of the first alone' "$mine" "$(beside)"
rm held
wait $at_work
is 'the first backup ends well' 0 $?
is 'the first backup leaves nothing beside the copy' '' "$(beside)"
is 'the copy is whole' ok "$(sqlite3 there/copy 'PRAGMA quick_check')"
finish
