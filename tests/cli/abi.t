#!/bin/sh
# abi.t - what src/device/nvidia declares of NVML and of CUDA's driver is what NVIDIA's headers of
# three majors have (tests/gpu/wheels.sh), and what a toolkit on this machine has.
. "$(dirname "$0")/tap.sh"
compare() { # compare nvml|cuda HEADER NAME
	if ! CC=${CC:-cc} perl "$ROOT/tests/gpu/abi.pl" "$1" "$2" >check.c 2>said; then
		result 1 "$3 can be compared" "$(cat said)"
		return
	fi
	sed -n 's|^/\* absent: ||p' check.c >>"absent.$1"
	${CC:-cc} -std=gnu11 -w -fsyntax-only -I"$ROOT/src" -I"$ROOT/include" check.c 2>said
	result $? "$(grep -c _Static_assert check.c) declarations are those of $3" \
		"$(grep error: said)"
}
for header in "${CUDA_HOME:-/usr/local/cuda}/include/cuda.h" /usr/include/cuda.h; do
	[ ! -e "$header" ] || compare cuda "$header" "the toolkit's header $header"
done
if wheels=$("$ROOT/tests/gpu/wheels.sh"); then
	rm -f absent.cuda
	for header in "$wheels"/nvidia-nvml-dev*/nvidia/*/include/nvml.h \
			"$wheels"/nvidia-cuda-runtime*/nvidia/*/include/cuda.h; do
		name=${header#"$wheels/"}
		version=$(sed -n "s/^${name%%/*}==\([^ ]*\).*/\1/p" "$ROOT/tests/gpu/wheels.txt")
		case $header in */nvml.h) library=nvml ;; *) library=cuda ;; esac
		compare $library "$header" "$library in ${name%%/*} $version"
	done
	for library in nvml cuda; do
		is "each declaration for $library is in one of three headers" '' \
			"$(sort "absent.$library" | uniq -c | sed -n 's/^ *3 //p')"
	done
else
	echo "# SKIPPED: NVIDIA's headers: $wheels"
	[ "$n" != 0 ] || skip_all "$wheels"
fi
finish
