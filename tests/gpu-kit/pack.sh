#!/bin/bash
# pack.sh KIT BUILD - make KIT, the folder that is carried to a machine with a GPU.
#
#	KIT/run.sh		starts tests/gpu-kit/run.sh
#	KIT/build/		the programs and test libraries that were built in BUILD
#	KIT/build/lib/		their shared libraries; not glibc's, the driver's or CUDA's
#	KIT/data/fashion-mnist	all test images and the first tenth of the training images
#	KIT/...			the sources and tests, as git has them here
#
# The programs find their libraries by a run path of $ORIGIN/lib, which also holds for the needs of
# these libraries (DT_RPATH). KIT may have 59 MiB at most: a
# machine that is lent takes 64, of which its checkout and KIT's build and data are as much as KIT.
set -eu
[ $# = 2 ] || { sed -n '2s/^# //p' "$0" >&2; exit 64; }
kit=$1 build=$(cd "$2" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
: "${FASHION_MNIST:=/usr/share/datasets/fashion-mnist}"
limit_mib=59
train_images=6000

rm -rf "$kit"
mkdir -p "$kit/build/lib" "$kit/data/fashion-mnist"
kit=$(cd "$kit" && pwd)

# --- sources: what git knows, as it lies in this checkout; the kit itself is ignored -----
if git -C "$root" rev-parse --git-dir >/dev/null 2>&1; then
	git -C "$root" ls-files -co --exclude-standard -z
else
	(cd "$root" && find . -path ./build -prune -o -path ./data -prune -o -type f -print0)
fi >"$kit.files"
# shellcheck disable=SC2016  # expanded by the inner shell; a file may be gone that git still lists
(cd "$root" && xargs -0 sh -c 'for f; do [ ! -f "$f" ] || printf "%s\0" "$f"; done' sh |
	tar -c --null -T - -f -) <"$kit.files" | tar -x -C "$kit" -f -
rm "$kit.files"

# --- programs ----------------------------------------------------------------------
carry() { # carry FILE: from BUILD, to the same place in KIT, where it finds its libraries
	local depth=${1//[^\/]/}

	mkdir -p "$kit/build/$(dirname "$1")"
	strip --strip-debug -o "$kit/build/$1" "$build/$1"
	# shellcheck disable=SC2016  # $ORIGIN is the linker's
	patchelf --force-rpath --set-rpath '$ORIGIN/'"${depth//\//../}lib" "$kit/build/$1"
}
carry pollux
carry examples/train
for file in cuda/host.so gpu/nvml_new.so gpu/cuda_standin.so gpu/cuda_freeze.so fault/killat; do
	[ ! -e "$build/$file" ] || carry "$file"
done

# --- libraries ---------------------------------------------------------------------
# glibc's belong to the machine, as do the driver's and CUDA's, which the programs open themselves.
glibc='linux-vdso|ld-linux.*|lib(c|m|dl|rt|pthread|util|resolv|nsl|anl)\.so\.[0-9]+'
not_ours="^($glibc|lib(cuda|cudart|cublas|cublasLt|nvrtc|nvidia.*)\\.so.*)\$"
for file in pollux examples/train; do
	ldd "$build/$file"
done | awk '$2 == "=>" { print $1, $3 }' | sort -u | while read -r name path; do
	if ! grep -Eq "$not_ours" <<<"$name"; then
		[ -f "$path" ] || { echo "pack.sh: '$name' is not found" >&2; exit 1; }
		cp -L "$path" "$kit/build/lib/$name"
		chmod 644 "$kit/build/lib/$name"
	fi
done

# --- data: a file of images, or of labels, cut; its header says how many ------------------
cut_idx() { # cut_idx FILE HEADER-BYTES BYTES-OF-ONE
	local n=$train_images

	{
		gzip -dc "$FASHION_MNIST/$1" | head -c 4
		# shellcheck disable=SC2059  # the number, in four bytes
		printf "$(printf '\\%03o\\%03o\\%03o\\%03o' 0 0 $((n / 256)) $((n % 256)))"
		gzip -dc "$FASHION_MNIST/$1" | tail -c +9 | head -c $(($2 - 8 + n * $3))
	} 2>/dev/null | gzip -n >"$kit/data/fashion-mnist/$1"
}
if [ -d "$FASHION_MNIST" ]; then
	cp "$FASHION_MNIST"/t10k-* "$kit/data/fashion-mnist/"
	cut_idx train-images-idx3-ubyte.gz 16 784
	cut_idx train-labels-idx1-ubyte.gz 8 1
else
	echo "pack.sh: no Fashion-MNIST in '$FASHION_MNIST': steps that need it will be skipped" >&2
fi

# shellcheck disable=SC2016  # expanded when it runs
printf '#!/bin/bash\nexec "$(dirname "$0")/tests/gpu-kit/run.sh" "$@"\n' >"$kit/run.sh"
chmod +x "$kit/run.sh"

bytes=$(find "$kit" -type f -printf '%s\n' | awk '{ n += $1 } END { printf "%d", n }')
awk -v n="$bytes" -v most=$limit_mib -v kit="$kit" 'BEGIN {
	printf "%s: %.1f MiB of at most %d\n", kit, n / 1048576, most
	exit n > most * 1048576
}'
