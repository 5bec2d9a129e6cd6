#!/bin/sh
# wheels.sh - NVIDIA's headers, and its Python module for NVML, from PyPI: prints the directory
# where each package of wheels.txt has a directory of its name, with its headers and Python files.
#
# They are downloaded once, to build/wheels (POLLUX_WHEELS), in a minute at most. Status 77: there
# are none, and the reason is printed instead.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
dir=${POLLUX_WHEELS:-$root/build/wheels}
list=$root/tests/gpu/wheels.txt
seconds=60
none() {
	echo "$*"
	exit 77
}
# The list is part of what is kept, so that another list is another download.
mark=$dir/$(cksum <"$list" | tr ' ' -)
mkdir -p "$dir" 2>/dev/null || none "no directory '$dir' can be made"
exec 9>"$dir/.lock"
flock -w $((2 * seconds)) 9 2>/dev/null || none "others have been downloading for too long"
if [ ! -e "$mark" ]; then
	new=$(mktemp -d "$dir/new.XXXXXX") || none "no file can be made in '$dir'"
	trap 'rm -rf "$new"' EXIT
	python3 -m pip --version >"$new/said" 2>&1 ||
		none "no pip, which downloads NVIDIA's headers: $(tail -n 1 "$new/said")"
	timeout "$seconds" python3 -m pip download --quiet --no-deps --require-hashes --retries 1 \
		--timeout 15 --disable-pip-version-check --only-binary=:all: \
		--platform manylinux2014_x86_64 -d "$new" -r "$list" >"$new/said" 2>&1 9>&- ||
		none "pip has no NVIDIA headers: $(grep -m 1 . "$new/said" | cut -c 1-300)"
	sed 's/==.*//' "$list" | while read -r name; do
		wheel=$(echo "$new/$(echo "$name" | tr - _)"-[0-9]*.whl)
		rm -rf "${dir:?}/$name"
		python3 - "$wheel" "$dir/$name" <<-'END' || exit 1
		import sys, zipfile
		with zipfile.ZipFile(sys.argv[1]) as wheel:
		    names = [n for n in wheel.namelist() if n.endswith((".h", ".py"))]
		    wheel.extractall(sys.argv[2], names)
		END
	done || none 'a wheel of NVIDIA cannot be unpacked'
	touch "$mark"
fi
echo "$dir"
