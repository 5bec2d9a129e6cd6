#!/bin/bash
# check.sh BUILD - the package and the wheel of BUILD are installed, used and removed in a bare
# Debian, without a compiler.
#
# The package has to pass lintian first. The root is this machine's release; it is made once and
# kept in PACKAGE_ROOT (/var/cache/pollux/package-SUITE). Where it cannot be made (not as root, no
# debootstrap, no mirror) nothing is checked, and a line says so.
set -eu
[ $# = 1 ] || { sed -n '2s/^# //p' "$0" >&2; exit 64; }
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
tools=$here/../../tools
SUITE=${SUITE:-$(. /etc/os-release && echo "$VERSION_CODENAME")}
export SUITE PACKAGES=python3-venv
: "${PACKAGE_ROOT:=/var/cache/pollux/package-$SUITE}"

skip() {
	printf '\n*** check-package SKIPPED: %s ***\n\n' "$1" >&2
	exit 0
}
[ "$(id -u)" = 0 ] || skip 'only root may make a clean root'
unshare --mount --pid --fork true 2>/dev/null || skip 'this container makes no namespaces'
lintian --allow-root --fail-on error,warning "$build"/pollux_*.deb

carried=$(mktemp -d)
trap 'rm -rf "$carried"' EXIT
cp "$here"/{deb,wheel,use}.sh "$build"/pollux_*.deb "$build"/pollux-*.whl "$carried/"
run() {
	FROM=$carried "$tools/clean-root.sh" "$PACKAGE_ROOT" "$@"
}
if [ ! -e "$PACKAGE_ROOT/etc/apt" ]; then
	mkdir -p "$(dirname "$PACKAGE_ROOT")"
	timeout 600 env FROM="$carried" "$tools/clean-root.sh" "$PACKAGE_ROOT" true \
		>"$PACKAGE_ROOT.log" 2>&1 || {
		tail -n 3 "$PACKAGE_ROOT.log" >&2
		skip "no $SUITE could be had by debootstrap"
	}
fi
run ./wheel.sh
run ./deb.sh
echo 'check-package passed'
