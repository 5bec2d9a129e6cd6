#!/bin/sh
# lately.sh N FILE... - which files to look at closely with LATELY=1: those that the last 20 commits
# changed, and every Nth of the others. Which ones, the commit says, so that in time all have their
# turn. Where these commits changed more than MOST C files, fewer commits count: who renames in the
# whole tree runs `make lint`. Without git, or without that many commits, all of them.
set -eu
MOST=120
share=$1
shift
for commits in 20 10 5 2 1; do
	changed=$(git diff --name-only HEAD~$commits 2>/dev/null) || {
		printf '%s\n' "$@"
		exit
	}
	[ "$(printf '%s\n' "$changed" | grep -c '\.c$')" -gt $MOST ] || break
done
commit=$(git rev-parse HEAD | cut -c 1-7)
printf '%s\n' "$@" | awk -v changed="$changed" -v share="$share" -v turn=$((0x$commit % share)) '
	BEGIN { n = split(changed, name, "\n"); for (i = 1; i <= n; i++) lately[name[i]] = 1 }
	lately[$0] || NR % share == turn'
