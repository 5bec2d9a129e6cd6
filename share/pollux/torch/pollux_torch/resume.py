"""Option resume: makes frameworks save when the program is stopped, and continue from there.

This file has what is common, and Hugging Face's Trainer: enable_jit_checkpoint (it saves after
SIGTERM) and resume_from_checkpoint. Lightning: resume_lightning.py; Keras: resume_keras.py. The
signal handlers are those of the frameworks. Only checkpoints of this job are resumed from.

A resumed run ends with the parameters of an undisturbed one, so that it is the same program: each
framework continues between two updates, with the batches and random numbers that come next there.
"""

import functools
import inspect
import os
import sys
import zipfile

STOPPED = 75  # exit status of a program that was stopped: 0 would say that it is complete
CONTINUES, SAVES_WHEN_STOPPED = 1, 2  # values of the report RESUMES
SEVERAL = ".pollux-trains-several-times"


def is_wanted(helper):
    return "resume" in helper.options and bool(os.environ.get("POLLUX_CHECKPOINT_DIR"))


class Training:
    """Tells the first training of a program from the second, which must not resume.

    A relaunched program begins with the first one, but the checkpoint may be of the second. So a
    program that trains several times is never resumed.
    """

    def __init__(self, helper):
        self.helper = helper
        self.begun = False

    def begins(self):
        """True if this training may resume and save."""
        mark = os.path.join(os.environ["POLLUX_CHECKPOINT_DIR"], SEVERAL)
        if self.begun:
            os.makedirs(os.path.dirname(mark), exist_ok=True)
            open(mark, "w").close()
        self.begun = True
        if os.path.exists(mark):
            self.helper.refuse("resume", "the program trains several times")
            tell(self.helper, 0)
            return False
        return True


def training(helper):
    if not hasattr(helper, "training"):
        helper.training = Training(helper)
    return helper.training


def tell(helper, value):
    """Says what the program does when it is stopped and launched again, so that it may be."""
    if helper.rank.reports():
        helper.reporter.send({"RESUMES": value})


def is_whole(path):
    """True if torch.save() wrote the file to its end. A machine that lost its power may leave a
    file that is empty, or ends early."""
    whole = zipfile.is_zipfile(path)
    if not whole and os.path.exists(path):
        print("pollux: '%s' was not written to its end: the training begins anew" % path,
              file=sys.stderr)
    return whole


# --- Hugging Face Trainer

def watch_trainer(helper, module):
    """After transformers.trainer was imported."""
    if not is_wanted(helper):
        return
    trainer = module.Trainer
    real_init, real_train = trainer.__init__, trainer.train
    signature = inspect.signature(real_init)
    prepare = helper.guard("resume.trainer", set_jit_checkpoint)
    last = helper.guard("resume.train", lambda t: train_begins(helper, t.args.output_dir))

    @functools.wraps(real_init)
    def __init__(self, *args, **kwargs):
        prepare(signature.bind(self, *args, **kwargs).arguments.get("args"))
        real_init(self, *args, **kwargs)

    @functools.wraps(real_train)
    def train(self, resume_from_checkpoint=None, *args, **kwargs):
        found = last(self)
        if resume_from_checkpoint is None and found:
            resume_from_checkpoint = found
        result = real_train(self, resume_from_checkpoint, *args, **kwargs)
        if getattr(self, "_pollux_stopped", False):
            raise SystemExit(STOPPED)  # what follows train() is for a complete training
        return result

    trainer.__init__, trainer.train = __init__, train


def watch_jit_checkpoint(helper, module):
    """After transformers.trainer_jit_checkpoint was imported.

    It may save between the passes of an update and the step of the optimizer: the resumed program
    would repeat these passes with other random numbers. It may also save before an update, which it
    then still makes. So it saves after updates only.
    """
    if not is_wanted(helper):
        return
    manager, callback = module.CheckpointManager, module.JITCheckpointCallback
    real = manager.execute_jit_checkpoint

    @functools.wraps(real)
    def execute_jit_checkpoint(self, *args, **kwargs):
        result = real(self, *args, **kwargs)
        self.trainer._pollux_stopped = True
        return result

    manager.execute_jit_checkpoint = execute_jit_checkpoint
    callback.on_pre_optimizer_step = callback.on_step_begin = lambda *args, **kwargs: None


def train_begins(helper, directory):
    if helper.is_off("resume") or not training(helper).begins():
        return None
    tell(helper, SAVES_WHEN_STOPPED)
    return last_checkpoint(helper, directory)


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
