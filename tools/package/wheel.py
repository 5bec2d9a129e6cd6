#!/usr/bin/env python3
"""wheel.py VERSION BUILD: makes BUILD/pollux-VERSION-...whl, which pip installs without a compiler.

The wheel has the program with the libraries that it was linked with beside it (not glibc's, the
driver's or CUDA's), the manuals, the completions and share/pollux. pip puts them into bin, lib and
share of the environment. The program finds its libraries by $ORIGIN/../lib/pollux, and
share/pollux beside its own directory. The wheel's name says which glibc it needs.
"""

import base64
import hashlib
import os
import platform
import re
import subprocess
import sys
import tempfile
import zipfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
EPOCH = (1980, 1, 1, 0, 0, 0)  # so that the same files make the same wheel
# glibc's libraries belong to the machine; the program itself opens CUDA's and the driver's.
NOT_OURS = re.compile(r"(linux-vdso|ld-linux.*|lib(c|m|dl|rt|pthread|util|resolv)"
                      r"|lib(cuda|cublas|nvidia).*)\.so")
SUMMARY = "Queue for training jobs on the GPUs of one machine"


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def libraries(program):
    """(name, path) of each shared library that the program needs and the machine may lack."""
    for line in output("ldd", program).splitlines():
        words = line.split()
        if len(words) < 3 or words[1] != "=>" or NOT_OURS.match(words[0]):
            continue
        if not os.path.isfile(words[2]):
            sys.exit("wheel.py: %s needs '%s', which is not found" % (program, words[0]))
        yield words[0], words[2]


def glibc(files):
    """The newest version of glibc of which the files need a symbol, as (2, 36)."""
    found = {(2, 17)}
    for file in files:
        for text in re.findall(r"GLIBC_2\.(\d+)", output("objdump", "-T", file)):
            found.add((2, int(text)))
    return max(found)


def collect(build, tree):
    """Installs into tree; returns the files of the wheel: (name in the wheel, path, mode)."""
    subprocess.run([os.path.join(ROOT, "tools", "install.sh"), "install", tree, build],
                   check=True, cwd=ROOT)
    program = os.path.join(tree, "bin", "pollux")
    beside = os.path.join(tree, "lib", "pollux")
    os.makedirs(beside)
    for name, path in libraries(program):
        copy = os.path.join(beside, name)
        with open(path, "rb") as source, open(copy, "wb") as target:
            target.write(source.read())
        subprocess.run(["patchelf", "--set-rpath", "$ORIGIN", copy], check=True)
    subprocess.run(["strip", "--strip-unneeded", program], check=True)
    subprocess.run(["patchelf", "--force-rpath", "--set-rpath", "$ORIGIN/../lib/pollux", program],
                   check=True)
    for folder, _, names in sorted(os.walk(tree)):
        for name in sorted(names):
            path = os.path.join(folder, name)
            place = os.path.relpath(path, tree)
            if place.startswith(("include" + os.sep, os.path.join("lib", "lib"))):
                continue  # the client library is for a compiler
            if place == os.path.join("bin", "pollux"):
                yield "scripts/pollux", path, 0o755
            else:
                yield "data/" + place, path, 0o644


def readme():
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        return file.read()


def add(wheel, record, name, data, mode=0o644):
    info = zipfile.ZipInfo(name, EPOCH)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = (0o100000 | mode) << 16
    wheel.writestr(info, data)
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    record.append("%s,sha256=%s,%d" % (name, digest, len(data)))


def write(target, version, tag, files):
    about = "pollux-%s.dist-info/" % version
    record = []
    with zipfile.ZipFile(target, "w") as wheel:
        for place, path, mode in files:
            with open(path, "rb") as file:
                add(wheel, record, "pollux-%s.data/%s" % (version, place), file.read(), mode)
        metadata = ("Metadata-Version: 2.1\nName: pollux\nVersion: %s\nSummary: %s\n"
                    "License: Apache-2.0\nRequires-Python: >=3.8\n"
                    "Description-Content-Type: text/markdown\n\n" % (version, SUMMARY))
        add(wheel, record, about + "METADATA", (metadata + readme()).encode())
        add(wheel, record, about + "WHEEL", (
            "Wheel-Version: 1.0\nGenerator: wheel.py of pollux\nRoot-Is-Purelib: false\n"
            "Tag: %s\n" % tag).encode())
        with open(os.path.join(ROOT, "LICENSE"), "rb") as file:
            add(wheel, record, about + "LICENSE", file.read())
        record.append(about + "RECORD,,")
        add(wheel, [], about + "RECORD", ("\n".join(record) + "\n").encode())


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.splitlines()[0])
    version, build = sys.argv[1], os.path.abspath(sys.argv[2])
    with tempfile.TemporaryDirectory() as tree:
        files = list(collect(build, tree))
        newest = glibc([path for place, path, _ in files
                        if place == "scripts/pollux" or place.startswith("data/lib/")])
        tag = "py3-none-manylinux_%d_%d_%s" % (*newest, platform.machine())
        target = os.path.join(build, "pollux-%s-%s.whl" % (version, tag))
        write(target, version, tag, files)
    print("%s: %.1f MiB, for glibc %d.%d and later" % (
        target, os.path.getsize(target) / 1048576, *newest))


if __name__ == "__main__":
    main()
