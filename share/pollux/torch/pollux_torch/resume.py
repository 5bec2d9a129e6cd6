"""Option resume: makes frameworks save when the program is stopped, and continue from there.

Hugging Face Trainer: enable_jit_checkpoint (it saves after SIGTERM) and resume_from_checkpoint.
Lightning: a checkpoint when SIGTERM ends fit(), and ckpt_path. Keras: see keras.py. The signal
handlers are those of the frameworks. Only checkpoints of this job are resumed from.
"""

import functools
import inspect
import os

STOPPED = 75  # exit status of a program that was stopped: 0 would say that it is complete


def is_wanted(helper):
    return "resume" in helper.options and bool(os.environ.get("POLLUX_CHECKPOINT_DIR"))


def watch_trainer(helper, module):
    """After transformers.trainer was imported."""
    if not is_wanted(helper):
        return
    trainer = module.Trainer
    real_init, real_train = trainer.__init__, trainer.train
    signature = inspect.signature(real_init)
    prepare = helper.guard("resume.trainer", set_jit_checkpoint)
    last = helper.guard("resume.train", lambda t: last_checkpoint(helper, t.args.output_dir))

    @functools.wraps(real_init)
    def __init__(self, *args, **kwargs):
        prepare(signature.bind(self, *args, **kwargs).arguments.get("args"))
        real_init(self, *args, **kwargs)

    @functools.wraps(real_train)
    def train(self, resume_from_checkpoint=None, *args, **kwargs):
        if resume_from_checkpoint is None:
            resume_from_checkpoint = last(self)
        return real_train(self, resume_from_checkpoint, *args, **kwargs)

    trainer.__init__, trainer.train = __init__, train


def set_jit_checkpoint(arguments):
    if arguments is None or not hasattr(arguments, "enable_jit_checkpoint"):
        raise RuntimeError("this Trainer cannot save when it is told to stop")
    object.__setattr__(arguments, "enable_jit_checkpoint", True)


def last_checkpoint(helper, directory):
    """The directory of the latest complete checkpoint that this job saved in it, or None."""
    directory = os.path.abspath(directory)
    for entry in reversed(helper.checkpoints.positions.read()):
        found = os.path.dirname(entry["path"])
        if os.path.dirname(found) == directory and \
                os.path.exists(os.path.join(found, "trainer_state.json")) and \
                not os.path.exists(os.path.join(found, "checkpoint-is-incomplete.txt")):
            return found
    return None


def watch_lightning(helper, trainer, callback, sigterm):
    """trainer, callback, sigterm: Lightning's classes Trainer, Callback, SIGTERMException."""
    if not is_wanted(helper):
        return
    path = os.path.join(os.environ["POLLUX_CHECKPOINT_DIR"], "lightning.ckpt")
    real_fit = trainer.fit
    signature = inspect.signature(real_fit)

    class SaveWhenStopped(callback):
        def on_exception(self, trainer, module, exception):
            if isinstance(exception, sigterm):
                save(trainer, exception)

    def save_stopped(trainer, exception):
        trainer.save_checkpoint(path)
        exception.code = STOPPED

    def prepared(self, args, kwargs):
        call = signature.bind(self, *args, **kwargs)
        if call.arguments.get("ckpt_path") is None and os.path.exists(path):
            call.arguments["ckpt_path"] = path
            if "weights_only" in signature.parameters:
                call.arguments["weights_only"] = False  # our own file
        self.callbacks.append(SaveWhenStopped())
        return call

    save = helper.guard("resume.save", save_stopped)
    prepare = helper.guard("resume.fit", prepared)

    @functools.wraps(real_fit)
    def fit(self, *args, **kwargs):
        call = prepare(self, args, kwargs)
        if call is None:
            return real_fit(self, *args, **kwargs)
        result = real_fit(*call.args, **call.kwargs)
        if os.path.exists(path):
            os.remove(path)  # the next fit() of this program is another one
        return result

    trainer.fit = fit
