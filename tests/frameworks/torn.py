"""Real checkpoints of frameworks, torn: the next run goes on from the one before.

torn.py --python VENV/bin/python [NAME...]: for each form a job of pollux saves two checkpoints by
the framework's own function, tears the newer one, and is killed. The job's next run must be given
the older one; where the newer one is whole, that one. A framework that is not there is skipped, and
named."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
POLLUX = os.environ.get("POLLUX", os.path.join(ROOT, "build", "pollux"))
# name: (what it imports, how to save to `path`, how the newer one is torn)
CUT = "import os; os.truncate(path, os.path.getsize(path) * 6 // 10)"
NAMES = {
    "torch": ("torch", "torch.save({'w': torch.randn(400, 100)}, path)", "ckpt-%d.pt", CUT),
    "safetensors": ("torch, safetensors.torch", "safetensors.torch.save_file({'w': "
                    "torch.randn(400, 100)}, path)", "model-%d.safetensors", CUT),
    "numpy": ("numpy", "numpy.savez(path, w=numpy.random.rand(400, 100))", "state_%d.npz", CUT),
    "h5py": ("h5py, numpy", "f = h5py.File(path, 'w'); f['w'] = numpy.random.rand(400, 100); "
             "f.close()", "weights.%d.h5", CUT),
    "keras": ("keras", "keras.Sequential([keras.Input((100,)), keras.layers.Dense(400)])"
              ".save(path)", "epoch%d.keras", CUT),
    "dcp": ("torch, torch.distributed.checkpoint as dcp",
            "dcp.save({'w': torch.randn(400, 100)}, checkpoint_id=path)", "step_%d",
            "import os; os.remove(path + '/.metadata')"),
    "transformers": ("transformers", "import os, torch; os.makedirs(path); "
                     "torch.save(torch.randn(400, 100), path + '/pytorch_model.bin'); "
                     "transformers.TrainerState().save_to_json(path + '/trainer_state.json')",
                     "checkpoint-%d", "import os; os.remove(path + '/trainer_state.json')"),
}
PROGRAM = """
import os, sys, time
resume = sys.argv[1] if len(sys.argv) > 1 else ""
print("RESUME", resume, flush=True)
if resume:
    sys.exit(0)
import {imports}
directory = os.environ["POLLUX_CHECKPOINT_DIR"]
for n in (90, 100):
    path = os.path.join(directory, "{name}" % n)
    {save}
    time.sleep(0.1)
print("step 1/9", flush=True)
print("step 2/9", flush=True)
if {tears}:
    {tear}
os.kill(os.getpid(), 9)
"""


def resumed_from(python, form, tears):
    """The name of what the second run was given."""
    imports, save, name, tear = NAMES[form]
    top = tempfile.mkdtemp(prefix="pollux-torn-")
    env = dict(os.environ, POLLUX_DIR=os.path.join(top, "store"), POLLUX_SLOTS="1",
               POLLUX_NVML="none", POLLUX_SHARED_DIR="no", KERAS_BACKEND="torch")
    program = os.path.join(top, "save.py")
    with open(program, "w", encoding="utf-8") as file:
        file.write(PROGRAM.format(imports=imports, save=save, name=name, tear=tear, tears=tears))

    def pollux(*words):
        return subprocess.run([POLLUX, *words], env=env, capture_output=True, text=True,
                              timeout=280, check=False).stdout

    try:
        job = pollux("submit", "-q", "--no-torch", "--retries", "1", "--resume-args={newest}",
                     "--", python, program).strip()
        pollux("wait", "--timeout", "200s", job)
        lines = [line for line in pollux("log", job).splitlines() if line.startswith("RESUME")]
        return os.path.basename(lines[-1].split(" ", 1)[1]) if lines else "no log"
    finally:
        shutil.rmtree(top, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--python", required=True)
    parser.add_argument("names", nargs="*")
    o = parser.parse_args()
    failed = 0
    for form in o.names or NAMES:
        if form not in NAMES:
            continue
        imports, _, name, _ = NAMES[form]
        if subprocess.run([o.python, "-c", "import " + imports], capture_output=True,
                          env=dict(os.environ, KERAS_BACKEND="torch"), check=False).returncode:
            print("# SKIPPED: no %s" % imports)
            continue
        for tears, wanted in ((False, 100), (True, 90)):
            got = resumed_from(o.python, form, tears)
            right = got == name % wanted
            failed += not right
            print("%sok - %s, the newer one %s: from %s" % (
                "" if right else "not ", form, "torn" if tears else "whole", got))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
