"""Option resume for Lightning: a checkpoint when SIGTERM ends fit(), and ckpt_path.

Lightning stops after a batch, also amid an update of several batches, and continues an epoch with
the first batches of a new order. Here it stops after an update, the batches that the epoch has had
are taken from the same order again, and the random numbers go on where they were.
"""

import functools
import inspect
import os

from . import core, random_numbers, resume


def watch(helper, trainer, callback, sigterm):
    """trainer, callback, sigterm: Lightning's classes Trainer, Callback, SIGTERMException."""
    if not resume.is_wanted(helper):
        return
    path = os.path.join(os.environ["POLLUX_CHECKPOINT_DIR"], "lightning.ckpt")
    real_fit = trainer.fit
    signature = inspect.signature(real_fit)
    kind = saving_callback(helper, callback, sigterm, path)

    def prepared(self, args, kwargs):
        call = signature.bind(self, *args, **kwargs)
        if not resume.training(helper).begins():
            return None
        if call.arguments.get("ckpt_path") is None and resume.is_whole(path):
            call.arguments["ckpt_path"] = path
            if "weights_only" in signature.parameters:
                call.arguments["weights_only"] = False  # our own file
        self.callbacks.append(kind())
        resume.tell(helper, resume.SAVES_WHEN_STOPPED)
        return call

    prepare = helper.guard("resume.fit", prepared)

    @functools.wraps(real_fit)
    def fit(self, *args, **kwargs):
        call = prepare(self, args, kwargs)
        if call is None:
            return real_fit(self, *args, **kwargs)
        result = real_fit(*call.args, **call.kwargs)
        if os.path.exists(path):
            os.remove(path)  # the training is complete
        return result

    trainer.fit = fit
    trainer.received_sigterm = property(after_updates(trainer.received_sigterm.fget))


def after_updates(real):
    """The property received_sigterm: True only where no gradients are being accumulated."""
    def received_sigterm(self):
        if not real(self):
            return False
        try:
            return not self.fit_loop.epoch_loop._should_accumulate()
        except Exception:
            return True

    return received_sigterm


def saving_callback(helper, callback, sigterm, path):
    class SaveWhenStopped(callback):
        """Its state is in the checkpoint of this file only, not in those of the program."""

        state_key = "pollux_torch"

        def __init__(self):
            self.is_saving, self.loaded = False, None

        def on_exception(self, trainer, module, exception):
            if isinstance(exception, sigterm):
                save(self, trainer, exception)

        def state_dict(self):
            return position(self) or {} if self.is_saving else {}

        def load_state_dict(self, state):
            self.loaded = state

        def setup(self, trainer, module, stage):
            self.trainer = trainer

        def on_train_start(self, trainer, module):
            start(self, trainer)

    def saved(self, trainer, exception):
        self.is_saving = True
        try:
            trainer.save_checkpoint(path + ".new")
        finally:
            self.is_saving = False
        with open(path + ".new", "rb") as file:
            os.fsync(file.fileno())  # or a loss of power leaves the name without the bytes
        os.replace(path + ".new", path)
        exception.code = resume.STOPPED

    save = helper.guard("resume.save", saved)
    position = helper.guard("resume.position", position_of)
    start = helper.guard("resume.start", started)
    return SaveWhenStopped


def position_of(callback):
    """The random numbers now and at the start of the epoch, and the batches it has had."""
    loop = callback.trainer.fit_loop
    progress, fetcher = loop.epoch_progress.current, loop._data_fetcher
    batches = loop.epoch_loop.batch_progress.current.ready
    is_within = progress.started > progress.processed and batches < loop.max_batches
    return {"now": random_numbers.state(), "made": fetcher._pollux_made,
            "first": fetcher._pollux_first, "batches": batches if is_within else 0}


def started(callback, trainer):
    """Training begins: what the first batch needs is left with the loop's fetcher."""
    state, callback.loaded = callback.loaded, None
    if state is None:
        return
    random_numbers.restore(state["now"])
    trainer.fit_loop._data_fetcher._pollux_resumed = state


def watch_fetchers(module):
    """Iterators over batches: notes the random numbers of each start, and repeats it."""
    helper = core.helper()
    kind = module._DataFetcher
    if not resume.is_wanted(helper):
        return
    real_iter, real_next = kind.__iter__, kind.__next__
    begin = helper.guard("resume.iterator", iterator_made)
    repeat = helper.guard("resume.repeat", repeated)
    kind._pollux_made = kind._pollux_first = kind._pollux_resumed = None

    def __iter__(fetcher):
        begin(fetcher)
        return real_iter(fetcher)

    def __next__(fetcher):
        if fetcher._pollux_first is None or fetcher._pollux_resumed is not None:
            repeat(fetcher)
        return real_next(fetcher)

    kind.__iter__, kind.__next__ = __iter__, __next__


def iterator_made(fetcher):
    fetcher._pollux_made, fetcher._pollux_first = random_numbers.state(), None
    if fetcher._pollux_resumed is not None and not fetcher._pollux_resumed["batches"]:
        fetcher._pollux_resumed = None  # a new epoch, made after the random numbers were restored


def repeated(fetcher):
    """Before the first batch. A resumed epoch is begun as it was, and goes on from its batch."""
    state, fetcher._pollux_resumed = fetcher._pollux_resumed, None
    if state is None:
        fetcher._pollux_first = random_numbers.state()
        return
    batches = state["batches"]
    if batches:
        random_numbers.restore(state["made"])
        fetcher._pollux_made = state["made"]
    else:
        fetcher._pollux_made = random_numbers.state()
    fetcher.iterator = iter(fetcher.combined_loader)
    if batches:
        random_numbers.restore(state["first"])
    fetcher._pollux_first = random_numbers.state()
    for _ in range(batches):
        next(fetcher.iterator)
    if batches:
        random_numbers.restore(state["now"])
        core.helper().steps.samples.skip()
