#!/bin/sh
# lately.sh FILE... - which files to look at closely, for `make lint LATELY=1`: those that the last
# 20 commits changed, and every sixth of the others. Which ones, the commit says, so that in
# time all have their turn. Without git, or without that many commits, all of them.
set -eu
changed=$(git diff --name-only HEAD~20 2>/dev/null) || {
	printf '%s\n' "$@"
	exit
}
commit=$(git rev-parse HEAD | cut -c 1-7)
printf '%s\n' "$@" | awk -v changed="$changed" -v turn=$((0x$commit % 6)) '
	BEGIN { n = split(changed, name, "\n"); for (i = 1; i <= n; i++) lately[name[i]] = 1 }
	lately[$0] || NR % 6 == turn'
