#!/bin/sh
# wheel.sh - in a bare root: the wheel is installed into a virtual environment without network,
# used and removed without a trace.
set -eu
fail() { echo "wheel.sh: $*" >&2; exit 1; }

environment=$(mktemp -d)
chmod 755 "$environment"
python3 -m venv "$environment"
(cd "$environment" && find . -type f ! -name '*.pyc' | sort) >/tmp/before
"$environment/bin/pip" -q --disable-pip-version-check install --no-index ./pollux-*.whl
(PATH=$environment/bin:$PATH && export PATH && ./use.sh "$environment")
"$environment/bin/pip" -q --disable-pip-version-check uninstall -y pollux
(cd "$environment" && find . -type f ! -name '*.pyc' | sort) >/tmp/after
cmp /tmp/before /tmp/after || fail "these files are left: $(comm -13 /tmp/before /tmp/after)"
rm -r "$environment"
echo 'wheel.sh: installed, used and removed'
