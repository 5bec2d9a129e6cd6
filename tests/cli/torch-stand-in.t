#!/bin/sh
# The helper of share/pollux/torch without torch: see tests/frameworks/stand_in.py.
exec python3 "$(dirname "$0")/../frameworks/stand_in.py"
