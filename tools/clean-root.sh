#!/bin/sh
# clean-root.sh DIR COMMAND... - run a command in a fresh clone on a bare system.
#
# As root: DIR becomes, unless it is one already, a minimal Debian or Ubuntu with
# git and make besides and this machine's own apt settings (SUITE, else this
# machine's release; MIRROR, else where this machine's packages come from). The
# last commit of this repository is cloned to /root/pollux there, and the command
# runs in it with nothing of our environment. Nothing stays mounted afterwards.
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

if [ ! -e "$root/etc/apt" ]; then
	debootstrap --variant=minbase --include=git,make,ca-certificates "$SUITE" "$root" ${MIRROR:+"$MIRROR"}
	[ "$SUITE" != "$(. /etc/os-release && echo "$VERSION_CODENAME")" ] ||
		cp -r /etc/apt/sources.list* /etc/apt/preferences.d "$root/etc/apt/" 2>/dev/null || true
	cp -r /etc/apt/apt.conf.d /etc/apt/auth.conf.d /etc/apt/keyrings /etc/apt/trusted.gpg.d \
		"$root/etc/apt/" 2>/dev/null || true
	cp /etc/resolv.conf /etc/hosts "$root/etc/"
	cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
fi
rm -rf "$root/root/pollux"
git clone -q "$repository" "$root/root/pollux"

# Mounts end with the namespace.
# shellcheck disable=SC2016  # expanded inside
exec unshare --mount --pid --fork sh -euc '
	root=$1
	shift
	mount -t proc proc "$root/proc"
	mount --rbind /sys "$root/sys"
	mount --rbind /dev "$root/dev"
	exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb LC_ALL=C.UTF-8 \
		chroot "$root" sh -c "cd /root/pollux && exec \"\$@\"" sh "$@"
' sh "$root" "$@"
