#!/bin/sh
# clean-root.sh DIR COMMAND... - run a command in a fresh clone on a bare system.
#
# As root: DIR becomes, unless it is one already, a minimal Debian or Ubuntu with
# PACKAGES besides (git,make,ca-certificates) and this machine's own apt settings
# (SUITE, else this machine's release; MIRROR, else where this machine's packages
# come from). The last commit of this repository is cloned to /root/pollux there,
# or the folder FROM is copied, and the command runs in it with nothing of our
# environment; with NETWORK=no without any network. Nothing stays mounted.
#
#	tools/clean-root.sh /tmp/bare make check
set -eu
[ $# -ge 2 ] || { sed -n '2s/^# //p' "$0" >&2; exit 64; }
[ "$(id -u)" = 0 ] || { echo 'clean-root.sh: only root may make a root' >&2; exit 77; }
root=$1
shift
repository=$(cd "$(dirname "$0")/.." && pwd)
: "${SUITE:=$(. /etc/os-release && echo "$VERSION_CODENAME")}"
# shellcheck disable=SC2016  # apt fills these in
: "${MIRROR:=$(apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 'Created-By: Packages' |
	awk -v suite="$SUITE" '$1 == suite { print $2; exit }')}"

make_root() { # make_root DIR
	debootstrap --variant=minbase ${PACKAGES:+--include="$PACKAGES"} "$SUITE" "$1" \
		${MIRROR:+"$MIRROR"}
	[ "$SUITE" != "$(. /etc/os-release && echo "$VERSION_CODENAME")" ] ||
		cp -r /etc/apt/sources.list* /etc/apt/preferences.d "$1/etc/apt/" \
			2>/dev/null || true
	cp -r /etc/apt/apt.conf.d /etc/apt/auth.conf.d /etc/apt/keyrings /etc/apt/trusted.gpg.d \
		"$1/etc/apt/" 2>/dev/null || true
	cp /etc/resolv.conf /etc/hosts "$1/etc/"
	mkdir -p "$1/etc/ssl/certs"
	cp /etc/ssl/certs/ca-certificates.crt "$1/etc/ssl/certs/"
}
: "${PACKAGES=git,make,ca-certificates}"
if [ ! -e "$root/etc/apt" ]; then
	rm -rf "$root.new"
	make_root "$root.new"
	rm -rf "$root"
	mv "$root.new" "$root"
fi
rm -rf "$root/root/pollux"
if [ -n "${FROM-}" ]; then
	cp -r "$FROM" "$root/root/pollux"
else
	git clone -q "$repository" "$root/root/pollux"
fi

# Mounts end with the namespace.
network=
[ "${NETWORK-}" != no ] || network=--net
# shellcheck disable=SC2016  # expanded inside
exec unshare --mount --pid --fork ${network:+"$network"} sh -euc '
	root=$1
	shift
	mount -t proc proc "$root/proc"
	mount --rbind /sys "$root/sys"
	mount --rbind /dev "$root/dev"
	exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb LC_ALL=C.UTF-8 \
		chroot "$root" sh -c "cd /root/pollux && exec \"\$@\"" sh "$@"
' sh "$root" "$@"
