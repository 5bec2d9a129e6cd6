#!/bin/sh
# check-opens.sh - fail where src opens a file in another way than by file.h.
#
# open(2) waits for ever at a FIFO that somebody put in the place of a file. Directories are opened
# by opendir(3), or with O_DIRECTORY; new files by mkostemp(3). The client library has no other file
# of pollux in it, so it has the same few lines of its own.
set -eu
cd "$(dirname "$0")/.."
found=$(grep -rnE '(^|[^_a-z.>])(open|open64|openat|creat|fopen|freopen)\(' src --include='*.c' |
	grep -vE '^src/(util/open_file|client/[a-z_]+)\.c:' |
	grep -vE 'O_DIRECTORY|^[^:]+:[0-9]+:[[:space:]]*(/?\*|//)|"/dev/tty"|->open\(' || true)
[ -z "$found" ] || {
	echo "$found"
	echo "check-opens.sh: files are opened by include/pollux/file.h"
	exit 1
}
