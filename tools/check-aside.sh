#!/bin/sh
# check-aside.sh - no pass uses a column of jobs that it does not read: those that are ASIDE in
# src/store (COLUMN_ASIDE of store_columns.h).
set -eu
cd "$(dirname "$0")/.."
# A member may be a part of another struct: "progress.loss", "declared.grace_s", "job->end_time_s".
members=$(tr '\n' ' ' <src/store/store_columns.c | tr '\t' '\n' |
	sed -n 's/^C("[a-z_]*", [A-Z0-9]*, \([a-z_]*\),.*ASIDE.*/\1/p'
	tr '\n' ' ' <src/store/declaration.c | tr '\t' '\n' |
	sed -n 's/.*COLUMN("[a-z_]*", [A-Z0-9]*, \([a-z_]*\),.*COLUMN_ASIDE.*/\1/p')
[ "$(echo "$members" | wc -l)" -gt 10 ] || { echo "no columns are aside?"; exit 1; }
used=$(for member in $members; do
	grep -nE "(progress\.|declared\.|\bjob(->|\.)|\bj->)$member\b" \
		src/pass/*.c src/sched/*.c src/knowledge/*.c || :
done)
[ -z "$used" ] || { printf '%s\n' "$used" | sed 's/$/  <- the column is ASIDE/'; exit 1; }
