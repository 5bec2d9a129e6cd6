#!/bin/sh
# The totals that the helper finds in the loops of programs: see tests/frameworks/totals.py.
exec python3 "$(dirname "$0")/../frameworks/totals.py"
