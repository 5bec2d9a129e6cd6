#!/bin/sh
# What ends a training, as the helper finds out: see tests/frameworks/ends.py.
exec python3 "$(dirname "$0")/../frameworks/ends.py"
