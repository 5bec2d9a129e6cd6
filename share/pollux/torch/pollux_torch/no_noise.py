"""The interface of the part that samples the gradient noise scale, and its stand-in.

class Noise(NoNoise) in noise.py, made with (helper, torch), does the work. Steps calls the methods
below. A method that raises switches the part off (helper.refuse("gradient noise", why)). The part
also switches itself off when a figure would be wrong. stop() is then called. `update` is the object
of class Steps:

    update.main()            the main optimizer
    update.samples.batch     n, local samples of the pass that is about to run (0: not known)
    update.samples.replicas()  processes that share the update
    update.accumulation      passes of the last update; update.passes: of this one so far
    update.own, update.count updates in this process; since the job's first launch
    update.cost_ns()         what the helper has cost in this process, without the noise
    update.clock.mean_ns     mean time of an update without a sample, ns (0: not known yet)
"""

import math


class NoNoise:
    armed = False  # True from arm() to after_step(): the backward passes between are told
    due = math.inf  # arm() is called after the update of this number (update.own)
    scaler = None  # the GradScaler in use, set by Steps

    def arm(self, update):
        """Called after an update if the next update is to be sampled. Sets temporary hooks."""

    def before_backward(self, tensors, options, update):
        """Called before a pass of an armed update, with the options of backward() by name.

        Returns True if after_backward() is to be called.
        """
        return False

    def after_backward(self):
        """Called after that pass, when .grad has its gradients."""

    def spoil(self):
        """Called when the present pass has failed: drops all that belongs to the pass."""

    def after_step(self, update):
        """After an armed update. Sets due. Returns {"GRAD_SQR": ..., "GRAD_VAR": ...} or None."""

    def stop(self):
        """Called when the part is off: removes its hooks."""
        self.armed, self.due = False, math.inf


def make(helper, torch):
    """Makes the part, or its stand-in if there is no noise.py."""
    try:
        from .noise import Noise
        noise = Noise(helper, torch)
    except Exception as error:
        if isinstance(error, ImportError) and str(error.name).endswith(".noise"):
            return NoNoise()
        helper.refuse("gradient noise", "%s: %s" % (type(error).__name__, error))
        return NoNoise()
    helper.on_refusal["gradient noise"] = noise.stop
    return noise
