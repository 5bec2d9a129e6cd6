#!/bin/sh
# need.sh GROUP... - see that the machine has what these parts of the build use.
#
# A group is a list of probes below. When something is missing it is installed
# by apt, after saying so, if this user may (root, or sudo without a password).
# Otherwise, or with POLLUX_NO_INSTALL=1, the line to type is printed and the
# exit status is 1. A probe looks for the thing itself, never for a package, so
# other systems, and tools installed by hand, pass too.
set -eu

say() { echo "need.sh: $*" >&2; }

lack() { # lack THING PACKAGE
	things="$things $1"
	packages="$packages $2"
}

program() { # program NAME [PACKAGE]
	command -v "$1" >/dev/null 2>&1 || lack "$1" "${2-$1}"
}

library() { # library NAME PACKAGE: NAME is pkg-config's
	pkg-config --exists "$1" 2>/dev/null || lack "$1" "$2"
}

headers() { # a compiler alone does not bring libc's
	echo '#include <stdlib.h>' | cc -E - >/dev/null 2>&1 || lack stdlib.h libc6-dev
}

fuzzer() { # clang's runtimes are a package of their own, named by its version
	echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' |
		clang -fsanitize=fuzzer,address -x c - -o /dev/null 2>/dev/null ||
		lack libFuzzer CLANG_RUNTIME
}

data() { # FASHION_MNIST says where else it is
	[ -d "${FASHION_MNIST:-/usr/share/datasets/fashion-mnist}" ] ||
		lack Fashion-MNIST dataset-fashion-mnist
}

slurm_plugins() { # Debian has them in a package of their own
	find /usr/lib* -path '*slurm*' -name 'select_cons_tres.so' 2>/dev/null | grep -q . ||
		lack slurm-plugins slurm-wlm-basic-plugins
}

probe() { # probe GROUP
	case $1 in
	build) program cc gcc; headers; program pkg-config
		library 'sqlite3 >= 3.37' libsqlite3-dev; library hwloc libhwloc-dev
		library nlopt libnlopt-dev; library qhull_r libqhull-dev
		library libpcre2-8 libpcre2-dev; library ncursesw libncurses-dev
		library json-c libjson-c-dev
		library 'libmicrohttpd >= 0.9.71' libmicrohttpd-dev ;;
	example) library openblas libopenblas-dev; library zlib zlib1g-dev ;;
	data) data ;;
	check) program prove perl; program sqlite3; program ps procps; program gnuplot gnuplot-nox
		program python3 python3-minimal; program tmux ;;
	lint) program gcc; program clang; program clang-tidy; program cppcheck
		program shellcheck; program mandoc; program zsh; program fish ;;
	memcheck) program valgrind ;;
	gpu-kit) program patchelf; program debootstrap; program unshare util-linux ;;
	deb) program dpkg-shlibdeps dpkg-dev ;;
	wheel) program patchelf; program objdump binutils ;;
	package) probe deb; probe wheel
		program lintian; program debootstrap; program unshare util-linux ;;
	fuzz) program clang; fuzzer ;;
	coverage) program gcovr ;;
	slurm) program slurmctld; program slurmd; program sbatch slurm-client; program munged munge
		slurm_plugins ;;
	bench) program tsp task-spooler; program nq; program hyperfine ;;
	*) say "no group '$1'"; exit 2 ;;
	esac
}

look() { # look GROUP...: sets $things and $packages, empty when all is there
	things='' packages=''
	for group; do probe "$group"; done
}

as_root() {
	if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

may_install() {
	[ "${POLLUX_NO_INSTALL-}" != 1 ] && as_root true 2>/dev/null
}

apt() {
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 "$@" \
		</dev/null >&2
}

# Older releases ship the runtimes in libclang-common-N-dev.
clang_runtime() {
	n=$(apt-cache depends clang 2>/dev/null | sed -n 's/.*Depends: clang-\([0-9]*\)$/\1/p')
	for name in "libclang-rt-$n-dev" "libclang-common-$n-dev"; do
		if apt-cache show "$name" >/dev/null 2>&1; then echo "$name"; return; fi
	done
	echo clang
}

resolve() { # the packages, each once, by the names they have here
	# shellcheck disable=SC2086  # a list of words
	printf '%s\n' $packages | sed "s/^CLANG_RUNTIME\$/$(clang_runtime)/" | sort -u | xargs
}

look "$@"
[ -n "$things" ] || exit 0
say "not found:$things"

if ! command -v apt-get >/dev/null; then
	say "please install what Debian calls: $(resolve)"
	exit 1
fi
if ! may_install; then
	sudo='sudo '
	[ "$(id -u)" != 0 ] || sudo=
	say "please type: ${sudo}apt-get update &&" \
		"${sudo}apt-get install -y --no-install-recommends $(resolve)"
	exit 1
fi

say "installing with apt: $(resolve) (POLLUX_NO_INSTALL=1 forbids this)"
# Package lists may be absent (a fresh container) or out of date.
ls /var/lib/apt/lists/*Packages* >/dev/null 2>&1 || apt update
# shellcheck disable=SC2046  # a list of words
apt install -y --no-install-recommends $(resolve) || {
	apt update
	apt install -y --no-install-recommends $(resolve)
}

look "$@"
[ -z "$things" ] || { say "still not found:$things"; exit 1; }
