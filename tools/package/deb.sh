#!/bin/bash
# deb.sh VERSION BUILD - make BUILD/pollux_VERSION_ARCH.deb, a package for this release of Debian or
# Ubuntu, from what was built in BUILD.
#
# What the package depends on is read from the program: the libraries that it was linked with.
# OpenBLAS, libmicrohttpd, gnuplot and cron are asked for by some commands only, so they are
# recommendations. The
# program opens CUDA's libraries itself; no package provides those.
set -eu
[ $# = 2 ] || { sed -n '2s/^# //p' "$0" >&2; exit 64; }
version=$1 build=$(cd "$2" && pwd)
cd "$(dirname "$0")/../.."
arch=$(dpkg --print-architecture)
work=$build/deb
tree=$work/tree
deb=$build/pollux_${version}_$arch.deb
[ -n "${SOURCE_DATE_EPOCH-}" ] || SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null ||
	stat -c %Y CHANGELOG.md)
export SOURCE_DATE_EPOCH
name=$(git config user.name 2>/dev/null || echo root)
address=$(git config user.email 2>/dev/null || echo "root@$(uname -n)")
maintainer=${DEB_MAINTAINER-"$name <$address>"}

rm -rf "$work" "$deb"
mkdir -p "$tree/DEBIAN" "$work/debian"
umask 022
tools/install.sh install "$tree/usr" "$build"

# --- as Debian wants them: without debugging data; manuals compressed, also those of other names
strip --strip-unneeded --remove-section=.comment "$tree/usr/bin/pollux"
strip --strip-debug --enable-deterministic-archives "$tree/usr/lib/libpollux.a"
mkdir -p "$tree/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)"
mv "$tree/usr/lib/libpollux.a" "$tree/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)/"
find "$tree/usr/share/man" -type f -exec gzip -9n {} +

doc=$tree/usr/share/doc/pollux
mkdir -p "$doc/examples"
cp README.md "$doc/"
cp examples/preemptible.py "$doc/examples/"
gzip -9n <CHANGELOG.md >"$doc/NEWS.md.gz"
gzip -9n >"$doc/changelog.gz" <<EOF
pollux ($version) unstable; urgency=medium

  * Made from the sources by "make deb"; NEWS.md.gz says what changed.

 -- $maintainer  $(date -u -R -d "@$SOURCE_DATE_EPOCH")
EOF
cat >"$doc/copyright" <<EOF
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: pollux

Files: *
Copyright: $(date -u -d "@$SOURCE_DATE_EPOCH" +%Y) the authors of pollux
License: Apache-2.0
 On Debian systems, the text of the Apache License, version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.
EOF

# --- control: dpkg-shlibdeps wants a source package, of which these two lines suffice
printf 'Source: pollux\n\nPackage: pollux\nArchitecture: any\n' >"$work/debian/control"
depends=$(cd "$work" && dpkg-shlibdeps -O -etree/usr/bin/pollux |
	sed -n 's/^shlibs:Depends=//p')
cat >"$tree/DEBIAN/control" <<EOF
Package: pollux
Version: $version
Architecture: $arch
Maintainer: $maintainer
Installed-Size: $(du -sk --apparent-size "$tree/usr" | cut -f 1)
Section: science
Priority: optional
Depends: $depends
Recommends: cron | cron-daemon, gnuplot-nox | gnuplot, libmicrohttpd12 | libmicrohttpd12t64
Suggests: python3, nvidia-smi
Description: queue for training jobs on the GPUs of one machine
 pollux keeps a queue of training jobs, gives each of them devices of this
 machine, stops a running job so that another one gets its turn, and starts the
 stopped job again from its checkpoint, with the batch size and the number of
 devices that make the most useful progress.
 .
 Each user has a queue of their own, driven by cron: there is no daemon, and
 nothing needs root. The devices are NVIDIA GPUs or slots of the processor.
EOF
(cd "$tree" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$tree/DEBIAN/md5sums"
find "$tree" -newermt "@$SOURCE_DATE_EPOCH" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
dpkg-deb --root-owner-group -Zxz --build "$tree" "$deb"
