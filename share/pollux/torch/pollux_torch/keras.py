"""Keras with any backend: the helper reads its lists of callbacks and its iterators."""

import os

from . import core
from .optimizers import family_of
from .plain import PlainSteps


class Fit:
    """The facts about the running call of fit()."""

    def __init__(self, iterator, params, model, callbacks):
        self.iterator, self.model, self.callbacks = iterator, model, callbacks
        self.epochs = params.get("epochs") or 0
        self.batches = params.get("steps") or 0
        self.begun = False

    def samples_of(self, first, last):
        """Samples of the batches first..last of an epoch; 0 if not known."""
        adapter = getattr(self.iterator, "data_adapter", None)
        size = getattr(adapter, "batch_size", None)
        if not size:
            return 0
        n = (last - first + 1) * size
        if getattr(adapter, "has_partial_batch", False) and last + 1 == adapter.num_batches:
            n -= size - adapter.partial_batch_size
        return n


def optimizer_of(optimizer):
    """(family, name) of an optimizer of Keras, whose classes are called as those of torch."""
    if optimizer is None:
        return None, None
    names = [c.__name__ for c in type(optimizer).__mro__]
    return family_of(names), names[0]


class Keras:
    def __init__(self, helper):
        self.helper = helper
        self.steps = PlainSteps(helper)
        self.iterator = None  # the iterator that was made last
        self.last_batch = -1
        self.epoch = 0
        self.backup_class = None  # BackupAndRestore, once its module is there

    # --- hooks

    def watch_iterators(self, module):
        real = module.EpochIterator.__init__
        made = self.helper.guard("keras.iterator", lambda i: setattr(self, "iterator", i))

        def __init__(iterator, *args, **kwargs):
            real(iterator, *args, **kwargs)
            made(iterator)

        module.EpochIterator.__init__ = __init__

    def watch_callbacks(self, module):
        kind = module.CallbackList
        guard = self.helper.guard
        real_init = kind.__init__
        extend = guard("resume.keras", self.with_backup)
        made = guard("keras.list", self.made)

        def __init__(callbacks, given=None, *args, **params):
            if "epochs" in params:
                given = extend(given) or given
            real_init(callbacks, given, *args, **params)
            made(callbacks, params)

        kind.__init__ = __init__
        for name, hook in (("on_train_begin", self.train_begins),
                           ("on_test_begin", self.test_begins),
                           ("on_epoch_begin", self.epoch_begins),
                           ("on_train_batch_end", self.batch_ends),
                           ("on_train_end", self.train_ends)):
            self.after(kind, name, guard("keras." + name[3:], hook))

    @staticmethod
    def after(kind, name, hook):
        real = getattr(kind, name)

        def method(callbacks, *args, **kwargs):
            result = real(callbacks, *args, **kwargs)
            hook(callbacks, *args)
            return result

        setattr(kind, name, method)

    # --- totals and samples

    def made(self, callbacks, params):
        if "epochs" in params:
            callbacks._pollux_fit = Fit(self.iterator, params, params.get("model"), callbacks)

    def train_begins(self, callbacks, *rest):
        fit = getattr(callbacks, "_pollux_fit", None)
        if fit is None:
            return
        steps = self.steps
        optimizer = getattr(fit.model, "optimizer", None)
        done = int(optimizer.iterations) if optimizer is not None else 0
        if done != steps.count and steps.own == 0:
            self.resumed(fit, done)
        first = getattr(fit.model, "_initial_epoch", None) or 0
        if self.helper.rank.reports():
            # steps_per_epoch: so many updates an epoch, whatever the batch is.
            counts = getattr(self.iterator, "steps_per_epoch", None)
            family, name = optimizer_of(optimizer)
            self.helper.reporter.send({"ENDS": "steps" if counts else "epochs",
                                       "OPTIMIZER": "%s %s" % (family, name) if name else None})
        if fit.batches and fit.epochs:
            steps.expect(TOTAL_STEPS=steps.count + (fit.epochs - first) * fit.batches,
                         TOTAL_EPOCHS=fit.epochs)

    def resumed(self, fit, done):
        """The optimizer has made updates before: a checkpoint was read."""
        steps = self.steps
        steps.count = done
        if fit.batches:
            epochs, rest = divmod(done, fit.batches)
            steps.consumed = epochs * fit.samples_of(0, fit.batches - 1)
            steps.consumed += fit.samples_of(0, rest - 1) if rest else 0
        backup = next((c for c in fit.callbacks.callbacks if hasattr(c, "backup_dir")), None)
        steps.report(RESUMED=os.path.abspath(backup.backup_dir) if backup else None)

    def test_begins(self, callbacks, *rest):
        self.steps.pause()

    def epoch_begins(self, callbacks, epoch, *rest):
        self.steps.pause()
        self.epoch, self.last_batch = epoch, -1

    def batch_ends(self, callbacks, batch, *rest):
        fit = getattr(callbacks, "_pollux_fit", None)
        if fit is None or batch <= self.last_batch:
            return
        first, self.last_batch = self.last_batch + 1, batch
        if fit.batches:
            self.steps.epoch = self.epoch + (batch + 1) / fit.batches
        self.steps.tick(batch + 1 - first, fit.samples_of(first, batch))

    def train_ends(self, callbacks, *rest):
        fit = getattr(callbacks, "_pollux_fit", None)
        if fit is None:
            return
        is_whole = 0 < fit.epochs <= self.epoch + 1 and 0 < fit.batches <= self.last_batch + 1
        self.helper.ended(is_whole, self.steps.report if self.steps.own else None)

    # --- checkpoints of Keras's own callback

    def watch_backups(self, module):
        kind = self.backup_class = module.BackupAndRestore

        def saved(callback, *rest):
            self.steps.pause()
            self.steps.report(CHECKPOINT=os.path.abspath(callback.backup_dir))

        self.after(kind, "_save_model", self.helper.guard("keras.saved", saved))

    def with_backup(self, given):
        from . import resume_keras

        return resume_keras.with_backup(self.helper, self.backup_class, given)


_keras = None


def keras():
    global _keras
    if _keras is None:
        _keras = Keras(core.helper())
    return _keras


def install(module):
    """After `import keras`."""
    import sys

    version = getattr(module, "__version__", "")
    backend = sys.modules.get("keras.src.backend")
    name = backend.backend() if backend is not None else ""
    core.helper().framework("keras", version + (" on " + name if name else ""))


def install_callbacks(module):
    keras().watch_callbacks(module)


def install_iterators(module):
    keras().watch_iterators(module)


def install_backups(module):
    keras().watch_backups(module)
