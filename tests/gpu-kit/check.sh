#!/bin/bash
# check.sh KIT - the kit runs on a bare system with another glibc, without network or GPU.
#
# Every step that needs a GPU has to be skipped, none may fail, and the programs have to run. The
# root is made once and kept in GPU_KIT_ROOT (/var/cache/pollux/gpu-kit-SUITE); SUITE is Debian's
# trixie. Where it cannot be made (not as root, no debootstrap, no mirror) nothing is checked, and a
# line says so. With GPU_KIT_PYTHON=python3.12, say, the two calls of fifteen-minutes.sh are tried
# there, too: with that Python, a stand-in for the GPU, and the folders as a lent machine has them.
set -eu
[ $# = 1 ] || { sed -n '2s/^# //p' "$0" >&2; exit 64; }
kit=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
root_of=$(cd "$here/../.." && pwd)
export SUITE=${SUITE:-trixie}
: "${GPU_KIT_ROOT:=/var/cache/pollux/gpu-kit-$SUITE}"

skip() {
	printf '\n*** gpu-kit-check SKIPPED: %s ***\n\n' "$1" >&2
	exit 0
}
[ "$(id -u)" = 0 ] || skip 'only root may make a clean root'
unshare --mount --pid --net --fork true 2>/dev/null || skip 'this container makes no namespaces'
if [ ! -e "$GPU_KIT_ROOT/etc/apt" ]; then
	command -v debootstrap >/dev/null || skip 'no debootstrap'
	mkdir -p "$(dirname "$GPU_KIT_ROOT")"
	# Where this machine's packages come from there are Debian's other releases too.
	# shellcheck disable=SC2016  # apt fills these in
	mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | head -n 1)
	[ "$(. /etc/os-release && echo "$ID")" != debian ] || export MIRROR=${MIRROR-$mirror}
	if ! PACKAGES='' FROM=$here timeout 300 "$root_of/tools/clean-root.sh" "$GPU_KIT_ROOT" \
		true >"$GPU_KIT_ROOT.log" 2>&1; then
		tail -n 3 "$GPU_KIT_ROOT.log" >&2
		skip "no $SUITE could be had by debootstrap"
	fi
fi
glibc() { "$@" /bin/sh -c 'ldd --version' | sed -n '1s/.* //p'; }
echo "built with glibc $(glibc env), run with glibc $(glibc chroot "$GPU_KIT_ROOT")"

rc=0
FROM=$kit NETWORK=no "$root_of/tools/clean-root.sh" "$GPU_KIT_ROOT" ./run.sh --out results || rc=$?
lines=$GPU_KIT_ROOT/root/pollux/results/lines
[ "$rc" = 0 ] || { echo "check.sh: run.sh ends with status $rc" >&2; exit 1; }
wrong=$(for step in "$kit"/tests/gpu-kit/steps/[0-9]*-*; do
	name=${step##*/} name=${name%.*} name=${name#*-}
	want=ok
	! grep -Eq '^# needs:.*(gpu|python|torch)' "$step" || want=skip
	grep -q "^$name $want time " "$lines" || echo "$name is not '$want'"
done)
[ -z "$wrong" ] || { printf 'check.sh: %s\n' "$wrong" >&2; exit 1; }
echo "gpu-kit-check passed: $(grep -c ' ok ' "$lines") lines ok, none failed"

[ -n "${GPU_KIT_PYTHON-}" ] || exit 0
python=$($GPU_KIT_PYTHON -c 'import sys; print(sys.base_prefix)')
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
cp -r "$kit/." "$stage"
mkdir "$stage/carried"
mv "$stage/build" "$stage/data" "$stage/carried"
mkdir -p "$stage/build/wheels" "$stage/python"
mv "$stage/carried" "$stage/build/gpu-kit"
! wheels=$("$here/../gpu/wheels.sh") ||
	cp -r "$wheels"/[0-9]* "$wheels/nvidia-ml-py" "$stage/build/wheels"
tar -c -C "$python" --exclude=test --exclude=site-packages bin lib | tar -x -C "$stage/python"
lib=$stage/python/lib
for file in "$stage"/python/bin/python3.[0-9]* "$lib"/python3*/lib-dynload/_ctypes.*; do
	ldd "$file" 2>/dev/null | awk '/libffi/ { print $3 }' | xargs -r cp -t "$lib"
	! grep -q ELF <(head -c 4 "$file") || patchelf --set-rpath /root/pollux/python/lib "$file"
done
call() { # call 1|2
	FROM=$stage NETWORK=no "$root_of/tools/clean-root.sh" "$GPU_KIT_ROOT" env \
		PATH=/root/pollux/python/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		OUT="/root/pollux/out-$1" \
		GPU_KIT_BUILD=/root/pollux/build/gpu-kit/build \
		KIT_RUN=/root/pollux/tests/gpu-kit/fifteen-minutes.sh \
		sh -c "mkdir out-$1; tests/gpu-kit/standin/run.sh dry $1"
}
call 1
results=$GPU_KIT_ROOT/root/pollux
cp -r "$results/gpu-kit-results" "$stage"
call 2
ls -l "$results"/out-2/*.tgz
awk '$3 == "time" { print "#", $1, $2, $4, "s" }' "$results/gpu-kit-results/lines"
