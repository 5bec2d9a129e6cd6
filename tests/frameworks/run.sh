#!/bin/sh
# Runs tests/frameworks with real packages: run.sh [NAME...]
#
# POLLUX_FRAMEWORKS names a virtual environment that has them. Otherwise build/frameworks is made
# with pip, CPU wheels, about 3 GB. Without both, and with POLLUX_NO_INSTALL=1, the tests of the
# helper's own machinery run with a stand-in for torch, and the rest is skipped.
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
venv=${POLLUX_FRAMEWORKS:-$root/build/frameworks}
packages="torch numpy transformers accelerate lightning jsonargparse[signatures] rich tqdm keras"
packages="$packages jax optax xgboost lightgbm scikit-learn"

make_venv() {
	[ -z "$POLLUX_NO_INSTALL" ] || return 1
	echo "# making $venv with pip: $packages" >&2
	# shellcheck disable=SC2086
	python3 -m venv "$venv" &&
	    "$venv/bin/pip" -q install \
		--extra-index-url https://download.pytorch.org/whl/cpu torch &&
	    "$venv/bin/pip" -q install $packages
}

python3 "$here/stand_in.py" || exit 1
if [ ! -x "$venv/bin/python" ] && [ -z "$POLLUX_FRAMEWORKS" ]; then
	make_venv || {
		echo "# SKIPPED: no torch. pip cannot install it here;" \
			"POLLUX_FRAMEWORKS=/path/to/venv" >&2
		exit 0
	}
fi
status=0
for tests in check noise mended saves resume torn diverged refusals; do
	python3 "$here/$tests.py" --python "$venv/bin/python" "$@" || status=1
done
[ $# -gt 0 ] || python3 "$here/stops.py" --python "$venv/bin/python" || status=1
[ $# -gt 0 ] || python3 "$here/presets/run.py" --python "$venv/bin/python" || status=1
exit $status
