"""Data loaders live until the program has saved, also where a launcher signals its whole group.

torchrun and timeout(1) send SIGTERM to a program and to its loaders. A loader dies of
the signal, and the training gets an error while it saves."""

import os
import signal
import threading
import time

# A loader that got the signal ends when the program has ended, and after this time at the latest:
# the program itself may have sent the signal, to a loader that hangs.
LIVES_S = 60.0
LOOK_S = 0.2


def outlive(parent):
    """Ends this process when the parent has ended, or after LIVES_S."""
    until = time.monotonic() + LIVES_S
    while os.getppid() == parent and time.monotonic() < until:
        time.sleep(LOOK_S)
    os._exit(0)


def install(module):
    """module: torch.utils.data._utils.signal_handling, whose function each loader calls first."""
    set_handlers = module._set_worker_signal_handlers

    def set_handlers_and_outlive(*args):
        set_handlers(*args)
        parent = os.getppid()

        def hear(*_):
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            threading.Thread(target=outlive, args=(parent,), daemon=True).start()

        signal.signal(signal.SIGTERM, hear)

    module._set_worker_signal_handlers = set_handlers_and_outlive
