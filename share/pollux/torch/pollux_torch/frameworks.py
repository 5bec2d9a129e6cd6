"""Which modules are watched, and what is installed when a program has imported one."""

from . import core


def actions():
    """Module name -> function(module), for the import hook."""
    return {"torch": install_torch}


def install_torch(torch):
    helper = core.helper()
    helper.framework("torch", torch.__version__)
    try:
        install_parts(helper, torch)
    except Exception as error:
        helper.refuse("steps", "%s: %s" % (type(error).__name__, error))


def install_parts(helper, torch):
    from . import no_noise
    from .samples import Samples
    from .steps import Steps

    samples = Samples(helper, torch)
    helper.steps = Steps(helper, torch, samples, no_noise.make(helper, torch))
