"""The helper that pollux puts beside a training program. See ../sitecustomize.py.

A program may call report() when this module can be imported, and runs unchanged when it cannot:

    try:
        import pollux_torch
    except ImportError:
        pollux_torch = None
    ...
    if pollux_torch:
        pollux_torch.report(accuracy=0.91)
"""


def report(**metrics):
    """Sends pollux the latest values of metrics, numbers by name. Never waits, never raises."""
    from . import core

    try:
        core.helper().reporter.send(
            {"METRIC." + name: "%.9g" % float(value) for name, value in metrics.items()}
        )
    except Exception:
        pass
