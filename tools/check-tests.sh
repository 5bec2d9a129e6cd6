#!/bin/sh
# check-tests.sh - no test of commands or of faults writes columns of the store by SQL: it says what
# is given by tests/cli/given.sh, which alone knows how that is stored. Tests of the store's own
# tables are unit tests (tests/unit/test_store*.c).
cd "$(dirname "$0")/.." || exit 1
! git grep -nE '(INSERT (OR [A-Z]+ )?INTO|UPDATE [a-z_]+ SET|DELETE FROM|REPLACE INTO) ' -- \
	tests/cli tests/fault ':!tests/cli/given.sh'
