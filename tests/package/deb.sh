#!/bin/sh
# deb.sh - in a bare root: the package is installed, used and removed without a trace.
set -eu
export DEBIAN_FRONTEND=noninteractive
fail() { echo "deb.sh: $*" >&2; exit 1; }

[ -n "$(ls /var/lib/apt/lists/*Packages* 2>/dev/null)" ] || apt-get -q update
apt-get -q -y --no-install-recommends install "$PWD"/pollux_*.deb >/tmp/install.log 2>&1 || {
	tail -n 20 /tmp/install.log >&2
	fail 'apt does not install the package'
}
dpkg -L pollux | grep -vE '^/\.$' >/tmp/files
./use.sh /usr
apt-get -q -y purge pollux >/tmp/remove.log 2>&1 || fail 'apt does not remove the package'
while read -r file; do
	[ -d "$file" ] || [ ! -e "$file" ] || fail "$file is left"
	case $file in
	*/pollux | */pollux/*) [ ! -e "$file" ] || fail "$file is left" ;;
	esac
done </tmp/files
echo 'deb.sh: installed, used and removed'
